//! The kernel's state of connections at the times of observation.

use ackclock::cc::Phase;
use ackclock::probe::FlowSamples;
use ackclock::units::{Duration, Instant};

/// `tcpi_ca_state`.
const CWR: u8 = 2;
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;

/// The kernel's state of a connection: `struct tcp_info` of linux/tcp.h. Older kernels leave later fields zero.
#[derive(Clone, Copy, Debug)]
pub struct TcpInfo([u8; Self::LEN]);

/// Fields of the structure: name, place and bytes.
const FIELDS: &[(&str, usize, usize)] = &[
    ("tcpi_state", 0, 1),
    ("tcpi_ca_state", 1, 1),
    ("tcpi_retransmits", 2, 1),
    ("tcpi_probes", 3, 1),
    ("tcpi_backoff", 4, 1),
    ("tcpi_rto", 8, 4),
    ("tcpi_snd_mss", 16, 4),
    ("tcpi_unacked", 24, 4),
    ("tcpi_sacked", 28, 4),
    ("tcpi_lost", 32, 4),
    ("tcpi_retrans", 36, 4),
    ("tcpi_rtt", 68, 4),
    ("tcpi_rttvar", 72, 4),
    ("tcpi_snd_ssthresh", 76, 4),
    ("tcpi_snd_cwnd", 80, 4),
    ("tcpi_reordering", 88, 4),
    ("tcpi_total_retrans", 100, 4),
    ("tcpi_bytes_acked", 120, 8),
    ("tcpi_bytes_received", 128, 8),
    ("tcpi_min_rtt", 148, 4),
    ("tcpi_data_segs_out", 156, 4),
    ("tcpi_delivered_ce", 196, 4),
    ("tcpi_bytes_sent", 200, 8),
    ("tcpi_dsack_dups", 216, 4),
    ("tcpi_reord_seen", 220, 4),
];

impl Default for TcpInfo {
    fn default() -> Self {
        TcpInfo([0; Self::LEN])
    }
}

impl TcpInfo {
    /// Bytes of the structure that are kept.
    pub const LEN: usize = 256;

    /// Reads the structure as the kernel writes it.
    pub fn new(bytes: [u8; Self::LEN]) -> Self {
        TcpInfo(bytes)
    }

    /// The value of a field, by its name in `struct tcp_info`. None for a field that is not read.
    pub fn field(&self, name: &str) -> Option<f64> {
        let (_, place, len) = FIELDS.iter().find(|(known, ..)| *known == name)?;
        Some(match len {
            1 => f64::from(self.0[*place]),
            4 => f64::from(self.u32_at(*place)),
            _ => self.u64_at(*place) as f64,
        })
    }

    fn u16_at(&self, place: usize) -> u16 {
        u16::from_ne_bytes([self.0[place], self.0[place + 1]])
    }

    fn u32_at(&self, place: usize) -> u32 {
        u32::from(self.u16_at(place)) | u32::from(self.u16_at(place + 2)) << 16
    }

    fn u64_at(&self, place: usize) -> u64 {
        u64::from(self.u32_at(place)) | u64::from(self.u32_at(place + 4)) << 32
    }

    /// `tcpi_ca_state`: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
    pub fn ca_state(&self) -> u8 {
        self.0[1]
    }

    /// `tcpi_unacked`, segments.
    pub fn unacked(&self) -> u32 {
        self.u32_at(24)
    }

    /// `tcpi_sacked`, segments.
    pub fn sacked(&self) -> u32 {
        self.u32_at(28)
    }

    /// `tcpi_lost`, segments.
    pub fn lost(&self) -> u32 {
        self.u32_at(32)
    }

    /// `tcpi_retrans`, segments.
    pub fn retrans(&self) -> u32 {
        self.u32_at(36)
    }

    /// `tcpi_rtt`, microseconds.
    pub fn srtt_us(&self) -> u32 {
        self.u32_at(68)
    }

    /// `tcpi_snd_ssthresh`, segments, or infinity if it is unset. It is 0 before the first state.
    pub fn ssthresh(&self) -> f64 {
        match self.u32_at(76) {
            0 | 0x7fff_ffff.. => f64::INFINITY,
            segments => f64::from(segments),
        }
    }

    /// `tcpi_snd_cwnd`, segments.
    pub fn cwnd(&self) -> u32 {
        self.u32_at(80)
    }

    /// `tcpi_total_retrans`, segments.
    pub fn total_retrans(&self) -> u32 {
        self.u32_at(100)
    }

    /// `tcpi_bytes_received`: in order.
    pub fn bytes_received(&self) -> u64 {
        self.u64_at(128)
    }

    /// `tcpi_min_rtt`, microseconds, or none before the first measurement.
    pub fn min_rtt_us(&self) -> Option<u32> {
        Some(self.u32_at(148)).filter(|us| *us != u32::MAX && *us > 0)
    }

    /// `tcpi_notsent_bytes`
    pub fn not_sent(&self) -> u32 {
        self.u32_at(144)
    }

    /// `tcpi_busy_time`, microseconds.
    pub fn busy_us(&self) -> u64 {
        self.u64_at(168)
    }

    /// `tcpi_rwnd_limited` and `tcpi_sndbuf_limited`, microseconds.
    pub fn host_limited_us(&self) -> u64 {
        self.u64_at(176) + self.u64_at(184)
    }

