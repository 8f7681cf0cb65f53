//! A driven sender: ACKs in, segments out, hand-computed numbers. Segments are counted from 0.

mod connection;
mod delivery;
mod ecn;
mod expected;
mod fack;
mod pacing;
mod push;
mod rack;
mod recovery;
mod transmit;
mod undo;
mod variations;
mod witness;

use super::*;
use crate::cc::{Ack, CaState, CcContext, CcSpec, Congestion, ExitWindow};
use crate::tcp::segment::{AckSegment, EcnFeedback, SackBlocks};
use crate::transport::{
    ExitGrowth, LimitedTransmitSends, LossRecovery, PartialAckTimer, RepeatedTimeout, RttSamples, SackSender,
    SecondLoss,
};
use crate::units::Duration;

const MSS: u64 = 1000;
const NOTHING: [u64; 0] = [];

struct Driven {
    sender: Sender,
    now: Instant,
}

impl Driven {
    /// A bulk sender at initial window `window` that never leaves slow start by itself.
    fn new(recovery: LossRecovery, window: f64) -> Self {
        Driven::with(recovery, window, |_| {})
    }

    fn with(recovery: LossRecovery, window: f64, change: impl FnOnce(&mut Transport)) -> Self {
        let mut transport = Transport { mss: MSS as u32, recovery, ..Transport::default() };
        change(&mut transport);
        Driven::of(transport, CcSpec::by_name("aimd").unwrap().build(CcContext::new(window)))
    }

    fn of(transport: Transport, cc: Cc) -> Self {
        let mut sender = Sender::new(transport, cc);
        sender.open(Instant::ZERO);
        sender.write_forever();
        Driven { sender, now: Instant::ZERO }
    }

    /// Everything that may be sent now, by segment number.
    fn sent(&mut self) -> Vec<u64> {
        let mut sent = Vec::new();
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            sent.push(segment.seq / MSS);
        }
        sent
    }

    /// An ACK of everything below segment `ack`, 1 ms later, with SACK blocks in segments. Returns the released
    /// segments.
    fn ack(&mut self, ack: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        self.ack_echoing(ack, blocks, Instant::ZERO)
    }

    /// The same, with a timestamp.
    fn ack_echoing(&mut self, ack: u64, blocks: &[(u64, u64)], echo: Instant) -> Vec<u64> {
        self.now += Duration::from_millis(1);
        let mut sack = SackBlocks::default();
        for (start, end) in blocks {
            sack.push(ack * MSS, start * MSS, end * MSS);
        }
        self.sender.on_ack(self.now, &AckSegment { ack: ack * MSS, sack, echo, ecn: EcnFeedback::None.into() });
        self.sent()
    }

    fn expire(&mut self) -> Vec<u64> {
        let deadlines = [Timer::Retransmission, Timer::DelayedStart].map(|timer| self.sender.timers.deadline(timer));
        self.now = deadlines.into_iter().flatten().min().expect("the timer runs");
        self.sender.on_deadline(self.now);
        self.sent()
    }

    fn cwnd(&self) -> f64 {
        self.sender.cc.cwnd()
    }
}

#[test]
fn slow_start_sends_two_segments_for_each_that_is_acknowledged() {
    let mut tcp = Driven::new(LossRecovery::Reno, 2.0);
    assert_eq!(tcp.sent(), [0, 1]);
    assert_eq!(tcp.ack(1, &[]), [2, 3]);
    assert_eq!(tcp.ack(2, &[]), [4, 5]);
    assert_eq!((tcp.cwnd(), tcp.sender.phase()), (4.0, Phase::SlowStart));
}

#[test]
fn reno_retransmits_on_the_third_duplicate_and_inflates_until_a_new_ack() {
    let mut tcp = Driven::new(LossRecovery::Reno, 8.0);
    assert_eq!(tcp.sent(), (0..8).collect::<Vec<_>>());
    // Limited transmit: one new segment for each of the first two duplicates.
    assert_eq!(tcp.ack(0, &[]), [8]);
    assert_eq!(tcp.ack(0, &[]), [9]);
    // Third: ssthresh 8/2 = 4, window 4 + 3 = 7 below the flight of 10.
    assert_eq!(tcp.ack(0, &[]), [0]);
    assert_eq!((tcp.cwnd(), tcp.sender.phase()), (4.0, Phase::FastRecovery));
    // Windows 8, 9, 10 hold nothing new; 11 does. Nine duplicates for ten segments, one being lost.
    for _ in 0..3 {
        assert_eq!(tcp.ack(0, &[]), NOTHING);
    }
    assert_eq!(tcp.ack(0, &[]), [10]);
    assert_eq!(tcp.ack(0, &[]), [11]);
    assert_eq!(tcp.ack(0, &[]), [12]);
    // The retransmission arrives: everything up to 9 is acknowledged, three are in flight, the window is 4.
    assert_eq!(tcp.ack(10, &[]), [13]);
    assert_eq!((tcp.cwnd(), tcp.sender.phase()), (4.0, Phase::CongestionAvoidance));
    assert_eq!(tcp.sender.counters().retransmits, 1);
}

