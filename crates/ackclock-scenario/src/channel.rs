//! The keys of shared channels (Wi-Fi), their presets, and the resulting parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ackclock::quantity::Size;
use ackclock::quantity::{Hint, Problem};
use ackclock::sim;
use ackclock::sim::{AfterFailure, Countdown};
use ackclock::units::{Duration, Rate};

/// A channel: a medium on which one station sends at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Channel {
    /// The distributed coordination function (DCF) of IEEE 802.11. Stations count down random numbers of slots, and
    /// stations that reach zero together collide.
    Dcf(Box<Dcf>),
}

/// The distributed coordination function (DCF) of IEEE 802.11. Stations count down random numbers of slots, and
/// stations that reach zero together collide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dcf {
    /// Source of the defaults.
    #[serde(default)]
    pub preset: Preset,
    /// Rate of data, unless the link of a station sets its own. Default: the highest of the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Slot time of the backoff. Default: 20 us (802.11b), 50 us (fhss), 9 us (others).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<Duration>,
    /// Time between a frame and its response. Default: 10 us (802.11b, 802.11g), 28 us (fhss), 16 us (others).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sifs: Option<Duration>,
    /// Idle time of the channel before counters resume. Default: SIFS and two slots (802.11n, 802.11ax: and three, the
    /// AIFS of best effort).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difs: Option<Duration>,
    /// Propagation delay between any two stations.
    #[serde(default = "one_microsecond")]
    pub propagation: Duration,
    /// Counters are drawn from 0 to this value, a power of two minus one. Default: 31 (802.11b, fhss), 15 (others).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 65_535))]
    pub cw_min: Option<u32>,
    /// The largest bound of counters. Each failure doubles the bound up to it. Default: 1023 (fhss: 255).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 65_535))]
    pub cw_max: Option<u32>,
    /// Retransmissions of a frame. After the last one its packets are lost. Default: 6 (fhss: 255, practically no
    /// limit).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 255))]
    pub retries: Option<u32>,
    /// Preamble and header of the physical layer before each frame. Default: 192 us (802.11b), 20 us (802.11a, 802.11g),
    /// 128 us (fhss), 36 us (802.11n), 44 us (802.11ax). Responses of 802.11n and 802.11ax take 20 us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phy_header: Option<Duration>,
    /// Overhead of a packet: MAC header, check sequence, LLC. Default: 36 B (fhss: 34 B, 802.11n and 802.11ax: 38 B).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac_header: Option<Size>,
    /// Size of an ACK of the MAC. Default: 14 B (802.11n, 802.11ax: 32 B, a block ACK).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<Size>,
    /// Rates of ACKs, RTS and CTS, ascending. A station uses the highest one that does not exceed its data rate.
    /// Default: 1 and 2 Mbit/s (802.11b), 1 Mbit/s (fhss), 6, 12 and 24 Mbit/s (others).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub basic_rates: Option<Vec<Rate>>,
    /// Effect of a busy period on the counters of other stations. Default: freezes (fhss: counts-busy).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub countdown: Option<CountdownName>,
    /// Interframe space after a transmission without an ACK. Default: eifs (fhss: difs).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_failure: Option<AfterFailureName>,
    /// Frames of at least this size, MAC header included, are announced by RTS and CTS. By default none are announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rts_threshold: Option<Size>,
    /// Largest number of packets in one transmission (A-MPDU), and in the window of the block ACK. Default: 1 (802.11n:
    /// 64, 802.11ax: 256).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub aggregate: Option<u32>,
    /// Largest size of an aggregate. Default: no limit (802.11n: 65535 B, 802.11ax: 6500631 B).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate_size: Option<Size>,
    /// Longest duration of an aggregate. Default: no limit (802.11n, 802.11ax: 5.484 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate_time: Option<Duration>,
    /// Probability that a transmission without a collision fails and is repeated, 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub frame_errors: f64,
    /// Probability that a packet of a transmission fails alone and is repeated, 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub packet_errors: f64,
}

