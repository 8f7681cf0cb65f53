//! The keys of the token bucket filter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TokenBucket;
use crate::qdisc::{self, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Problem, Size};
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
}

fn limit() -> Limit {
    Limit::Packets(1000)
}

/// The parameters of a token bucket, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucketParameters {
    /// Rate at which tokens come.
    pub rate: Rate,
    /// Size of the bucket in bytes.
    pub burst: u32,
}

impl QueueKeys for TokenBucketKeys {
    type Parameters = TokenBucketParameters;

    fn limit(&self) -> Limit {
        self.limit
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<TokenBucketParameters, Misfit> {
        Ok(TokenBucketParameters { rate: self.rate, burst: burst_at(self.burst, place)? })
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

    fn build<T: Queued>(&self, limit: qdisc::Limit, _stream: &dyn Fn(&str) -> Rng) -> TokenBucket<T> {
        TokenBucket::new(limit, *self)
    }

    fn in_words(&self) -> String {
        format!(", {} with bursts of {} B", self.rate, self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    #[test]
    fn the_bucket_holds_the_largest_packet_at_least() {
        let rate = Rate::from_bps(8_000_000).unwrap();
        let place = Place { rate: Some(rate), delay: Duration::ZERO, packet_bytes: 1500, mean_rtt_secs: 0.0 };
        let bucket = |burst: Option<u64>| {
            let keys = TokenBucketKeys { limit: limit(), rate, burst: burst.map(Size) };
            keys.parameters(&place, qdisc::Limit::Packets(10)).map(|parameters| parameters.burst).ok()
        };
        assert_eq!([bucket(None), bucket(Some(1500)), bucket(Some(1499))], [Some(15_000), Some(1500), None]);
        assert_eq!(TokenBucketParameters { rate, burst: 1500 }.in_words(), ", 8 Mbit/s with bursts of 1500 B");
        assert_eq!([bucket(Some(u64::from(u32::MAX))), bucket(Some(1 << 32))], [Some(u32::MAX), None]);
    }
}
