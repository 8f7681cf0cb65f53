//! A run in progress: its steps, state and changes.

use std::sync::atomic::AtomicBool;

use ackclock::cc::{Algorithm, CcSpec};
use ackclock::sim::{FlowId, LinkId, PacketKind, PacketView, Plan, Progress, QueueLimit, Simulation};
use ackclock::units::{Duration, Instant, Rate};
use self_cell::self_cell;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use crate::column::{self, Column, Table, columns};
use crate::scenario::{Finished, Scenario};

type Run<'plan> = Option<Simulation<'plan>>;

self_cell!(
    struct Planned {
        owner: Plan,
        #[not_covariant]
        dependent: Run,
    }
);

/// A run in progress.
#[wasm_bindgen]
pub struct Live {
    scenario: Scenario,
    seed: Option<u64>,
    replicate: u64,
    run: Planned,
    timers: Vec<u8>,
}

/// The state of a flow between two steps.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub struct LiveFlow {
    /// Window, segments.
    pub cwnd_segments: f64,
    /// Slow-start threshold, segments.
    pub ssthresh_segments: f64,
    /// Segments sent and not acknowledged.
    pub unacked_segments: u32,
    /// Smoothed RTT, s.
    pub srtt_s: f64,
    /// Payload received in order, bytes.
    pub delivered_bytes: f64,
    /// Segments sent again.
    pub retransmits: f64,
}

/// The state of a link between two steps.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub struct LiveLink {
    /// Rate of a link with a constant rate, or not a number for others.
    pub rate_bps: f64,
    /// Propagation, s.
    pub delay_s: f64,
    /// Packets in the queue.
    pub backlog_packets: u32,
    /// Packets dropped by the queue.
    pub drops: f64,
    /// Packets marked by the queue.
    pub marks: f64,
    /// Packets lost in transit.
    pub losses: f64,
    /// Bytes transmitted.
    pub forwarded_bytes: f64,
}

#[wasm_bindgen]
impl Live {
    /// A run at its start. `spare`: for each flow that the run may begin later, the index of the flow that it is like.
    #[wasm_bindgen(constructor)]
    pub fn new(scenario: Scenario, seed: Option<u64>, replicate: u64, spare: Vec<usize>) -> Result<Live, JsError> {
        let mut plan = scenario.plan(seed, replicate);
        let flows = plan.flows.len();
        for (number, like) in spare.into_iter().enumerate() {
            within(like, flows, "flow")?;
            plan.add_flow_like(FlowId::new(like), &format!("added{}", number + 1));
        }
        let run = Planned::new(plan, |plan| Some(Simulation::new(plan)));
        Ok(Live { scenario, seed, replicate, run, timers: Vec::new() })
    }

    /// Names of the flows.
    #[wasm_bindgen(getter, js_name = flowNames)]
    pub fn flow_names(&self) -> Vec<String> {
        self.run.borrow_owner().flows.iter().map(|flow| flow.name.to_string()).collect()
    }

    /// Names of the links.
    #[wasm_bindgen(getter, js_name = linkNames)]
    pub fn link_names(&self) -> Vec<String> {
        self.run.borrow_owner().links.iter().map(|link| link.name.clone()).collect()
    }

    /// Time of the run, s.
    #[wasm_bindgen(getter)]
    pub fn duration(&self) -> f64 {
        self.run.borrow_owner().duration.as_secs_f64()
    }

    /// The current time, s.
    pub fn now(&mut self) -> Result<f64, JsError> {
        self.with(|run| Ok(run.now().as_secs_f64()))
    }

    /// Continues to a time, in seconds. Returns true if the run continues beyond it.
    pub fn step(&mut self, until: f64) -> Result<bool, JsError> {
        let until = Instant::ZERO + time(until)?;
        self.with(|run| Ok(run.step(until, &AtomicBool::new(false))? == Progress::Paused))
    }

