//! The keys of a kernel's queue.

use std::fmt;
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{KernelQueue, OutsideQueue};
use crate::qdisc::{AMPLE, Limit, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity;
use crate::rng::Rng;

/// A queue of the Linux kernel, run in virtual time by `--backend kernel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KernelQueueKeys {
    /// The discipline and its parameters as in a command line of `tc`, such as "fq_pie limit 1000 target 15ms".
    pub tc: String,
}

impl QueueKeys for KernelQueueKeys {
    type Parameters = KernelQueueParameters;

    /// The text contains the real one.
    fn limit(&self) -> quantity::Limit {
        AMPLE
    }

    fn marks(&self) -> bool {
        self.tc.split_whitespace().any(|word| word == "ecn")
    }

    fn parameters(&self, _place: &Place, _limit: Limit) -> Result<KernelQueueParameters, Misfit> {
        Ok(KernelQueueParameters { tc: self.tc.clone(), outside: None })
    }
}

/// A kernel's queue at a link. A backend that has kernels provides the queue.
#[derive(Clone)]
pub struct KernelQueueParameters {
    tc: String,
    outside: Option<Arc<Mutex<Box<dyn OutsideQueue>>>>,
}

impl KernelQueueParameters {
    /// The discipline and its parameters.
    pub fn tc(&self) -> &str {
        &self.tc
    }

    /// Provides the queue, which one simulation may use.
    pub fn provide(&mut self, queue: Box<dyn OutsideQueue>) {
        self.outside = Some(Arc::new(Mutex::new(queue)));
    }

    /// Whether the queue is provided.
    pub fn is_provided(&self) -> bool {
        self.outside.is_some()
    }
}

impl fmt::Debug for KernelQueueParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelQueueParameters").field("tc", &self.tc).finish_non_exhaustive()
    }
}

impl PartialEq for KernelQueueParameters {
    fn eq(&self, other: &Self) -> bool {
        self.tc == other.tc
    }
}

impl QueueParameters for KernelQueueParameters {
    type Queue<T: Queued> = KernelQueue<T>;

    const DROPS: &'static [Reason] = &[Reason::Kernel];
    const MARKS: &'static [Reason] = &[Reason::Kernel];
    /// A shaper may be inside.
    const CONSERVES_WORK: bool = false;

    fn build<T: Queued>(&self, limit: Limit, _stream: &dyn Fn(&str) -> Rng) -> KernelQueue<T> {
        KernelQueue::new(limit, self.outside.clone())
    }

    fn in_words(&self) -> String {
        format!(", {}", self.tc)
    }

    fn has_clock(&self) -> bool {
        true
    }
}
