//! The two ends of a connection, by transport. Another transport is a variant of each, and of [`Body`](super::packet::Body)
//! what it sends.

use super::plan::FlowPlan;
use crate::cc::{Cc, Phase};
use crate::tcp::{AckSegment, DataSegment, Receiver, Rtt, Sender, SenderCounters, SenderInfo, Timer};
use crate::units::Instant;

/// The end that sends data.
#[derive(Debug)]
pub enum SendingEnd {
    /// TCP.
    Tcp(Sender),
}

/// The end that data arrive at.
#[derive(Debug)]
pub enum ReceivingEnd {
    /// TCP.
    Tcp(Receiver),
}

/// A method that each transport has for itself.
macro_rules! delegate {
    ($(#[$doc:meta])* fn $name:ident(&self) -> $output:ty;) => {
        $(#[$doc])*
        #[inline]
        pub fn $name(&self) -> $output {
            match self { Self::Tcp(end) => end.$name() }
        }
    };
    ($(#[$doc:meta])* fn $name:ident(&mut self $(, $argument:ident: $type:ty)*) $(-> $output:ty)?;) => {
        $(#[$doc])*
        #[inline]
        pub fn $name(&mut self $(, $argument: $type)*) $(-> $output)? {
            match self { Self::Tcp(end) => end.$name($($argument),*) }
        }
    };
}

impl SendingEnd {
    /// Before the connection opens; its algorithm draws random numbers by `seed`.
    pub fn new(plan: &FlowPlan, seed: u64) -> Self {
        let context = plan.transport.cc_context(*plan.cc_context, seed);
        SendingEnd::Tcp(Sender::new(plan.transport.clone(), plan.cc.build(context)))
    }

    /// An acknowledgement has arrived.
    #[inline]
    pub fn on_ack(&mut self, now: Instant, ack: &AckSegment) {
        let SendingEnd::Tcp(sender) = self;
        sender.on_ack(now, ack);
    }

    /// The next segment that may leave now.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<DataSegment> {
        let SendingEnd::Tcp(sender) = self;
        sender.poll_transmit(now)
    }

    /// The timers that expire if the time is `now`, the first one first.
    pub fn due_timers(&self, now: Instant) -> impl Iterator<Item = Timer> {
        let SendingEnd::Tcp(sender) = self;
        sender.due_timers(now)
    }

    delegate! {
        /// The application begins to use the connection.
        fn open(&mut self, now: Instant);
    }
    delegate! {
        /// The application writes so many bytes more.
        fn write(&mut self, now: Instant, bytes: u64);
    }
    delegate! {
        /// The application always has more to write.
        fn write_forever(&mut self);
    }
    delegate! {
        /// The connection ends after what was written.
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
        /// The congestion control.
        fn cc(&self) -> &Cc;
    }
    delegate! {
        /// The window in force, in segments.
        fn cwnd(&self) -> f64;
    }
    delegate! {
        /// What was counted since the start of the connection.
        fn counters(&self) -> SenderCounters;
    }
    delegate! {
        /// What an observer may see.
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

    /// The first bytes of the segments that are taken for lost and were not sent again since.
    pub fn lost(&self) -> impl Iterator<Item = u64> {
        let SendingEnd::Tcp(sender) = self;
        sender.lost()
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
        /// Bounds what may be outstanding, in segments.
        fn set_most_outstanding(&mut self, segments: u32);
    }
    delegate! {
        /// That bound.
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
        ReceivingEnd::Tcp(Receiver::new(&plan.transport))
    }

    /// Data have arrived, marked if `ce`; the acknowledgement that leaves at once.
    #[inline]
    pub fn on_data(&mut self, now: Instant, segment: &DataSegment, ce: bool) -> Option<AckSegment> {
        let ReceivingEnd::Tcp(receiver) = self;
        receiver.on_data(now, segment, ce)
    }

    /// A timer may have gone off; the acknowledgement that leaves then.
    #[inline]
    pub fn on_deadline(&mut self, now: Instant) -> Option<AckSegment> {
        let ReceivingEnd::Tcp(receiver) = self;
        receiver.on_deadline(now)
    }

    delegate! {
        /// Bytes received in order.
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
