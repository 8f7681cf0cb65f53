//! The entry point of fuzzers: arbitrary bytes, and the properties that hold for them.

use super::{Outcome, run_bounded};
use crate::transport::Profile;

/// Segments that a fuzzer waits for.
const MAX_SEGMENTS: u64 = 5_000;
/// Bytes of a script that a fuzzer waits for.
const MAX_LEN: usize = 1 << 16;

/// Reads bytes as a script and runs it. The script passes, fails or cannot be read, with a message, and twice the
/// same.
///
/// # Panics
/// If that does not hold.
pub fn fuzz(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if text.len() > MAX_LEN {
        return;
    }
    let profile = if data.len().is_multiple_of(2) { Profile::Rfc } else { Profile::Linux };
    let report = run_bounded(text, profile, MAX_SEGMENTS);
    match &report.outcome {
        Outcome::Passed => {}
        Outcome::Failed(mismatch) => {
            assert!(!mismatch.expected.is_empty() && !mismatch.seen.is_empty() || mismatch.line > 0);
        }
        Outcome::Unreadable(error) | Outcome::Skipped(error) => assert!(error.line > 0 && !error.message.is_empty()),
    }
    assert_eq!(report, run_bounded(text, profile, MAX_SEGMENTS), "the same script gives the same report");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pieces that scripts are made of, so that random texts get beyond the first line.
    const PIECES: &[&str] = &[
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
         +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,wscale 7>\n+0 > S. 0:0(0) ack 1 <...>\n\
         +.1 < . 1:1(0) ack 1 win 257\n+0 accept(3, ..., ...) = 4\n+0 write(4, ..., 50000) = 50000\n",
        "+0 > P. 1:10001(10000) ack 1\n",
        "+.1 < . 1:1(0) ack 1 win 257 <sack 2001:3001,nop,nop>\n",
        "+0 < . 1:1(0) ack 1001 win 257\n",
        "+0 < . 1:1(0) ack 5001 win 9 <sack 6001:9001 4294967295:1>\n",
        "+3 < P. 4294967295:4294967295(0) ack 4294967295 win 65535 <TS val 4294967295 ecr 1>\n",
        "+.5 < F. 2001:3001(1000) ack 1 win 257\n",
        "+0 < . 1:2001(2000) ack 1 win 257\n",
        "+0 < R. 1:1(0) ack 1\n",
        "* > . 1:1001(1000) ack 1\n",
        "+0 write(4, ..., 3) = 3\n",
        "+0 close(4) = 0\n",
        "+9999 read(4, ..., 1000) = ?\n",
        "+0 %{ assert tcpi_snd_cwnd >= 1 and tcpi_unacked < 999 }%\n",
        "+0 setsockopt(4, SOL_TCP, TCP_QUICKACK, [0], 4) = 0\n",
        "+0 setsockopt(4, SOL_TCP, TCP_CONGESTION, \"aimd-fc\", 4) = 0\n",
        "--recovery=reno\n",
        "`sysctl net.ipv4.tcp_sack=0`\n",
        "0",
        "+",
        ".",
        "(",
        "%{",
        "`",
        ":",
        "<",
        ">",
        "=",
        "999999 ",
    ];

    proptest! {
        #[test]
        fn any_script_ends_with_a_report(pieces in prop::collection::vec(0..PIECES.len(), 0..20)) {
            fuzz(pieces.iter().map(|index| PIECES[*index]).collect::<String>().as_bytes());
        }

        #[test]
        fn any_exchange_ends_with_a_report(pieces in prop::collection::vec(1..18usize, 0..30)) {
            let script: String = pieces.iter().map(|index| PIECES[*index].replace(" > ", " < ")).collect();
            fuzz(format!("{}{script}", PIECES[0]).as_bytes());
        }

        #[test]
        fn any_text_ends_with_a_report(text in "\\PC{0,80}") {
            fuzz(text.as_bytes());
        }
    }
}
