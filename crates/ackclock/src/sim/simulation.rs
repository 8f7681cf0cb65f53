//! The run: the event loop, the observations with their times, and the changes between two steps.

use std::sync::atomic::{AtomicBool, Ordering};

use typed_index_collections::TiVec;

use super::bounds::Bounds;
use super::components::{Component, Components};
use super::ends::Ends;
use super::error::RunError;
use super::index::{FlowId, FlowRank, LinkId, LinkRank};
use super::limits::{MOST_PACKETS, MOST_RECORDED};
use super::lookahead::look_ahead;
use super::measure::{Measurement, Run};
use super::network::{Network, Routes};
use super::order::{inverse, order_by_key};
use super::plan::Plan;
use super::recorder::Recorder;
use super::result::RunResult;
use super::sampler::Sampler;
use super::view::{ChangeError, FlowView, LinkView, PacketView, Progress};
use crate::engine::ComponentId;
use crate::probe::Samples;
use crate::qdisc::{Ecn, Queued};
use crate::rng::RngStreams;
use crate::units::Instant;

/// Events between two checks of the stop flag.
const EVENTS_PER_CHECK: u64 = 1 << 16;

/// A run in progress, which advances step by step.
///
/// A step ends before the events at its last moment. Later events have not happened if they could be observed, or
/// would change after a change of a link. A run in steps of any lengths gives the result of [`run`](super::run). Only
/// [`RunResult::events`], the number of events that the engine needed, may be greater.
pub struct Simulation<'plan> {
    pub(super) plan: &'plan Plan,
    pub(super) network: Network,
    pub(super) ends: Ends<'plan>,
    sampler: Sampler,
    measurement: Measurement,
    pub(super) bounds: Bounds,
    next_sample: Instant,
    events_handled: u64,
    /// The last moment of the warm-up, and then of the run.
    last: Instant,
    /// The end of the last step.
    now: Instant,
    /// The end of the step in progress.
    target: Instant,
}

impl<'plan> Simulation<'plan> {
    /// A run at its start.
    pub fn new(plan: &'plan Plan) -> Self {
        let rngs = RngStreams::from_root(plan.seed);
        let link_order = order_by_key::<LinkRank, LinkId>(&rngs, plan.links.iter().map(|link| link.name.as_str()));
        let (link_rank, lookahead) = (inverse(&link_order), look_ahead(plan));
        let bounds = Bounds::new(plan, &lookahead);
        let mut routes = Routes::new(plan, &link_rank, &lookahead);
        let ends = Ends::new(plan, &rngs, &mut routes);
        let components = Components {
            links: link_order.len() as u32,
            flows: ends.flows.len() as u32,
            groups: ends.groups.len() as u32,
            streams: ends.streams.len() as u32,
            channels: plan.channels.len() as u32,
        };
        let mut network = Network::new(plan, rngs, components, &link_order, routes);
        for (component, at) in ends.first_deadlines(components) {
            network.events.set(component, at);
        }
        record(plan, &ends, &mut network);
        let mut simulation = Simulation {
            plan,
            network,
            ends,
            sampler: Sampler::new(plan),
            measurement: Measurement::default(),
            bounds,
            next_sample: Instant::ZERO + plan.duration,
            events_handled: 0,
            last: Instant::ZERO,
            now: Instant::ZERO,
            target: Instant::ZERO,
        };
        simulation.observe_start();
        simulation
    }

    /// Observations precede all events at their time: the beginning of the window of measurement, samples, and the
    /// end. At the start of the run that is now, later the last moment before.
    fn observe_start(&mut self) {
        if self.plan.sampling.interval.is_some() {
            let next = self.sample(Instant::ZERO);
            self.network.events.set(self.network.components.sampling(), next.before());
        }
        let warmup_ends = Instant::ZERO + self.plan.warmup;
        match warmup_ends.before() {
            None => self.begin_measurement(Instant::ZERO),
            Some(last) => {
                self.network.events.set(self.network.components.warmup(), Some(last));
                self.last = last;
            }
        }
    }

