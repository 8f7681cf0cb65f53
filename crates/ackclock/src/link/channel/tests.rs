//! Closed forms of the DCF: Bianchi's saturation throughput, the service time of a station alone, lost frames.

use super::*;
use crate::contract::Item;
use crate::link::{AfterFailure, LinkConfig, LinkCounters};
use crate::qdisc::{DropTail, Ecn, Limit, Queue};
use crate::rng::RngStreams;

const PAYLOAD: u32 = 1023;

/// Bianchi 2000, table II: FHSS at 1 Mbit/s. 8184 bits of payload after 272 bits of MAC header.
fn fhss(window: u32, stages: u32) -> Dcf {
    Dcf {
        slot: Duration::from_micros(50),
        sifs: Duration::from_micros(28),
        difs: Duration::from_micros(128),
        propagation: Duration::from_micros(1),
        cw_min: window - 1,
        cw_max: (window << stages) - 1,
        retries: 255,
        phy_header: Duration::from_micros(128),
        answer_header: Duration::from_micros(128),
        phy_trailer: Duration::ZERO,
        symbol: None,
        answer_symbol: None,
        mac_header: 34,
        ack: 14,
        basic_rates: vec![mbps(1)],
        countdown: Countdown::CountsBusy,
        after_failure: AfterFailure::Difs,
        rts_threshold: None,
        aggregate: 1,
        aggregate_bytes: u64::MAX / 8,
        aggregate_time: Duration::from_secs(1),
        frame_errors: 0.0,
        packet_errors: 0.0,
    }
}

/// 802.11g at 54 Mbit/s.
fn erp_ofdm() -> Dcf {
    Dcf {
        slot: Duration::from_micros(9),
        sifs: Duration::from_micros(10),
        difs: Duration::from_micros(28),
        cw_min: 15,
        cw_max: 1023,
        retries: 6,
        phy_header: Duration::from_micros(20),
        answer_header: Duration::from_micros(20),
        phy_trailer: Duration::from_micros(6),
        symbol: Some(Duration::from_micros(4)),
        answer_symbol: Some(Duration::from_micros(4)),
        mac_header: 36,
        basic_rates: vec![mbps(6), mbps(12), mbps(24)],
        countdown: Countdown::Freezes,
        after_failure: AfterFailure::Eifs,
        ..fhss(32, 3)
    }
}

fn mbps(rate: u64) -> Rate {
    Rate::from_bps(rate * 1_000_000).unwrap()
}

/// A channel whose stations always have packets, and its results.
struct Saturated {
    channel: Channel<Item>,
    links: Vec<Link<Item>>,
    now: Instant,
    arrived: u64,
    sent: u64,
    /// Packets that wait in the queue of a station.
    most: u64,
    /// For each link, the next number that may arrive.
    next: Vec<u64>,
}

impl Saturated {
    fn new(dcf: &Dcf, rate: Rate, stations: usize, seed: u64) -> Self {
        let rngs = RngStreams::new(seed, 0);
        let name = |link: usize| format!("station{link}");
        let config = |link| StationConfig {
            link,
            rate,
            backoff: rngs.stream(&name(link), "backoff"),
            errors: rngs.stream(&name(link), "frame errors"),
        };
        let link = |_| {
            let config = LinkConfig {
                rate: Some(rate),
                varies: None,
                delay: dcf.propagation,
                impairments: None,
                histogram: false,
            };
            Link::new(config, Queue::DropTail(DropTail::new(Limit::Packets(1000)))).of_station()
        };
        let channel = Channel::new(dcf.clone(), (0..stations).map(config).collect());
        let links = (0..stations).map(link).collect();
        Saturated { channel, links, now: Instant::ZERO, arrived: 0, sent: 0, most: 8, next: vec![0; stations] }
    }

