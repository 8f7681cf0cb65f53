//! Compares a connection with the pseudocode of RFC 9002, over paths that lose, delay and mark, for fuzzers and
//! tests.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::Sender;
use crate::cc::{CcContext, CcSpec};
use crate::ecn::Ecn;
use crate::quic::packet::{AckPacket, DataPacket};
use crate::quic::receiver::Receiver;
use crate::transport::numbered::{GRANULARITY, KEEPS_LOST_FOR, MOST_BACKOFF};
use crate::transport::{EcnMode, Protocol, Timer, Transport};
use crate::units::{Duration, Instant};

/// Bytes of a frame.
const MSS: u64 = 1000;
/// Frames of a connection that is fuzzed.
const FRAMES: u64 = 120;
/// Packets with a drawn outcome. Later ones arrive.
const MOST: usize = 1_000;
/// Of either direction.
const DELAY: Duration = Duration::from_millis(50);

/// The outcome of a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    InFlight,
    Acknowledged,
    Lost,
}

/// A packet of the model.
#[derive(Clone, Copy)]
struct Sent {
    at: Instant,
    fate: Fate,
}

/// The sender's measurements, which the model uses.
#[derive(Clone, Copy)]
struct Measured {
    srtt: Duration,
    latest: Duration,
    rttvar: Duration,
    max_ack_delay: Duration,
}

impl Measured {
    fn of(sender: &Sender) -> Self {
        let rtt = sender.rtt();
        Measured {
            srtt: rtt.srtt(),
            latest: rtt.latest(),
            rttvar: rtt.rttvar(),
            max_ack_delay: sender.transport.delayed_ack.unwrap_or(Duration::ZERO),
        }
    }

    /// RFC 9002 §6.2.1, without back-off.
    fn pto(&self) -> Duration {
        self.srtt + (self.rttvar * 4).max(GRANULARITY) + self.max_ack_delay
    }
}

/// RFC 9002 §A and §B as written: every event examines all packets.
#[derive(Default)]
struct Model {
    packets: BTreeMap<u64, Sent>,
    next: u64,
    /// Of packets before it the sender knows nothing more.
    known_from: u64,
    largest_acked: Option<u64>,
    loss_time: Option<Instant>,
    last_sent_at: Instant,
    pto_count: u32,
    first_sample: Option<Instant>,
    /// Packets with smaller numbers begin no recovery period, as with congestion_recovery_start_time.
    recovery_end: u64,
    /// Losses before it have established persistent congestion, and do not count for another.
    persistent_from: u64,
    marks: u32,
    found: Found,
}

/// The events that a test queries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub(super) by_packets: u64,
    pub(super) by_time: u64,
    pub(super) timeouts: u64,
    pub(super) congestion_events: u64,
    pub(super) marked: u64,
    pub(super) persistent: u64,
    pub(super) late: u64,
}

impl Model {
    fn in_flight(&self) -> u32 {
        self.packets.values().filter(|packet| packet.fate == Fate::InFlight).count() as u32
    }

    /// OnPacketSent().
    fn on_sent(&mut self, now: Instant, packet: &DataPacket) {
        assert_eq!(packet.number, self.next, "a packet number is used once, and none is left out");
        self.next += 1;
        self.packets.insert(packet.number, Sent { at: now, fate: Fate::InFlight });
        self.last_sent_at = now;
    }

    /// OnAckReceived(). `counts_marks` is true while ECN is validated.
    fn on_ack(&mut self, now: Instant, ack: &AckPacket, ranges: &[(u64, u64)], measured: Measured, counts_marks: bool) {
        let is_new = |number: &u64, packet: &Sent| {
            packet.fate != Fate::Acknowledged && ranges.iter().any(|(start, end)| (start..end).contains(&number))
        };
        let known = self.packets.range(self.known_from..);
        let newly: Vec<u64> =
            known.filter(|(number, packet)| is_new(number, packet)).map(|(number, _)| *number).collect();
        let Some(largest) = newly.last().copied() else { return };
        let before = self.largest_acked;
        self.largest_acked = before.max(Some(largest));
        for number in &newly {
            let packet = self.packets.get_mut(number).expect("a new number was sent");
            self.found.late += u64::from(packet.fate == Fate::Lost);
            packet.fate = Fate::Acknowledged;
        }
        if largest == ack.largest {
            self.first_sample.get_or_insert(now);
        }
        if counts_marks && before.is_none_or(|before| largest > before) {
            let ce = ack.ecn.map_or(0, |counts| counts.ce);
            if ce > self.marks && largest >= self.recovery_end {
                self.begin_recovery();
                self.found.marked += 1;
            }
            self.marks = self.marks.max(ce);
        }
        self.detect_losses(now, measured);
        self.pto_count = 0;
        self.forget(now, measured);
    }

