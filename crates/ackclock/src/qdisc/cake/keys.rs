//! The keys of CAKE.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cake, Cells, Framing, Isolation, TinParameters};
use crate::qdisc::cobalt::{CobaltParameters, decrement, increment};
use crate::qdisc::{self, Groups, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Problem};
use crate::rng::Rng;
use crate::units::{Duration, Rate};

/// CAKE: a shaper, tins, host isolation, queues of flows with COBALT, and an ACK filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CakeKeys {
    /// The limit of all flows together.
    #[serde(default = "limit")]
    pub limit: Limit,
    /// Rate to which it shapes, in bytes with framing. By default the link limits the rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
    /// RTT of most flows: the interval of COBALT. The target is a twentieth of it.
    #[serde(default = "rtt")]
    pub rtt: Duration,
    /// Whose flows share the rate equally, before flows do.
    #[serde(default)]
    pub isolation: Isolation,
    /// Tins.
    #[serde(default)]
    pub diffserv: Diffserv,
    /// Bytes that the link adds to each packet, or that it lacks: from -64 to 256.
    #[serde(default)]
    #[schemars(range(min = -64, max = 256))]
    pub overhead: i32,
    /// Least bytes of a packet on the link, from 0 to 256.
    #[serde(default)]
    #[schemars(range(min = 0, max = 256))]
    pub mpu: u32,
    /// Cells of the link.
    #[serde(default)]
    pub framing: Cells,
    /// ACKs that later ones cover.
    #[serde(default)]
    pub ack_filter: AckFilter,
}

/// The tins, by the DSCP of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Diffserv {
    /// One.
    #[default]
    Besteffort,
    /// Bulk, best effort, video and voice, with thresholds of 1/16, 1, 1/2 and 1/4 of the rate.
    Diffserv4,
}

impl Diffserv {
    /// The tin of a DSCP.
    #[inline]
    pub(super) fn tin(self, dscp: u8) -> usize {
        if self == Diffserv::Besteffort {
            return 0;
        }
        match dscp {
            // CS1 and LE.
            8 | 1 => 0,
            // AF4x, AF3x, CS3, AF2x and CS2.
            34 | 36 | 38 | 26 | 28 | 30 | 24 | 18 | 20 | 22 | 16 => 2,
            // CS7, CS6, EF, VA, CS5 and CS4.
            56 | 48 | 46 | 44 | 40 | 32 => 3,
            _ => 1,
        }
    }

    /// The shares of the rate up to which priorities apply, as denominators.
    fn thresholds(self) -> &'static [u64] {
        match self {
            Diffserv::Besteffort => &[1],
            Diffserv::Diffserv4 => &[16, 1, 2, 4],
        }
    }

    /// The prefixes of the states of tins.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Diffserv::Besteffort => &[""],
            Diffserv::Diffserv4 => &["bulk_", "best_effort_", "video_", "voice_"],
        }
    }
}

/// The ACK filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// None.
    #[default]
    Off,
    /// Leaves two ACKs of a flow.
    On,
    /// Leaves one ACK of a flow.
    Aggressive,
}

impl AckFilter {
    /// Queued ACKs of a flow that it leaves.
    #[inline]
    pub(super) fn most(self) -> Option<usize> {
        match self {
            AckFilter::Off => None,
            AckFilter::On => Some(2),
            AckFilter::Aggressive => Some(1),
        }
    }
}

// As in Linux.
fn limit() -> Limit {
    Limit::Bytes(4 << 20)
}

fn rtt() -> Duration {
    Duration::from_millis(100)
}

/// Turns in Linux: 1/4096 s at the rate, and at least this many bytes.
const TURNS_PER_SECOND: u64 = 4096;
const LEAST_QUANTUM: u64 = 300;

/// The parameters of CAKE, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct CakeParameters {
    /// Rate to which it shapes.
    pub bandwidth: Option<Rate>,
    /// Whose flows share the rate equally.
    pub isolation: Isolation,
    /// The selection of tins.
    pub diffserv: Diffserv,
    /// Bytes of packets on the link.
    pub framing: Framing,
    /// The ACK filter.
    pub ack_filter: AckFilter,
    /// The tins, by rising priority.
    pub tins: Vec<TinParameters>,
    /// The groups of flows, with their hosts and DSCPs.
    pub groups: Groups,
}

impl CakeKeys {
    fn tin(&self, threshold: Option<Rate>, packet_bytes: u64) -> TinParameters {
        let packet_time = threshold.map_or(Duration::ZERO, |rate| rate.transmission(packet_bytes).0);
        let target = (self.rtt / 20).max(packet_time * 3 / 2);
        let interval = (self.rtt - self.rtt / 20 + target).max(target * 2);
        let (increment, decrement) = (increment(), decrement());
        let cobalt = CobaltParameters { target, interval, increment, decrement, blue_threshold: None, ecn: true };
        let most = packet_bytes.max(LEAST_QUANTUM);
        let quantum = threshold.map_or(most, |rate| rate.as_bps() / 8 / TURNS_PER_SECOND).clamp(LEAST_QUANTUM, most);
        TinParameters { threshold, quantum: quantum as u32, cobalt, packet_time }
    }
}

impl QueueKeys for CakeKeys {
    type Parameters = CakeParameters;

    const DRAWS: Option<&'static str> = Some("hash and drops of {link}: CAKE");

    fn limit(&self) -> Limit {
        self.limit
    }

    fn marks(&self) -> bool {
        true
    }

    /// CAKE always marks, which does not show that marks are expected.
    fn asks_for_ecn(&self) -> bool {
        false
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<CakeParameters, Misfit> {
        let out_of_range = |value: String, expected: String| Problem::OutOfRange { value, expected };
        if let (Some(bandwidth), Some(rate)) = (self.bandwidth, place.rate)
            && bandwidth > rate
        {
            let expected = format!("at most the rate of the link, {rate}");
            return Err(("bandwidth", out_of_range(bandwidth.to_string(), expected)));
        }
        if self.rtt < Duration::from_micros(100) {
            return Err(("rtt", out_of_range(self.rtt.to_string(), "at least 100 us".to_owned())));
        }
        let rate = self.bandwidth.or(place.rate);
        let share = |parts: &u64| rate.and_then(|rate| Rate::from_bps((rate.as_bps() / parts).max(1)));
        let tins = self.diffserv.thresholds().iter().map(|parts| self.tin(share(parts), place.packet_bytes));
        let CakeKeys { bandwidth, isolation, diffserv, overhead, mpu, framing: cells, ack_filter, .. } = *self;
        let framing = Framing { overhead, mpu, cells };
        let tins = tins.collect();
        Ok(CakeParameters { bandwidth, isolation, diffserv, framing, ack_filter, tins, groups: place.groups.clone() })
    }
}

impl QueueParameters for CakeParameters {
    type Queue<T: Queued> = Cake<T>;

    const DROPS: &'static [Reason] = &[Reason::Sojourn, Reason::Early, Reason::Full, Reason::AckFilter];
    const MARKS: &'static [Reason] = &[Reason::Sojourn];

    fn conserves_work(&self) -> bool {
        self.bandwidth.is_none()
    }

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> Cake<T> {
        Cake::new(limit, self.clone(), stream("queue"))
    }

    fn in_words(&self) -> String {
        let bandwidth = self.bandwidth.map_or_else(|| "the rate of the link".to_owned(), |rate| rate.to_string());
        let tins = if self.tins.len() == 1 { "1 tin".to_owned() } else { format!("{} tins", self.tins.len()) };
        format!(", {bandwidth}, {tins}")
    }
}