    /// The window of measurement begins at `now`.
    fn begin_measurement(&mut self, now: Instant) {
        self.measurement = Measurement::begin(&mut self.ends, &mut self.network, now);
        let end = Instant::ZERO + self.plan.duration;
        self.last = end.before().unwrap_or(end);
        self.set_horizon();
    }

    /// Takes a sample of the events before `now`. Returns the time of the next one.
    fn sample(&mut self, now: Instant) -> Instant {
        for link in self.sampler.links() {
            let link = self.network.link_rank[*link];
            if let Some(last) = now.before() {
                self.network.advance_link(last, link);
            }
        }
        let next = self.sampler.sample(now, &self.ends, &self.network);
        self.next_sample = next.min(Instant::ZERO + self.plan.duration);
        next
    }

    /// Arrivals never happen ahead of the end of the warm-up, the run or a step. Arrivals that a sample shows never
    /// happen ahead of the sample.
    fn set_horizon(&mut self) {
        let last = self.last.min(self.network.step_horizon);
        self.network.horizon = last;
        self.network.sample_horizon = self.next_sample.before().map_or(last, |sample| sample.min(last));
    }

    /// Handles all events before `self.network.until`, and the permitted lookahead.
    fn handle_events(&mut self, stop: &AtomicBool) -> Result<(), RunError> {
        while let Some((now, id)) = self.network.events.peek().filter(|(now, _)| *now < self.network.until) {
            self.events_handled += 1;
            if self.events_handled.is_multiple_of(EVENTS_PER_CHECK) {
                self.check_whether_to_stop(now, stop)?;
            }
            if self.network.ledger.bodies.places() > MOST_PACKETS {
                return Err(RunError::TooManyPackets { at: now.since(Instant::ZERO) });
            }
            self.ends.prefetch_timed(&self.network);
            match self.network.components.component(id) {
                Component::Link(link) => {
                    if let Some(packet) = self.network.on_link(now, id, link) {
                        self.ends.on_arrival(now, link, packet, &mut self.network);
                    }
                }
                other => self.on_event(now, id, other),
            }
            self.take_ahead();
        }
        Ok(())
    }

    /// Handles the arrivals that may happen ahead of time.
    #[inline(always)]
    pub(super) fn take_ahead(&mut self) {
        while let Some((at, link, packet)) = self.ends.next_ahead(&mut self.network) {
            self.ends.on_arrival(at, link, packet, &mut self.network);
        }
    }

    #[cold]
    fn check_whether_to_stop(&self, now: Instant, stop: &AtomicBool) -> Result<(), RunError> {
        if stop.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        if self.network.ledger.recorded() > MOST_RECORDED {
            return Err(RunError::TooMuchCaptured { at: now.since(Instant::ZERO) });
        }
        Ok(())
    }

    /// Continues to the end of the run.
    ///
    /// # Errors
    /// The errors of [`run`](super::run).
    pub fn finish(mut self, stop: &AtomicBool) -> Result<RunResult, RunError> {
        let end = Instant::ZERO + self.plan.duration;
        let last = end.before().unwrap_or(end);
        self.go_on(end, last, stop)?;
        self.network.advance(last);
        let mut samples = std::mem::take(&mut self.sampler).into_samples();
        let mut recording = None;
        if let Some(mut tracer) = self.network.ledger.tracer.take() {
            recording = tracer.recorder.take().map(|recorder| recorder.into_recording(end));
            let streams: Vec<_> = self.ends.streams.iter().map(|stream| stream.name(self.plan)).collect();
            samples.trace = tracer.into_table(self.plan, &self.ends.flow_rank, &streams, &self.network.link_rank);
        }
        let run = Run { plan: self.plan, ends: &mut self.ends, network: &self.network };
        let result = self.measurement.finish(run, self.events_handled, samples);
        Ok(RunResult { recording, ..result })
    }