    fn begin_recovery(&mut self) {
        self.found.congestion_events += 1;
        self.recovery_end = self.next;
    }

    /// DetectAndRemoveLostPackets() and OnPacketsLost().
    fn detect_losses(&mut self, now: Instant, measured: Measured) {
        self.loss_time = None;
        let Some(largest) = self.largest_acked else { return };
        let loss_delay = (measured.srtt.max(measured.latest) * 9 / 8).max(GRANULARITY);
        let mut lost = Vec::new();
        for (number, packet) in self.packets.range_mut(..=largest).filter(|(_, packet)| packet.fate == Fate::InFlight) {
            let by_time = packet.at + loss_delay <= now;
            if by_time || largest >= number + 3 {
                packet.fate = Fate::Lost;
                lost.push(*number);
                self.found.by_time += u64::from(by_time);
                self.found.by_packets += u64::from(!by_time);
            } else {
                let time = packet.at + loss_delay;
                self.loss_time = Some(self.loss_time.map_or(time, |first| first.min(time)));
            }
        }
        let Some(last) = lost.last().copied() else { return };
        if last >= self.recovery_end {
            self.begin_recovery();
        }
        if lost.iter().any(|number| self.is_persistent(*number, measured)) {
            self.found.congestion_events += 1;
            self.found.persistent += 1;
            (self.recovery_end, self.persistent_from) = (0, last + 1);
        }
    }

    /// InPersistentCongestion(), of all losses up to this one (§7.6.2).
    fn is_persistent(&self, last: u64, measured: Measured) -> bool {
        if last < self.persistent_from {
            return false;
        }
        let until = self.packets[&last].at;
        let since = self
            .packets
            .range(self.persistent_from..=last)
            .rev()
            .take_while(|(_, packet)| packet.fate == Fate::Lost)
            .filter(|(_, packet)| self.first_sample.is_some_and(|sample| packet.at >= sample))
            .last();
        since.is_some_and(|(_, first)| until.since(first.at) > measured.pto() * 3)
    }

    /// The sender forgets acknowledged packets, and lost ones after some time, up to the first that it needs.
    fn forget(&mut self, now: Instant, measured: Measured) {
        let kept = (measured.pto() * KEEPS_LOST_FOR).as_nanos();
        let keep_lost = Instant::from_nanos(now.as_nanos().saturating_sub(kept));
        let is_needed = |packet: &Sent| match packet.fate {
            Fate::InFlight => true,
            Fate::Lost => packet.at >= keep_lost,
            Fate::Acknowledged => false,
        };
        let needed = self.packets.range(self.known_from..).find(|(_, packet)| is_needed(packet));
        self.known_from = needed.map_or(self.next, |(number, _)| *number);
    }

    /// SetLossDetectionTimer().
    fn timer(&self, measured: Measured, initial: Duration) -> Option<(Timer, Instant)> {
        if let Some(at) = self.loss_time {
            return Some((Timer::Reordering, at));
        }
        let pto = if self.first_sample.is_some() { measured.pto() } else { initial };
        (self.in_flight() > 0)
            .then(|| (Timer::Probe, self.last_sent_at + pto * (1 << self.pto_count.min(MOST_BACKOFF))))
    }
}

/// A packet or an ACK in flight.
enum Event {
    Data(DataPacket, bool),
    Ack(AckPacket, Vec<(u64, u64)>),
}

/// The effect of a path on a packet: its delay, and whether it is marked.
type Passage = Option<(Duration, bool)>;

/// A sender, a receiver, and the parallel model.
struct Path {
    sender: Sender,
    receiver: Receiver,
    model: Model,
    events: BTreeMap<(Instant, u64), Event>,
    number: u64,
    now: Instant,
}

