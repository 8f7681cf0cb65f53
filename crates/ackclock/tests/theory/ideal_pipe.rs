//! One SACK flow on an ideal pipe, from first principles. The pipe has no queue, one round trip for every packet, an
//! ACK for each, and losses by packet number. The model shares no code with the simulator.
//!
//! The model knows the lost packets, but its sender does not. The sender detects a loss when three later packets have
//! been reported. Time is in round trips, windows are in segments. Mechanism:
//!
//! * growth by one segment per ACK below ssthresh, by `increase / w` above, and none in recovery
//! * one cut to `remaining * w` per recovery, which lasts until all data sent before it is delivered
//! * while the estimated flight is below the window, lost packets leave again before new ones
//! * a lost retransmission waits for the timer. The timer runs two round trips from the last new ACK or the start of
//!   recovery. The timeout sets ssthresh to w/2 and the window to 1. The sender retransmits everything outstanding,
//!   and the timer doubles until the next new ACK.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

const DUP_THRESH: u32 = 3;
const RTO: f64 = 2.0;

pub struct IdealPipe<F> {
    increase: f64,
    remaining: f64,
    /// Whether the packet with this number, from 1 in the order of sending, is lost.
    loses: F,
    sent: u64,
    now: f64,
    window: f64,
    ssthresh: f64,
    next_seq: u64,
    /// Sent and not delivered, as the sender sees it.
    outstanding: BTreeMap<u64, Segment>,
    in_flight: u32,
    /// Lost first transmissions that the sender has not detected, with the number of packets delivered above each.
    unnoticed: Vec<(u64, u32)>,
    to_resend: BTreeSet<u64>,
    /// When the news of each packet that arrives is back, in order.
    reports: VecDeque<(f64, u64)>,
    /// The end of the data sent when the last loss or timeout was detected.
    recover: u64,
    state: State,
    timer: f64,
    backoff: f64,
    window_integral: f64,
}

#[derive(Clone, Copy, Default)]
struct Segment {
    in_flight: bool,
    known_lost: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    Recovery,
    Restarted,
}

impl<F: FnMut(u64) -> bool> IdealPipe<F> {
    pub fn new(increase: f64, remaining: f64, loses: F) -> Self {
        IdealPipe {
            increase,
            remaining,
            loses,
            sent: 0,
            now: 0.0,
            window: 2.0,
            ssthresh: f64::INFINITY,
            next_seq: 0,
            outstanding: BTreeMap::new(),
            in_flight: 0,
            unnoticed: Vec::new(),
            to_resend: BTreeSet::new(),
            reports: VecDeque::new(),
            recover: 0,
            state: State::Open,
            timer: RTO,
            backoff: 1.0,
            window_integral: 0.0,
        }
    }

    /// Time-mean of the window from `warmup` to `end`.
    pub fn mean_window(mut self, warmup: f64, end: f64) -> f64 {
        self.run_until(warmup);
        let before = self.window_integral;
        self.run_until(end);
        (self.window_integral - before) / (end - warmup)
    }

    fn run_until(&mut self, end: f64) {
        loop {
            while self.in_flight < self.window as u32 {
                self.send_next();
            }
            let report = self.reports.front().map_or(f64::INFINITY, |(at, _)| *at);
            let at = report.min(self.timer);
            self.window_integral += self.window * (at.min(end) - self.now);
            self.now = at.min(end);
            if at >= end {
                return;
            }
            if self.timer < report {
                self.on_timeout();
            } else {
                let (_, seq) = self.reports.pop_front().expect("there is a report");
                self.on_report(seq);
            }
        }
    }

    fn send_next(&mut self) {
        let resend = if self.state == State::Open { None } else { self.to_resend.pop_first() };
        self.send(resend.unwrap_or(self.next_seq));
    }

    fn send(&mut self, seq: u64) {
        self.sent += 1;
        let lost = (self.loses)(self.sent);
        let first_time = seq == self.next_seq;
        if first_time {
            self.next_seq += 1;
        }
        if !lost {
            self.reports.push_back((self.now + 1.0, seq));
        } else if first_time {
            self.unnoticed.push((seq, 0));
        }
        let segment = self.outstanding.entry(seq).or_default();
        self.in_flight += u32::from(!segment.in_flight);
        segment.in_flight = true;
    }

    fn on_report(&mut self, seq: u64) {
        let first = self.first_outstanding();
        let Some(delivered) = self.outstanding.remove(&seq) else { return };
        self.in_flight -= u32::from(delivered.in_flight);
        self.to_resend.remove(&seq);
        self.notice_losses(seq);
        let in_recovery = self.state == State::Recovery;
        if seq == first {
            self.timer = self.now + RTO;
            self.backoff = 1.0;
            if self.state != State::Open && self.first_outstanding() >= self.recover {
                self.state = State::Open;
            }
            if !in_recovery {
                self.window += if self.window < self.ssthresh { 1.0 } else { self.increase / self.window };
            }
        } else if self.state == State::Open && self.outstanding[&first].known_lost {
            self.cut(first);
        }
    }

    /// Packet `seq` was delivered: three such reports above a lost one give it away.
    fn notice_losses(&mut self, seq: u64) {
        for (lost, above) in &mut self.unnoticed {
            *above += u32::from(*lost < seq);
            if *above == DUP_THRESH {
                self.outstanding.insert(*lost, Segment { in_flight: false, known_lost: true });
                self.in_flight -= 1;
                self.to_resend.insert(*lost);
            }
        }
        self.unnoticed.retain(|(_, above)| *above < DUP_THRESH);
    }

    fn cut(&mut self, first: u64) {
        self.window = (self.remaining * self.window).max(2.0);
        self.ssthresh = self.window;
        self.state = State::Recovery;
        self.recover = self.next_seq;
        self.timer = self.now + RTO;
        // Fast retransmit does not wait for the window.
        self.to_resend.remove(&first);
        self.send(first);
    }

    fn on_timeout(&mut self) {
        if self.backoff == 1.0 {
            self.ssthresh = (self.window / 2.0).max(2.0);
            self.window = 1.0;
        }
        self.backoff *= 2.0;
        self.timer = self.now + RTO * self.backoff;
        self.state = State::Restarted;
        self.recover = self.next_seq;
        self.unnoticed.clear();
        self.in_flight = 0;
        for segment in self.outstanding.values_mut() {
            *segment = Segment { in_flight: false, known_lost: true };
        }
        self.to_resend = self.outstanding.keys().copied().collect();
    }

    fn first_outstanding(&self) -> u64 {
        self.outstanding.keys().next().copied().unwrap_or(self.next_seq)
    }
}
