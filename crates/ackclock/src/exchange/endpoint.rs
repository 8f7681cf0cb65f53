//! One end of a connection as a socket sees it: the handshake, and then the open connection.

use super::connection::{Agreement, Connection, sent_at, ticks};
use super::ecn;
use super::host::Sent;
use super::packet::{Flags, Options, Packet};
use super::settings::Settings;
use crate::units::{Duration, Instant};

/// RFC 6298 §2.1: the retransmission timeout before any measurement.
const HANDSHAKE_RTO: Duration = Duration::from_secs(1);
/// Doublings of it.
const MAX_DOUBLINGS: u32 = 6;

/// One end of a connection.
#[derive(Debug)]
pub struct Endpoint {
    /// The configuration of the script.
    pub settings: Settings,
    state: State,
    /// The sent segments that no line of the script has matched yet.
    sent: Vec<Sent>,
}

#[derive(Debug)]
enum State {
    Closed,
    Listening,
    Handshake(Handshake),
    Open(Box<Connection>),
    Reset,
}

/// A SYN, or the answer to one, was sent and waits for its acknowledgement.
#[derive(Clone, Debug)]
struct Handshake {
    syn: Packet,
    /// The options of the peer's SYN, if it has arrived.
    agreement: Option<Agreement>,
    first_sent_at: Instant,
    sent_at: Instant,
    retransmissions: u32,
    /// Retransmissions before the timer backs off.
    linear: u32,
}

impl Handshake {
    fn deadline(&self) -> Instant {
        let doublings = self.retransmissions.saturating_sub(self.linear).min(MAX_DOUBLINGS);
        self.sent_at + HANDSHAKE_RTO * (1 << doublings)
    }

    /// The SYN or its answer as it is sent again. RFC 9768 §3.1.4: a host falls back to segments without AccECN, as
    /// hops may drop the option or the flags.
    fn again(&self) -> Packet {
        let mut syn = self.syn.clone();
        let is_answer = syn.flags.has(Flags::ACK);
        let requests = if is_answer { syn.flags.ace() != 0 } else { syn.flags.has(Flags::AE) };
        if requests && self.retransmissions > 1 {
            syn.flags = syn.flags.without(Flags::of_ace(7));
        }
        if let Some(options) = &mut syn.options {
            options.accecn = options.accecn.filter(|_| self.retransmissions == 0);
        }
        syn
    }

    /// The answer echoes the timestamp of a transmission at `echo`, if it echoes any.
    fn agreed(&self, now: Instant, agreement: Agreement, echo: Option<Instant>) -> Agreement {
        let once = self.retransmissions == 0;
        let echo = echo.filter(|_| agreement.timestamps.is_some());
        let answers_first = echo.is_some_and(|echo| ticks(echo) == ticks(self.first_sent_at));
        let answered_at = if once { Some(self.sent_at) } else { echo };
        Agreement { rtt: answered_at.map(|at| now.since(at)), retransmitted: !once && !answers_first, ..agreement }
    }
}

impl Endpoint {
    /// A socket that is neither connected nor listening.
    pub fn new(settings: Settings) -> Self {
        Endpoint { settings, state: State::Closed, sent: Vec::new() }
    }

    /// Waits for a SYN.
    pub fn listen(&mut self) {
        self.state = State::Listening;
    }

    /// Sends a SYN.
    pub fn connect(&mut self, now: Instant) {
        let options = Options {
            mss: Some(self.settings.mss),
            sack_ok: self.settings.sack,
            wscale: Some(self.settings.wscale),
            timestamps: self.settings.timestamps.then_some((0, 0)),
            ..Options::default()
        };
        let offered = self.settings.ecn_offer.unwrap_or(self.settings.ecn);
        let flags = Flags::SYN.with(ecn::offer(offered));
        let syn = Packet { flags, options: Some(options), ..Packet::default() };
        self.begin_handshake(now, syn, None);
    }

    /// The connection, once it is open.
    pub fn connection(&mut self) -> Option<&mut Connection> {
        match &mut self.state {
            State::Open(connection) => Some(connection),
            _ => None,
        }
    }

    /// The connection, and the queue for its segments.
    pub fn connection_and_queue(&mut self) -> Option<(&mut Connection, &mut Vec<Sent>)> {
        match &mut self.state {
            State::Open(connection) => Some((connection, &mut self.sent)),
            _ => None,
        }
    }

    /// True if nothing has been configured into a connection yet.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// True if the peer has reset the connection.
    pub fn is_reset(&self) -> bool {
        matches!(self.state, State::Reset)
    }

    /// Applies changed settings. Returns false if the connection has progressed too far.
    pub fn apply_settings(&mut self, now: Instant) -> bool {
        let State::Open(connection) = &mut self.state else { return true };
        match connection.reconfigured(now, &self.settings) {
            Some(other) => {
                **connection = other;
                true
            }
            None => {
                connection.set_delayed_ack(self.settings.delayed_ack);
                false
            }
        }
    }

