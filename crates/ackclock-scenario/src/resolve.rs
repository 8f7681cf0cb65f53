//! Turns a checked tree into the typed document, and fills in the keys that follow from others.

use serde_json::Value as Json;

use super::schema::{Document, Flow};
use super::traffic::{is_datagrams, keys_of_tcp};
use super::tree::{Node, Origin, Value};
use ackclock::transport::{Profile, TransportKeys};

/// The document of a tree that conforms to the schema.
///
/// # Errors
/// Fails in words where the types reject a value that the schema permits.
pub fn resolve(root: &Node) -> Result<Document, String> {
    let mut root = root.clone();
    spread_transport(&mut root);
    let default = default_profile(&mut root);
    fill_profiles(&mut root, default);
    plain_delays_have_no_bdp(&mut root);
    let json: Json = root.to_json();
    let document: Document = serde_json::from_value(json).map_err(|error| error.to_string())?;
    // Said once, by the flows.
    Ok(Document { transport: TransportKeys::default(), ..document })
}

/// Copies the keys of `[transport]` to flows that do not set them.
fn spread_transport(root: &mut Node) {
    let Some(Node { value: Value::Table(shared), .. }) = root.get("transport").cloned() else { return };
    let Some(Node { value: Value::Array(flows), .. }) = root.get_mut("flows") else { return };
    for flow in flows.iter_mut().filter(|flow| !is_datagrams(flow)) {
        if let Value::Table(own) = &mut flow.value {
            for (key, value) in &shared {
                if !own.iter().any(|(name, _)| name == key) {
                    own.push((key.clone(), value.clone()));
                }
            }
        }
    }
}

/// The profile of flows that name none. A file of version 2 becomes one of version 1, with the profile written out.
fn default_profile(root: &mut Node) -> Profile {
    match root.get_mut("schema") {
        Some(Node { value: Value::Integer(version), .. }) if *version == 2 => {
            *version = 1;
            Profile::Linux
        }
        _ => Profile::default(),
    }
}

/// Fills in the unset keys of flows from their profiles.
fn fill_profiles(root: &mut Node, default: Profile) {
    let Some(Node { value: Value::Array(flows), .. }) = root.get_mut("flows") else { return };
    for flow in flows.iter_mut().filter(|flow| !is_datagrams(flow)) {
        let named = flow.get("profile").map(Node::to_json);
        let profile: Profile = named.and_then(|name| serde_json::from_value(name).ok()).unwrap_or(default);
        if let Value::Table(own) = &mut flow.value {
            if !own.iter().any(|(name, _)| name == "profile") {
                own.push(("profile".to_owned(), Node::from_default(&serde_json::json!(profile))));
            }
            for (key, value) in profile.settings() {
                if !own.iter().any(|(name, _)| name == key) {
                    own.push((key.to_owned(), Node::from_default(&value)));
                }
            }
        }
    }
}

/// The default limit of a queue is a multiple of a rate. A link without a rate uses the default limit that needs
/// none. So does a station, whose share of its channel is unknown.
fn plain_delays_have_no_bdp(root: &mut Node) {
    let Some(Node { value: Value::Table(links), .. }) = root.get_mut("links") else { return };
    for (_, link) in links.iter_mut().filter(|(_, link)| link.get("channel").is_some()) {
        set_default_limit(link);
        link.get_mut("reverse").into_iter().for_each(set_default_limit);
    }
    for (_, link) in links.iter_mut().filter(|(_, link)| link.get("rate").is_none() && link.get("channel").is_none()) {
        let Some(Node { value: Value::Table(queue), .. }) = link.get_mut("queue") else { continue };
        queue.retain(|(key, node)| key != "limit" || node.origin != Origin::Default);
    }
}

fn set_default_limit(station: &mut Node) {
    let Some(Node { value: Value::Table(queue), .. }) = station.get_mut("queue") else { return };
    if !queue.iter().any(|(key, node)| key == "limit" && node.origin != Origin::Default) {
        queue.retain(|(key, _)| key != "limit");
        queue.push(("limit".to_owned(), Node::from_default(&Json::from("100 packets"))));
    }
}