    /// Runs for so many transmissions.
    fn run(mut self, transmissions: u64) -> Self {
        for _ in 0..transmissions {
            for station in 0..self.links.len() {
                while u64::from(self.links[station].backlog().0) < self.most {
                    let item = Item {
                        number: self.sent,
                        flow: 0,
                        bytes: PAYLOAD,
                        ecn: Ecn::NotEct,
                        in_profile: false,
                        tag: crate::qdisc::Tag::NONE,
                        corrupted: false,
                    };
                    self.sent += 1;
                    self.channel.enqueue(self.now, station, item, &mut self.links, &mut ());
                }
            }
            self.now = self.channel.next_start().expect("somebody has a packet");
            self.channel.advance(self.now, &mut self.links, &mut ());
            while let Some(link) = self.channel.next_news() {
                let at = self.links[link].next_deadline().expect("it was given a packet");
                while let Some(item) = self.links[link].poll(at, &mut ()) {
                    assert_eq!(item.bytes, PAYLOAD);
                    assert!(item.number >= self.next[link], "packets arrive in order");
                    self.next[link] = item.number + 1;
                    self.arrived += 1;
                }
            }
        }
        self
    }

    /// Share of the time in which payload is sent.
    fn throughput(&self, rate: Rate) -> f64 {
        self.arrived as f64 * f64::from(8 * PAYLOAD) / rate.as_bps() as f64 / self.now.as_secs_f64()
    }

    fn counters(&self) -> Vec<LinkCounters> {
        self.links.iter().map(Link::counters).collect()
    }

    fn failed(&self) -> f64 {
        let counters = self.counters();
        let sum = |count: fn(&LinkCounters) -> u64| counters.iter().map(count).sum::<u64>() as f64;
        sum(|counters| counters.failed_attempts) / sum(|counters| counters.attempts)
    }
}

/// Bianchi 2000, equations (7) and (9): the probability that a station sends in a slot, and that it then collides.
fn fixed_point(window: u32, stages: u32, stations: usize) -> (f64, f64) {
    let w = f64::from(window);
    let tau = |p: f64| 2.0 / (1.0 + w + p * w * (0..stages).map(|stage| (2.0 * p).powi(stage as i32)).sum::<f64>());
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let p = (low + high) / 2.0;
        if 1.0 - (1.0 - tau(p)).powi(stations as i32 - 1) > p { low = p } else { high = p }
    }
    (tau(low), low)
}

/// Equation (13): the share of the time in which payload is sent.
fn bianchi(window: u32, stages: u32, stations: usize, is_rts: bool) -> f64 {
    let (tau, _) = fixed_point(window, stages, stations);
    let silent = |stations: usize| (1.0 - tau).powi(stations as i32);
    let some = 1.0 - silent(stations);
    let one = stations as f64 * tau * silent(stations - 1) / some;
    // Bits, which are microseconds.
    let (phy, mac, payload, ack, rts, cts) = (128.0, 272.0, 8184.0, 112.0 + 128.0, 160.0 + 128.0, 112.0 + 128.0);
    let (slot, sifs, difs, propagation) = (50.0, 28.0, 128.0, 1.0);
    let data = phy + mac + payload + sifs + propagation + ack + difs + propagation;
    let (success, collision) = match is_rts {
        false => (data, phy + mac + payload + difs + propagation),
        true => (rts + sifs + propagation + cts + sifs + propagation + data, rts + difs + propagation),
    };
    one * some * payload / ((1.0 - some) * slot + some * one * success + some * (1.0 - one) * collision)
}

const STATIONS: [usize; 6] = [1, 2, 5, 10, 20, 50];
const WINDOWS: [(u32, u32); 3] = [(32, 3), (32, 5), (128, 3)];