    /// Handles an event of a component other than a link.
    #[inline(never)]
    fn on_event(&mut self, now: Instant, id: ComponentId, component: Component) {
        match component {
            Component::Channel(index) => self.network.on_channel(now, id, index),
            Component::Warmup => {
                self.network.events.finish(id, None);
                self.network.advance(now);
                self.begin_measurement(Instant::ZERO + self.plan.warmup);
            }
            Component::Sampling => {
                let next = self.sample(self.next_sample);
                self.network.events.finish(id, next.before());
                self.set_horizon();
            }
            other => self.ends.on_event(now, id, other, &mut self.network),
        }
    }

    /// The current time: all events before it have been executed.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Whether the last step was interrupted: events after `now` may have been executed.
    fn is_amid_step(&self) -> bool {
        self.now < self.target
    }

    /// Runs until `until`, or to the end of the run if that comes first. Events at `until` are not executed.
    ///
    /// ```
    /// use std::sync::atomic::AtomicBool;
    ///
    /// use ackclock_scenario::Scenario;
    /// use ackclock::sim::{FlowId, Progress, Simulation};
    /// use ackclock::units::{Duration, Instant, Rate};
    ///
    /// let text = "
    /// schema = 1
    /// duration = '4 s'
    /// warmup = '0 s'
    /// topology = { kind = 'dumbbell', rate = '10 Mbit/s', delay = '10 ms', queue = { kind = 'drop-tail', limit = '50 packets' } }
    /// [[flows]]
    /// name = 'test'
    /// cc = 'cubic'
    /// ";
    /// let plan = Scenario::from_toml::<&str>(text, "example.toml", &[]).unwrap().plan(None, 0);
    /// let stop = AtomicBool::new(false);
    /// let mut simulation = Simulation::new(&plan);
    /// let at = |secs| Instant::ZERO + Duration::from_secs(secs);
    ///
    /// // The first two seconds; then the bottleneck loses nine tenths of its rate.
    /// assert_eq!(simulation.step(at(2), &stop), Ok(Progress::Paused));
    /// let before = simulation.flow(FlowId::new(0)).delivered_bytes;
    /// simulation.set_rate(plan.bottleneck, Rate::from_bps(1_000_000).unwrap()).unwrap();
    /// assert_eq!(simulation.step(at(3), &stop), Ok(Progress::Paused));
    /// assert_eq!(simulation.now(), at(3));
    /// assert!(simulation.flow(FlowId::new(0)).delivered_bytes - before < 200_000);
    /// assert!(simulation.link(plan.bottleneck).backlog_packets > 0);
    ///
    /// let result = simulation.finish(&stop).unwrap();
    /// assert_eq!(result.links[0].capacity_bps, Some(5_500_000.0));
    /// ```
    ///
    /// # Errors
    /// The errors of [`run`](super::run). An interrupted step can be repeated. It ends no earlier than intended.
    pub fn step(&mut self, until: Instant, stop: &AtomicBool) -> Result<Progress, RunError> {
        let end = Instant::ZERO + self.plan.duration;
        let until = until.min(end).max(self.target);
        self.go_on(until, until.before().unwrap_or_default(), stop)?;
        Ok(if self.now == end { Progress::Ended } else { Progress::Paused })
    }

    /// Continues until `until`, without any lookahead beyond `horizon`.
    fn go_on(&mut self, until: Instant, horizon: Instant, stop: &AtomicBool) -> Result<(), RunError> {
        if self.ends.error.is_none() {
            (self.target, self.network.until) = (until, until);
            self.network.step_horizon = horizon;
            self.set_horizon();
            self.handle_events(stop)?;
        }
        if let Some(error) = &self.ends.error {
            return Err(error.clone());
        }
        self.now = self.target;
        Ok(())
    }

    /// A flow.
    ///
    /// # Panics
    /// If the plan has none.
    pub fn flow(&self, id: FlowId) -> FlowView {
        let flow = self.ends.flow(id);
        FlowView {
            sender: flow.sender.info(),
            counters: flow.sender.counters(),
            delivered_bytes: flow.receiver.delivered(),
            finished: flow.finished.map(|(at, _)| at),
        }
    }

