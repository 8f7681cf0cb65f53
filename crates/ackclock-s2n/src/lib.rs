//! Congestion controllers written for s2n-quic-core, unchanged, as algorithms of ackclock.
//!
//! A controller implements `s2n_quic_core::recovery::CongestionController`. It runs over QUIC, whose packet numbers
//! identify its `PacketInfo`. Over TCP the run ends with a message.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::AtomicBool;
//!
//! use ackclock_scenario::Scenario;
//! use s2n_quic_core::recovery::CubicCongestionController;
//!
//! let text = "
//! schema = 1
//! duration = '20 s'
//! topology = { kind = 'dumbbell', rate = '10 Mbit/s', delay = '20 ms' }
//! transport = { profile = 'quic', pacing = 'off' }
//! flows = [{ name = 'test', cc = 'cubic' }]
//! ";
//! let mut plan = Scenario::from_toml::<&str>(text, "s2n.toml", &[]).unwrap().plan(None, 0);
//! let cubic = ackclock_s2n::algorithm("s2n-cubic", |size| CubicCongestionController::new(size, Default::default()));
//! plan.flows[0].cc = Arc::new(cubic);
//! let result = ackclock::sim::run(&plan, &AtomicBool::new(false)).unwrap();
//! assert_eq!(&*result.flows[0].cc, "s2n-cubic");
//! assert!(result.summary.utilization.unwrap() > 0.9);
//! ```
//!
//! The calls of the controller, and the events behind them:
//!
//! | s2n-quic-core | ackclock |
//! |---|---|
//! | `on_packet_sent` | a packet with data leaves, with the bytes of its frame, and `max_datagram_size` is `mss` |
//! | `on_rtt_update` | an RTT sample, which moves an `RttEstimator` of s2n with a `max_ack_delay` of 25 ms |
//! | `on_ack` | packets in flight were acknowledged |
//! | `on_packet_lost` | a packet is lost, after all losses of the ACK are known |
//! | `on_explicit_congestion` | the count of marks has grown |
//! | `congestion_window`, `earliest_departure_time` | the window in packets, and when the next one may leave |
//!
//! Deviations: times are whole microseconds, as in s2n. `requires_fast_retransmission` is ignored: the transport's
//! own rule sends one packet when a recovery period begins. `send_quantum` and changes of the MTU are ignored.

use std::collections::VecDeque;
use std::time::Duration;

use ackclock::cc::{
    Ack, Algorithm, CcContext, Congestion, CongestionControl, Departures, PacketControl, PacketLost, PacketSent,
    PacketsAcked, RttSample,
};
use ackclock::units;
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::recovery::{CongestionController, DEFAULT_INITIAL_RTT, RttEstimator};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};
use s2n_quic_core::transport::parameters::MaxAckDelay;

