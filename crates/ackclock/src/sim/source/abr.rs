//! A player of streamed media: it requests chunks, chooses their bit rate, buffers them and plays them in real time.

use std::collections::VecDeque;

use crate::sim::plan::FlowPlan;
use crate::sim::traffic::{AbrPlan, Adaptation};
use crate::sim::transfer::TransferLog;
use crate::units::{Duration, Instant, Rate};

/// The number of chunks whose throughputs are averaged (Yin et al. 2015, §5.2).
const AVERAGED: usize = 5;
/// The part of the estimated throughput that a client uses (Jiang et al. 2012: p).
const EFFICIENCY: f64 = 0.85;
/// The weight of continuous playback in BOLA: gamma p (Spiteri et al. 2016).
const GAMMA_P: f64 = 5.0;

/// The bit rate of chunks.
#[derive(Clone, Debug)]
struct Ladder {
    rates: Vec<Rate>,
    adaptation: Adaptation,
    chunk: Duration,
    buffer: Duration,
    /// The rung of the last requested chunk.
    rung: usize,
    is_first: bool,
    /// Nanoseconds per bit of the last chunks.
    pace: VecDeque<f64>,
}

impl Ladder {
    fn new(plan: &AbrPlan) -> Self {
        Ladder {
            rates: plan.ladder.clone(),
            adaptation: plan.adaptation,
            chunk: plan.chunk,
            buffer: plan.buffer,
            rung: 0,
            is_first: true,
            pace: VecDeque::with_capacity(AVERAGED),
        }
    }

    fn bps(&self, rung: usize) -> f64 {
        self.rates[rung].as_bps() as f64
    }

    /// Bytes of a chunk of the chosen rung.
    fn bytes(&self) -> u64 {
        self.rates[self.rung].bytes_in_floor(self.chunk).max(1)
    }

    /// Records the download time of a chunk.
    fn measure(&mut self, taken: Duration) {
        if self.pace.len() == AVERAGED {
            self.pace.pop_front();
        }
        self.pace.push_back(taken.as_nanos() as f64 / (8.0 * self.bytes() as f64));
    }

    /// Chooses the rung of the next chunk from the media in the buffer. The first chunk has the lowest rung.
    fn choose(&mut self, level: Duration) -> usize {
        if self.is_first {
            self.is_first = false;
            return self.rung;
        }
        self.rung = match self.adaptation {
            Adaptation::Bba0 { reservoir, cushion } => self.by_buffer(level, reservoir, cushion),
            Adaptation::Throughput => self.by_throughput(),
            Adaptation::Bola => self.by_utility(level),
        };
        self.rung
    }

    /// BBA-0, algorithm 1 of Huang et al. (2014).
    fn by_buffer(&self, level: Duration, reservoir: Duration, cushion: Duration) -> usize {
        let top = self.rates.len() - 1;
        if level <= reservoir {
            return 0;
        }
        if level >= reservoir + cushion {
            return top;
        }
        let part = (level - reservoir).as_nanos() as f64 / cushion.as_nanos() as f64;
        let map = self.bps(0) + (self.bps(top) - self.bps(0)) * part;
        let (above, below) = ((self.rung + 1).min(top), self.rung.saturating_sub(1));
        if map >= self.bps(above) {
            (0..=top).rev().find(|rung| self.bps(*rung) < map).unwrap_or(0)
        } else if map <= self.bps(below) {
            (0..=top).find(|rung| self.bps(*rung) > map).unwrap_or(top)
        } else {
            self.rung
        }
    }

    /// The highest rung within a part of the harmonic mean of the last throughputs.
    fn by_throughput(&self) -> usize {
        let bits_per_ns = self.pace.len() as f64 / self.pace.iter().sum::<f64>();
        let most = EFFICIENCY * 1e9 * bits_per_ns;
        (0..self.rates.len()).rev().find(|rung| self.bps(*rung) <= most).unwrap_or(0)
    }