#[test]
fn an_echo_that_does_not_advance_the_left_edge_measures_nothing() {
    let mut tcp = Driven::with(LossRecovery::Sack, 4.0, |transport| transport.timestamps = true);
    tcp.sent();
    // Segment 0 is missing: what is echoed is older than what is reported.
    tcp.ack(0, &[(1, 2)]);
    assert_eq!(tcp.sender.rtt().srtt(), Duration::ZERO);
    tcp.ack(2, &[]);
    assert_eq!(tcp.sender.rtt().srtt(), Duration::from_millis(2));
}

#[test]
fn an_algorithm_sees_the_rtt_of_the_newest_segment_and_the_timeout_counts_that_of_the_echo() {
    let mut tcp = Driven::with(LossRecovery::Sack, 2.0, |transport| transport.timestamps = true);
    tcp.sent();
    // An ACK of the first one lets two segments go at 1 ms. One of the second and the fourth, which echoes the second, comes at 10 ms.
    assert_eq!(tcp.ack(1, &[]), [2, 3]);
    let latest = |tcp: &Driven| (tcp.sender.path().latest_rtt, tcp.sender.rtt().min(), tcp.sender.rtt().srtt());
    let ms = Duration::from_millis;
    assert_eq!(latest(&tcp), (ms(1), ms(1), ms(1)));
    tcp.now += ms(8);
    tcp.ack(3, &[]);
    assert_eq!(latest(&tcp), (ms(9), ms(1), (ms(7) + ms(10)) / 8));
    // A block reports a segment that left at 10 ms, and moves no estimate.
    tcp.ack(3, &[(4, 5)]);
    assert_eq!(latest(&tcp), (ms(1), ms(1), (ms(7) + ms(10)) / 8));
}

#[test]
fn without_limited_transmit_the_first_duplicates_send_nothing() {
    for recovery in [LossRecovery::Reno, LossRecovery::Sack] {
        let mut tcp = Driven::with(recovery, 8.0, |transport| transport.limited_transmit = false);
        tcp.sent();
        assert_eq!(tcp.ack(0, &[(1, 2)]), NOTHING);
        assert_eq!(tcp.ack(0, &[(1, 3)]), NOTHING);
        assert_eq!(tcp.ack(0, &[(1, 4)]), [0]);
    }
}

#[test]
fn newreno_repairs_one_loss_per_round_trip_on_partial_acks() {
    let mut tcp = Driven::new(LossRecovery::NewReno, 8.0);
    tcp.sent();
    // Segments 0 and 4 are lost: six duplicates for the eight sent, and for the two of limited transmit.
    assert_eq!(tcp.ack(0, &[]), [8]);
    assert_eq!(tcp.ack(0, &[]), [9]);
    assert_eq!(tcp.ack(0, &[]), [0]);
    for _ in 0..5 {
        tcp.ack(0, &[]);
    }
    // The retransmission of 0 is a partial ACK of four: 4 goes again, without another cut. The window was 4 + 8, and
    // is 4 less and 1 more (RFC 6582 §3.2): nine, of which eight are in flight.
    assert_eq!(tcp.ack(4, &[]), [4, 12]);
    assert_eq!((tcp.cwnd(), tcp.sender.phase()), (4.0, Phase::FastRecovery));
    let recovery_point = 10;
    tcp.ack(recovery_point, &[]);
    assert_eq!((tcp.cwnd(), tcp.sender.phase()), (4.0, Phase::CongestionAvoidance));
    assert_eq!(tcp.sender.counters().congestion_events, 1);
}

