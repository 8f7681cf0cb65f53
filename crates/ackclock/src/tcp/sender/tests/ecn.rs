//! Marks: cuts of the window, and answers to the receiver.

use super::*;
use crate::cc::{CongestionControl, CongestionKind};
use crate::tcp::segment::{AccEcnOption, DataSegment};
use crate::transport::{EcnMode, EcnRetransmissions, MarkAtOne};

fn with_ecn(recovery: LossRecovery, window: f64) -> Driven {
    Driven::with(recovery, window, |transport| transport.ecn = EcnMode::Classic)
}

impl Driven {
    /// The segments that the ACK of everything below segment `ack` releases, with their flags.
    fn echo(&mut self, ack: u64, ece: bool) -> Vec<DataSegment> {
        self.now += Duration::from_millis(1);
        let ecn = EcnFeedback::Classic { ece };
        let ack = AckSegment { ack: ack * MSS, sack: SackBlocks::default(), echo: Instant::ZERO, ecn: ecn.into() };
        self.sender.on_ack(self.now, &ack);
        std::iter::from_fn(|| self.sender.poll_transmit(self.now)).collect()
    }
}

#[test]
fn a_sender_without_ecn_sends_plain_packets_and_hears_no_echo() {
    let mut tcp = Driven::new(LossRecovery::Sack, 4.0);
    tcp.sent();
    let sent = tcp.echo(1, true);
    assert!(sent.iter().all(|segment| !segment.ecn.ect() && !segment.ecn.cwr()), "{sent:?}");
    assert_eq!((tcp.cwnd(), tcp.sender.counters().ecn_events), (5.0, 0));
}

#[test]
fn only_a_mark_at_a_window_of_one_holds_the_next_segment_back() {
    let sent_after_mark = |window: u32| {
        let mut tcp = with_ecn(LossRecovery::NewReno, f64::from(window));
        tcp.sender.stop_writing();
        tcp.sender.write(tcp.now, u64::from(window) * MSS);
        tcp.sent();
        tcp.echo(u64::from(window), true);
        tcp.sender.write(tcp.now, MSS);
        tcp.sent().len()
    };
    assert_eq!((sent_after_mark(1), sent_after_mark(2)), (0, 1));
}

#[test]
fn an_echo_cuts_once_a_window_and_is_answered_once() {
    let mut tcp = with_ecn(LossRecovery::NewReno, 8.0);
    tcp.sent();
    assert_eq!(tcp.echo(1, true), []);
    assert_eq!((tcp.cwnd(), tcp.sender.cc.ssthresh()), (4.0, 4.0));
    // Seven in flight; the fourth ACK makes room.
    assert_eq!(tcp.echo(4, true), []);
    let sent = tcp.echo(5, true);
    assert_eq!(sent.iter().map(|s| (s.seq / MSS, s.ecn.ect(), s.ecn.cwr())).collect::<Vec<_>>(), [(8, true, true)]);
    let sent = tcp.echo(8, true);
    assert_eq!(
        sent.iter().map(|s| (s.seq / MSS, s.ecn.ect(), s.ecn.cwr())).collect::<Vec<_>>().first(),
        Some(&(9, true, false))
    );
    assert_eq!(tcp.cwnd(), 4.0, "everything so far was sent before the answer");
    tcp.echo(9, true);
    assert_eq!(tcp.cwnd(), 2.0);
    let counters = tcp.sender.counters();
    assert_eq!((counters.ecn_events, counters.congestion_events), (2, 2));
}

#[test]
fn a_loss_in_a_window_that_was_cut_for_a_mark_is_repaired_and_no_second_event() {
    for recovery in [LossRecovery::Reno, LossRecovery::NewReno] {
        let mut tcp = with_ecn(recovery, 8.0);
        tcp.sent();
        tcp.echo(1, true);
        tcp.echo(1, true);
        tcp.echo(1, true);
        let sent = tcp.echo(1, true);
        let retransmission = sent.first().expect("a retransmission");
        assert_eq!((retransmission.seq, retransmission.ecn.ect(), retransmission.ecn.cwr()), (MSS, false, false));
        assert_eq!((tcp.cwnd(), tcp.sender.phase()), (4.0, Phase::FastRecovery), "{recovery:?}");
        assert_eq!(tcp.sender.counters().congestion_events, 1);
    }
}

