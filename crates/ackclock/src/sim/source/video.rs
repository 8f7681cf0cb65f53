//! A video call: an encoder whose rate the transport sets, and a player that shows frames in time.
//!
//! The encoder is the statistical model of RFC 8593 §5. The player is ours.

use std::collections::VecDeque;

use crate::cc::MediaFrame;
use crate::rng::{Rng, RngStreams};
use crate::sim::endpoint::SendingEnd;
use crate::sim::plan::FlowPlan;
use crate::sim::traffic::VideoPlan;
use crate::sim::transfer::TransferLog;
use crate::units::{Duration, Instant, NANOS_PER_SEC, Rate};

/// A change of the rate by more than this part of it is abrupt. RFC 8593 §5.2 has no number, and its authors'
/// code (cisco/syncodecs) has this one.
const ABRUPT: f64 = 0.5;
/// Random frames are at least this part of their mean in size and distance.
const LEAST_PART: f64 = 0.1;

/// The encoder: RFC 8593 §5.1 to §5.4.
#[derive(Clone, Debug)]
struct Encoder {
    plan: VideoPlan,
    sizes: Rng,
    intervals: Rng,
    /// The rate of the encoder, and when it last changed.
    rate: Rate,
    changed_at: Option<Instant>,
    /// When the last key frame was produced.
    key_at: Option<Instant>,
    /// Frames of a burst still to come after its key frame.
    burst_left: u32,
}

impl Encoder {
    fn new(plan: &VideoPlan, name: &str, rngs: &RngStreams) -> Self {
        let (sizes, intervals) = (rngs.stream(name, "frame sizes"), rngs.stream(name, "frame intervals"));
        let rate = plan.permitted(plan.start_rate);
        Encoder { plan: plan.clone(), sizes, intervals, rate, changed_at: None, key_at: None, burst_left: 0 }
    }

    /// RFC 8593 §5.3: a Laplacian deviation with this scale, in parts of the mean.
    fn deviation(stream: &mut Rng, scale: f64) -> f64 {
        if scale == 0.0 {
            return 1.0;
        }
        let sign = if stream.next_f64() < 0.5 { -1.0 } else { 1.0 };
        (1.0 + sign * scale * stream.next_exponential()).max(LEAST_PART)
    }

    /// The time to the next frame.
    fn interval(&mut self) -> Duration {
        self.plan.interval.mul_f64_floor(Self::deviation(&mut self.intervals, self.plan.interval_variation))
    }

    /// Whether a key frame is due by time.
    fn is_key_due(&self, now: Instant) -> bool {
        match (self.key_at, self.plan.key_interval) {
            (None, _) => true,
            (Some(at), Some(interval)) => now.since(at) >= interval,
            (Some(_), None) => false,
        }
    }

    /// RFC 8593 §5.1: the encoder follows the target a reaction time after its last change. Returns whether the change
    /// is abrupt.
    fn follow(&mut self, now: Instant, target: Rate) -> bool {
        let wanted = self.plan.permitted(target);
        if wanted == self.rate || self.changed_at.is_some_and(|at| now.since(at) < self.plan.reaction) {
            return false;
        }
        let (before, after) = (self.rate.as_bps() as f64, wanted.as_bps() as f64);
        (self.rate, self.changed_at) = (wanted, Some(now));
        (after - before).abs() > ABRUPT * before
    }

    /// The next frame: its bytes, and whether it is a key frame.
    fn frame(&mut self, now: Instant, target: Rate, wants_key: bool) -> (u64, bool) {
        let is_abrupt = self.follow(now, target);
        let is_key = self.is_key_due(now) || wants_key || is_abrupt;
        let mean = self.rate.as_bps() as f64 / 8.0 * self.plan.interval.as_secs_f64();
        let (frames, size) = (f64::from(self.plan.burst_frames), self.plan.key_size);
        // RFC 8593 §5.2: smaller frames follow a key frame, so that the mean rate of the burst is the target.
        let part = if is_key {
            (self.key_at, self.burst_left) = (Some(now), self.plan.burst_frames - 1);
            size
        } else if self.burst_left > 0 {
            self.burst_left -= 1;
            (frames - size) / (frames - 1.0)
        } else {
            1.0
        };
        let bytes = mean * part * Self::deviation(&mut self.sizes, self.plan.size_variation);
        ((bytes.round() as u64).max(1), is_key)
    }
}

