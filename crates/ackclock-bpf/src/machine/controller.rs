//! Runs a compiled congestion control as an algorithm of the simulator, with the calls of the kernel's TCP.

use std::sync::Arc;

use ackclock::cc::{
    Ack, CcContext, CcFactory, Congestion, CongestionControl, CongestionKind, Departures, PathView, Recovery, Restart,
};
use ackclock::units::{Duration, Instant, Rate};

use super::call::{Environment, jiffies};
use super::fault::Fault;
use super::memory::{Memory, SAMPLE, SOCKET};
use super::socket as field;
use super::{Code, Machine};
use crate::error::{Result, wrong};
use crate::object_file::BpfObject;

/// The kernel's values for an unset threshold and an unlimited rate.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
const NO_RATE: u64 = u64::MAX;
/// The kernel's states (`enum tcp_ca_state`) and events (`enum tcp_ca_event`).
const LOSS_STATE: u8 = 4;
const RECOVERY_STATE: u8 = 3;
const CWR_STATE: u8 = 2;
const TX_START: u64 = 0;
const CWND_RESTART: u64 = 1;
const COMPLETE_CWR: u64 = 2;
const LOSS_EVENT: u64 = 3;
/// The flag of `in_ack_event` for an ACK that echoes a mark. `CA_ACK_SLOWPATH | CA_ACK_WIN_UPDATE` are never set.
const CA_ACK_ECE: u64 = 4;
/// `TCP_ECN_OK` of `ecn_flags`.
const ECN_OK: u8 = 1;

/// Makes a flow's state of a compiled congestion control.
#[derive(Clone, Debug)]
pub struct BpfFactory {
    machine: Arc<Machine>,
}

impl BpfFactory {
    /// Prepares the congestion control of an object.
    ///
    /// # Errors
    /// A feature that the simulator does not support, by name.
    pub fn new(object: &BpfObject) -> Result<Self> {
        Ok(BpfFactory { machine: Arc::new(Machine::new(object, false)?) })
    }

    /// Like [`new`](Self::new), with programs translated to machine code (JIT). It is faster, and checks only that
    /// accesses stay within the memory of the flow's program.
    ///
    /// # Errors
    /// Also a processor or a system for which there is no such code.
    pub fn native(object: &BpfObject) -> Result<Self> {
        Ok(BpfFactory { machine: Arc::new(Machine::new(object, true)?) })
    }

    /// The name under which the kernel would know it.
    pub fn name(&self) -> &str {
        &self.machine.name
    }

    /// Makes the state of a flow, and calls `init`.
    pub fn controller(&self, context: CcContext) -> BpfController {
        let mut memory = Memory::new(&self.machine.sections);
        let ssthresh =
            if context.initial_ssthresh.is_finite() { whole(context.initial_ssthresh) } else { INFINITE_SSTHRESH };
        memory.set_field(field::SND_CWND, whole(context.initial_window).max(1));
        memory.set_field(field::SND_SSTHRESH, ssthresh);
        memory.set_field(field::SND_CWND_CLAMP, u32::MAX);
        memory.set_field(field::MSS_CACHE, context.mss);
        memory.set_long(field::SK_PACING_RATE, NO_RATE);
        memory.set_long(field::SK_MAX_PACING_RATE, NO_RATE);
        memory.set_byte(field::ECN_FLAGS, ECN_OK);
        let mut controller = BpfController {
            memory,
            environment: Environment { now_ns: 0, random: context.seed | 1 },
            machine: self.machine.clone(),
            initial_window: whole(context.initial_window).max(1),
            min_window: whole(context.min_window).max(1),
            uncounted: 0.0,
            last_sent: None,
            fault: None,
        };
        controller.call("init", |machine| &machine.init, 0, 0);
        controller
    }
}

impl CcFactory for BpfFactory {
    fn build(&self, context: CcContext) -> Box<dyn CongestionControl> {
        Box::new(self.controller(context))
    }
}