    /// `tcpi_total_rto`.
    pub fn timeouts(&self) -> u16 {
        self.u16_at(240)
    }
}

/// The kernel's state of both ends of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// The sender.
    pub sender: TcpInfo,
    /// Bytes that arrived in order.
    pub received: u64,
    /// The congestion window over time, in segments times nanoseconds.
    pub integral: f64,
    /// The recovery of the last look, where it is known.
    pub recovery: Option<u32>,
    /// Congestion events, as states that were entered between two looks show them.
    pub congestion_events: u64,
    /// Congestion events for marks, part of `congestion_events`.
    pub ecn_events: u64,
}

impl Reading {
    /// Takes a new state of the sender. A flow that is active has data to send since the last look.
    ///
    /// `recovery` is the sequence number that ends the last recovery or reduction for a mark, where it is known. It tells
    /// one from another that followed at once.
    pub fn look(&mut self, sender: TcpInfo, recovery: Option<u32>, elapsed: Duration, is_active: bool) {
        let before = self.sender.ca_state();
        let is_another = std::mem::replace(&mut self.recovery, recovery) != recovery;
        self.sender = sender;
        if is_active {
            self.integral += f64::from(sender.cwnd()) * elapsed.as_nanos() as f64;
        }
        let state = sender.ca_state();
        let has_entered = |other: u8| u64::from(before != other && state == other);
        let follows = |other: u8| u64::from(is_another && before == other && state == other);
        let for_marks = has_entered(CWR) + follows(CWR);
        self.congestion_events += for_marks + has_entered(RECOVERY) + follows(RECOVERY) + has_entered(LOSS);
        self.ecn_events += for_marks;
    }

    /// Puts the state into a row of samples, with the flow's bytes on the wire so far.
    pub fn put_into(&self, columns: &mut FlowSamples, row: usize, wire_bytes: u64) {
        let info = &self.sender;
        columns.cwnd_segments[row] = f64::from(info.cwnd());
        columns.ssthresh_segments[row] = info.ssthresh();
        // tcp_packets_in_flight() of the kernel.
        let in_flight = (info.unacked() + info.retrans()).saturating_sub(info.sacked() + info.lost());
        columns.in_flight_segments[row] = in_flight;
        columns.srtt_ns[row] = u64::from(info.srtt_us()) * 1_000;
        columns.phase[row] = self.phase() as u8;
        columns.sent_bytes[row] = wire_bytes;
        columns.delivered_bytes[row] = self.received;
        columns.retransmits[row] = u64::from(info.total_retrans());
    }

    fn phase(&self) -> Phase {
        match self.sender.ca_state() {
            RECOVERY => Phase::FastRecovery,
            LOSS => Phase::RtoRecovery,
            _ if f64::from(self.sender.cwnd()) < self.sender.ssthresh() => Phase::SlowStart,
            _ => Phase::CongestionAvoidance,
        }
    }
}

/// The states of all connections of a run.
#[derive(Debug, Default)]
pub struct Readings {
    /// The state of each flow when the window of measurement began.
    pub before: Vec<Reading>,
    /// When it ended.
    pub after: Vec<Reading>,
    /// The samples of the flows.
    pub samples: FlowSamples,
}

/// Adds a row to the samples: the flow at this position, with its bytes on the wire so far.
pub fn record_sample(columns: &mut FlowSamples, at: Instant, position: u32, reading: &Reading, wire_bytes: u64) {
    let row = columns.time_ns.len();
    columns.add_row(at.as_nanos(), position);
    reading.put_into(columns, row, wire_bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unset_threshold_is_infinite() {
        let with = |ssthresh: u32| {
            let mut bytes = [0; TcpInfo::LEN];
            bytes[76..80].copy_from_slice(&ssthresh.to_ne_bytes());
            TcpInfo::new(bytes).ssthresh()
        };
        assert_eq!([with(0), with(30), with(0x7fff_ffff)], [f64::INFINITY, 30.0, f64::INFINITY]);
        assert_eq!(Reading::default().phase(), Phase::SlowStart);
    }

    /// The congestion events of these states and recoveries, one after the other.
    fn events(looks: &[(u8, Option<u32>)]) -> u64 {
        let mut reading = Reading::default();
        for (state, recovery) in looks {
            let mut bytes = [0; TcpInfo::LEN];
            bytes[1] = *state;
            reading.look(TcpInfo::new(bytes), *recovery, Duration::ZERO, true);
        }
        reading.congestion_events
    }

    #[test]
    fn a_recovery_that_follows_at_once_is_an_event_where_the_recovery_is_known() {
        let recovery = |point| (RECOVERY, Some(point));
        assert_eq!(events(&[(0, Some(0)), recovery(10), recovery(10), recovery(20), (0, Some(20))]), 2);
        assert_eq!(events(&[(0, Some(20)), recovery(30), (LOSS, Some(40)), (LOSS, Some(50))]), 2);
        assert_eq!(events(&[(RECOVERY, None), (RECOVERY, None), (0, None)]), 1);
        // A window that each round reduces for a mark.
        assert_eq!(events(&[(CWR, Some(10)), (CWR, Some(10)), (CWR, Some(20)), (CWR, Some(30)), (0, Some(30))]), 3);
    }
}
