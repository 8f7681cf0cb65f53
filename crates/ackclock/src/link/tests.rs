use super::*;
use crate::contract::Item;
use crate::qdisc::{DropTail, Ecn, Limit};
use crate::rng::RngStreams;

/// A test item: its number, and as many bytes as it says. No packet of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Frame {
    number: u32,
    bytes: u32,
}

impl Queued for Frame {
    fn wire_len(&self) -> u32 {
        self.bytes
    }
    fn flow_hash(&self) -> u64 {
        0
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn mark(&mut self) {}
    fn in_profile(&self) -> bool {
        false
    }
}

impl Impairable for Frame {
    fn corrupt(&mut self) {
        self.number += CORRUPTED;
    }
}

/// Added to the number of a frame.
const CORRUPTED: u32 = 1000;

fn losing(loss: Loss) -> Impairments {
    Impairments { loss, ..Impairments::none() }
}

fn always() -> Chance {
    Chance { probability: 1.0, stream: RngStreams::new(1, 0).stream("link", "test") }
}

/// Happens to the first packet of these seeds, and to none of the next two.
fn once() -> Chance {
    let fits = |seed: &u64| {
        let mut stream = RngStreams::new(*seed, 0).stream("link", "test");
        [true, false, false].iter().all(|hit| (stream.next_f64() < 0.5) == *hit)
    };
    let seed = (0..).find(fits).expect("an eighth of all seeds fits");
    Chance { probability: 0.5, stream: RngStreams::new(seed, 0).stream("link", "test") }
}

fn link(rate_bps: u64, delay: Duration, limit: u32, loss: Loss) -> Link<Frame> {
    impaired(rate_bps, delay, limit, losing(loss))
}

fn impaired(rate_bps: u64, delay: Duration, limit: u32, impairments: Impairments) -> Link<Frame> {
    let config = LinkConfig {
        rate: Rate::from_bps(rate_bps),
        varies: None,
        delay,
        impairments: Some(impairments),
        histogram: true,
    };
    Link::new(config, Queue::DropTail(DropTail::new(Limit::Packets(limit))))
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Losses by number, and packets that are late by 10 ms.
fn script(lost: &[u64], late: &[u64]) -> Loss {
    let (lost, late, late_by) = (lost.to_vec(), late.to_vec(), Duration::from_millis(10));
    Loss::Scripted(Scripted::new(Script { lost, late, late_by, marked: Vec::new() }))
}

/// Polls whenever the link asks for it: number and time of every arrival.
fn arrivals(link: &mut Link<Frame>) -> Vec<(u32, u64)> {
    let mut arrivals = Vec::new();
    while let Some(deadline) = link.next_deadline() {
        while let Some(frame) = link.poll(deadline, &mut ()) {
            arrivals.push((frame.number, deadline.as_nanos() / 1_000_000));
        }
    }
    arrivals
}

#[test]
fn packets_queue_behind_one_another_and_arrive_after_transmission_and_propagation() {
    // 1000 bytes at 8 Mbit/s take 1 ms; 5 ms of propagation.
    let mut link = link(8_000_000, Duration::from_millis(5), 10, Loss::None);
    for number in 0..3 {
        link.enqueue(ms(0), Frame { number, bytes: 1000 }, &mut ());
    }
    link.enqueue(ms(10), Frame { number: 3, bytes: 1000 }, &mut ());
    assert_eq!(arrivals(&mut link), [(0, 6), (1, 7), (2, 8), (3, 16)]);
    // They waited 0, 1, 2 and 0 ms.
    let p95 = link.sojourn_times().unwrap().value_at_quantile(0.95) as f64;
    assert!((p95 / 2e6 - 1.0).abs() < 0.01, "{p95}");
    assert_eq!(link.counters().sojourn_ns, 3_000_000);
    assert_eq!(link.counters().forwarded_bytes, 4000);
}

#[test]
fn packets_are_taken_ahead_of_time_from_behind_those_that_stay() {
    let mut link = link(8_000_000, Duration::from_millis(5), 10, Loss::None);
    for number in 0..5 {
        link.enqueue(ms(0), Frame { number, bytes: 1000 }, &mut ());
    }
    link.advance(ms(2), &mut ());
    let decisions = [Ahead::Leave, Ahead::Take, Ahead::Take, Ahead::Take, Ahead::Stop];
    let taken = |link: &mut Link<Frame>| {
        let taken = link.take_ahead(|_, frame, _| decisions[frame.number as usize]);
        taken.map(|(at, frame, is_last)| (frame.number, at, is_last))
    };
    // Nothing but what is in flight.
    assert_eq!([(); 3].map(|()| taken(&mut link)), [Some((1, ms(7), false)), Some((2, ms(8), true)), None]);
    assert_eq!(link.next_arrival(), Some(ms(6)));
    assert_eq!(link.poll(ms(6), &mut ()).map(|frame| frame.number), Some(0));
    // The others were sent meanwhile.
    assert_eq!([(); 2].map(|()| taken(&mut link)), [Some((3, ms(9), false)), None]);
    assert_eq!((link.next_arrival(), link.poll(ms(10), &mut ()).map(|frame| frame.number)), (Some(ms(10)), Some(4)));
    assert_eq!((taken(&mut link), link.next_arrival()), (None, None));
}

#[test]
fn the_packet_in_transmission_is_not_counted_against_the_limit() {
    let mut link = link(8_000_000, Duration::ZERO, 2, Loss::None);
    let drops = |link: &mut Link<Frame>, at, number| {
        link.enqueue(ms(at), Frame { number, bytes: 1000 }, &mut ());
        link.counters().drops
    };
    assert_eq!([0, 1, 2, 3].map(|number| drops(&mut link, 0, number)), [0, 0, 0, 1]);
    // At 1 ms the second packet starts and leaves room, in time for an arrival at that very moment.
    assert_eq!(drops(&mut link, 1, 4), 1);
}

#[test]
fn a_link_goes_on_when_everything_in_flight_was_lost() {
    let mut link = link(8_000_000, Duration::ZERO, 10, script(&[1, 2], &[]));
    for number in 0..3 {
        link.enqueue(ms(0), Frame { number, bytes: 1000 }, &mut ());
    }
    assert_eq!(arrivals(&mut link), [(2, 3)]);
    assert_eq!(link.counters().losses, 2);
}

#[test]
fn a_packet_that_is_held_back_is_overtaken_by_those_that_were_still_waiting() {
    // 1000 bytes at 8 Mbit/s take 1 ms; 5 ms of propagation.
    let reordering = Some((once(), Duration::from_micros(2_500)));
    let impairments = Impairments { reordering, ..losing(Loss::None) };
    let mut link = impaired(8_000_000, Duration::from_millis(5), 10, impairments);
    for number in 0..3 {
        link.enqueue(ms(0), Frame { number, bytes: 1000 }, &mut ());
    }
    // Frame 0 would come at 6 ms and comes at 8.5; nothing else is late.
    assert_eq!(arrivals(&mut link), [(1, 7), (2, 8), (0, 8)]);
    assert_eq!(link.counters().reordered, 2);
}

#[test]
fn a_doubled_packet_arrives_twice_in_a_row() {
    let impairments = Impairments { duplication: Some(once()), ..losing(Loss::None) };
    let mut link = impaired(8_000_000, Duration::from_millis(5), 10, impairments);
    for number in 0..2 {
        link.enqueue(ms(0), Frame { number, bytes: 1000 }, &mut ());
    }
    assert_eq!(arrivals(&mut link), [(0, 6), (0, 6), (1, 7)]);
    let counters = link.counters();
    assert_eq!((counters.forwarded, counters.duplicates, counters.duplicated_bytes), (2, 1, 1000));
}

#[test]
fn a_lost_packet_is_neither_doubled_nor_corrupted() {
    let both = Impairments { duplication: Some(always()), corruption: Some(always()), ..losing(Loss::None) };
    let mut link = impaired(8_000_000, Duration::ZERO, 10, both.clone());
    link.enqueue(ms(0), Frame { number: 0, bytes: 1000 }, &mut ());
    assert_eq!(arrivals(&mut link), [(CORRUPTED, 1), (CORRUPTED, 1)]);
    assert_eq!(link.counters().corruptions, 1);
    let loss = Loss::Periodic { period: 1, count: 0 };
    let mut link = impaired(8_000_000, Duration::ZERO, 10, Impairments { loss, ..both });
    link.enqueue(ms(0), Frame { number: 0, bytes: 1000 }, &mut ());
    assert_eq!(arrivals(&mut link), []);
    let counters = link.counters();
    assert_eq!((counters.losses, counters.duplicates, counters.corruptions), (1, 0, 0));
}

#[test]
fn a_busy_transmitter_loses_no_fraction_of_a_nanosecond() {
    // 1 byte at 24 bit/s takes a third of a second: 3000 of them take 1000 s to the nanosecond.
    let mut link = link(24, Duration::ZERO, 3000, Loss::None);
    for number in 0..3000 {
        link.enqueue(ms(0), Frame { number, bytes: 1 }, &mut ());
    }
    assert_eq!(arrivals(&mut link).last(), Some(&(2999, 1_000_000)));
}

#[test]
fn a_pure_delay_delays() {
    let mut link = link(0, Duration::from_millis(7), 10, Loss::None);
    link.enqueue(ms(1), Frame { number: 0, bytes: 1000 }, &mut ());
    link.enqueue(ms(1), Frame { number: 1, bytes: 1000 }, &mut ());
    assert_eq!(arrivals(&mut link), [(0, 8), (1, 8)]);
}

/// Links and queues need no engine: a loop with a clock of its own drives one, as an emulator does.
#[test]
fn a_wall_clock_loop_drives_a_link_by_enqueue_next_deadline_and_poll() {
    let mut link = link(80_000_000, Duration::from_millis(2), 100, Loss::None);
    let mut clock = Instant::ZERO;
    let mut delivered = Vec::new();
    let mut sent = 0;
    while delivered.len() < 20 {
        if sent < 20 {
            link.enqueue(clock, Frame { number: sent, bytes: 1000 }, &mut ());
            sent += 1;
        }
        // The clock is late by up to 0.3 ms, as real ones are; no capacity may be lost by that.
        let late = Duration::from_micros(37 * u64::from(sent) % 300);
        let wake_up = link.next_deadline().expect("packets are in flight");
        clock = clock.max(wake_up.min(clock + Duration::from_micros(50))) + late;
        while let Some(frame) = link.poll(clock, &mut ()) {
            delivered.push(frame.number);
        }
    }
    assert_eq!(delivered, (0..20).collect::<Vec<_>>());
    assert_eq!(link.counters().forwarded, 20);
}

#[test]
fn what_is_late_is_overtaken() {
    // 1 ms each; number 1 arrives at 2 + 5 + 10 ms, after packets that were queued while it was in flight.
    let mut link = link(8_000_000, Duration::from_millis(5), 20, script(&[4], &[2]));
    for number in 0..4 {
        link.enqueue(ms(0), Frame { number, bytes: 1000 }, &mut ());
    }
    link.enqueue(ms(9), Frame { number: 4, bytes: 1000 }, &mut ());
    link.enqueue(ms(11), Frame { number: 5, bytes: 1000 }, &mut ());
    assert_eq!(arrivals(&mut link), [(0, 6), (2, 8), (4, 15), (1, 17), (5, 17)]);
}

#[test]
fn a_script_marks_what_is_ecn_capable() {
    let script = Script { marked: vec![1, 2], ..Script::default() };
    let config = LinkConfig {
        rate: None,
        varies: None,
        delay: Duration::ZERO,
        impairments: Some(losing(Loss::Scripted(Scripted::new(script)))),
        histogram: false,
    };
    let mut link = Link::new(config, Queue::DropTail(DropTail::new(Limit::Packets(10))));
    let sent = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0];
    for ecn in sent {
        link.enqueue(
            ms(0),
            Item {
                number: 0,
                flow: 0,
                bytes: 1000,
                ecn,
                in_profile: false,
                tag: crate::qdisc::Tag::NONE,
                corrupted: false,
            },
            &mut (),
        );
    }
    assert_eq!(sent.map(|_| link.poll(ms(0), &mut ()).unwrap().ecn), [Ecn::NotEct, Ecn::Ce, Ecn::Ect0]);
}

/// A link of a byte per millisecond and 10 ms. Two frames of 5 bytes are sent at 0 and 5 ms.
fn busy(impairments: Option<Impairments>) -> Link<Frame> {
    let (rate, delay) = (Rate::from_bps(8_000), Duration::from_millis(10));
    let config = LinkConfig { rate, varies: None, delay, impairments, histogram: false };
    let mut link = Link::new(config, Queue::DropTail(DropTail::new(Limit::Packets(10))));
    (0..2).for_each(|number| link.enqueue(ms(0), Frame { number, bytes: 5 }, &mut ()));
    link
}

#[test]
fn a_new_rate_holds_for_transmissions_that_begin_then() {
    let mut link = busy(None);
    link.advance(ms(2), &mut ());
    assert!(link.set_rate(Rate::from_bps(40_000).unwrap()));
    assert_eq!(link.rate(), Rate::from_bps(40_000));
    // The first leaves at 5 ms as it was to, the second a millisecond after it.
    assert_eq!(arrivals(&mut link), [(0, 15), (1, 16)]);
    // A rate that whole nanoseconds do not express leaves no remainder for the next one.
    let mut link = busy(None);
    link.set_rate(Rate::from_bps(7_777_777_777).unwrap());
    link.advance(ms(5), &mut ());
    link.set_rate(Rate::from_bps(8_000).unwrap());
    link.enqueue(ms(20), Frame { number: 2, bytes: 5 }, &mut ());
    assert_eq!(arrivals(&mut link), [(0, 15), (1, 15), (2, 35)]);
}

#[test]
fn a_new_delay_holds_for_transmissions_that_begin_then_and_keeps_the_order() {
    let mut link = busy(None);
    link.advance(ms(2), &mut ());
    link.set_delay(Duration::from_millis(30));
    assert_eq!(arrivals(&mut link), [(0, 15), (1, 40)]);
    for impairments in [None, Some(Impairments::none())] {
        let mut link = busy(impairments);
        link.advance(ms(2), &mut ());
        link.set_delay(Duration::from_millis(1));
        assert_eq!(link.delay(), Duration::from_millis(1));
        // The second would arrive at 11 ms, before the first.
        assert_eq!(arrivals(&mut link), [(0, 15), (1, 15)]);
        link.enqueue(ms(20), Frame { number: 2, bytes: 5 }, &mut ());
        assert_eq!(arrivals(&mut link), [(2, 26)]);
    }
    // Where packets may overtake one another, they do.
    let reordering = Some((Chance { probability: 0.0, ..always() }, Duration::ZERO));
    let mut link = busy(Some(Impairments { reordering, ..Impairments::none() }));
    link.advance(ms(2), &mut ());
    link.set_delay(Duration::from_millis(1));
    assert_eq!(arrivals(&mut link), [(1, 11), (0, 15)]);
}

#[test]
fn a_pure_delay_and_a_rate_that_varies_have_no_rate_to_change() {
    let config =
        LinkConfig { rate: None, varies: None, delay: Duration::from_millis(10), impairments: None, histogram: false };
    let mut link: Link<Frame> = Link::new(config, Queue::DropTail(DropTail::new(Limit::Packets(10))));
    assert!(!link.set_rate(Rate::from_bps(8_000).unwrap()));
    assert_eq!(link.rate(), None);
    // Its order is kept, too.
    link.enqueue(ms(0), Frame { number: 0, bytes: 5 }, &mut ());
    link.set_delay(Duration::from_millis(1));
    link.enqueue(ms(2), Frame { number: 1, bytes: 5 }, &mut ());
    link.enqueue(ms(20), Frame { number: 2, bytes: 5 }, &mut ());
    assert_eq!(arrivals(&mut link), [(0, 10), (1, 10), (2, 21)]);
}
