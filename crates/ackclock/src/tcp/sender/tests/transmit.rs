//! Permission to send.

use super::*;

#[test]
fn the_receiver_bounds_what_is_sent_in_segments_and_in_bytes() {
    let mut tcp = Driven::with(LossRecovery::Sack, 8.0, |transport| transport.max_window = Some(3));
    assert_eq!(tcp.sent(), [0, 1, 2]);
    assert_eq!(tcp.ack(1, &[]), [3]);
    // A segment that does not fit whole waits.
    tcp.sender.set_window_edge(5 * MSS - 1);
    assert_eq!(tcp.ack(3, &[]), NOTHING);
    tcp.sender.set_window_edge(5 * MSS);
    assert_eq!(tcp.sent(), [4]);
}

#[test]
fn the_last_segment_is_as_long_as_what_is_left() {
    let mut tcp = Driven::new(LossRecovery::Sack, 8.0);
    tcp.sender.stop_writing();
    tcp.sender.write(tcp.now, 2 * MSS + 300);
    assert_eq!(tcp.sent(), [0, 1, 2]);
    let counters = tcp.sender.counters();
    assert_eq!((counters.segments, counters.payload_bytes, tcp.sender.sent_once()), (3, 2300, 2300));
}

#[test]
fn one_event_sends_no_more_than_the_longest_burst() {
    let mut tcp = Driven::with(LossRecovery::Sack, 8.0, |transport| transport.max_burst = Some(3));
    assert_eq!(tcp.sent(), [0, 1, 2]);
    assert_eq!(tcp.ack(1, &[]), [3, 4, 5]);
    // A window of 8 has room for six; the next ACK sends the rest.
    assert_eq!(tcp.ack(4, &[]), [6, 7, 8]);
    assert_eq!(tcp.ack(5, &[]), [9, 10, 11]);
}
