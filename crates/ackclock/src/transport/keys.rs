//! The keys of `[transport]`, one row each. `table.rs` explains the form of a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::profile::Profile;
use super::rules::{
    DelayedAckFor, EcnMode, EcnRetransmissions, ExitGrowth, LimitedTransmitSends, LossRecovery, MarkAtOne,
    MinRtoBounds, Pacing, PartialAck, PartialAckTimer, Protocol, RackRtt, Reduction, RepeatedTimeout, RttSamples,
    SackSender, SecondLoss, Undo, WindowGrowth, WindowProbe,
};
use super::scope::Scope;
use super::table::{held, transport_keys};
use super::values::{
    ByteCounting, ByteCountingWord, CutWindowName, DelayedAck, EcnBeta, HalvingWord, InitialSsthresh, MaxWindow,
    ReadRate, ReceiveBuffer, ReductionName, RuleWord, above_zero, bytes, not_zero, wait_not_zero, window_of_tcp,
    written,
};
use crate::cc::{ExitWindow, FirstCut, IdleWindow, SlowStart, TimeoutSsthresh, UndoResponse};
use crate::quantity::{Problem, SendJitter, Size};
use crate::units::{Duration, Rate};

transport_keys! {
    /// Source of the defaults: the RFCs, ns-2, its `Agent/TCP/Linux`, Linux, QUIC, or RTP.
    profile: Profile = [Profile::Rfc] => Both;
    /// Transport protocol of the flow. `quic` has the recovery of RFC 9002, and `rtp` carries media with the feedback
    /// of RFC 8888. Keys that a protocol does not read are rejected.
    protocol: Protocol = [Protocol::Tcp, Quic: Protocol::Quic, Rtp: Protocol::Rtp] => Both;
    /// Payload of a full segment.
    mss: Size as u32 = [
        Size(1460),
        Linux: Size(1448),
        Quic: Size(1435),
        Rtp: Size(1200),
    ] check(|size| bytes(size, 1)) => Both;
    /// TCP and IP header of every packet. Timestamps add 12 B to it. Under QUIC the default is the sum of five parts.
    /// They are IP (20 B), UDP (8 B), packet header (13 B), tag (16 B) and frame header (8 bytes). Under RTP it
    /// is the sum of IP, UDP and the RTP header (12 B).
    header: Size as u32 = [Size(40), Quic: Size(65)] check(|size| bytes(size, 1)) => Both;
    /// Bytes that the link layer adds to every packet (Ethernet: 38 B).
    framing: Size as u32 = [Size(0)] check(|size| bytes(size, 0)) => Both;
    /// Window at the start, in segments: 1 to 16777216.
    // RFC 2581 and the papers: two segments.
    initial_window: u32 = [2, Linux: 10, Quic: 10, Rtp: 10] range(min = 1, max = 16_777_216) => Both;
    /// The receiver's window in segments, 1 to 16777216, or "none".
    max_window: MaxWindow as Option<u32> = [MaxWindow::NONE] => Both;
    /// The receiver's buffer in bytes, at most 1 GiB, or "none". ACKs advertise its free part, and a sender probes a
    /// window of zero (RFC 9293 §3.8.6).
    receive_buffer: ReceiveBuffer as Option<u64> = [ReceiveBuffer::NONE] check(window_of_tcp) => Tcp;
    /// Rate at which the application reads data from `receive_buffer`, or "none" for no limit.
    read_rate: ReadRate as Option<Rate> = [ReadRate::NONE] => Tcp;
    /// Time between two reads of the receiving application. "0 s": it reads one segment at a time (at `read_rate`), or
    /// as soon as data arrive.
    read_every: Duration = [Duration::ZERO] => Tcp;
    /// Probe of a window of zero. `octet`: an octet of new data (RFC 9293 §3.8.6.1). `empty`: an old segment without
    /// data (Linux).
    window_probe: WindowProbe = [WindowProbe::Octet, Linux: WindowProbe::Empty] => Tcp;
    /// Lower bound of the retransmission timeout.
    min_rto: Duration = [Duration::from_millis(200)] check(not_zero) => Tcp;
    /// Quantity that `min_rto` bounds. `timeout`: the timeout (RFC 6298 §2.4). `variation`: its part above the smoothed
    /// RTT (Linux), which then falls only once per round trip. The timeout is then at most 120 s instead of 60 s.
    min_rto_bounds: MinRtoBounds = [MinRtoBounds::Timeout, Linux: MinRtoBounds::Variation] => Tcp;
    /// The retransmission timeout before the first measurement (RFC 6298 §2.1). Under QUIC it is the probe timeout (RFC
    /// 9002 §6.2.2).
    initial_rto: Duration = [
        Duration::from_secs(1),
        Ns2: Duration::from_secs(3),
        Ns2Linux: Duration::from_secs(3),
        Quic: Duration::from_millis(999),
        Rtp: Duration::from_millis(999),
    ] check(not_zero) => Both;
    /// Retransmissions of a SYN before its timer backs off. Linux has 4 since 6.5 (`tcp_syn_linear_timeouts`).
    syn_linear_timeouts: u32 = [0, Linux: 4] range(max = 127) => Tcp;
    /// Retransmissions of a SYN that leave the initial window as it is. After more it is one segment (RFC 5681 §3.1).
    /// Linux permits one, because its timeout is shorter than it was (`tcp_init_transfer`).
    syn_retransmits_allowed: u32 = [0, Linux: 1] range(max = 127) => Tcp;
    /// Granularity of the sender's clock for round-trip times and timeouts. "0 s" means exact times.
    clock_tick: Duration = [Duration::ZERO, Ns2: Duration::from_millis(10)] => Tcp;
    /// Phase of the sender's clock: it ticks this much before each multiple of `clock_tick`. ns-2 draws the phase for
    /// each sender.
    clock_offset: Duration = [Duration::ZERO] => Tcp;
    /// Additional delay of RACK's reordering timer and of TLP's probe. Linux adds two ticks of its clock
    /// (`TCP_TIMEOUT_MIN`).
    timer_slack: Duration = [Duration::ZERO, Linux: Duration::from_millis(2)] => Tcp;
    /// Tick of timers, which go off at the tick after their end (Linux's timer wheel). From 63 ticks on, timers go off
    /// at multiples of 8 ticks. From 504 ticks on, they go off at multiples of 64. "0 s" means exact times.
    timer_tick: Duration = [Duration::ZERO, Linux: Duration::from_millis(1)] => Tcp;
    /// Whether a connection begins with SYN and SYN-ACK and ends with FIN (RFC 9293). SYN and SYN-ACK may be lost and
    /// are then retransmitted. Completion times include the handshake.
    handshake: bool = [false, Linux: true] => Tcp;
    /// Round-trip time measured by the handshake before the start. "0 s" means no measurement.
    handshake_rtt: Duration = [Duration::ZERO] => Both;
    /// Whether ACKs are delayed until a second segment arrives, or the longest delay. `true` means 100 ms. Under RTP it
    /// is the longest delay of feedback.
    delayed_ack: DelayedAck as Option<Duration> = [
        DelayedAck::Switch(false),
        Linux: DelayedAck::Longest(Duration::from_millis(40)),
        Quic: DelayedAck::Longest(Duration::from_millis(25)),
        Rtp: DelayedAck::Longest(Duration::from_millis(40)),
    ] check(wait_not_zero) => Both;
    /// QUIC: number of packets whose ACK is delayed. One more packet is acknowledged at once (Ack-Eliciting Threshold
    /// of draft-ietf-quic-ack-frequency). RTP: the same for feedback, which the last packet of a frame also causes.
    ack_eliciting_threshold: u32 = [1, Rtp: 16] range(max = 16_777_216) => Numbered;
    /// QUIC: packets out of order by this number are acknowledged at once, and 0 means never (Reordering Threshold of
    /// draft-ietf-quic-ack-frequency).
    reordering_threshold: u32 = [1] range(max = 16_777_216) => Quic;
    /// QUIC and RTP: a packet is lost if a number larger by this is acknowledged (kPacketThreshold, RFC 9002 §6.1.1).
    packet_threshold: u32 = [3] range(min = 1, max = 16_777_216) => Numbered;
    /// QUIC and RTP: age in round trips at which a packet is lost, once a later one is acknowledged. Range: 1 to 1000
    /// (kTimeThreshold of RFC 9002 §6.1.2).
    time_threshold: f64 = [1.125] range(min = 1, max = 1000) => Numbered;
    /// QUIC: number of probe timeouts between two losses, without an acknowledgement between them, that reduce the
    /// window to the minimum. Range: 1 to 1000 (kPersistentCongestionThreshold of RFC 9002 §7.6). RTP: number of probe
    /// timeouts without feedback after which all packets in flight are lost.
    persistent_congestion_threshold: u32 = [3] range(min = 1, max = 1000) => Numbered;
    /// Number of ACKs that are not delayed at the start of a connection and after a duplicate segment. The same applies
    /// after a pause longer than `min_rto`. Linux uses 16 (quick ACKs). Two ACKs are not delayed after a mark that is not
    /// yet echoed. The same applies to a segment without ECT among others. A segment with CWR is acknowledged at once.
    quick_acks: u32 = [0, Linux: 16] range(max = 16_777_216) => Tcp;
    /// The receiver acknowledges each segment while Linux's receive window would grow. It needs `quick_acks` above 0.
    /// The window itself does not limit the sender.
    window_growth_acks: bool = [false, Linux: true] => Tcp;
    /// The sender sets PSH on the last segment of each burst and of each write (Linux). The receiver acknowledges it at
    /// once, or when a slow application has read everything. A burst has two or more segments, up to the payload of a
    /// millisecond at Linux's pacing rate. A retransmission leaves alone.
    push_acks: bool = [false, Linux: true] => Tcp;
    /// The sender waits for the next ACK instead of sending less than a full burst (Linux, `tcp_tso_should_defer`). It
    /// waits if the ACK is due within 1 ms, and less than a third of the window is free. It needs `push_acks`.
    tso_defer: bool = [false, Linux: true] => Tcp;
    /// While data is missing, the receiver sends three ACKs at once, and then one per millisecond at most (Linux). A
    /// twentieth of the base RTT replaces the millisecond if that is shorter. It needs `delayed_ack`.
    sack_compression: bool = [false, Linux: true] => Tcp;
    /// Segments whose ACKs may be delayed. `new-data`: new data in order (RFC 5681 §4.2). `last-segment`: also a copy
    /// of the last segment in order. `gaps`: also segments that fill part of a gap.
    delayed_ack_for: DelayedAckFor = [DelayedAckFor::NewData, Ns2: DelayedAckFor::LastSegment] => Tcp;
    /// Largest number of segments that one ACK or timeout sends, 1 to 16777216, or "none" (RFC 6582 §3.2, step 3). A
    /// retransmission that is sent at once does not count.
    max_burst: MaxWindow as Option<u32> = [MaxWindow::NONE] => Tcp;
    /// RACK (RFC 8985): a SACK sender detects losses by time instead of three duplicate ACKs. A segment is lost when a
    /// segment sent later was delivered and a reordering window has passed.
    rack: bool = [false, Linux: true] => Tcp;
    /// Round-trip time that RACK adds to its reordering window. `newest`: of the delivered segment that was sent last
    /// (RFC 8985 §6.2). `cumulative`: of the last segment that the ACK covers cumulatively, if there is one (Linux).
    rack_rtt: RackRtt = [RackRtt::Newest, Linux: RackRtt::Cumulative] => Tcp;
    /// RACK ignores the delivery of a retransmission if the ACK's timestamp is older (RFC 8985 §6.2). Linux does not.
    /// It only requires the smallest round-trip time since the retransmission.
    rack_timestamps: bool = [true, Linux: false] => Tcp;
    /// Tail loss probe (TLP, RFC 8985): a SACK sender sends a probe when ACKs are overdue for two round trips. The loss
    /// of the last segments then needs no timeout.
    tlp: bool = [false, Linux: true] => Tcp;
    /// Proportional Rate Reduction (RFC 9937) in fast recovery of SACK and NewReno, and, as in Linux, after a mark. The
    /// data sent follow the data delivered until the flight size is the one that the algorithm wants. `rate-halving`:
    /// one segment leaves for every two that arrive (Linux up to 3.1).
    prr: ReductionName as Reduction = [
        ReductionName::Switch(false),
        Ns2Linux: ReductionName::Word(HalvingWord::RateHalving),
        Linux: ReductionName::Switch(true),
    ] => Tcp;
    /// Limited transmit (RFC 3042): the first two duplicate ACKs release new data.
    limited_transmit: bool = [true] => Tcp;
    /// RFC 7323: every ACK yields an RTT measurement. Timestamps add 12 B to the `header` of data and of ACKs.
    timestamps: bool = [false, Ns2Linux: true, Linux: true] => Tcp;
    /// PAWS (RFC 7323 §5.3): a receiver discards segments with an older timestamp than the last one that it echoed. As
    /// in Linux, it accepts one clock tick of 1 ms. `timestamps` must be on.
    paws: bool = [true, Ns2Linux: false] => Tcp;
    /// Rate of an algorithm that sets none itself, in windows per smoothed round trip. `off`: no pacing. `linux`: 2 in
    /// slow start up to half of ssthresh, then 1.2. `quic`: 1.25 (RFC 9002 §7.7).
    pacing: Pacing = [Pacing::Off, Quic: Pacing::Quic, Rtp: Pacing::Quic] => Both;
    /// RFC 3465: the window grows by acknowledged segments, not by ACKs. `true`: at most two segments per ACK.
    /// `uncapped`: all segments of an ACK, as in Linux. `avoidance`: all in congestion avoidance, one in slow start
    /// (Linux's tcp_abc = 1).
    byte_counting: ByteCounting as u32 = [
        ByteCounting::Switch(false),
        Ns2Linux: ByteCounting::Word(ByteCountingWord::Avoidance),
        Linux: ByteCounting::Word(ByteCountingWord::Uncapped),
    ] => Tcp;
    /// RFC 5681: the window shrinks after an RTO without sending. `false`: the window stays, as under RFC 9002 and, for
    /// five minutes, under RFC 7661.
    idle_restart: bool = [true, Quic: false, Rtp: false] => Both;
    /// Decrease of the window after an idle time. `restart`: to the initial window (RFC 5681 §4.1). `halve`: by half
    /// for each RTO (RFC 2861, Linux). `validate`: by half for each five minutes in which less than half of it was used
    /// (RFC 7661). A loss in that time reduces it to half of the used part.
    idle_window: IdleWindow = [IdleWindow::Restart, Linux: IdleWindow::Halve] => Both;
    /// ssthresh after a retransmission timeout. `standard`: half the window, or CUBIC's own decrease under CUBIC.
    /// `half-cwnd`: half the window. `half-flight`: half of the data in flight (RFC 5681). `rule`: the decrease of the
    /// algorithm (Linux).
    timeout_ssthresh: TimeoutSsthresh = [
        TimeoutSsthresh::Standard,
        Ns2Linux: TimeoutSsthresh::Rule,
        Linux: TimeoutSsthresh::Rule,
    ] => Tcp;
    /// The initial slow-start threshold. `unbounded`: none. `max-window`: the receiver's window.
    initial_ssthresh: InitialSsthresh = [
        InitialSsthresh::Unbounded,
        Ns2: InitialSsthresh::MaxWindow,
        Ns2Linux: InitialSsthresh::MaxWindow,
    ] => Both;
    /// End of slow start for window rules and CUBIC. `standard`: a loss (RFC 5681). `hystart++`: also a growing delay,
    /// in the first slow start (RFC 9406). `hystart`: also a growing delay or a train of ACKs. `linux`: `hystart` for
    /// CUBIC, `standard` for window rules. `past-ssthresh`: as `standard`, but only beyond ssthresh, which RFC 5681
    /// §3.1 allows. `search`: also fewer delivered than sent data, with a drain of the queue
    /// (draft-chung-ccwg-search-09). `search-no-drain`: the same without the drain.
    slow_start: SlowStart = [SlowStart::Standard, Ns2Linux: SlowStart::PastSsthresh, Linux: SlowStart::Linux] => Both;
    /// Careful Resume (RFC 9959): window that an earlier connection saved, in segments, 1 to 16777216, or "none". The
    /// flow jumps to half of it once its initial window is acknowledged. It needs `saved_rtt`.
    saved_window: MaxWindow as Option<u32> = [MaxWindow::NONE] => Both;
    /// Smallest round-trip time that an earlier connection saved. The flow uses `saved_window` if its own smallest is
    /// more than half of it, and at most ten times it. "0 s" means none.
    saved_rtt: Duration = [Duration::ZERO] => Both;
    /// Time between the observation of `saved_window` and the start of the flow.
    saved_age: Duration = [Duration::ZERO] => Both;
    /// Longest `saved_age` with which the saved parameters are used (the Lifetime of RFC 9959).
    saved_lifetime: Duration = [Duration::from_secs(3600)] check(not_zero) => Both;
    /// Whether the window consists of whole segments, like Linux's snd_cwnd. It grows by a segment once ACKs have
    /// earned it, and a cut leaves whole segments. This applies to window rules, rule text and user-supplied code. It
    /// does not apply to algorithms that set a pacing rate or own the window in recovery.
    whole_window: bool = [false, Ns2Linux: true, Linux: true] => Both;
    /// The first decrease, and a decrease in slow start. `rule`: by the window rule. `half`: by half.
    first_cut: FirstCut = [FirstCut::Rule, Ns2: FirstCut::Half] => Both;
    /// The window that a decrease cuts. `exact`: cwnd with its fraction. `capped`: cwnd bounded by `max_window`.
    /// `whole`: the whole segments of the latter, and whole segments remain.
    cut_window: CutWindowName = [CutWindowName::Exact, Ns2: CutWindowName::Whole] => Both;
    /// ACKs that let the window grow. `when-used`: ACKs of a window that was used (RFC 7661). `half-used`: also ACKs in
    /// slow start of a window more than half used (Linux). `always`: all ACKs.
    window_growth: WindowGrowth = [
        WindowGrowth::WhenUsed,
        Ns2: WindowGrowth::Always,
        Linux: WindowGrowth::HalfUsed,
    ] => Tcp;
    /// Whether the ACK that ends a fast recovery lets the window grow. `none`: it does not (RFC 5681 §3.2). `one-ack`:
    /// it does for Reno and NewReno. `always`: it does for every sender (Linux).
    exit_growth: ExitGrowth = [ExitGrowth::None, Ns2: ExitGrowth::OneAck, Linux: ExitGrowth::Always] => Tcp;
    /// Meaning of three duplicate ACKs before all data sent before the last loss is acknowledged. `standard`: a loss to
    /// Reno (RFC 5681), nothing to others (RFC 6582). `careful`: nothing. `less-careful`: a loss if all of that data is
    /// acknowledged, and nothing beyond. `ack-heuristic` and `timestamp-heuristic`: by RFC 6582 §4.1 and §4.2.
    /// `always`: a loss.
    second_loss: SecondLoss = [SecondLoss::Standard, Ns2: SecondLoss::Careful] => Tcp;
    /// Effect of a partial ACK on NewReno's window: deflate it (RFC 6582 §3.2), or reset it to cwnd.
    partial_ack: PartialAck = [PartialAck::Deflate] => Tcp;
    /// Partial ACKs that restart NewReno's timer: the first one ("Impatient", RFC 6582 §3.2), or each
    /// ("Slow-but-Steady").
    partial_ack_timer: PartialAckTimer = [PartialAckTimer::First] => Tcp;
    /// Bound of the window when recovery ends. `ssthresh`: ssthresh. `flight`: the minimum of ssthresh and the flight
    /// size plus one segment (RFC 6582 §3.2, step 3). `moderated`: the same with three segments (Linux).
    exit_window: ExitWindow = [ExitWindow::Ssthresh, Ns2Linux: ExitWindow::Moderated] => Tcp;
    /// The SACK sender's estimate of data in flight. `scoreboard`: by its scoreboard (RFC 6675). `duplicate-acks`: by
    /// duplicate ACKs (Fall and Floyd 1996). `pair-on-partial-ack`: the same, with two segments on a partial ACK.
    /// `fack`: data four segments or more below the highest SACKed one are lost (Mathis and Mahdavi 1996).
    /// Retransmissions are lost by the same rule (Linux 2.6).
    sack_sender: SackSender = [
        SackSender::Scoreboard,
        Ns2: SackSender::DuplicateAcks,
        Ns2Linux: SackSender::Fack,
    ] => Tcp;
    /// Effect of a second timeout of a segment on ssthresh. `hold`: ssthresh stays (RFC 5681 §3.1). `hold-in-recovery`:
    /// it also stays at a timeout in fast recovery (Linux). `cut`: it is cut again. `one`: it becomes one segment,
    /// below the two of RFC 5681 (jasem-efficiency-fairness, "Status of the exponential back-off").
    repeated_timeout: RepeatedTimeout = [
        RepeatedTimeout::Hold,
        Ns2: RepeatedTimeout::Cut,
        Ns2Linux: RepeatedTimeout::Cut,
        Linux: RepeatedTimeout::HoldInRecovery,
    ] => Tcp;
    /// Data that limited transmit sends: new data (RFC 3042), or the next segment, also during RTO recovery.
    limited_transmit_sends: LimitedTransmitSends = [
        LimitedTransmitSends::NewData,
        Ns2: LimitedTransmitSends::Next,
    ] => Tcp;
    /// Effect of a mark on the timer at a window of one segment. `reset`: reset the timer (RFC 3168 §6.1.2).
    /// `back-off`: also back off with every further mark. `never`: marks leave at least two segments (Linux).
    mark_at_one: MarkAtOne = [MarkAtOne::Reset, Ns2: MarkAtOne::BackOff, Linux: MarkAtOne::Never] => Tcp;
    /// Retransmissions with ECN: not ECN-capable (RFC 3168), or ECN-capable like new segments.
    ecn_retransmissions: EcnRetransmissions = [EcnRetransmissions::Plain, Ns2: EcnRetransmissions::LikeNew] => Tcp;
    /// Segments that are timed for the RTT estimate when timestamps are off. `each-round`: once per round trip the
    /// newest segment that an ACK reports (RFC 6298 §3). `each-ack`: by each ACK or SACK block the first segment sent
    /// once, also with timestamps (Linux). `timed-segment`: one segment at a time until an ACK covers it, regardless of
    /// SACK blocks (4.4BSD).
    rtt_samples: RttSamples = [RttSamples::EachRound, Linux: RttSamples::EachAck, Ns2: RttSamples::TimedSegment] => Tcp;
    /// Whether the receiver sends SACK blocks. Without them, a SACK sender behaves as Reno.
    peer_sack: bool = [true] => Tcp;
    /// Whether the receiver reports duplicate segments in its first SACK block (D-SACK, RFC 2883).
    dsack: bool = [false, Linux: true] => Tcp;
    /// Evidence that a loss recovery was spurious, which takes its cut back (`undo_response`). `none`: no undo.
    /// `eifel`: timestamps (RFC 3522). `dsack`: D-SACK blocks (RFC 3708). `both`: timestamps or D-SACK blocks,
    /// whichever come first. `counted`: timestamps, or as many D-SACK blocks as retransmissions. Blocks for copies that
    /// the network made count too (Linux). `late-acks`: acknowledgements of all packets that QUIC took for lost.
    undo: Undo = [Undo::None, Linux: Undo::Counted] => Both;
    /// Window that an undo restores for a window rule. `standard`: the data in flight, and slow start up to the earlier
    /// window (RFC 4015). `restore`: window and ssthresh before the cut (Linux). CUBIC with exact arithmetic restores
    /// all in both cases (RFC 9438 §4.9).
    undo_response: UndoResponse = [UndoResponse::Standard, Linux: UndoResponse::Restore] => Both;
    /// F-RTO (RFC 5682): the two ACKs after a timeout show a SACK sender whether it was spurious. A spurious timeout is
    /// undone.
    frto: bool = [false, Linux: true] => Tcp;
    /// Part of the window that a mark leaves, above 0 and at most 1, or "rule": the algorithm's own decrease. RFC 8511
    /// (ABE) uses 0.8 for Reno and 0.85 for CUBIC.
    ecn_beta: EcnBeta = [EcnBeta::Word(RuleWord::Rule)] check(above_zero) => Both;
    /// Explicit congestion notification: queues that mark need not drop. `off`: packets are not ECN-capable, unless the
    /// algorithm needs ECN, as in Linux. `classic`: RFC 3168. `dctcp`: an echo per ACK (RFC 8257). `accecn`: accurate
    /// feedback (RFC 9768). `counts`: ACK frames of QUIC count marks (RFC 9000 §13.4), and feedback of RTP reports them
    /// (RFC 8888).
    ecn: EcnMode = [EcnMode::Off] => Both;
    /// Extra delay of each packet at its sender, uniform between 0 and this. "1 packet" is one transmission at the
    /// bottleneck.
    send_jitter: SendJitter = [SendJitter::Time(Duration::ZERO)] => Both;
}