#[test]
fn newreno_does_not_take_old_duplicates_for_a_new_loss() {
    let mut tcp = Driven::new(LossRecovery::NewReno, 8.0);
    tcp.sent();
    for _ in 0..3 {
        tcp.ack(0, &[]);
    }
    // Recovery ends exactly at what was sent when it began: RFC 6582 asks for more than that.
    let recover = tcp.sender.recover.unwrap() / MSS;
    tcp.ack(recover, &[]);
    // RFC 3042: two segments beyond the window and no more.
    let sent: Vec<_> = (0..4).map(|_| tcp.ack(recover, &[]).len()).collect();
    assert_eq!(sent, [1, 1, 0, 0]);
    assert_eq!(tcp.sender.counters().congestion_events, 1);
    assert_eq!(tcp.sender.counters().retransmits, 1);
}

#[test]
fn reno_takes_a_second_loss_in_a_window_for_a_second_event() {
    let mut tcp = Driven::new(LossRecovery::Reno, 16.0);
    tcp.sent();
    for _ in 0..3 {
        tcp.ack(0, &[]);
    }
    assert_eq!(tcp.cwnd(), 8.0);
    tcp.ack(4, &[]);
    for _ in 0..3 {
        tcp.ack(4, &[]);
    }
    assert_eq!((tcp.cwnd(), tcp.sender.counters().retransmits), (4.0, 2));
}

#[test]
fn tahoe_goes_back_to_slow_start_and_sends_on_from_the_loss() {
    let mut tcp = Driven::new(LossRecovery::Tahoe, 8.0);
    tcp.sent();
    tcp.ack(0, &[]);
    tcp.ack(0, &[]);
    assert_eq!(tcp.ack(0, &[]), [0]);
    assert_eq!((tcp.cwnd(), tcp.sender.cc.ssthresh(), tcp.sender.phase()), (1.0, 4.0, Phase::SlowStart));
    // Everything else had arrived: the ACK skips it, and slow start goes on with new data.
    assert_eq!(tcp.ack(10, &[]), [10, 11]);
    assert_eq!(tcp.cwnd(), 2.0);
}

#[test]
fn sack_repairs_several_losses_in_one_round_trip_as_the_pipe_allows() {
    let mut tcp = Driven::new(LossRecovery::Sack, 12.0);
    tcp.sent();
    // 0, 2 and 4 are lost. Each ACK takes a segment out of the pipe, which lets a new one go.
    assert_eq!(tcp.ack(0, &[(1, 2)]), [12]);
    assert_eq!(tcp.ack(0, &[(3, 4), (1, 2)]), [13]);
    // 1, 3, 5 make 0 lost: window 6. In the pipe: 14 - 3 delivered - 1 lost, and the retransmission.
    assert_eq!(tcp.ack(0, &[(5, 6), (3, 4), (1, 2)]), [0]);
    assert_eq!((tcp.cwnd(), tcp.sender.in_flight()), (6.0, 11));
    // 6 and 7: 2 and then 4 have three above them. The pipe falls by two each, to 7.
    assert_eq!(tcp.ack(0, &[(5, 7), (3, 4), (1, 2)]), NOTHING);
    assert_eq!(tcp.ack(0, &[(5, 8), (3, 4), (1, 2)]), NOTHING);
    assert_eq!(tcp.sender.in_flight(), 7);
    assert_eq!(tcp.ack(0, &[(5, 9), (3, 4), (1, 2)]), NOTHING);
    assert_eq!(tcp.ack(0, &[(5, 10), (3, 4), (1, 2)]), [2]);
    assert_eq!(tcp.ack(0, &[(5, 11), (3, 4), (1, 2)]), [4]);
    assert_eq!(tcp.ack(0, &[(5, 12), (3, 4), (1, 2)]), [14]);
    // The retransmissions arrive; recovery ends at 14, what was sent when it began.
    tcp.ack(2, &[(5, 14), (3, 4)]);
    tcp.ack(4, &[(5, 14)]);
    assert_eq!(tcp.sender.phase(), Phase::FastRecovery);
    tcp.ack(14, &[]);
    assert_eq!((tcp.cwnd(), tcp.sender.phase()), (6.0, Phase::CongestionAvoidance));
    assert_eq!((tcp.sender.counters().retransmits, tcp.sender.counters().congestion_events), (3, 1));
}

