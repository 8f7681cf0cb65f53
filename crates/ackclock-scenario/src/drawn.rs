//! The network of one replicate: base RTTs and rates are drawn around those that are written.
//!
//! One geometry can keep flows in or out of step for a whole run. Its replicates then agree on a figure that holds
//! for this geometry only. All rates share a factor, so that the slowest link stays the slowest. Each flow has its
//! own base RTT. Links are shorter by the largest share, and a private delay adds the rest.

use super::network::Access;
use super::replicates::Replicates;
use super::topology::{Network, Route};
use ackclock::rng::RngStreams;
use ackclock::sim::LinkId;
use ackclock::units::{Duration, Rate};
use ackclock::variation::VariationPlan;

/// The component whose stream the draw of the whole network comes from.
const NETWORK: &str = "replicates";

/// A factor around 1, or exactly 1 without variation.
fn factor(share: f64, component: &str, purpose: &str, rngs: RngStreams) -> f64 {
    if share > 0.0 { 1.0 + share * (2.0 * rngs.stream(component, purpose).next_f64() - 1.0) } else { 1.0 }
}

/// The network of one replicate.
#[derive(Clone, Copy, Debug)]
pub struct DrawnNetwork {
    rtt: f64,
    rate_factor: f64,
    rngs: RngStreams,
}

impl DrawnNetwork {
    /// Draws the network of a replicate from its random streams.
    pub fn new(shares: Replicates, rngs: RngStreams) -> Self {
        let rate_factor = factor(shares.rate, NETWORK, "rate", rngs);
        DrawnNetwork { rtt: shares.rtt, rate_factor, rngs }
    }

    /// The drawn rate of a link, at least 1 bit/s.
    pub fn rate(&self, rate: Rate) -> Rate {
        let bps = (rate.as_bps() as f64 * self.rate_factor).round() as u64;
        Rate::from_bps(bps.max(1)).expect("invariant: at least 1 bit/s")
    }

    /// The course of a rate that varies.
    pub fn variation(&self, plan: VariationPlan) -> VariationPlan {
        if self.rate_factor == 1.0 { plan } else { plan.scaled(self.rate_factor) }
    }

    /// The delay of a link, as short as any flow may need it.
    pub fn delay(&self, delay: Duration) -> Duration {
        delay - delay.mul_f64_floor(self.rtt)
    }

    /// Propagation there and back along a path of links with such delays.
    pub fn path_rtt(&self, route: &Route, network: &Network) -> Duration {
        let shared = route.forward.iter().chain(&*route.reverse).map(|link| self.link_delay(*link, network));
        let access = network.access.iter().flat_map(|access: &Access| [self.delay(access.delay); 4]);
        shared.chain(access).fold(Duration::ZERO, |sum, delay| sum + delay)
    }

    /// The drawn delay of a shared link. A station uses the delay of its channel.
    pub fn link_delay(&self, link: LinkId, network: &Network) -> Duration {
        let link = network.link(link);
        if link.channel.is_some() { link.delay } else { self.delay(link.delay) }
    }

    /// The drawn base RTT of a flow. `wanted` is the RTT of the file, and `path_rtt` the RTT of the links.
    pub fn base_rtt(&self, flow: &str, wanted: Duration, path_rtt: Duration) -> Duration {
        let factor = factor(self.rtt, flow, "replicates.rtt", self.rngs);
        if factor == 1.0 { wanted } else { wanted.mul_f64_floor(factor).max(path_rtt) }
    }
}