#[test]
fn saturated_stations_have_the_throughput_of_bianchi() {
    for (window, stages) in WINDOWS {
        for stations in STATIONS {
            let expected = bianchi(window, stages, stations, false);
            let off =
                |dcf: &Dcf| Saturated::new(dcf, mbps(1), stations, 1).run(40_000).throughput(mbps(1)) / expected - 1.0;
            let chain = off(&fhss(window, stages));
            let standard = off(&Dcf { countdown: Countdown::Freezes, ..fhss(window, stages) });
            println!(
                "| {window} | {stages} | {stations} | {expected:.4} | {:+.2} % | {:+.2} % |",
                100.0 * chain,
                100.0 * standard
            );
            assert!(chain.abs() < 0.01, "W {window}, m {stages}, {stations} stations: {chain:+.4}");
            assert!(standard.abs() < 0.05, "W {window}, m {stages}, {stations} stations: {standard:+.4}");
        }
    }
}

#[test]
fn with_rts_and_cts_saturated_stations_have_the_throughput_of_bianchi() {
    for (window, stages) in WINDOWS {
        for stations in STATIONS {
            let dcf = Dcf { rts_threshold: Some(0), ..fhss(window, stages) };
            let found = Saturated::new(&dcf, mbps(1), stations, 1).run(40_000).throughput(mbps(1));
            let off = found / bianchi(window, stages, stations, true) - 1.0;
            println!("| {window} | {stages} | {stations} | {found:.4} | {:+.2} % |", 100.0 * off);
            assert!(off.abs() < 0.01, "W {window}, m {stages}, {stations} stations: {off:+.4}");
        }
    }
}

#[test]
fn stations_collide_as_often_as_bianchi_says() {
    for (window, stages) in WINDOWS {
        for stations in STATIONS {
            let (_, expected) = fixed_point(window, stages, stations);
            let found = Saturated::new(&fhss(window, stages), mbps(1), stations, 2).run(40_000).failed();
            assert!((found - expected).abs() < 0.01, "{stations} stations: {found}, expected {expected}");
        }
    }
}

#[test]
fn a_station_alone_takes_difs_backoff_frame_sifs_and_ack() {
    const FRAMES: u64 = 100_000;
    // 1059 bytes at 54 Mbit/s are 40 symbols of 216 bits; 14 bytes at 24 Mbit/s two of 96.
    let frame = 20.0 + 40.0 * 4.0 + 6.0;
    let ack = 20.0 + 2.0 * 4.0 + 6.0;
    let expected = 28.0 + 7.5 * 9.0 + frame + 1.0 + 10.0 + ack + 1.0;
    let run = Saturated::new(&erp_ofdm(), mbps(54), 1, 1).run(FRAMES);
    assert_eq!(run.arrived, FRAMES);
    let found = run.now.as_secs_f64() * 1e6 / FRAMES as f64;
    // Four standard errors of the mean of a uniform counter.
    let bound = 4.0 * 9.0 * (255.0_f64 / 12.0).sqrt() / (FRAMES as f64).sqrt();
    assert!((found - expected).abs() < bound, "{found}, expected {expected} within {bound}");
}

#[test]
fn stations_share_fairly_over_a_long_time() {
    let run = Saturated::new(&erp_ofdm(), mbps(54), 10, 1).run(100_000);
    let shares: Vec<f64> = run.counters().iter().map(|counters| counters.forwarded as f64).collect();
    assert!(crate::metric::jain_index(&shares) > 0.999, "{shares:?}");
}

#[test]
fn what_fails_too_often_is_lost() {
    // With a window that never grows transmissions collide independently.
    for (retries, stations) in [(0, 5), (1, 10), (2, 20)] {
        let dcf = Dcf { retries, ..fhss(32, 0) };
        let run = Saturated::new(&dcf, mbps(1), stations, 1).run(60_000);
        let counters = run.counters();
        let sum = |count: fn(&LinkCounters) -> u64| counters.iter().map(count).sum::<u64>();
        let (lost, sent) = (sum(|counters| counters.losses), sum(|counters| counters.forwarded));
        let (found, expected) = (lost as f64 / sent as f64, run.failed().powi(retries as i32 + 1));
        assert!((found / expected - 1.0).abs() < 0.03, "{retries} retries: {found}, expected {expected}");
        let (held, _) = run.channel.held();
        assert_eq!(sent, run.arrived + lost + held, "every packet is somewhere");
        assert!(held <= stations as u64);
    }
}