/// Whose values a channel has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Preset {
    /// 802.11b with the long preamble: 1, 2, 5.5 and 11 Mbit/s.
    #[serde(rename = "802.11b")]
    B,
    /// 802.11a: OFDM, 6 to 54 Mbit/s.
    #[serde(rename = "802.11a")]
    A,
    /// 802.11g without 802.11b: OFDM, 6 to 54 Mbit/s, short slots.
    #[default]
    #[serde(rename = "802.11g")]
    G,
    /// 802.11n (HT) at 5 GHz, with aggregation and block ACKs. Default: 20 MHz and one stream, 65 Mbit/s.
    #[serde(rename = "802.11n")]
    N,
    /// 802.11ax (HE) at 5 GHz, with aggregation and block ACKs. Default: 80 MHz and two streams, 1201 Mbit/s.
    #[serde(rename = "802.11ax")]
    Ax,
    /// Frequency hopping as in Bianchi 2000, table II, at 1 Mbit/s, with his conventions.
    #[serde(rename = "fhss")]
    Fhss,
}

/// Effect of a busy period on the counters of other stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountdownName {
    /// None: they continue from their value.
    Freezes,
    /// It counts as one slot (Bianchi 2000).
    CountsBusy,
}

/// Interframe space after a transmission without an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterFailureName {
    /// SIFS, the time of an ACK at the lowest basic rate, and DIFS.
    Eifs,
    /// DIFS (Bianchi 2000).
    Difs,
}

fn one_microsecond() -> Duration {
    Duration::from_micros(1)
}

const OFDM_KBPS: &[u64] = &[6_000, 9_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000];

/// Times of a channel are at most this long.
const LONGEST: Duration = Duration::from_secs(1);

/// The values of a preset.
struct Defaults {
    /// The permitted rates, or none if any rate is permitted.
    rates_kbps: &'static [u64],
    rate_kbps: u64,
    basic_kbps: &'static [u64],
    slot_us: u64,
    sifs_us: u64,
    /// Slots of the interframe space before counters resume.
    aifs_slots: u64,
    phy_header_us: u64,
    /// Preamble of responses. Without it, responses have the preamble of data.
    answer_header_us: Option<u64>,
    phy_trailer_us: u64,
    symbol: Option<Duration>,
    answer_symbol: Option<Duration>,
    cw_min: u32,
    cw_max: u32,
    retries: u32,
    mac_header: u64,
    ack: u64,
    aggregate: u32,
    aggregate_bytes: u64,
    aggregate_time: Duration,
    countdown: CountdownName,
    after_failure: AfterFailureName,
}