    /// A segment arrives.
    pub fn on_packet(&mut self, now: Instant, packet: &Packet) {
        if packet.flags.has(Flags::RST) {
            let ends = match &mut self.state {
                State::Listening | State::Closed => false,
                State::Open(connection) => connection.on_reset(now, packet, &mut self.sent),
                State::Handshake(_) | State::Reset => true,
            };
            if ends {
                self.state = State::Reset;
            }
            return;
        }
        let echo = echo(now, packet);
        match &mut self.state {
            // RFC 9293 §3.10.7.4: "irrespective of the sequence number, TCP endpoints MUST send a "challenge ACK" to the remote
            // peer".
            State::Open(connection) if packet.flags.has(Flags::SYN) => {
                connection.acknowledge_syn(now, packet, &mut self.sent);
            }
            State::Open(connection) => connection.on_packet(now, packet, echo, &mut self.sent),
            State::Listening if packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::ACK) => {
                self.answer_syn(now, packet);
            }
            State::Handshake(handshake) => {
                let handshake = handshake.clone();
                self.on_handshake_packet(now, packet, echo, handshake);
            }
            State::Closed | State::Listening | State::Reset => {}
        }
    }

    /// When a timer goes off next.
    pub fn next_deadline(&self) -> Option<Instant> {
        match &self.state {
            State::Open(connection) => connection.next_deadline(),
            State::Handshake(handshake) => Some(handshake.deadline()),
            State::Closed | State::Listening | State::Reset => None,
        }
    }

    /// The timers that are due at `now` go off.
    pub fn on_deadline(&mut self, now: Instant) {
        match &mut self.state {
            State::Open(connection) => connection.on_deadline(now, &mut self.sent),
            State::Handshake(handshake) => {
                handshake.retransmissions += 1;
                handshake.sent_at = now;
                let syn = handshake.again();
                self.send_syn(now, syn);
            }
            State::Closed | State::Listening | State::Reset => {}
        }
    }

    /// Appends the segments sent since the last call to `queue`.
    pub fn take_sent(&mut self, queue: &mut impl Extend<Sent>) {
        queue.extend(self.sent.drain(..));
    }

    fn answer_syn(&mut self, now: Instant, packet: &Packet) {
        let agreement = agree(&self.settings, packet);
        let options = Options {
            mss: Some(self.settings.mss),
            sack_ok: agreement.sack,
            wscale: agreement.wscale.map(|_| self.settings.wscale),
            timestamps: agreement.timestamps.map(|recent| (0, recent)),
            accecn: ecn::first_counters(agreement.ecn, self.settings.is_for_kernels)
                .filter(|_| self.settings.accecn_option),
            ..Options::default()
        };
        let flags = Flags::SYN.with(Flags::ACK).with(ecn::answer(agreement.ecn, packet.ecn));
        let syn = Packet { flags, ack: Some(1), options: Some(options), ..Packet::default() };
        self.begin_handshake(now, syn, Some(agreement));
    }

    fn begin_handshake(&mut self, now: Instant, syn: Packet, agreement: Option<Agreement>) {
        let is_request = agreement.is_none();
        self.state = State::Handshake(Handshake {
            syn: syn.clone(),
            agreement,
            first_sent_at: now,
            sent_at: now,
            retransmissions: 0,
            linear: if is_request { self.settings.keys.syn_linear_timeouts } else { 0 },
        });
        self.send_syn(now, syn);
    }

    fn send_syn(&mut self, now: Instant, mut syn: Packet) {
        if let Some((value, _)) = syn.options.as_mut().and_then(|options| options.timestamps.as_mut()) {
            *value = ticks(now);
        }
        self.sent.push(Sent { at: now, packet: syn });
    }

    fn on_handshake_packet(&mut self, now: Instant, packet: &Packet, echo: Option<Instant>, handshake: Handshake) {
        let is_syn = packet.flags.has(Flags::SYN);
        let acknowledges = packet.ack == Some(1);
        match handshake.agreement {
            // The peer's answer to our SYN.
            None if is_syn && acknowledges => {
                let agreement = handshake.agreed(now, agree(&self.settings, packet), echo);
                let mut connection = Connection::open(now, &self.settings, agreement);
                // Sequence number 0, the peer's SYN, is below the expected one, so it is acknowledged.
                connection.on_packet(now, packet, echo, &mut self.sent);
                connection.acknowledge_syn(now, packet, &mut self.sent);
                self.state = State::Open(Box::new(connection));
            }
            // The peer's SYN again: our answer was lost.
            Some(_) if is_syn => self.send_syn(now, handshake.syn),
            Some(agreement) if acknowledges => {
                let mut connection = Connection::open(now, &self.settings, handshake.agreed(now, agreement, echo));
                connection.on_third_ack(packet);
                connection.on_packet(now, packet, echo, &mut self.sent);
                self.state = State::Open(Box::new(connection));
            }
            _ => {}
        }
    }
}

/// The transmission time of the timestamp that a segment echoes.
fn echo(now: Instant, packet: &Packet) -> Option<Instant> {
    // RFC 7323 §3.2: "The TSecr field is valid if the ACK bit (A) is set in the TCP header."
    packet.ack?;
    let (_, echo) = packet.options.as_ref()?.timestamps?;
    Some(sent_at(echo)).filter(|at| *at <= now)
}

/// The agreement with a peer that sends this SYN.
fn agree(settings: &Settings, packet: &Packet) -> Agreement {
    let offer = packet.options.clone().unwrap_or_default();
    Agreement {
        mss: offer.mss,
        wscale: offer.wscale,
        sack: offer.sack_ok && settings.sack,
        ecn: ecn::agree(settings.ecn, packet.flags),
        option: !packet.flags.has(Flags::ACK) || offer.accecn.is_some(),
        timestamps: offer.timestamps.filter(|_| settings.timestamps).map(|(value, _)| value),
        rtt: None,
        retransmitted: false,
    }
}
