//! SYN, its answer, and FIN.

use super::*;
use crate::ecn::Ecn;
use crate::tcp::receiver::Receiver;
use crate::tcp::segment::DataSegment;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn transport() -> Transport {
    Transport { mss: MSS as u32, handshake: true, ..Transport::default() }
}

/// A sender that writes four segments.
fn opened() -> (Sender, Receiver) {
    let cc = CcSpec::by_name("aimd").unwrap().build(CcContext::new(2.0));
    let mut sender = Sender::new(transport(), cc);
    sender.open(Instant::ZERO);
    sender.write(Instant::ZERO, 4 * MSS);
    (sender, Receiver::new(&transport()))
}

fn all(sender: &mut Sender, now: Instant) -> Vec<DataSegment> {
    std::iter::from_fn(|| sender.poll_transmit(now)).collect()
}

/// The handshake, and the first two segments.
fn two_rounds(sender: &mut Sender, receiver: &mut Receiver) {
    for millis in [0, 100] {
        let acks: Vec<_> = all(sender, at(millis))
            .iter()
            .filter_map(|segment| receiver.on_data(at(millis + 50), segment, Ecn::NotEct))
            .collect();
        acks.iter().for_each(|ack| sender.on_ack(at(millis + 100), ack));
    }
}

/// Numbers of segments, and SYN, FIN and a bare ACK by name.
fn named(segments: &[DataSegment]) -> Vec<String> {
    let name = |segment: &DataSegment| match (segment.ecn.syn(), segment.ecn.fin(), segment.len) {
        (true, _, 0) => "SYN".to_owned(),
        (_, true, 0) => "FIN".to_owned(),
        (_, _, 0) => "ACK".to_owned(),
        (_, true, _) => format!("{} FIN", segment.seq / MSS),
        _ => (segment.seq / MSS).to_string(),
    };
    segments.iter().map(name).collect()
}

#[test]
fn data_follow_the_handshake_which_is_the_first_measurement_and_fin_follows_them() {
    let (mut sender, mut receiver) = opened();
    let syn = all(&mut sender, at(0));
    assert_eq!(named(&syn), ["SYN"]);
    let answer = receiver.on_data(at(50), &syn[0], Ecn::NotEct).unwrap();
    assert_eq!(answer.ecn, EcnFeedback::SynAck);
    sender.on_ack(at(100), &answer);
    assert_eq!((sender.rtt().srtt(), sender.cwnd()), (Duration::from_millis(100), 2.0));
    let first = all(&mut sender, at(100));
    assert_eq!(named(&first), ["ACK", "0", "1"]);
    assert!(first.iter().filter_map(|segment| receiver.on_data(at(150), segment, Ecn::NotEct)).count() == 2);
    assert_eq!(receiver.next_deadline(), None);
    let ack = |ack| AckSegment { ack, ..answer_to_data() };
    sender.on_ack(at(200), &ack(2 * MSS));
    let mut last = all(&mut sender, at(200));
    sender.close();
    last.extend(all(&mut sender, at(200)));
    assert_eq!(named(&last), ["2", "3", "FIN"]);
    sender.on_ack(at(300), &ack(4 * MSS));
    assert!(sender.is_done());
    // FIN was lost: the timer sends it again.
    let again_at = sender.next_deadline().unwrap();
    sender.on_deadline(again_at);
    let fin = all(&mut sender, again_at);
    assert_eq!(named(&fin), ["FIN"]);
    let acks: Vec<_> =
        [last[0], last[1], fin[0]].map(|segment| receiver.on_data(again_at, &segment, Ecn::NotEct).unwrap()).into();
    assert_eq!(acks.iter().map(|ack| ack.ack).collect::<Vec<_>>(), [3 * MSS, 4 * MSS, 4 * MSS + 1]);
    sender.on_ack(again_at, &acks[2]);
    assert_eq!((sender.next_deadline(), sender.counters().timeouts), (None, 1));
    assert_eq!((sender.counters().segments, sender.counters().retransmits), (8, 1));
}