/// A compiled congestion control with the state of a flow.
#[derive(Debug)]
pub struct BpfController {
    memory: Memory,
    environment: Environment,
    machine: Arc<Machine>,
    initial_window: u32,
    /// The window after a timeout, and the least window after any reduction, in segments.
    min_window: u32,
    /// Acknowledged parts of segments that the program has not received yet.
    uncounted: f64,
    last_sent: Option<Instant>,
    fault: Option<String>,
}

fn whole(segments: f64) -> u32 {
    segments.clamp(0.0, f64::from(INFINITE_SSTHRESH)) as u32
}

fn micros(time: Duration) -> u64 {
    time.as_nanos() / 1000
}

impl BpfController {
    /// Calls a program, if it exists, and returns its result.
    #[inline]
    fn call(
        &mut self,
        member: &'static str,
        code: impl FnOnce(&Machine) -> &Option<Code>,
        second: u64,
        third: u64,
    ) -> Option<u64> {
        if self.fault.is_some() {
            return None;
        }
        let code = code(&self.machine).as_ref()?;
        self.memory.set_arguments([SOCKET, second, third]);
        match code.run(&mut self.memory, &mut self.environment) {
            Ok(value) => Some(value),
            Err(fault) => {
                self.fail(member, &fault);
                None
            }
        }
    }

    #[cold]
    fn fail(&mut self, member: &str, fault: &Fault) {
        self.fault = Some(format!("{member} of {} {fault}", self.machine.name));
    }

    #[inline]
    fn get(&self, at: usize) -> u32 {
        self.memory.field(at)
    }

    #[inline]
    fn set(&mut self, at: usize, value: u32) {
        self.memory.set_field(at, value);
    }

    fn state(&self) -> u8 {
        self.memory.byte(field::ICSK_CA_STATE)
    }

    /// Copies the sender's time and measurements of the path into the socket.
    #[inline]
    fn observe(&mut self, now: Instant, path: &PathView) {
        self.environment.now_ns = now.as_nanos();
        self.memory.set_long(field::TCP_MSTAMP, now.as_nanos() / 1000);
        self.set(field::PACKETS_OUT, path.in_flight);
        // The kernel keeps eight times the smoothed time.
        self.set(field::SRTT_US, (8 * micros(path.srtt)) as u32);
        let end = self.get(field::SND_UNA).wrapping_add(path.in_flight_bytes as u32);
        self.set(field::SND_NXT, end);
    }

    /// Sets the state of loss recovery. The algorithm is informed before the change.
    fn set_state(&mut self, state: u8) {
        if self.state() == state {
            return;
        }
        self.call("set_state", |machine| &machine.set_state, state.into(), 0);
        self.memory.set_byte(field::ICSK_CA_STATE, state);
    }

    fn event(&mut self, event: u64) {
        self.call("cwnd_event", |machine| &machine.cwnd_event, event, 0);
    }

    /// Asks the algorithm for ssthresh, as the kernel does at a loss, a mark and a timeout.
    fn ask_ssthresh(&mut self) {
        let left = self.call("ssthresh", |machine| &machine.ssthresh, 0, 0).unwrap_or(2);
        self.set(field::SND_SSTHRESH, left as u32);
    }

    #[inline]
    fn count(&mut self, ack: &Ack) {
        let delivered = ack.newly_delivered;
        let marked = match ack.ce_count {
            0 if ack.ece => delivered,
            count => count,
        };
        self.set(field::DELIVERED, self.get(field::DELIVERED).wrapping_add(delivered));
        self.set(field::DELIVERED_CE, self.get(field::DELIVERED_CE).wrapping_add(marked));
        self.set(field::LOST, self.get(field::LOST).wrapping_add(ack.newly_lost));
        let acknowledged = self.get(field::SND_UNA).wrapping_add(delivered.wrapping_mul(ack.path.mss));
        self.set(field::SND_UNA, acknowledged);
    }

    /// How much of the window the sender uses.
    #[inline]
    fn note_use(&mut self, ack: &Ack) {
        let cwnd = self.get(field::SND_CWND);
        self.set(field::MAX_PACKETS_OUT, if ack.cwnd_limited { cwnd } else { cwnd / 2 });
        self.memory.set_byte(field::IS_CWND_LIMITED, ack.cwnd_limited.into());
    }

