//! A queue that is written without a scenario around it, for a link of a run in progress.

use super::checked::Scenario;
use super::conform::conform_at;
use super::json_schema::schema_of;
use super::mistakes::{Misfits, Mistake, ScenarioError};
use super::parse;
use super::shorthand::{expand_node, fill, name_to_table};
use super::tree::Origin;
use ackclock::qdisc::{Place, QueuePlan, QueueSpec};
use ackclock::quantity::Problem;
use ackclock::sim::LinkId;

/// The key at which a link has its queue.
const KEY: &str = "queue";

impl Scenario {
    /// The queue of a link of the plan, from `queue` as JSON: a name, or a table with `kind`. `place` describes the
    /// link at the present time.
    ///
    /// # Errors
    /// Every mistake.
    pub fn queue_at(&self, link: LinkId, place: &Place, json: &str) -> Result<QueuePlan, ScenarioError> {
        let mut node = parse::json(json, KEY)?;
        name_to_table(&mut node);
        // A link and its reverse are adjacent, and links of one flow come after them.
        if link.number() < self.network.links.len() && link.number().is_multiple_of(2) {
            fill(&mut node, &serde_json::json!(QueueSpec::one_bdp()));
        }
        expand_node(&mut node, schema_of::<QueueSpec>());
        let mut misfits = conform_at(KEY, &node, schema_of::<QueueSpec>());
        if misfits.is_empty() {
            let spec = serde_json::from_value(node.to_json());
            let plan = spec
                .map_err(|error: serde_json::Error| ("kind", Problem::Internal { message: error.to_string() }))
                .and_then(|spec: QueueSpec| spec.plan(place));
            match plan {
                Ok(plan) => return Ok(plan),
                Err((key, problem)) => misfits.push(vec![KEY.to_owned(), key.to_owned()], problem),
            }
        }
        Err(error_of(misfits))
    }
}

/// The error of the keys of a queue.
fn error_of(misfits: Misfits) -> ScenarioError {
    let place = |(path, problem): (Vec<String>, Problem)| Mistake::new(KEY, Origin::File, path[1..].join("."), problem);
    misfits.into_error(Vec::new(), place).expect("invariant: there is a mistake")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock::qdisc::{AMPLE, Limit};

    /// Two flows at 12 Mbit/s and 40 ms, there and back.
    fn scenario() -> Scenario {
        let text = "schema = 2\nduration = '1 s'\ntopology = { kind = 'dumbbell', rate = '12 Mbit/s', delay = '20 ms', \
                    access = { rate = '100 Mbit/s' } }\nflows = [{ name = 'test', cc = 'reno', count = 2 }]";
        Scenario::from_toml::<&str>(text, "x.toml", &[]).unwrap()
    }

    #[test]
    fn a_queue_is_a_name_or_a_table_with_the_defaults_of_its_link() {
        let scenario = scenario();
        let plan = scenario.plan(None, 0);
        let read = |link: LinkId, json: &str| scenario.queue_at(link, &plan.links[link].place, json).unwrap();
        let first = LinkId::new(0);
        assert_eq!(
            read(first, r#"{"kind": "drop-tail", "limit": "20 packets"}"#),
            QueuePlan::drop_tail(Limit::Packets(20))
        );
        assert_eq!(read(first, "\"codel\"").in_words(), "codel, 1000 packets, target 5 ms, interval 100 ms");
        let nested = r#"{"kind": "tbf", "rate": "1 Mbit/s", "queue": "codel"}"#;
        let expected =
            "tbf, 1000 packets, 1 Mbit/s with bursts of 14880 B of codel, 1000 packets, target 5 ms, interval 100 ms";
        assert_eq!(read(first, nested).in_words(), expected);
        // What the plan has, which is drop-tail everywhere: a product at the bottleneck, many packets on the way back.
        for (link, planned) in plan.link_ids().zip(&plan.links) {
            assert_eq!(read(link, "\"drop-tail\""), planned.queue, "{}", planned.name);
        }
        assert_ne!(plan.links[0].queue.limit(), plan.links[1].place.limit(AMPLE));
    }

    #[test]
    fn what_is_wrong_with_it_is_said_of_its_keys() {
        let scenario = scenario();
        let place = scenario.plan(None, 0).links[0].place.clone();
        let wrong = |json: &str| scenario.queue_at(LinkId::new(0), &place, json).unwrap_err();
        for (json, message) in [
            ("\"codell\"", "queue: kind: unknown queue discipline \"codell\"; did you mean \"codel\"?"),
            ("7", "queue: expected a table with a kind, found the number 7"),
            ("{", "queue:1: "),
            (r#"{"kind": "codel", "targt": "5 ms"}"#, "queue: targt: unknown key; did you mean \"target\"?"),
            (r#"{"kind": "fq-codel", "flows": 0}"#, "queue: flows: "),
            (
                r#"{"kind": "red", "min": "9 packets", "max": "5 packets"}"#,
                "queue: max: the lower threshold, 9 packets",
            ),
            (r#"{"kind": "drop-tail", "limit": "9 B"}"#, "queue: limit: "),
            ("\"tbf\"", "queue: "),
        ] {
            let error = wrong(json).to_string();
            assert!(error.starts_with(message), "{json}: {error}");
        }
        assert_eq!(wrong(r#"{"kind": "codel", "ecn": 3, "limit": "many"}"#).mistakes().len(), 2);
    }
}
