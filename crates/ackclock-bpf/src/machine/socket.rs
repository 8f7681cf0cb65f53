//! The socket that programs see in the simulator: the fields of the kernel's that congestion controls use.

use crate::btf::Kind;
use crate::relocate::{Place, Step, Target, path};

/// Bytes of private state (`icsk_ca_priv`).
pub const CA_PRIV_SIZE: usize = 104;
/// Bytes of a socket.
pub const SIZE: usize = CA_PRIV + CA_PRIV_SIZE;

/// Declares the fields of a struct with their places. Each field occupies eight bytes.
macro_rules! fields {
    ($table:ident: $($place:tt = $at:literal, $name:literal, $size:literal $(, $writable:ident)?;)*) => {
        $(fields!(# $place $at);)*
        /// Name, place, size, and whether programs may write it.
        const $table: &[(&str, usize, usize, bool)] = &[$(($name, $at, $size, fields!(@ $($writable)?))),*];
    };
    // Fields that the simulator never sets have no name of their own.
    (# _ $at:literal) => {};
    (# $place:ident $at:literal) => { pub const $place: usize = $at; };
    (@ writable) => { true };
    (@) => { false };
}

// Programs may write the fields that the kernel lets them write (net/ipv4/bpf_tcp_ca.c).
fields! { OF_A_SOCKET:
    SND_CWND = 0, "snd_cwnd", 4, writable;
    SND_CWND_CNT = 8, "snd_cwnd_cnt", 4, writable;
    SND_CWND_CLAMP = 16, "snd_cwnd_clamp", 4;
    _ = 24, "snd_cwnd_stamp", 4, writable;
    SND_SSTHRESH = 32, "snd_ssthresh", 4, writable;
    PRIOR_CWND = 40, "prior_cwnd", 4;
    PRIOR_SSTHRESH = 48, "prior_ssthresh", 4;
    UNDO_MARKER = 56, "undo_marker", 4;
    SND_UNA = 64, "snd_una", 4;
    SND_NXT = 72, "snd_nxt", 4;
    _ = 80, "rcv_nxt", 4;
    DELIVERED = 88, "delivered", 4;
    DELIVERED_CE = 96, "delivered_ce", 4;
    LOST = 104, "lost", 4;
    PACKETS_OUT = 112, "packets_out", 4;
    MAX_PACKETS_OUT = 120, "max_packets_out", 4;
    IS_CWND_LIMITED = 128, "is_cwnd_limited", 1;
    SRTT_US = 136, "srtt_us", 4;
    TCP_MSTAMP = 144, "tcp_mstamp", 8;
    LSNDTIME = 152, "lsndtime", 4;
    MSS_CACHE = 160, "mss_cache", 4;
    ECN_FLAGS = 168, "ecn_flags", 1, writable;
    _ = 176, "app_limited", 4, writable;
    ICSK_CA_STATE = 184, "icsk_ca_state", 1;
    _ = 192, "icsk_retransmits", 1;
    _ = 200, "icsk_ack.pending", 1, writable;
    SK_PACING_RATE = 208, "sk_pacing_rate", 8, writable;
    _ = 216, "sk_pacing_status", 4, writable;
    SK_MAX_PACING_RATE = 224, "sk_max_pacing_rate", 8;
    _ = 232, "retrans_out", 4;
    _ = 240, "lost_out", 4;
    _ = 248, "sacked_out", 4;
    CA_PRIV = 256, "icsk_ca_priv", 104, writable;
}

fields! { OF_AN_ACK:
    ACK_PKTS_ACKED = 0, "pkts_acked", 4;
    ACK_RTT_US = 8, "rtt_us", 4;
    ACK_IN_FLIGHT = 16, "in_flight", 4;
}

fields! { OF_A_RATE:
    RATE_PRIOR_DELIVERED = 0, "prior_delivered", 4;
    RATE_DELIVERED = 8, "delivered", 4;
    RATE_DELIVERED_CE = 16, "delivered_ce", 4;
    RATE_INTERVAL_US = 24, "interval_us", 8;
    RATE_RTT_US = 32, "rtt_us", 8;
    RATE_LOSSES = 40, "losses", 4;
    RATE_ACKED_SACKED = 48, "acked_sacked", 4;
    RATE_PRIOR_IN_FLIGHT = 56, "prior_in_flight", 4;
    RATE_LAST_END_SEQ = 64, "last_end_seq", 4;
    RATE_IS_APP_LIMITED = 72, "is_app_limited", 1;
    RATE_IS_RETRANS = 80, "is_retrans", 1;
}

/// Bytes that `ack_sample` and `rate_sample` need at the most.
pub const SAMPLE_SIZE: usize = 88;

/// The structs that begin a socket.
pub const SOCKETS: [&str; 4] = ["sock", "inet_sock", "inet_connection_sock", "tcp_sock"];

/// The enumerators that programs ask for, with the kernel's values.
pub const ENUMERATORS: [(&str, u64); 14] = [
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("CA_EVENT_TX_START", 0),
    ("CA_EVENT_CWND_RESTART", 1),
    ("CA_EVENT_COMPLETE_CWR", 2),
    ("CA_EVENT_LOSS", 3),
    ("CA_EVENT_ECN_NO_CE", 4),
    ("CA_EVENT_ECN_IS_CE", 5),
    ("SK_PACING_NONE", 0),
    ("SK_PACING_NEEDED", 1),
    ("SK_PACING_FQ", 2),
];

/// How many bytes programs may write from each place in a socket.
pub fn writable() -> [u8; SIZE] {
    let mut run = [0; SIZE];
    for (_, at, size, _) in OF_A_SOCKET.iter().filter(|field| field.3) {
        for (left, bytes) in run[*at..at + size].iter_mut().rev().enumerate() {
            *bytes = left as u8 + 1;
        }
    }
    run
}

/// The types of the simulator, for relocation.
pub struct Simulator;

impl Target for Simulator {
    const NAME: &'static str = "the simulator's socket";

    fn place(&self, structure: &str, steps: &[Step]) -> Option<Place> {
        let (name, index) = path(steps)?;
        let table = match structure {
            "ack_sample" => OF_AN_ACK,
            "rate_sample" => OF_A_RATE,
            socket if SOCKETS.contains(&socket) => OF_A_SOCKET,
            _ => return None,
        };
        if name.is_empty() {
            // A nested struct, which begins where the socket does.
            return Some(Place { bit_offset: 0, bits: 0, size: SIZE as u32, is_signed: false });
        }
        let (_, at, size, _) = table.iter().find(|field| field.0 == name)?;
        let is_signed = matches!(name.as_str(), "rtt_us" | "interval_us" | "losses");
        let (at, size) = match index {
            Some(number) => ((*at as u32).checked_add(number.checked_mul(8)?)?, 8),
            None => (*at as u32, *size as u32),
        };
        Some(Place { bit_offset: at.checked_mul(8)?, bits: 0, size, is_signed })
    }

    // Other structures of the kernel are reached through pointers that this socket lacks.
    fn is_own(&self, structure: &str, size: u32) -> bool {
        let is_known = SOCKETS.contains(&structure) || matches!(structure, "ack_sample" | "rate_sample");
        !is_known && size as usize <= CA_PRIV_SIZE
    }

    fn type_of(&self, kind: Kind, name: &str) -> Option<(u32, u32)> {
        let is_there =
            kind == Kind::Struct && (SOCKETS.contains(&name) || name == "rate_sample" || name == "ack_sample");
        is_there.then_some((1, SIZE as u32))
    }

    fn enumerator(&self, _of: &str, name: &str) -> Option<u64> {
        ENUMERATORS.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_overlap_and_end_within_their_struct() {
        for (table, size) in [(OF_A_SOCKET, SIZE), (OF_AN_ACK, SAMPLE_SIZE), (OF_A_RATE, SAMPLE_SIZE)] {
            let mut end = 0;
            for (name, at, bytes, _) in table {
                assert!(*at >= end, "{name}");
                end = at + bytes;
            }
            assert!(end <= size);
        }
    }

    #[test]
    fn a_field_is_found_through_the_structs_around_it() {
        let member = |name: &str| Step::Member(name.to_owned());
        let steps = [member("inet_conn"), member("icsk_inet"), member("sk"), member("sk_pacing_rate")];
        let place = Simulator.place("tcp_sock", &steps).unwrap();
        assert_eq!((place.bit_offset, place.size), (8 * SK_PACING_RATE as u32, 8));
        let element = Simulator.place("inet_connection_sock", &[member("icsk_ca_priv"), Step::Index(2)]).unwrap();
        assert_eq!(element.bit_offset, 8 * (CA_PRIV as u32 + 16));
        assert_eq!(Simulator.place("tcp_sock", &[member("no_such_field")]), None);
    }

    #[test]
    fn what_fits_into_the_private_state_is_the_programs_own_unless_it_is_the_simulators() {
        assert!(Simulator.is_own("bictcp", 60));
        // A struct of the kernel that a pointer to a socket may be cast to.
        assert!(!Simulator.is_own("sock_common", 136));
        assert!(!Simulator.is_own("rate_sample", 80) && !Simulator.is_own("tcp_sock", 24));
    }
}
