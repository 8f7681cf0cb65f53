//! The reports of delivery to an algorithm: in bytes, for each transmission.

use super::witness::Witness;
use super::*;
use crate::tcp::segment::AccEcnOption;
use crate::transport::EcnMode;

#[test]
fn a_sample_tells_what_was_in_flight_when_its_segment_was_sent_and_what_was_lost_since() {
    let witness = Witness::new(8.0);
    let mut tcp = witness.drive(LossRecovery::Sack);
    tcp.sent();
    // Segment 0 is lost; the ACK of segment 3 shows it.
    for end in 2..=4 {
        tcp.ack(0, &[(1, end)]);
    }
    let samples = witness.heard(|ack| ack.rate.map(|rate| (rate.newly_acked, rate.tx_in_flight, rate.lost)));
    assert_eq!(samples, [(MSS, 2 * MSS, 0), (MSS, 3 * MSS, 0), (MSS, 4 * MSS, MSS)].map(Some));
    assert_eq!(witness.heard(|ack| ack.path.in_flight_bytes / MSS), [7, 7, 6]);
}

#[test]
fn each_transmission_is_lost_by_itself() {
    let witness = Witness::new(8.0);
    let mut tcp = witness.drive(LossRecovery::Sack);
    tcp.sender.stop_writing();
    tcp.sender.write(tcp.now, 4 * MSS);
    tcp.sent();
    for end in 2..=4 {
        tcp.ack(0, &[(1, end)]);
    }
    // 4 segments of 1000 bytes; the first one had only itself in flight.
    let told =
        |witness: &Witness| witness.losses(|loss| (loss.retransmission, loss.tx_in_flight / MSS, loss.lost / MSS));
    assert_eq!(told(&witness), [(false, 1, 1)]);
    // Its retransmission, alone in flight, is lost, too.
    assert_eq!(tcp.expire(), [0]);
    assert_eq!(told(&witness), [(false, 1, 1), (true, 1, 1)]);
    // And that of the timeout.
    assert_eq!(tcp.expire(), [0]);
    assert_eq!(told(&witness)[2..], [(true, 1, 1)]);
    assert_eq!(tcp.sender.board.front().unwrap().transmissions, 4);
}

#[test]
fn what_is_sent_again_on_suspicion_counts_as_lost_from_then_on_and_once() {
    let witness = Witness::new(10.0);
    let mut tcp = witness.drive(LossRecovery::Sack);
    tcp.sender.stop_writing();
    tcp.sender.write(tcp.now, 6 * MSS);
    tcp.sent();
    // 0 and 5 are lost, and nothing shows that 5 is: its rescue retransmission does (RFC 6675 §4, rule 4).
    for end in 2..=5 {
        tcp.ack(0, &[(1, end)]);
    }
    assert_eq!(witness.losses(|loss| (loss.bytes, loss.tx_in_flight / MSS)), [(1000, 1)]);
    assert_eq!(tcp.ack(5, &[]), [5]);
    assert_eq!(witness.losses(|loss| loss.tx_in_flight / MSS), [1, 6]);
    tcp.ack(6, &[]);
    assert_eq!(witness.losses(|loss| loss.lost / MSS), [1, 2]);
}

#[test]
fn a_timeout_tells_of_all_that_was_in_flight() {
    let witness = Witness::new(3.0);
    let mut tcp = witness.drive(LossRecovery::NewReno);
    tcp.sent();
    tcp.expire();
    // Bytes in flight with each segment, and lost since it was sent: itself, and those before it.
    let losses = witness.losses(|loss| (loss.tx_in_flight / MSS, loss.lost / MSS));
    assert_eq!(losses, [(1, 1), (2, 2), (3, 3)]);
}

#[test]
fn an_algorithm_that_needs_no_samples_gets_none_and_hears_of_no_single_loss() {
    let witness = Witness::without_samples(8.0);
    let mut tcp = witness.drive(LossRecovery::Sack);
    tcp.sent();
    for end in 2..=4 {
        tcp.ack(0, &[(1, end)]);
    }
    assert!(witness.heard(|ack| ack.rate.is_none()).into_iter().all(|is_none| is_none));
    assert_eq!((witness.losses(|loss| loss.lost), tcp.sender.counters().retransmits), (vec![], 1));
}

