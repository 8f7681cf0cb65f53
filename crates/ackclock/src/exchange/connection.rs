//! An open connection: a sender and a receiver, with the sequence numbers of a script.
//!
//! The sender and the receiver count bytes from 0. In a script data begin at 1, after the SYN.

use super::MAX_SEGMENTS;
use super::ecn;
use super::host::Sent;
use super::info::{Reading, State};
use super::packet::{Flags, Options, Packet};
use super::settings::Settings;
use crate::cc::CcContext;
use crate::cc::CongestionControl;
use crate::ecn::Ecn;
use crate::tcp::{AccEcnOption, AckSegment, DataEcn, DataSegment, EcnFeedback, Receiver, SackBlocks, Sender};
use crate::transport::{EcnMode, LossRecovery, TIMESTAMPS_LEN, Transport};
use crate::units::{Duration, Instant};

/// RFC 9293 §3.7.1: without an MSS option, TCP "MUST assume a default send MSS of 536".
const DEFAULT_MSS: u32 = 536;
/// The smallest MSS that is believed.
const MIN_MSS: u32 = 48;
/// RFC 7323 §2.3: "the shift count MUST be limited to 14".
const MAX_WSCALE: u32 = 14;
/// The resolution of timestamps.
const TICK: Duration = Duration::from_millis(1);

/// The agreement of both ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreement {
    /// The peer's MSS.
    pub mss: Option<u32>,
    /// The peer's window scale, if both offered one.
    pub wscale: Option<u32>,
    /// Both offered SACK.
    pub sack: bool,
    /// Both offered ECN.
    pub ecn: EcnMode,
    /// The peer's SYN-ACK had the option of AccECN, or this side answers the SYN.
    pub option: bool,
    /// The peer's last timestamp, if both ends offered timestamps.
    pub timestamps: Option<u32>,
    /// How long the handshake took, unless a retransmission made that ambiguous.
    pub rtt: Option<Duration>,
    /// The SYN or its answer was sent more than once.
    pub retransmitted: bool,
}

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
    agreement: Agreement,
    mss: u32,
    /// The scale of the windows that this side advertises.
    wscale: u32,
    written: u64,
    /// Bytes that the application has read.
    read: u64,
    fin: Fin,
    /// Where the peer's data end.
    peer_end: Option<u64>,
    /// The acknowledgement sent last: RFC 7323's Last.ACK.sent.
    last_ack_sent: u32,
    /// An ACK of data that were never sent is dropped without an answer, as Linux does.
    ignores_unsent: bool,
    /// Segments carry the option of AccECN.
    has_option: bool,
    /// The setting permits it.
    may_have_option: bool,
    /// As in Linux, the option has all counters, data carry it, and ACKs are ECN-capable with AccECN.
    is_kernels: bool,
    /// RFC 9768 §3.2.2.4: a hop clears the ACE field, so nothing is ECN-capable.
    is_plain: bool,
    /// The counters of the peer's last option.
    reported: AccEcnOption,
}

/// The FIN of this side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fin {
    NotAsked,
    /// Waits until all data were sent.
    Pending,
    Sent {
        again_at: Instant,
    },
    Acknowledged,
}

impl Connection {
    /// The connection at the end of its handshake.
    pub fn open(now: Instant, settings: &Settings, agreement: Agreement) -> Self {
        let overhead = if agreement.timestamps.is_some() { TIMESTAMPS_LEN } else { 0 };
        let mss = settings.mss.min(agreement.mss.unwrap_or(DEFAULT_MSS)).max(MIN_MSS) - overhead;
        let default = if agreement.sack { LossRecovery::Sack } else { LossRecovery::NewReno };
        let transport = Transport {
            mss,
            min_rto: settings.min_rto,
            delayed_ack: settings.delayed_ack,
            timestamps: agreement.timestamps.is_some(),
            peer_sack: agreement.sack,
            ecn: agreement.ecn,
            // The script has it.
            handshake: false,
            ..settings.keys.transport(settings.recovery.unwrap_or(default))
        };
        // RFC 5681 §3.1: "if the SYN or SYN/ACK is lost, the initial window used by a sender after a correctly
        // transmitted SYN MUST be one segment".
        let initial_window = if agreement.retransmitted { 1.0 } else { settings.initial_window };
        let context = CcContext { initial_window, ..settings.keys.cc_context() };
        let mut receiver = Receiver::on_path(&transport, agreement.rtt.unwrap_or_default());
        receiver.read_by_hand();
        let context = transport.cc_context(context, 0);
        let mut sender = Sender::new(transport, settings.cc.build(context));
        // The configured buffer belongs to this side.
        sender.set_window_edge(u64::MAX);
        sender.open(now);
        if let Some(rtt) = agreement.rtt {
            sender.on_handshake(now, rtt);
        } else if agreement.retransmitted {
            sender.on_ambiguous_handshake();
        }
        Connection {
            sender,
            receiver,
            agreement,
            mss,
            wscale: settings.wscale,
            written: 0,
            read: 0,
            fin: Fin::NotAsked,
            peer_end: None,
            last_ack_sent: 1,
            ignores_unsent: settings.is_for_kernels,
            has_option: settings.accecn_option && agreement.option,
            may_have_option: settings.accecn_option,
            is_kernels: settings.is_for_kernels,
            is_plain: false,
            reported: AccEcnOption::INITIAL,
        }
    }

