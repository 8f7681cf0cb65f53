//! The states of the connections that the guests report at each look.

use ackclock::probe::FlowSamples;
use ackclock::sim::{Plan, Traffic};
use ackclock::units::{Duration, Instant};
use ackclock_wire::{Reading, Readings, TcpInfo, Watched, record_sample};

use crate::error::KernelError;

/// `struct ackclock_state` of guest/agent/shared.h.
const STATE_LEN: usize = 24 + TcpInfo::LEN;

/// Takes the reports of both guests.
pub struct Reports<'a> {
    plan: &'a Plan,
    looks: &'a [Instant],
    /// By flow.
    now: Vec<Reading>,
    before: Vec<Reading>,
    /// By sample, and by sampled flow.
    sampled: Vec<Reading>,
    /// Reports of the last look.
    last: usize,
}

impl<'a> Reports<'a> {
    /// Of a run with these looks.
    pub fn new(plan: &'a Plan, looks: &'a [Instant]) -> Self {
        let flows = vec![Reading::default(); plan.flows.len()];
        Reports { plan, looks, now: flows.clone(), before: flows, sampled: Vec::new(), last: 0 }
    }

    /// The number of the sample that is taken at this time.
    fn sample(&self, at: Instant) -> Option<usize> {
        let interval = self.plan.sampling.interval?.as_nanos();
        let is_sample = at.as_nanos().is_multiple_of(interval) && at < Instant::ZERO + self.plan.duration;
        is_sample.then(|| (at.as_nanos() / interval) as usize)
    }

    /// A guest reports a connection.
    pub fn take(&mut self, flow: usize, content: &[u8]) -> Result<(), KernelError> {
        if content.len() < STATE_LEN || flow >= self.now.len() {
            return Ok(());
        }
        let number = |at: usize| u64::from_ne_bytes(content[at..at + 8].try_into().unwrap_or_default());
        let (look, received, is_receiver) = (number(0) as usize, number(8), number(16) != 0);
        let Some(at) = self.looks.get(look).copied() else { return Ok(()) };
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
            return Ok(());
        }
        let info = TcpInfo::new(content[24..STATE_LEN].try_into().unwrap_or([0; TcpInfo::LEN]));
        let elapsed = look.checked_sub(1).map_or(Duration::ZERO, |last| at.since(self.looks[last]));
        let plan = &self.plan.flows[flow];
        let has_stopped = plan.stop.is_some_and(|stop| stop < at) || matches!(plan.traffic, Traffic::Transfer { .. });
        let is_active = !has_stopped || info.unacked() > 0 || info.not_sent() > 0;
        let reading = &mut self.now[flow];
        reading.look(info, elapsed.min(at.since(plan.start.min(at))), is_active);
        let reading = *reading;
        let keep = |kept: &mut Reading| *kept = Reading { received: kept.received, ..reading };
        place.into_iter().for_each(|place| keep(&mut self.sampled[place]));
        if is_start {
            keep(&mut self.before[flow]);
        }
        self.last += usize::from(look + 1 == self.looks.len());
        Ok(())
    }

    /// The states of all connections at the start and at the end of the window, and the samples.
    pub fn finish(mut self, watched: &Watched) -> Readings {
        let (count, mut samples) = (self.plan.sampled_flows(), FlowSamples::default());
        self.sampled.resize(watched.wire_bytes.len(), Reading::default());
        for (place, (reading, wire_bytes)) in self.sampled.iter().zip(&watched.wire_bytes).enumerate() {
            let interval = self.plan.sampling.interval.unwrap_or_default().as_nanos();
            let at = Instant::from_nanos((place / count) as u64 * interval);
            record_sample(&mut samples, at, (place % count) as u32, reading, *wire_bytes);
        }
        samples.complete();
        Readings { before: self.before, after: self.now, samples }
    }
}
