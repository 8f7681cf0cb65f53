//! Hand-computed bins, and slow starts in packets.

use super::*;
use crate::cc::tests::{MSS, Path, mbit, ms, with_timestamps};
use crate::cc::{CcContext, CcSpec, CongestionControl, PathView, SlowStart};

/// An ACK at a time in milliseconds, with so many segments in flight behind it.
fn ack(at_ms: u64, delivered: u32, in_flight: u32, rtt_ms: u64) -> Ack {
    let path = PathView { in_flight, latest_rtt: ms(rtt_ms), ..PathView::default() };
    Ack { now: Instant::ZERO + ms(at_ms), newly_delivered: delivered, path, ..Ack::of(f64::from(delivered)) }
}

const SENDER: Sender = Sender { cwnd: 1000.0, initial_window: 10.0, in_slow_start: true, paces: false };

/// SEARCH with bins of 35 ms, which hold these counts of delivered and sent segments.
fn with_bins(bins: impl Iterator<Item = (u64, u64)>) -> Search {
    let bins: VecDeque<Bin> = bins.map(|(delivered, sent)| Bin { delivered, sent }).collect();
    let now = *bins.back().unwrap();
    Search { bin: Some(ms(35)), bins, now, ..Search::new(true) }
}

/// A bin is 3.5 RTTs divided by ten.
#[test]
fn a_bin_is_seven_twentieths_of_the_first_rtt() {
    let mut search = Search::new(true);
    assert_eq!(search.observe(&ack(1000, 1, 20, 100), SENDER), Verdict::Continues);
    assert_eq!((search.bin, search.bin_end), (Some(ms(35)), Instant::ZERO + ms(1035)));
    // The end of a bin belongs to it.
    search.observe(&ack(1035, 2, 22, 120), SENDER);
    assert_eq!(search.bins.len(), 1);
    search.observe(&ack(1036, 4, 30, 120), SENDER);
    assert_eq!(search.bins, [Bin { delivered: 1, sent: 21 }, Bin { delivered: 7, sent: 37 }]);
}

#[test]
fn missed_bins_hold_the_counts_of_the_bin_before_and_a_missed_window_starts_again() {
    let mut search = Search::new(true);
    search.observe(&ack(0, 1, 20, 100), SENDER);
    // 35 to 140 ms: four bins have ended, the last one with this ACK.
    search.observe(&ack(141, 9, 40, 100), SENDER);
    let (old, new) = (Bin { delivered: 1, sent: 21 }, Bin { delivered: 10, sent: 50 });
    assert_eq!(search.bins, [old, old, old, old, new]);
    assert_eq!(search.bin_end, Instant::ZERO + ms(175));
    // 175 to 490 ms: ten bins may end with an ACK. Eleven are too many.
    let mut late = search.clone();
    late.observe(&ack(524, 1, 40, 100), SENDER);
    assert_eq!(late.bins.len(), 15);
    search.observe(&ack(525, 1, 40, 100), SENDER);
    assert!(search.bins.is_empty() && search.bin.is_none());
}

/// Lost segments were sent.
#[test]
fn segments_that_left_the_path_without_arriving_count_as_sent() {
    let mut search = Search::new(true);
    search.observe(&Ack { newly_lost: 5, ..ack(0, 2, 10, 100) }, SENDER);
    assert_eq!(search.now, Bin { delivered: 2, sent: 17 });
}

/// Doubling each RTT of two bins delivers the data sent an RTT before.
#[test]
fn exponential_growth_has_a_norm_of_zero() {
    let counts = |bin: i32| libm::round(1000.0 * libm::exp2(f64::from(bin) / 2.0)) as u64;
    let search = with_bins((0..26).map(|bin| (counts(bin), counts(bin + 2))));
    assert!(search.norm(ms(70)).unwrap().abs() < 1e-3);
}

/// A hundred segments were sent in the window of ten bins, and `delivered` of them arrive.
#[test]
fn slow_start_ends_with_a_quarter_of_the_sent_data_missing() {
    let norm = |delivered: u64| {
        let search = with_bins((0..14).map(|bin| (delivered * bin / 10, 10 * bin)));
        search.norm(ms(70)).unwrap()
    };
    // Bins 1 to 11 were sent an RTT ago, bins 3 to 13 are delivered now.
    assert!((norm(80) - (100.0 - (104.0 - 24.0)) / 100.0).abs() < 1e-9);
    let verdict = |delivered: u64| {
        let bins = (0..13).map(|bin| (delivered * bin / 10, 10 * bin));
        let mut search = with_bins(bins);
        search.drains = false;
        let last = delivered * 13 / 10 - search.now.delivered;
        search.observe(&Ack { now: search.bin_end + ms(1), ..ack(0, last as u32, 0, 70) }, SENDER)
    };
    assert_eq!((verdict(75), verdict(74)), (Verdict::Continues, Verdict::Ends));
}

