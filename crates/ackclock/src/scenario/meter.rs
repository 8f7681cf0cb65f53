//! The keys of meters, the links in front of which they stand, and their plans.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mistakes::Misfits;
use super::schema::{Document, Flow};
use super::topology::{Network, Route};
use crate::meter::Profile;
use crate::quantity::Size;
use crate::quantity::{Hint, Problem};
use crate::sim::{MeterPlan, MeterScope};
use crate::units::Rate;

/// Holds flows to a profile where they enter a link: green packets are in profile, yellow ones are not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Meter {
    /// One rate and two bursts (RFC 2697); without an excess burst a token bucket.
    Srtcm(SingleRate),
    /// Two rates, each with its burst (RFC 2698).
    Trtcm(TwoRates),
}

/// One rate and two bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SingleRate {
    /// Bits on the wire per time that are green.
    pub committed_rate: Rate,
    /// Committed burst size: bytes above that rate that are still green.
    pub committed_burst: Size,
    /// Excess burst size: bytes that are yellow; its bucket fills when that of the committed burst is full.
    #[serde(default = "nothing")]
    pub excess_burst: Size,
    /// Where it stands, and what it does.
    #[serde(flatten)]
    pub edge: Edge,
}

/// Two rates, each with its burst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TwoRates {
    /// Bits on the wire per time that are green.
    pub committed_rate: Rate,
    /// Committed burst size: bytes above that rate that are still green.
    pub committed_burst: Size,
    /// Bits on the wire per time that are green or yellow; at least the committed rate.
    pub peak_rate: Rate,
    /// Peak burst size: bytes above that rate that are still green or yellow.
    pub peak_burst: Size,
    /// Where it stands, and what it does.
    #[serde(flatten)]
    pub edge: Edge,
}

/// Where a meter stands, and what it does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Edge {
    /// Name of the link in front of whose queue it stands; by default the first link of the path of its flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Whether one profile is for all its flows together, or for each flow.
    pub per: Per,
    /// Whether the colour that packets have counts (aware): what comes out of profile is yellow then, and not green.
    pub colour: Sight,
    /// Whether red packets are dropped, or forwarded out of profile like yellow ones.
    pub red: Fate,
}

/// Whom a meter holds to its profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// All its flows together.
    #[default]
    Aggregate,
    /// Each flow.
    Flow,
}

/// Whether the colour that packets have counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sight {
    /// It does not.
    #[default]
    Blind,
    /// It does.
    Aware,
}

/// What becomes of red packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// They are dropped.
    #[default]
    Drop,
    /// They go on out of profile.
    Out,
}

fn nothing() -> Size {
    Size(0)
}

impl Meter {
    fn edge(&self) -> &Edge {
        match self {
            Meter::Srtcm(SingleRate { edge, .. }) | Meter::Trtcm(TwoRates { edge, .. }) => edge,
        }
    }

    /// What it holds packets against.
    fn profile(&self) -> Profile {
        match self {
            Meter::Srtcm(SingleRate { committed_rate, committed_burst, excess_burst, .. }) => Profile::SingleRate {
                committed_rate: *committed_rate,
                committed_burst: committed_burst.0,
                excess_burst: excess_burst.0,
            },
            Meter::Trtcm(TwoRates { committed_rate, committed_burst, peak_rate, peak_burst, .. }) => {
                Profile::TwoRates {
                    committed_rate: *committed_rate,
                    committed_burst: committed_burst.0,
                    peak_rate: *peak_rate,
                    peak_burst: peak_burst.0,
                }
            }
        }
    }