#[test]
fn sack_retransmits_the_tail_once_when_nothing_else_is_left() {
    let mut tcp = Driven::new(LossRecovery::Sack, 10.0);
    tcp.sender.stop_writing();
    tcp.sender.write(Instant::ZERO, 6 * MSS);
    assert_eq!(tcp.sent(), (0..6).collect::<Vec<_>>());
    // 0 and 5 are lost. 1, 2, 3 make 0 lost; nothing shows that 5 is.
    tcp.ack(0, &[(1, 2)]);
    tcp.ack(0, &[(1, 3)]);
    assert_eq!(tcp.ack(0, &[(1, 4)]), [0]);
    assert_eq!(tcp.ack(0, &[(1, 5)]), NOTHING);
    // RFC 6675 rule 4: the rescue retransmission, once 0 is through.
    assert_eq!(tcp.ack(5, &[]), [5]);
    assert_eq!(tcp.ack(5, &[]), NOTHING);
    assert!(!tcp.sender.is_done());
    tcp.ack(6, &[]);
    assert!(tcp.sender.is_done());
}

#[test]
fn sack_retransmits_a_rescued_segment_again_once_it_is_found_lost() {
    let mut tcp = Driven::new(LossRecovery::Sack, 8.0);
    tcp.sender.stop_writing();
    tcp.sender.write(tcp.now, 6 * MSS);
    tcp.sent();
    // Segments 0 and 5 are lost, and so is the rescue of 5, which does not move HighRxt.
    for end in 2..=4 {
        tcp.ack(0, &[(1, end)]);
    }
    tcp.ack(0, &[(1, 5)]);
    assert_eq!(tcp.ack(5, &[]), [5]);
    tcp.sender.write(tcp.now, 8 * MSS);
    assert_eq!(tcp.sent(), [6, 7]);
    assert_eq!(tcp.ack(5, &[(6, 7)]), [8]);
    assert_eq!(tcp.ack(5, &[(6, 8)]), [9]);
    // RFC 6675 §4, rule 1 of NextSeg: three above it have arrived.
    assert_eq!(tcp.ack(5, &[(6, 9)])[0], 5);
}

#[test]
fn a_sender_that_counts_duplicates_may_send_two_segments_on_a_partial_ack() {
    let mut tcp = Driven::with(LossRecovery::Sack, 8.0, |transport| {
        transport.limited_transmit = false;
        transport.sack_sender = SackSender::PairOnPartialAck;
    });
    tcp.sent();
    // Segments 0, 1 and 2 are lost: eight in flight less three duplicates, against a window of four.
    assert_eq!(tcp.ack(0, &[(3, 4)]), NOTHING);
    assert_eq!(tcp.ack(0, &[(3, 5)]), NOTHING);
    assert_eq!(tcp.ack(0, &[(3, 6)]), [0]);
    assert_eq!(tcp.ack(0, &[(3, 7)]), NOTHING);
    assert_eq!(tcp.ack(0, &[(3, 8)]), [1]);
    // What is missing, be it sent again already, then new data.
    let deadline = tcp.sender.timers.deadline(Timer::Retransmission);
    assert_eq!(tcp.ack(1, &[(3, 8)]), [1, 2]);
    let restarted = tcp.sender.timers.deadline(Timer::Retransmission);
    assert!(restarted > deadline);
    assert_eq!(tcp.ack(2, &[(3, 8)]), [8, 9]);
    assert_eq!(
        tcp.sender.timers.deadline(Timer::Retransmission),
        restarted,
        "only the first partial ACK restarts the timer"
    );
}

#[test]
fn a_timeout_backs_off_collapses_the_window_and_sends_everything_again() {
    for recovery in [LossRecovery::Tahoe, LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack] {
        let mut tcp = Driven::new(recovery, 8.0);
        tcp.sent();
        assert_eq!(tcp.expire(), [0]);
        assert_eq!(tcp.now, Instant::ZERO + Duration::from_secs(1));
        assert_eq!((tcp.cwnd(), tcp.sender.cc.ssthresh()), (1.0, 4.0));
        assert_eq!(tcp.sender.phase(), Phase::RtoRecovery);
        // RFC 5681: another expiry for the same segment leaves ssthresh; RFC 6298: the timer doubles.
        assert_eq!(tcp.expire(), [0]);
        assert_eq!(tcp.now, Instant::ZERO + Duration::from_secs(3));
        assert_eq!(tcp.sender.counters().timeouts, 2);
        assert_eq!((tcp.cwnd(), tcp.sender.cc.ssthresh()), (1.0, 4.0));
        // Slow start over what was in flight, then on to new data.
        assert_eq!(tcp.ack(1, &[]), [1, 2]);
        assert_eq!(tcp.sender.phase(), Phase::SlowStart);
        assert_eq!(tcp.ack(8, &[]), [8, 9, 10]);
    }
}

