use super::*;
use crate::contract::{Item, Told};
use crate::ecn::Ecn;
use crate::rng::RngStreams;

const FRAME: Item = Item {
    number: 0,
    flow: 0,
    bytes: 1000,
    ecn: Ecn::NotEct,
    in_profile: false,
    tag: crate::qdisc::Tag::NONE,
    corrupted: false,
};

/// Parameters whose computations are exact in binary.
fn parameters() -> RedParameters {
    RedParameters {
        mode: RedMode::Packets,
        min: 1.0,
        max: 3.0,
        max_p: 0.5,
        weight: 0.5,
        gentle: true,
        mean_packet: 1000,
        packets_per_second: 1000.0,
        drop_by_size: false,
        gaps: Gaps::Wait,
        spares_short: true,
        adaptive: None,
        ecn: false,
        mark_below: 1.0,
        hard_drop: true,
    }
}

fn red(change: impl FnOnce(&mut RedParameters)) -> Red<Item> {
    let mut parameters = parameters();
    change(&mut parameters);
    Red::new(Limit::Packets(1000), parameters, RngStreams::new(1, 0).stream("x", "queue"))
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// The decision about an arriving packet.
fn offer(queue: &mut Red<Item>, now: Instant, item: Item) -> Verdict {
    let Told { dropped, marked } = Told::of_arrival(queue, now, item);
    match (&dropped[..], &marked[..]) {
        ([], []) => Verdict::Queued,
        ([], [(_, reason)]) => Verdict::Marked(*reason),
        ([(_, reason)], []) => Verdict::Dropped(*reason),
        _ => panic!("{dropped:?} {marked:?}"),
    }
}

/// Puts `backlog` packets into the queue by force, with this average.
fn at(mut queue: Red<Item>, backlog: usize, average: f64) -> Red<Item> {
    (0..backlog).for_each(|_| queue.fifo.push(Instant::ZERO, FRAME));
    queue.detector.average = average;
    queue
}

#[test]
fn average_and_probability_of_a_sequence_worked_by_hand() {
    // Half of the old average and half of the backlog: 0, 1, 2, 3, 4 packets.
    let mut queue = red(|parameters| (parameters.max, parameters.max_p) = (5.0, 0.25));
    let mut seen = Vec::new();
    for _ in 0..5 {
        assert_eq!(offer(&mut queue, Instant::ZERO, FRAME), Verdict::Queued);
        seen.push((queue.average(), queue.detector.probability().max(0.0)));
    }
    assert_eq!(
        seen,
        [
            (0.0, 0.0),
            (0.5, 0.0),
            // 1/4 x (1.25 - 1) / (5 - 1).
            (1.25, 0.015_625),
            (2.125, 0.070_312_5),
            (3.0625, 0.128_906_25),
        ]
    );
}

#[test]
fn the_probability_rises_to_max_p_then_gently_or_at_once_to_one() {
    let probability =
        |gentle, average| at(red(|parameters| parameters.gentle = gentle), 0, average).detector.probability();
    for gentle in [false, true] {
        assert_eq!(probability(gentle, 1.0), 0.0);
        assert_eq!(probability(gentle, 2.0), 0.25);
    }
    assert_eq!(probability(false, 3.0), 1.0);
    assert_eq!(probability(true, 3.0), 0.5);
    // Half-way from 3 to 6.
    assert_eq!(probability(true, 4.5), 0.75);
    assert_eq!(probability(true, 6.0), 1.0);
    assert_eq!(probability(true, 9.0), 1.0);
}

/// The marking of DCTCP (Alizadeh et al. 2010, section 3.1): one threshold, for the queue of the moment.
#[test]
fn equal_thresholds_are_a_step() {
    let mut queue = red(|parameters| {
        (parameters.min, parameters.max, parameters.weight) = (3.0, 3.0, 1.0);
        (parameters.gentle, parameters.ecn, parameters.hard_drop) = (false, true, false);
    });
    let capable = Item { ecn: Ecn::Ect0, ..FRAME };
    let seen: Vec<Verdict> = (0..6).map(|_| offer(&mut queue, Instant::ZERO, capable)).collect();
    assert_eq!(seen[..3], [Verdict::Queued; 3]);
    assert_eq!(seen[3..], [Verdict::Marked(Reason::Forced); 3]);
}

#[test]
fn bytes_are_averaged_in_byte_mode() {
    let mut queue = red(|parameters| (parameters.mode, parameters.min, parameters.max) = (RedMode::Bytes, 1e6, 2e6));
    for bytes in [100, 200, 400] {
        offer(&mut queue, Instant::ZERO, Item { bytes, ..FRAME });
    }
    // 0, then 100 / 2, then 50 / 2 + 300 / 2.
    assert_eq!(queue.average(), 175.0);
}

#[test]
fn idle_time_counts_as_packets_that_found_nothing() {
    let passed = |idle| {
        let mut queue = at(red(|_| {}), 0, 64.0);
        queue.bypass(ms(100), idle, FRAME, &mut ());
        queue.average()
    };
    // The arrival itself halves it; each whole millisecond before it once more.
    assert_eq!(passed(Duration::ZERO), 32.0);
    assert_eq!(passed(Duration::from_micros(999)), 32.0);
    assert_eq!(passed(Duration::from_micros(3999)), 4.0);
}

/// Arrivals of this size from one drop to the next. The average is held at 1.5, and a mean packet has 1000 bytes.
fn gaps(gaps: Gaps, bytes: u32) -> Vec<u32> {
    let still = |red: &mut RedParameters| (red.gaps, red.weight, red.drop_by_size) = (gaps, 1e-300, true);
    let mut queue = at(red(still), 5, 1.5);
    let (mut found, mut gap) = (Vec::new(), 0);
    while found.len() < 20_001 {
        gap += 1;
        match queue.judge(Instant::ZERO, &Item { bytes, ..FRAME }) {
            Verdict::Dropped(Reason::Early) => found.push(std::mem::take(&mut gap)),
            verdict => assert_eq!(verdict, Verdict::Queued),
        }
    }
    // The first gap began below `min`.
    found.split_off(1)
}

#[test]
fn gaps_between_drops_are_uniform() {
    // p_b = 1/2 x (1.5 - 1) / 2 = 1/8. The paper's count includes the packet itself: one length less than 1/p_b.
    // A packet of half the mean is half as likely to be chosen, and counts for half.
    let plain = [(Gaps::Plain, 1000, 1, 7), (Gaps::Plain, 500, 1, 15)];
    let once = [(Gaps::Once, 1000, 1, 8), (Gaps::Once, 500, 1, 16)];
    let wait = [(Gaps::Wait, 1000, 8, 15), (Gaps::Wait, 500, 16, 31)];
    for (spread, bytes, shortest, longest) in [plain, once, wait].concat() {
        let gaps = gaps(spread, bytes);
        let lengths = f64::from(longest - shortest + 1);
        for length in shortest..=longest {
            let count = gaps.iter().filter(|gap| **gap == length).count() as f64;
            // Five standard deviations: one of so many checks hardly ever fails by chance.
            let (mean, deviation) = (20_000.0 / lengths, (20_000.0 / lengths * (1.0 - 1.0 / lengths)).sqrt());
            assert!((count - mean).abs() < 5.0 * deviation, "{spread:?}: {count} gaps of {length}, expected {mean}");
        }
        assert!(gaps.iter().all(|gap| (shortest..=longest).contains(gap)), "{spread:?}");
    }
}

#[test]
fn drops_say_why() {
    // Nothing is forced below twice the maximum, or where one packet is queued.
    assert_eq!(offer(&mut at(red(|_| {}), 9, 20.0), ms(1), FRAME), Verdict::Dropped(Reason::Forced));
    assert_eq!(offer(&mut at(red(|_| {}), 1, 20.0), ms(1), FRAME), Verdict::Queued);
    let empty = Red { fifo: DropTail::new(Limit::Packets(9)), ..red(|_| {}) };
    let mut full = at(empty, 9, 0.0);
    assert_eq!(offer(&mut full, ms(1), FRAME), Verdict::Dropped(Reason::Full));
}

#[test]
fn marks_take_the_place_of_drops_as_far_as_the_queue_is_told() {
    let capable = Item { ecn: Ecn::Ect0, ..FRAME };
    let early = |frame: Item, mark_below, average| {
        let mut queue = at(red(|red| (red.ecn, red.mark_below, red.weight) = (true, mark_below, 1e-300)), 5, average);
        let verdicts = std::iter::repeat_with(|| queue.judge(Instant::ZERO, &frame));
        verdicts.into_iter().find(|verdict| *verdict != Verdict::Queued).expect("a drop comes")
    };
    assert_eq!(early(FRAME, 1.0, 2.0), Verdict::Dropped(Reason::Early));
    assert_eq!(early(capable, 1.0, 2.0), Verdict::Marked(Reason::Early));
    // p_b is 1/4.
    assert_eq!(early(capable, 0.25, 2.0), Verdict::Dropped(Reason::Early));
    assert_eq!(early(capable, 1.0, 20.0), Verdict::Dropped(Reason::Forced));
    let mut soft = at(red(|red| (red.ecn, red.hard_drop) = (true, false)), 9, 20.0);
    assert_eq!(offer(&mut soft, ms(1), capable), Verdict::Marked(Reason::Forced));
    let last = std::iter::from_fn(|| soft.dequeue(ms(0), &mut ())).last();
    assert_eq!(last.map(|(_, frame)| frame.ecn), Some(Ecn::Ce));
}

#[test]
fn max_p_adapts_twice_a_second_to_keep_the_average_in_the_middle() {
    let adapted = |average, max_p| {
        let mut queue = at(red(|red| red.adaptive = Some(0.01)), 0, average);
        queue.detector.max_p = max_p;
        queue.detector.adapt(ms(500));
        assert_eq!(queue.detector.max_p, max_p, "half a second has not passed");
        queue.detector.adapt(ms(501));
        queue.detector.adapt(ms(502));
        queue.detector.max_p
    };
    // The target is 1.8 to 2.2, ends among it.
    assert_eq!(adapted(2.0, 0.1), 0.1);
    assert_eq!(adapted(1.0 + TARGET * 2.0, 0.1), 0.1);
    assert_eq!(adapted(3.0 - TARGET * 2.0, 0.1), 0.1);
    assert_eq!(adapted(1.7, 0.1), 0.9 * 0.1);
    assert_eq!(adapted(2.3, 0.1), 0.1 + 0.01);
    assert_eq!(adapted(2.3, 0.02), 0.02 + 0.005);
    assert_eq!(adapted(2.3, 0.5), 0.5);
    assert_eq!(adapted(1.0, 0.01), 0.01);
}

#[test]
fn packets_count_from_the_lower_threshold_on() {
    let count = |average| {
        let mut queue = at(red(|red| red.weight = 1e-300), 5, average);
        assert_eq!(offer(&mut queue, ms(1), FRAME), Verdict::Queued);
        queue.detector.since.map(|since| since.count)
    };
    assert_eq!((count(0.999), count(1.0)), (None, Some(1.0)));
}

#[test]
fn small_packets_count_for_less_where_the_size_matters() {
    let counted = |drop_by_size| {
        let mut queue = at(red(|red| (red.drop_by_size, red.weight) = (drop_by_size, 1e-300)), 5, 1.5);
        for _ in 0..2 {
            assert_eq!(offer(&mut queue, ms(1), Item { bytes: 500, ..FRAME }), Verdict::Queued);
        }
        queue.detector.since.unwrap().count
    };
    assert_eq!((counted(true), counted(false)), (1.0, 2.0));
}
