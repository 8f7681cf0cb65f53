//! Synthetic rates of radio links. Each imitates one feature of the real thing, and says which.

use super::on_off::exponential;
use super::{Step, Steps};
use crate::rng::Rng;
use crate::units::Duration;

/// A Wi-Fi station whose rate control moves between the rates of IEEE 802.11n, and that shares the air.
///
/// Every 100 ms the station keeps its rate or moves to an adjacent one of one spatial stream's eight. This is the
/// interval of Minstrel's decisions in Linux (documentation of mac80211). Each other station may start or stop
/// sending at these times, and all senders share the air evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wifi {
    /// The rate of the fastest coding alone on the air, bits per second.
    pub max_bps: u64,
    /// Other stations. Each sends half of the time.
    pub stations: u32,
}

/// IEEE 802.11n, MCS 0 to 7, as shares of MCS 7. At 20 MHz they are 6.5, 13, 19.5, 26, 39, 52, 58.5 and 65 Mbit/s.
const MCS: [f64; 8] = [0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 0.9, 1.0];
/// Time between two decisions of Minstrel.
const MINSTREL: Duration = Duration::from_millis(100);
/// The probabilities of a step up and of a step down at each decision. The signal holds for about 250 ms.
const NEIGHBOUR: f64 = 0.2;
/// The probability that another station starts or stops sending: it keeps its state for a second on average.
const TOGGLE: f64 = 0.1;

impl Wifi {
    pub(super) fn begin(self, mut stream: Rng) -> WifiCourse {
        let mcs = (stream.next_f64() * MCS.len() as f64) as usize;
        let active = (0..self.stations).filter(|_| stream.next_f64() < 0.5).count() as u32;
        WifiCourse { wifi: self, mcs, active, stream }
    }
}

/// The state of the station.
#[derive(Clone, Debug)]
pub(super) struct WifiCourse {
    wifi: Wifi,
    mcs: usize,
    /// How many other stations send.
    active: u32,
    stream: Rng,
}

impl Steps for WifiCourse {
    fn next_step(&mut self) -> Option<Step> {
        let rate = self.wifi.max_bps as f64 * MCS[self.mcs] / f64::from(1 + self.active);
        let drawn = self.stream.next_f64();
        if drawn < NEIGHBOUR {
            self.mcs = (self.mcs + 1).min(MCS.len() - 1);
        } else if drawn < 2.0 * NEIGHBOUR {
            self.mcs = self.mcs.saturating_sub(1);
        }
        let mut toggles = |stations: u32| (0..stations).filter(|_| self.stream.next_f64() < TOGGLE).count() as u32;
        let ceased = toggles(self.active);
        let begun = toggles(self.wifi.stations - self.active);
        self.active = self.active + begun - ceased;
        Some((rate as u64, MINSTREL))
    }
}

/// An LTE link as Sprout models it (Winstein, Sivaraman & Balakrishnan, NSDI 2013, section 3). The rate performs a
/// Brownian motion between zero and the highest rate, in steps of 20 ms. At zero it stays in an outage for an
/// exponential time.
///
/// Sprout's links carry up to 1000 packets a second. Their volatility is 200 packets a second per root of a second, and
/// outages last one second on average. Deviation: only the rate varies, and packets do not leave as a Poisson process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lte {
    /// The highest rate, bits per second.
    pub max_bps: u64,
    /// Standard deviation of the change of the rate in one second, as a share of the highest rate.
    pub volatility: f64,
    /// Mean length of an outage.
    pub mean_outage: Duration,
}

/// Sprout's step.
const TICK: Duration = Duration::from_millis(20);

impl Lte {
    pub(super) fn begin(self, mut stream: Rng) -> LteCourse {
        let share = stream.next_f64();
        LteCourse { lte: self, share, stream }
    }
}

/// The state of the link.
#[derive(Clone, Debug)]
pub(super) struct LteCourse {
    lte: Lte,
    /// The present share of the highest rate.
    share: f64,
    stream: Rng,
}

impl Steps for LteCourse {
    fn next_step(&mut self) -> Option<Step> {
        let Lte { max_bps, volatility, mean_outage } = self.lte;
        if self.share <= 0.0 {
            let length = mean_outage.mul_f64_floor(exponential(&mut self.stream)).max(TICK);
            self.share = self.move_by(volatility).abs().min(1.0);
            return Some((0, length));
        }
        let rate = max_bps as f64 * self.share;
        self.share = (self.share + self.move_by(volatility)).clamp(0.0, 1.0);
        Some((rate as u64, TICK))
    }
}

impl LteCourse {
    /// The movement of the share in one step.
    fn move_by(&mut self, volatility: f64) -> f64 {
        volatility * libm::sqrt(TICK.as_secs_f64()) * normal(&mut self.stream)
    }
}

/// A terminal of a low-orbit satellite network, after Starlink. Every 15 s a global scheduler assigns another
/// satellite to the terminal, and with it another share of capacity. Sources: Tanveer, Puchol, Singh, Bianchi &
/// Nithyanand 2023, and Mohan et al. 2024.
///
/// Each slot has a rate of its own, and begins with an interruption. The run begins anywhere in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leo {
    /// The lowest rate of a slot, bits per second.
    pub min_bps: u64,
    /// The highest rate of a slot, bits per second.
    pub max_bps: u64,
    /// Time with one satellite.
    pub slot: Duration,
    /// Time without transmission at the beginning of each slot.
    pub interruption: Duration,
}

impl Leo {
    pub(super) fn begin(self, mut stream: Rng) -> LeoCourse {
        let left = self.slot - self.slot.mul_f64_floor(stream.next_f64());
        let mut course = LeoCourse { leo: self, rest: None, stream };
        let rate = course.draw();
        course.rest = Some((rate, left));
        course
    }
}

/// The state of the terminal.
#[derive(Clone, Debug)]
pub(super) struct LeoCourse {
    leo: Leo,
    /// The step after the interruption of this slot.
    rest: Option<Step>,
    stream: Rng,
}

impl LeoCourse {
    fn draw(&mut self) -> u64 {
        let (min, max) = (self.leo.min_bps as f64, self.leo.max_bps as f64);
        (min + (max - min) * self.stream.next_f64()) as u64
    }
}

impl Steps for LeoCourse {
    fn next_step(&mut self) -> Option<Step> {
        if let Some(rest) = self.rest.take() {
            return Some(rest);
        }
        let Leo { slot, interruption, .. } = self.leo;
        let rate = self.draw();
        if interruption.is_zero() {
            return Some((rate, slot));
        }
        self.rest = Some((rate, slot - interruption));
        Some((0, interruption))
    }
}

/// Standard normal (Box and Muller).
fn normal(stream: &mut Rng) -> f64 {
    let radius = libm::sqrt(2.0 * exponential(stream));
    radius * libm::cos(2.0 * std::f64::consts::PI * stream.next_f64())
}