impl Preset {
    fn defaults(self) -> Defaults {
        let b = Defaults {
            rates_kbps: &[1_000, 2_000, 5_500, 11_000],
            rate_kbps: 11_000,
            basic_kbps: &[1_000, 2_000],
            slot_us: 20,
            sifs_us: 10,
            aifs_slots: 2,
            phy_header_us: 192,
            answer_header_us: None,
            phy_trailer_us: 0,
            symbol: None,
            answer_symbol: None,
            cw_min: 31,
            cw_max: 1023,
            retries: 6,
            mac_header: 36,
            ack: 14,
            aggregate: 1,
            aggregate_bytes: u64::MAX / 8,
            aggregate_time: LONGEST,
            countdown: CountdownName::Freezes,
            after_failure: AfterFailureName::Eifs,
        };
        let a = Defaults {
            rates_kbps: OFDM_KBPS,
            rate_kbps: 54_000,
            basic_kbps: &[6_000, 12_000, 24_000],
            slot_us: 9,
            sifs_us: 16,
            phy_header_us: 20,
            symbol: Some(Duration::from_micros(4)),
            answer_symbol: Some(Duration::from_micros(4)),
            cw_min: 15,
            ..b
        };
        let n = Defaults {
            rates_kbps: &[],
            rate_kbps: 65_000,
            aifs_slots: 3,
            phy_header_us: 36,
            answer_header_us: Some(20),
            mac_header: 38,
            ack: 32,
            aggregate: 64,
            aggregate_bytes: 65_535,
            aggregate_time: Duration::from_micros(5_484),
            ..a
        };
        match self {
            Preset::B => b,
            Preset::A => a,
            Preset::G => Defaults { sifs_us: 10, phy_trailer_us: 6, ..a },
            Preset::N => n,
            Preset::Ax => Defaults {
                rate_kbps: 1_200_980,
                phy_header_us: 44,
                symbol: Some(Duration::from_nanos(13_600)),
                aggregate: 256,
                aggregate_bytes: 6_500_631,
                ..n
            },
            Preset::Fhss => Defaults {
                rates_kbps: &[],
                rate_kbps: 1_000,
                basic_kbps: &[1_000],
                slot_us: 50,
                sifs_us: 28,
                phy_header_us: 128,
                cw_max: 255,
                retries: 255,
                mac_header: 34,
                countdown: CountdownName::CountsBusy,
                after_failure: AfterFailureName::Difs,
                ..b
            },
        }
    }

    /// Checks that the preset has this rate.
    fn check_rate(self, rate: Rate) -> Result<(), Problem> {
        let known = self.defaults().rates_kbps;
        if known.is_empty() || known.iter().any(|kbps| kbps * 1000 == rate.as_bps()) {
            return Ok(());
        }
        let hint = Hint::OneOf(known.iter().map(|kbps| shown(*kbps)).collect());
        Err(Problem::UnknownName { what: "rate of its preset", name: rate.to_string(), hint })
    }
}

fn shown(kbps: u64) -> String {
    rate_of(kbps).to_string()
}

fn rate_of(kbps: u64) -> Rate {
    Rate::from_bps(kbps * 1000).expect("invariant: a preset has rates")
}