#[test]
fn frames_with_wrong_bits_are_sent_again() {
    let dcf = Dcf { frame_errors: 0.3, retries: 2, ..fhss(32, 3) };
    let run = Saturated::new(&dcf, mbps(1), 1, 1).run(60_000);
    let counters = run.counters()[0];
    let lost = counters.losses as f64 / counters.forwarded as f64;
    // Four standard errors.
    assert!((run.failed() - 0.3).abs() < 4.0 * (0.21_f64 / 60_000.0).sqrt(), "{}", run.failed());
    assert!((lost - 0.027).abs() < 4.0 * (0.027_f64 * 0.973 / 42_000.0).sqrt(), "{lost}");
}

#[test]
fn packets_of_an_aggregate_share_one_exchange() {
    let dcf = Dcf { aggregate: 8, ..erp_ofdm() };
    let run = Saturated::new(&dcf, mbps(54), 1, 1).run(20_000);
    assert_eq!(run.arrived, 160_000);
    // Eight times 4 + 1059 bytes, all but the last padded to 1064: 8511 bytes are 316 symbols.
    let expected = 28.0 + 7.5 * 9.0 + 20.0 + 316.0 * 4.0 + 6.0 + 1.0 + 10.0 + 34.0 + 1.0;
    let found = run.now.as_secs_f64() * 1e6 / 20_000.0;
    assert!((found - expected).abs() < 1.2, "{found}, expected {expected}");
}

/// 802.11n at 65 Mbit/s.
fn ht() -> Dcf {
    Dcf {
        sifs: Duration::from_micros(16),
        difs: Duration::from_micros(43),
        phy_header: Duration::from_micros(36),
        phy_trailer: Duration::ZERO,
        mac_header: 38,
        ack: 32,
        aggregate: 64,
        aggregate_bytes: 65_535,
        aggregate_time: Duration::from_micros(5_484),
        ..erp_ofdm()
    }
}

/// The exchange of so many packets of `PAYLOAD` bytes by [`ht`], with its mean backoff, in microseconds.
fn ht_exchange(packets: u32) -> f64 {
    // 1065 bytes before, and all but the last padded to 1068. A symbol has 260 bits. The block ACK at 24 Mbit/s takes 3
    // symbols.
    let bits = 8 * (1068 * packets - 3) + 22;
    43.0 + 7.5 * 9.0 + 36.0 + f64::from(bits.div_ceil(260)) * 4.0 + 1.0 + 16.0 + 20.0 + 3.0 * 4.0 + 1.0
}

#[test]
fn an_aggregate_is_as_long_as_it_may_be() {
    // 5448 us are 1362 symbols, 354,120 bits: 41 packets.
    let run = Saturated { most: 64, ..Saturated::new(&ht(), mbps(65), 1, 1) }.run(20_000);
    let found = run.now.as_secs_f64() * 1e6 / 20_000.0;
    assert_eq!(run.arrived, 41 * 20_000);
    assert!((found / ht_exchange(41) - 1.0).abs() < 0.001, "{found}, expected {}", ht_exchange(41));
    let few = Saturated { most: 64, ..Saturated::new(&Dcf { aggregate_bytes: 3 * 1068, ..ht() }, mbps(65), 1, 1) };
    assert_eq!(few.run(1000).arrived, 3000);
}

