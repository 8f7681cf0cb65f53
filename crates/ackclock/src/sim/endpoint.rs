//! The two ends of a connection, by transport. A new transport adds a variant to each, and to
//! [`Body`](super::packet::Body) for its packets.

use super::plan::FlowPlan;
use crate::cc::{Algorithm, Cc, CcContext, CongestionControl, MediaFrame, Phase};
use crate::ecn::Ecn;
use crate::quic;
use crate::rtp;
use crate::tcp::{AckSegment, DataSegment, Receiver, Sender};
use crate::transport::{Protocol, Rtt, SenderCounters, SenderInfo, Timer};
use crate::units::{Duration, Instant, Rate};

/// The end that sends data.
#[expect(clippy::large_enum_variant, reason = "an ACK of TCP, the usual transport, follows no further pointer")]
#[derive(Debug)]
pub enum SendingEnd {
    /// TCP.
    Tcp(Sender),
    /// QUIC.
    Quic(Box<quic::Sender>),
    /// RTP.
    Rtp(Box<rtp::Sender>),
}

/// The end that data arrive at.
#[expect(clippy::large_enum_variant, reason = "an ACK of TCP, the usual transport, follows no further pointer")]
#[derive(Debug)]
pub enum ReceivingEnd {
    /// TCP.
    Tcp(Receiver),
    /// QUIC.
    Quic(Box<quic::Receiver>),
    /// RTP.
    Rtp(Box<rtp::Receiver>),
}

/// A packet that a receiver hands to the network.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// A TCP acknowledgement.
    Segment(AckSegment),
    /// A QUIC acknowledgement or RTP feedback, whose ranges or reports the receiver stores.
    Packet(quic::AckPacket),
}