    /// The ACK of our SYN-ACK arrives. RFC 9768 §3.2.2.4: an ACE field of zero shows that a hop clears it.
    pub fn on_third_ack(&mut self, packet: &Packet) {
        self.is_plain = self.agreement.ecn == EcnMode::AccEcn && packet.len == 0 && packet.flags.ace() == 0;
    }

    /// The same connection under other settings, if it has not been used yet.
    pub fn reconfigured(&self, now: Instant, settings: &Settings) -> Option<Connection> {
        let used = self.written > 0 || self.receiver.delivered() > 0;
        (!used).then(|| {
            let mut other = Connection::open(now, settings, self.agreement);
            if let Some(window) = self.sender.peer_window() {
                other.sender.take_window(now, 0, window);
            }
            other
        })
    }

    /// ACKs are delayed by at most `delay`, or not at all.
    pub fn set_delayed_ack(&mut self, delay: Option<Duration>) {
        self.receiver.set_delayed_ack(delay);
    }

    /// The values that assertions read.
    pub fn reading(&self) -> Reading {
        State {
            sender: self.sender.info(),
            counters: self.sender.counters(),
            mss: self.mss,
            bytes_acked: self.sender.acknowledged(),
            bytes_received: self.receiver.delivered(),
            reported: self.reported,
        }
        .reading()
    }

    // ---- the application ----

    /// Writes `bytes`. Returns false after `close`.
    pub fn write(&mut self, now: Instant, bytes: u64, sent: &mut Vec<Sent>) -> bool {
        if self.fin != Fin::NotAsked {
            return false;
        }
        self.written += bytes;
        self.sender.write(now, bytes);
        self.transmit(now, sent);
        true
    }

    /// Reads up to `bytes`. Returns `None` if no data are available yet, and 0 after the peer's FIN.
    pub fn read(&mut self, now: Instant, bytes: u64, sent: &mut Vec<Sent>) -> Option<u64> {
        let available = self.receiver.delivered() - self.read;
        if available == 0 {
            return self.peer_closed().then_some(0);
        }
        let taken = bytes.min(available);
        self.read += taken;
        if let Some(update) = self.receiver.read(taken, taken == available) {
            self.send_ack(now, &update, sent);
        }
        Some(taken)
    }

    /// No more data will be written.
    pub fn close(&mut self, now: Instant, sent: &mut Vec<Sent>) {
        if self.fin == Fin::NotAsked {
            self.fin = Fin::Pending;
            self.transmit(now, sent);
        }
    }

    // ---- the network ----

    /// A segment arrives. `echo` is the transmission time of the timestamp that it echoes.
    pub fn on_packet(&mut self, now: Instant, packet: &Packet, echo: Option<Instant>, sent: &mut Vec<Sent>) {
        let options = packet.options.clone().unwrap_or_default();
        if self.agreement.timestamps.is_some() && options.timestamps.is_none() {
            // RFC 7323 §3.2: "If a non-<RST> segment is received without a TSopt, a TCP SHOULD silently drop the
            // segment."
            return;
        }
        // RFC 9293 §3.10.7.4: "if the ACK bit is off, drop the segment and return".
        if packet.ack.is_none() {
            return;
        }
        if !self.is_acceptable(packet) {
            return self.refuse(now, packet, sent);
        }
        if self.acknowledges_unsent(packet) {
            if !self.ignores_unsent {
                self.refuse(now, packet, sent);
            }
            return;
        }
        if let Some(recent) = &mut self.agreement.timestamps {
            // RFC 7323 §4.3: "If SEG.TSval >= TS.Recent and SEG.SEQ <= Last.ACK.sent, then SEG.TSval is copied to
            // TS.Recent".
            if let Some((value, _)) = options.timestamps
                && value >= *recent
                && packet.seq <= self.last_ack_sent
            {
                *recent = value;
            }
        }
        if packet.flags.has(Flags::ACK) {
            self.on_ack(now, packet, &options, echo);
        }
        let ack_due = self.on_data(now, packet);
        let before = sent.len();
        self.transmit(now, sent);
        // Data carry the acknowledgement.
        if let Some(ack) = ack_due.filter(|_| sent.len() == before) {
            self.send_ack(now, &ack, sent);
        }
    }

