//! Datagrams: the next sender, and the counters of receivers.

use super::index::{FlowRank, LinkId};
use super::ledger::{Colours, Fates};
use super::network::{Network, Route};
use super::packet::{Body, Datagram, Flags, PacketMeta};
use super::plan::{DatagramPlan, Plan};
use super::result::{DatagramResult, seconds};
use super::source::{Burst, Emitter};
use crate::link::SojournTimes;
use crate::metric::{interarrival_jitter, ratio};
use crate::qdisc::{Ecn, Tag};
use crate::rng::RngStreams;
use crate::units::{Duration, Instant};

/// One source and its receiver.
#[derive(Debug)]
pub(super) struct Stream {
    /// Which row of the results it belongs to, and its place there.
    row: usize,
    number: usize,
    emitter: Emitter,
    next: Option<Burst>,
    route: Route,
    packet: u32,
    flags: Flags,
    tag: Tag,
    sent: u64,
    /// A bit for every packet that has come.
    seen: Vec<u64>,
    /// How long the last packet took.
    transit: Option<Duration>,
    jitter_ns: f64,
}

impl Stream {
    /// Source `number` of a row, before its start.
    pub(super) fn new(plan: &Plan, row: usize, number: usize, (flags, tag): (Flags, Tag), route: Route) -> Self {
        let datagrams = &plan.datagrams[row];
        let end = Instant::ZERO + plan.duration;
        let rngs = RngStreams::from_root(plan.seed);
        let mut emitter = Emitter::new(datagrams, number, end, &rngs);
        Stream {
            row,
            number,
            next: emitter.next_burst(),
            emitter,
            route,
            packet: datagrams.packet,
            flags,
            tag,
            sent: 0,
            seen: Vec::new(),
            transit: None,
            jitter_ns: 0.0,
        }
    }

    /// Its name, and its path.
    pub(super) fn end<'plan>(&self, plan: &'plan Plan) -> (&'plan str, &'plan [LinkId]) {
        let source = &plan.datagrams[self.row].sources[self.number];
        (&source.name, &source.forward)
    }

    /// Its name.
    pub(super) fn name<'plan>(&self, plan: &'plan Plan) -> &'plan str {
        &plan.datagrams[self.row].sources[self.number].name
    }

    /// Which row of the results it belongs to.
    pub(super) fn row(&self) -> usize {
        self.row
    }

    /// When something leaves next.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.next.map(|burst| burst.at)
    }

    /// The burst that is due now. Advances to the next one.
    pub(super) fn next_burst(&mut self) -> Option<Burst> {
        std::mem::replace(&mut self.next, self.emitter.next_burst())
    }

    /// Sends a burst, as this flow.
    pub(super) fn send(&mut self, now: Instant, flow: FlowRank, burst: Burst, rows: &mut [Row], network: &mut Network) {
        let (route, flags, tag) = (self.route, self.flags, self.tag);
        let mut left = burst.bytes;
        while left > 0 {
            let len = left.min(u64::from(self.packet)) as u32;
            left -= u64::from(len);
            let body = Body::Datagram(Datagram { number: self.sent, len, sent_at: now });
            self.sent += 1;
            let row = &mut rows[self.row];
            row.sent += 1;
            row.sent_bytes += u64::from(len);
            network.send(now, PacketMeta { flow, route, flags, tag, ecn: Ecn::NotEct, wire_len: len }, body);
        }
    }

    /// A datagram has come to its receiver.
    pub(super) fn on_datagram(&mut self, now: Instant, datagram: &Datagram, rows: &mut [Row]) {
        if !self.is_new(datagram.number) {
            return;
        }
        let transit = now.since(datagram.sent_at);
        if let Some(last) = self.transit.replace(transit) {
            self.jitter_ns = interarrival_jitter(self.jitter_ns, transit.as_nanos().abs_diff(last.as_nanos()));
        }
        let row = &mut rows[self.row];
        row.arrived += 1;
        row.arrived_bytes += u64::from(datagram.len);
        row.delay_ns += transit.as_nanos();
        row.delays.record(transit);
        row.jitter_ns += self.jitter_ns;
        row.late += u64::from(row.deadline.is_some_and(|deadline| transit > deadline));
    }

    /// Whether a packet comes for the first time.
    fn is_new(&mut self, number: u64) -> bool {
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        let is_new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        is_new
    }
}

/// The counters of a row since the end of the warm-up.
#[derive(Debug, Default)]
pub(super) struct Row {
    since: Instant,
    deadline: Option<Duration>,
    sent: u64,
    sent_bytes: u64,
    /// Packets that came, doubles not counted.
    arrived: u64,
    arrived_bytes: u64,
    /// Packets that arrived after their deadline.
    late: u64,
    delay_ns: u64,
    delays: SojournTimes,
    /// Sum of the jitter estimates after each arrival.
    jitter_ns: f64,
}

impl Row {
    pub(super) fn new(plan: &DatagramPlan) -> Self {
        Row { deadline: plan.emission.deadline(), ..Row::default() }
    }

    /// The warm-up ends at `now`.
    pub(super) fn begin(&mut self, now: Instant) {
        *self = Row { since: now, deadline: self.deadline, ..Row::default() };
    }

    /// The run has ended.
    pub(super) fn result(&self, id: usize, plan: &Plan, fates: &Fates, colours: &Colours) -> DatagramResult {
        let datagrams = &plan.datagrams[id];
        let end = Instant::ZERO + plan.duration;
        let secs = end.since(self.since).as_secs_f64();
        let delays = self.delays.histogram();
        let delay = |quantile| (self.arrived > 0).then(|| seconds(delays.value_at_quantile(quantile) as f64));
        let mean = |sum_ns: f64| (self.arrived > 0).then(|| seconds(sum_ns / self.arrived as f64));
        let of_sent = |packets: u64| ratio(packets as f64, self.sent as f64);
        let leaves = datagrams.leaves(end, &RngStreams::from_root(plan.seed));
        DatagramResult {
            id,
            name: datagrams.name.clone(),
            group: datagrams.group.clone(),
            traffic: datagrams.emission.name(),
            sources: datagrams.sources.len(),
            offered_bps: 8.0 * self.sent_bytes as f64 / secs,
            delivered_bps: 8.0 * self.arrived_bytes as f64 / secs,
            leaves_bps: leaves.map(|mut leaves| leaves.mean_bps(self.since, end)),
            sent: self.sent,
            delivered: self.arrived,
            lost: fates.lost,
            corrupted: fates.corrupted,
            loss_rate: of_sent(fates.lost),
            delay_mean_s: mean(self.delay_ns as f64),
            delay_p50_s: delay(0.5),
            delay_p99_s: delay(0.99),
            jitter_s: mean(self.jitter_ns),
            late_rate: self.deadline.and_then(|_| of_sent(self.late)),
            lost_or_late_rate: self.deadline.and_then(|_| of_sent(fates.lost + fates.corrupted + self.late)),
            colours: datagrams.meter.map(|_| colours.counts()),
        }
    }
}
