//! The entry of fuzzers: arbitrary bytes as a rule on one line, with the properties that must hold.

use super::{Ack, CcContext, CcSpec, Congestion, CongestionControl, CongestionKind, PathView, Restart, RuleSource};
use crate::units::{Duration, Instant};

/// Events of a connection.
const EVENTS: u32 = 64;

/// Reads bytes as a rule and sends it events. Either the bytes are a rule, or a message names the place of the
/// mistake. The window is finite and at least one segment, or there is a fault.
///
/// # Panics
/// If that does not hold.
pub fn fuzz(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = match RuleSource::from_line(text) {
        Ok(source) => source,
        Err(error) => return assert!(!error.to_string().is_empty() && !error.pointer().is_empty()),
    };
    let spec = CcSpec::Rule(source.into());
    if let Err(mistake) = spec.check() {
        return assert!(!mistake.to_string().is_empty() && !mistake.key().is_empty());
    }
    let mut cc = spec.build(CcContext::new(2.0));
    for number in 0..EVENTS {
        let now = Instant::ZERO + Duration::from_millis(u64::from(7 * number));
        let rtt = Duration::from_millis(u64::from(20 + number % 5));
        let path = PathView {
            in_flight: number % 9,
            mss: 1460,
            srtt: rtt,
            latest_rtt: rtt,
            min_rtt: rtt,
            ..PathView::default()
        };
        let (kind, restart) = match number % 18 {
            17 => (CongestionKind::Timeout, Restart::SlowStart),
            _ => (CongestionKind::Loss, Restart::Reduced),
        };
        match number % 9 {
            8 => cc.on_congestion(&Congestion { now, kind, restart, flight_size: path.in_flight, path }),
            _ => cc.on_ack(&Ack { now, path, ece: number % 5 == 0, ..Ack::of(1.0) }),
        }
        if cc.cwnd().is_nan() {
            return assert!(cc.fault().is_some_and(|fault| !fault.is_empty()));
        }
        assert!(cc.cwnd() >= 1.0 && cc.cwnd().is_finite(), "a window of {}", cc.cwnd());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Fragments of rules.
    const PIECES: &[&str] = &[
        "grow = ",
        "cut = ",
        "; ",
        "state x = ",
        "on_ack x = ",
        "on_cut x = ",
        "pacing = ",
        "a = ",
        "1",
        "0.5",
        "1e308",
        "w",
        "acked",
        "srtt",
        "since_cut",
        "x",
        "a",
        " + ",
        " - ",
        " * ",
        " / ",
        " ^ ",
        "(",
        ")",
        "min(",
        "if(",
        ", ",
        "log(",
        "cbrt(",
        " < ",
        " and ",
        "not ",
        " ms",
        "\u{e4}",
        "\n",
    ];

    #[test]
    fn a_statement_without_a_name_is_a_mistake_with_a_message() {
        for line in ["= 9", "grow = 1 / w; = 2"] {
            let error = RuleSource::from_line(line).unwrap_err().to_string();
            assert!(error.contains("expected NAME = FORMULA"), "{error}");
            fuzz(line.as_bytes());
        }
        let unnamed = RuleSource { parameters: [(String::new(), 9.0)].into(), ..RuleSource::default() };
        assert_eq!(CcSpec::Rule(unnamed.into()).check().unwrap_err().key(), "\"\"");
    }

    proptest! {
        #[test]
        fn any_text_is_a_rule_or_there_is_a_message(pieces in prop::collection::vec(0..PIECES.len(), 0..30)) {
            fuzz(pieces.iter().map(|piece| PIECES[*piece]).collect::<String>().as_bytes());
        }

        #[test]
        fn any_formula_gives_a_window_or_a_fault(pieces in prop::collection::vec(8..PIECES.len() - 2, 1..12), cut in any::<bool>()) {
            let formula: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
            let key = if cut { "cut" } else { "grow" };
            fuzz(format!("state x = 1; a = 2; {key} = {formula}").as_bytes());
        }
    }
}
