//! The network: directed links, and the path of each group of flows.
//!
//! A dumbbell is the link `bottleneck` with access links, a parking lot the links `hop1`, `hop2` and so on. A link `x` of the document is two directed ones,
//! `x` and `x.reverse`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::impairments::Impairments;
use super::mistakes::Misfits;
use super::network::{Access, Dumbbell, Link, ParkingLot, Topology};
use super::schema::{Document, Flow};
use super::variation::Varies;
use ackclock::qdisc::{Misfit, QueueSpec};
use ackclock::quantity::{Hint, Problem};
use ackclock::sim::LinkId;
use ackclock::units::{Duration, Rate};
use ackclock::variation::VariationPlan;

/// Name of the link of a dumbbell that all flows share, and of the link that summaries are about.
pub const BOTTLENECK: &str = "bottleneck";

const REVERSE: &str = ".reverse";

/// The links that flows share, and the paths across them.
#[derive(Clone, Debug)]
pub struct Network {
    /// Directed links. The reverse of a link follows it.
    pub links: Vec<DirectedLink>,
    /// The private links of each flow.
    pub access: Option<Access>,
    /// Whether a flow without a path crosses all links.
    is_chain: bool,
    /// The path of each group of flows, in the order of declaration.
    pub routes: Vec<Route>,
    /// The link that summaries are about.
    pub bottleneck: LinkId,
}

/// One direction of a shared link.
#[derive(Clone, Debug)]
pub struct DirectedLink {
    /// `x` or `x.reverse`.
    pub name: String,
    /// The channel of a station, in the order of names.
    pub channel: Option<usize>,
    /// None for a pure delay.
    pub rate: Option<Rate>,
    /// Capacity over time, or none if constant.
    pub varies: Option<Varies>,
    /// Propagation.
    pub delay: Duration,
    /// The queue.
    pub queue: QueueSpec,
    /// Its impairments.
    pub impairments: Impairments,
}

/// The path of a group of flows.
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// Shared links that data crosses.
    pub forward: Arc<[LinkId]>,
    /// Shared links that ACKs cross.
    pub reverse: Arc<[LinkId]>,
    /// Propagation there and back, access links included.
    pub path_rtt: Duration,
    /// The expected base RTT of a flow of the group: the requested RTT, or the RTT of the path.
    pub mean_rtt: Duration,
}

impl DirectedLink {
    /// How its rate varies, if it does.
    pub fn variation(&self) -> Option<Result<VariationPlan, Misfit>> {
        let varies = self.varies.as_ref()?;
        Some(match self.rate {
            Some(rate) => varies.plan(rate),
            None => Err(("kind", Problem::VariesWithoutRate { link: self.name.clone() })),
        })
    }
}

impl Network {
    /// The network of a document, or none if the document describes none or two. Adds mistakes to `misfits`, such as
    /// paths that lead nowhere and impossible RTTs. A flow with such a path has an empty path.
    pub fn build(document: &Document, misfits: &mut Misfits) -> Option<Self> {
        let (links, access) = match (&document.topology, document.links.is_empty()) {
            (None, true) => {
                misfits.push(Vec::new(), Problem::NoNetwork);
                return None;
            }
            (Some(_), false) => {
                return misfits.check("links", Err(Problem::TwoNetworks));
            }
            (Some(Topology::Dumbbell(dumbbell)), true) => {
                (shared_link(BOTTLENECK, dumbbell).into(), dumbbell.access.clone())
            }
            (Some(Topology::ParkingLot(lot)), true) => {
                let links = hop_names(lot).flat_map(|name| shared_link(&name, &lot.hop)).collect();
                (links, lot.hop.access.clone())
            }
            (None, false) => (links_by_name(document, misfits)?, None),
        };
        let is_chain = matches!(document.topology, Some(Topology::ParkingLot(_)));
        let mut network = Network { links, access, is_chain, routes: Vec::new(), bottleneck: LinkId::default() };
        let by_name = network.numbered_links().map(|(id, link)| (link.name.as_str(), id)).collect();
        let route = |(index, flow): (usize, &Flow)| match network.route(flow, &by_name) {
            Ok(route) => route,
            Err((key, problem)) => {
                misfits.check(&format!("flows.{index}.{key}"), Err::<(), _>(problem));
                Route::default()
            }
        };
        network.routes = document.flows.iter().enumerate().map(route).collect();
        network.bottleneck = network.find_bottleneck(&document.flows);
        Some(network)
    }

    /// A link.
    pub fn link(&self, id: LinkId) -> &DirectedLink {
        &self.links[id.number()]
    }

    /// Shared links by name, and the access links as one, with their queues and impairments.
    pub fn parts(&self) -> impl Iterator<Item = (&str, &QueueSpec, &Impairments)> {
        let shared = self.links.iter().map(|link| (link.name.as_str(), &link.queue, &link.impairments));
        let access = self.access.iter().map(|access| ("every access link", &access.queue, &access.impairments));
        shared.chain(access)
    }

