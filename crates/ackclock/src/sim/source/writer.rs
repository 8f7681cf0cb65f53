//! Applications that write by themselves, and how much when.

use super::super::plan::FlowPlan;
use super::super::traffic::Traffic;
use crate::sim::endpoint::SendingEnd;
use crate::units::{Duration, Instant, NANOS_PER_SEC};

/// An application that writes without requests from a peer.
#[derive(Clone, Debug)]
pub struct Writer {
    traffic: Traffic,
    start: Instant,
    stop: Option<Instant>,
    mss: u32,
    /// Writes so far.
    writes: u64,
    next: Option<Instant>,
}

impl Writer {
    /// An application that has not started.
    pub fn new(flow: &FlowPlan) -> Self {
        Writer {
            traffic: flow.traffic.clone(),
            start: flow.start,
            stop: flow.stop,
            mss: flow.transport.mss,
            writes: 0,
            next: Some(flow.start),
        }
    }

    /// When it does something next.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.next
    }

    /// Nothing is written from `now` on.
    pub fn stop(&mut self, now: Instant) {
        self.stop = Some(now);
        self.next = Some(now);
    }

    /// Processes the work due at `now`.
    pub fn on_deadline(&mut self, now: Instant, sender: &mut SendingEnd) {
        if self.stop.is_some_and(|stop| stop <= now) {
            sender.stop_writing();
            sender.close();
            self.next = None;
            return;
        }
        if self.writes == 0 {
            sender.open(now);
        }
        self.writes += 1;
        let next_write = match self.traffic {
            // Others write.
            Traffic::Slot
            | Traffic::Web(_)
            | Traffic::Page(_)
            | Traffic::Abr(_)
            | Traffic::Interactive(_)
            | Traffic::Video(_) => None,
            Traffic::Bulk => {
                sender.write_forever();
                None
            }
            Traffic::Transfer { bytes } => {
                sender.write(now, bytes);
                sender.close();
                None
            }
            Traffic::RateLimited { rate } => {
                sender.write(now, u64::from(self.mss));
                let bits = u128::from(self.writes) * u128::from(self.mss) * 8;
                let nanos = bits * u128::from(NANOS_PER_SEC) / u128::from(rate.as_bps());
                Some(self.start + Duration::from_nanos(nanos as u64))
            }
        };
        self.next = match (next_write, self.stop) {
            (Some(write), Some(stop)) => Some(write.min(stop)),
            (write, stop) => write.or(stop),
        };
    }
}