    /// Begins a flow of [`Plan::add_flow_like`] now. The result equals a plan in which it starts at this time.
    ///
    /// # Errors
    /// [`ChangeError`] if it has begun already.
    ///
    /// # Panics
    /// If the plan has no such flow.
    pub fn begin_flow(&mut self, id: FlowId) -> Result<(), ChangeError> {
        self.check_step()?;
        self.ends.begin_flow(id, self.now, &mut self.network)
    }

    /// Ends a flow now: its application stops writing. Data that it has written are still sent.
    ///
    /// # Errors
    /// [`ChangeError`] if it has not begun.
    ///
    /// # Panics
    /// If the plan has no such flow.
    pub fn end_flow(&mut self, id: FlowId) -> Result<(), ChangeError> {
        self.check_step()?;
        self.ends.end_flow(id, self.now, &mut self.network)
    }

    /// Applies the requests of a flow's algorithm from now on, instead of from its next event on. Call it after a
    /// change to an algorithm that is set from outside of the run ([`Algorithm::new`](crate::cc::Algorithm::new)). A
    /// paced flow continues after the gap that follows the last segment.
    ///
    /// # Errors
    /// [`ChangeError::Interrupted`].
    ///
    /// # Panics
    /// If the plan has no such flow.
    pub fn refresh_flow(&mut self, id: FlowId) -> Result<(), ChangeError> {
        self.check_step()?;
        self.ends.refresh_flow(id, self.now, &mut self.network);
        Ok(())
    }

    /// A link.
    ///
    /// # Panics
    /// If the plan has none.
    pub fn link(&mut self, id: LinkId) -> LinkView {
        let rank = self.bring_up_to_date(id);
        let link = &self.network.links[rank];
        let (backlog_packets, backlog_bytes) = link.backlog();
        LinkView { rate: link.rate(), delay: link.delay(), backlog_packets, backlog_bytes, counters: link.counters() }
    }

    /// The packets at a link. Queued packets come first, of each flow in the
    /// order of arrival. Then come packets in flight, in the order of their arrival at the far end. A station of a
    /// channel shows its transmitted packets.
    ///
    /// # Panics
    /// If the plan has none.
    pub fn packets(&mut self, id: LinkId) -> Vec<PacketView> {
        let rank = self.bring_up_to_date(id);
        let mut id_of: TiVec<FlowRank, _> = vec![None; self.ends.flow_rank.len()].into();
        for id in self.plan.flow_ids() {
            id_of[self.ends.flow_rank[id]] = Some(id);
        }
        let mut packets = Vec::new();
        self.network.visit(rank, |flow, kind, packet, arrives| {
            let (flow, marked) = (id_of.get(flow).copied().flatten(), packet.ecn() == Ecn::Ce);
            packets.push(PacketView { flow, kind, wire_bytes: packet.wire_len(), marked, arrives });
        });
        packets
    }

    /// The samples taken so far.
    pub fn samples(&self) -> &Samples {
        self.sampler.samples()
    }

    pub(super) fn check_step(&self) -> Result<(), ChangeError> {
        if self.is_amid_step() { Err(ChangeError::Interrupted) } else { Ok(()) }
    }

    /// Processes all events of a link before now. Returns its rank.
    pub(super) fn bring_up_to_date(&mut self, link: LinkId) -> LinkRank {
        let rank = self.network.link_rank[link];
        if let Some(last) = self.now().before() {
            self.network.advance_link(last, rank);
        }
        rank
    }
}

/// A capture begins, if the plan asks for one.
fn record(plan: &Plan, ends: &Ends, network: &mut Network) {
    let Some(capture) = &plan.capture else { return };
    let streams: Vec<_> = ends.streams.iter().map(|stream| stream.end(plan)).collect();
    let recorder = Recorder::new(plan, capture, &ends.flow_rank, &streams, &network.link_rank);
    if let Some(tracer) = &mut network.ledger.tracer {
        tracer.recorder = Some(recorder);
    }
}