    /// The links with their places.
    pub fn numbered_links(&self) -> impl Iterator<Item = (LinkId, &DirectedLink)> {
        self.links.iter().enumerate().map(|(number, link)| (LinkId::new(number), link))
    }

    /// Where the document has the keys of a link.
    pub fn place(&self, document: &Document, link: LinkId) -> String {
        match document.topology {
            // A link and its reverse are adjacent.
            Some(_) if link.number().is_multiple_of(2) => "topology".to_owned(),
            Some(_) => "topology.reverse".to_owned(),
            None => format!("links.{}", self.link(link).name),
        }
    }

    fn route(&self, flow: &Flow, by_name: &BTreeMap<&str, LinkId>) -> Result<Route, (&'static str, Problem)> {
        let forward: Vec<_> = match &flow.path {
            Some(names) => self.walk(names, by_name).map_err(|problem| ("path", problem))?,
            None if self.is_chain || self.links.len() == 2 => {
                (0..self.links.len()).step_by(2).map(LinkId::new).collect()
            }
            None => return Err(("path", Problem::NoPath { example: self.links[0].name.clone() })),
        };
        if self.access.as_ref().is_none_or(|access| access.rate.is_none())
            && forward.iter().all(|link| self.link(*link).rate.is_none())
        {
            return Err(("path", Problem::NoRateOnPath));
        }
        // A link and its reverse are adjacent.
        let reverse: Vec<_> = match &flow.reverse_path {
            Some(names) => self.walk(names, by_name).map_err(|problem| ("reverse_path", problem))?,
            None => forward.iter().rev().map(|link| LinkId::new(link.number() ^ 1)).collect(),
        };
        let shared = forward.iter().chain(&reverse).map(|link| self.link(*link).delay);
        let private = self.access.iter().flat_map(|access| [access.delay; 4]);
        let path_rtt = checked_sum(shared.chain(private)).map_err(|problem| ("path", problem))?;
        let mean_rtt = match &flow.rtt {
            None => path_rtt,
            Some(rtt) if rtt.min() < path_rtt => {
                return Err(("rtt", Problem::RttTooShort { rtt: rtt.min(), path: path_rtt }));
            }
            Some(rtt) => checked_sum([rtt.max()]).map(|_| rtt.mean()).map_err(|problem| ("rtt", problem))?,
        };
        Ok(Route { forward: forward.into(), reverse: reverse.into(), path_rtt, mean_rtt })
    }

    fn walk(&self, names: &[String], by_name: &BTreeMap<&str, LinkId>) -> Result<Vec<LinkId>, Problem> {
        let mut path = Vec::with_capacity(names.len());
        let mut crossed = BTreeMap::new();
        for name in names {
            let Some(index) = by_name.get(name.as_str()).copied() else {
                let known = self.links.iter().map(|link| link.name.as_str());
                let known: Vec<&str> = known.filter(|name| !name.ends_with(REVERSE)).collect();
                let hint = Hint::for_name(name, known);
                return Err(Problem::UnknownName { what: "link", name: name.clone(), hint });
            };
            // A link and its reverse are adjacent.
            match crossed.insert(index.number() / 2, index) {
                None => path.push(index),
                Some(before) if before == index => return Err(Problem::PathLoop { link: name.clone() }),
                Some(before) => {
                    let first = self.link(before).name.clone();
                    return Err(Problem::PathBothWays { first, second: name.clone() });
                }
            }
        }
        if path.is_empty() {
            return Err(Problem::WrongLength { expected: "at least 1".to_owned(), found: 0 });
        }
        Ok(path)
    }

    /// The link called `bottleneck`, else the slowest among those that most flows cross with data.
    fn find_bottleneck(&self, flows: &[Flow]) -> LinkId {
        if let Some(named) = self.links.iter().position(|link| link.name == BOTTLENECK) {
            return LinkId::new(named);
        }
        let mut crossing = vec![0u64; self.links.len()];
        let persistent = flows.iter().any(Flow::is_persistent);
        for (flow, route) in flows.iter().zip(&self.routes) {
            for link in &*route.forward {
                crossing[link.number()] += if flow.is_persistent() || !persistent { u64::from(flow.count) } else { 0 };
            }
        }
        let slowness = |link: usize| std::cmp::Reverse(self.links[link].rate.map_or(u64::MAX, Rate::as_bps));
        let most_used = |link: &usize| (crossing[*link], slowness(*link), std::cmp::Reverse(*link));
        LinkId::new((0..self.links.len()).max_by_key(most_used).unwrap_or(0))
    }
}

/// The names of the links of a topology, one direction of each.
pub fn link_names(topology: &Topology) -> Vec<String> {
    match topology {
        Topology::Dumbbell(_) => vec![BOTTLENECK.to_owned()],
        Topology::ParkingLot(lot) => hop_names(lot).collect(),
    }
}

fn hop_names(lot: &ParkingLot) -> impl Iterator<Item = String> {
    (1..=lot.hops).map(|number| format!("hop{number}"))
}

