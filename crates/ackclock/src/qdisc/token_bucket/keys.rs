//! The keys of the token bucket filter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TokenBucket;
use crate::qdisc::nested::union;
use crate::qdisc::{self, InnerQueue, Misfit, Place, QueueKeys, QueueParameters, QueuePlan, QueueSpec, Queued, Reason};
use crate::quantity::{Limit, Problem, Size, without_default};
use crate::rng::Rng;
use crate::units::Rate;

/// Token bucket filter: sends no more than a rate and a burst allow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenBucketKeys {
    /// The limit of the queue.
    #[serde(default = "limit")]
    pub limit: Limit,
    /// Rate at which tokens arrive, in bits on the wire.
    pub rate: Rate,
    /// Size of the bucket: bytes that may be sent at once after a pause. Default: ten of the largest packets that cross the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Size>,
    /// Queue that is shaped, with a limit of its own. By default it is a FIFO of `limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "InnerQueue", transform = without_default)]
    pub queue: Option<InnerQueue>,
}

fn limit() -> Limit {
    Limit::Packets(1000)
}

/// The parameters of a token bucket, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenBucketParameters {
    /// Rate at which tokens come.
    pub rate: Rate,
    /// Size of the bucket in bytes.
    pub burst: u32,
    /// The queue that is shaped.
    pub queue: QueuePlan,
}

impl TokenBucketKeys {
    fn inner(&self) -> Option<&QueueSpec> {
        self.queue.as_ref().map(InnerQueue::spec)
    }
}

impl QueueKeys for TokenBucketKeys {
    type Parameters = TokenBucketParameters;

    fn limit(&self) -> Limit {
        self.inner().map_or(self.limit, QueueSpec::limit)
    }

    fn draws(&self) -> Vec<&'static str> {
        self.inner().map_or_else(Vec::new, QueueSpec::purposes)
    }

    fn reads_profiles(&self) -> bool {
        self.inner().is_some_and(QueueSpec::reads_profiles)
    }

    fn shaped_rate(&self) -> Option<Rate> {
        Some(self.rate)
    }

    fn marks(&self) -> bool {
        self.inner().is_some_and(QueueSpec::marks)
    }

    fn asks_for_ecn(&self) -> bool {
        self.inner().is_some_and(QueueSpec::asks_for_ecn)
    }

    fn parameters(&self, place: &Place, limit: qdisc::Limit) -> Result<TokenBucketParameters, Misfit> {
        let burst = burst_at(self.burst, place)?;
        let queue = match &self.queue {
            // The shaped queue drains at the rate of the shaper.
            Some(queue) => {
                let rate = place.rate.map_or(self.rate, |rate| rate.min(self.rate));
                let place = Place { rate: Some(rate), ..place.clone() };
                queue.plan(&place)?
            }
            None => QueuePlan::drop_tail(limit),
        };
        Ok(TokenBucketParameters { rate: self.rate, burst, queue })
    }
}

/// Bytes of a bucket at a link. By default they are ten of the largest packets.
///
/// # Errors
/// The largest packet has more, or the size is too large.
pub(in crate::qdisc) fn burst_at(burst: Option<Size>, place: &Place) -> Result<u32, Misfit> {
    let burst = burst.map_or(10 * place.packet_bytes, |size| size.0);
    match u32::try_from(burst) {
        Ok(burst) if u64::from(burst) >= place.packet_bytes => Ok(burst),
        _ => {
            let expected = format!("at least {} B, the largest packet, and below 4 GB", place.packet_bytes);
            Err(("burst", Problem::OutOfRange { value: Size(burst).to_string(), expected }))
        }
    }
}

impl QueueParameters for TokenBucketParameters {
    type Queue<T: Queued> = TokenBucket<T>;

    const DROPS: &'static [Reason] = &[Reason::Full, Reason::Oversize];
    const CONSERVES_WORK: bool = false;

    fn drops(&self) -> Vec<Reason> {
        union([self.queue.drops(), vec![Reason::Oversize]])
    }

    fn marks(&self) -> Vec<Reason> {
        self.queue.marks()
    }

    fn reads_profiles(&self) -> bool {
        self.queue.reads_profiles()
    }

    fn build<T: Queued>(&self, _limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> TokenBucket<T> {
        TokenBucket::new(self.queue.build(stream), self.rate, self.burst)
    }

    fn in_words(&self) -> String {
        let queue = match self.queue.name() {
            "drop-tail" => String::new(),
            _ => format!(" of {}", self.queue.in_words()),
        };
        format!(", {} with bursts of {} B{queue}", self.rate, self.burst)
    }

    fn has_clock(&self) -> bool {
        self.queue.has_clock()
    }

    fn in_force(&self) -> Option<serde_json::Value> {
        self.queue.in_force()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    #[test]
    fn the_bucket_holds_the_largest_packet_at_least() {
        let rate = Rate::from_bps(8_000_000).unwrap();
        let place = Place {
            rate: Some(rate),
            delay: Duration::ZERO,
            packet_bytes: 1500,
            mean_rtt_secs: 0.0,
            groups: crate::qdisc::Groups::NONE,
        };
        let bucket = |burst: Option<u64>| {
            let keys = TokenBucketKeys { limit: limit(), rate, burst: burst.map(Size), queue: None };
            keys.parameters(&place, qdisc::Limit::Packets(10)).map(|parameters| parameters.burst).ok()
        };
        assert_eq!([bucket(None), bucket(Some(1500)), bucket(Some(1499))], [Some(15_000), Some(1500), None]);
        assert_eq!(
            TokenBucketParameters { rate, burst: 1500, queue: QueuePlan::drop_tail(qdisc::Limit::Packets(10)) }
                .in_words(),
            ", 8 Mbit/s with bursts of 1500 B"
        );
        assert_eq!([bucket(Some(u64::from(u32::MAX))), bucket(Some(1 << 32))], [Some(u32::MAX), None]);
    }
}