#[test]
fn tahoe_begins_again_although_its_window_was_cut_for_a_mark() {
    let mut tcp = with_ecn(LossRecovery::Tahoe, 8.0);
    tcp.sent();
    for _ in 0..4 {
        tcp.echo(1, true);
    }
    assert_eq!((tcp.cwnd(), tcp.sender.counters().congestion_events), (1.0, 2));
    assert_eq!(tcp.sender.cc.ssthresh(), 4.0, "RFC 3168 §6.1.2: cut once a window");
}

#[test]
fn a_timeout_in_a_window_that_was_cut_for_a_mark_leaves_ssthresh() {
    let mut tcp = with_ecn(LossRecovery::NewReno, 8.0);
    tcp.sent();
    tcp.echo(1, true);
    tcp.expire();
    assert_eq!((tcp.cwnd(), tcp.sender.cc.ssthresh()), (1.0, 4.0));
}

#[test]
fn an_echo_while_losses_are_repaired_waits_for_their_end() {
    let mut tcp = with_ecn(LossRecovery::NewReno, 8.0);
    tcp.sent();
    for _ in 0..3 {
        tcp.ack(0, &[]);
    }
    assert_eq!(tcp.cwnd(), 4.0);
    for _ in 0..6 {
        tcp.echo(0, true);
    }
    assert_eq!(tcp.sender.counters().ecn_events, 0);
    // Recovery ends at segment 10, limited transmit included; 11 carries CWR.
    tcp.echo(10, true);
    assert_eq!((tcp.sender.phase(), tcp.sender.counters().ecn_events), (Phase::CongestionAvoidance, 0));
    tcp.echo(11, true);
    assert_eq!((tcp.cwnd(), tcp.sender.counters().ecn_events), (2.0, 1));
}

#[test]
fn at_one_segment_the_next_one_waits_for_the_timer() {
    let mut tcp = with_ecn(LossRecovery::Sack, 1.0);
    assert_eq!(tcp.sent(), [0]);
    assert_eq!(tcp.echo(1, true), []);
    assert_eq!(tcp.sender.in_flight(), 0);
    assert_eq!(tcp.sender.info().timer, Some((Timer::DelayedStart, tcp.now + tcp.sender.rtt().rto())));
    assert_eq!(tcp.expire(), [1]);
    assert_eq!((tcp.sender.counters().timeouts, tcp.sender.rtt().backoff()), (0, 0));
    // The echo is over: slow start goes on.
    assert_eq!(tcp.ack(2, &[]), [2, 3]);
}

#[test]
fn at_one_segment_the_timer_may_back_off_with_every_further_mark() {
    let backoffs = |mark_at_one| {
        let mut tcp = Driven::with(LossRecovery::Sack, 1.0, |transport| {
            transport.ecn = EcnMode::Classic;
            transport.mark_at_one = mark_at_one;
        });
        tcp.sent();
        [1, 2, 3].map(|ack| {
            tcp.echo(ack, true);
            let backoff = tcp.sender.rtt().backoff();
            tcp.expire();
            backoff
        })
    };
    assert_eq!((backoffs(MarkAtOne::Reset), backoffs(MarkAtOne::BackOff)), ([0, 0, 0], [0, 1, 2]));
}

/// Grows as it likes and takes no notice of marks.
#[derive(Debug)]
struct Deaf(f64);

impl CongestionControl for Deaf {
    fn cwnd(&self) -> f64 {
        self.0
    }
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
    fn responds_to_ecn(&self) -> bool {
        false
    }
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_congestion(&mut self, congestion: &Congestion) {
        assert_eq!(congestion.kind, CongestionKind::Ecn);
    }
}

#[test]
fn an_algorithm_need_not_react_and_the_receiver_is_answered_all_the_same() {
    let transport = Transport { mss: MSS as u32, ecn: EcnMode::Classic, ..Transport::default() };
    let mut tcp = Driven::of(transport, Cc::Custom(Box::new(Deaf(1.0))));
    tcp.sent();
    let sent = tcp.echo(1, true);
    assert_eq!(sent.iter().map(|s| (s.seq / MSS, s.ecn.cwr())).collect::<Vec<_>>(), [(1, true)]);
    assert_eq!((tcp.cwnd(), tcp.sender.counters().ecn_events), (1.0, 1));
}