/// A frame that the player has not judged, or that is missing.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Its place in the stream of bytes.
    start: u64,
    end: u64,
    /// Bytes that have not arrived.
    left: u64,
    made: Instant,
    is_key: bool,
    /// The encoder skipped it.
    is_skipped: bool,
    completed: Option<Instant>,
}

/// The player. A frame is shown if it is complete and decodable within its deadline. It is decodable if it is a key
/// frame, or if all frames since the last key frame are complete.
#[derive(Clone, Debug, Default)]
struct Player {
    /// Frames before their deadline, in order.
    pending: VecDeque<Pending>,
    /// Incomplete frames after their deadline, since the last key frame.
    overdue: Vec<Pending>,
    /// Whether the last frame was not shown.
    is_frozen: bool,
}

impl Player {
    /// Bytes from `offset` on arrive.
    fn on_bytes(&mut self, now: Instant, plan: &VideoPlan, offset: u64, len: u32, log: &mut TransferLog) {
        self.judge(now, plan, log);
        let len = u64::from(len);
        if let Some(place) = self.overdue.iter().position(|frame| (frame.start..frame.end).contains(&offset)) {
            let frame = &mut self.overdue[place];
            frame.left = frame.left.saturating_sub(len);
            if frame.left == 0 {
                log.times_ns.push(now.since(frame.made).as_nanos());
                log.late += 1;
                self.overdue.remove(place);
            }
            return;
        }
        let place = self.pending.partition_point(|frame| frame.end <= offset);
        if let Some(frame) = self.pending.get_mut(place).filter(|frame| offset >= frame.start) {
            frame.left = frame.left.saturating_sub(len);
            if frame.left == 0 {
                frame.complete(now, log);
            }
        }
    }

    /// All bytes below `end` have arrived.
    fn on_delivered(&mut self, now: Instant, plan: &VideoPlan, end: u64, log: &mut TransferLog) {
        self.judge(now, plan, log);
        self.overdue.retain(|frame| {
            if frame.end <= end {
                log.times_ns.push(now.since(frame.made).as_nanos());
                log.late += 1;
            }
            frame.end > end
        });
        let is_whole = |frame: &&mut Pending| frame.end <= end && frame.completed.is_none() && !frame.is_skipped;
        self.pending.iter_mut().filter(is_whole).for_each(|frame| frame.complete(now, log));
    }

    /// Judges the frames whose deadline has passed.
    fn judge(&mut self, now: Instant, plan: &VideoPlan, log: &mut TransferLog) {
        while let Some(frame) = self.pending.front().copied().filter(|frame| now > frame.made + plan.deadline) {
            self.pending.pop_front();
            let is_complete = frame.completed.is_some();
            if frame.is_key && is_complete {
                // Nothing depends on older frames.
                log.missing += self.overdue.len() as u64;
                self.overdue.clear();
            }
            let is_shown = is_complete && self.overdue.is_empty();
            if !is_shown {
                log.stalls += u64::from(!self.is_frozen);
                log.stalled_ns += plan.interval.as_nanos();
                if is_complete {
                    log.late += 1;
                } else if frame.is_skipped {
                    log.missing += 1;
                } else {
                    self.overdue.push(frame);
                }
            }
            self.is_frozen = !is_shown;
        }
    }

