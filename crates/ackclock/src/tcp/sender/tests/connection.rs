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

/// A sender that writes four segments and closes.
fn opened() -> (Sender, Receiver) {
    let cc = CcSpec::by_name("aimd").unwrap().build(CcContext::new(2.0));
    let mut sender = Sender::new(transport(), cc);
    sender.open(Instant::ZERO);
    sender.write(Instant::ZERO, 4 * MSS);
    sender.close();
    (sender, Receiver::new(&transport()))
}

fn all(sender: &mut Sender, now: Instant) -> Vec<DataSegment> {
    std::iter::from_fn(|| sender.poll_transmit(now)).collect()
}

/// Lengths in segments, and SYN, FIN and a bare ACK by name.
fn named(segments: &[DataSegment]) -> Vec<String> {
    let name = |segment: &DataSegment| match (segment.ecn.syn(), segment.ecn.fin(), segment.len) {
        (true, _, 0) => "SYN".to_owned(),
        (_, true, 0) => "FIN".to_owned(),
        (_, _, 0) => "ACK".to_owned(),
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
    let last = all(&mut sender, at(200));
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
