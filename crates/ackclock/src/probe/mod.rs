//! The sample schema: columns of numbers over time, the unit in each name.
//!
//! Every backend writes the same columns, so that a comparison is a query.

/// Everything sampled in a run.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Flow names, to which `FlowSamples::flow` points.
    pub flow_names: Vec<String>,
    /// Link names, to which `LinkSamples::link` points.
    pub link_names: Vec<String>,
    /// Samples of flows.
    pub flows: FlowSamples,
    /// Samples of links.
    pub links: LinkSamples,
}

/// Samples of flows; all columns are of one length. Counters count from the start of the run.
#[derive(Clone, Debug, Default)]
pub struct FlowSamples {
    /// When.
    pub time_ns: Vec<u64>,
    /// Index into `Samples::flow_names`.
    pub flow: Vec<u32>,
    /// Window.
    pub cwnd_segments: Vec<f64>,
    /// Slow-start threshold; infinite before the first congestion event.
    pub ssthresh_segments: Vec<f64>,
    /// The sender's estimate of what is in flight.
    pub in_flight_segments: Vec<u32>,
    /// Smoothed RTT; 0 before the first measurement.
    pub srtt_ns: Vec<u64>,
    /// `cc::Phase` as a number.
    pub phase: Vec<u8>,
    /// Bytes put on the wire so far.
    pub sent_bytes: Vec<u64>,
    /// Payload received in order so far.
    pub delivered_bytes: Vec<u64>,
    /// Segments retransmitted so far.
    pub retransmits: Vec<u64>,
}

/// Samples of links; all columns are of one length. Counters count from the start of the run.
#[derive(Clone, Debug, Default)]
pub struct LinkSamples {
    /// When.
    pub time_ns: Vec<u64>,
    /// Index into `Samples::link_names`.
    pub link: Vec<u32>,
    /// Packets that wait, the one in transmission not counted.
    pub backlog_packets: Vec<u32>,
    /// Bytes that wait.
    pub backlog_bytes: Vec<u64>,
    /// Bytes transmitted so far.
    pub forwarded_bytes: Vec<u64>,
    /// Packets dropped so far.
    pub drops: Vec<u64>,
}
