//! The hosts of flows, and how many bulk flows each has.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::qdisc::{Groups, Queued};

/// Whose flows share the rate equally, before flows do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Flows alone.
    Flows,
    /// Sources, and then the flows of each.
    DualSrchost,
    /// Destinations, and then the flows of each.
    DualDsthost,
    /// Sources and destinations, and then flows.
    #[default]
    TripleIsolate,
}

/// The source and the destination of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    source: u64,
    destination: u64,
}

impl Ends {
    /// The hosts of an item. A flow without hosts in its group has hosts of its own.
    pub(super) fn of(item: &impl Queued, groups: &Groups) -> Self {
        let group = groups.of(item.tag());
        // Named hosts have even numbers, and those of one flow odd ones.
        let named = |host: Option<u32>, own: u64| host.map_or(4 * item.flow_hash() + own, |host| 2 * u64::from(host));
        let sender = named(group.and_then(|group| group.source), 1);
        let receiver = named(group.and_then(|group| group.destination), 3);
        if item.tag().is_reverse() {
            Ends { source: receiver, destination: sender }
        } else {
            Ends { source: sender, destination: receiver }
        }
    }
}

/// Bulk flows of each host.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    sources: BTreeMap<u64, u32>,
    destinations: BTreeMap<u64, u32>,
}

impl Hosts {
    /// A flow becomes bulk.
    pub(super) fn add(&mut self, ends: Ends) {
        *self.sources.entry(ends.source).or_default() += 1;
        *self.destinations.entry(ends.destination).or_default() += 1;
    }

    /// A bulk flow ends.
    pub(super) fn remove(&mut self, ends: Ends) {
        for (hosts, host) in [(&mut self.sources, ends.source), (&mut self.destinations, ends.destination)] {
            match hosts.get_mut(&host) {
                Some(1) => drop(hosts.remove(&host)),
                Some(flows) => *flows -= 1,
                None => debug_assert!(false, "invariant: a bulk flow was counted"),
            }
        }
    }

    /// The number of bulk flows that share the turns of a flow's host, at least 1.
    pub(super) fn load(&self, isolation: Isolation, ends: Ends) -> u32 {
        let source = || self.sources.get(&ends.source).copied().unwrap_or(0);
        let destination = || self.destinations.get(&ends.destination).copied().unwrap_or(0);
        let load = match isolation {
            Isolation::Flows => 1,
            Isolation::DualSrchost => source(),
            Isolation::DualDsthost => destination(),
            Isolation::TripleIsolate => source().max(destination()),
        };
        load.max(1)
    }
}