    /// A flow by its index in `flowNames`.
    pub fn flow(&mut self, index: usize) -> Result<LiveFlow, JsError> {
        within(index, self.run.borrow_owner().flows.len(), "flow")?;
        self.with(|run| {
            let view = run.flow(FlowId::new(index));
            Ok(LiveFlow {
                cwnd_segments: view.sender.cwnd,
                ssthresh_segments: view.sender.ssthresh,
                unacked_segments: view.sender.unacked,
                srtt_s: view.sender.srtt.as_secs_f64(),
                delivered_bytes: view.delivered_bytes as f64,
                retransmits: view.counters.retransmits as f64,
            })
        })
    }

    /// A link by its index in `linkNames`.
    pub fn link(&mut self, index: usize) -> Result<LiveLink, JsError> {
        within(index, self.run.borrow_owner().links.len(), "link")?;
        self.with(|run| {
            let view = run.link(LinkId::new(index));
            Ok(LiveLink {
                rate_bps: view.rate.map_or(f64::NAN, |rate| rate.as_bps() as f64),
                delay_s: view.delay.as_secs_f64(),
                backlog_packets: view.backlog_packets,
                drops: view.counters.drops as f64,
                marks: view.counters.marks as f64,
                losses: view.counters.losses as f64,
                forwarded_bytes: view.counters.forwarded_bytes as f64,
            })
        })
    }

    /// The packets at a link, five numbers each.
    ///
    /// 1. the flow, or -1
    /// 2. the kind: 0 for data, 1 for an ACK, 2 for a request
    /// 3. bytes on the wire
    /// 4. 1 if it is marked
    /// 5. arrival time at the far end in seconds, not a number for a queued packet
    pub fn packets(&mut self, link: usize) -> Result<Vec<f64>, JsError> {
        within(link, self.run.borrow_owner().links.len(), "link")?;
        self.with(|run| Ok(run.packets(LinkId::new(link)).iter().flat_map(numbers_of).collect()))
    }

    /// Changes the rate of a link, bit/s.
    #[wasm_bindgen(js_name = setRate)]
    pub fn set_rate(&mut self, link: usize, bps: f64) -> Result<(), JsError> {
        within(link, self.run.borrow_owner().links.len(), "link")?;
        let rate = Rate::from_bps(bps as u64).ok_or_else(|| JsError::new("a rate is at least 1 bit/s"))?;
        self.with(|run| Ok(run.set_rate(LinkId::new(link), rate)?))
    }

    /// Changes the propagation delay of a link, s.
    #[wasm_bindgen(js_name = setDelay)]
    pub fn set_delay(&mut self, link: usize, seconds: f64) -> Result<(), JsError> {
        within(link, self.run.borrow_owner().links.len(), "link")?;
        let delay = time(seconds)?;
        self.with(|run| Ok(run.set_delay(LinkId::new(link), delay)?))
    }

    /// Changes the probability with which a link loses each packet.
    #[wasm_bindgen(js_name = setLoss)]
    pub fn set_loss(&mut self, link: usize, probability: f64) -> Result<(), JsError> {
        within(link, self.run.borrow_owner().links.len(), "link")?;
        self.with(|run| Ok(run.set_loss(LinkId::new(link), probability)?))
    }

    /// Changes how many packets the queue of a link holds.
    #[wasm_bindgen(js_name = setLimit)]
    pub fn set_limit(&mut self, link: usize, packets: u32) -> Result<(), JsError> {
        within(link, self.run.borrow_owner().links.len(), "link")?;
        self.with(|run| Ok(run.set_limit(LinkId::new(link), QueueLimit::Packets(packets))?))
    }

    /// Replaces the queue of a link by another one: a name, or the table `queue`, as JSON. Returns it in words.
    #[wasm_bindgen(js_name = setQueue)]
    pub fn set_queue(&mut self, link: usize, queue: &str) -> Result<String, JsError> {
        within(link, self.run.borrow_owner().links.len(), "link")?;
        let (link, scenario) = (LinkId::new(link), &self.scenario);
        self.run.with_dependent_mut(|_, run| {
            let run = run.as_mut().ok_or_else(ended)?;
            let queue = scenario.queue_at(link, &run.place(link), queue)?;
            let words = queue.in_words();
            run.set_queue(link, queue)?;
            Ok(words)
        })
    }