    /// The end of the first frame that has not arrived.
    fn awaited(&self) -> Option<u64> {
        let overdue = self.overdue.iter().map(|frame| frame.end);
        let pending = self.pending.iter().filter(|frame| frame.completed.is_none() && !frame.is_skipped);
        overdue.chain(pending.map(|frame| frame.end)).min()
    }
}

impl Pending {
    fn complete(&mut self, now: Instant, log: &mut TransferLog) {
        self.completed = Some(now);
        log.times_ns.push(now.since(self.made).as_nanos());
    }
}

/// The encoder at the sender and the player at the receiver.
#[derive(Clone, Debug)]
pub struct Video {
    encoder: Encoder,
    player: Player,
    mss: u32,
    stop: Option<Instant>,
    next: Option<Instant>,
    /// Bytes written so far.
    written: u64,
    /// Frames that have not left completely: where they end, and when they were made.
    waiting: VecDeque<(u64, Instant)>,
    /// Lost packets that the encoder knows.
    losses: u64,
    /// Frames.
    pub log: TransferLog,
}

impl Video {
    /// Before the first frame, at the start of the flow.
    pub fn new(plan: &VideoPlan, flow: &FlowPlan, rngs: &RngStreams) -> Self {
        Video {
            encoder: Encoder::new(plan, &flow.name, rngs),
            player: Player::default(),
            mss: flow.transport.mss,
            stop: flow.stop,
            next: Some(flow.start),
            written: 0,
            waiting: VecDeque::new(),
            losses: 0,
            log: TransferLog::default(),
        }
    }

    /// When the next frame is produced.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.next
    }

    /// No more frames.
    pub fn stop(&mut self) {
        self.next = None;
    }

    /// Produces the frame that is due at `now`.
    pub fn on_deadline(&mut self, now: Instant, sender: &mut SendingEnd) {
        if self.written == 0 {
            sender.open(now);
        }
        let sent = sender.sent_once();
        while self.waiting.front().is_some_and(|(end, _)| *end <= sent) {
            self.waiting.pop_front();
        }
        let age = self.waiting.front().map_or(Duration::ZERO, |(_, made)| now.since(*made));
        let plan = &self.encoder.plan;
        let (interval, least, most) = (plan.interval, plan.min_rate, plan.max_rate);
        // A frame behind a late one would also be late.
        let is_skipped = age > plan.deadline;
        let (mut bytes, mut is_key) = (0, false);
        if !is_skipped {
            let target = sender.target_rate().or_else(|| window_rate(sender, self.mss));
            let target = target.unwrap_or(self.encoder.rate);
            let wants_key = self.wants_key(now, sender);
            (bytes, is_key) = self.encoder.frame(now, target, wants_key);
            self.written += bytes;
            self.waiting.push_back((self.written, now));
            self.log.start(bytes);
        }
        sender.on_frame(&MediaFrame { now, bytes, waiting: age, interval, least, most });
        sender.write(now, bytes);
        let start = self.written - bytes;
        let end = self.written;
        self.player.pending.push_back(Pending {
            start,
            end,
            left: bytes,
            made: now,
            is_key,
            is_skipped,
            completed: None,
        });
        let next = now + self.encoder.interval();
        self.next = Some(next).filter(|next| self.stop.is_none_or(|stop| *next < stop));
    }

    /// Whether a loss asks for a key frame. Losses of packets before the last key frame do not.
    fn wants_key(&mut self, now: Instant, sender: &SendingEnd) -> bool {
        let (losses, is_repaired) = (sender.losses(), !matches!(sender, SendingEnd::Rtp(_)));
        let patience = sender.rtt().srtt().max(self.encoder.plan.reaction);
        if losses == self.losses || is_repaired || self.encoder.key_at.is_some_and(|at| now.since(at) < patience) {
            return false;
        }
        self.losses = losses;
        true
    }

    /// A packet with these bytes has come for the first time.
    pub fn on_packet(&mut self, now: Instant, offset: u64, len: u32) {
        self.player.on_bytes(now, &self.encoder.plan, offset, len, &mut self.log);
    }

    /// Takes the number of bytes that have arrived in order by `now`.
    pub fn on_delivered(&mut self, now: Instant, bytes: u64) {
        self.player.on_delivered(now, &self.encoder.plan, bytes, &mut self.log);
    }

    /// The log at the end of the run, with the frames that are due and have not come.
    pub fn log_at(&self, end: Instant) -> TransferLog {
        let (mut log, mut player) = (self.log.clone(), self.player.clone());
        player.judge(end, &self.encoder.plan, &mut log);
        log.missing += player.overdue.len() as u64;
        log
    }

    /// The end of the first frame that has not arrived, if any.
    pub fn awaited(&self) -> Option<u64> {
        self.player.awaited()
    }

    /// Frames in flight.
    pub fn pending(&self) -> u64 {
        let waits = |frame: &&Pending| frame.completed.is_none() && !frame.is_skipped;
        (self.player.pending.iter().filter(waits).count() + self.player.overdue.len()) as u64
    }
}