#[test]
fn retransmissions_may_be_as_new_data_as_in_ns2() {
    let retransmission = |rule| {
        let mut tcp = Driven::with(LossRecovery::NewReno, 8.0, |transport| {
            transport.ecn = EcnMode::Classic;
            transport.ecn_retransmissions = rule;
        });
        tcp.sent();
        tcp.echo(0, false);
        tcp.echo(0, false);
        let sent = tcp.echo(0, false);
        (sent[0].seq, sent[0].ecn.ect(), sent[0].ecn.cwr())
    };
    assert_eq!(retransmission(EcnRetransmissions::Plain), (0, false, false));
    assert_eq!(retransmission(EcnRetransmissions::LikeNew), (0, true, true));
}

#[test]
fn accurate_feedback_counts_marks_and_cuts_once_a_window() {
    let mut tcp = Driven::with(LossRecovery::Sack, 8.0, |transport| {
        transport.ecn = EcnMode::AccEcn;
        transport.timestamps = true;
    });
    assert!(std::iter::from_fn(|| tcp.sender.poll_transmit(tcp.now)).all(|segment| segment.ecn.ect()));
    let feed_echoing = |tcp: &mut Driven, ack: u64, marks: u32, echo: Instant| {
        tcp.now += Duration::from_millis(1);
        let option = Some(AccEcnOption::new(1, marks * MSS as u32, 1));
        let ecn = EcnFeedback::AccEcn { ace: ((5 + marks) % 8) as u8, option };
        let ack = AckSegment { ack: ack * MSS, sack: SackBlocks::default(), echo, ecn: ecn.into() };
        tcp.sender.on_ack(tcp.now, &ack);
        std::iter::from_fn(|| tcp.sender.poll_transmit(tcp.now)).collect::<Vec<_>>()
    };
    let feed = |tcp: &mut Driven, ack: u64, marks: u32| feed_echoing(tcp, ack, marks, Instant::ZERO);
    assert_eq!(feed(&mut tcp, 2, 2), []);
    assert_eq!((tcp.cwnd(), tcp.sender.counters().ce_reported), (4.0, 2));
    // Three more in the same window: counted, and no second cut.
    let sent = feed(&mut tcp, 6, 5);
    assert!(!sent.is_empty() && sent.iter().all(|segment| segment.ecn.ect() && !segment.ecn.cwr()), "{sent:?}");
    assert_eq!((tcp.cwnd(), tcp.sender.counters().ce_reported), (4.0, 5));
    // An ACK that acknowledges nothing may be an old one, and is asked only if it echoes a later timestamp.
    feed(&mut tcp, 6, 7);
    assert_eq!(tcp.sender.counters().ce_reported, 5);
    feed_echoing(&mut tcp, 6, 7, Instant::from_nanos(1));
    assert_eq!(tcp.sender.counters().ce_reported, 7);
    feed_echoing(&mut tcp, 6, 9, Instant::from_nanos(1));
    assert_eq!(tcp.sender.counters().ce_reported, 7);
    feed(&mut tcp, 9, 8);
    assert_eq!((tcp.cwnd(), tcp.sender.counters().ecn_events), (2.0, 2));
}

#[test]
fn under_dctcp_all_packets_of_an_ack_with_an_echo_are_marked() {
    let mut tcp = Driven::with(LossRecovery::Sack, 8.0, |transport| transport.ecn = EcnMode::Dctcp);
    let _ = std::iter::from_fn(|| tcp.sender.poll_transmit(tcp.now)).count();
    let feed = |tcp: &mut Driven, ack: u64, ece: bool| {
        tcp.now += Duration::from_millis(1);
        let ecn = EcnFeedback::Classic { ece };
        tcp.sender.on_ack(
            tcp.now,
            &AckSegment { ack: ack * MSS, sack: SackBlocks::default(), echo: Instant::ZERO, ecn: ecn.into() },
        );
        (tcp.sender.counters().ce_reported, tcp.sender.counters().ecn_events)
    };
    assert_eq!(feed(&mut tcp, 1, false), (0, 0));
    assert_eq!(feed(&mut tcp, 3, true), (2, 1));
    // One event in a window, and each marked packet counts.
    assert_eq!(feed(&mut tcp, 4, true), (3, 1));
    assert_eq!(feed(&mut tcp, 5, false), (3, 1));
}
