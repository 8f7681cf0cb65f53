//! Datagrams at a constant rate, or at the complement of a varying rate.

use crate::rng::Rng;
use crate::units::Instant;
use crate::variation::{VariableRateSerializer, Variation};

/// One packet after the other: each leaves when its last bit has been produced.
#[derive(Clone, Debug)]
pub struct Cbr {
    serializer: VariableRateSerializer,
    packet: u32,
    /// Where a packet stands for an exponential number of bytes, so that packets are a Poisson process.
    random: Option<Rng>,
    next: Instant,
}

impl Cbr {
    /// A source from `start` on at the rate of `variation`, at random times with a stream.
    pub fn new(variation: Variation, packet: u32, random: Option<Rng>, start: Instant) -> Self {
        let mut cbr = Cbr { serializer: VariableRateSerializer::new(variation), packet, random, next: start };
        cbr.step();
        cbr
    }

    /// When the next packet is due.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Advances to the packet after the next one.
    pub fn step(&mut self) {
        let bytes = match &mut self.random {
            None => self.packet,
            Some(stream) => (f64::from(self.packet) * stream.next_exponential()).round() as u32,
        };
        self.next = self.serializer.send(self.next, bytes);
    }
}
