//! The congestion-control contract holds algorithms that are not built in: a paced one that owns its window
//! in recovery (as BBR does), and one that needs the marks of every ACK (as DCTCP does).
//!
//! The third witness, an emulator-like loop around a single link, stands beside the link.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::common::Dumbbell;
use ackclock::cc::{
    Ack, Cc, Congestion, CongestionControl, CongestionKind, Phase, PhaseChange, RateSample, Recovery, Sent,
};
use ackclock::sim::{self, LossPlan};
use ackclock::tcp::{AckSegment, EcnFeedback, EcnMode, SackBlocks, Sender, Transport};
use ackclock::units::{Duration, Instant, Rate};

/// What a test may look at after the run.
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

#[test]
fn a_paced_algorithm_that_owns_recovery_fills_the_link_without_filling_the_queue() {
    let log = Log::default();
    let mut dumbbell = Dumbbell::new(10_000_000, Duration::from_millis(40), 100, 1);
    dumbbell.duration = Duration::from_secs(20);
    dumbbell.loss = LossPlan::Periodic { period: 500, offset: 0 };
    let plan = dumbbell.plan();
    let result = sim::run_with(&plan, &AtomicBool::new(false), &mut |_| {
        Cc::Custom(Box::new(Paced { best: None, min_rtt: Duration::ZERO, cwnd: 10.0, log: log.clone() }))
    })
    .unwrap();
    assert!(result.summary.utilization.unwrap() > 0.95, "{}", result.summary.utilization.unwrap());
    // A quarter of 40 ms and four packets of 1.2 ms wait, and no buffer of 120 ms is filled.
    assert!(result.summary.queue_delay_mean_s.unwrap() < 0.02, "{}", result.summary.queue_delay_mean_s.unwrap());
    let log = log.lock().unwrap();
    let count = |what: &str| log.iter().filter(|entry| *entry == what).count();
    assert!(count("enter") > 10, "periodic loss is repaired");
    assert_eq!(count("enter"), count("congestion"));
    assert!(count("enter") - count("exit") <= 1);
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
    fn probe(&self, report: &mut dyn FnMut(&'static str, f64)) {
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
            let ack = AckSegment { ack: acked, sack: SackBlocks::default(), echo: now, ecn };
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