    /// True if the segment is in the window, or may be a copy of the previous segment.
    fn is_acceptable(&self, packet: &Packet) -> bool {
        if packet.flags.has(Flags::SYN) {
            return true;
        }
        let first = self.beyond_next(packet.seq);
        let end = first + i64::from(packet.len) + i64::from(packet.flags.has(Flags::FIN));
        // As in Linux, unacknowledged data may arrive again.
        let low = self.beyond_next(self.last_ack_sent);
        low <= end && first <= self.receive_window()
    }

    /// RFC 9293 §3.10.7.4: "If the ACK acks something not yet sent (SEG.ACK > SND.NXT), then send an ACK, drop the
    /// segment".
    fn acknowledges_unsent(&self, packet: &Packet) -> bool {
        let fin = u64::from(self.next_seq() != script_seq(self.sender.sent_once()));
        let most = script_seq(self.sender.acceptable_ack() + fin);
        packet.ack.is_some_and(|ack| distance(most, ack) > 0)
    }

    /// RFC 9293 §3.10.7.4: "If an incoming segment is not acceptable, an acknowledgment should be sent in reply". The
    /// segment is dropped.
    fn refuse(&mut self, now: Instant, packet: &Packet, sent: &mut Vec<Sent>) {
        // Old data are reported as such (RFC 2883).
        let is_old = packet.len > 0 && self.beyond_next(packet.seq) < 0;
        let data = Packet { flags: packet.flags.without(Flags::FIN), ..packet.clone() };
        let report = is_old.then(|| self.on_data(now, &data)).flatten();
        let ack = report.unwrap_or_else(|| self.receiver.acknowledge());
        self.send_ack(now, &ack, sent);
    }

    /// Processes a reset, and returns true if it ends the connection. RFC 9293 §3.10.7.4: endpoints "MUST reset the
    /// connection" if "the sequence number exactly matches the next expected sequence number (RCV.NXT)".
    pub fn on_reset(&mut self, now: Instant, packet: &Packet, sent: &mut Vec<Sent>) -> bool {
        match self.beyond_next(packet.seq) {
            0 => true,
            // "TCP endpoints MUST send an acknowledgment (challenge ACK)".
            distance if (1..self.receive_window()).contains(&distance) => {
                self.acknowledge(now, sent);
                false
            }
            _ => false,
        }
    }

    /// How far a sequence number lies beyond RCV.NXT.
    fn beyond_next(&self, seq: u32) -> i64 {
        distance(script_seq(self.receiver.delivered() + u64::from(self.peer_closed())), seq)
    }

    /// RCV.WND. Without a limit it is the largest window that segments can express.
    fn receive_window(&self) -> i64 {
        let largest = i64::from(u16::MAX) << self.window_shift();
        let edge = self.receiver.window_edge();
        edge.map_or(largest, |edge| edge.saturating_sub(self.receiver.delivered()) as i64)
    }

    fn window_shift(&self) -> u32 {
        self.agreement.wscale.map_or(0, |_| self.wscale).min(MAX_WSCALE)
    }

    /// Sends an acknowledgement.
    pub fn acknowledge(&mut self, now: Instant, sent: &mut Vec<Sent>) {
        let ack = self.receiver.acknowledge();
        self.send_ack(now, &ack, sent);
    }