fn shared_link(name: &str, dumbbell: &Dumbbell) -> [DirectedLink; 2] {
    let Dumbbell { rate, varies, delay, queue, impairments, reverse, access: _ } = dumbbell.clone();
    both_ways(name, &Link { channel: None, rate: Some(rate), varies, delay, queue, impairments, reverse })
}

fn both_ways(name: &str, link: &Link) -> [DirectedLink; 2] {
    let Link { channel: _, rate, varies, delay, queue, impairments, reverse } = link.clone();
    let back = DirectedLink {
        name: format!("{name}{REVERSE}"),
        channel: None,
        rate: reverse.rate.or(rate),
        varies: reverse.varies,
        delay: reverse.delay.unwrap_or(delay),
        queue: reverse.queue,
        impairments: reverse.impairments,
    };
    [DirectedLink { name: name.to_owned(), channel: None, rate, varies, delay, queue, impairments }, back]
}

/// The links of a document that names them, or none if a link cannot be a station of its channel.
fn links_by_name(document: &Document, misfits: &mut Misfits) -> Option<Vec<DirectedLink>> {
    let mut links = Vec::with_capacity(2 * document.links.len());
    let mut are_sound = true;
    for (name, link) in &document.links {
        let mut both = both_ways(name, link);
        if let Some(channel) = &link.channel {
            for (key, problem) in join(&mut both, link, channel, document).err().into_iter().flatten() {
                let path = ["links", name].into_iter().chain(key.split('.')).map(str::to_owned).collect();
                misfits.push(path, problem);
                are_sound = false;
            }
        }
        links.extend(both);
    }
    are_sound.then_some(links)
}

/// Makes both directions of a link stations of a channel, or returns the misfitting keys with reasons.
fn join(
    both: &mut [DirectedLink; 2],
    link: &Link,
    name: &str,
    document: &Document,
) -> Result<(), Vec<(&'static str, Problem)>> {
    let Some((index, (_, channel))) = document.channels.iter().enumerate().find(|(_, (known, _))| *known == name)
    else {
        let hint = Hint::for_name(name, document.channels.keys().map(String::as_str));
        return Err(vec![("channel", Problem::UnknownName { what: "channel", name: name.to_owned(), hint })]);
    };
    let of_channel = |what| Problem::OfChannel { what, channel: name.to_owned() };
    let mut misfits = Vec::new();
    for (key, is_written, what) in [
        ("delay", !link.delay.is_zero(), "propagation"),
        ("reverse.delay", link.reverse.delay.is_some(), "propagation"),
        ("varies", link.varies.is_some(), "rates"),
        ("reverse.varies", link.reverse.varies.is_some(), "rates"),
    ] {
        if is_written {
            misfits.push((key, of_channel(what)));
        }
    }
    for (key, rate) in [("rate", link.rate), ("reverse.rate", link.reverse.rate)] {
        let problem = rate.and_then(|rate| channel.check_rate(rate).err());
        misfits.extend(problem.map(|problem| (key, problem)));
    }
    for station in both {
        station.channel = Some(index);
        station.rate = station.rate.or(Some(channel.rate()));
        station.delay = channel.propagation();
    }
    if misfits.is_empty() { Ok(()) } else { Err(misfits) }
}

/// A sum of delays, refused where it is longer than anything that makes sense.
fn checked_sum(delays: impl IntoIterator<Item = Duration>) -> Result<Duration, Problem> {
    const LONGEST: Duration = Duration::from_secs(86_400);
    let nanos: u128 = delays.into_iter().map(|delay| u128::from(delay.as_nanos())).sum();
    if nanos > u128::from(LONGEST.as_nanos()) {
        return Err(Problem::RttTooLong { seconds: nanos as f64 / 1e9, limit: LONGEST });
    }
    Ok(Duration::from_nanos(nanos as u64))
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;

    fn bottleneck(links: &str, paths: &[&str]) -> String {
        let flows: String = paths.iter().map(|path| format!("[[flows]]\ncc = 'aimd'\npath = {path}\n")).collect();
        let text = format!("schema = 1\nduration = '1 s'\n[links]\n{links}\n{flows}");
        let scenario = Scenario::from_toml::<&str>(&text, "x", &[]).unwrap();
        scenario.describe().bottleneck
    }

    #[test]
    fn the_bottleneck_is_the_slowest_link_that_most_flows_cross() {
        let links = "a.rate = '3 Mbit/s'\nb.rate = '2 Mbit/s'\nc.rate = '1 Mbit/s'\nd.delay = '1 ms'";
        assert_eq!(bottleneck(links, &["['a', 'b', 'd']", "['a', 'b', 'c', 'd']"]), "b");
        assert_eq!(bottleneck(links, &["['a', 'd']", "['c']"]), "c");
        assert_eq!(bottleneck(links, &["['a.reverse']"]), "a.reverse");
    }

    #[test]
    fn a_link_called_bottleneck_is_it() {
        let links = "a.rate = '1 Mbit/s'\nbottleneck.rate = '2 Mbit/s'";
        assert_eq!(bottleneck(links, &["['a', 'bottleneck']", "['a']"]), "bottleneck");
    }
}