    /// BOLA-BASIC of Spiteri et al. (2016), with the largest V of its theorem 1.
    fn by_utility(&self, level: Duration) -> usize {
        let chunks = |time: Duration| time.as_nanos() as f64 / self.chunk.as_nanos() as f64;
        let utility = |rung: usize| libm::log(self.bps(rung) / self.bps(0));
        let top = self.rates.len() - 1;
        let weight = (chunks(self.buffer) - 1.0) / (utility(top) + GAMMA_P);
        let value = |rung: usize| (weight * (utility(rung) + GAMMA_P) - chunks(level)) / self.bps(rung);
        (1..=top).fold(0, |best, rung| if value(rung) >= value(best) { rung } else { best })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Playback {
    /// The first chunks come.
    Starting,
    Playing,
    /// The buffer ran empty.
    Stalled,
    /// Everything was played.
    Over,
}

/// The buffer and the playback.
#[derive(Clone, Debug)]
pub struct Player {
    ladder: Ladder,
    chunk: Duration,
    buffer: Duration,
    startup: Duration,
    /// The rungs of the buffered chunks. The first one plays.
    buffered: VecDeque<usize>,
    /// The time for which the first one has played.
    played: Duration,
    /// The rung of the last chunk that played.
    shown: Option<usize>,
    state: Playback,
    /// Whether the last chunk has come.
    is_last: bool,
    /// The time of this state.
    at: Instant,
    start: Instant,
    /// When playback began.
    began: Option<Instant>,
}

impl Player {
    /// Before the first request, at the start of the flow.
    pub fn new(plan: &AbrPlan, flow: &FlowPlan) -> Self {
        Player {
            ladder: Ladder::new(plan),
            chunk: plan.chunk,
            buffer: plan.buffer,
            startup: plan.startup,
            buffered: VecDeque::new(),
            played: Duration::ZERO,
            shown: None,
            state: Playback::Starting,
            is_last: false,
            at: flow.start,
            start: flow.start,
            began: None,
        }
    }

    /// The media in the buffer.
    fn level(&self) -> Duration {
        self.chunk * self.buffered.len() as u64 - self.played
    }

    /// Whether playback waits for a chunk after it began.
    pub fn is_stalled(&self) -> bool {
        self.state == Playback::Stalled
    }

    /// Plays until `now`.
    pub fn advance(&mut self, now: Instant, log: &mut TransferLog) {
        if now <= self.at {
            return;
        }
        let mut left = now.since(self.at);
        self.at = now;
        while self.state == Playback::Playing && !left.is_zero() {
            let Some(rung) = self.buffered.front().copied() else {
                self.state = if self.is_last { Playback::Over } else { Playback::Stalled };
                log.stalls += u64::from(self.is_stalled());
                break;
            };
            if self.shown != Some(rung) {
                log.stream.switches += u64::from(self.shown.is_some());
                self.shown = Some(rung);
            }
            let step = left.min(self.chunk - self.played);
            log.stream.play(self.ladder.rates[rung], step);
            self.played += step;
            left = left - step;
            if self.played == self.chunk {
                self.buffered.pop_front();
                self.played = Duration::ZERO;
            }
        }
        if self.is_stalled() {
            log.stalled_ns += left.as_nanos();
        }
    }

    /// Chooses the chunk that is requested at `now`.
    pub fn choose(&mut self, now: Instant, log: &mut TransferLog) {
        self.advance(now, log);
        self.ladder.choose(self.level());
    }

    /// Bytes of the requested chunk.
    pub fn response(&self) -> u64 {
        self.ladder.bytes()
    }

    /// The requested chunk has come, after `taken`. Returns when the buffer has room for another one.
    pub fn on_chunk(&mut self, now: Instant, taken: Duration, log: &mut TransferLog) -> Instant {
        self.advance(now, log);
        self.ladder.measure(taken);
        self.buffered.push_back(self.ladder.rung);
        if self.level() >= self.startup {
            self.resume(now);
        }
        now + (self.level() + self.chunk).saturating_sub(self.buffer)
    }

    fn resume(&mut self, now: Instant) {
        if matches!(self.state, Playback::Starting | Playback::Stalled) {
            self.state = Playback::Playing;
            self.began.get_or_insert(now);
        }
    }

    /// No more chunks are requested: the rest of the buffer plays.
    pub fn on_last_chunk(&mut self, now: Instant, log: &mut TransferLog) {
        self.advance(now, log);
        self.is_last = true;
        self.resume(now);
    }

    /// The run ends.
    pub fn end(&mut self, end: Instant, log: &mut TransferLog) {
        self.advance(end, log);
        // A client that has not begun has waited until now.
        if end > self.start {
            log.stream.startup_ns += self.began.unwrap_or(end).since(self.start).as_nanos();
            log.stream.clients += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Rates of 1, 2, 3 and 6 Mbit/s, chunks of 2 s, a buffer of 20 s.
    fn plan(adaptation: Adaptation) -> AbrPlan {
        let ladder = [1, 2, 3, 6].map(|mbps| Rate::from_bps(1_000_000 * mbps).unwrap()).to_vec();
        AbrPlan { ladder, chunk: secs(2), buffer: secs(20), startup: secs(4), adaptation, request: 300 }
    }

    fn ladder(adaptation: Adaptation) -> Ladder {
        let mut ladder = Ladder::new(&plan(adaptation));
        assert_eq!(ladder.choose(secs(18)), 0, "the first chunk has the lowest rung");
        ladder
    }

    /// With a reservoir of 5 s and a cushion of 10 s, f(B) = 1 + 5 (B - 5) / 10 Mbit/s.
    #[test]
    fn bba0_follows_the_map_of_its_buffer() {
        let mut ladder = ladder(Adaptation::Bba0 { reservoir: secs(5), cushion: secs(10) });
        // f: 1.5, 2, 3.5 (the highest rung below it), 3, 2.5, 2 and 1.5 Mbit/s (the lowest rung above it), the top, 5.5.
        let levels =
            [(5, 0), (6, 0), (8, 1), (10, 2), (9, 2), (7, 2), (6, 1), (15, 3), (14, 3), (9, 3), (8, 2), (5, 0)];
        for (level, rung) in levels {
            assert_eq!(ladder.choose(secs(level)), rung, "{level} s");
        }
    }

    #[test]
    fn throughput_is_a_harmonic_mean_of_five_chunks() {
        let mut ladder = ladder(Adaptation::Throughput);
        // 2 Mbit in 0.5 s and in 1 s: 4 and 2 Mbit/s, with the harmonic mean 2 / (1/4 + 1/2) = 2.67, of which 85 % are 2.27.
        ladder.measure(Duration::from_millis(500));
        ladder.measure(secs(1));
        assert_eq!(ladder.choose(secs(9)), 1);
        // Five chunks of 4 Mbit in 0.5 s: 8 Mbit/s, of which 85 % are 6.8. A sixth measurement replaces the first one.
        for _ in 0..5 {
            ladder.measure(Duration::from_millis(500));
        }
        assert_eq!((ladder.pace.len(), ladder.choose(secs(9))), (5, 3));
    }

    /// The values (V (v + 5) - Q) / S, with V = 9 / (ln 6 + 5) = 1.3252.
    #[test]
    fn bola_exchanges_utility_for_buffer() {
        let mut ladder = ladder(Adaptation::Bola);
        // Q = 0: 6.63, 3.77, 2.69, 1.50. Q = 6: 0.63, 0.77, 0.69, 0.5. Q = 6.5: 0.13, 0.52, 0.53, 0.417. Q = 8.9: 0.017 at
        // the top, and below zero elsewhere.
        for (millis, rung) in [(0, 0), (12_000, 1), (13_000, 2), (17_800, 3)] {
            assert_eq!(ladder.choose(Duration::from_millis(millis)), rung, "{millis} ms");
        }
    }

    fn player() -> Player {
        let mut player = Player {
            start: at(0),
            at: at(0),
            buffered: VecDeque::new(),
            chunk: secs(2),
            buffer: secs(20),
            startup: secs(4),
            ladder: Ladder::new(&plan(Adaptation::Throughput)),
            played: Duration::ZERO,
            shown: None,
            state: Playback::Starting,
            is_last: false,
            began: None,
        };
        player.choose(at(0), &mut TransferLog::default());
        player
    }

    /// Two chunks of 1 Mbit/s come at 1 s and 3 s. Two of 3 Mbit/s come at 8 s and 9 s. The fifth never comes.
    #[test]
    fn playback_begins_and_resumes_with_the_threshold() {
        let (mut player, mut log) = (player(), TransferLog::default());
        assert_eq!(player.on_chunk(at(1000), secs(1), &mut log), at(1000), "room at once");
        player.on_chunk(at(3000), secs(1), &mut log);
        assert_eq!((player.state, player.began), (Playback::Playing, Some(at(3000))));
        player.ladder.rung = 2;
        player.on_chunk(at(8000), secs(1), &mut log);
        assert_eq!((player.state, log.stalls, log.stalled_ns), (Playback::Stalled, 1, 1_000_000_000));
        player.on_chunk(at(9000), secs(1), &mut log);
        assert_eq!((player.state, log.stalled_ns), (Playback::Playing, 2_000_000_000));
        player.clone().end(at(12_000), &mut log);
        // 4 s of 1 Mbit/s and 3 s of 3 Mbit/s.
        let streaming = log.stream.streaming();
        assert_eq!(streaming.bit_rate_bps.map(f64::round), Some(1_857_143.0));
        assert_eq!((streaming.switches, streaming.startup_s), (1, Some(3.0)));
        // 1 s after the buffer ran empty at 13 s.
        player.end(at(14_000), &mut log);
        assert_eq!((log.stalls, log.stalled_ns), (2, 3_000_000_000));
    }

    #[test]
    fn requests_pause_while_the_buffer_is_full() {
        let (mut player, mut log) = (player(), TransferLog::default());
        for number in 1..10 {
            assert_eq!(player.on_chunk(at(1), secs(1), &mut log), at(1), "{number}");
        }
        // The tenth chunk: 20 s, and room after one has played.
        assert_eq!(player.on_chunk(at(1), secs(1), &mut log), at(2001));
        // The end of the stream is no stall.
        player.on_last_chunk(at(2), &mut log);
        player.end(at(60_000), &mut log);
        assert_eq!((player.state, log.stalls), (Playback::Over, 0));
    }
}
