use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::Ecn;
use crate::rng::RngStreams;

const PARAMETERS: BlueParameters = BlueParameters {
    threshold: None,
    increment: 0.25,
    decrement: 0.1,
    freeze_time: Duration::from_millis(100),
    ecn: false,
};

fn blue(parameters: BlueParameters) -> Blue<Item> {
    Blue::new(Limit::Packets(1), parameters, RngStreams::new(1, 0).stream("link", "queue"))
}

fn ms(millis: u64) -> Instant {
    Instant::from_nanos(1_000_000 * millis)
}

fn arrive(queue: &mut Blue<Item>, at: Instant, ecn: Ecn) -> Told {
    Told::of_arrival(queue, at, Item { bytes: 1000, ecn, ..Item::default() })
}

#[test]
fn losses_raise_the_probability_once_in_a_freeze_time() {
    let mut queue = blue(PARAMETERS);
    arrive(&mut queue, ms(0), Ecn::NotEct);
    for (at, expected) in [(1, 0.25), (2, 0.25), (100, 0.25), (101, 0.5), (201, 0.75), (301, 1.0), (401, 1.0)] {
        arrive(&mut queue, ms(at), Ecn::NotEct);
        assert_eq!(queue.probability, expected, "at {at} ms");
    }
}

#[test]
fn each_freeze_time_of_an_idle_link_lowers_the_probability() {
    let mut queue = blue(PARAMETERS);
    queue.probability = 0.55;
    queue.frozen_until = ms(50);
    let mut idle = |at: u64, idle: u64| {
        queue.idled(Duration::from_millis(idle));
        queue.end_idle(ms(at));
        (1000.0 * queue.probability).round() / 1000.0
    };
    // The probability may change from 50 ms on, then from 150, 250 and 350 ms on.
    assert_eq!([idle(50, 50), idle(51, 51), idle(150, 99), idle(351, 201)], [0.55, 0.45, 0.45, 0.15]);
    assert_eq!(idle(10_000, 9_000), 0.0);
}

#[test]
fn a_threshold_raises_it_before_losses_and_marks_replace_drops() {
    let parameters = BlueParameters { threshold: Some(Limit::Packets(0)), increment: 1.0, ecn: true, ..PARAMETERS };
    let mut queue = Blue::new(Limit::Packets(5), parameters, RngStreams::new(1, 0).stream("link", "queue"));
    let counts = |told: &Told| (told.dropped.len(), told.marked.len());
    assert_eq!(counts(&arrive(&mut queue, ms(0), Ecn::Ect0)), (0, 0));
    assert_eq!(counts(&arrive(&mut queue, ms(1), Ecn::Ect0)), (0, 1));
    assert_eq!(arrive(&mut queue, ms(2), Ecn::NotEct).dropped[0].1, Reason::Early);
}
