//! The fields of Linux's `struct tcp_info` that a script may assert, and their values in this TCP.

use crate::cc::CaState;
use crate::tcp::AccEcnOption;
use crate::transport::{SenderCounters, SenderInfo};
use crate::units::Duration;

/// Linux's TCP_INFINITE_SSTHRESH.
const INFINITE_SSTHRESH: f64 = 2_147_483_647.0;

/// The values of all fields.
#[derive(Clone, Copy, Debug)]
pub struct Reading([f64; FIELDS.len()]);

impl Reading {
    /// The value of each field, by its name.
    pub fn of(value: impl Fn(&'static str) -> f64) -> Reading {
        Reading(std::array::from_fn(|index| value(FIELDS[index].0)))
    }
}

/// The state of a simulated connection that the fields are read from.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// The sender.
    pub sender: SenderInfo,
    /// The counters of the sender.
    pub counters: SenderCounters,
    /// Payload bytes in a full segment.
    pub mss: u32,
    /// Bytes acknowledged by the peer.
    pub bytes_acked: u64,
    /// Bytes received in order from the peer.
    pub bytes_received: u64,
    /// The counters of the peer's last AccECN option.
    pub reported: AccEcnOption,
}

impl State {
    /// The values of all fields.
    pub fn reading(&self) -> Reading {
        Reading(std::array::from_fn(|index| FIELDS[index].1(self)))
    }
}

/// A field.
#[derive(Clone, Copy, Debug)]
pub struct Field(usize);

type Formula = fn(&State) -> f64;

const FIELDS: &[(&str, Formula)] = &[
    ("tcpi_state", |_| 1.0),
    ("tcpi_ca_state", |r| ca_state(r.sender.state)),
    ("tcpi_snd_cwnd", |r| r.sender.cwnd.floor()),
    ("tcpi_snd_ssthresh", |r| r.sender.ssthresh.min(INFINITE_SSTHRESH).floor()),
    ("tcpi_unacked", |r| r.sender.unacked.into()),
    ("tcpi_sacked", |r| r.sender.sacked.into()),
    ("tcpi_lost", |r| r.sender.lost.into()),
    ("tcpi_retrans", |r| r.sender.retransmitted.into()),
    ("tcpi_total_retrans", |r| r.counters.retransmits as f64),
    ("tcpi_retransmits", |r| r.sender.backoff.into()),
    ("tcpi_backoff", |r| r.sender.backoff.into()),
    ("tcpi_probes", |r| r.sender.window_probes.into()),
    ("tcpi_rto", |r| micros(r.sender.rto)),
    ("tcpi_rtt", |r| micros(r.sender.srtt)),
    ("tcpi_rttvar", |r| micros(r.sender.rttvar)),
    ("tcpi_min_rtt", |r| micros(r.sender.min_rtt)),
    ("tcpi_snd_mss", |r| r.mss.into()),
    ("tcpi_bytes_acked", |r| r.bytes_acked as f64),
    ("tcpi_bytes_received", |r| r.bytes_received as f64),
    ("tcpi_bytes_sent", |r| r.counters.payload_bytes as f64),
    ("tcpi_delivered_ce", |r| r.counters.ce_reported as f64),
    ("tcpi_delivered_ce_bytes", |r| r.reported.ceb().into()),
    ("tcpi_delivered_e0_bytes", |r| r.reported.e0b().saturating_sub(AccEcnOption::INITIAL.e0b()).into()),
    ("tcpi_delivered_e1_bytes", |r| r.reported.e1b().saturating_sub(AccEcnOption::INITIAL.e1b()).into()),
    ("tcpi_reordering", |r| r.sender.reordering.into()),
    ("tcpi_reord_seen", |r| r.sender.reorderings.into()),
    ("tcpi_dsack_dups", |r| r.counters.duplicates_reported as f64),
    ("tcpi_data_segs_out", |r| r.counters.segments as f64),
];

/// Constants of Linux's headers.
const CONSTANTS: &[(&str, f64)] = &[
    ("TCP_CA_Open", 0.0),
    ("TCP_CA_Disorder", 1.0),
    ("TCP_CA_CWR", 2.0),
    ("TCP_CA_Recovery", 3.0),
    ("TCP_CA_Loss", 4.0),
    ("TCP_ESTABLISHED", 1.0),
    ("TCP_INFINITE_SSTHRESH", INFINITE_SSTHRESH),
    ("True", 1.0),
    ("False", 0.0),
];

impl Field {
    /// The field called `name`.
    ///
    /// # Errors
    /// A message with the closest name.
    pub fn by_name(name: &str) -> Result<Field, String> {
        if let Some(index) = FIELDS.iter().position(|(known, _)| *known == name) {
            return Ok(Field(index));
        }
        let distance = |known: &&str| strsim::damerau_levenshtein(known, name);
        let close = FIELDS.iter().map(|(known, _)| *known).min_by_key(distance).filter(|known| distance(known) <= 3);
        let hint = close.map_or_else(
            || format!("there are {}", FIELDS.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ")),
            |close| format!("did you mean `{close}`?"),
        );
        Err(format!("tcp_info has no field `{name}` here; {hint}"))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        FIELDS[self.0].0
    }

    /// Its value.
    pub fn value(self, reading: &Reading) -> f64 {
        reading.0[self.0]
    }
}

/// The constant called `name`.
pub fn constant(name: &str) -> Option<f64> {
    CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

fn ca_state(state: CaState) -> f64 {
    match state {
        CaState::Open => 0.0,
        CaState::Disorder => 1.0,
        CaState::Cwr => 2.0,
        CaState::Recovery => 3.0,
        CaState::Loss => 4.0,
    }
}

fn micros(length: Duration) -> f64 {
    (length.as_nanos() / 1_000) as f64
}

#[cfg(test)]
impl Reading {
    /// A state with this window and flight.
    pub fn for_test(cwnd: f64, unacked: u32) -> Reading {
        let sender = SenderInfo {
            cwnd,
            ssthresh: f64::INFINITY,
            unacked,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            state: CaState::Open,
            backoff: 0,
            rto: Duration::from_secs(1),
            srtt: Duration::ZERO,
            rttvar: Duration::ZERO,
            min_rtt: Duration::ZERO,
            window_probes: 0,
            reordering: 3,
            reorderings: 0,
            timer: None,
        };
        let reported = AccEcnOption::INITIAL;
        State { sender, counters: SenderCounters::default(), mss: 1000, bytes_acked: 0, bytes_received: 0, reported }
            .reading()
    }
}