#[test]
fn duplicates_after_a_timeout_start_no_recovery_until_everything_is_acknowledged() {
    for recovery in [LossRecovery::Reno, LossRecovery::NewReno] {
        let mut tcp = Driven::new(recovery, 8.0);
        tcp.sent();
        tcp.expire();
        for _ in 0..5 {
            tcp.ack(0, &[]);
        }
        assert_eq!((tcp.sender.counters().congestion_events, tcp.cwnd()), (1, 1.0));
    }
}

#[test]
fn the_timer_restarts_on_new_acks_and_stops_when_all_is_acknowledged() {
    let mut tcp = Driven::new(LossRecovery::Sack, 4.0);
    tcp.sender.stop_writing();
    tcp.sender.write(Instant::ZERO, 4 * MSS);
    tcp.sent();
    tcp.ack(2, &[]);
    // The first measurement is 1 ms: RTO = 1 + max(1, 4 x .5) = 3 ms, below the floor of 200 ms.
    assert_eq!(tcp.sender.next_deadline(), Some(tcp.now + Duration::from_millis(200)));
    tcp.ack(4, &[]);
    assert_eq!(tcp.sender.next_deadline(), None);
}

#[test]
fn fast_retransmit_gives_the_retransmission_a_whole_timeout() {
    for recovery in [LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack] {
        let mut tcp = Driven::new(recovery, 8.0);
        tcp.sent();
        for sacked_end in 2..=4 {
            tcp.ack(0, &[(1, sacked_end)]);
        }
        // The timer has run since the first segment, which went out 3 ms ago.
        assert_eq!(tcp.sender.timers.deadline(Timer::Retransmission), Some(tcp.now + tcp.sender.rtt.rto()));
    }
}

#[test]
fn the_handshake_is_the_first_measurement() {
    let mut tcp = Driven::new(LossRecovery::Sack, 2.0);
    tcp.sender.on_handshake(tcp.now, Duration::from_millis(100));
    // RTO 100 + 4 x 50.
    assert_eq!((tcp.sender.rtt().totals().1, tcp.sender.rtt().rto()), (1, Duration::from_millis(300)));
}

#[test]
fn the_set_up_may_have_measured_the_round_trip_time() {
    let transport = Transport { handshake_rtt: Duration::from_millis(100), ..Transport::default() };
    let mut sender = Sender::new(transport, CcSpec::by_name("aimd").unwrap().build(CcContext::new(2.0)));
    sender.open(Instant::ZERO);
    // RFC 6298 §2.2: 100 ms and four times half of that.
    assert_eq!(sender.rtt().rto(), Duration::from_millis(300));
}

#[test]
fn retransmitted_segments_give_no_measurement() {
    let mut tcp = Driven::new(LossRecovery::Reno, 2.0);
    tcp.sent();
    tcp.expire();
    tcp.ack(1, &[]);
    assert_eq!(tcp.sender.rtt().totals().1, 0, "Karn: the RTT of what was sent twice is ambiguous");
    assert_eq!(tcp.sender.rtt().rto(), Duration::from_secs(2), "the back-off stays until a measurement");
}

#[test]
fn the_round_trip_time_enters_the_estimate_once_per_round() {
    let mut tcp = Driven::new(LossRecovery::Sack, 2.0);
    tcp.sent();
    let srtt_us = |tcp: &Driven| tcp.sender.rtt().srtt().as_nanos() / 1000;
    // The first window went out at 0 ms; its second ACK, of 2 ms, belongs to the same round.
    tcp.ack(1, &[]);
    assert_eq!(srtt_us(&tcp), 1000);
    tcp.ack(2, &[]);
    assert_eq!(srtt_us(&tcp), 1000);
    // Segment 2 went out at 1 ms: 7/8 of 1 ms and 1/8 of 2 ms.
    tcp.ack(3, &[]);
    assert_eq!(srtt_us(&tcp), 1125);
}

