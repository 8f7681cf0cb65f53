//! Diagnoses an algorithm. The smallest sequence of events shows each contract violation.

use serde::Serialize;

use super::backing_off::{keeps_its_window, lost_too_much, scripts};
use super::cc::{loss, path, rate};
use super::journal::{Answer, Event, Journal};
use super::promise::Promise;
use super::{Draw, network};
use crate::cc::{
    Ack, Algorithm, CaState, CcContext, CcSpec, Congestion, CongestionControl, CongestionKind, PathView, Recovery,
    Restart, Sent,
};
use crate::rule::linear::Aimd;
use crate::sim;
use crate::units::{Duration, Instant};

/// The number of generated connections, and of events in each.
const SCRIPTS: u64 = 60;
const EVENTS: usize = 300;
/// Runs of small networks.
const NETWORKS: u64 = 10;
/// The window that connections begin with, in segments.
const INITIAL_WINDOW: f64 = 10.0;
/// The delay of the second run of a connection.
const DAY: Duration = Duration::from_secs(86_400);

/// A contract violation of an algorithm.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Name of the promise ([`Promise::id`]), or `run` for a run that ended before its time.
    pub promise: &'static str,
    /// The observed behaviour.
    pub broken: String,
    /// A remedy.
    pub advice: &'static str,
    /// Why the algorithm gave up, if it did.
    pub fault: Option<String>,
    /// The smallest sequence of events that was found to show it, from the start of a connection.
    pub steps: Vec<Step>,
}

/// An event, and the answer to it.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// When, in seconds.
    pub time_s: f64,
    /// The event, in words.
    pub event: String,
    /// The window afterwards, in segments, or none if it is not finite.
    pub cwnd: Option<f64>,
    /// ssthresh afterwards, in segments, or none if it is not finite.
    pub ssthresh: Option<f64>,
}

/// The contract violations of an algorithm, under generated events of connections and in small networks.
///
/// The events are the same in every call. Finding none does not prove an algorithm correct:
/// [`check_cc`](super::check_cc) checks more.
pub fn diagnose(algorithm: &Algorithm) -> Vec<Finding> {
    let subject = Subject { algorithm };
    let mut connections: Vec<Vec<Event>> = (0..SCRIPTS).map(|case| script(&mut Draw::new("diagnosis", case))).collect();
    // Short ones show as much in fewer events.
    connections[..SCRIPTS as usize / 2].iter_mut().for_each(|events| events.truncate(EVENTS / 10));
    let mut findings: Vec<(Promise, Finding)> = Vec::new();
    for events in &connections {
        for promise in subject.broken_by(events) {
            if !findings.iter().any(|(found, _)| *found == promise) {
                findings.push((promise, subject.finding(promise, events)));
            }
        }
    }
    if let Some(events) = scripts().find(|events| subject.breaks(Promise::BackOff, events)) {
        findings.push((Promise::BackOff, subject.finding(Promise::BackOff, &events)));
    }
    findings.sort_by_key(|(promise, _)| Promise::ALL.iter().position(|other| other == promise));
    let mut findings: Vec<Finding> = findings.into_iter().map(|(_, finding)| finding).collect();
    if findings.is_empty() {
        findings.extend(subject.failed_run().or_else(|| subject.collapse()));
    }
    findings
}

struct Subject<'a> {
    algorithm: &'a Algorithm,
}

