use super::*;
use crate::contract::Item;
use crate::qdisc::{Group, Groups, Place, Qdisc, Queue, QueueSpec};
use crate::rng::RngStreams;
use crate::units::{Duration, Rate};

fn place() -> Place {
    let group = |name: &str| Group { name: name.into(), ..Group::default() };
    Place {
        rate: Rate::from_bps(8_000_000),
        delay: Duration::ZERO,
        packet_bytes: 1000,
        mean_rtt_secs: 0.1,
        groups: Groups::new(vec![group("a"), group("b")]),
    }
}

fn spec(first: &str, second: &str) -> QueueSpec {
    let json = format!(r#"{{"kind": "wrr", "class": [{{"flows": ["a"], {first}}}, {{{second}}}]}}"#);
    serde_json::from_str(&json).unwrap()
}

fn queue(first: &str, second: &str) -> Queue<Item> {
    spec(first, second).plan(&place()).unwrap().build(&|purpose| RngStreams::new(1, 0).stream("link", purpose))
}

const FIFO: &str = r#""queue": {"kind": "drop-tail"}"#;

fn item(number: u64, group: &str, bytes: u32) -> Item {
    Item { number, bytes, tag: place().groups.tag(group), ..Item::default() }
}

#[test]
fn bytes_are_shared_by_weight() {
    let mut queue = queue(&format!(r#""weight": 3, {FIFO}"#), FIFO);
    for number in 0..2000 {
        queue.enqueue(Instant::ZERO, item(number, "a", 700), &mut ());
        queue.enqueue(Instant::ZERO, item(number, "b", 900), &mut ());
    }
    let a = place().groups.tag("a");
    let mut bytes = [0_u32; 2];
    for _ in 0..1200 {
        let (_, item) = queue.dequeue(Instant::ZERO, &mut ()).unwrap();
        bytes[usize::from(item.tag != a)] += item.bytes;
        // Shreedhar & Varghese 1995, lemma 2, with a quantum for each class.
        let difference = i64::from(bytes[0]) - 3 * i64::from(bytes[1]);
        assert!(difference.abs() <= 3 * (1000 + 2 * 900), "{bytes:?}");
    }
}

#[test]
fn a_class_alone_has_the_whole_link() {
    let mut queue = queue(&format!(r#""weight": 0.01, {FIFO}"#), FIFO);
    (0..10).for_each(|number| queue.enqueue(Instant::ZERO, item(number, "a", 1000), &mut ()));
    let sent = std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut ())).count();
    assert_eq!((sent, queue.backlog_packets()), (10, 0));
}

#[test]
fn a_class_that_keeps_its_packets_misses_its_turn() {
    let shaped = r#""queue": {"kind": "tbf", "rate": "8 Mbit/s", "burst": "1000 B"}"#;
    let mut queue = queue(shaped, FIFO);
    for (number, group) in [(0, "a"), (1, "a"), (2, "b"), (3, "b")] {
        queue.enqueue(Instant::ZERO, item(number, group, 1000), &mut ());
    }
    let mut leave = |ms| queue.dequeue(Instant::ZERO + Duration::from_millis(ms), &mut ()).map(|(_, item)| item.number);
    assert_eq!([leave(0), leave(0), leave(0), leave(0)], [Some(0), Some(2), Some(3), None]);
    assert_eq!([leave(1), leave(1)], [Some(1), None]);
}

#[test]
fn weights_and_quanta_of_nothing_are_refused() {
    let refusal =
        |spec: QueueSpec| spec.plan(&place()).map_err(|(key, problem)| format!("{key}: {problem}")).unwrap_err();
    assert_eq!(
        refusal(spec(FIFO, &format!(r#""weight": 0, {FIFO}"#))),
        "class: 1.weight: 0 is out of range; must be at least 1.0e-3, one byte in a turn of 1000 B"
    );
    let json = format!(r#"{{"kind": "wrr", "quantum": "0 B", "class": [{{{FIFO}}}]}}"#);
    assert!(refusal(serde_json::from_str(&json).unwrap()).starts_with("quantum: 0 B is out of range"));
}
