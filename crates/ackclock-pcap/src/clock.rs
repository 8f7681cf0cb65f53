//! Clocks that are set while a capture is made.

use std::cmp::Ordering;

use ackclock::capture::TcpHeader;
use serde::Serialize;

/// A shorter step back comes from interfaces whose packets are not in order.
const BACK_NS: u64 = 10_000_000_000;
/// A shorter step ahead is a pause.
const AHEAD_NS: u64 = 600_000_000_000;

/// A step of the clock in a capture, and the packets that are used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClockStep {
    /// The largest step, in seconds.
    pub step_s: f64,
    /// Packets between two steps that are used, the most of them.
    pub used: usize,
    /// Packets of the connection.
    pub packets: usize,
}

/// Keeps the longest part between two steps of the clock, in packets. `headers` has the order of the file.
///
/// A step back is an adjustment of the clock. A step of minutes ahead is one if data wait for their ACK. It is also
/// one if the clock of timestamps moved less. A tick of that clock is at most a second (RFC 7323 §5.4).
pub(crate) fn keep_between_steps(headers: &mut Vec<TcpHeader>) -> Option<ClockStep> {
    let mut bounds = vec![0];
    let (mut largest, mut state) = (0.0_f64, Waiting::default());
    for (index, pair) in headers.windows(2).enumerate() {
        let [before, after] = pair else { continue };
        state.take(before);
        if state.is_step(before, after) {
            bounds.push(index + 1);
            let step = (after.time.as_nanos() as f64 - before.time.as_nanos() as f64) / 1e9;
            largest = if step.abs() > largest.abs() { step } else { largest };
        }
    }
    if bounds.len() == 1 {
        return None;
    }
    let packets = headers.len();
    bounds.push(packets);
    let parts = bounds.windows(2).map(|pair| (pair[0], pair[1]));
    let (from, to) = parts.max_by_key(|(from, to)| to - from).unwrap_or((0, packets));
    headers.truncate(to);
    headers.drain(..from);
    Some(ClockStep { step_s: largest, used: to - from, packets })
}

/// Data that wait for their ACK, and the latest clocks of timestamps.
#[derive(Default)]
struct Waiting {
    sent: Option<u32>,
    acked: Option<u32>,
    /// The clocks of the other direction and of the sender.
    clocks: [Option<u32>; 2],
}

impl Waiting {
    fn take(&mut self, header: &TcpHeader) {
        let ahead = |number: u32, other: Option<u32>| {
            other.filter(|other| (number.wrapping_sub(*other) as i32) < 0).or(Some(number))
        };
        if header.forward && header.len > 0 {
            self.sent = ahead(header.seq.wrapping_add(header.len), self.sent);
        }
        if let Some(ack) = header.ack.filter(|_| !header.forward) {
            self.acked = ahead(ack, self.acked);
        }
        if let Some((clock, _)) = header.timestamps {
            self.clocks[usize::from(header.forward)] = Some(clock);
        }
    }

    fn is_step(&self, before: &TcpHeader, after: &TcpHeader) -> bool {
        let step = after.time.as_nanos().abs_diff(before.time.as_nanos());
        match after.time.cmp(&before.time) {
            Ordering::Less => step > BACK_NS,
            _ if step < AHEAD_NS => false,
            _ => self.waits() || self.stood_still(after, step),
        }
    }

    fn waits(&self) -> bool {
        self.sent.is_some_and(|sent| self.acked.is_none_or(|acked| (sent.wrapping_sub(acked) as i32) > 0))
    }

    fn stood_still(&self, after: &TcpHeader, step: u64) -> bool {
        let last = self.clocks[usize::from(after.forward)];
        let ticks = after.timestamps.zip(last).map(|((clock, _), last)| clock.wrapping_sub(last));
        ticks.is_some_and(|ticks| u64::from(ticks) * 1_000_000_000 < step)
    }
}

#[cfg(test)]
mod tests {
    use ackclock::units::Instant;

    use super::*;

    fn at(seconds: u64, forward: bool, len: u32, clock: Option<u32>) -> TcpHeader {
        let time = Instant::from_nanos(seconds * 1_000_000_000);
        let timestamps = clock.map(|clock| (clock, 0));
        let (seq, ack) = if forward { (1, 1) } else { (1, 101) };
        TcpHeader { time, forward, seq, ack: Some(ack), len, timestamps, ..TcpHeader::default() }
    }

    fn kept(headers: &[TcpHeader]) -> (usize, Option<ClockStep>) {
        let mut headers = headers.to_vec();
        let step = keep_between_steps(&mut headers);
        (headers.len(), step)
    }

    #[test]
    fn an_hour_ahead_while_data_wait_is_a_step() {
        let headers = [at(1, true, 100, None), at(3601, false, 0, None), at(3602, false, 0, None)];
        let step = ClockStep { step_s: 3600.0, used: 2, packets: 3 };
        assert_eq!(kept(&headers), (2, Some(step)));
    }

    #[test]
    fn an_idle_hour_is_none_unless_timestamps_say_so() {
        let quiet = |clocks: [Option<u32>; 2]| {
            kept(&[at(0, true, 100, clocks[0]), at(1, false, 0, None), at(3601, true, 0, clocks[1])]).1
        };
        assert_eq!(quiet([None, None]), None);
        assert_eq!(quiet([Some(5), Some(3_600_005)]), None);
        assert_eq!(quiet([Some(5), Some(45)]).map(|step| step.step_s), Some(3600.0));
    }

    #[test]
    fn from_1970_to_today_and_back_are_steps() {
        let now = 1_700_000_000;
        let headers = [at(1, false, 0, None), at(now, true, 0, Some(1)), at(now, true, 0, None), at(2, true, 0, None)];
        assert_eq!(kept(&headers).1.map(|step| (step.step_s, step.used)), Some((-1_699_999_998.0, 3)));
        // Interfaces that are not in order.
        assert_eq!(kept(&[at(5, true, 0, None), at(4, true, 0, None)]).1, None);
    }
}
