//! Meters on the network: their links and their plans.

use super::meter::{Edge, Fate, Meter, Per, Sight};
use super::mistakes::Misfits;
use super::schema::{Document, Flow};
use super::topology::{Network, Route};
use ackclock::quantity::{Hint, Problem};
use ackclock::sim::{LinkId, MeterPlan, MeterScope};

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

/// The link whose queue a meter precedes: the named link, or the first link of its first flow.
fn link(document: &Document, network: &Network, name: &str) -> Option<LinkId> {
    match &document.meters[name].edge().link {
        Some(wanted) => network.numbered_links().find(|(_, link)| link.name == *wanted).map(|(id, _)| id),
        None => {
            let first = flows_of(document, network, name).find_map(|(_, _, route)| route.forward.first().copied());
            Some(first.unwrap_or_default())
        }
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

/// Adds the mistakes of meters: unknown names, meters off the path of their flows, and wrong keys.
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
            let problem = Problem::NotAtMeter { meter: name.clone(), link: network.link(link).name.clone() };
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

/// Warnings about probably unintended keys of meters.
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
        let knows = |link: &LinkId| network.link(*link).queue.reads_profiles();
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