impl Document {
    /// As JSON that reads back as the same document.
    pub fn to_json(&self) -> String {
        const STRINGS: &str = "invariant: a document has only strings as keys";
        if self.flows.iter().all(Flow::is_tcp) {
            return serde_json::to_string(self).expect(STRINGS);
        }
        let mut document = serde_json::to_value(self).expect(STRINGS);
        let flows = document.get_mut("flows").and_then(Json::as_array_mut).into_iter().flatten();
        for (flow, keys) in self.flows.iter().zip(flows).filter(|(flow, _)| !flow.is_tcp()) {
            debug_assert_eq!(flow.transport, TransportKeys::default(), "invariant: datagrams have no transport");
            if let Some(keys) = keys.as_object_mut() {
                keys_of_tcp().for_each(|key| drop(keys.remove(key)));
            }
        }
        document.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, shorthand};
    use super::*;
    use ackclock::qdisc::QueueSpec;
    use ackclock::quantity::Size;
    use ackclock::transport::{SackSender, WindowGrowth};
    use ackclock::units::Duration;

    fn resolved(text: &str) -> Document {
        let head = "schema = 1\nduration = '1 s'\n";
        let mut root = parse::toml(&format!("{head}{text}"), "x").unwrap();
        shorthand::expand(&mut root);
        resolve(&root).unwrap()
    }

    #[test]
    fn a_flow_says_more_than_the_transport_of_all() {
        let document =
            resolved("transport.mss = '1000 B'\n[[flows]]\ncc = 'aimd'\n[[flows]]\ncc = 'aimd'\nmss = '500 B'\n");
        let mss: Vec<Size> = document.flows.iter().map(|flow| flow.transport.mss).collect();
        assert_eq!(mss, [Size(1000), Size(500)]);
        assert_eq!(document.transport, TransportKeys::default());
    }

    #[test]
    fn files_of_version_2_have_the_profile_of_linux() {
        let flows = "[topology]\nkind = 'dumbbell'\nrate = '1 Mbit/s'\ndelay = '1 ms'\n[[flows]]\ncc = 'aimd'\n";
        let read = |head: &str| {
            let text = format!("{head}\nduration = '1 s'\n{flows}");
            super::super::Scenario::from_toml::<&str>(&text, "x", &[]).unwrap()
        };
        let linux = read("transport = { profile = 'linux' }\nschema = 1");
        assert_eq!(read("schema = 2").resolved_json(), linux.resolved_json());
        assert_eq!(read("schema = 2").hash(), linux.hash());
        let rfc = read("transport = { profile = 'rfc' }\nschema = 2");
        assert_eq!(rfc.hash(), read("schema = 1").hash());
        assert!(rfc.hash() != linux.hash());
    }

    #[test]
    fn a_profile_says_what_nobody_else_does() {
        let document = resolved(
            "[transport]\nprofile = 'ns-2'\ninitial_rto = '2 s'\n[[flows]]\ncc = 'aimd'\nsack_sender = 'scoreboard'\n",
        );
        let transport = &document.flows[0].transport;
        assert_eq!(transport.initial_rto, Duration::from_secs(2));
        assert_eq!(transport.sack_sender, SackSender::Scoreboard);
        assert_eq!(transport.window_growth, WindowGrowth::Always);
        assert_eq!(resolved("[[flows]]\ncc = 'aimd'\n").flows[0].transport, TransportKeys::default());
    }

    #[test]
    fn a_link_without_a_rate_has_no_limit_that_needs_one() {
        let document = resolved("[links]\na.rate = '1 Mbit/s'\nb.delay = '1 ms'\n[[flows]]\ncc = 'aimd'\n");
        assert_eq!(document.links["a"].queue, QueueSpec::one_bdp());
        assert_eq!(document.links["b"].queue, QueueSpec::default());
    }
}
