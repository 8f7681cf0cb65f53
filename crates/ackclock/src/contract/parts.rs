//! Random parts of random networks: links, transports, settings of algorithms.

use super::Draw;
use super::random_queue::random_queue;
use crate::cc::{CcContext, IdleWindow, TimeoutSsthresh};
use crate::link::{Bleaching, DelayCourse, Outages};
use crate::qdisc::{Groups, Limit, Place, QueuePlan};
use crate::sim::{ChannelState, ImpairmentsPlan, LossPlan, ReorderingPlan, Script};
use crate::transport::{EcnMode, LossRecovery, Profile, Protocol, Reduction, SackSender, Transport, Undo};
use crate::units::{Duration, Rate};
use crate::variation::{Lte, OnOff, Schedule, VariationPlan, Walk, WalkKind, Wifi};

/// The settings that an algorithm gets at the start.
pub(super) fn context(draw: &mut Draw) -> CcContext {
    use TimeoutSsthresh::{HalfCwnd, HalfFlight, Rule, Standard};
    let timeouts = [Standard, HalfCwnd, HalfFlight, Rule];
    CcContext { timeout_ssthresh: draw.pick(&timeouts), ..CcContext::new(draw.whole(1, 20) as f64) }
}

/// How a rate varies, if it does: one time of three.
pub(super) fn variation(draw: &mut Draw, most: u64) -> Option<VariationPlan> {
    let time = |draw: &mut Draw| Duration::from_micros(10) + draw.time(Duration::from_millis(300));
    let low = draw.whole(0, most);
    Some(match draw.whole(0, 17) {
        0 => VariationPlan::Schedule(Schedule::square(most, low, time(draw))),
        1 => {
            let steps = (0..draw.whole(1, 9)).map(|_| (draw.whole(0, most), time(draw))).collect();
            VariationPlan::Schedule(Schedule::once(steps))
        }
        2 => {
            let kind = WalkKind::Around { start: low, delta: most / 3 };
            VariationPlan::Walk(Walk { kind, min_bps: 0, max_bps: most, step: time(draw) })
        }
        3 => {
            let (mean_high, mean_low) = (time(draw), time(draw));
            VariationPlan::OnOff(OnOff { high_bps: most, low_bps: 0, mean_high, mean_low })
        }
        4 => VariationPlan::Lte(Lte { max_bps: most, volatility: 1.0, mean_outage: time(draw) }),
        5 => VariationPlan::Wifi(Wifi { max_bps: most, stations: draw.whole(0, 5) as u32 }),
        _ => return None,
    })
}

/// Impairments of a link, mostly one or two of them.
pub(super) fn impairments(draw: &mut Draw) -> ImpairmentsPlan {
    let reordering = ReorderingPlan { probability: draw.scale(1e-3, 1.0), delay: draw.time(Duration::from_millis(30)) };
    ImpairmentsPlan {
        course: draw.chance(15).then(|| course(draw)),
        outages: draw.chance(10).then(|| Outages {
            begins: vec![draw.time(Duration::from_millis(500)), Duration::from_secs(1)],
            length: Duration::from_millis(draw.whole(1, 200)),
            repeat: draw.chance(50).then_some(Duration::from_secs(2)),
        }),
        ack_thinning: draw.chance(10).then(|| draw.whole(1, 5) as u32),
        aggregation: draw.chance(10).then(|| {
            let every = Duration::from_micros(draw.whole(1, 20_000));
            (every, if draw.chance(50) { draw.whole(1, 50) as u32 } else { u32::MAX })
        }),
        jitter: jitter(draw),
        jitter_reorders: draw.chance(50),
        reordering: draw.chance(15).then_some(reordering),
        loss: loss(draw),
        duplication: if draw.chance(15) { draw.scale(1e-3, 1.0) } else { 0.0 },
        corruption: if draw.chance(15) { draw.scale(1e-4, 0.3) } else { 0.0 },
        bleaching: Bleaching::None,
    }
}

/// A delay that changes, in steps or evenly.
fn course(draw: &mut Draw) -> DelayCourse {
    let mut at = Duration::ZERO;
    let mut points = Vec::new();
    for _ in 0..draw.whole(1, 5) {
        points.push((at, draw.time(Duration::from_millis(60))));
        at += Duration::from_nanos(1) + draw.time(Duration::from_millis(700));
    }
    DelayCourse { points, is_linear: draw.chance(50), repeat: draw.chance(50).then_some(at) }
}

pub(super) fn drop_tail(packets: u32) -> QueuePlan {
    QueuePlan::drop_tail(Limit::Packets(packets))
}

/// A queue of a link of `rate` bits a second.
pub(super) fn queue(draw: &mut Draw, rate: f64) -> QueuePlan {
    let place = Place {
        rate: Rate::from_bps(rate as u64),
        delay: Duration::from_millis(draw.whole(1, 50)),
        packet_bytes: 1500,
        mean_rtt_secs: draw.scale(0.005, 0.2),
        groups: Groups::NONE,
    };
    random_queue(draw, &place)
}