#[test]
fn an_rtt_between_bins_is_interpolated() {
    // Squares: 13² = 169, 12² = 144, 11² = 121.
    let search = with_bins((0..14).map(|bin| (0, bin * bin)));
    assert_eq!(search.sent_until(0, 0.0), Some(169.0));
    assert_eq!(search.sent_until(0, 0.5), Some((169.0 + 144.0) / 2.0));
    assert_eq!(search.sent_until(1, 0.25), Some(0.75 * 144.0 + 0.25 * 121.0));
    // 35 ms are one bin, 43.75 ms a quarter more.
    let expected = (0.75 * 144.0 + 0.25 * 121.0) - (0.75 * 4.0 + 0.25 * 1.0);
    let norm = (expected - 0.0) / expected;
    assert_eq!(search.norm(Duration::from_micros(43_750)), Some(norm));
}

/// W + EXTRA_BINS bins are kept, and one for the interpolation.
#[test]
fn an_rtt_looks_back_by_less_than_fifteen_bins() {
    let search = with_bins((0..26).map(|bin| (bin, 2 * bin)));
    assert!(search.norm(ms(35 * 15) - Duration::from_nanos(1)).is_some());
    assert_eq!(search.norm(ms(35 * 15)), None);
    let early = with_bins((0..13).map(|bin| (bin, 2 * bin)));
    assert_eq!((early.norm(ms(70)), early.norm(ms(69)).is_some()), (None, true));
}

#[test]
fn the_drain_ends_at_the_data_delivered_in_the_last_rtt() {
    // 100 segments per bin were sent, and 50 of each arrived: 150 in the last three bins.
    let mut search = with_bins((0..14).map(|bin| (50 * bin, 100 * bin)));
    let mut next = |delivered, in_flight| search.observe(&ack(1, delivered, in_flight, 70), SENDER);
    // Three delivered segments release one, and two are left over.
    assert_eq!(next(50, 300), Verdict::Drains(316.0));
    assert_eq!(next(1, 299), Verdict::Drains(300.0));
    assert_eq!(next(1, 298), Verdict::Drains(298.0));
    assert_eq!(next(1, 151), Verdict::Drains(151.0));
    assert_eq!(next(0, 150), Verdict::EndsAt(150.0));
}

#[test]
fn a_window_below_the_target_does_not_drain() {
    let mut search = with_bins((0..14).map(|bin| (50 * bin, 100 * bin)));
    let small = Sender { cwnd: 150.0, ..SENDER };
    assert_eq!(search.observe(&ack(1, 50, 140, 70), small), Verdict::Ends);
    // The target is no less than the initial window.
    let mut slow = with_bins((0..14).map(|bin| (bin, 2 * bin)));
    assert_eq!(slow.observe(&ack(1, 1, 9, 70), SENDER), Verdict::EndsAt(10.0));
}

/// A fluid: ACKs arrive at the rate `2^t` before time 0 and at the rate 1 after it. Times are in RTTs, and data in
/// bandwidth-delay products. Returns the window at which the norm reaches the threshold.
fn window_of_the_fluid() -> f64 {
    let ln2 = std::f64::consts::LN_2;
    let acked = |t: f64| if t < 0.0 { libm::exp2(t) / ln2 } else { 1.0 / ln2 + t };
    // Twice the acknowledged data were sent: what is acknowledged at `t` was sent when half of it was.
    let sent_at = |t: f64| acked(t) / 2.0 - 1.0 / ln2;
    let window = W as f64 * 0.35;
    let norm = |t: f64| {
        let sent = acked(t) - 2.0 * acked(sent_at(t) - window);
        (sent - (acked(t) - acked(t - window))) / sent
    };
    let step = 1e-3;
    let exit = (2000..).map(|at| f64::from(at) * step).find(|t| norm(*t) >= THRESH).unwrap();
    acked(exit)
}

/// The first slow start in packets.
#[derive(Debug)]
struct End {
    /// The window at its end, in bandwidth-delay products.
    window: f64,
    /// Packets that were dropped until then.
    lost: u64,
}