    fn tell_sample(&mut self, ack: &Ack) {
        let rtt_us = if ack.newly_delivered > 0 { micros(ack.path.latest_rtt) as i32 } else { -1 };
        self.memory.set_sample(field::ACK_PKTS_ACKED, ack.newly_delivered.into());
        self.memory.set_sample(field::ACK_RTT_US, rtt_us as u32 as u64);
        self.memory.set_sample(field::ACK_IN_FLIGHT, ack.path.in_flight.into());
        self.call("pkts_acked", |machine| &machine.pkts_acked, SAMPLE, 0);
    }

    /// `cong_control`, which sets window and rate in all states.
    fn control(&mut self, ack: &Ack) {
        let rate = ack.rate;
        let mss = u64::from(ack.path.mss.max(1));
        let rtt_us = if ack.newly_delivered > 0 { micros(ack.path.latest_rtt) as i64 } else { -1 };
        let segments = |bytes: u64| bytes / mss;
        let sample = [
            (field::RATE_PRIOR_DELIVERED, rate.map_or(0, |rate| segments(rate.prior_delivered))),
            (field::RATE_DELIVERED, rate.map_or(0, |rate| segments(rate.delivered))),
            (field::RATE_DELIVERED_CE, rate.map_or(0, |rate| segments(rate.delivered_ce))),
            (field::RATE_INTERVAL_US, rate.map_or(u64::MAX, |rate| micros(rate.interval))),
            (field::RATE_RTT_US, rtt_us as u64),
            (field::RATE_LOSSES, ack.newly_lost.into()),
            (field::RATE_ACKED_SACKED, ack.newly_delivered.into()),
            (field::RATE_PRIOR_IN_FLIGHT, u64::from(ack.path.in_flight + ack.newly_delivered)),
            (field::RATE_LAST_END_SEQ, self.get(field::SND_UNA).into()),
            (field::RATE_IS_APP_LIMITED, rate.is_some_and(|rate| rate.app_limited).into()),
            (field::RATE_IS_RETRANS, 0),
        ];
        for (at, value) in sample {
            self.memory.set_sample(at, value);
        }
        // Kernels before 6.10 pass the sample second, later ones last.
        self.call("cong_control", |machine| &machine.cong_control, SAMPLE, SAMPLE);
    }

    /// A window that was cut for a mark, after the window of data with the mark.
    fn leave_cwr(&mut self) {
        if self.state() == CWR_STATE {
            self.set(field::SND_CWND, self.get(field::SND_SSTHRESH));
            self.event(COMPLETE_CWR);
        }
    }
}

impl CongestionControl for BpfController {
    #[inline]
    fn cwnd(&self) -> f64 {
        if self.fault.is_some() { f64::NAN } else { f64::from(self.get(field::SND_CWND).max(1)) }
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        match self.get(field::SND_SSTHRESH) {
            INFINITE_SSTHRESH.. => f64::INFINITY,
            ssthresh => ssthresh.into(),
        }
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        let bytes = self.memory.long(field::SK_PACING_RATE);
        if bytes == NO_RATE { None } else { Rate::from_bps(bytes.saturating_mul(8)) }
    }

    fn owns_recovery(&self) -> bool {
        self.machine.cong_control.is_some()
    }

    fn congestion_may_raise(&self) -> bool {
        true
    }

    fn departures(&self) -> Departures {
        if self.machine.cwnd_event.is_some() { Departures::All } else { Departures::None }
    }

    fn needs_rate_samples(&self) -> bool {
        self.machine.cong_control.is_some()
    }

