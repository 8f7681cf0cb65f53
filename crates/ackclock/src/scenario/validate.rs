//! What no schema can say: how the keys of a document have to fit together.

use std::collections::BTreeMap;

use super::compile::check_links;
use super::error::Problem;
use super::impairments::Loss;
use super::network::Queue;
use super::quantity::{Interval, Limit, SendJitter, Size};
use super::schema::{Document, Draw, Flow};
use super::topology::{Network, link_names};
use crate::units::{Duration, Rate};

/// More flows than a run can hold in memory.
const MOST_FLOWS: u64 = 1_000_000;
/// More (flow, link) pairs than a plan can hold in memory.
const MOST_HOPS: u64 = 20_000_000;
/// More rows than a store should hold.
const MOST_ROWS: u64 = 10_000_000;

/// A problem and the path of the key that has it.
type Misfit = (Vec<String>, Problem);

/// Checks the keys against each other.
///
/// # Errors
/// The first thing that does not fit.
pub fn validate(document: &Document) -> Result<Network, Misfit> {
    at("duration", positive(document.duration))?;
    if document.warmup >= document.duration {
        let (warmup, duration) = (document.warmup, document.duration);
        return fail(&["warmup"], Problem::WarmupTooLong { warmup, duration });
    }
    names(document)?;
    let count: u64 = document.flows.iter().map(|flow| u64::from(flow.count)).sum();
    if count > MOST_FLOWS {
        return fail(&["flows"], Problem::TooManyFlows { count, limit: MOST_FLOWS });
    }
    for (index, flow) in document.flows.iter().enumerate() {
        flow_alone(flow, document.duration).map_err(|(key, problem)| flow_misfit(index, &key, problem))?;
    }
    let network = Network::build(document)?;
    losses(document, &network)?;
    hops(document, &network)?;
    limits(document, &network)?;
    check_links(document, &network)?;
    jitters(document, &network)?;
    samples(document, &network)?;
    Ok(network)
}

fn fail<T>(path: &[&str], problem: Problem) -> Result<T, Misfit> {
    Err((path.iter().map(|segment| (*segment).to_owned()).collect(), problem))
}

fn at<T>(path: &str, result: Result<T, Problem>) -> Result<T, Misfit> {
    result.map_err(|problem| (path.split('.').map(str::to_owned).collect(), problem))
}

fn flow_misfit(index: usize, key: &str, problem: Problem) -> Misfit {
    let start = ["flows".to_owned(), index.to_string()];
    (start.into_iter().chain(key.split('.').map(str::to_owned)).collect(), problem)
}

fn positive(length: Duration) -> Result<(), Problem> {
    if length.is_zero() { out_of_range(length, "above zero") } else { Ok(()) }
}

fn out_of_range(value: impl ToString, expected: &str) -> Result<(), Problem> {
    Err(Problem::OutOfRange { value: value.to_string(), expected: expected.to_owned() })
}