/// As in Linux, the last data are sent again a reordering window after the block. Neither a probe nor a timeout is needed.
#[test]
fn a_block_reports_fin_and_shows_that_the_last_data_are_lost() {
    let rack = Transport { rack: true, recovery: LossRecovery::Sack, ..transport() };
    let mut sender = Sender::new(rack.clone(), CcSpec::by_name("aimd").unwrap().build(CcContext::new(2.0)));
    let mut receiver = Receiver::new(&rack);
    sender.open(Instant::ZERO);
    sender.write(Instant::ZERO, 4 * MSS);
    two_rounds(&mut sender, &mut receiver);
    let mut last = all(&mut sender, at(200));
    sender.close();
    last.extend(all(&mut sender, at(200)));
    assert_eq!(named(&last), ["2", "3", "FIN"]);
    let acks = [last[0], last[2]].map(|segment| receiver.on_data(at(250), &segment, Ecn::NotEct).unwrap());
    assert_eq!(acks[1].sack.iter(acks[1].ack).collect::<Vec<_>>(), [(4 * MSS, 4 * MSS + 1)]);
    acks.iter().for_each(|ack| sender.on_ack(at(300), ack));
    // An RTT of 100 ms and a quarter of it.
    assert_eq!(sender.next_deadline(), Some(at(325)));
    sender.on_deadline(at(325));
    let again = all(&mut sender, at(325));
    assert_eq!(named(&again), ["3"]);
    let ack = receiver.on_data(at(375), &again[0], Ecn::NotEct).unwrap();
    assert_eq!((ack.ack, ack.sack.is_empty(), receiver.delivered()), (4 * MSS + 1, true, 4 * MSS));
    sender.on_ack(at(425), &ack);
    assert_eq!((sender.next_deadline(), sender.counters().timeouts, sender.counters().retransmits), (None, 0, 1));
}

/// A sender that closes early, its receiver, and the last two segments, which left at 200 ms.
fn closed_early() -> (Sender, Receiver, Vec<DataSegment>) {
    let (mut sender, mut receiver) = opened();
    sender.close();
    two_rounds(&mut sender, &mut receiver);
    let last = all(&mut sender, at(200));
    assert_eq!(named(&last), ["2", "3 FIN"]);
    (sender, receiver, last)
}

#[test]
fn the_last_data_carry_fin_if_they_leave_after_the_close() {
    let (mut sender, mut receiver, last) = closed_early();
    // FIN is in the block, and its copy is in the retransmission.
    let ack = receiver.on_data(at(250), &last[1], Ecn::NotEct).unwrap();
    assert_eq!(ack.sack.iter(ack.ack).collect::<Vec<_>>(), [(3 * MSS, 4 * MSS + 1)]);
    sender.on_ack(at(300), &ack);
    let ack = receiver.on_data(at(350), &last[0], Ecn::NotEct).unwrap();
    assert_eq!((ack.ack, ack.sack.is_empty(), receiver.delivered()), (4 * MSS + 1, true, 4 * MSS));
    sender.on_ack(at(400), &ack);
    assert!(sender.is_done() && sender.next_deadline().is_none());
}

#[test]
fn a_retransmission_of_the_last_data_carries_fin_again() {
    let (mut sender, mut receiver, last) = closed_early();
    let ack = receiver.on_data(at(250), &last[0], Ecn::NotEct).unwrap();
    sender.on_ack(at(300), &ack);
    let again_at = sender.next_deadline().unwrap();
    sender.on_deadline(again_at);
    let again = all(&mut sender, again_at);
    assert_eq!(named(&again), ["3 FIN"]);
    let ack = receiver.on_data(again_at, &again[0], Ecn::NotEct).unwrap();
    assert_eq!((ack.ack, receiver.delivered()), (4 * MSS + 1, 4 * MSS));
}

/// In Linux FIN is a packet of its own once the last data have left.
#[test]
fn a_retransmission_of_data_that_left_without_fin_carries_none() {
    let mut sender = Sender::new(transport(), CcSpec::by_name("aimd").unwrap().build(CcContext::new(4.0)));
    let mut receiver = Receiver::new(&transport());
    sender.open(Instant::ZERO);
    sender.write(Instant::ZERO, 4 * MSS);
    sender.close();
    let syn = all(&mut sender, at(0));
    sender.on_ack(at(100), &receiver.on_data(at(50), &syn[0], Ecn::NotEct).unwrap());
    // The window holds FIN back, and everything is lost.
    assert_eq!(named(&all(&mut sender, at(100))), ["ACK", "0", "1", "2", "3"]);
    let mut again = Vec::new();
    while sender.acknowledged() < 4 * MSS {
        let now = sender.next_deadline().unwrap();
        sender.on_deadline(now);
        let sent = all(&mut sender, now);
        sent.iter()
            .filter_map(|each| receiver.on_data(now, each, Ecn::NotEct))
            .for_each(|ack| sender.on_ack(now, &ack));
        again.extend(sent);
    }
    again.extend(all(&mut sender, at(60_000)));
    assert_eq!(named(&again).last().map(String::as_str), Some("FIN"));
    assert!(!named(&again).contains(&"3 FIN".to_owned()));
}

/// Linux keeps the initial window if one SYN was lost.
#[test]
fn the_first_retransmission_of_a_syn_may_leave_the_window() {
    for (losses, cwnd) in [(1, 2.0), (2, 1.0)] {
        let transport = Transport { syn_retransmits_allowed: 1, ..transport() };
        let mut sender = Sender::new(transport, CcSpec::by_name("aimd").unwrap().build(CcContext::new(2.0)));
        sender.open(Instant::ZERO);
        all(&mut sender, at(0));
        for _ in 0..losses {
            let now = sender.next_deadline().unwrap();
            sender.on_deadline(now);
            all(&mut sender, now);
        }
        sender.on_ack(at(10_000), &AckSegment { ecn: EcnFeedback::SynAck.into(), ..answer_to_data() });
        assert_eq!(sender.cwnd(), cwnd, "{losses}");
    }
}

