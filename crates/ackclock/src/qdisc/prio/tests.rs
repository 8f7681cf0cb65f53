use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::{Ecn, Group, Groups, Limit, Place, Qdisc, Queue, QueueSpec, Reason};
use crate::rng::RngStreams;
use crate::units::{Duration, Rate};

fn place() -> Place {
    let group = |name: &str, dscp| Group { name: name.into(), dscp, ..Group::default() };
    Place {
        rate: Rate::from_bps(8_000_000),
        delay: Duration::ZERO,
        packet_bytes: 1000,
        mean_rtt_secs: 0.1,
        groups: Groups::new(vec![group("voice", 46), group("bulk", 0), group("scavenger", 1)]),
    }
}

fn queue(json: &str) -> Queue<Item> {
    let spec: QueueSpec = serde_json::from_str(json).unwrap();
    spec.plan(&place()).unwrap().build(&|purpose| RngStreams::new(1, 0).stream("link", purpose))
}

fn item(number: u64, group: &str, ecn: Ecn) -> Item {
    Item { number, bytes: 1000, ecn, tag: place().groups.tag(group), ..Item::default() }
}

/// The numbers of the items that leave. All arrive at once.
fn order(queue: &mut Queue<Item>, items: &[Item]) -> Vec<u64> {
    items.iter().for_each(|item| queue.enqueue(Instant::ZERO, *item, &mut ()));
    std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut ())).map(|(_, item)| item.number).collect()
}

#[test]
fn the_first_class_that_selects_a_packet_has_it() {
    let json = r#"{"kind": "prio", "class": [
        {"flows": ["voice"], "queue": {"kind": "drop-tail"}},
        {"ecn": ["ect1", "ce"], "queue": {"kind": "drop-tail"}},
        {"dscp": [1], "not": true, "queue": {"kind": "drop-tail"}},
        {"queue": {"kind": "drop-tail"}}]}"#;
    let items = [
        item(0, "scavenger", Ecn::NotEct),
        item(1, "bulk", Ecn::Ect0),
        item(2, "unknown", Ecn::NotEct),
        item(3, "scavenger", Ecn::Ect1),
        item(4, "voice", Ecn::Ce),
        item(5, "voice", Ecn::NotEct),
    ];
    assert_eq!(order(&mut queue(json), &items), [4, 5, 3, 1, 2, 0]);
}

#[test]
fn a_packet_that_no_class_selects_joins_the_last_one() {
    let json = r#"{"kind": "prio", "class": [
        {"flows": ["voice"], "queue": {"kind": "drop-tail"}},
        {"flows": ["bulk"], "queue": {"kind": "drop-tail"}}]}"#;
    let items = [item(0, "scavenger", Ecn::NotEct), item(1, "bulk", Ecn::NotEct), item(2, "voice", Ecn::NotEct)];
    assert_eq!(order(&mut queue(json), &items), [2, 0, 1]);
}

#[test]
fn later_classes_send_while_a_shaped_one_keeps_its_packets() {
    let json = r#"{"kind": "prio", "class": [
        {"flows": ["voice"], "queue": {"kind": "tbf", "rate": "8 Mbit/s", "burst": "1000 B"}},
        {"queue": {"kind": "drop-tail"}}]}"#;
    let mut queue = queue(json);
    let items = [0, 1].map(|number| item(number, "voice", Ecn::NotEct));
    assert_eq!(order(&mut queue, &items), [0]);
    assert_eq!((queue.backlog_packets(), queue.next_deadline()), (1, Instant::ZERO + Duration::from_millis(1)));
    assert_eq!(order(&mut queue, &[item(2, "bulk", Ecn::NotEct)]), [2]);
    let sent = queue.dequeue(Instant::ZERO + Duration::from_millis(1), &mut ());
    assert_eq!(sent.map(|(_, item)| item.number), Some(1));
}

#[test]
fn a_full_queue_drops_arrivals_of_any_class() {
    let json = r#"{"kind": "prio", "limit": "2 packets", "class": [
        {"flows": ["voice"], "queue": {"kind": "drop-tail", "limit": "1 packets"}},
        {"queue": {"kind": "drop-tail"}}]}"#;
    let (mut queue, mut told) = (queue(json), Told::default());
    for (number, group) in ["voice", "voice", "bulk", "bulk"].into_iter().enumerate() {
        queue.enqueue(Instant::ZERO, item(number as u64, group, Ecn::NotEct), &mut told);
    }
    let dropped: Vec<_> = told.dropped.iter().map(|(item, reason)| (item.number, *reason)).collect();
    assert_eq!(dropped, [(1, Reason::Full), (3, Reason::Full)]);
    let mut state = Vec::new();
    queue.state(&mut |name, value| state.push((name.to_owned(), value)));
    assert_eq!(state, [("class1_packets".to_owned(), 1.0), ("class2_packets".to_owned(), 1.0)]);
    assert_eq!(queue.limit(), Limit::Packets(2));
}

#[test]
fn classes_that_cannot_be_are_refused() {
    let refusal = |class: &str| {
        let spec: QueueSpec = serde_json::from_str(&format!(r#"{{"kind": "prio", "class": [{class}]}}"#)).unwrap();
        spec.plan(&place()).map_err(|(key, problem)| format!("{key}: {problem}")).unwrap_err()
    };
    let fifo = r#""queue": {"kind": "drop-tail"}"#;
    assert_eq!(refusal(""), "class: missing; write [[topology.queue.class]] with a queue for each class");
    assert_eq!(
        refusal(&format!("{{{fifo}}}, {{{fifo}}}")),
        "class: class 1 takes every packet, so class 2 never gets one; give class 1 a selector"
    );
    assert_eq!(
        refusal(&format!(r#"{{"flows": ["voce"], {fifo}}}"#)),
        "class: 0.flows: unknown group of flows \"voce\"; did you mean \"voice\"?"
    );
    assert_eq!(
        refusal(&format!(r#"{{"dscp": [64], {fifo}}}"#)),
        "class: 0.dscp: 64 is out of range; must be from 0 to 63"
    );
    let nested = r#"{"queue": {"kind": "tbf", "rate": "1 Mbit/s", "queue": {"kind": "codel", "interval": "1 us"}}}"#;
    assert_eq!(refusal(nested), "class: 0.queue.queue.interval: 1 us is out of range; must be at least 2 us");
}