/// The bandwidth-delay product of a path in packets.
fn bdp((mbits, rtt): (f64, u64)) -> f64 {
    mbits * rtt as f64 * 1000.0 / (8.0 * (MSS + 40) as f64)
}

/// The first slow start of Reno with a buffer in bandwidth-delay products, and jitter drawn with this seed.
fn first_slow_start(slow_start: SlowStart, path: (f64, u64), buffer: f64, (jitter, seed): (u64, u64)) -> End {
    let (rate, rtt, bdp) = (mbit(path.0), ms(path.1), bdp(path));
    let context = CcContext { slow_start, ..CcContext::new(10.0) };
    let reno = CcSpec::by_name("reno").unwrap();
    let limit = (buffer * bdp) as usize;
    let mut path = Path::with_context(reno, context, rate, rtt, limit, with_timestamps);
    path.set_jitter(ms(jitter), seed);
    path.run_until("end of slow start", |path| path.cc().ssthresh().is_finite());
    End { window: path.cc().cwnd() / bdp, lost: path.lost }
}

const PATHS: [(f64, u64); 4] = [(10.0, 20), (10.0, 100), (100.0, 20), (100.0, 100)];

/// With room for more than the window of the fluid, slow start ends there, up to a bin later.
#[test]
fn slow_start_ends_in_packets_as_in_the_fluid_model() {
    let fluid = window_of_the_fluid();
    assert!((fluid - 5.32).abs() < 0.01, "{fluid}");
    // 10 Mbit/s and 20 ms have 17 packets: they are full before there are bins to look back.
    for path in &PATHS[1..] {
        let end = first_slow_start(SlowStart::SearchNoDrain, *path, 8.0, (0, 0));
        assert!(end.window > fluid && end.window < fluid + 0.4 && end.lost == 0, "{path:?} {end:?}");
    }
    let short = first_slow_start(SlowStart::SearchNoDrain, PATHS[0], 8.0, (0, 0));
    assert!(short.window > 7.5 && short.lost == 0, "{short:?}");
}

#[test]
fn the_drain_leaves_a_bandwidth_delay_product() {
    for path in PATHS {
        let end = first_slow_start(SlowStart::Search, path, 8.0, (0, 0));
        // 1.05 times the first RTT, which has a transmission, and a packet of the bin's end.
        let most = 1.05 * (1.0 + 1.0 / bdp(path)) + 1.0 / bdp(path);
        assert!(end.window >= 1.0 && end.window <= most && end.lost == 0, "{path:?} {end:?} {most}");
    }
}

/// The window of the fluid does not fit into smaller buffers.
#[test]
fn buffers_below_the_window_of_the_fluid_lose_first() {
    for path in PATHS {
        for buffer in [1.0, 4.0] {
            let end = first_slow_start(SlowStart::Search, path, buffer, (0, 0));
            assert!(end.lost > 0, "{path:?} {buffer} {end:?}");
        }
    }
}

/// Random delays up to half of an RTT do not end slow start before the path is full.
#[test]
fn jitter_does_not_end_slow_start_early() {
    for (mbits, rtt) in [(100.0, 20), (100.0, 100)] {
        for jitter in [rtt / 10, rtt / 4, rtt / 2] {
            for seed in 0..10 {
                let end = first_slow_start(SlowStart::SearchNoDrain, (mbits, rtt), 16.0, (jitter, seed));
                assert!(end.window > 2.0, "{rtt} {jitter} {seed} {end:?}");
            }
        }
    }
}

/// The table of docs/learn/slow-starts.md: 100 Mbit/s and 100 ms.
#[test]
fn slow_starts_end_at_the_windows_of_the_page() {
    let figures = |slow_start| {
        [1.0, 4.0, 8.0].map(|buffer| {
            let End { window, lost } = first_slow_start(slow_start, (100.0, 100), buffer, (0, 0));
            ((100.0 * window).round() / 100.0, lost)
        })
    };
    assert_eq!(figures(SlowStart::Standard), [(2.0, 1668), (5.0, 4168), (9.0, 7501)]);
    assert_eq!(figures(SlowStart::HystartPlusPlus), [(1.66, 1092), (3.13, 1042), (9.39, 326)]);
    assert_eq!(figures(SlowStart::Hystart), [(1.27, 0); 3]);
    assert_eq!(figures(SlowStart::Search), [(2.0, 1668), (1.16, 326), (1.05, 0)]);
    assert_eq!(figures(SlowStart::SearchNoDrain), [(2.0, 1668), (5.39, 326), (5.39, 0)]);
}
