//! Checks how the keys of a document fit together, beyond the schema.

use std::collections::BTreeMap;

use super::amounts::amounts;
use super::impairments::{Loss, check_times};
use super::link_checks::{check_channels, check_queues, check_variations};
use super::meters::check_meters;
use super::mistakes::Misfits;
use super::schema::{Document, Draw, Flow};
use super::subflows::check_subflows;
use super::topology::{Network, link_names};
use ackclock::cc::CcMistake;
use ackclock::qdisc::QueueSpec;
use ackclock::quantity::Problem;
use ackclock::quantity::{Limit, SendJitter};
use ackclock::transport::{LossRecovery, Protocol};
use ackclock::units::{Duration, Rate};

/// More flows than a run can hold in memory.
const MOST_FLOWS: u64 = 1_000_000;
/// More (flow, link) pairs than a plan can hold in memory.
const MOST_HOPS: u64 = 20_000_000;

/// Checks the keys against each other.
///
/// # Errors
/// Finds all misfits that do not follow from others.
pub fn validate(document: &Document) -> Result<Network, Misfits> {
    let mut misfits = keys_alone(document);
    let network = Network::build(document, &mut misfits);
    if let Some(network) = &network {
        losses(document, network, &mut misfits);
        limits(document, network, &mut misfits);
        check_variations(document, network, &mut misfits);
        check_channels(document, &mut misfits);
        check_meters(document, network, &mut misfits);
        // The remaining checks depend on the paths of flows.
        if misfits.is_empty() {
            misfits.check("flows", hops(document, network));
            check_queues(document, network, &mut misfits);
            jitters(document, network, &mut misfits);
            amounts(document, network, &mut misfits);
        }
    }
    match network {
        Some(network) if misfits.is_empty() => Ok(network),
        _ => Err(misfits),
    }
}

/// Checks a document without its network.
pub fn keys_alone(document: &Document) -> Misfits {
    let mut misfits = Misfits::default();
    misfits.check("name", title(&document.name));
    misfits.check("duration", positive(document.duration));
    if document.warmup >= document.duration && !document.duration.is_zero() {
        let (warmup, duration) = (document.warmup, document.duration);
        misfits.check("warmup", Err::<(), _>(Problem::WarmupTooLong { warmup, duration }));
    }
    names(document, &mut misfits);
    check_subflows(document, &mut misfits);
    let count: u64 = document.flows.iter().map(|flow| u64::from(flow.count)).sum();
    if count > MOST_FLOWS {
        misfits.check("flows", Err::<(), _>(Problem::TooManyFlows { count, limit: MOST_FLOWS }));
    }
    for (index, flow) in document.flows.iter().enumerate() {
        flow_alone(flow, document.duration, |key, result| {
            if result.is_err() {
                misfits.check(&format!("flows.{index}.{key}"), result);
            }
        });
    }
    misfits
}

/// The name of a scenario is for people, who read it in tables, titles and terminals.
fn title(name: &str) -> Result<(), Problem> {
    const LONGEST: usize = 200;
    if name.chars().any(char::is_control) || name.chars().count() > LONGEST {
        return Err(Problem::BadTitle { name: name.chars().take(LONGEST).collect(), limit: LONGEST });
    }
    Ok(())
}

fn positive(length: Duration) -> Result<(), Problem> {
    if length.is_zero() { out_of_range(length, "above zero") } else { Ok(()) }
}

fn out_of_range(value: impl ToString, expected: &str) -> Result<(), Problem> {
    Err(Problem::OutOfRange { value: value.to_string(), expected: expected.to_owned() })
}