#[test]
fn damaged_packets_of_an_aggregate_are_sent_again_alone_and_all_arrive_in_order() {
    // Short of the window of 64, every transmission has 41 packets.
    let dcf = Dcf { packet_errors: 0.1, aggregate: 256, ..ht() };
    let run = Saturated { most: 300, ..Saturated::new(&dcf, mbps(65), 1, 1) }.run(20_000);
    let sent_at_once = run.arrived as f64 / 20_000.0;
    assert!((sent_at_once / (0.9 * 41.0) - 1.0).abs() < 0.005, "{sent_at_once}");
    assert_eq!((run.counters()[0].losses, run.counters()[0].failed_attempts), (0, 0));
    let dcf = Dcf { packet_errors: 0.5, retries: 1, ..dcf };
    let run = Saturated { most: 300, ..Saturated::new(&dcf, mbps(65), 1, 1) }.run(5_000);
    let (lost, sent) = (run.counters()[0].losses, run.counters()[0].forwarded);
    assert!((lost as f64 / sent as f64 - 0.25).abs() < 0.01, "{lost} of {sent}");
    assert_eq!(sent, run.arrived + lost + run.channel.held().0);
}

#[test]
fn the_window_doubles_up_to_its_bound() {
    let windows = |dcf: &Dcf| [0, 1, 3, 6, 7, 31, 32, 255].map(|failures| dcf.window(failures));
    assert_eq!(windows(&erp_ofdm()), [15, 31, 127, 1023, 1023, 1023, 1023, 1023]);
    assert_eq!(windows(&fhss(1, 0)), [0; 8]);
}

/// Sends one packet for each of these stations at these microseconds. Returns the arrival times, in microseconds.
fn arrivals(dcf: &Dcf, packets: &[(u64, usize)]) -> Vec<(usize, u64)> {
    let mut run = Saturated::new(dcf, mbps(1), 3, 1);
    let item = Item {
        number: 0,
        flow: 0,
        bytes: PAYLOAD,
        ecn: Ecn::NotEct,
        in_profile: false,
        tag: crate::qdisc::Tag::NONE,
        corrupted: false,
    };
    for (at, station) in packets {
        let at = Instant::ZERO + Duration::from_micros(*at);
        run.channel.enqueue(at, *station, item, &mut run.links, &mut ());
    }
    while let Some(at) = run.channel.next_start() {
        run.channel.advance(at, &mut run.links, &mut ());
    }
    let mut arrivals = Vec::new();
    for (station, link) in run.links.iter_mut().enumerate() {
        while let Some(at) = link.next_deadline() {
            arrivals.push((station, at.as_nanos() / 1000));
            link.poll(at, &mut ());
        }
    }
    arrivals.sort_by_key(|(_, at)| *at);
    arrivals
}

#[test]
fn a_frame_that_finds_the_channel_idle_goes_out_with_the_next_slot() {
    let frame = 128 + 8 * (1023 + 34) + 1;
    assert_eq!(arrivals(&fhss(32, 3), &[(70, 0)]), [(0, 100 + frame)]);
    assert_eq!(arrivals(&fhss(32, 3), &[(100, 0)]), [(0, 150 + frame)]);
    // In the next slot, the other one finds the channel busy, and draws a counter.
    let both = arrivals(&fhss(32, 3), &[(70, 0), (100, 1)]);
    let idle_from = 100 + frame + 28 + 240 + 1 + 128;
    assert_eq!(both[0], (0, 100 + frame));
    assert!((0..32).any(|slots| both[1] == (1, idle_from + 50 * slots + frame)), "{both:?}");
    // In the same slot they collide.
    let both = arrivals(&fhss(32, 3), &[(70, 0), (99, 1)]);
    assert!(both[0].1 > 100 + 2 * frame, "{both:?}");
}

#[test]
fn a_counter_that_has_run_out_is_drawn_anew_where_the_channel_is_busy() {
    let dcf = Dcf { countdown: Countdown::Freezes, ..fhss(32, 3) };
    // Long after its first frame a station has no counter left; its second one comes while another one sends.
    let times = arrivals(&dcf, &[(0, 0), (100_000, 1), (101_000, 0), (101_000, 2)]);
    let frame = 128 + 8 * (1023 + 34) + 1;
    let idle_from = times[1].1 + 28 + 240 + 1 + 128;
    assert_eq!(times[1].0, 1);
    assert!(times[2].1 >= idle_from + frame && times.len() == 4, "{times:?}");
    assert_ne!(times[2].1, times[3].1);
}