pub(super) fn loss(draw: &mut Draw) -> LossPlan {
    match draw.whole(0, 7) {
        0 => LossPlan::Bernoulli { probability: draw.scale(1e-4, 0.3) },
        1 => {
            let period = draw.whole(2, 500);
            LossPlan::Periodic { period, offset: draw.whole(0, period - 1) }
        }
        2 => {
            let first = draw.whole(1, 200);
            let late = draw.whole(1, 200);
            let marked = draw.whole(1, 200);
            LossPlan::Scripted(Script {
                lost: (first..first + draw.whole(1, 40)).collect(),
                late: (late..late + draw.whole(0, 20)).collect(),
                late_by: draw.time(Duration::from_millis(50)),
                marked: (marked..marked + draw.whole(0, 20)).collect(),
            })
        }
        3 => LossPlan::BitErrors { probability: draw.scale(1e-8, 1e-4) },
        4 => LossPlan::GilbertElliott {
            good: ChannelState { loss: draw.scale(1e-4, 1e-2), leave: draw.scale(1e-4, 0.1) },
            bad: ChannelState { loss: draw.real(0.0, 1.0), leave: draw.real(0.05, 1.0) },
        },
        _ => LossPlan::None,
    }
}

pub(super) fn jitter(draw: &mut Draw) -> Duration {
    if draw.chance(20) { draw.time(Duration::from_millis(10)) } else { Duration::ZERO }
}

/// The settings of an algorithm and of the transport of a flow, from a profile or random.
pub(super) fn settings(draw: &mut Draw) -> (CcContext, Transport) {
    let (context, transport) = (context(draw), transport(draw));
    let profiles = [Profile::Rfc, Profile::Ns2, Profile::Ns2Linux, Profile::Linux].map(Some);
    let profile = if draw.chance(60) { draw.pick(&profiles) } else { None };
    let Some(keys) = profile.map(Profile::keys) else { return (context, transport) };
    let Transport { recovery, peer_sack, ecn, receive_buffer, .. } = transport;
    (keys.cc_context(), Transport { peer_sack, ecn, receive_buffer, ..keys.transport(recovery) })
}

fn transport(draw: &mut Draw) -> Transport {
    let recoveries = [LossRecovery::Tahoe, LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack];
    let transport = Transport {
        mss: draw.pick(&[536, 1000, 1460]),
        header: 40,
        framing: draw.pick(&[0, 18]),
        max_window: draw.chance(25).then(|| draw.whole(2, 60) as u32),
        min_rto: Duration::from_millis(draw.pick(&[100, 200, 1000])),
        delayed_ack: draw.chance(30).then(|| Duration::from_millis(draw.pick(&[40, 100]))),
        limited_transmit: draw.chance(70),
        timestamps: draw.chance(30),
        byte_counting: draw.pick(&[1, 1, 2, 0, u32::MAX]),
        idle_restart: draw.chance(70),
        recovery: draw.pick(&recoveries),
        peer_sack: draw.chance(85),
        ecn: draw.pick(&[EcnMode::Off, EcnMode::Classic, EcnMode::AccEcn]),
        dsack: draw.chance(50),
        undo: draw.pick(&[Undo::None, Undo::Eifel, Undo::Dsack, Undo::Both, Undo::Counted]),
        rack: draw.chance(50),
        tlp: draw.chance(50),
        prr: draw.pick(&[Reduction::AtOnce, Reduction::Proportional, Reduction::Halving]),
        frto: draw.chance(50),
        handshake: draw.chance(30),
        quick_acks: draw.pick(&[0, 0, 16]),
        window_growth_acks: draw.chance(30),
        push_acks: draw.chance(30),
        sack_compression: draw.chance(30),
        receive_buffer: draw.chance(20).then(|| draw.whole(200, 100_000)),
        read_rate: if draw.chance(50) { Rate::from_bps(draw.scale(1e5, 1e7) as u64) } else { None },
        read_every: if draw.chance(30) { draw.time(Duration::from_millis(500)) } else { Duration::ZERO },
        idle_window: draw.pick(&[IdleWindow::Restart, IdleWindow::Halve, IdleWindow::Validate]),
        sack_sender: draw.pick(&[SackSender::Scoreboard, SackSender::Scoreboard, SackSender::Fack]),
        ..Transport::default()
    };
    // Half of the receivers that count marks have DCTCP's feedback.
    let is_dctcp = transport.ecn == EcnMode::AccEcn && transport.frto;
    Transport { ecn: if is_dctcp { EcnMode::Dctcp } else { transport.ecn }, ..transport }
}

/// The same over RTP, whose rules are drawn.
pub(super) fn over_rtp(draw: &mut Draw, tcp: Transport) -> Transport {
    Transport { protocol: Protocol::Rtp, undo: Undo::None, ..over_quic(draw, tcp) }
}

/// The same over QUIC, whose rules are drawn.
pub(super) fn over_quic(draw: &mut Draw, tcp: Transport) -> Transport {
    let validates = tcp.idle_window == IdleWindow::Validate;
    Transport {
        protocol: Protocol::Quic,
        ecn: if tcp.ecn == EcnMode::Off { EcnMode::Off } else { EcnMode::Counts },
        undo: if tcp.undo == Undo::None { Undo::None } else { Undo::LateAcks },
        packet_threshold: draw.pick(&[3, 3, 1, 20]),
        time_threshold: draw.pick(&[1.125, 1.125, 1.0, 2.0]),
        ack_eliciting_threshold: draw.pick(&[1, 1, 0, 9]),
        reordering_threshold: draw.pick(&[1, 1, 0, 5]),
        receive_buffer: None,
        idle_window: if validates { IdleWindow::Restart } else { tcp.idle_window },
        ..tcp
    }
}
