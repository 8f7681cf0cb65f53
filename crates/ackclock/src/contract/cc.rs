//! The contract of a [`CongestionControl`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::journal::{Event, Journal};
use super::promise::Promise;
use super::run::check_result;
use super::{Draw, Violation, backing_off, for_each_case, network, parts};
use crate::cc::{
    Ack, Algorithm, CaState, CcContext, CcSpec, Congestion, CongestionControl, CongestionKind, Departures, Loss,
    PathView, Phase, PhaseChange, RateSample, Recovery, Restart, Sent, is_alone,
};
use crate::rule::linear::Aimd;
use crate::sim::{self, FlowPlan, Plan};
use crate::transport::LossRecovery;
use crate::units::{Duration, Instant, Rate};

/// The number of generated connections, and of events in each.
const SCRIPTS: u64 = 200;
const EVENTS: usize = 400;
/// Runs of small networks.
const NETWORKS: u64 = 40;
/// The delay of the second run of a connection.
const SHIFT: Duration = Duration::from_nanos(86_400_123_456_789);

/// Checks that an algorithm keeps the contract of [`CongestionControl`] under random events, and as the algorithm of
/// random small networks:
///
/// - The window is finite and at least one segment.
/// - It grows only by ACKs of new data, while it is used and no losses are being repaired. In slow start it grows by
///   at most the acknowledged data. An algorithm that paces may set it by its rate. One that owns recovery may set it
///   freely there.
/// - Congestion does not raise it above two segments, unless [`CongestionControl::congestion_may_raise`]. Neither
///   does a recovery that the algorithm does not own. Sending, a single loss and the end of idleness never raise it.
/// - Rate samples report no more marks than ACKs, and no more than they cover.
/// - The first loss or timeout of a connection reduces the window, unless it paces or owns recovery. Two flows behind
///   a full queue lose at most a quarter of their data.
/// - Losses and marks reduce the window at most once per window of data, except losses under Reno. Single losses do
///   not reduce it in addition.
/// - The same events give the same answers at any time. They do not depend on events of sending, single losses and
///   rate samples that the algorithm does not need.
/// - The run keeps the contract of [`check_run`](super::check_run).
///
/// # Errors
/// The first promise that is broken.
pub fn check_cc<C: CongestionControl + 'static>(
    name: &str,
    new: impl Fn(CcContext) -> C + Send + Sync + 'static,
) -> Result<(), Violation> {
    let new = Arc::new(new);
    for_each_case(name, SCRIPTS, |draw| {
        let context = parts::context(draw);
        let mut cc = new(context);
        let mut journal = Journal::default();
        let mut script = Script::default();
        for _ in 0..EVENTS {
            let event = script.next(draw, cc.cwnd());
            journal.tell(&mut cc, event);
        }
        check_journal(&journal, &*new, context)
    })?;
    let first = backing_off::scripts()
        .position(|events| backing_off::keeps_its_window(&mut new(CcContext::new(10.0)), &events));
    if let Some(case) = first {
        let (subject, broken) = (format!("{name} at its first congestion"), Promise::BackOff.to_string());
        return Err(Violation { subject, case: case as u64, broken });
    }
    let algorithm = {
        let new = new.clone();
        Algorithm::new(name, move |context| new(context))
    };
    if let Some(lost) = backing_off::lost_too_much(Arc::new(algorithm)) {
        let broken = format!("{}: {:.0} %", Promise::Collapse, 100.0 * lost);
        return Err(Violation { subject: format!("{name} in a full queue"), case: 0, broken });
    }
    for_each_case(&format!("{name} in a network"), NETWORKS, |draw| {
        let mut plan = network::plan(draw, &CcSpec::Aimd(Aimd::default()));
        let journals = watch(&mut plan, name, &new);
        let result = sim::run(&plan, &Default::default()).map_err(|stop| stop.to_string())?;
        let reacts = |flow: &FlowPlan| new(flow.transport.cc_context(*flow.cc_context, 0)).responds_to_ecn();
        for (flow, journals) in plan.tcp_flows().zip(&journals) {
            for (context, journal) in lock(journals).iter() {
                let journal = lock(journal);
                check_journal(&journal, &*new, *context)
                    .and_then(|()| check_reductions(&journal, flow, reacts(flow)))
                    .and_then(|()| check_marks(&journal, flow))
                    .map_err(|what| format!("{}: {what}", flow.name))?;
            }
        }
        check_result(&plan, &result)
    })
}

