//! The congestion-control contract supports algorithms that are not built in. One paces and owns its window in
//! recovery, as BBR does. One needs the marks of every ACK, as DCTCP does. One reduces its window in proportion
//! during recovery (PRR, RFC 6937).
//!
//! The third witness, an emulator-like loop around a single link, is tested with the link.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::common::Dumbbell;
use ackclock::cc::{
    Ack, Algorithm, Cc, CcContext, CcSpec, Congestion, CongestionControl, CongestionKind, Phase, PhaseChange,
    RateSample, Recovery, Restart, Sent,
};
use ackclock::contract::check_cc;
use ackclock::sim::{self, LossPlan, Plan};
use ackclock::tcp::{AckSegment, EcnFeedback, SackBlocks, Sender};
use ackclock::transport::{EcnMode, Transport};
use ackclock::units::{Duration, Instant, Rate};

/// The values that a test may inspect after the run.
type Log = Arc<Mutex<Vec<String>>>;

/// Paces a quarter above the largest delivery rate seen, keeps as much in flight, ignores losses.
#[derive(Debug)]
struct Paced {
    best: Option<Rate>,
    min_rtt: Duration,
    cwnd: f64,
    log: Log,
}

impl CongestionControl for Paced {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.best.and_then(|best| Rate::from_bps(best.as_bps() / 4 * 5))
    }
    fn owns_recovery(&self) -> bool {
        true
    }
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rate) = ack.rate.filter(|sample| !sample.app_limited).as_ref().and_then(RateSample::rate) {
            self.best = self.best.max(Some(rate));
        }
        self.min_rtt = ack.path.min_rtt;
        if let Some(best) = self.best {
            let bdp = best.bytes_in_floor(self.min_rtt) as f64 / f64::from(ack.path.mss);
            self.cwnd = 1.25 * bdp + 4.0;
        }
    }
    fn on_congestion(&mut self, _congestion: &Congestion) {
        self.log.lock().unwrap().push("congestion".to_owned());
    }
    fn on_recovery_enter(&mut self, _recovery: &Recovery) {
        self.log.lock().unwrap().push("enter".to_owned());
    }
    fn on_recovery_exit(&mut self, _recovery: &Recovery) {
        self.log.lock().unwrap().push("exit".to_owned());
    }
    fn on_phase(&mut self, change: &PhaseChange) {
        assert_ne!(change.from, change.to);
        if change.to == Phase::FastRecovery {
            self.log.lock().unwrap().push("fast-recovery".to_owned());
        }
    }
}

/// The plan with this algorithm in its first flow.
fn paced(mut plan: Plan, log: &Log) -> Plan {
    let log = log.clone();
    let new = move |_| Paced { best: None, min_rtt: Duration::ZERO, cwnd: 10.0, log: log.clone() };
    plan.flows[0].cc = Arc::new(Algorithm::new("paced", new));
    plan
}

#[test]
fn a_paced_algorithm_that_owns_recovery_fills_the_link_without_filling_the_queue() {
    let log = Log::default();
    let mut dumbbell = Dumbbell::new(10_000_000, Duration::from_millis(40), 100, 1);
    dumbbell.duration = Duration::from_secs(20);
    dumbbell.loss = LossPlan::Periodic { period: 500, offset: 0 };
    let result = sim::run(&paced(dumbbell.plan(), &log), &AtomicBool::new(false)).unwrap();
    assert!(result.summary.utilization.unwrap() > 0.95, "{}", result.summary.utilization.unwrap());
    // A quarter of 40 ms and four packets of 1.2 ms are queued, and no buffer of 120 ms is filled.
    assert!(result.summary.queue_delay_mean_s.unwrap() < 0.02, "{}", result.summary.queue_delay_mean_s.unwrap());
    let log = log.lock().unwrap();
    let count = |what: &str| log.iter().filter(|entry| *entry == what).count();
    assert!(count("enter") > 10, "periodic loss is repaired");
    assert_eq!(count("enter"), count("congestion"));
    assert!(count("enter") - count("exit") <= 1);
}

