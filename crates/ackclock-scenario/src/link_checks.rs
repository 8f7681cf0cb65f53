//! Checks links, queues and channels against their place in the network.

use super::mistakes::Misfits;
use super::places::{groups, place_of_access, places};
use super::schema::Document;
use super::topology::Network;
use ackclock::quantity::Problem;

/// Adds the keys of channels that do not fit.
pub fn check_channels(document: &Document, misfits: &mut Misfits) {
    for (name, channel) in &document.channels {
        if let Err((key, problem)) = channel.plan() {
            misfits.push(["channels", name, key].map(str::to_owned).to_vec(), problem);
        }
    }
}

/// Adds the rates of shared links that vary as they cannot.
pub fn check_variations(document: &Document, network: &Network, misfits: &mut Misfits) {
    for (index, link) in network.numbered_links() {
        if let Some(Err((key, problem))) = link.variation() {
            let place = network.place(document, index);
            misfits.check(&format!("{place}.varies.{key}"), Err::<(), _>(problem));
        }
    }
}

/// Adds the queues that do not fit their place.
pub fn check_queues(document: &Document, network: &Network, misfits: &mut Misfits) {
    for ((index, link), place) in network.numbered_links().zip(places(document, network)) {
        let problem = match (link.queue.plan(&place), &link.channel) {
            (Err(problem), _) => problem,
            (Ok(plan), Some(channel)) if !plan.conserves_work() => {
                let name = document.channels.keys().nth(*channel).cloned().unwrap_or_default();
                ("kind", Problem::ShaperOnChannel { channel: name })
            }
            _ => continue,
        };
        let place = network.place(document, index);
        misfits.check(&format!("{place}.queue.{}", problem.0), Err::<(), _>(problem.1));
    }
    let Some(access) = &network.access else { return };
    let groups = groups(document);
    for (flow, route) in document.flows.iter().zip(&network.routes) {
        for is_way_of_acks in [false, true] {
            let place = place_of_access(flow, route, access, &groups, is_way_of_acks);
            if let Err((key, problem)) = access.queue.plan(&place) {
                misfits.check(&format!("topology.access.queue.{key}"), Err::<(), _>(problem));
            }
        }
    }
}