impl Subject<'_> {
    fn fresh(&self) -> impl CongestionControl + use<> {
        self.algorithm.build(CcContext::new(INITIAL_WINDOW))
    }

    fn journal(&self, events: &[Event]) -> Journal {
        let (mut cc, mut journal) = (self.fresh(), Journal::default());
        events.iter().for_each(|event| journal.tell(&mut cc, *event));
        journal
    }

    fn answers(&self, events: &[Event], shift: Duration) -> Vec<Answer> {
        let mut cc = self.fresh();
        let answer = |event: &Event| {
            event.later(shift).tell(&mut cc);
            Answer::of(&cc)
        };
        events.iter().map(answer).collect()
    }

    /// The answers of a connection while another one gets each event before it.
    fn answers_beside_another(&self, events: &[Event]) -> Vec<Answer> {
        let [mut other, mut cc] = [self.fresh(), self.fresh()];
        let answer = |event: &Event| {
            event.tell(&mut other);
            event.tell(&mut cc);
            Answer::of(&cc)
        };
        events.iter().map(answer).collect()
    }

    /// The promises that these events show to be broken.
    fn broken_by(&self, events: &[Event]) -> Vec<Promise> {
        let mut broken: Vec<Promise> = self.journal(events).broken().iter().map(|broken| broken.promise).collect();
        // Where a window is no number, nothing else can be compared.
        if broken.contains(&Promise::Window) {
            return vec![Promise::Window];
        }
        // One of these shows itself in the others, too.
        let of_several = [Promise::Same, Promise::TimeShift, Promise::Shared];
        broken.extend(of_several.into_iter().find(|promise| self.breaks(*promise, events)));
        broken
    }

    fn breaks(&self, promise: Promise, events: &[Event]) -> bool {
        let answers = || self.answers(events, Duration::ZERO);
        match promise {
            Promise::BackOff => keeps_its_window(&mut self.fresh(), events),
            Promise::Same => answers() != answers(),
            Promise::TimeShift => answers() != self.answers(events, DAY),
            Promise::Shared => answers() != self.answers_beside_another(events),
            _ => self.journal(events).broken().iter().any(|broken| broken.promise == promise),
        }
    }

    /// Removes events as long as the remaining ones still violate the contract.
    fn smallest(&self, promise: Promise, events: &[Event]) -> Vec<Event> {
        let mut events = events.to_vec();
        let mut size = events.len().div_ceil(2);
        while size > 0 {
            let mut from = 0;
            while from < events.len() {
                let without: Vec<Event> =
                    events.iter().take(from).chain(events.iter().skip(from + size)).copied().collect();
                if self.breaks(promise, &without) {
                    events = without;
                } else {
                    from += size;
                }
            }
            size /= 2;
        }
        events
    }

    fn finding(&self, promise: Promise, events: &[Event]) -> Finding {
        let events = self.smallest(promise, events);
        let (mut cc, mut steps) = (self.fresh(), Vec::new());
        for event in &events {
            event.tell(&mut cc);
            steps.push(Step::of(event, Answer::of(&cc)));
        }
        let fault = cc.fault().map(str::to_owned);
        Finding { promise: promise.id(), broken: promise.to_string(), advice: promise.advice(), fault, steps }
    }

    /// The loss of most of the data sent to a full queue.
    fn collapse(&self) -> Option<Finding> {
        let lost = lost_too_much(std::sync::Arc::new(self.algorithm.clone()))?;
        let (promise, steps) = (Promise::Collapse, Vec::new());
        let broken = format!("{promise}: {:.0} %", 100.0 * lost);
        Some(Finding { promise: promise.id(), broken, advice: promise.advice(), fault: None, steps })
    }

    /// The first small network in which a run with the algorithm ends before its time.
    fn failed_run(&self) -> Option<Finding> {
        (0..NETWORKS).find_map(|case| {
            let mut plan =
                network::plan(&mut Draw::new("diagnosis in a network", case), &CcSpec::Aimd(Aimd::default()));
            let algorithm = std::sync::Arc::new(self.algorithm.clone());
            plan.flows.iter_mut().for_each(|flow| flow.cc = algorithm.clone());
            let error = sim::run(&plan, &Default::default()).err()?;
            let advice = "no sequence of single events shows it; run a scenario and check its windows over time";
            let steps = Vec::new();
            Some(Finding { promise: "run", broken: error.to_string(), advice, fault: None, steps })
        })
    }
}

impl Step {
    fn of(event: &Event, answer: Answer) -> Self {
        let finite = |value: f64| value.is_finite().then_some(value);
        Step {
            time_s: event.now().as_nanos() as f64 / 1e9,
            event: event.in_words(),
            cwnd: finite(answer.cwnd),
            ssthresh: finite(answer.ssthresh),
        }
    }
}

/// Events of one connection, in an order that a network may bring about.
fn script(draw: &mut Draw) -> Vec<Event> {
    let mut script = Script { now: Instant::ZERO, cwnd: INITIAL_WINDOW, in_recovery: false, events: Vec::new() };
    while script.events.len() < EVENTS {
        script.go_on(draw);
    }
    script.events
}

