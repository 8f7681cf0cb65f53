//! Lists the random inputs of a scenario.

use super::impairments::{Impairments, Loss};
use super::replicates::Replicates;
use super::schema::{Document, Draw};
use super::topology::Network;

/// Everything in a document that differs from replicate to replicate, in words.
pub fn random_inputs(document: &Document, network: &Network) -> Vec<String> {
    let mut inputs = Vec::new();
    for (name, queue, impairments) in network.parts() {
        inputs.extend(queue.draws(name));
        inputs.extend(random_impairments(name, impairments));
    }
    if let Some(replicates) = document.replicates {
        inputs.extend(drawn_network(replicates));
    }
    let varying = network.links.iter().filter_map(|link| Some((link, link.varies.as_ref()?)));
    for (link, varies) in varying.filter(|(_, varies)| varies.is_random()) {
        inputs.push(format!("rate of {}: {}", link.name, varies.name()));
    }
    for (name, channel) in &document.channels {
        inputs.push(format!("backoff of the stations of {name}: uniform numbers of slots"));
        for (kind, probability) in channel.random_errors() {
            inputs.push(format!("{kind} errors of {name}: probability {probability}"));
        }
    }
    for flow in &document.flows {
        let drawn = |draw: &Draw| format!("uniform, {} to {}", draw.min(), draw.max());
        if flow.start.is_random() {
            inputs.push(format!("start of {}: {}", flow.name, drawn(&flow.start)));
        }
        if let Some(rtt) = flow.rtt.filter(Draw::is_random) {
            inputs.push(format!("base RTT of {}: {}", flow.name, drawn(&rtt)));
        }
        let jitter = flow.transport.send_jitter;
        if !jitter.is_zero() {
            inputs.push(format!("send jitter of {}: uniform, 0 to {jitter}", flow.name));
        }
        let of_traffic = flow.traffic.random_inputs();
        inputs.extend(of_traffic.iter().map(|(what, how)| format!("{what} of {}: {how}", flow.name)));
    }
    inputs
}

fn drawn_network(replicates: Replicates) -> impl Iterator<Item = String> {
    let within = |what: &str, share: f64| {
        (share > 0.0).then(|| format!("{what}: uniform, within {} %", (1e8 * share).round() / 1e6))
    };
    within("base RTT of each flow", replicates.rtt).into_iter().chain(within("rates of all links", replicates.rate))
}

fn random_impairments(name: &str, impairments: &Impairments) -> Vec<String> {
    let Impairments { jitter, reordering, loss, duplication, corruption, .. } = impairments;
    let mut inputs = Vec::new();
    if !jitter.is_zero() {
        inputs.push(format!("delay of {name}: uniform, 0 to {jitter} more"));
    }
    match loss {
        _ if !loss.is_random() => {}
        Loss::BitErrors { probability } => inputs.push(format!("bit errors of {name}: probability {probability:e}")),
        Loss::GilbertElliott { p, r, .. } => inputs.push(format!("bursts of losses of {name}: p {p}, r {r}")),
        Loss::Bernoulli { probability } => inputs.push(format!("losses of {name}: probability {probability}")),
        Loss::None | Loss::Periodic { .. } | Loss::Scripted { .. } => {}
    }
    let held_back = reordering.map_or(0.0, |reordering| reordering.probability);
    for (what, probability) in [("reordering", held_back), ("duplication", *duplication), ("corruption", *corruption)] {
        if probability > 0.0 && probability < 1.0 {
            inputs.push(format!("{what} of {name}: probability {probability}"));
        }
    }
    inputs
}
