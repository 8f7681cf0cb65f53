//! The strategy of a connection, chosen once when it begins.

use std::ops::{Deref, DerefMut};

use super::duplicate_acks::DuplicateAcks;
use super::fack::Fack;
use super::newreno::NewReno;
use super::rack::Rack;
use super::reno::Reno;
use super::sack::Sack;
use super::strategy::{News, Strategy, View};
use super::tahoe::Tahoe;
use crate::tcp::scoreboard::Delivered;
use crate::tcp::segment::AckSegment;
use crate::transport::{LossRecovery, SackSender, Transport};

macro_rules! strategies {
    ($($strategy:ident),+) => {
        /// The strategy of a sender. ACKs reach it without indirection, and other events as a [`Strategy`].
        #[derive(Debug)]
        pub(in crate::tcp::sender) enum AnyStrategy {
            $($strategy($strategy),)+
        }

        impl AnyStrategy {
            /// An ACK arrives. The scoreboard has already processed its cumulative acknowledgement.
            #[inline]
            pub(in crate::tcp::sender) fn on_ack(
                &mut self,
                view: &mut View,
                ack: &AckSegment,
                delivered: &mut Delivered,
            ) -> News {
                match self { $(AnyStrategy::$strategy(strategy) => strategy.on_ack(view, ack, delivered),)+ }
            }
        }

        impl Deref for AnyStrategy {
            type Target = dyn Strategy;

            fn deref(&self) -> &(dyn Strategy + 'static) {
                match self { $(AnyStrategy::$strategy(strategy) => strategy,)+ }
            }
        }

        impl DerefMut for AnyStrategy {
            fn deref_mut(&mut self) -> &mut (dyn Strategy + 'static) {
                match self { $(AnyStrategy::$strategy(strategy) => strategy,)+ }
            }
        }
    };
}

strategies!(Tahoe, Reno, NewReno, Sack, Rack, Fack, DuplicateAcks);

impl AnyStrategy {
    /// The strategy of a connection.
    pub(in crate::tcp::sender) fn new(transport: &Transport) -> Self {
        match (transport.recovery, transport.sack_sender) {
            (LossRecovery::Tahoe, _) => AnyStrategy::Tahoe(Tahoe),
            (LossRecovery::NewReno, _) => AnyStrategy::NewReno(NewReno::new(transport)),
            (LossRecovery::Sack, SackSender::Scoreboard) if transport.peer_sack && transport.rack => {
                AnyStrategy::Rack(Rack::new(transport))
            }
            (LossRecovery::Sack, SackSender::Scoreboard) if transport.peer_sack => {
                AnyStrategy::Sack(Sack::new(transport))
            }
            (LossRecovery::Sack, SackSender::Fack) if transport.peer_sack => AnyStrategy::Fack(Fack::new(transport)),
            (LossRecovery::Sack, _) if transport.peer_sack => AnyStrategy::DuplicateAcks(DuplicateAcks::new(transport)),
            // Without blocks from the peer a SACK sender behaves as Reno.
            (LossRecovery::Reno | LossRecovery::Sack, _) => AnyStrategy::Reno(Reno::new(transport)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transport_names_the_strategy_and_a_peer_without_sack_gets_reno() {
        let strategy = |recovery, sack_sender, peer_sack| {
            AnyStrategy::new(&Transport { recovery, peer_sack, sack_sender, ..Transport::default() })
        };
        let rack = Transport { rack: true, ..Transport::default() };
        assert!(matches!(AnyStrategy::new(&rack), AnyStrategy::Rack(_)));
        assert!(matches!(AnyStrategy::new(&Transport { peer_sack: false, ..rack }), AnyStrategy::Reno(_)));
        let (board, count) = (SackSender::Scoreboard, SackSender::DuplicateAcks);
        assert!(matches!(strategy(LossRecovery::Tahoe, count, true), AnyStrategy::Tahoe(_)));
        assert!(matches!(strategy(LossRecovery::Reno, count, true), AnyStrategy::Reno(_)));
        assert!(matches!(strategy(LossRecovery::NewReno, board, false), AnyStrategy::NewReno(_)));
        assert!(matches!(strategy(LossRecovery::Sack, board, true), AnyStrategy::Sack(_)));
        assert!(matches!(strategy(LossRecovery::Sack, count, true), AnyStrategy::DuplicateAcks(_)));
        assert!(matches!(strategy(LossRecovery::Sack, SackSender::Fack, true), AnyStrategy::Fack(_)));
        for sack_sender in [board, count, SackSender::Fack] {
            assert!(matches!(strategy(LossRecovery::Sack, sack_sender, false), AnyStrategy::Reno(_)));
        }
    }
}