struct Script {
    now: Instant,
    /// A typical window. Data in flight are a part of it.
    cwnd: f64,
    in_recovery: bool,
    events: Vec<Event>,
}

impl Script {
    fn go_on(&mut self, draw: &mut Draw) {
        self.now += draw.time(Duration::from_millis(20));
        let (now, path) = (self.now, path(draw, self.cwnd));
        let recovery = Recovery { now, flight_size: path.in_flight, path };
        match draw.whole(0, 99) {
            0..72 => self.ack(draw, path),
            72..84 => self.events.push(Event::Sent(Sent {
                now,
                bytes: path.mss,
                retransmission: false,
                idle_for: None,
                path,
            })),
            84..88 if !self.in_recovery => {
                self.congestion(CongestionKind::Loss, path);
                self.in_recovery = true;
                self.events.push(Event::RecoveryEnter(recovery));
                self.losses(draw, path);
            }
            84..88 => self.losses(draw, path),
            88..90 => self.congestion(CongestionKind::Ecn, path),
            90..92 => {
                self.congestion(CongestionKind::Timeout, path);
                self.in_recovery = false;
                self.losses(draw, path);
            }
            92..97 if self.in_recovery => {
                self.in_recovery = false;
                self.events.push(Event::RecoveryExit(recovery));
                if draw.chance(20) {
                    self.events.push(Event::Undo(recovery));
                }
            }
            97.. => self.events.push(Event::Resume(now)),
            _ => {}
        }
    }

    fn congestion(&mut self, kind: CongestionKind, path: PathView) {
        let is_timeout = kind == CongestionKind::Timeout;
        let restart = if is_timeout { Restart::SlowStart } else { Restart::Reduced };
        self.cwnd = (self.cwnd / 2.0).max(2.0);
        self.events.push(Event::Congestion(Congestion {
            now: self.now,
            kind,
            restart,
            flight_size: path.in_flight,
            path,
        }));
    }

    fn losses(&mut self, draw: &mut Draw, path: PathView) {
        for _ in 0..draw.whole(1, 3) {
            self.events.push(Event::Loss(loss(draw, self.now, path)));
        }
        self.ack(draw, path);
    }