#[test]
fn a_paced_algorithm_that_the_receiver_holds_back_comes_to_an_end() {
    let mut dumbbell = Dumbbell::new(10_000_000, Duration::from_millis(40), 100, 1);
    dumbbell.duration = Duration::from_secs(2);
    dumbbell.warmup = Duration::ZERO;
    dumbbell.flows[0].1.transport.max_window = Some(3);
    let result = sim::run(&paced(dumbbell.plan(), &Log::default()), &AtomicBool::new(false)).unwrap();
    // Three segments a round trip of 40 ms and what the links take.
    assert!((100..=150).contains(&result.flows[0].sent), "{}", result.flows[0].sent);
}

/// Halves its window for a loss in proportion to the delivered data: RFC 6937, with the bound of slow start.
#[derive(Debug)]
struct Proportionate {
    owns_recovery: bool,
    is_repairing: bool,
    cwnd: f64,
    ssthresh: f64,
    /// RFC 6937's RecoverFS, prr_delivered and prr_out, in segments.
    recover_fs: f64,
    delivered: f64,
    out: f64,
}

impl Proportionate {
    fn new(initial_window: f64, owns_recovery: bool) -> Self {
        let (ssthresh, recover_fs, delivered, out) = (f64::INFINITY, 0.0, 0.0, 0.0);
        Proportionate { owns_recovery, is_repairing: false, cwnd: initial_window, ssthresh, recover_fs, delivered, out }
    }
}

impl CongestionControl for Proportionate {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
    fn owns_recovery(&self) -> bool {
        self.owns_recovery
    }
    fn needs_rate_samples(&self) -> bool {
        false
    }
    fn on_sent(&mut self, _sent: &Sent) {
        self.out += 1.0;
    }
    fn on_ack(&mut self, ack: &Ack) {
        if self.is_repairing && ack.in_recovery {
            let pipe = f64::from(ack.path.in_flight);
            self.delivered += f64::from(ack.newly_delivered);
            // RFC 6937 §3: "sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out", and the bound below ssthresh.
            let count = if pipe > self.ssthresh {
                (self.delivered * self.ssthresh / self.recover_fs).ceil() - self.out
            } else {
                let limit = (self.delivered - self.out).max(f64::from(ack.newly_delivered)) + 1.0;
                (self.ssthresh - pipe).min(limit)
            };
            // Where packets are doubled, duplicate ACKs report more deliveries than were sent.
            self.cwnd = (pipe + count.max(0.0)).clamp(1.0, self.recover_fs);
        } else if ack.acked > 0.0 && ack.cwnd_limited && !ack.in_recovery && !ack.ece {
            self.cwnd += if self.cwnd < self.ssthresh { ack.acked } else { ack.acked / self.cwnd };
        }
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.is_repairing = false;
        self.ssthresh = (self.cwnd / 2.0).max(2.0);
        self.cwnd = if congestion.restart == Restart::Reduced { self.ssthresh } else { 1.0 };
        self.recover_fs = f64::from(congestion.flight_size.max(1));
    }
    fn on_recovery_enter(&mut self, _recovery: &Recovery) {
        // A recovery after a mark in the same window has no cut of its own.
        self.is_repairing = self.recover_fs > 0.0;
        (self.delivered, self.out) = (0.0, 0.0);
    }
    fn on_recovery_exit(&mut self, _recovery: &Recovery) {
        if std::mem::take(&mut self.is_repairing) {
            self.cwnd = self.ssthresh;
        }
    }
}

