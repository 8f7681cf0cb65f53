//! Records every packet at every link, every change of a window, and the timers of senders, for detailed analysis.

use typed_index_collections::{TiSlice, TiVec};

use super::endpoint::SendingEnd;
use super::index::{FlowId, FlowRank, LinkId, LinkRank};
use super::order::inverse;
use super::packet::{Bodies, Body, BodyId, Packet};
use super::plan::Plan;
use super::recorder::Recorder;
use crate::probe::{PacketEvent, PacketTrace};
use crate::qdisc::Queued;
use crate::transport::Timer;
use crate::units::Instant;

/// The trace of a run in progress.
#[derive(Debug)]
pub(super) struct Tracer {
    /// A capture in progress.
    pub(super) recorder: Option<Recorder>,
    /// Whether there are rows.
    has_rows: bool,
    rows: Vec<Row>,
    /// For each flow, the end of the sent data and the last window.
    sent_to: TiVec<FlowRank, u64>,
    cwnd: TiVec<FlowRank, f64>,
    /// For each body, whether it was sent before.
    resent: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    time: Instant,
    link: LinkRank,
    flow: FlowRank,
    event: PacketEvent,
    seq: u64,
    len: u32,
    wire_len: u32,
    retransmission: bool,
    /// The window of a flow after a change.
    cwnd: f64,
    /// The expired timer of a flow.
    timer: Option<Timer>,
}

impl Row {
    /// Something that happens to a flow, and to no packet.
    fn of_flow(time: Instant, flow: FlowRank, event: PacketEvent) -> Self {
        let (link, retransmission, cwnd) = (LinkRank::new(0), false, 0.0);
        Row { time, link, flow, event, seq: 0, len: 0, wire_len: 0, retransmission, cwnd, timer: None }
    }
}

impl Tracer {
    pub(super) fn new(flows: usize, has_rows: bool) -> Self {
        let (sent_to, cwnd) = (vec![0; flows].into(), vec![0.0; flows].into());
        Tracer { recorder: None, has_rows, rows: Vec::new(), sent_to, cwnd, resent: Vec::new() }
    }

    /// A packet sets out.
    #[cold]
    pub(super) fn sent(&mut self, now: Instant, packet: Packet, bodies: &Bodies) {
        if let Some(recorder) = &mut self.recorder {
            recorder.sent(now, packet, bodies);
        }
        if !self.has_rows {
            return;
        }
        let mut resent = false;
        if let Body::Data(segment) = bodies.get(packet.body()) {
            let sent_to = &mut self.sent_to[bodies.flow(packet.body())];
            resent = segment.seq < *sent_to;
            *sent_to = (*sent_to).max(segment.seq + u64::from(segment.len));
        }
        self.note_resent(packet.body(), resent);
    }

    /// A doubled packet has got a body of its own.
    pub(super) fn doubled(&mut self, from: BodyId, to: BodyId) {
        if let Some(recorder) = &mut self.recorder {
            recorder.doubled(from, to);
        }
        if !self.has_rows {
            return;
        }
        let resent = self.resent[from.place()];
        self.note_resent(to, resent);
    }

    fn note_resent(&mut self, body: BodyId, resent: bool) {
        let place = body.place();
        if self.resent.len() <= place {
            self.resent.resize(place + 1, false);
        }
        self.resent[place] = resent;
    }

    /// Something happens to a packet at a link.
    #[cold]
    pub(super) fn packet(
        &mut self,
        time: Instant,
        link: LinkRank,
        packet: Packet,
        event: PacketEvent,
        bodies: &Bodies,
    ) {
        if let Some(recorder) = &mut self.recorder {
            match event {
                PacketEvent::Enter => recorder.entered(time, link, packet, bodies),
                PacketEvent::Leave => recorder.left(time, link, packet, bodies),
                PacketEvent::Drop | PacketEvent::Lose | PacketEvent::Police | PacketEvent::Discard => {
                    recorder.lost(packet, bodies);
                }
                _ => {}
            }
        }
        if !self.has_rows {
            return;
        }
        let (seq, len) = bodies.get(packet.body()).position();
        let flow = bodies.flow(packet.body());
        let (retransmission, wire_len) = (self.resent[packet.body().place()], packet.wire_len());
        let row = Row::of_flow(time, flow, event);
        self.rows.push(Row { link, seq, len, wire_len, retransmission, ..row });
    }

    /// The sender of a flow, after an event.
    #[cold]
    pub(super) fn sender(&mut self, time: Instant, flow: FlowRank, sender: &SendingEnd) {
        if let Some(recorder) = &mut self.recorder {
            recorder.sender(time, flow, sender);
        }
        let cwnd = sender.cwnd();
        if self.has_rows && self.cwnd[flow] != cwnd {
            self.cwnd[flow] = cwnd;
            self.rows.push(Row { cwnd, ..Row::of_flow(time, flow, PacketEvent::Window) });
        }
    }

    /// A timer of the sender of a flow goes off.
    #[cold]
    pub(super) fn timer(&mut self, time: Instant, flow: FlowRank, timer: Timer) {
        if self.has_rows {
            self.rows.push(Row { timer: Some(timer), ..Row::of_flow(time, flow, PacketEvent::Timer) });
        }
    }

    /// The table, with flows and links numbered as in the plan.
    pub(super) fn into_table(
        mut self,
        plan: &Plan,
        flow_rank: &TiSlice<FlowId, FlowRank>,
        streams: &[&str],
        link_rank: &TiSlice<LinkId, LinkRank>,
    ) -> PacketTrace {
        // A loss is known before its time, also at the end of the run.
        self.rows.sort_by_key(|row| row.time);
        self.rows.retain(|row| row.time < Instant::ZERO + plan.duration);
        self.cwnd.fill(0.0);
        let (mut flow_of, link_of) = (inverse(flow_rank), inverse(link_rank));
        flow_of.extend((flow_rank.len()..flow_rank.len() + streams.len()).map(FlowId::new));
        let flows = plan.tcp_flows().map(|flow| &*flow.name);
        let mut table = PacketTrace {
            flow_names: flows.chain(streams.iter().copied()).map(str::to_owned).collect(),
            link_names: plan.links.iter().map(|link| link.name.clone()).collect(),
            ..PacketTrace::default()
        };
        for row in &self.rows {
            let cwnd = &mut self.cwnd[row.flow];
            if row.event == PacketEvent::Window {
                *cwnd = row.cwnd;
            }
            table.time_ns.push(row.time.as_nanos());
            table.link.push(link_of[row.link].number() as u32);
            table.flow.push(flow_of[row.flow].number() as u32);
            table.event.push(row.event as u8);
            table.seq.push(row.seq);
            table.len.push(row.len);
            table.wire_bytes.push(row.wire_len);
            table.retransmission.push(row.retransmission);
            table.cwnd_segments.push(*cwnd);
            table.timer.push(row.timer.map(|timer| timer as u8));
        }
        table
    }
}