#[test]
fn an_ack_tells_how_far_the_repair_of_losses_is() {
    let witness = Witness::new(8.0);
    let mut tcp = witness.drive(LossRecovery::Sack);
    tcp.sent();
    for end in 2..=4 {
        tcp.ack(0, &[(1, end)]);
    }
    tcp.ack(10, &[]);
    tcp.expire();
    tcp.ack(11, &[]);
    use CaState::{Disorder, Loss, Open, Recovery};
    assert_eq!(witness.heard(|ack| ack.state), [Disorder, Disorder, Recovery, Open, Loss]);
}

#[test]
fn a_retransmission_that_is_sent_again_on_suspicion_counts_as_lost() {
    let witness = Witness::new(20.0);
    let mut tcp = witness.drive(LossRecovery::Sack);
    tcp.sender.stop_writing();
    tcp.sender.write(tcp.now, 10 * MSS);
    tcp.sent();
    // 0 and 5 are lost, and each is sent again.
    tcp.ack(0, &[(1, 2)]);
    tcp.ack(0, &[(1, 3)]);
    assert_eq!(tcp.ack(0, &[(1, 4)]), [0]);
    assert_eq!(tcp.ack(0, &[(6, 10), (1, 5)]), [5]);
    let told = |witness: &Witness| witness.losses(|loss| loss.retransmission);
    assert_eq!(told(&witness), [false, false]);
    // That of 5 is lost, too: nothing is left to send but a rescue retransmission (RFC 6675 §4, rule 4).
    assert_eq!(tcp.ack(5, &[(6, 10)]), [5]);
    assert_eq!(told(&witness), [false, false, true]);
    let front = tcp.sender.board.front().unwrap();
    assert_eq!((front.transmissions, tcp.sender.in_flight()), (3, 1));
}

#[test]
fn samples_tell_of_bytes_that_came_with_a_mark() {
    let witness = Witness::new(4.0);
    let mut tcp = witness.drive_under(Transport { ecn: EcnMode::AccEcn, timestamps: true, ..Transport::default() });
    tcp.sent();
    // What is acknowledged, and how many segments came with a mark.
    for (echo, (acked, marks)) in [(1, 1), (1, 2), (2, 2), (5, 2), (6, 9)].into_iter().enumerate() {
        tcp.now += Duration::from_millis(1);
        let option = Some(AccEcnOption::new(1, (marks * MSS) as u32, 1));
        let ecn = EcnFeedback::AccEcn { ace: ((5 + marks) % 8) as u8, option };
        let echo = Instant::from_nanos(1 + echo as u64);
        tcp.sender
            .on_ack(tcp.now, &AckSegment { ack: acked * MSS, sack: SackBlocks::default(), echo, ecn: ecn.into() });
        tcp.sent();
    }
    let samples = witness.heard(|ack| ack.rate.map(|rate| (rate.delivered, rate.newly_ce, rate.delivered_ce)));
    // The second ACK delivers nothing, so that the third tells of its mark. Segment 4, which the fourth covers, left when one
    // mark was known; 5, which the last covers, when two were. Of the nine in the end some came twice.
    let expected = [Some((1, 1, 1)), None, Some((2, 1, 2)), Some((4, 0, 1)), Some((4, 7, 4))];
    assert_eq!(samples, expected.map(|sample| sample.map(|(a, b, c)| (a * MSS, b * MSS, c * MSS))));
}

#[test]
fn linux_also_times_segments_that_only_sack_blocks_report() {
    for (rtt_samples, expected) in [(RttSamples::EachRound, 0), (RttSamples::EachAck, 1)] {
        let mut tcp = Driven::with(LossRecovery::Sack, 4.0, |transport| {
            transport.timestamps = true;
            transport.rtt_samples = rtt_samples;
        });
        tcp.sent();
        tcp.ack(0, &[(1, 2)]);
        assert_eq!(tcp.sender.rtt().srtt(), Duration::from_millis(expected), "{rtt_samples:?}");
    }
}