#[test]
fn an_algorithm_that_owns_recovery_sends_through_it() {
    let sent_in_recovery = |cc: Cc| {
        let mut sender = Sender::new(Transport::default(), cc);
        sender.open(Instant::ZERO);
        sender.write_forever();
        let sent_at = |sender: &mut Sender, now| std::iter::from_fn(|| sender.poll_transmit(now)).count();
        let mut now = Instant::ZERO;
        assert_eq!(sent_at(&mut sender, now), 20);
        // The first segment is lost; each ACK reports one more of the others.
        let mut sent = Vec::new();
        for number in 2..=20 {
            now += Duration::from_millis(1);
            let mut sack = SackBlocks::default();
            sack.push(0, 1460, number * 1460);
            sender.on_ack(now, &AckSegment { ack: 0, sack, echo: Instant::ZERO, ecn: EcnFeedback::None.into() });
            sent.push(sent_at(&mut sender, now));
        }
        sent
    };
    let own = sent_in_recovery(Cc::Custom(Box::new(Proportionate::new(20.0, true))));
    let aimd = sent_in_recovery(CcSpec::by_name("aimd").unwrap().build(CcContext::new(20.0)));
    // Limited transmit, and the retransmission. Then every second ACK sends; or none until half a window has gone.
    assert_eq!((&own[..3], &aimd[..3]), (&[1, 1, 1][..], &[1, 1, 1][..]));
    let longest_silence = |sent: &[usize]| sent.split(|count| *count > 0).map(<[_]>::len).max().unwrap();
    assert!(longest_silence(&own) <= 2, "{own:?}");
    assert!(longest_silence(&aimd) >= 8, "{aimd:?}");
    assert!(own.iter().all(|count| *count <= 2), "{own:?}");
}

#[test]
fn only_who_owns_recovery_may_grow_in_it() {
    check_cc("prr", |context| Proportionate::new(context.initial_window, true)).unwrap();
    let broken = check_cc("prr", |context| Proportionate::new(context.initial_window, false)).unwrap_err().to_string();
    let promises = ["the window grows while losses are being repaired", "recovery raises the window"];
    assert!(promises.iter().any(|promise| broken.contains(promise)), "{broken}");
}

/// Cuts in proportion to the share of marked packets, once per round.
#[derive(Debug)]
struct Proportional {
    cwnd: f64,
    alpha: f64,
    acked: u32,
    marked: u32,
}

impl CongestionControl for Proportional {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
    fn on_sent(&mut self, sent: &Sent) {
        assert!(sent.path.in_flight >= 1);
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.acked += ack.newly_delivered;
        self.marked += ack.ce_count;
        if ack.round_ended {
            let share = f64::from(self.marked) / f64::from(self.acked.max(1));
            self.alpha += (share - self.alpha) / 16.0;
            (self.acked, self.marked) = (0, 0);
            self.cwnd = if share > 0.0 { self.cwnd * (1.0 - self.alpha / 2.0) } else { self.cwnd + 1.0 }.max(1.0);
        }
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        if congestion.kind != CongestionKind::Ecn {
            self.cwnd = (self.cwnd / 2.0).max(1.0);
        }
    }
    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha", self.alpha);
    }
}

#[test]
fn an_algorithm_sees_the_marks_of_every_ack() {
    let cc = Cc::Custom(Box::new(Proportional { cwnd: 10.0, alpha: 1.0, acked: 0, marked: 0 }));
    let mut sender = Sender::new(Transport { ecn: EcnMode::AccEcn, ..Transport::default() }, cc);
    sender.open(Instant::ZERO);
    sender.write_forever();
    let mut now = Instant::ZERO;
    let (mut acked, mut marks) = (0, 0);
    let mut cwnd = Vec::new();
    for round in 0..4 {
        let in_flight = std::iter::from_fn(|| sender.poll_transmit(now)).count() as u64 + sender.in_flight() as u64;
        now += Duration::from_millis(10);
        // Rounds 0 and 1 are unmarked, half the packets of the later ones are marked.
        for number in 0..in_flight.min(10) {
            acked += 1460;
            marks += u8::from(round >= 2 && number % 2 == 0);
            let ecn = EcnFeedback::AccEcn { ace: (5 + marks) % 8, option: None };
            let ack = AckSegment { ack: acked, sack: SackBlocks::default(), echo: now, ecn: ecn.into() };
            if acked <= sender.acknowledged() + 1460 * u64::from(sender.in_flight()) {
                sender.on_ack(now, &ack);
            }
        }
        cwnd.push(sender.cc().cwnd());
    }
    let mut alpha = 0.0;
    sender.cc().probe(&mut |name, value| {
        assert_eq!(name, "alpha");
        alpha = value;
    });
    assert!(cwnd[1] > cwnd[0] && cwnd[3] < cwnd[1], "{cwnd:?}");
    assert!(alpha > 0.0 && alpha < 1.0, "{alpha}");
}
