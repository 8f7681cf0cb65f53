//! PSH on the last segment of a burst and of a write.

use super::*;

/// A sender of a window of 10 segments, whose handshake took so many milliseconds.
fn pushing(rtt_ms: u64, change: impl FnOnce(&mut Transport)) -> Driven {
    let mut tcp = Driven::with(LossRecovery::Sack, 10.0, |transport| {
        transport.push_acks = true;
        change(transport);
    });
    tcp.sender.on_handshake(Instant::ZERO, Duration::from_millis(rtt_ms));
    tcp
}

/// The segments that may leave now, and whether they have PSH.
fn flags(tcp: &mut Driven) -> Vec<(u64, bool)> {
    let now = tcp.now;
    std::iter::from_fn(|| tcp.sender.poll_transmit(now)).map(|segment| (segment.seq / MSS, segment.ecn.psh())).collect()
}

fn pushed(tcp: &mut Driven) -> Vec<u64> {
    flags(tcp).into_iter().filter(|(_, psh)| *psh).map(|(number, _)| number).collect()
}

#[test]
fn a_burst_has_the_payload_of_a_millisecond_and_at_least_two_segments() {
    // Two windows of 10 kB in 100 ms are 195 bytes in 1/1024 s.
    assert_eq!(pushed(&mut pushing(100, |_| {})), [1, 3, 5, 7, 9]);
    // Two windows in 6 ms are 3255 bytes, and 2^16 bytes shifted by 11 add 32.
    assert_eq!(pushed(&mut pushing(6, |_| {})), [2, 5, 8]);
    // Two windows in 2 ms are 9765 bytes, and 2^16 bytes shifted by 3 add 8192. Half of the window is less.
    assert_eq!(pushed(&mut pushing(2, |_| {})), [4, 9]);
    assert_eq!(pushed(&mut pushing(100, |transport| transport.push_acks = false)), NOTHING);
}

#[test]
fn a_single_segment_has_no_psh_unless_it_ends_a_write() {
    let mut tcp = Driven::with(LossRecovery::Sack, 3.0, |transport| transport.push_acks = true);
    tcp.sender.on_handshake(Instant::ZERO, Duration::from_millis(100));
    // Half of the window is one segment.
    assert_eq!(flags(&mut tcp), [(0, false), (1, false), (2, false)]);
    let mut tcp = pushing(100, |transport| transport.max_window = Some(11));
    tcp.sender.stop_writing();
    tcp.sender.write(Instant::ZERO, 2 * MSS);
    assert_eq!(flags(&mut tcp), [(0, false), (1, true)]);
    tcp.sender.write(Instant::ZERO, MSS / 2);
    assert_eq!(flags(&mut tcp), [(2, true)]);
    // The end of a write has PSH again.
    tcp.now = tcp.sender.timers.deadline(Timer::Retransmission).unwrap();
    tcp.sender.on_deadline(tcp.now);
    assert_eq!(flags(&mut tcp), [(0, false)]);
    tcp.now += Duration::from_millis(1);
    let ack = AckSegment { ack: 2 * MSS, sack: SackBlocks::default(), echo: tcp.now, ecn: EcnFeedback::None.into() };
    tcp.sender.on_ack(tcp.now, &ack);
    assert_eq!(flags(&mut tcp), [(2, true)]);
}

#[test]
fn the_send_quantum_ends_a_burst_of_a_paced_sender() {
    let mut tcp = pushing(100, |transport| transport.pacing = Pacing::Linux);
    tcp.sender.refresh(Instant::ZERO);
    assert_eq!(flags(&mut tcp), [(0, false), (1, true)]);
}

#[test]
fn a_retransmission_is_a_burst_of_its_own() {
    let mut tcp = pushing(100, |transport| transport.pacing = Pacing::Linux);
    tcp.sender.refresh(Instant::ZERO);
    for (retransmission, held) in [(false, false), (true, true)] {
        tcp.now += Duration::from_secs(1);
        let rate = tcp.sender.pacing_rate().unwrap();
        tcp.sender.pace(tcp.now, MSS as u32, rate, retransmission);
        assert_eq!(tcp.sender.pacer.holds(tcp.now, MSS as u32), held);
    }
}

/// A sender in congestion avoidance at six segments.
fn deferring(defers: bool) -> Driven {
    let transport =
        Transport { mss: MSS as u32, push_acks: true, tso_defer: defers, timestamps: true, ..Transport::default() };
    let context = CcContext { initial_ssthresh: 1.0, ..CcContext::new(6.0) };
    Driven::of(transport, CcSpec::by_name("aimd").unwrap().build(context))
}

#[test]
fn less_than_a_third_of_the_window_waits_for_the_next_ack() {
    let mut tcp = deferring(true);
    assert_eq!(tcp.sent().len(), 6);
    // The ACK of segment 1, sent with segment 0, is due.
    assert_eq!(tcp.ack(1, &[]), NOTHING);
    assert_eq!(tcp.ack(2, &[]), [6, 7]);
    let mut at_once = deferring(false);
    at_once.sent();
    assert_eq!([at_once.ack(1, &[]), at_once.ack(2, &[])], [[6], [7]]);
}

#[test]
fn data_wait_neither_after_a_pause_nor_at_the_end_of_a_write() {
    let mut late = deferring(true);
    late.sent();
    late.now += Duration::from_millis(5);
    assert_eq!(late.ack(1, &[]), [6]);
    let transport = Transport { mss: MSS as u32, push_acks: true, tso_defer: true, ..Transport::default() };
    let context = CcContext { initial_ssthresh: 1.0, ..CcContext::new(6.0) };
    let mut sender = Sender::new(transport, CcSpec::by_name("aimd").unwrap().build(context));
    sender.open(Instant::ZERO);
    sender.write(Instant::ZERO, 7 * MSS);
    let mut ending = Driven { sender, now: Instant::ZERO };
    assert_eq!(ending.sent().len(), 6);
    assert_eq!(ending.ack(1, &[]), [6]);
}
