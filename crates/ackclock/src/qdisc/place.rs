//! The information that a queue needs about its link.

use super::{Groups, Limit};
use crate::quantity::{self, Problem};
use crate::units::{Duration, Rate};

/// A link, as the parameters of its queue depend on it.
#[derive(Clone, Debug)]
pub struct Place {
    /// Rate of the link.
    pub rate: Option<Rate>,
    /// One-way propagation delay.
    pub delay: Duration,
    /// The largest packet that crosses it, in bytes.
    pub packet_bytes: u64,
    /// Mean base RTT of the flows that cross it.
    pub mean_rtt_secs: f64,
    /// The groups of flows of the scenario.
    pub groups: Groups,
}

impl Place {
    /// The bandwidth-delay product in packets.
    pub fn bdp_packets(&self) -> f64 {
        let bits = self.rate.map_or(0.0, |rate| rate.as_bps() as f64) * self.mean_rtt_secs;
        bits / 8.0 / self.packet_bytes as f64
    }

    /// The bytes that the rate of the link sends in a time, at least one packet.
    pub fn bytes_in(&self, time: Duration) -> u64 {
        self.rate.map_or(0, |rate| rate.bytes_in_floor(time)).max(self.packet_bytes)
    }

    /// The value of a limit at this link.
    pub fn limit(&self, limit: quantity::Limit) -> Limit {
        match limit {
            quantity::Limit::Packets(packets) => Limit::Packets(packets),
            quantity::Limit::Bytes(bytes) => Limit::Bytes(bytes),
            // The conversion saturates: four billion packets are as good as no limit.
            quantity::Limit::Bdp(factor) => Limit::Packets((factor * self.bdp_packets()).round().max(1.0) as u32),
            quantity::Limit::Time(time) => Limit::Bytes(self.bytes_in(time)),
        }
    }

    /// The value of a queue limit at this link.
    ///
    /// # Errors
    /// Fails if a packet does not fit an empty queue. Packets pass through the queue even if the link is idle.
    pub(super) fn limit_of_queue(&self, limit: quantity::Limit) -> Result<Limit, Misfit> {
        let resolved = self.limit(limit);
        let carries_nothing = match resolved {
            Limit::Packets(packets) => packets == 0,
            Limit::Bytes(bytes) => bytes < self.packet_bytes,
        };
        if carries_nothing && self.rate.is_some() {
            return Err(("limit", Problem::NoRoom { limit: limit.to_string(), packet: self.packet_bytes }));
        }
        Ok(resolved)
    }
}

/// The key of a queue that does not fit its place, and why.
pub type Misfit = (&'static str, Problem);

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place {
        rate: Rate::from_bps(8_000_000),
        delay: Duration::ZERO,
        packet_bytes: 1_000,
        mean_rtt_secs: 0.0,
        groups: Groups::NONE,
    };

    /// At 1000 packets a second.
    fn limit(limit: quantity::Limit, bdp_packets: f64) -> Limit {
        Place { mean_rtt_secs: bdp_packets / 1000.0, ..PLACE }.limit(limit)
    }

    #[test]
    fn products_are_whole_packets_and_at_least_one() {
        assert_eq!(limit(quantity::Limit::Bdp(1.0), 14.5), Limit::Packets(15));
        assert_eq!(limit(quantity::Limit::Bdp(0.5), 28.9), Limit::Packets(14));
        assert_eq!(limit(quantity::Limit::Bdp(0.02), 10.0), Limit::Packets(1));
        assert_eq!(limit(quantity::Limit::Bdp(1e6), 1e12), Limit::Packets(u32::MAX));
        assert_eq!(limit(quantity::Limit::Bytes(64_000), 1.0), Limit::Bytes(64_000));
    }

    #[test]
    fn a_time_is_the_bytes_that_the_rate_sends_in_it_and_at_least_a_packet() {
        // 8 Mbit/s for 50 ms, and for 0.1 ms.
        let time = |micros| limit(quantity::Limit::Time(Duration::from_micros(micros)), 0.0);
        assert_eq!((time(50_000), time(100)), (Limit::Bytes(50_000), Limit::Bytes(1_000)));
    }

    #[test]
    fn a_product_takes_rate_rtt_and_packet_size() {
        // 5 Mbit/s x 64 ms = 40,000 B.
        let place = Place { rate: Rate::from_bps(5_000_000), mean_rtt_secs: 0.064, ..PLACE };
        assert!((place.bdp_packets() - 40.0).abs() < 1e-9);
        assert_eq!(Place { rate: None, ..place }.bdp_packets(), 0.0);
    }
}
