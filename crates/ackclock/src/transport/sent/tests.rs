//! Hand-computed counts and decisions about packets. They leave a millisecond apart, with 1000 bytes each.

use super::*;

const ALL: Counting = Counting { growing: 0, late: 0 };

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn push(it: &mut SentPackets, now: Instant) -> u64 {
    let frame = Frame { offset: 1000 * it.next_number(), len: 1000, again: false };
    it.push(now, frame, false)
}

fn sent(count: u64, keeps_delivery: bool) -> SentPackets {
    let mut it = SentPackets::new(keeps_delivery);
    for number in 0..count {
        assert_eq!(push(&mut it, ms(number)), number);
    }
    it
}

fn detect(it: &mut SentPackets, now: Instant) -> (Vec<u64>, Option<Instant>) {
    let mut lost = Vec::new();
    let next = it.detect_lost(now, Duration::from_millis(10), 3, |decided| {
        if let Decided::Lost(number, _) = decided {
            lost.push(number);
        }
    });
    (lost, next)
}

/// An ACK of these packets.
fn acknowledge(it: &mut SentPackets, range: (u64, u64)) -> NewlyAcked {
    let mut newly = NewlyAcked::default();
    it.acknowledge(range, ALL, &mut newly, |_, _| {});
    newly
}

/// An ACK of these packets at `now`, and the sample of the delivery rate.
fn sample(it: &mut SentPackets, now: Instant, range: (u64, u64)) -> RateSample {
    let newly = acknowledge(it, range);
    it.sample_rate(now, &newly);
    it.take_sample(0).expect("something was delivered")
}

#[test]
fn packets_below_the_largest_acknowledged_are_decided_in_order() {
    let mut it = sent(6, false);
    assert!(!it.has_gap());
    acknowledge(&mut it, (2, 3));
    assert_eq!((it.in_flight(), it.bytes_in_flight(), it.largest_acked()), (5, 5000, Some(2)));
    assert_eq!((detect(&mut it, ms(5)), it.undecided(), it.has_gap()), ((vec![], Some(ms(10))), 0, true));
    assert_eq!(it.decided_sent_at(0), None);
    assert_eq!((detect(&mut it, ms(10)), it.undecided(), it.has_gap()), ((vec![0], Some(ms(11))), 1, true));
    assert_eq!((it.decided_sent_at(0), it.decided_sent_at(1)), (Some(ms(0)), None));
    assert_eq!((detect(&mut it, ms(11)), it.undecided(), it.has_gap()), ((vec![1], None), 3, false));
    // The next one leaves no gap.
    acknowledge(&mut it, (3, 4));
    assert_eq!((it.has_gap(), it.in_flight(), it.bytes_in_flight()), (false, 2, 2000));
}

#[test]
fn the_rate_is_that_since_the_packet_left_or_since_silence_ended() {
    let mut it = sent(3, true);
    assert_eq!(sample(&mut it, ms(100), (0, 2)).delivered, 2000);
    it.forget(ms(0));
    push(&mut it, ms(100));
    // When 2 left, nothing had been delivered; when 3 left, two packets.
    assert_eq!(sample(&mut it, ms(102), (2, 3)).prior_delivered, 0);
    assert_eq!(sample(&mut it, ms(200), (3, 4)).prior_delivered, 2000);
    // Nothing is in flight: silence does not count.
    push(&mut it, ms(1000));
    let sample = sample(&mut it, ms(1100), (4, 5));
    assert_eq!((sample.delivered, sample.interval), (1000, Duration::from_millis(100)));
}
