//! ECN on the wire of a script: its negotiation, and the flags and the option that carry feedback.

use super::packet::{AccEcnCounters, Flags, Packet};
use crate::ecn::Ecn;
use crate::tcp::{AccEcnOption, EcnFeedback};
use crate::transport::EcnMode;

/// RFC 3168 §6.1.1: "a SYN packet with the ECE and CWR flags set an 'ECN-setup SYN packet'".
const ECN_SETUP_SYN: Flags = Flags::ECE.with(Flags::CWR);
/// RFC 9768 §3.1.5: "a SYN with (AE,CWR,ECE) = (1,1,1) requesting AccECN feedback".
const ACCECN_SYN: Flags = ECN_SETUP_SYN.with(Flags::AE);
/// RFC 3168 §6.1.1: an ECN-setup SYN-ACK is one "with only the ECE flag set but the CWR flag not set".
const ECN_SETUP_SYN_ACK: Flags = Flags::ECE;

/// The flags of a SYN that offers `mode`.
pub fn offer(mode: EcnMode) -> Flags {
    match mode {
        EcnMode::Off | EcnMode::Counts => Flags::default(),
        EcnMode::Classic | EcnMode::Dctcp => ECN_SETUP_SYN,
        EcnMode::AccEcn => ACCECN_SYN,
    }
}

/// The result of a negotiation. `mode` is the local setting, and `flags` are from the SYN or SYN-ACK of the peer.
pub fn agree(mode: EcnMode, flags: Flags) -> EcnMode {
    let is_answer = flags.has(Flags::ACK);
    match (mode, is_answer) {
        (EcnMode::Off, _) => EcnMode::Off,
        (EcnMode::AccEcn, false) if flags.has(ACCECN_SYN) => EcnMode::AccEcn,
        (_, false) if flags.has(ECN_SETUP_SYN) => mode.of_rfc3168(),
        (_, true) if flags.ace() == ECN_SETUP_SYN_ACK.ace() => mode.of_rfc3168(),
        // RFC 9768 §3.1.2, table 2: the ECN field that the server received in the IP header of the SYN.
        // Receivers take the reserved fifth value for AccECN.
        (EcnMode::AccEcn, true) if matches!(flags.ace(), 2..=6) => EcnMode::AccEcn,
        _ => EcnMode::Off,
    }
}

/// The flags of the answer to a SYN that came with this ECN field.
pub fn answer(mode: EcnMode, seen: Option<Ecn>) -> Flags {
    match mode {
        EcnMode::Off | EcnMode::Counts => Flags::default(),
        EcnMode::Classic | EcnMode::Dctcp => ECN_SETUP_SYN_ACK,
        EcnMode::AccEcn => handshake(seen),
    }
}

/// RFC 9768 §3.2.2.1: the ACK of a SYN/ACK reports its ECN field. None if no report is needed.
pub fn third(mode: EcnMode, seen: Option<Ecn>) -> Option<Flags> {
    (mode == EcnMode::AccEcn).then(|| handshake(seen))
}

/// RFC 9768 §3.2.2.1, table 3.
fn handshake(seen: Option<Ecn>) -> Flags {
    Flags::of_ace(match seen {
        None | Some(Ecn::NotEct) => 0b010,
        Some(Ecn::Ect1) => 0b011,
        Some(Ecn::Ect0) => 0b100,
        Some(Ecn::Ce) => 0b110,
    })
}

/// The marks that a segment of the peer reports. On a SYN the flags negotiate.
pub fn feedback(mode: EcnMode, packet: &Packet) -> EcnFeedback {
    let is_syn = packet.flags.has(Flags::SYN);
    match mode {
        EcnMode::Classic | EcnMode::Dctcp => EcnFeedback::Classic { ece: packet.flags.has(Flags::ECE) && !is_syn },
        EcnMode::AccEcn if !is_syn => {
            let counters = packet.options.as_ref().and_then(|options| options.accecn);
            let option = counters.and_then(|counters| {
                let first = AccEcnOption::INITIAL;
                let (e0b, e1b) = (counters.e0b.unwrap_or(first.e0b()), counters.e1b.unwrap_or(first.e1b()));
                Some(AccEcnOption::new(e0b, counters.ceb?, e1b))
            });
            EcnFeedback::AccEcn { ace: packet.flags.ace(), option }
        }
        EcnMode::Off | EcnMode::AccEcn | EcnMode::Counts => EcnFeedback::None,
    }
}

/// How a segment of our own reports marks. The option has all counters, or those that changed.
pub fn carry(feedback: EcnFeedback, has_all: bool) -> (Flags, Option<AccEcnCounters>) {
    match feedback {
        EcnFeedback::None | EcnFeedback::SynAck | EcnFeedback::Classic { ece: false } => (Flags::default(), None),
        EcnFeedback::Classic { ece: true } => (Flags::ECE, None),
        EcnFeedback::AccEcn { ace, option } => (Flags::of_ace(ace), option.map(|option| counters(option, has_all))),
    }
}

/// The option on the answer to a SYN.
pub fn first_counters(mode: EcnMode, has_all: bool) -> Option<AccEcnCounters> {
    (mode == EcnMode::AccEcn).then(|| counters(AccEcnOption::INITIAL, has_all))
}

/// The counters that an option carries.
fn counters(option: AccEcnOption, has_all: bool) -> AccEcnCounters {
    let (e0b, ceb, e1b) = (option.e0b(), option.ceb(), option.e1b());
    let has_e1b = has_all || e1b != AccEcnOption::INITIAL.e1b();
    let has_e0b = has_all || !has_e1b || e0b != AccEcnOption::INITIAL.e0b();
    AccEcnCounters { e0b: has_e0b.then_some(e0b), ceb: Some(ceb), e1b: has_e1b.then_some(e1b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_take_the_best_that_both_know() {
        use EcnMode::{AccEcn, Classic, Off};
        for client in [Off, Classic, AccEcn] {
            for server in [Off, Classic, AccEcn] {
                let best = match (client, server) {
                    (Off, _) | (_, Off) => Off,
                    (AccEcn, AccEcn) => AccEcn,
                    _ => Classic,
                };
                let agreed = agree(server, Flags::SYN.with(offer(client)));
                assert_eq!(agreed, best, "{server:?} hears of {client:?}");
                for seen in [None, Some(Ecn::Ect0), Some(Ecn::Ce)] {
                    let flags = Flags::SYN.with(Flags::ACK).with(answer(agreed, seen));
                    assert_eq!(agree(client, flags), best, "{client:?} hears from {server:?}");
                }
            }
        }
        // A server that mirrors all flags knows nothing of ECN (RFC 3168 §6.1.1.2, RFC 9768 table 2).
        for mode in [Classic, AccEcn] {
            assert_eq!(agree(mode, Flags::SYN.with(Flags::ACK).with(offer(mode))), Off);
        }
    }
}