/// The algorithm of this name, whose controllers `new` makes for a `max_datagram_size`.
pub fn algorithm<C>(name: &str, new: impl Fn(u16) -> C + Send + Sync + 'static) -> Algorithm
where
    C: CongestionController + Sync,
{
    Algorithm::new(name, move |context: CcContext| {
        let size = u16::try_from(context.mss).unwrap_or(u16::MAX);
        Adapter::new(new(size), context)
    })
}

/// A controller of s2n-quic-core.
#[derive(Debug)]
struct Adapter<C: CongestionController> {
    cc: C,
    rtt: RttEstimator,
    /// The controller's information about packets from `first` on, or none for a PING.
    packets: VecDeque<Option<C::PacketInfo>>,
    first: u64,
    /// The last lost packet, whose successor is of the same burst.
    last_lost: Option<u64>,
    random: Random,
    slow_start: SlowStart,
    mss: f64,
    has_packets: bool,
    fault: Option<&'static str>,
}

impl<C: CongestionController> Adapter<C> {
    fn new(cc: C, context: CcContext) -> Self {
        let mut rtt = RttEstimator::new(DEFAULT_INITIAL_RTT);
        rtt.on_max_ack_delay(MaxAckDelay::default());
        Adapter {
            cc,
            rtt,
            packets: VecDeque::new(),
            first: 0,
            last_lost: None,
            random: Random(context.seed),
            slow_start: SlowStart::default(),
            mss: f64::from(context.mss),
            has_packets: false,
            fault: None,
        }
    }

    /// The stored information of the newest packet up to this number that has any.
    fn info(&self, number: u64) -> Option<C::PacketInfo> {
        let position = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.packets.iter().take(position + 1).rev().find_map(|info| *info)
    }
}

impl<C: CongestionController + Sync> CongestionControl for Adapter<C> {
    fn cwnd(&self) -> f64 {
        match self.fault {
            Some(_) => f64::NAN,
            None => (f64::from(self.cc.congestion_window()) / self.mss).max(1.0),
        }
    }

    fn fault(&self) -> Option<&str> {
        self.fault
    }

    fn ssthresh(&self) -> f64 {
        self.slow_start.left_at.map_or(f64::INFINITY, |bytes| (f64::from(bytes) / self.mss).max(1.0))
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn departures(&self) -> Departures {
        Departures::None
    }

    fn needs_rate_samples(&self) -> bool {
        false
    }

    fn packet_control(&mut self) -> Option<&mut dyn PacketControl> {
        Some(self)
    }

    fn on_ack(&mut self, _ack: &Ack) {
        if !self.has_packets {
            self.fault = Some("a controller of s2n-quic needs packet numbers; write protocol = \"quic\"");
        }
    }

    fn on_congestion(&mut self, _congestion: &Congestion) {}
}

impl<C: CongestionController + Sync> PacketControl for Adapter<C> {
    fn on_packet_sent(&mut self, packet: &PacketSent) {
        self.has_packets = true;
        let info = (packet.bytes > 0).then(|| {
            let (at, bytes) = (timestamp(packet.now), packet.bytes as usize);
            self.cc.on_packet_sent(at, bytes, Some(packet.app_limited), &self.rtt, &mut self.slow_start)
        });
        self.packets.push_back(info);
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        let now = timestamp(sample.now);
        let (rtt, ack_delay) = (duration(sample.rtt), duration(sample.ack_delay));
        self.rtt.update_rtt(ack_delay, rtt, now, true, PacketNumberSpace::ApplicationData);
        let sent = sample.now.as_nanos().saturating_sub(sample.rtt.as_nanos());
        self.cc.on_rtt_update(timestamp(units::Instant::from_nanos(sent)), now, &self.rtt, &mut self.slow_start);
    }

    fn on_marks(&mut self, now: units::Instant, count: u32) {
        self.cc.on_explicit_congestion(u64::from(count), timestamp(now), &mut self.slow_start);
    }

    fn on_packet_lost(&mut self, packet: &PacketLost) {
        let position = packet.number.checked_sub(self.first).and_then(|position| usize::try_from(position).ok());
        let Some(info) = position.and_then(|position| self.packets.get_mut(position)?.take()) else { return };
        let is_new_burst = self.last_lost.is_none_or(|last| last + 1 != packet.number);
        self.last_lost = Some(packet.number);
        self.cc.on_packet_lost(
            packet.bytes,
            info,
            packet.persistent_congestion,
            is_new_burst,
            &mut self.random,
            timestamp(packet.now),
            &mut self.slow_start,
        );
    }

    fn on_packets_acked(&mut self, packets: &PacketsAcked) {
        if let Some(info) = self.info(packets.newest).filter(|_| packets.bytes > 0) {
            self.cc.on_ack(
                timestamp(packets.newest_sent_at),
                packets.bytes as usize,
                info,
                &self.rtt,
                &mut self.random,
                timestamp(packets.now),
                &mut self.slow_start,
            );
        }
        while self.first < packets.settled.min(packets.newest) && self.packets.pop_front().is_some() {
            self.first += 1;
        }
    }

    fn earliest_departure(&self) -> Option<units::Instant> {
        let at = self.cc.earliest_departure_time()?;
        let micros = at.saturating_duration_since(NoopClock.get_time()).as_micros();
        Some(units::Instant::ZERO + units::Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX / 1000)))
    }
}

/// s2n's time begins a microsecond after its epoch.
fn timestamp(at: units::Instant) -> Timestamp {
    NoopClock.get_time() + Duration::from_micros(at.as_nanos() / 1000)
}

fn duration(length: units::Duration) -> Duration {
    Duration::from_nanos(length.as_nanos())
}

/// The window with which the controller left slow start.
#[derive(Debug, Default)]
struct SlowStart {
    left_at: Option<u32>,
}

impl Publisher for SlowStart {
    fn on_slow_start_exited(&mut self, _cause: SlowStartExitCause, congestion_window: u32) {
        self.left_at = Some(congestion_window);
    }
    fn on_delivery_rate_sampled(&mut self, _rate_sample: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _rate: Bandwidth, _burst: u32, _gain: num_rational::Ratio<u64>) {}
    fn on_bbr_state_changed(&mut self, _state: BbrState) {}
}

/// Numbers by the seed of the connection (SplitMix64).
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^= mixed >> 31;
            chunk.copy_from_slice(&mixed.to_le_bytes()[..chunk.len()]);
        }
    }
}

impl random::Generator for Random {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        self.fill(dest);
    }

    fn private_random_fill(&mut self, dest: &mut [u8]) {
        self.fill(dest);
    }
}