/// Gives every flow of a plan this algorithm. Returns for each flow the settings and journals of its connections.
fn watch<C: CongestionControl + 'static>(
    plan: &mut Plan,
    name: &str,
    new: &Arc<impl Fn(CcContext) -> C + Send + Sync + 'static>,
) -> Vec<Connections> {
    let slots = plan.arrivals.iter_mut().flat_map(|group| &mut group.slots);
    let flows = plan.flows.iter_mut().chain(slots);
    flows
        .map(|flow| {
            let journals = Connections::default();
            let (new, kept) = (new.clone(), journals.clone());
            flow.cc = Arc::new(Algorithm::new(name, move |context| {
                let journal: Shared = Arc::new(Mutex::new(Journal::of(&context)));
                lock(&kept).push((context, journal.clone()));
                Watched { cc: new(context), journal }
            }));
            journals
        })
        .collect()
}

fn check_journal<C: CongestionControl>(
    journal: &Journal,
    new: impl Fn(CcContext) -> C,
    context: CcContext,
) -> Result<(), String> {
    journal.verdict()?;
    journal.replay(&mut new(context), Duration::ZERO)?;
    journal.replay(&mut new(context), SHIFT)
}

/// A loss or a mark is a second congestion event only when everything sent before the first was delivered.
fn check_reductions(journal: &Journal, flow: &FlowPlan, responds_to_ecn: bool) -> Result<(), String> {
    let recovery = flow.transport.recovery;
    // A second loss in a window is a second event under Reno, and a SACK sender without blocks is Reno.
    let is_reno = recovery == LossRecovery::Reno || recovery == LossRecovery::Sack && !flow.transport.peer_sack;
    let by_time = flow.transport.rack || flow.transport.tlp;
    let (mut sent, mut delivered) = (0, 0);
    // What was sent by the last event, and whether a loss in that is another one.
    let (mut due, mut may_lose_again, mut cut_at) = (0, false, None);
    for (number, (event, _)) in journal.entries.iter().enumerate() {
        match event {
            Event::Sent(segment) => sent += u64::from(!segment.retransmission),
            Event::Ack(ack) => delivered += u64::from(ack.newly_delivered),
            Event::Congestion(congestion) => {
                let covered = match congestion.kind {
                    CongestionKind::Timeout => true,
                    CongestionKind::Loss if may_lose_again => true,
                    // Without duplicate ACKs, what ends a recovery may show the losses of the next one.
                    CongestionKind::Loss if by_time => delivered + news_behind(journal, number) >= due,
                    CongestionKind::Loss => delivered >= due,
                    // The ACK that echoes the mark comes after it.
                    CongestionKind::Ecn => delivered + news_behind(journal, number) >= due,
                };
                ensure!(covered, "event {number}: a second reduction, {delivered} of {due} segments delivered");
                (due, cut_at) = (sent, Some(congestion.now));
                may_lose_again = match congestion.kind {
                    CongestionKind::Loss => is_reno,
                    // Tahoe begins again, whatever its window was cut for.
                    CongestionKind::Ecn => recovery == LossRecovery::Tahoe || !responds_to_ecn,
                    CongestionKind::Timeout => false,
                };
            }
            // A tail loss probe has repaired the loss, of what was sent before the probe (RFC 8985 §7.4.2).
            Event::RecoveryExit(recovery) if flow.transport.tlp && cut_at == Some(recovery.now) => due = 0,
            // What was undone was no reduction.
            Event::Undo(_) => due = 0,
            _ => {}
        }
    }
    Ok(())
}