/// The key that does not fit, and why.
type Misfit = (&'static str, Problem);

impl Channel {
    fn dcf(&self) -> &Dcf {
        let Channel::Dcf(dcf) = self;
        dcf
    }

    /// Rate of data, unless the link of a station sets its own. Default: the highest of the preset.
    pub fn rate(&self) -> Rate {
        let dcf = self.dcf();
        dcf.rate.unwrap_or_else(|| rate_of(dcf.preset.defaults().rate_kbps))
    }

    /// Propagation delay between any two stations.
    pub fn propagation(&self) -> Duration {
        self.dcf().propagation
    }

    /// Whether nothing gets through.
    pub fn is_dead(&self) -> bool {
        self.errors().iter().any(|(_, errors)| *errors >= 1.0)
    }

    /// Chances that decide which transmissions, and which of their packets, fail without a collision.
    pub fn random_errors(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.errors().into_iter().filter(|(_, errors)| *errors > 0.0 && *errors < 1.0)
    }

    fn errors(&self) -> [(&'static str, f64); 2] {
        [("frame", self.dcf().frame_errors), ("packet", self.dcf().packet_errors)]
    }

    /// Checks that a station may have this rate.
    ///
    /// # Errors
    /// Which rates there are.
    pub fn check_rate(&self, rate: Rate) -> Result<(), Problem> {
        self.dcf().preset.check_rate(rate)
    }

    /// The plan.
    ///
    /// # Errors
    /// The key that does not fit, and why.
    pub fn plan(&self) -> Result<sim::Dcf, Misfit> {
        let keys = self.dcf();
        let defaults = keys.preset.defaults();
        let micros = |length: Option<Duration>, micros| length.unwrap_or(Duration::from_micros(micros));
        let slot = short_enough("slot", micros(keys.slot, defaults.slot_us))?;
        if slot.is_zero() {
            return Err(("slot", out_of_range(slot, "above zero")));
        }
        let sifs = short_enough("sifs", micros(keys.sifs, defaults.sifs_us))?;
        let (cw_min, cw_max) = (keys.cw_min.unwrap_or(defaults.cw_min), keys.cw_max.unwrap_or(defaults.cw_max));
        for (key, bound) in [("cw_min", cw_min), ("cw_max", cw_max)] {
            if !(bound + 1).is_power_of_two() {
                return Err((key, out_of_range(bound, "a power of two less one, such as 31")));
            }
        }
        if cw_max < cw_min {
            return Err(("cw_max", out_of_range(cw_max, &format!("at least cw_min, {cw_min}"))));
        }
        let basic_rates = match &keys.basic_rates {
            None => defaults.basic_kbps.iter().map(|kbps| rate_of(*kbps)).collect(),
            Some(rates) => rates.clone(),
        };
        if let Some(pair) = basic_rates.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(("basic_rates", out_of_range(pair[1], &format!("above {}: ascending", pair[0]))));
        }
        self.check_rate(self.rate()).map_err(|problem| ("rate", problem))?;
        for rate in &basic_rates {
            self.check_rate(*rate).map_err(|problem| ("basic_rates", problem))?;
        }
        let phy_header = short_enough("phy_header", micros(keys.phy_header, defaults.phy_header_us))?;
        Ok(sim::Dcf {
            slot,
            sifs,
            difs: short_enough("difs", keys.difs.unwrap_or(sifs + slot * defaults.aifs_slots))?,
            propagation: short_enough("propagation", keys.propagation)?,
            cw_min,
            cw_max,
            retries: keys.retries.unwrap_or(defaults.retries),
            phy_header,
            answer_header: defaults.answer_header_us.map_or(phy_header, Duration::from_micros),
            phy_trailer: Duration::from_micros(defaults.phy_trailer_us),
            symbol: defaults.symbol,
            answer_symbol: defaults.answer_symbol,
            mac_header: small_enough("mac_header", keys.mac_header.unwrap_or(Size(defaults.mac_header)))?,
            ack: small_enough("ack", keys.ack.unwrap_or(Size(defaults.ack)))?,
            basic_rates,
            countdown: match keys.countdown.unwrap_or(defaults.countdown) {
                CountdownName::Freezes => Countdown::Freezes,
                CountdownName::CountsBusy => Countdown::CountsBusy,
            },
            after_failure: match keys.after_failure.unwrap_or(defaults.after_failure) {
                AfterFailureName::Eifs => AfterFailure::Eifs,
                AfterFailureName::Difs => AfterFailure::Difs,
            },
            rts_threshold: keys.rts_threshold.map(|size| u32::try_from(size.0).unwrap_or(u32::MAX)),
            aggregate: keys.aggregate.unwrap_or(defaults.aggregate),
            aggregate_bytes: keys.aggregate_size.map_or(defaults.aggregate_bytes, |size| size.0),
            aggregate_time: short_enough("aggregate_time", keys.aggregate_time.unwrap_or(defaults.aggregate_time))?,
            frame_errors: keys.frame_errors,
            packet_errors: keys.packet_errors,
        })
    }
}

fn short_enough(key: &'static str, length: Duration) -> Result<Duration, Misfit> {
    if length > LONGEST { Err((key, out_of_range(length, &format!("at most {LONGEST}")))) } else { Ok(length) }
}

fn small_enough(key: &'static str, size: Size) -> Result<u32, Misfit> {
    const LARGEST: u64 = 65_535;
    if size.0 > LARGEST { Err((key, out_of_range(size, &format!("at most {LARGEST} B")))) } else { Ok(size.0 as u32) }
}

fn out_of_range(value: impl ToString, expected: &str) -> Problem {
    Problem::OutOfRange { value: value.to_string(), expected: expected.to_owned() }
}
