use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::Ecn;
use crate::rng::RngStreams;

fn parameters() -> CobaltParameters {
    serde_json::from_str::<CobaltKeys>("{}").unwrap().resolved().unwrap()
}

fn us(micros: u64) -> Instant {
    Instant::from_nanos(1000 * micros)
}

fn queue(limit: u32, parameters: CobaltParameters) -> Cobalt<Item> {
    Cobalt::new(Limit::Packets(limit), parameters, RngStreams::new(1, 0).stream("link", "queue"))
}

/// Sends a packet each `spacing` over a link that takes `gap` for each, until `end`, all in microseconds.
fn load(queue: &mut Cobalt<Item>, ecn: Ecn, start: u64, end: u64, spacing: u64, gap: u64) -> Told {
    let (mut told, mut free_at) = (Told::default(), start);
    for number in 0.. {
        let now = start + number * spacing;
        if now >= end {
            break;
        }
        while free_at <= now && queue.backlog_packets() > 0 {
            free_at += if queue.dequeue(us(free_at), &mut told).is_some() { gap } else { 0 };
        }
        if free_at < now {
            queue.idled(us(now).since(us(free_at)));
            free_at = now;
        }
        queue.enqueue(us(now), Item { number, bytes: 1500, ecn, ..Item::default() }, &mut told);
    }
    told
}

fn state(queue: &Cobalt<Item>, name: &str) -> f64 {
    let mut found = None;
    queue.state(&mut |shown, value| found = (shown == name).then_some(value).or(found));
    found.unwrap()
}

#[test]
fn signals_come_closer_together_by_the_square_root_of_their_number() {
    let told = load(&mut queue(100_000, parameters()), Ecn::NotEct, 0, 2_000_000, 500, 1000);
    // The first is due an interval after the target is exceeded. The count is 2 then.
    let mut expected = 0;
    let mut due = 0.1;
    for count in 2_u32.. {
        if due > 1.99 {
            break;
        }
        expected += 1;
        due += 0.1 / f64::from(count).sqrt();
    }
    assert!(told.dropped.len().abs_diff(expected) <= 2, "{} {expected}", told.dropped.len());
    assert!(told.dropped.iter().all(|(_, reason)| *reason == Reason::Sojourn));
    let marking = CobaltParameters { ecn: true, ..parameters() };
    let told = load(&mut queue(100_000, marking), Ecn::Ect0, 0, 2_000_000, 500, 1000);
    assert!(told.dropped.is_empty() && told.marked.len().abs_diff(expected) <= 2, "{}", told.marked.len());
}

#[test]
fn quiet_times_cancel_signals_one_by_one() {
    let mut queue = queue(100_000, parameters());
    load(&mut queue, Ecn::NotEct, 0, 2_000_000, 500, 1000);
    let before = state(&queue, "count");
    // The backlog leaves at once, and after it a light load for 50 ms does not undo all signals.
    while queue.dequeue(us(2_000_000), &mut ()).is_some() {}
    load(&mut queue, Ecn::NotEct, 2_000_000, 2_050_000, 2000, 1000);
    let after = state(&queue, "count");
    assert!(after < before && after > 1.0, "{before} {after}");
    load(&mut queue, Ecn::NotEct, 2_050_000, 20_000_000, 2000, 1000);
    assert_eq!(state(&queue, "count"), 0.0);
}

#[test]
fn an_overflow_raises_the_probability_and_an_empty_queue_lowers_it() {
    let mut queue = queue(20, parameters());
    // Ten times the rate. The queue is full nearly all the time: a step each time that a target has passed.
    let told = load(&mut queue, Ecn::Ect0, 0, 1_000_000, 100, 1000);
    let probability = state(&queue, "probability");
    assert!((0.5..=200.0 / 256.0).contains(&probability), "{probability}");
    // BLUE drops ECN-capable packets as well.
    assert!(told.dropped.iter().any(|(_, reason)| *reason == Reason::Early));
    while queue.dequeue(us(1_000_000), &mut ()).is_some() {}
    load(&mut queue, Ecn::Ect0, 1_010_000, 2_000_000, 10_000, 1000);
    let expected = probability - 99.0 / 4096.0;
    assert!((state(&queue, "probability") - expected).abs() <= 2.0 / 4096.0);
}

#[test]
fn an_idle_time_without_a_scheduler_lowers_the_probability_as_often_as_it_could() {
    let parameters = parameters();
    let mut controller = Controller::default();
    (1..=10).for_each(|step| controller.overflow(&parameters, us(6000 * step)));
    controller.rest(&parameters, us(60_000 + 50_010));
    let mut probability = 0.0;
    controller.show(&parameters, &mut |name, value| {
        if name == "probability" {
            probability = value;
        }
    });
    assert!((probability - (10.0 / 256.0 - 10.0 / 4096.0)).abs() < 1e-12, "{probability}");
}