/// Names of links and flows make names of streams, columns and files.
fn names(document: &Document, misfits: &mut Misfits) {
    let mut taken: BTreeMap<&str, String> = BTreeMap::new();
    let of_topology = document.topology.as_ref().map(link_names).unwrap_or_default();
    taken.extend(of_topology.iter().map(|name| (name.as_str(), "a link of the topology".to_owned())));
    for name in document.links.keys() {
        if !is_name(name) {
            misfits.push(vec!["links".to_owned(), name.clone()], Problem::BadName { name: name.clone() });
        }
        taken.insert(name, format!("the link \"{name}\""));
    }
    for name in document.channels.keys() {
        let path = || vec!["channels".to_owned(), name.clone()];
        if !is_name(name) {
            misfits.push(path(), Problem::BadName { name: name.clone() });
        }
        if let Some(other) = taken.insert(name, format!("the channel \"{name}\"")) {
            misfits.push(path(), Problem::DuplicateName { name: name.clone(), other });
        }
    }
    for name in document.meters.keys().filter(|name| !is_name(name)) {
        misfits.push(vec!["meters".to_owned(), name.clone()], Problem::BadName { name: name.clone() });
    }
    for (index, flow) in document.flows.iter().enumerate() {
        let name = flow.name.as_str();
        let result = match taken.insert(name, "another flow".to_owned()) {
            _ if !is_name(name) => Err(Problem::BadName { name: name.to_owned() }),
            Some(other) => Err(Problem::DuplicateName { name: name.to_owned(), other }),
            None => Ok(()),
        };
        misfits.check(&format!("flows.{index}.name"), result);
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+');
    (1..=64).contains(&name.len()) && name.bytes().all(allowed) && !name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Checks a flow without the network.
fn flow_alone(flow: &Flow, duration: Duration, mut at: impl FnMut(&str, Result<(), Problem>)) {
    match &flow.cc {
        Some(cc) => {
            if let Err(error) = cc.check() {
                let problem = match &error {
                    CcMistake::Parameter(error) => Problem::Parameter(error.clone()),
                    CcMistake::Formula { error, .. } => Problem::Formula(error.in_one_line()),
                    CcMistake::Foreign { message, .. } => Problem::Foreign(message.clone()),
                };
                at(&format!("cc.{}", error.key()), Err(problem));
            }
        }
        None if flow.is_tcp() => {
            let example = "write for example cc = \"aimd\"".to_owned();
            at("cc", Err(Problem::MissingKey { example }));
        }
        None => {}
    }
    let start = flow.start.max();
    at(
        "start",
        match in_order(&flow.start) {
            Ok(()) if start >= duration && !duration.is_zero() => Err(Problem::StartAfterEnd { start, duration }),
            result => result,
        },
    );
    // A start that is too late is reported at `start`.
    if let Some(stop) = flow.stop.filter(|stop| *stop <= start && start < duration) {
        at("stop", Err(Problem::StopBeforeStart { stop, start }));
    }
    if let Some(rtt) = &flow.rtt {
        at("rtt", in_order(rtt).and_then(|()| positive(rtt.min())));
    }
    if let Err((key, problem)) = flow.traffic.check() {
        at(&format!("traffic.{key}"), Err(problem));
    }
    for (key, problem) in flow.transport.problems() {
        at(key, Err(problem));
    }
    let protocol = flow.transport.protocol;
    if protocol == Protocol::Rtp && flow.traffic.needs_retransmissions() {
        at("traffic.kind", Err(Problem::Unreliable { traffic: flow.traffic.kind() }));
    }
    if protocol != Protocol::Tcp && flow.recovery != LossRecovery::default() {
        let problem = Problem::OtherProtocol { protocol: protocol.name(), other: Protocol::Tcp.name() };
        at("recovery", Err(problem));
    }
}

fn in_order(draw: &Draw) -> Result<(), Problem> {
    let (min, max) = (draw.min(), draw.max());
    if min > max { Err(Problem::EmptyRange { min, max }) } else { Ok(()) }
}

/// Checks losses beyond their ranges.
fn losses(document: &Document, network: &Network, misfits: &mut Misfits) {
    for (index, link) in network.numbered_links() {
        check_times(&network.place(document, index), &link.impairments, link.delay, misfits);
        let result = link.impairments.loss.check();
        if result.is_err() {
            misfits.check(&format!("{}.loss", network.place(document, index)), result);
        }
    }
    if let Some(access) = &network.access {
        check_times("topology.access", &access.impairments, access.delay, misfits);
        misfits.check("topology.access.loss", access.impairments.loss.check());
    }
}

fn hops(document: &Document, network: &Network) -> Result<(), Problem> {
    // The private links of a flow carry a copy of the script of their losses.
    let private = match network.access.as_ref().map(|access| &access.impairments.loss) {
        Some(Loss::Scripted { packets, late_packets, late_by: _, marked_packets }) => {
            4 + 4 * (packets.len() + late_packets.len() + marked_packets.len()) as u64
        }
        _ => 4,
    };
    let flows = document.flows.iter().zip(&network.routes);
    let count = flows
        .map(|(flow, route)| u64::from(flow.count) * (private + (route.forward.len() + route.reverse.len()) as u64))
        .sum();
    if count > MOST_HOPS { Err(Problem::TooManyHops { count, limit: MOST_HOPS }) } else { Ok(()) }
}

/// Queue limits that are relative to a rate need one.
fn limits(document: &Document, network: &Network, misfits: &mut Misfits) {
    let mut check = |place: &[&str], link: &str, queue: &QueueSpec, rate: Option<Rate>, channel: Option<&String>| {
        let problem = match (queue.limit(), channel, rate) {
            (Limit::Bdp(_) | Limit::Time(_), Some(channel), _) => Problem::BdpOnChannel { channel: channel.clone() },
            (Limit::Bdp(_) | Limit::Time(_), None, None) => Problem::BdpWithoutRate { link: link.to_owned() },
            _ => return,
        };
        misfits.push(place.iter().chain(&["queue", "limit"]).map(|key| (*key).to_owned()).collect(), problem);
    };
    if let Some(access) = &network.access {
        check(&["topology", "access"], "access", &access.queue, access.rate, None);
    }
    for (name, link) in &document.links {
        let channel = link.channel.as_ref();
        check(&["links", name], name, &link.queue, link.rate, channel);
        let rate = link.reverse.rate.or(link.rate);
        check(&["links", name, "reverse"], &format!("{name}.reverse"), &link.reverse.queue, rate, channel);
    }
}

/// A jitter in packets needs the rate of the bottleneck, and a link has one jitter.
fn jitters(document: &Document, network: &Network, misfits: &mut Misfits) {
    let bottleneck = network.link(network.bottleneck);
    let is_jittered = network.access.as_ref().is_some_and(|access| !access.impairments.jitter.is_zero());
    for (index, flow) in document.flows.iter().enumerate() {
        let problem = match flow.transport.send_jitter {
            SendJitter::Packets(_) if bottleneck.rate.is_none() => {
                Problem::PacketsWithoutRate { link: bottleneck.name.clone() }
            }
            jitter if is_jittered && !jitter.is_zero() => Problem::TwoJitters,
            _ => continue,
        };
        misfits.check(&format!("flows.{index}.send_jitter"), Err::<(), _>(problem));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_columns_and_files() {
        for name in ["test", "aimd-fc+", "a_1", "1a", &"x".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "7", "a.b", "a b", "../x", "ä", &"x".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