/// Names of links and flows make names of streams, columns and files.
fn names(document: &Document) -> Result<(), Misfit> {
    let mut taken: BTreeMap<&str, String> = BTreeMap::new();
    let of_topology = document.topology.as_ref().map(link_names).unwrap_or_default();
    taken.extend(of_topology.iter().map(|name| (name.as_str(), "a link of the topology".to_owned())));
    for name in document.links.keys() {
        if !is_name(name) {
            return fail(&["links", name], Problem::BadName { name: name.clone() });
        }
        taken.insert(name, format!("the link \"{name}\""));
    }
    for (index, flow) in document.flows.iter().enumerate() {
        let name = flow.name.as_str();
        let problem = match taken.insert(name, "another flow".to_owned()) {
            _ if !is_name(name) => Problem::BadName { name: name.to_owned() },
            Some(other) => Problem::DuplicateName { name: name.to_owned(), other },
            None => continue,
        };
        return Err(flow_misfit(index, "name", problem));
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+');
    (1..=64).contains(&name.len()) && name.bytes().all(allowed) && !name.bytes().all(|byte| byte.is_ascii_digit())
}

/// What can be said of a flow without knowing the network.
fn flow_alone(flow: &Flow, duration: Duration) -> Result<(), (String, Problem)> {
    let at = |key: &str, result: Result<(), Problem>| result.map_err(|problem| (key.to_owned(), problem));
    match &flow.cc {
        Some(cc) => cc.check().map_err(|error| (format!("cc.{}", error.key), Problem::Parameter(error)))?,
        None if flow.is_tcp() => {
            let example = "write for example cc = \"aimd\"".to_owned();
            return at("cc", Err(Problem::MissingKey { example }));
        }
        None => {}
    }
    at("start", in_order(&flow.start))?;
    let start = flow.start.max();
    if start >= duration {
        return at("start", Err(Problem::StartAfterEnd { start, duration }));
    }
    if let Some(stop) = flow.stop.filter(|stop| *stop <= start) {
        return at("stop", Err(Problem::StopBeforeStart { stop, start }));
    }
    if let Some(rtt) = &flow.rtt {
        at("rtt", in_order(rtt).and_then(|()| positive(rtt.min())))?;
    }
    flow.traffic.check().map_err(|(key, problem)| (format!("traffic.{key}"), problem))?;
    let transport = &flow.transport;
    at("mss", at_least(transport.mss, 1).and_then(|()| at_most(transport.mss)))?;
    at("header", at_least(transport.header, 1).and_then(|()| at_most(transport.header)))?;
    at("framing", at_most(transport.framing))?;
    at("min_rto", positive(transport.min_rto))?;
    at("initial_rto", positive(transport.initial_rto))?;
    at("delayed_ack", transport.delayed_ack.longest().map_or(Ok(()), positive))
}

fn in_order(draw: &Draw) -> Result<(), Problem> {
    let (min, max) = (draw.min(), draw.max());
    if min > max { Err(Problem::EmptyRange { min, max }) } else { Ok(()) }
}

fn at_least(size: Size, bytes: u64) -> Result<(), Problem> {
    if size.0 < bytes { out_of_range(size, &format!("at least {bytes} B")) } else { Ok(()) }
}

/// The largest packet of IP.
fn at_most(size: Size) -> Result<(), Problem> {
    const LARGEST: u64 = 65_535;
    if size.0 > LARGEST { out_of_range(size, &format!("at most {LARGEST} B")) } else { Ok(()) }
}

/// What no range says of losses.
fn losses(document: &Document, network: &Network) -> Result<(), Misfit> {
    for (index, link) in network.links.iter().enumerate() {
        at(&format!("{}.loss", network.place(document, index)), link.impairments.loss.check())?;
    }
    at("topology.access.loss", network.access.as_ref().map_or(Ok(()), |access| access.impairments.loss.check()))
}

fn hops(document: &Document, network: &Network) -> Result<(), Misfit> {
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
    if count > MOST_HOPS {
        return fail(&["flows"], Problem::TooManyHops { count, limit: MOST_HOPS });
    }
    Ok(())
}

/// Queue limits that are relative to a rate need one.
fn limits(document: &Document, network: &Network) -> Result<(), Misfit> {
    let check = |place: &str, link: &str, queue: &Queue, rate: Option<Rate>| match (queue.limit(), rate) {
        (Limit::Bdp(_), None) => {
            at(&format!("{place}.queue.limit"), Err(Problem::BdpWithoutRate { link: link.to_owned() }))
        }
        _ => Ok(()),
    };
    if let Some(access) = &network.access {
        check("topology.access", "access", &access.queue, access.rate)?;
    }
    for (name, link) in &document.links {
        check(&format!("links.{name}"), name, &link.queue, link.rate)?;
        let rate = link.reverse.rate.or(link.rate);
        check(&format!("links.{name}.reverse"), &format!("{name}.reverse"), &link.reverse.queue, rate)?;
    }
    Ok(())
}

/// A jitter in packets needs the rate of the bottleneck, and a link has one jitter.
fn jitters(document: &Document, network: &Network) -> Result<(), Misfit> {
    let bottleneck = &network.links[network.bottleneck];
    let is_jittered = network.access.as_ref().is_some_and(|access| !access.impairments.jitter.is_zero());
    for (index, flow) in document.flows.iter().enumerate() {
        if matches!(flow.transport.send_jitter, SendJitter::Packets(_)) && bottleneck.rate.is_none() {
            let problem = Problem::PacketsWithoutRate { link: bottleneck.name.clone() };
            return Err(flow_misfit(index, "send_jitter", problem));
        }
        if is_jittered && !flow.transport.send_jitter.is_zero() {
            return Err(flow_misfit(index, "send_jitter", Problem::TwoJitters));
        }
    }
    Ok(())
}

fn samples(document: &Document, network: &Network) -> Result<(), Misfit> {
    let Some(interval) = sampling_interval(document) else { return Ok(()) };
    let sampled = document.flows.iter().filter(|flow| flow.is_persistent());
    let flows: u64 = sampled.map(|flow| u64::from(flow.count)).sum();
    let series = flows.min(u64::from(document.sampling.flows)) + network.links.len() as u64;
    let rows = (document.duration.as_nanos() / interval.as_nanos()).saturating_mul(series);
    if rows > MOST_ROWS {
        return fail(&["sampling", "interval"], Problem::TooManySamples { rows, limit: MOST_ROWS });
    }
    Ok(())
}

/// Time between two samples, if there are any.
pub fn sampling_interval(document: &Document) -> Option<Duration> {
    /// Samples of a run whose interval is "auto".
    const AUTO: u64 = 1_000;
    match document.sampling.interval {
        Interval::Auto => Some((document.duration / AUTO).max(Duration::from_nanos(1))),
        Interval::None => None,
        Interval::Every(interval) => Some(interval),
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