fn answer_to_data() -> AckSegment {
    AckSegment { ack: 0, sack: SackBlocks::default(), echo: Instant::ZERO, ecn: EcnFeedback::None.into() }
}

#[test]
fn a_syn_that_is_lost_is_sent_again_and_leaves_a_window_of_one_segment() {
    let (mut sender, mut receiver) = opened();
    all(&mut sender, at(0));
    // RFC 6298: after one second, and after two more.
    for (millis, next) in [(1000, 3000), (3000, 7000)] {
        assert_eq!(sender.next_deadline(), Some(at(millis)));
        sender.on_deadline(at(millis));
        let syn = all(&mut sender, at(millis));
        assert_eq!((named(&syn), sender.next_deadline()), (vec!["SYN".to_owned()], Some(at(next))));
        receiver.on_data(at(millis + 50), &syn[0], Ecn::NotEct);
    }
    let answer = AckSegment { ecn: EcnFeedback::SynAck.into(), ..answer_to_data() };
    sender.on_ack(at(3100), &answer);
    assert_eq!((sender.cwnd(), sender.info().ssthresh, sender.rtt().srtt()), (1.0, f64::INFINITY, Duration::ZERO));
    assert_eq!(
        (named(&all(&mut sender, at(3100))), sender.rtt().rto()),
        (vec!["ACK".into(), "0".into()], Duration::from_secs(3))
    );
    // A copy of the answer is answered, and is no duplicate ACK.
    sender.on_ack(at(3101), &answer);
    assert_eq!(named(&all(&mut sender, at(3101))), ["ACK"]);
}

/// Linux sends it at 1, 2, 3, 4 and 5 s, and only then backs off.
#[test]
fn the_first_timeouts_of_a_syn_may_be_linear() {
    let transport = Transport { syn_linear_timeouts: 4, ..transport() };
    let mut sender = Sender::new(transport, CcSpec::by_name("aimd").unwrap().build(CcContext::new(2.0)));
    sender.open(Instant::ZERO);
    let mut sent_at = Vec::new();
    let mut now = Instant::ZERO;
    while now < at(10_000) {
        sent_at.extend(all(&mut sender, now).iter().map(|syn| syn.sent_at.as_nanos() / 1_000_000_000));
        now = sender.next_deadline().unwrap();
        sender.on_deadline(now);
    }
    assert_eq!(sent_at, [0, 1, 2, 3, 4, 5, 7]);
}

/// With an RTT of 1.5 s the SYN is sent again at 1 s. Each answer echoes the time of the SYN that it answers.
#[test]
fn a_timestamp_shows_which_syn_is_answered() {
    for (echo, rtt, cwnd) in [(0, 1500, 2.0), (1000, 500, 1.0)] {
        let transport = Transport { timestamps: true, ..transport() };
        let mut sender = Sender::new(transport, CcSpec::by_name("aimd").unwrap().build(CcContext::new(2.0)));
        sender.open(Instant::ZERO);
        all(&mut sender, at(0));
        sender.on_deadline(at(1000));
        assert_eq!(named(&all(&mut sender, at(1000))), ["SYN"]);
        sender.on_ack(at(1500), &AckSegment { ecn: EcnFeedback::SynAck.into(), echo: at(echo), ..answer_to_data() });
        let rto = sender.rtt().rto().as_nanos() / 1_000_000;
        assert_eq!((sender.rtt().srtt(), rto, sender.cwnd()), (Duration::from_millis(rtt), 3 * rtt, cwnd), "{echo}");
    }
}

#[test]
fn an_answer_that_is_lost_is_sent_again_until_something_follows() {
    let (mut sender, mut receiver) = opened();
    let syn = all(&mut sender, at(0));
    receiver.on_data(at(50), &syn[0], Ecn::NotEct);
    assert_eq!(receiver.next_deadline(), Some(at(1050)));
    assert_eq!(receiver.on_deadline(at(1050)).unwrap().ecn, EcnFeedback::SynAck);
    assert_eq!(receiver.next_deadline(), Some(at(3050)));
    let ack = DataSegment { ecn: crate::tcp::segment::DataEcn::default(), ..syn[0] };
    assert_eq!((receiver.on_data(at(2000), &ack, Ecn::NotEct), receiver.next_deadline()), (None, None));
    // A late copy of the SYN.
    assert_eq!(receiver.on_data(at(2001), &syn[0], Ecn::NotEct).unwrap().ecn, EcnFeedback::None);
}