/// Samples tell of no more marks than ACKs, in full segments, and of none without a receiver that counts them.
fn check_marks(journal: &Journal, flow: &FlowPlan) -> Result<(), String> {
    let (mss, counts) = (u64::from(flow.transport.mss), flow.transport.ecn.counts_marks());
    let (mut told, mut sampled) = (0, 0);
    for (number, (event, _)) in journal.entries.iter().enumerate() {
        let Event::Ack(ack) = event else { continue };
        ensure!(counts || ack.ce_count == 0, "event {number}: {} marks that nobody counts", ack.ce_count);
        told += u64::from(ack.ce_count) * mss;
        let Some(rate) = ack.rate else { continue };
        sampled += rate.newly_ce;
        ensure!(sampled <= told, "event {number}: samples of {sampled} bytes with a mark, ACKs tell of {told}");
        ensure!(rate.delivered_ce <= rate.delivered, "event {number}: {rate:?}");
        ensure!(rate.delivered_ce <= sampled, "event {number}: {rate:?} of {sampled} bytes with a mark");
    }
    Ok(())
}

/// The deliveries of the ACK behind an event other than a timer: the next event, at the same time.
fn news_behind(journal: &Journal, number: usize) -> u64 {
    let now = journal.entries[number].0.now();
    let acks = journal.entries[number..].iter().map_while(|(event, _)| match event {
        event if event.now() > now => None,
        Event::Ack(ack) => Some(u64::from(ack.newly_delivered)),
        _ => Some(0),
    });
    acks.filter(|news| *news > 0).take(1).sum()
}

type Shared = Arc<Mutex<Journal>>;
/// The settings and journals of the connections of a flow.
type Connections = Arc<Mutex<Vec<(CcContext, Shared)>>>;

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An algorithm with a journal.
#[derive(Debug)]
struct Watched<C> {
    cc: C,
    journal: Shared,
}

impl<C: CongestionControl> Watched<C> {
    fn tell(&mut self, event: Event) {
        lock(&self.journal).tell(&mut self.cc, event);
    }
}

impl<C: CongestionControl> CongestionControl for Watched<C> {
    fn cwnd(&self) -> f64 {
        self.cc.cwnd()
    }
    fn ssthresh(&self) -> f64 {
        self.cc.ssthresh()
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.cc.pacing_rate()
    }
    fn send_quantum(&self) -> u64 {
        self.cc.send_quantum()
    }
    fn owns_recovery(&self) -> bool {
        self.cc.owns_recovery()
    }
    fn least_in_recovery(&self) -> f64 {
        self.cc.least_in_recovery()
    }
    fn congestion_may_raise(&self) -> bool {
        self.cc.congestion_may_raise()
    }
    fn responds_to_ecn(&self) -> bool {
        self.cc.responds_to_ecn()
    }
    /// The journal records it in any case.
    fn departures(&self) -> Departures {
        Departures::All
    }
    /// The same.
    fn needs_rate_samples(&self) -> bool {
        true
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.tell(Event::Loss(*loss));
    }
    fn on_sent(&mut self, sent: &Sent) {
        self.tell(Event::Sent(*sent));
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.tell(Event::Ack(*ack));
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.tell(Event::Congestion(*congestion));
    }
    fn on_recovery_enter(&mut self, recovery: &Recovery) {
        self.tell(Event::RecoveryEnter(*recovery));
    }
    fn on_recovery_exit(&mut self, recovery: &Recovery) {
        self.tell(Event::RecoveryExit(*recovery));
    }
    fn on_undo(&mut self, recovery: &Recovery) {
        self.tell(Event::Undo(*recovery));
    }
    fn on_phase(&mut self, change: &PhaseChange) {
        self.tell(Event::Phase(*change));
    }
    fn on_resume(&mut self, now: Instant) {
        self.tell(Event::Resume(now));
    }
    fn on_limit(&mut self, segments: f64) {
        let now = lock(&self.journal).entries.last().map_or(Instant::ZERO, |(event, _)| event.now());
        self.tell(Event::Limit(now, segments));
    }
}

/// Events as no network would order them, one by one plausible.
#[derive(Debug, Default)]
struct Script {
    now: Instant,
    in_recovery: bool,
}