/// The rate of a window, for an algorithm that sets no rate for an encoder.
fn window_rate(sender: &SendingEnd, mss: u32) -> Option<Rate> {
    let srtt = sender.rtt().srtt();
    let bits = sender.cwnd() * f64::from(mss) * 8.0;
    (!srtt.is_zero()).then(|| Rate::from_bps((bits * NANOS_PER_SEC as f64 / srtt.as_nanos() as f64) as u64)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn rate(kbps: u64) -> Rate {
        Rate::from_bps(1000 * kbps).unwrap()
    }

    fn plan() -> VideoPlan {
        VideoPlan {
            interval: Duration::from_millis(40),
            min_rate: rate(100),
            max_rate: rate(2000),
            start_rate: rate(400),
            steps: Vec::new(),
            reaction: Duration::from_millis(200),
            burst_frames: 5,
            key_size: 3.0,
            key_interval: None,
            interval_variation: 0.0,
            size_variation: 0.0,
            deadline: Duration::from_millis(150),
        }
    }

    fn encoder(plan: &VideoPlan) -> Encoder {
        Encoder::new(plan, "call", &RngStreams::new(1, 0))
    }

    /// 400 kbit/s are 2000 B per frame: a key frame of 6000 B, and four of 1000 B.
    #[test]
    fn a_burst_has_the_mean_rate_of_the_encoder() {
        let mut encoder = encoder(&plan());
        let sizes: Vec<_> = (0..7).map(|frame| encoder.frame(ms(40 * frame), rate(400), false)).collect();
        let expected = [(6000, true), (1000, false), (1000, false), (1000, false), (1000, false), (2000, false)];
        assert_eq!(sizes[..6], expected);
        assert_eq!(encoder.frame(ms(300), rate(400), true), (6000, true));
    }

    #[test]
    fn the_encoder_follows_after_its_reaction_time_and_within_its_range() {
        let mut encoder = encoder(&plan());
        encoder.frame(ms(0), rate(400), false);
        (encoder.burst_left, encoder.changed_at) = (0, Some(ms(0)));
        assert_eq!(encoder.frame(ms(160), rate(500), false).0, 2000);
        // 500 kbit/s is no abrupt change, and 800 kbit/s is one.
        assert_eq!(encoder.frame(ms(200), rate(500), false), (2500, false));
        assert_eq!(encoder.frame(ms(400), rate(800), false), (12_000, true));
        for (at, target, kept) in [(600, 9000, 2000), (800, 1, 100)] {
            encoder.frame(ms(at), rate(target), false);
            assert_eq!(encoder.rate, rate(kept));
        }
        let steps = VideoPlan { steps: vec![rate(200), rate(600)], ..plan() };
        let permitted = [100, 300, 700].map(|kbps| steps.permitted(rate(kbps)));
        assert_eq!(permitted, [rate(200), rate(200), rate(600)]);
    }

    #[test]
    fn sizes_and_intervals_vary_around_their_means() {
        let varied = VideoPlan { interval_variation: 0.15, size_variation: 0.15, ..plan() };
        let mut encoder = encoder(&varied);
        encoder.frame(ms(0), rate(400), false);
        encoder.burst_left = 0;
        let count = 20_000;
        let (mut bytes, mut nanos, mut squares) = (0.0, 0.0, 0.0);
        for _ in 0..count {
            let size = encoder.frame(ms(1), rate(400), false).0 as f64;
            bytes += size / f64::from(count);
            squares += (size / 2000.0 - 1.0) * (size / 2000.0 - 1.0) / f64::from(count);
            nanos += encoder.interval().as_nanos() as f64 / f64::from(count);
        }
        // A Laplacian of scale b has the variance 2 b^2 = 0.045, so means deviate by 0.0015.
        assert!((bytes / 2000.0 - 1.0).abs() < 0.006 && (nanos / 40e6 - 1.0).abs() < 0.006, "{bytes} {nanos}");
        assert!((squares - 0.045).abs() < 0.004, "{squares}");
    }

    /// Frame `number` of 100 bytes, one every 40 ms.
    fn pending(number: u64, is_key: bool) -> Pending {
        let (start, made) = (100 * number, ms(40 * number));
        Pending { start, end: start + 100, left: 100, made, is_key, is_skipped: false, completed: None }
    }

    /// Frames of 100 bytes every 40 ms. The one with number 1 comes late or never.
    fn show(late: Option<u64>, key: Option<u64>) -> TransferLog {
        let (plan, mut player, mut log) = (plan(), Player::default(), TransferLog::default());
        for number in 0..8 {
            player.pending.push_back(pending(number, number == 0 || Some(number) == key));
            if number != 1 {
                player.on_bytes(ms(40 * number + 10), &plan, 100 * number, 60, &mut log);
                player.on_bytes(ms(40 * number + 20), &plan, 100 * number + 60, 40, &mut log);
            }
            if let Some(at) = late.filter(|at| at / 40 == number) {
                player.on_bytes(ms(at), &plan, 100, 100, &mut log);
            }
        }
        player.judge(ms(1000), &plan, &mut log);
        log.missing += player.overdue.len() as u64;
        log
    }

    #[test]
    fn frames_after_a_lost_one_freeze_until_a_key_frame() {
        // Frames 1 to 4 are not shown, and 5 is a key frame.
        let log = show(None, Some(5));
        assert_eq!((log.late, log.missing, log.stalls, log.stalled_ns), (3, 1, 1, 160_000_000));
        assert_eq!(log.times_ns, [20_000_000; 7]);
        let log = show(None, None);
        assert_eq!((log.late, log.missing, log.stalls, log.stalled_ns), (6, 1, 1, 280_000_000));
    }

    #[test]
    fn a_late_frame_repairs_those_after_it() {
        // Frame 1 is due at 190 ms, frame 2 at 230 ms.
        for (late, shown_late, frozen) in [(185, 0, 0), (215, 1, 1), (255, 2, 2)] {
            let log = show(Some(late), None);
            assert_eq!((log.late, log.missing, log.stalled_ns), (shown_late, 0, 40_000_000 * frozen), "{late}");
        }
    }

    #[test]
    fn frames_of_a_stream_are_complete_in_order() {
        let (plan, mut player, mut log) = (plan(), Player::default(), TransferLog::default());
        for number in 0..3 {
            player.pending.push_back(pending(number, number == 0));
        }
        assert_eq!(player.awaited(), Some(100));
        player.on_delivered(ms(100), &plan, 250, &mut log);
        assert_eq!((player.awaited(), log.times_ns.clone()), (Some(300), vec![100_000_000, 60_000_000]));
        player.on_delivered(ms(300), &plan, 300, &mut log);
        assert_eq!((player.awaited(), log.late, log.stalls), (None, 1, 1));
    }
}