impl Path {
    fn new(transport: &Transport, window: f64) -> Self {
        let context = transport.cc_context(CcContext::new(window), 0);
        let mut sender = Sender::new(transport.clone(), CcSpec::by_name("reno").expect("it is there").build(context));
        sender.open(Instant::ZERO);
        sender.write(Instant::ZERO, FRAMES * MSS);
        let receiver = Receiver::new(transport);
        Path { sender, receiver, model: Model::default(), events: BTreeMap::new(), number: 0, now: Instant::ZERO }
    }

    fn add(&mut self, at: Instant, event: Event) {
        self.number += 1;
        self.events.insert((at, self.number), event);
    }

    /// Sends all permitted packets: the window limits them, except probes and one packet of a new recovery period
    /// (§7.3.2, §7.5).
    fn send(&mut self, probes: u32, next: &impl Fn() -> Passage) {
        let (mut left, window) = (probes + 1, self.sender.cwnd() as u32);
        while let Some(packet) = self.sender.poll_transmit(self.now) {
            if self.model.in_flight() >= window {
                assert!(left > 0, "packet {} leaves beyond the window at {:?}", packet.number, self.now);
                left -= 1;
            }
            self.model.on_sent(self.now, &packet);
            if let Some((late, ce)) = next() {
                self.add(self.now + DELAY + late, Event::Data(packet, ce && packet.ect));
            }
        }
    }

    fn answer(&mut self, ack: Option<AckPacket>, next: &impl Fn() -> Passage) {
        if let Some((ack, (late, _))) = ack.and_then(|ack| Some((ack, next()?))) {
            let ranges = self.receiver.ranges().to_vec();
            self.add(self.now + DELAY + late, Event::Ack(ack, ranges));
        }
    }

    /// A timer of the sender expires. Returns the number of permitted probes.
    fn on_timer(&mut self, at: Instant) -> u32 {
        self.now = at;
        let measured = Measured::of(&self.sender);
        self.sender.on_deadline(at);
        if self.model.loss_time.is_some() {
            self.model.detect_losses(at, measured);
            // SetLossDetectionTimer() may set a time that has passed.
            let timer = self.model.timer(measured, self.sender.transport.initial_rto);
            if timer.is_none_or(|(timer, due)| timer != Timer::Probe || due > at) {
                return 0;
            }
        }
        self.model.pto_count += 1;
        self.model.found.timeouts += 1;
        2
    }

    /// Until everything is acknowledged.
    fn run(&mut self, next: &impl Fn() -> Passage) {
        self.send(0, next);
        while !self.sender.is_done() {
            let event = self.events.first_key_value().map(|(key, _)| key.0);
            let answer = self.receiver.next_deadline();
            let timer = self.sender.next_deadline();
            let first = [event, answer, timer].into_iter().flatten().min();
            let at = first.expect("something is under way, or a timer runs");
            let mut probes = 0;
            if event == Some(at) {
                self.now = at;
                match self.events.pop_first().expect("there is one").1 {
                    Event::Data(packet, ce) => {
                        let unmarked = if packet.ect { Ecn::Ect0 } else { Ecn::NotEct };
                        let ack = self.receiver.on_data(at, &packet, if ce { Ecn::Ce } else { unmarked });
                        self.answer(ack, next);
                        continue;
                    }
                    Event::Ack(ack, ranges) => {
                        let counts_marks = self.sender.own.ecn.is_on();
                        self.sender.on_ack(at, &ack, &ranges);
                        let measured = Measured::of(&self.sender);
                        self.model.on_ack(at, &ack, &ranges, measured, counts_marks);
                    }
                }
            } else if answer == Some(at) {
                self.now = at;
                let ack = self.receiver.on_deadline(at);
                self.answer(ack, next);
                continue;
            } else {
                probes = self.on_timer(at);
            }
            self.send(probes, next);
            self.compare();
        }
    }

    fn compare(&self) {
        let (sender, model, now) = (&self.sender, &self.model, self.now);
        assert_eq!(sender.in_flight(), model.in_flight(), "in flight at {now:?}");
        assert_eq!(sender.losses(), model.found.by_packets + model.found.by_time, "losses at {now:?}");
        let timer = model.timer(Measured::of(sender), sender.transport.initial_rto);
        assert_eq!(sender.info().timer, timer, "the timer at {now:?}");
        let counters = sender.counters();
        assert_eq!(counters.congestion_events, model.found.congestion_events, "reductions at {now:?}");
        assert_eq!(counters.timeouts, model.found.timeouts, "probe timeouts at {now:?}");
    }
}