    /// Another algorithm takes over a flow: its name, or the table `cc`, as JSON.
    #[wasm_bindgen(js_name = setAlgorithm)]
    pub fn set_algorithm(&mut self, flow: usize, cc: &str) -> Result<(), JsError> {
        within(flow, self.run.borrow_owner().flows.len(), "flow")?;
        let algorithm = algorithm(cc)?;
        self.with(|run| Ok(run.set_algorithm(FlowId::new(flow), &algorithm)?))
    }

    /// Begins one of the spare flows.
    #[wasm_bindgen(js_name = beginFlow)]
    pub fn begin_flow(&mut self, index: usize) -> Result<(), JsError> {
        within(index, self.run.borrow_owner().flows.len(), "flow")?;
        self.with(|run| Ok(run.begin_flow(FlowId::new(index))?))
    }

    /// Ends a flow: it writes nothing more.
    #[wasm_bindgen(js_name = endFlow)]
    pub fn end_flow(&mut self, index: usize) -> Result<(), JsError> {
        within(index, self.run.borrow_owner().flows.len(), "flow")?;
        self.with(|run| Ok(run.end_flow(FlowId::new(index))?))
    }

    /// The columns of a table of the samples so far, valid until the run continues.
    pub fn columns(&mut self, table: &str) -> Result<Vec<Column>, JsError> {
        let table = Table::by_name(table).ok_or_else(|| JsError::new(&format!("unknown table {table:?}")))?;
        let timers = &mut self.timers;
        self.run.with_dependent_mut(|_, run| {
            let samples = run.as_mut().ok_or_else(ended)?.samples();
            *timers = column::timers(&samples.trace);
            Ok(columns(samples, timers, table))
        })
    }

    /// Continues to the end, and returns the result.
    pub fn finish(mut self) -> Result<Finished, JsError> {
        let result = self.run.with_dependent_mut(|_, run| {
            let run = run.take().ok_or_else(ended)?;
            run.finish(&AtomicBool::new(false)).map_err(JsError::from)
        })?;
        Ok(self.scenario.finished(result, self.seed, self.replicate))
    }
}

impl Live {
    fn with<T>(&mut self, act: impl FnOnce(&mut Simulation<'_>) -> Result<T, JsError>) -> Result<T, JsError> {
        self.run.with_dependent_mut(|_, run| act(run.as_mut().ok_or_else(ended)?))
    }
}

fn numbers_of(packet: &PacketView) -> [f64; 5] {
    let flow = packet.flow.map_or(-1.0, |flow| flow.number() as f64);
    let kind = match packet.kind {
        PacketKind::Data => 0.0,
        PacketKind::Ack => 1.0,
        PacketKind::Request => 2.0,
    };
    let arrives = packet.arrives.map_or(f64::NAN, Instant::as_secs_f64);
    [flow, kind, f64::from(packet.wire_bytes), f64::from(u8::from(packet.marked)), arrives]
}

/// An algorithm of the core, with its parameters in their ranges.
fn algorithm(json: &str) -> Result<Algorithm, JsError> {
    let spec = match serde_json::from_str(json)? {
        Value::String(name) => {
            CcSpec::by_name(&name).ok_or_else(|| JsError::new(&format!("unknown algorithm {name:?}")))?
        }
        table => serde_json::from_value(table)?,
    };
    if spec.is_foreign() {
        return Err(JsError::new("user-supplied code does not run here; give the algorithm as a rule"));
    }
    spec.check().map_err(|mistake| JsError::new(&mistake.to_string()))?;
    Ok(spec.into())
}

fn ended() -> JsError {
    JsError::new("the run has ended")
}

fn within(index: usize, count: usize, what: &str) -> Result<(), JsError> {
    if index < count {
        Ok(())
    } else {
        Err(JsError::new(&format!("no {what} has the index {index}; there are {count}")))
    }
}

fn time(seconds: f64) -> Result<Duration, JsError> {
    if seconds.is_finite() && seconds >= 0.0 {
        return Ok(Duration::from_secs_f64_round(seconds));
    }
    Err(JsError::new(&format!("{seconds} is not a time in seconds")))
}