    /// What can be said of the keys without knowing the network: the key that is wrong, and how.
    fn check(&self) -> Result<(), (&'static str, Problem)> {
        let below = |key, value: String, expected: String| Err((key, Problem::OutOfRange { value, expected }));
        match self {
            // RFC 2697 §2: "At least one of them must be larger than 0."
            Meter::Srtcm(SingleRate { committed_burst: Size(0), excess_burst: Size(0), .. }) => {
                below("committed_burst", "0 B".to_owned(), "above 0 B, or the excess burst".to_owned())
            }
            Meter::Trtcm(TwoRates { committed_rate, peak_rate, .. }) if peak_rate < committed_rate => {
                below("peak_rate", peak_rate.to_string(), format!("at least the committed rate, {committed_rate}"))
            }
            Meter::Trtcm(TwoRates { committed_burst: Size(0), .. }) => {
                below("committed_burst", "0 B".to_owned(), "above 0 B".to_owned())
            }
            Meter::Trtcm(TwoRates { peak_burst: Size(0), .. }) => {
                below("peak_burst", "0 B".to_owned(), "above 0 B".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Bursts that must hold a whole packet to be of use.
    fn bursts(&self) -> [(&'static str, Size); 2] {
        match self {
            Meter::Srtcm(SingleRate { committed_burst, excess_burst, .. }) => {
                [("committed_burst", *committed_burst), ("excess_burst", *excess_burst)]
            }
            Meter::Trtcm(TwoRates { committed_burst, peak_burst, .. }) => {
                [("committed_burst", *committed_burst), ("peak_burst", *peak_burst)]
            }
        }
    }
}

/// Groups of flows that name a meter, with their index and path.
fn flows_of<'a>(
    document: &'a Document,
    network: &'a Network,
    name: &'a str,
) -> impl Iterator<Item = (usize, &'a Flow, &'a Route)> {
    let flows = document.flows.iter().zip(&network.routes).enumerate();
    flows
        .map(|(index, (flow, route))| (index, flow, route))
        .filter(move |(_, flow, _)| flow.meter.as_deref() == Some(name))
}

/// The link in front of which a meter stands: the one that it names, or the first one of its first flow.
fn link(document: &Document, network: &Network, name: &str) -> Option<usize> {
    match &document.meters[name].edge().link {
        Some(wanted) => network.links.iter().position(|link| link.name == *wanted),
        None => flows_of(document, network, name).find_map(|(_, _, route)| route.forward.first().copied()).or(Some(0)),
    }
}

/// The index of the meter of a group of flows among the plans.
pub fn index(document: &Document, flow: &Flow) -> Option<usize> {
    let name = flow.meter.as_ref()?;
    document.meters.keys().position(|known| known == name)
}

/// The plans of all meters, by name.
pub fn plans(document: &Document, network: &Network) -> Vec<MeterPlan> {
    let plan = |(name, meter): (&String, &Meter)| {
        let Edge { link: _, per, colour, red } = meter.edge();
        MeterPlan {
            name: name.clone(),
            link: link(document, network, name).expect("invariant: links of meters were checked"),
            profile: meter.profile(),
            scope: match per {
                Per::Aggregate => MeterScope::Aggregate,
                Per::Flow => MeterScope::Flow,
            },
            is_aware: *colour == Sight::Aware,
            drops_red: *red == Fate::Drop,
        }
    };
    document.meters.iter().map(plan).collect()
}

/// Adds the mistakes of meters: those that do not exist, those that are not on the path of their flows, and wrong keys.
pub fn check_meters(document: &Document, network: &Network, misfits: &mut Misfits) {
    let unknown = |what, name: &str, known: Vec<&str>| Problem::UnknownName {
        what,
        name: name.to_owned(),
        hint: Hint::for_name(name, known),
    };
    for (name, meter) in &document.meters {
        let key = |key: &str| vec!["meters".to_owned(), name.clone(), key.to_owned()];
        if let Err((wrong, problem)) = meter.check() {
            misfits.push(key(wrong), problem);
        }
        let Some(link) = link(document, network, name) else {
            let wanted = meter.edge().link.as_deref().unwrap_or_default();
            let known = network.links.iter().map(|link| link.name.as_str()).collect();
            misfits.push(key("link"), unknown("link", wanted, known));
            continue;
        };
        for (index, ..) in flows_of(document, network, name).filter(|(_, _, route)| {
            // A path that leads nowhere was reported already.
            !route.forward.is_empty() && !route.forward.contains(&link)
        }) {
            let problem = Problem::NotAtMeter { meter: name.clone(), link: network.links[link].name.clone() };
            misfits.check(&format!("flows.{index}.meter"), Err::<(), _>(problem));
        }
    }
    for (index, flow) in document.flows.iter().enumerate() {
        if let Some(name) = flow.meter.as_ref().filter(|name| !document.meters.contains_key(*name)) {
            let known = document.meters.keys().map(String::as_str).collect();
            misfits.check(&format!("flows.{index}.meter"), Err::<(), _>(unknown("meter", name, known)));
        }
    }
}

/// What one hardly means to do with a meter.
pub fn warnings(document: &Document, network: &Network) -> Vec<String> {
    let mut warnings = Vec::new();
    for (name, meter) in &document.meters {
        let Some(packet) = flows_of(document, network, name).map(|(_, flow, _)| flow.packet_bytes()).max() else {
            warnings.push(format!("no flow names the meter {name}"));
            continue;
        };
        for (key, burst) in meter.bursts().into_iter().filter(|(_, burst)| (1..packet).contains(&burst.0)) {
            warnings.push(format!("the {key} of the meter {name}, {burst}, holds no packet of {packet} B"));
        }
        let from = link(document, network, name);
        let knows = |link: &usize| network.links[*link].queue.reads_profiles();
        let mut paths = flows_of(document, network, name).map(|(_, _, route)| &route.forward);
        let is_seen = paths.any(|path| path.iter().skip_while(|link| Some(**link) != from).any(knows));
        if !is_seen && meter.edge().red == Fate::Out {
            warnings.push(format!("the meter {name} drops nothing, and no queue after it knows profiles"));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;

    /// Two links, a flow over both and one over the second, and a meter with these keys that both name.
    fn scenario(meter: &str) -> Result<Scenario, String> {
        let text = format!(
            "schema = 1\nduration = '1 s'\n[links]\na.rate = '9 Mbit/s'\nb = {{ rate = '8 Mbit/s', queue = 'rio' }}\n\
             [meters]\ngold = {{ {meter} }}\n[[flows]]\nname = 'x'\ncc = 'aimd'\npath = ['a', 'b']\nmeter = 'gold'\n\
             [[flows]]\nname = 'y'\ncc = 'aimd'\npath = ['b']\nmeter = 'gold'\n"
        );
        Scenario::from_toml::<&str>(&text, "x", &[]).map_err(|error| error.to_string())
    }

    const SINGLE: &str = "kind = 'srtcm', committed_rate = '1 Mbit/s', committed_burst = '20 kB'";

    #[test]
    fn a_meter_stands_where_all_its_flows_come() {
        let sound = scenario(&format!("{SINGLE}, link = 'b'")).unwrap();
        let plan = sound.plan(None, 0);
        assert_eq!(plan.links[plan.meters[0].link].name, "b");
        assert_eq!((plan.flows[0].meter, plan.flows[1].meter), (Some(0), Some(0)));
        assert_eq!(sound.warnings(), [""; 0]);
        assert_eq!(
            scenario(SINGLE).unwrap_err(),
            "x:17: flows.y.meter: the flow does not cross \"a\", where the meter \"gold\" stands; write meters.gold.link"
        );
        let unknown = scenario(&format!("{SINGLE}, link = 'c'")).unwrap_err();
        assert!(unknown.starts_with("x:7: meters.gold.link: unknown link \"c\"; use one of a,"), "{unknown}");
    }

    #[test]
    fn bursts_and_rates_are_those_of_the_standards() {
        let problem = |keys: &str| scenario(&format!("{keys}, link = 'b'")).unwrap_err();
        let two = "kind = 'trtcm', committed_rate = '2 Mbit/s', committed_burst = '2 kB', peak_burst = '3 kB'";
        assert_eq!(
            problem(&format!("{two}, peak_rate = '1 Mbit/s'")),
            "x:7: meters.gold.peak_rate: 1 Mbit/s is out of range; must be at least the committed rate, 2 Mbit/s"
        );
        let none = "kind = 'srtcm', committed_rate = '2 Mbit/s', committed_burst = '0 B'";
        assert_eq!(
            problem(none),
            "x:7: meters.gold.committed_burst: 0 B is out of range; must be above 0 B, or the excess burst"
        );
        assert!(problem(&format!("{SINGLE}, peak_rate = '2 Mbit/s'")).contains("unknown key"));
    }

    #[test]
    fn what_a_meter_does_in_vain_is_told() {
        let warnings = |keys: &str| scenario(keys).unwrap().warnings();
        let small = "kind = 'srtcm', committed_rate = '1 Mbit/s', committed_burst = '1 kB', link = 'b'";
        assert_eq!(warnings(small), ["the committed_burst of the meter gold, 1000 B, holds no packet of 1500 B"]);
        let text = "schema = 1\nduration = '1 s'\n[topology]\nkind = 'dumbbell'\nrate = '8 Mbit/s'\ndelay = '1 ms'\n\
                    [meters.gold]\nkind = 'srtcm'\ncommitted_rate = '1 Mbit/s'\ncommitted_burst = '9 kB'\nred = 'out'\n\
                    [meters.idle]\nkind = 'srtcm'\ncommitted_rate = '1 Mbit/s'\ncommitted_burst = '9 kB'\n\
                    [[flows]]\ncc = 'aimd'\nmeter = 'gold'\n";
        assert_eq!(
            Scenario::from_toml::<&str>(text, "x", &[]).unwrap().warnings(),
            ["the meter gold drops nothing, and no queue after it knows profiles", "no flow names the meter idle"]
        );
    }
}