#[test]
fn a_window_that_is_not_used_does_not_grow_and_falls_back_after_idleness() {
    let mut tcp = Driven::new(LossRecovery::Sack, 2.0);
    tcp.sender.stop_writing();
    let mut acked = 0;
    for burst in [2u64, 2, 4, 1, 1, 1] {
        tcp.sender.write(tcp.now, burst * MSS);
        tcp.sent();
        for _ in 0..burst {
            acked += 1;
            tcp.ack(acked, &[]);
        }
    }
    // The bursts of 2, 2 and 4 used windows of 2, 3 and 4 or more in part; those of 1 never did.
    let settled = tcp.cwnd();
    tcp.sender.write(tcp.now, MSS);
    tcp.sent();
    tcp.ack(acked + 1, &[]);
    assert_eq!(tcp.cwnd(), settled);
    assert!(settled > 2.0);
    tcp.now += Duration::from_secs(10);
    tcp.sender.write(tcp.now, 8 * MSS);
    assert_eq!(tcp.cwnd(), 2.0);
    assert_eq!(tcp.sent().len(), 2);
}

#[test]
fn an_ack_outside_of_what_is_outstanding_is_ignored() {
    let mut tcp = Driven::new(LossRecovery::Reno, 4.0);
    tcp.sent();
    tcp.ack(2, &[]);
    let (cwnd, state) = (tcp.cwnd(), tcp.sender.info().state);
    // RFC 9293 §3.10.7.4: below SND.UNA it "can be ignored"; above SND.NXT it "acks something not yet sent".
    assert_eq!((tcp.ack(1, &[]), tcp.ack(8, &[])), (vec![], vec![]));
    assert_eq!((tcp.sender.acknowledged(), tcp.cwnd(), tcp.sender.info().state), (2 * MSS, cwnd, state));
}

#[test]
fn the_window_is_summed_over_time_from_the_start_of_the_application() {
    let mut tcp = Driven::new(LossRecovery::Sack, 2.0);
    tcp.now += Duration::from_millis(5);
    tcp.sender.open(tcp.now);
    tcp.sent();
    tcp.ack(1, &[]);
    // Two segments for 1 ms, three for 2 ms.
    tcp.now += Duration::from_millis(2);
    assert_eq!(tcp.sender.window_integral(tcp.now), 8e6);
}

#[test]
fn growth_counts_acks_or_bytes() {
    let grown = |byte_counting| {
        let mut tcp = Driven::with(LossRecovery::Sack, 8.0, |transport| transport.byte_counting = byte_counting);
        tcp.sent();
        tcp.ack(4, &[]);
        tcp.cwnd()
    };
    // One ACK of four segments: one by RFC 5681, at most two by RFC 3465, four without a bound.
    assert_eq!((grown(1), grown(2), grown(u32::MAX)), (9.0, 10.0, 12.0));
}

#[test]
fn growth_may_count_bytes_in_congestion_avoidance_alone() {
    let grown = |ssthresh| {
        let transport = Transport { mss: MSS as u32, byte_counting: 0, ..Transport::default() };
        let context = CcContext { initial_ssthresh: ssthresh, ..CcContext::new(8.0) };
        let mut tcp = Driven::of(transport, CcSpec::by_name("reno").unwrap().build(context));
        tcp.sent();
        tcp.ack(4, &[]);
        tcp.cwnd()
    };
    // One ACK of four segments.
    assert_eq!((grown(100.0), grown(4.0)), (9.0, 8.5));
}

#[test]
fn counters_add_up() {
    let mut sum = SenderCounters {
        segments: 2,
        payload_bytes: 3,
        retransmits: 5,
        timeouts: 7,
        congestion_events: 11,
        ecn_events: 13,
        ce_reported: 17,
        undos: 19,
        duplicates_reported: 23,
    };
    sum += SenderCounters {
        segments: 100,
        payload_bytes: 200,
        retransmits: 300,
        timeouts: 400,
        congestion_events: 500,
        ecn_events: 600,
        ce_reported: 700,
        undos: 800,
        duplicates_reported: 900,
    };
    let SenderCounters {
        segments,
        payload_bytes,
        retransmits,
        timeouts,
        congestion_events,
        ecn_events,
        ce_reported,
        undos,
        duplicates_reported,
    } = sum;
    assert_eq!([segments, payload_bytes, retransmits, timeouts], [102, 203, 305, 407]);
    assert_eq!([congestion_events, ecn_events, ce_reported], [511, 613, 717]);
    assert_eq!([undos, duplicates_reported], [819, 923]);
}