/// A method that each transport has for itself.
macro_rules! delegate {
    ($(#[$doc:meta])* fn $name:ident(&self) -> $output:ty;) => {
        $(#[$doc])*
        #[inline]
        pub fn $name(&self) -> $output {
            match self {
                Self::Tcp(end) => end.$name(),
                Self::Quic(end) => end.$name(),
                Self::Rtp(end) => end.$name(),
            }
        }
    };
    ($(#[$doc:meta])* fn $name:ident(&mut self $(, $argument:ident: $type:ty)*) $(-> $output:ty)?;) => {
        $(#[$doc])*
        #[inline]
        pub fn $name(&mut self $(, $argument: $type)*) $(-> $output)? {
            match self {
                Self::Tcp(end) => end.$name($($argument),*),
                Self::Quic(end) => end.$name($($argument),*),
                Self::Rtp(end) => end.$name($($argument),*),
            }
        }
    };
}

impl SendingEnd {
    /// A sender before the connection opens. Its algorithm draws random numbers by `seed`.
    pub fn new(plan: &FlowPlan, seed: u64) -> Self {
        let context = plan.transport.cc_context(*plan.cc_context, seed);
        let (transport, cc) = (plan.transport.clone(), plan.cc.build(context));
        match plan.transport.protocol {
            Protocol::Tcp => SendingEnd::Tcp(Sender::new(transport, cc)),
            Protocol::Quic => SendingEnd::Quic(Box::new(quic::Sender::new(transport, cc))),
            Protocol::Rtp => SendingEnd::Rtp(Box::new(rtp::Sender::new(transport, cc))),
        }
    }

    /// Another algorithm takes over the window and its threshold. It draws random numbers by `seed`.
    pub fn set_algorithm(&mut self, now: Instant, plan: &FlowPlan, seed: u64, algorithm: &Algorithm) {
        let context = CcContext {
            initial_window: self.cwnd().max(1.0),
            initial_ssthresh: self.cc().ssthresh(),
            ..plan.transport.cc_context(*plan.cc_context, seed)
        };
        let cc = algorithm.build(context);
        match self {
            SendingEnd::Tcp(sender) => sender.set_cc(now, cc),
            SendingEnd::Quic(sender) => sender.set_cc(now, cc),
            SendingEnd::Rtp(sender) => sender.replace_cc(now, cc),
        }
    }

    /// An acknowledgement of TCP has arrived. Returns the round-trip time that it shows, if there is one.
    #[inline]
    pub fn on_ack(&mut self, now: Instant, ack: &AckSegment) -> Option<Duration> {
        let SendingEnd::Tcp(sender) = self else { foreign() };
        let (_, seen) = sender.rtt().totals();
        sender.on_ack(now, ack);
        sender.rtt().seen_since(seen)
    }

    /// One of QUIC has, with these ranges of packet numbers, or feedback of RTP, with these reports. Returns the
    /// round-trip time that it shows, if there is one.
    pub fn on_ack_packet(&mut self, now: Instant, ack: &quic::AckPacket, ranges: &[(u64, u64)]) -> Option<Duration> {
        let (_, seen) = self.rtt().totals();
        match self {
            SendingEnd::Quic(sender) => sender.on_ack(now, ack, ranges),
            SendingEnd::Rtp(sender) => sender.on_feedback(now, ack, ranges),
            SendingEnd::Tcp(_) => foreign(),
        }
        self.rtt().seen_since(seen)
    }

    /// The next packet of QUIC or RTP that may leave now.
    pub fn poll_packet(&mut self, now: Instant) -> Option<quic::DataPacket> {
        match self {
            SendingEnd::Tcp(_) => None,
            SendingEnd::Quic(sender) => sender.poll_transmit(now),
            SendingEnd::Rtp(sender) => sender.poll_transmit(now),
        }
    }

    /// The timers that expire if the time is `now`, the first one first.
    pub fn due_timers(&self, now: Instant) -> impl Iterator<Item = Timer> {
        let (tcp, quic, rtp) = match self {
            SendingEnd::Tcp(sender) => (Some(sender.due_timers(now)), None, None),
            SendingEnd::Quic(sender) => (None, Some(sender.due_timers(now)), None),
            SendingEnd::Rtp(sender) => (None, None, Some(sender.due_timers(now))),
        };
        tcp.into_iter().flatten().chain(quic.into_iter().flatten()).chain(rtp.into_iter().flatten())
    }

    /// The highest byte or packet number so far. The next connection of the flow begins above it.
    pub fn numbers(&self) -> u64 {
        match self {
            SendingEnd::Tcp(sender) => sender.sent_once(),
            SendingEnd::Quic(sender) => sender.sent_once().max(sender.next_number()),
            SendingEnd::Rtp(sender) => sender.sent_once().max(sender.next_number()),
        }
    }

    delegate! {
        /// The application begins to use the connection.
        fn open(&mut self, now: Instant);
    }
    delegate! {
        /// The application writes more bytes.
        fn write(&mut self, now: Instant, bytes: u64);
    }
    delegate! {
        /// The application always has more to write.
        fn write_forever(&mut self);
    }
    delegate! {
        /// The connection ends after the written data.
        fn close(&mut self);
    }
    delegate! {
        /// The application writes no more.
        fn stop_writing(&mut self);
    }
    delegate! {
        /// Whether everything written is acknowledged.
        fn is_done(&self) -> bool;
    }
    delegate! {
        /// When a timer goes off next.
        fn next_deadline(&self) -> Option<Instant>;
    }
    delegate! {
        /// A timer may have gone off.
        fn on_deadline(&mut self, now: Instant);
    }
    delegate! {
        /// The algorithm asks for something else, though there was no event.
        fn refresh(&mut self, now: Instant);
    }
    delegate! {
        /// The encoder hands over a frame. The frame itself is written separately.
        fn on_frame(&mut self, frame: &MediaFrame);
    }
    delegate! {
        /// The rate of an encoder, from an algorithm that sets it.
        fn target_rate(&mut self) -> Option<Rate>;
    }
    delegate! {
        /// The congestion control.
        fn cc(&self) -> &Cc;
    }
    delegate! {
        /// The window in force, in segments.
        fn cwnd(&self) -> f64;
    }
    delegate! {
        /// The counters since the start of the connection.
        fn counters(&self) -> SenderCounters;
    }
    delegate! {
        /// The visible state of the sender.
        fn info(&self) -> SenderInfo;
    }
    delegate! {
        /// The estimate of the round-trip time.
        fn rtt(&self) -> &Rtt;
    }
    delegate! {
        /// Bytes acknowledged.
        fn acknowledged(&self) -> u64;
    }
    delegate! {
        /// Bytes ever sent, retransmissions not counted.
        fn sent_once(&self) -> u64;
    }
    delegate! {
        /// Segments in flight.
        fn in_flight(&self) -> u32;
    }
    delegate! {
        /// Transmissions taken for lost so far.
        fn losses(&self) -> u64;
    }

    /// The first bytes of the segments that are considered lost and were not sent again since. Over QUIC they are the
    /// numbers of the packets, in order.
    pub fn lost(&self) -> impl Iterator<Item = u64> {
        let (tcp, quic) = match self {
            SendingEnd::Tcp(sender) => (Some(sender.lost()), None),
            SendingEnd::Quic(sender) => (None, Some(sender.lost())),
            // Nothing is sent again.
            SendingEnd::Rtp(_) => (None, None),
        };
        tcp.into_iter().flatten().chain(quic.into_iter().flatten())
    }

    delegate! {
        /// Slow start, congestion avoidance, or a kind of recovery.
        fn phase(&self) -> Phase;
    }
    delegate! {
        /// The integral of the window up to `now`, segments times nanoseconds.
        fn window_integral(&mut self, now: Instant) -> f64;
    }
    delegate! {
        /// Limits the outstanding data, in segments.
        fn set_most_outstanding(&mut self, segments: u32);
    }
    delegate! {
        /// The bound on outstanding data, in segments.
        fn most_outstanding(&self) -> u32;
    }
    delegate! {
        /// Whether the window asks for more than that.
        fn wants_too_much(&self) -> bool;
    }
    delegate! {
        /// Asks for memory that the next ACK will need.
        fn prefetch_lists(&self) -> ();
    }
}

impl ReceivingEnd {
    /// Before the first byte.
    pub fn new(plan: &FlowPlan) -> Self {
        match plan.transport.protocol {
            Protocol::Tcp => ReceivingEnd::Tcp(Receiver::on_path(&plan.transport, plan.base_rtt)),
            Protocol::Quic => ReceivingEnd::Quic(Box::new(quic::Receiver::new(&plan.transport))),
            Protocol::Rtp => ReceivingEnd::Rtp(Box::new(rtp::Receiver::new(&plan.transport))),
        }
    }

    /// Data of TCP have arrived with this ECN field. Returns the acknowledgement that leaves at once.
    #[inline]
    pub fn on_data(&mut self, now: Instant, segment: &DataSegment, ecn: Ecn) -> Option<Answer> {
        match self {
            ReceivingEnd::Tcp(receiver) => receiver.on_data(now, segment, ecn).map(Answer::Segment),
            ReceivingEnd::Quic(_) | ReceivingEnd::Rtp(_) => foreign(),
        }
    }

    /// Data of QUIC or RTP have.
    pub fn on_data_packet(&mut self, now: Instant, packet: &quic::DataPacket, ecn: Ecn) -> Option<Answer> {
        match self {
            ReceivingEnd::Quic(receiver) => receiver.on_data(now, packet, ecn).map(Answer::Packet),
            ReceivingEnd::Rtp(receiver) => receiver.on_data(now, packet, ecn).map(Answer::Packet),
            ReceivingEnd::Tcp(_) => foreign(),
        }
    }

    /// A timer may have expired. Returns the acknowledgement that leaves then.
    #[inline]
    pub fn on_deadline(&mut self, now: Instant) -> Option<Answer> {
        match self {
            ReceivingEnd::Tcp(receiver) => receiver.on_deadline(now).map(Answer::Segment),
            ReceivingEnd::Quic(receiver) => receiver.on_deadline(now).map(Answer::Packet),
            ReceivingEnd::Rtp(receiver) => receiver.on_deadline(now).map(Answer::Packet),
        }
    }

    /// Whether it may send something though nothing arrives and no ACK is delayed.
    #[inline]
    pub fn acts_by_itself(&self) -> bool {
        matches!(self, ReceivingEnd::Tcp(receiver) if receiver.acts_by_itself())
    }

    /// The ranges of packet numbers of QUIC's last acknowledgement, or the reports of RTP's last feedback.
    pub fn ranges(&self) -> &[(u64, u64)] {
        match self {
            ReceivingEnd::Tcp(_) => &[],
            ReceivingEnd::Quic(receiver) => receiver.ranges(),
            ReceivingEnd::Rtp(receiver) => receiver.ranges(),
        }
    }

    delegate! {
        /// Bytes received in order, over RTP regardless of gaps.
        fn delivered(&self) -> u64;
    }
    delegate! {
        /// Marked packets received.
        fn ce_count(&self) -> u32;
    }
    delegate! {
        /// When a timer goes off next.
        fn next_deadline(&self) -> Option<Instant>;
    }
    delegate! {
        /// Asks for memory that the next segment will need.
        fn prefetch_lists(&self) -> ();
    }
}

/// A packet of another transport than its flow's.
#[cold]
fn foreign() -> ! {
    unreachable!("invariant: the packets of a flow are of its transport")
}
