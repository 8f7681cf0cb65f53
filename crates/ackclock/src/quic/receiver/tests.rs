//! The acknowledgements of the receiver, and their times.

use super::*;

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn receiver(change: impl FnOnce(&mut Transport)) -> Receiver {
    let delayed_ack = Some(Duration::from_millis(25));
    let mut transport = Transport { mss: 1000, delayed_ack, ..Transport::default() };
    change(&mut transport);
    Receiver::new(&transport)
}

fn packet(number: u64) -> DataPacket {
    DataPacket { connection: 0, number, offset: 1000 * number, len: 1000, ect: true, acks_below: 0, is_marker: false }
}

/// Whether each of these packets, one a millisecond, is acknowledged at once.
fn answers(receiver: &mut Receiver, numbers: &[u64]) -> Vec<bool> {
    let on_data = |(at, number): (usize, &u64)| receiver.on_data(ms(at as u64), &packet(*number), Ecn::Ect0).is_some();
    numbers.iter().enumerate().map(on_data).collect()
}

#[test]
fn every_second_packet_is_acknowledged_or_the_first_after_the_delay() {
    let mut it = receiver(|_| {});
    assert_eq!(answers(&mut it, &[0, 1, 2]), [false, true, false]);
    assert_eq!((it.next_deadline(), it.on_deadline(ms(26))), (Some(ms(27)), None));
    let ack = it.on_deadline(ms(27)).unwrap();
    // RFC 9000 §13.2.5: the delay of the packet with the largest number.
    assert_eq!((ack.largest, ack.delay, ack.number), (2, Duration::from_millis(25), 1));
    assert_eq!((it.ranges(), it.next_deadline(), it.delivered()), (&[(0, 3)][..], None, 3000));
    // Without a delay each packet, and with a threshold of 3 every fourth.
    assert_eq!(answers(&mut receiver(|transport| transport.delayed_ack = None), &[0, 1]), [true, true]);
    let mut rare = receiver(|transport| transport.ack_eliciting_threshold = 3);
    assert_eq!(answers(&mut rare, &[0, 1, 2, 3, 4]), [false, false, false, true, false]);
    assert_eq!(rare.next_deadline(), Some(ms(29)), "the delay belongs to the first one");
}

#[test]
fn reordering_and_marks_are_acknowledged_at_once() {
    // RFC 9000 §13.2.1: a gap appears before 2; 1 comes after a later one; behind 4 there is no new gap.
    assert_eq!(answers(&mut receiver(|_| {}), &[0, 2, 1, 4, 5]), [false, true, true, true, false]);
    assert_eq!(
        answers(&mut receiver(|transport| transport.reordering_threshold = 0), &[0, 2, 1]),
        [false, true, false]
    );
    let mut it = receiver(|_| {});
    assert!(it.on_data(ms(0), &packet(0), Ecn::Ce).is_some());
    assert_eq!(it.ce_count(), 1);
}

/// draft-ietf-quic-ack-frequency §6.2.1, table 1: a threshold of 3, and ACKs that nothing else causes.
#[test]
fn a_reordering_threshold_waits_for_the_gap_to_be_as_wide() {
    let mut it = receiver(|transport| (transport.reordering_threshold, transport.ack_eliciting_threshold) = (3, 100));
    let numbers = [0, 1, 3, 4, 5, 8, 9, 10];
    assert_eq!(answers(&mut it, &numbers), [false, false, false, false, true, false, true, true]);
}

#[test]
fn ranges_are_reported_until_an_ack_of_them_has_arrived() {
    let mut it = receiver(|_| {});
    answers(&mut it, &[0, 1, 3, 4, 6]);
    assert_eq!(it.ranges(), [(6, 7), (3, 5), (0, 2)]);
    // The ACK of 6 was number 2; the sender has it.
    let next = DataPacket { acks_below: 3, ..packet(7) };
    it.on_data(ms(9), &next, Ecn::NotEct);
    let late = it.on_data(ms(10), &packet(5), Ecn::NotEct).unwrap();
    assert_eq!((it.ranges(), late.largest), (&[(7, 8), (5, 6)][..], 7));
    assert_eq!(it.on_data(ms(11), &packet(3), Ecn::NotEct), None, "a number comes once, reported or not");
    assert_eq!(it.delivered(), 2000);
}

#[test]
fn a_frame_has_no_more_ranges_than_fit_into_a_packet_and_the_receiver_knows() {
    // Each further range takes two bytes: nine ranges fit beside the first one.
    let mut narrow = receiver(|transport| transport.mss = 18);
    let odd: Vec<u64> = (0..40).map(|number| 2 * number).collect();
    answers(&mut narrow, &odd);
    assert_eq!((narrow.ranges().len(), narrow.ranges()[0]), (10, (78, 79)));
    let mut wide = receiver(|_| {});
    let many: Vec<u64> = (0..300).map(|number| 2 * number).collect();
    answers(&mut wide, &many);
    assert_eq!(wide.ranges().len(), MAX_RANGES);
    // What is forgotten is taken for received: 87 is older than the 256th range, 89 is not.
    assert_eq!(wide.on_data(ms(500), &packet(87), Ecn::NotEct), None);
    assert!(wide.on_data(ms(500), &packet(89), Ecn::NotEct).is_some());
}

#[test]
fn counts_tell_how_packets_came_and_copies_do_not_count() {
    let mut it = receiver(|transport| transport.ecn = EcnMode::Counts);
    it.on_data(ms(0), &packet(0), Ecn::Ect0);
    let ack = it.on_data(ms(1), &packet(1), Ecn::Ce).unwrap();
    assert_eq!((ack.ecn, ack.more_len), (Some(EcnCounts { ect0: 1, ect1: 0, ce: 1 }), 3));
    assert_eq!(it.on_data(ms(2), &packet(1), Ecn::Ce), None);
    let ping = DataPacket { len: 0, ect: false, ..packet(2) };
    it.on_data(ms(3), &ping, Ecn::NotEct);
    let ack = it.on_deadline(ms(28)).unwrap();
    assert_eq!((ack.ecn, it.delivered()), (Some(EcnCounts { ect0: 1, ect1: 0, ce: 1 }), 2000));
}

#[test]
fn the_stream_is_put_together_in_any_order() {
    let mut it = receiver(|_| {});
    let frame = |number, offset, len| DataPacket { offset, len, ..packet(number) };
    it.on_data(ms(0), &frame(0, 2000, 500), Ecn::NotEct);
    it.on_data(ms(0), &frame(1, 1000, 1000), Ecn::NotEct);
    assert_eq!(it.delivered(), 0);
    it.on_data(ms(0), &frame(2, 0, 1000), Ecn::NotEct);
    it.on_data(ms(0), &frame(3, 0, 1000), Ecn::NotEct);
    assert_eq!(it.delivered(), 2500);
}