    fn on_sent(&mut self, sent: &ackclock::cc::Sent) {
        self.environment.now_ns = sent.now.as_nanos();
        // The first segment after nothing was in flight.
        let segment = u64::from(sent.bytes);
        if sent.path.in_flight_bytes <= segment && self.last_sent.is_some() {
            self.event(TX_START);
        }
        self.last_sent = Some(sent.now);
        self.set(field::LSNDTIME, jiffies(sent.now.as_nanos()) as u32);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.count(ack);
        self.observe(ack.now, &ack.path);
        self.note_use(ack);
        if self.machine.in_ack_event.is_some() {
            let flags = if ack.ece { CA_ACK_ECE } else { 0 };
            self.call("in_ack_event", |machine| &machine.in_ack_event, flags, 0);
        }
        if self.machine.pkts_acked.is_some() {
            self.tell_sample(ack);
        }
        let state = ack.state as u8;
        if state != self.state() {
            if state < CWR_STATE {
                self.leave_cwr();
            }
            self.set_state(state);
        }
        if self.machine.cong_control.is_some() {
            return self.control(ack);
        }
        // The window is the sender's in recovery, and after a mark for a window of data.
        if ack.acked > 0.0 && !ack.in_recovery && state != CWR_STATE {
            self.uncounted += ack.acked;
            let acked = self.uncounted as u32;
            self.uncounted -= f64::from(acked);
            if acked > 0 {
                let una = self.get(field::SND_UNA);
                self.call("cong_avoid", |machine| &machine.cong_avoid, una.into(), acked.into());
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.observe(congestion.now, &congestion.path);
        let cwnd = self.get(field::SND_CWND);
        let is_mark = congestion.kind == CongestionKind::Ecn;
        let is_again = matches!(congestion.restart, Restart::SlowStartAgain | Restart::OneSegment);
        // A mark cannot be undone. Both fields are 0 only then.
        self.set(field::PRIOR_SSTHRESH, if is_mark { 0 } else { self.get(field::SND_SSTHRESH).max(1) });
        self.set(field::UNDO_MARKER, if is_mark { 0 } else { self.get(field::SND_UNA) | 1 });
        self.set(field::PRIOR_CWND, cwnd);
        let before = self.get(field::SND_SSTHRESH);
        self.ask_ssthresh();
        // These may set ssthresh once more, and see the window of before.
        match congestion.kind {
            CongestionKind::Timeout => self.event(LOSS_EVENT),
            CongestionKind::Loss => self.set_state(RECOVERY_STATE),
            CongestionKind::Ecn => self.set_state(CWR_STATE),
        }
        let left = self.get(field::SND_SSTHRESH);
        if is_again {
            self.set(field::SND_SSTHRESH, if congestion.restart == Restart::OneSegment { 1 } else { before });
        }
        if self.machine.cong_control.is_none() {
            let is_restart = congestion.restart != Restart::Reduced;
            self.set(field::SND_CWND, if is_restart { self.min_window } else { left.max(self.min_window) });
            self.set(field::SND_CWND_CNT, 0);
        }
        if congestion.kind == CongestionKind::Timeout {
            self.set_state(LOSS_STATE);
        }
    }

    fn on_recovery_exit(&mut self, recovery: &Recovery) {
        self.observe(recovery.now, &recovery.path);
        self.set_state(0);
    }

    fn on_undo(&mut self, recovery: &Recovery) {
        self.observe(recovery.now, &recovery.path);
        if self.get(field::PRIOR_SSTHRESH) == 0 {
            return;
        }
        if let Some(cwnd) = self.call("undo_cwnd", |machine| &machine.undo_cwnd, 0, 0) {
            self.set(field::SND_CWND, (cwnd as u32).max(1));
            let prior = self.get(field::PRIOR_SSTHRESH);
            self.set(field::SND_SSTHRESH, self.get(field::SND_SSTHRESH).max(prior));
        }
        self.set_state(0);
    }

    fn on_resume(&mut self, now: Instant) {
        self.environment.now_ns = now.as_nanos();
        self.event(CWND_RESTART);
        let restart = self.get(field::SND_CWND).min(self.initial_window);
        self.set(field::SND_CWND, restart);
    }
}

/// Why an object cannot run in the simulator, if it cannot.
///
/// # Errors
/// A feature that the simulator does not support.
pub fn try_out(object: &BpfObject) -> Result<()> {
    let controller = BpfFactory::new(object)?.controller(CcContext::new(10.0));
    controller.fault.map_or(Ok(()), |fault| Err(wrong!("{fault}")))
}