    fn on_ack(&mut self, now: Instant, packet: &Packet, options: &Options, echo: Option<Instant>) {
        let Some(ack) = packet.ack.and_then(|ack| ack.checked_sub(1)) else { return };
        let mut ack = u64::from(ack);
        if matches!(self.fin, Fin::Sent { .. }) && ack == self.written + 1 {
            self.fin = Fin::Acknowledged;
        }
        if matches!(self.fin, Fin::Acknowledged) {
            ack = ack.min(self.written);
        }
        let una = self.sender.acknowledged();
        // Of an ACK behind a later one only its blocks count.
        let is_old = ack < una;
        if is_old && options.sack.is_empty() || ack > self.sender.acceptable_ack() {
            return;
        }
        let window = packet.window.map(|window| {
            let shift = if packet.flags.has(Flags::SYN) { 0 } else { self.agreement.wscale.unwrap_or(0) };
            u64::from(window) << shift.min(MAX_WSCALE)
        });
        let same_window = is_old || window.is_none_or(|window| !self.sender.take_window(now, ack, window));
        // RFC 5681 §2: a duplicate acknowledgement "carries no data", has "the SYN and FIN bits both off" and "the
        // advertised window in the incoming acknowledgment equals the advertised window in the last".
        let plain = packet.len == 0 && same_window && !packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::FIN);
        if ack == una && !plain && options.sack.is_empty() {
            return;
        }
        let mut sack = SackBlocks::default();
        for (start, end) in &options.sack {
            sack.push(ack, u64::from(*start).saturating_sub(1), u64::from(*end).saturating_sub(1));
        }
        let ecn = ecn::feedback(self.agreement.ecn, packet);
        if let EcnFeedback::AccEcn { ace, option } = ecn {
            // RFC 9768 §3.2.2.4: the first feedback on data.
            self.is_plain |= una == 0 && ack > 0 && ace == 0;
            self.has_option |= option.is_some() && self.may_have_option;
            if ack > una || !options.sack.is_empty() {
                self.reported = option.unwrap_or(self.reported);
            }
        }
        let echo = echo.unwrap_or(now);
        self.sender.on_ack(now, &AckSegment { ack, sack, echo, ecn: ecn.into() });
    }

    /// Processes the payload and the FIN, and returns the ACK to send at once.
    fn on_data(&mut self, now: Instant, packet: &Packet) -> Option<AckSegment> {
        let delivered = self.receiver.delivered();
        let Some(start) = delivered.checked_add_signed(distance(script_seq(delivered), packet.seq)) else {
            // The SYN's place. The answer to our own SYN has its ACK from the handshake.
            return (!packet.flags.has(Flags::SYN)).then(|| self.receiver.acknowledge());
        };
        let end = start + u64::from(packet.len);
        let fin = packet.flags.has(Flags::FIN);
        if fin {
            self.peer_end.get_or_insert(end);
        }
        let mut ack = None;
        if packet.len > 0 {
            let ecn = packet.ecn.unwrap_or_default();
            let (cwr, psh) = (packet.flags.has(Flags::CWR), packet.flags.has(Flags::PSH));
            let flags = DataEcn::new(ecn.is_capable(), cwr).with_psh(psh);
            let segment = DataSegment { seq: start, len: packet.len, sent_at: now, ecn: flags };
            ack = self.receiver.on_data(now, &segment, ecn);
        }
        // RFC 9293 §3.10.7.4: "If an incoming segment is not acceptable, an acknowledgment should be sent in reply".
        let old = packet.len == 0 && start < self.receiver.delivered();
        if fin || old { Some(self.receiver.acknowledge()) } else { ack }
    }

    /// When a timer goes off next.
    pub fn next_deadline(&self) -> Option<Instant> {
        let fin = match self.fin {
            Fin::Sent { again_at } => Some(again_at),
            _ => None,
        };
        [self.sender.next_deadline(), fin, self.receiver.next_deadline()].into_iter().flatten().min()
    }

    /// The timers that are due at `now` go off.
    pub fn on_deadline(&mut self, now: Instant, sent: &mut Vec<Sent>) {
        self.sender.on_deadline(now);
        if let Fin::Sent { again_at } = self.fin
            && again_at <= now
        {
            self.fin =
                if self.sender.is_done() { Fin::Pending } else { Fin::Sent { again_at: now + self.sender.info().rto } };
        }
        self.transmit(now, sent);
        if let Some(ack) = self.receiver.on_deadline(now) {
            self.send_ack(now, &ack, sent);
        }
    }

    /// Sends the permitted segments.
    fn transmit(&mut self, now: Instant, sent: &mut Vec<Sent>) {
        // A sender that never has enough meets the bound of the run.
        while (sent.len() as u64) <= MAX_SEGMENTS
            && let Some(segment) = self.sender.poll_transmit(now)
        {
            let end = segment.seq + u64::from(segment.len);
            let mut flags = if segment.ecn.cwr() { Flags::ACK.with(Flags::CWR) } else { Flags::ACK };
            // The last segment of a write, or of a burst.
            if end == self.written || segment.ecn.psh() {
                flags = flags.with(Flags::PSH);
            }
            if end == self.written && self.fin == Fin::Pending && self.sender.sent_once() == end {
                flags = flags.with(Flags::FIN);
                self.fin = Fin::Sent { again_at: now + self.sender.info().rto };
            }
            let ack = self.receiver.acknowledge();
            let ecn = if segment.ecn.ect() && !self.is_plain { self.sender.cc().codepoint() } else { Ecn::NotEct };
            let seq = script_seq(segment.seq).wrapping_sub(u32::from(segment.ecn.probe()));
            let packet = Packet { ecn: Some(ecn), flags, seq, len: segment.len, ..Packet::default() };
            self.send(now, packet, &ack, sent);
        }
        if self.fin == Fin::Pending && self.sender.sent_once() == self.written {
            let ack = self.receiver.acknowledge();
            let flags = Flags::ACK.with(Flags::FIN);
            self.send(now, Packet { flags, seq: script_seq(self.written), ..Packet::default() }, &ack, sent);
            self.fin = Fin::Sent { again_at: now + self.sender.info().rto };
        }
    }

    /// Acknowledges the answer to our SYN.
    pub fn acknowledge_syn(&mut self, now: Instant, answer: &Packet, sent: &mut Vec<Sent>) {
        self.acknowledge(now, sent);
        if let (Some(flags), Some(ack)) = (ecn::third(self.agreement.ecn, answer.ecn), sent.last_mut()) {
            ack.packet.flags = Flags::ACK.with(flags);
        }
    }

    fn send_ack(&mut self, now: Instant, ack: &AckSegment, sent: &mut Vec<Sent>) {
        self.send(now, Packet { flags: Flags::ACK, seq: self.next_seq(), ..Packet::default() }, ack, sent);
    }

    /// Sends a packet with an acknowledgement.
    fn send(&mut self, now: Instant, packet: Packet, ack: &AckSegment, sent: &mut Vec<Sent>) {
        let sack = ack.sack.iter(ack.ack).map(|(start, end)| (script_seq(start), script_seq(end))).collect();
        let timestamps = self.agreement.timestamps.map(|recent| (ticks(now), recent));
        let (flags, accecn) = ecn::carry(ack.ecn.read(), self.is_kernels);
        // Data leave the room of the option to payload.
        let accecn = accecn.filter(|_| self.has_option && (packet.len == 0 || self.is_kernels));
        let options = Options { sack, timestamps, accecn, ..Options::default() };
        let is_capable = self.is_kernels && self.agreement.ecn == EcnMode::AccEcn && !self.is_plain;
        let ecn = if is_capable { Some(self.sender.cc().codepoint()) } else { packet.ecn };
        let packet = Packet { ecn, ..packet };
        self.last_ack_sent = script_seq(ack.ack + u64::from(self.peer_closed()));
        let flags = packet.flags.with(flags);
        let window = ack.window().map(|window| (window >> self.window_shift()).min(u64::from(u16::MAX)) as u32);
        let packet = Packet { flags, ack: Some(self.last_ack_sent), window, options: Some(options), ..packet };
        sent.push(Sent { at: now, packet });
    }

    /// SND.NXT as a script counts.
    fn next_seq(&self) -> u32 {
        let fin = matches!(self.fin, Fin::Sent { .. } | Fin::Acknowledged);
        script_seq(self.sender.sent_once() + u64::from(fin))
    }

    fn peer_closed(&self) -> bool {
        self.peer_end.is_some_and(|end| self.receiver.delivered() >= end)
    }
}

/// A byte as a script counts it, modulo 2^32.
fn script_seq(byte: u64) -> u32 {
    (byte + 1) as u32
}

/// How far a sequence number lies beyond another one, modulo 2^32.
fn distance(from: u32, to: u32) -> i64 {
    i64::from(to.wrapping_sub(from) as i32)
}

/// The value of a timestamp, counted from the start of the run.
pub fn ticks(at: Instant) -> u32 {
    (at.as_nanos() / TICK.as_nanos()) as u32
}

/// When a timestamp was sent, at the earliest.
pub fn sent_at(ticks: u32) -> Instant {
    Instant::ZERO + TICK * u64::from(ticks)
}