impl Script {
    fn next(&mut self, draw: &mut Draw, cwnd: f64) -> Event {
        self.now += draw.time(Duration::from_millis(20));
        let now = self.now;
        let path = path(draw, cwnd);
        match draw.whole(0, 99) {
            0..70 => Event::Ack(self.ack(draw, path)),
            70..73 => Event::Loss(loss(draw, now, path)),
            73..85 => {
                let idle_for = is_alone(path.in_flight).then(|| draw.time(Duration::from_secs(1)));
                Event::Sent(Sent { now, bytes: 1460, retransmission: draw.chance(10), idle_for, path })
            }
            85..89 => {
                let kind = draw.pick(&[CongestionKind::Loss, CongestionKind::Ecn, CongestionKind::Timeout]);
                let restarts = kind == CongestionKind::Timeout || kind == CongestionKind::Loss && draw.chance(20);
                let restart = match (restarts, kind) {
                    (false, _) => Restart::Reduced,
                    (true, CongestionKind::Timeout) => {
                        draw.pick(&[Restart::SlowStart, Restart::SlowStartAgain, Restart::OneSegment])
                    }
                    (true, _) => draw.pick(&[Restart::SlowStart, Restart::SlowStartAgain]),
                };
                self.in_recovery = !restarts;
                Event::Congestion(Congestion { now, kind, restart, flight_size: path.in_flight, path })
            }
            89..91 => Event::RecoveryEnter(Recovery { now, flight_size: path.in_flight, path }),
            91..95 => {
                self.in_recovery = false;
                Event::RecoveryExit(Recovery { now, flight_size: path.in_flight, path })
            }
            95..96 => Event::Undo(Recovery { now, flight_size: path.in_flight, path }),
            96..98 => Event::Phase(PhaseChange { now, from: Phase::SlowStart, to: Phase::CongestionAvoidance }),
            _ => Event::Resume(now),
        }
    }

    fn ack(&self, draw: &mut Draw, path: PathView) -> Ack {
        let acked = draw.pick(&[0.0, 1.0, 1.0, 1.0, 2.0]);
        Ack {
            now: self.now,
            acked,
            newly_delivered: acked as u32,
            newly_lost: draw.pick(&[0, 0, 0, 1]),
            ce_count: draw.pick(&[0, 0, 0, 1]),
            ece: draw.chance(15),
            round_ended: draw.chance(10),
            cwnd_limited: draw.chance(80),
            in_recovery: self.in_recovery,
            reduced_window: None,
            rate: draw.chance(80).then(|| rate(draw, path)),
            state: if self.in_recovery { CaState::Recovery } else { draw.pick(&[CaState::Open, CaState::Disorder]) },
            path,
        }
    }
}

/// A loss of one segment.
pub(super) fn loss(draw: &mut Draw, now: Instant, path: PathView) -> Loss {
    let (bytes, retransmission, app_limited) = (path.mss, draw.chance(10), draw.chance(10));
    let lost = u64::from(bytes) * draw.whole(1, 4);
    let tx_in_flight = path.in_flight_bytes + lost;
    Loss { now, bytes, retransmission, tx_in_flight, lost, app_limited, path }
}

/// A sample of a round trip.
pub(super) fn rate(draw: &mut Draw, path: PathView) -> RateSample {
    let newly_acked = u64::from(path.mss) * draw.whole(1, 2);
    let delivered = newly_acked + draw.whole(0, path.in_flight_bytes);
    RateSample {
        delivered,
        interval: path.latest_rtt,
        prior_delivered: draw.whole(0, 1 << 30),
        newly_acked,
        tx_in_flight: path.in_flight_bytes,
        lost: u64::from(path.mss) * draw.pick(&[0, 0, 0, 1, 3]),
        newly_ce: newly_acked * draw.pick(&[0, 0, 0, 1]),
        delivered_ce: draw.pick(&[0, delivered / 3, delivered]),
        app_limited: draw.chance(10),
    }
}

pub(super) fn path(draw: &mut Draw, cwnd: f64) -> PathView {
    let min_rtt = Duration::from_millis(20);
    let in_flight = (cwnd.min(1e6) * draw.real(0.0, 1.0)) as u32 + 1;
    PathView {
        in_flight,
        in_flight_bytes: u64::from(in_flight) * 1460,
        mss: 1460,
        srtt: min_rtt + draw.time(min_rtt),
        latest_rtt: min_rtt + draw.time(min_rtt),
        min_rtt,
    }
}
