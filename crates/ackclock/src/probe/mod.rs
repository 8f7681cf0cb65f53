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
    /// Every packet, if requested.
    pub trace: PacketTrace,
}

/// Samples of flows. All columns have the same length. Counters count from the start of the run.
#[derive(Clone, Debug, Default)]
pub struct FlowSamples {
    /// When.
    pub time_ns: Vec<u64>,
    /// Index into `Samples::flow_names`.
    pub flow: Vec<u32>,
    /// Window.
    pub cwnd_segments: Vec<f64>,
    /// Slow-start threshold, infinite before the first congestion event.
    pub ssthresh_segments: Vec<f64>,
    /// The sender's estimate of the flight size.
    pub in_flight_segments: Vec<u32>,
    /// Smoothed RTT, or 0 before the first measurement.
    pub srtt_ns: Vec<u64>,
    /// `cc::Phase` as a number.
    pub phase: Vec<u8>,
    /// Bytes put on the wire so far.
    pub sent_bytes: Vec<u64>,
    /// Payload received in order so far.
    pub delivered_bytes: Vec<u64>,
    /// Segments retransmitted so far.
    pub retransmits: Vec<u64>,
    /// State variables of the algorithms, by names with units. NaN for a flow whose algorithm lacks the variable.
    pub reported: Vec<(String, Vec<f64>)>,
}

impl FlowSamples {
    /// Adds a row of zeros for the flow at this position.
    pub fn add_row(&mut self, time_ns: u64, position: u32) {
        self.time_ns.push(time_ns);
        self.flow.push(position);
        self.cwnd_segments.push(0.0);
        self.ssthresh_segments.push(0.0);
        self.in_flight_segments.push(0);
        self.srtt_ns.push(0);
        self.phase.push(0);
        self.sent_bytes.push(0);
        self.delivered_bytes.push(0);
        self.retransmits.push(0);
    }

    /// Adds the state variables of the flow's algorithm to the last row.
    pub fn report(&mut self, name: &str, value: f64) {
        let row = self.time_ns.len() - 1;
        let known = self.reported.iter().position(|(column, _)| column == name);
        let position = known.unwrap_or_else(|| {
            self.reported.push((name.to_owned(), Vec::new()));
            self.reported.len() - 1
        });
        let column = &mut self.reported[position].1;
        column.resize(row, f64::NAN);
        column.push(value);
    }

    /// Brings all columns to one length.
    pub fn complete(&mut self) {
        for (_, column) in &mut self.reported {
            column.resize(self.time_ns.len(), f64::NAN);
        }
    }
}

/// Samples of links. All columns have the same length. Counters count from the start of the run.
#[derive(Clone, Debug, Default)]
pub struct LinkSamples {
    /// When.
    pub time_ns: Vec<u64>,
    /// Index into `Samples::link_names`.
    pub link: Vec<u32>,
    /// Packets in the queue, the one in transmission not counted.
    pub backlog_packets: Vec<u32>,
    /// Bytes in the queue.
    pub backlog_bytes: Vec<u64>,
    /// Bytes transmitted so far.
    pub forwarded_bytes: Vec<u64>,
    /// Packets dropped so far.
    pub drops: Vec<u64>,
    /// Mean of the available capacity since the last sample, or the present capacity in the first sample. Not a
    /// number for a pure delay. Empty without a varying link.
    pub capacity_bps: Vec<f64>,
}

/// A trace of every packet, link by link, and of the windows and timers of senders. All columns have the same length,
/// and times ascend.
#[derive(Clone, Debug, Default)]
pub struct PacketTrace {
    /// Flow names, to which `flow` points.
    pub flow_names: Vec<String>,
    /// Link names, to which `link` points.
    pub link_names: Vec<String>,
    /// When.
    pub time_ns: Vec<u64>,
    /// Index into `link_names`, without meaning for a change of a window or an expired timer.
    pub link: Vec<u32>,
    /// Index into `flow_names`.
    pub flow: Vec<u32>,
    /// [`PacketEvent`] as a number.
    pub event: Vec<u8>,
    /// First byte of data, or the next byte that an ACK expects.
    pub seq: Vec<u64>,
    /// Payload, or 0 for an ACK.
    pub len: Vec<u32>,
    /// Bytes on the wire.
    pub wire_bytes: Vec<u32>,
    /// True for data that was sent before.
    pub retransmission: Vec<bool>,
    /// The flow's window at that time.
    pub cwnd_segments: Vec<f64>,
    /// `transport::Timer` as a number, where one goes off.
    pub timer: Vec<Option<u8>>,
}

/// An event of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketEvent {
    /// It arrives at the queue of a link.
    Enter,
    /// It comes out of the link.
    Leave,
    /// The queue drops it.
    Drop,
    /// It is lost in transit. The time is its hypothetical arrival.
    Lose,
    /// No packet: the sender's window has changed.
    Window,
    /// It has come out of its last link with wrong bits, and the host discards it.
    Discard,
    /// Its transmission begins, on shared links only.
    Transmit,
    /// The queue marks it.
    Mark,
    /// The link duplicates it.
    Copy,
    /// The meter in front of the queue drops it.
    Police,
    /// No packet: a timer of the sender goes off.
    Timer,
}

impl PacketEvent {
    /// Names, in the order of the discriminants.
    pub const NAMES: [&'static str; 11] =
        ["enter", "leave", "drop", "lose", "window", "discard", "transmit", "mark", "copy", "police", "timer"];
}