/// Sends a few frames over a path. Each byte determines the outcome of a packet: lost, late, marked, or none. After
/// each event, data in flight, losses, the timer and congestion events equal the pseudocode's.
///
/// # Panics
/// If they are not.
pub fn fuzz_quic(data: &[u8]) {
    run(data);
}

fn run(data: &[u8]) -> Found {
    let (&[options, window], data) = data.split_first_chunk().unwrap_or((&[0, 9], &[]));
    let transport = Transport {
        protocol: Protocol::Quic,
        mss: MSS as u32,
        delayed_ack: (options & 1 > 0).then_some(Duration::from_millis(25)),
        ack_eliciting_threshold: u32::from(options >> 1 & 3),
        reordering_threshold: u32::from(options >> 3 & 3),
        ecn: if options & 32 > 0 { EcnMode::Counts } else { EcnMode::Off },
        handshake_rtt: if options & 64 > 0 { Duration::from_millis(100) } else { Duration::ZERO },
        initial_rto: Duration::from_millis(999),
        idle_restart: false,
        ..Transport::default()
    };
    let mut path = Path::new(&transport, f64::from(window % 40 + 2));
    // A handshake has taken the first sample.
    path.model.first_sample = path.sender.first_sample;
    let bytes = RefCell::new(data.iter().take(MOST));
    let next = || match bytes.borrow_mut().next().copied().unwrap_or(0) {
        late @ 96..160 => Some((Duration::from_millis(u64::from(late) - 95), false)),
        160..176 => Some((Duration::ZERO, true)),
        176.. => None,
        _ => Some((Duration::ZERO, false)),
    };
    path.run(&next);
    path.model.found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, TestRunner};

    use super::*;

    /// Every rule is met by the random paths.
    #[test]
    fn the_paths_meet_every_rule() {
        let mut sum = Found::default();
        let mut runner = TestRunner::deterministic();
        for _ in 0..400 {
            let bytes = prop::collection::vec(any::<u8>(), 0..300).new_tree(&mut runner).unwrap().current();
            let found = run(&bytes);
            sum.by_packets += found.by_packets;
            sum.by_time += found.by_time;
            sum.timeouts += found.timeouts;
            sum.congestion_events += found.congestion_events;
            sum.marked += found.marked;
            sum.persistent += found.persistent;
            sum.late += found.late;
        }
        let Found { by_packets, by_time, timeouts, congestion_events, marked, persistent, late } = sum;
        let each = [by_packets, by_time, timeouts, congestion_events, marked, persistent, late];
        assert!(each.iter().all(|count| *count > 20), "{sum:?}");
    }

    /// A late acknowledgement between two losses: see `a_late_acknowledgement_between_losses_tells_them_apart`.
    #[test]
    fn late_acknowledgements_leave_no_persistent_congestion() {
        fuzz_quic(&[
            55, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 101, 0, 96, 0, 0, 0, 160, 0, 0, 139, 0, 139, 0, 0, 0, 0, 0, 124,
            120, 0, 176, 0, 131, 120, 0, 0, 0, 0, 0, 0, 114, 176, 0, 0, 160, 0, 0, 0, 140, 0, 0, 0, 115, 104, 0, 112,
            0, 0, 0, 176, 176, 176, 0, 176, 0, 0, 0, 0, 0, 102, 0, 138, 0, 0, 0, 129, 176, 0, 176, 0, 0, 0, 0, 115, 0,
            116, 0, 0, 0, 0, 145, 139, 0, 160, 0, 106, 104, 0, 176, 176, 176, 176, 0, 176, 176, 176, 0, 104, 176, 176,
            176, 176, 98, 0, 0,
        ]);
    }

    proptest! {
        #![proptest_config(Config { cases: 500, failure_persistence: None, ..Config::default() })]

        #[test]
        fn quic_does_what_the_pseudo_code_does(data in prop::collection::vec(any::<u8>(), 0..400)) {
            fuzz_quic(&data);
        }
    }
}