    fn ack(&mut self, draw: &mut Draw, path: PathView) {
        let acked = draw.pick(&[0.0, 1.0, 1.0, 1.0, 2.0]);
        self.cwnd += if self.in_recovery { 0.0 } else { acked / 4.0 };
        self.events.push(Event::Ack(Ack {
            now: self.now,
            acked,
            newly_delivered: acked as u32,
            newly_lost: 0,
            ce_count: 0,
            ece: draw.chance(5),
            round_ended: draw.chance(10),
            cwnd_limited: draw.chance(80),
            in_recovery: self.in_recovery,
            reduced_window: None,
            rate: Some(rate(draw, path)),
            state: if self.in_recovery { CaState::Recovery } else { CaState::Open },
            path,
        }));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::cc::{Loss, RuleSource, Windowed, algorithms};
    use crate::rule::RuleParameters;

    use crate::rule::reno::{Reno, RenoRule};

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Mistake {
        GrowsUnused,
        GrowsInRecovery,
        CutsAtEachLoss,
        ReadsTheTime,
        SharesState,
        NeverRestarts,
        DividesByZero,
    }

    /// Reno with a mistake.
    #[derive(Debug)]
    struct Wrong {
        reno: Windowed<RenoRule>,
        mistake: Mistake,
        extra: f64,
        /// The state that all connections share.
        shared: Arc<AtomicU64>,
    }

    impl CongestionControl for Wrong {
        fn cwnd(&self) -> f64 {
            if self.extra.is_nan() { f64::NAN } else { (self.reno.cwnd() + self.extra).max(1.0) }
        }
        fn ssthresh(&self) -> f64 {
            self.reno.ssthresh()
        }
        fn on_ack(&mut self, ack: &Ack) {
            let acks = self.shared.fetch_add(1, Ordering::Relaxed);
            match self.mistake {
                Mistake::GrowsUnused if !ack.cwnd_limited => self.extra += ack.acked,
                Mistake::GrowsInRecovery if ack.in_recovery => self.extra += ack.acked,
                Mistake::ReadsTheTime => self.extra = -(ack.now.as_nanos() as f64 / 1e15),
                Mistake::SharesState => self.extra = -(acks as f64 / 1e9),
                Mistake::DividesByZero if ack.ece => self.extra = f64::NAN,
                _ => self.reno.on_ack(ack),
            }
        }
        fn on_loss(&mut self, _loss: &Loss) {
            if self.mistake == Mistake::CutsAtEachLoss {
                self.extra = (self.extra - self.cwnd() / 8.0).max(1.0 - self.reno.cwnd());
            }
        }
        fn on_congestion(&mut self, congestion: &Congestion) {
            if self.mistake != Mistake::NeverRestarts {
                self.extra = 0.0;
                self.reno.on_congestion(congestion);
            }
        }
        fn on_resume(&mut self, now: Instant) {
            self.extra = self.extra.min(0.0);
            self.reno.on_resume(now);
        }
    }

    fn findings(mistake: Mistake) -> Vec<Finding> {
        let shared = Arc::new(AtomicU64::new(0));
        let wrong = Algorithm::new("wrong", move |context| {
            let (reno, shared) = (Windowed::new(Reno::default().rule(), context), shared.clone());
            Wrong { reno, mistake, extra: 0.0, shared }
        });
        diagnose(&wrong)
    }

    #[test]
    fn a_mistake_is_shown_by_the_event_that_brings_it_about() {
        let expected = [
            (Mistake::GrowsUnused, "unused", ", the window was not used"),
            (Mistake::GrowsInRecovery, "repair", ", in recovery"),
            (Mistake::NeverRestarts, "restart", "congestion: a timeout"),
            (Mistake::DividesByZero, "window", ", with a mark"),
        ];
        for (mistake, promise, event) in expected {
            let findings = findings(mistake);
            let finding = findings.iter().find(|finding| finding.promise == promise).expect(promise);
            let [step] = finding.steps.as_slice() else { panic!("{finding:?}") };
            assert!(step.event.contains(event), "{mistake:?}: {step:?}");
        }
    }

    #[test]
    fn what_takes_two_events_or_two_connections_is_found() {
        let promises = |mistake| -> Vec<(&str, usize)> {
            findings(mistake).iter().map(|finding| (finding.promise, finding.steps.len())).collect()
        };
        assert!(promises(Mistake::CutsAtEachLoss).contains(&("one-reduction", 2)));
        assert_eq!(promises(Mistake::ReadsTheTime).first(), Some(&("time-shift", 1)));
        // State of all connections is different the second time, too.
        assert_eq!(promises(Mistake::SharesState).first(), Some(&("same", 1)));
    }

    #[test]
    fn a_rule_that_does_not_back_off_is_found() {
        let findings = |line: &str| diagnose(&CcSpec::Rule(RuleSource::from_line(line).unwrap().into()).into());
        for line in ["grow = 1; cut = w", "grow = 1/w; cut = max(w, 4)"] {
            let found = findings(line);
            let finding = found.iter().find(|finding| finding.promise == "back-off").expect(line);
            let [step] = finding.steps.as_slice() else { panic!("{finding:?}") };
            assert!(step.event == "congestion: a loss" && step.cwnd == Some(10.0), "{step:?}");
        }
        // It backs off only once.
        let found = findings("grow = 1; cut = if(cuts < 1, w / 2, w)");
        assert_eq!(found.iter().map(|finding| finding.promise).collect::<Vec<_>>(), ["collapse"], "{found:#?}");
        assert!(findings("grow = 1/w; cut = 0.95 * w").is_empty());
    }

    #[test]
    fn the_algorithms_here_have_no_findings() {
        for info in algorithms() {
            let mut findings = diagnose(&info.defaults.into());
            // The slow start of Hybla is as fast as on its shorter reference path.
            findings.retain(|finding| info.name != "hybla" || finding.promise != "slow-start");
            assert!(findings.is_empty(), "{}: {findings:#?}", info.name);
        }
    }
}
