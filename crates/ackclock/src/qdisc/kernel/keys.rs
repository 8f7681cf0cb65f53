//! The keys of a queue of the Linux kernel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::KernelQueue;
use crate::qdisc::{AMPLE, Limit, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{self, Problem};
use crate::rng::Rng;

/// The largest packet that has a header of IP.
const LARGEST_PACKET: u64 = 65_535;

/// A queue of the Linux kernel, which needs `--backend kernel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KernelQueueKeys {
    /// The discipline with its parameters, as in a command line of `tc`: "fq_codel limit 1000 noecn".
    pub tc: String,
}

impl QueueKeys for KernelQueueKeys {
    type Parameters = KernelQueueParameters;

    const DRAWS: Option<&'static str> = Some("hashes, drops and marks of {link}: the kernel");

    /// The discipline has its own limit. This one bounds the packets of the simulation.
    fn limit(&self) -> quantity::Limit {
        AMPLE
    }

    fn parameters(&self, place: &Place, _limit: Limit) -> Result<KernelQueueParameters, Misfit> {
        if place.packet_bytes > LARGEST_PACKET {
            let (value, expected) = (format!("a packet of {} B", place.packet_bytes), "at most 65535 B".to_owned());
            return Err(("tc", Problem::OutOfRange { value, expected }));
        }
        Ok(KernelQueueParameters { tc: self.tc.clone() })
    }
}

/// The discipline with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelQueueParameters {
    /// A command line of `tc`.
    pub tc: String,
}

impl QueueParameters for KernelQueueParameters {
    type Queue<T: Queued> = KernelQueue<T>;

    const DROPS: &'static [Reason] = &[Reason::Kernel];
    const MARKS: &'static [Reason] = &[Reason::Kernel];
    const CONSERVES_WORK: bool = false;

    /// A queue without a server, which its owner connects.
    fn build<T: Queued>(&self, limit: Limit, _stream: &dyn Fn(&str) -> Rng) -> KernelQueue<T> {
        KernelQueue::new(limit)
    }

    fn limit_in_words(&self, _limit: Limit) -> String {
        format!("tc \"{}\"", self.tc)
    }

    fn tc(&self) -> Option<&str> {
        Some(&self.tc)
    }

    fn has_clock(&self) -> bool {
        true
    }
}
