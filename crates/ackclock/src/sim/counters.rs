//! The counters of a flow, from the start of its connection.

use std::ops::AddAssign;

use super::flow::Flow;
use super::measures::FlowMeasures;
use crate::transport::SenderCounters;
use crate::units::Instant;

/// The counters of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowCounters {
    pub(super) sender: SenderCounters,
    pub(super) wire_bytes: u64,
    pub(super) acknowledged: u64,
    /// Bytes ever sent, retransmissions not counted.
    pub(super) sent_once: u64,
    pub(super) delivered: u64,
    pub(super) marks: u32,
    pub(super) rtt_ns: u64,
    pub(super) rtt_count: u64,
    pub(super) window_integral: f64,
}

impl FlowCounters {
    pub(super) fn read(flow: &mut Flow, now: Instant) -> Self {
        if let Some(outside) = &flow.outside {
            return Self::within(&outside.measures);
        }
        let (rtt_ns, rtt_count) = flow.sender.rtt().totals();
        FlowCounters {
            sender: flow.sender.counters(),
            wire_bytes: flow.wire_bytes_sent(),
            acknowledged: flow.sender.acknowledged(),
            sent_once: flow.sender.sent_once(),
            delivered: flow.receiver.delivered(),
            marks: flow.receiver.ce_count(),
            rtt_ns,
            rtt_count,
            window_integral: match flow.finished {
                Some((_, integral)) => integral,
                None => flow.sender.window_integral(now),
            },
        }
    }
}

impl FlowCounters {
    /// The counters of a flow that began with the window of these measures.
    fn within(measures: &FlowMeasures) -> Self {
        FlowCounters {
            sender: SenderCounters {
                segments: measures.sent,
                payload_bytes: measures.sent_bytes,
                retransmits: measures.retransmits,
                timeouts: measures.timeouts,
                congestion_events: measures.congestion_events,
                ecn_events: measures.ecn_events,
                ..SenderCounters::default()
            },
            wire_bytes: measures.wire_bytes,
            acknowledged: measures.acknowledged_bytes,
            sent_once: 0,
            delivered: measures.delivered,
            marks: measures.marks as u32,
            rtt_ns: measures.rtt_ns,
            rtt_count: measures.rtt_count,
            window_integral: measures.window_integral,
        }
    }
}

impl AddAssign for FlowCounters {
    fn add_assign(&mut self, other: FlowCounters) {
        self.sender += other.sender;
        self.wire_bytes += other.wire_bytes;
        self.acknowledged += other.acknowledged;
        self.sent_once += other.sent_once;
        self.delivered += other.delivered;
        self.marks += other.marks;
        self.rtt_ns += other.rtt_ns;
        self.rtt_count += other.rtt_count;
        self.window_integral += other.window_integral;
    }
}
