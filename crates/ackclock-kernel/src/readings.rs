//! The states of the connections that the guests report at each look.

use ackclock::probe::FlowSamples;
use ackclock::sim::{Plan, Stack, Traffic};
use ackclock::units::{Duration, Instant};
use ackclock_wire::{Reading, TcpInfo};

/// `struct ackclock_state` of guest/agent/shared.h.
const STATE_LEN: usize = INFO + TcpInfo::LEN;
/// The place of its `struct tcp_info`.
const INFO: usize = 32;

/// Takes the reports of both guests.
pub struct Reports<'a> {
    plan: &'a Plan,
    looks: &'a [Instant],
    /// The present state of each flow.
    now: Vec<Reading>,
    before: Vec<Reading>,
    /// The state at each sample, by sampled flow.
    sampled: Vec<Reading>,
}

impl<'a> Reports<'a> {
    /// Creates the empty reports of a run with these looks.
    pub fn new(plan: &'a Plan, looks: &'a [Instant]) -> Self {
        let flows = vec![Reading::default(); plan.flows.len()];
        Reports { plan, looks, now: flows.clone(), before: flows, sampled: Vec::new() }
    }

    /// The number of the sample that is taken at this time.
    fn sample(&self, at: Instant) -> Option<usize> {
        let interval = self.plan.sampling.interval?.as_nanos();
        at.as_nanos().is_multiple_of(interval).then(|| (at.as_nanos() / interval) as usize)
    }

    /// A guest reports a connection.
    pub fn take(&mut self, flow: usize, content: &[u8]) {
        if content.len() < STATE_LEN || flow >= self.now.len() {
            return;
        }
        let number = |at: usize| u64::from_ne_bytes(content[at..at + 8].try_into().unwrap_or_default());
        let (look, received, is_receiver) = (number(0) as usize, number(8), number(16) != 0);
        let Some(at) = self.looks.get(look).copied() else { return };
        let is_start = at == Instant::ZERO + self.plan.warmup;
        let sampled = self.sample(at).filter(|_| flow < self.plan.sampled_flows());
        let place = sampled.map(|sample| sample * self.plan.sampled_flows() + flow);
        if let Some(place) = place
            && self.sampled.len() <= place
        {
            self.sampled.resize(place + 1, Reading::default());
        }
        if is_receiver {
            self.now[flow].received = received;
            place.into_iter().for_each(|place| self.sampled[place].received = received);
            if is_start {
                self.before[flow].received = received;
            }
            return;
        }
        let info = TcpInfo::new(content[INFO..STATE_LEN].try_into().unwrap_or([0; TcpInfo::LEN]));
        let elapsed = look.checked_sub(1).map_or(Duration::ZERO, |last| at.since(self.looks[last]));
        let plan = &self.plan.flows[flow];
        let has_stopped = plan.stop.is_some_and(|stop| stop < at) || matches!(plan.traffic, Traffic::Transfer { .. });
        let is_active = !has_stopped || info.unacked() > 0 || info.not_sent() > 0;
        let reading = &mut self.now[flow];
        let recovery = Some(number(24) as u32);
        reading.look(info, recovery, elapsed.min(at.since(plan.start.min(at))), is_active);
        let reading = *reading;
        let keep = |kept: &mut Reading| *kept = Reading { received: kept.received, ..reading };
        place.into_iter().for_each(|place| keep(&mut self.sampled[place]));
        if is_start {
            keep(&mut self.before[flow]);
        }
    }

    /// The state of a flow at the start and at the end of the window.
    pub fn window(&self, flow: usize) -> (&Reading, &Reading) {
        (&self.before[flow], &self.now[flow])
    }

    /// Puts the states of the kernel's flows into samples. `wire_bytes` has the order of their rows.
    pub fn fill(mut self, samples: &mut FlowSamples, wire_bytes: &[u64]) {
        self.sampled.resize(wire_bytes.len(), Reading::default());
        for (row, (reading, wire_bytes)) in self.sampled.iter().zip(wire_bytes).enumerate() {
            if self.plan.flows[row % self.plan.sampled_flows()].stack == Stack::Outside {
                reading.put_into(samples, row, *wire_bytes);
            }
        }
    }
}
