//! Command lines of `tc` as attributes of netlink (linux/pkt_sched.h).

use ackclock::units::Rate;

use super::structures::{self, Values};
use super::values::{Kind, parse};
use crate::netlink::{Message, attribute, text};

const RTM_NEWQDISC: u16 = 36;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TC_H_ROOT: u32 = u32::MAX;

/// A word of a command line.
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// The attribute.
    pub attribute: u16,
    /// The type of the value that follows, or the value of a word that stands alone.
    pub kind: Kind,
}

const fn word(name: &'static str, attribute: u16, kind: Kind) -> Word {
    Word { name, attribute, kind }
}

/// How the parameters of a discipline are written.
enum Layout {
    /// Each word is an attribute.
    Attributes(&'static [Word]),
    /// A structure, made from the values of words. Their attributes are places in [`Values`].
    Structure(&'static [Word], fn(&Values, Rate) -> Result<Vec<u8>, String>),
}

use Kind::{Flag, Long, Micros, Number, Packets, Probability, Size, Speed};

const ECN: Kind = Flag(1);

/// The disciplines.
const DISCIPLINES: &[(&str, Layout)] = &[
    ("pfifo", Layout::Structure(&[word("limit", 0, Packets)], structures::fifo)),
    ("bfifo", Layout::Structure(&[word("limit", 0, Size)], structures::fifo)),
    (
        "codel",
        Layout::Attributes(&[
            word("target", 1, Micros),
            word("limit", 2, Packets),
            word("interval", 3, Micros),
            word("ecn", 4, ECN),
            word("noecn", 4, Flag(0)),
            word("ce_threshold", 5, Micros),
        ]),
    ),
    (
        "fq_codel",
        Layout::Attributes(&[
            word("target", 1, Micros),
            word("limit", 2, Packets),
            word("interval", 3, Micros),
            word("ecn", 4, ECN),
            word("noecn", 4, Flag(0)),
            word("flows", 5, Number),
            word("quantum", 6, Size),
            word("ce_threshold", 7, Micros),
            word("drop_batch", 8, Number),
            word("memory_limit", 9, Size),
        ]),
    ),
    (
        "pie",
        Layout::Attributes(&[
            word("target", 1, Micros),
            word("limit", 2, Packets),
            word("tupdate", 3, Micros),
            word("alpha", 4, Number),
            word("beta", 5, Number),
            word("ecn", 6, ECN),
            word("noecn", 6, Flag(0)),
            word("bytemode", 7, Flag(1)),
            word("nobytemode", 7, Flag(0)),
            word("dq_rate_estimator", 8, Flag(1)),
            word("no_dq_rate_estimator", 8, Flag(0)),
        ]),
    ),
    (
        "fq_pie",
        Layout::Attributes(&[
            word("limit", 1, Packets),
            word("flows", 2, Number),
            word("target", 3, Micros),
            word("tupdate", 4, Micros),
            word("alpha", 5, Number),
            word("beta", 6, Number),
            word("quantum", 7, Size),
            word("memory_limit", 8, Size),
            word("ecn_prob", 9, Number),
            word("ecn", 10, ECN),
            word("noecn", 10, Flag(0)),
            word("bytemode", 11, Flag(1)),
            word("nobytemode", 11, Flag(0)),
            word("dq_rate_estimator", 12, Flag(1)),
            word("no_dq_rate_estimator", 12, Flag(0)),
        ]),
    ),
    (
        "fq",
        Layout::Attributes(&[
            word("limit", 1, Packets),
            word("flow_limit", 2, Packets),
            word("quantum", 3, Size),
            word("initial_quantum", 4, Size),
            word("pacing", 5, Flag(1)),
            word("nopacing", 5, Flag(0)),
            word("maxrate", 7, Speed),
            word("refill_delay", 9, Micros),
            word("low_rate_threshold", 11, Speed),
            word("ce_threshold", 12, Micros),
        ]),
    ),
    (
        "cake",
        Layout::Attributes(&[
            word("unlimited", 2, Kind::LongFlag(0)),
            word("bandwidth", 2, Long),
            word("diffserv3", 3, Flag(0)),
            word("diffserv4", 3, Flag(1)),
            word("diffserv8", 3, Flag(2)),
            word("besteffort", 3, Flag(3)),
            word("precedence", 3, Flag(4)),
            word("noatm", 4, Flag(0)),
            word("atm", 4, Flag(1)),
            word("ptm", 4, Flag(2)),
            word("flowblind", 5, Flag(0)),
            word("srchost", 5, Flag(1)),
            word("dsthost", 5, Flag(2)),
            word("hosts", 5, Flag(3)),
            word("flows", 5, Flag(4)),
            word("dual-srchost", 5, Flag(5)),
            word("dual-dsthost", 5, Flag(6)),
            word("triple-isolate", 5, Flag(7)),
            word("overhead", 6, Number),
            word("rtt", 7, Micros),
            word("target", 8, Micros),
            word("memlimit", 10, Size),
            word("nowash", 13, Flag(0)),
            word("wash", 13, Flag(1)),
            word("mpu", 14, Number),
            word("egress", 15, Flag(0)),
            word("ingress", 15, Flag(1)),
            word("no-ack-filter", 16, Flag(0)),
            word("ack-filter", 16, Flag(1)),
            word("ack-filter-aggressive", 16, Flag(2)),
            word("no-split-gso", 17, Flag(0)),
            word("split-gso", 17, Flag(1)),
        ]),
    ),
    ("red", Layout::Structure(RED, structures::red)),
    ("choke", Layout::Structure(RED, structures::choke)),
    (
        "sfb",
        Layout::Structure(
            &[
                word("rehash", 0, Number),
                word("db", 1, Number),
                word("max", 2, Packets),
                word("target", 3, Packets),
                word("increment", 4, Probability),
                word("decrement", 5, Probability),
                word("limit", 6, Packets),
                word("penalty_rate", 7, Number),
                word("penalty_burst", 8, Number),
            ],
            structures::sfb,
        ),
    ),
    (
        "tbf",
        Layout::Structure(
            &[
                word("rate", 0, Speed),
                word("burst", 1, Size),
                word("buffer", 1, Size),
                word("limit", 2, Size),
                word("latency", 3, Micros),
            ],
            structures::tbf,
        ),
    ),
    (
        "netem",
        Layout::Structure(
            &[
                word("limit", 0, Packets),
                word("delay", 1, Micros),
                word("jitter", 2, Micros),
                word("loss", 3, Probability),
                word("seed", 4, Long),
            ],
            structures::netem,
        ),
    ),
];

/// The words of RED and CHOKe.
const RED: &[Word] = &[
    word("limit", structures::LIMIT, Size),
    word("min", structures::MIN, Size),
    word("max", structures::MAX, Size),
    word("avpkt", structures::AVPKT, Size),
    word("burst", structures::BURST, Number),
    word("probability", structures::PROBABILITY, Probability),
    word("ecn", structures::FLAGS, ECN),
    word("harddrop", structures::FLAGS, Flag(2)),
    word("adaptive", structures::FLAGS, Flag(4)),
];

/// The message that gives a device a root queue. `rate` is the link's.
///
/// # Errors
/// An unknown discipline, word or value, with those that there are.
pub fn message(line: &str, device: u32, rate: Rate) -> Result<Message, String> {
    let mut words = line.split_whitespace();
    let name = words.next().ok_or_else(|| "expected a discipline".to_owned())?;
    let Some((_, layout)) = DISCIPLINES.iter().find(|(known, _)| *known == name) else {
        let names: Vec<_> = DISCIPLINES.iter().map(|(name, _)| *name).collect();
        return Err(format!("unknown discipline {name}; there are {}", names.join(", ")));
    };
    // struct tcmsg
    let fixed = [[0; 4], device.to_ne_bytes(), [0; 4], TC_H_ROOT.to_ne_bytes(), [0; 4]].concat();
    let flags = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
    let message = Message::new(libc::NETLINK_ROUTE, RTM_NEWQDISC, flags, &fixed).with(TCA_KIND, &text(name));
    match layout {
        Layout::Attributes(known) => {
            let found = read(words, known)?;
            let attributes: Vec<_> = found
                .into_iter()
                .map(|(word, value)| match word.kind {
                    Long | Kind::LongFlag(_) => attribute(word.attribute, &value.to_ne_bytes()),
                    _ => attribute(word.attribute, &(value as u32).to_ne_bytes()),
                })
                .collect();
            Ok(message.with_nested(TCA_OPTIONS, &attributes))
        }
        Layout::Structure(known, write) => {
            let mut values = Values::default();
            for (word, value) in read(words, known)? {
                values.set(word.attribute, value);
            }
            Ok(message.with(TCA_OPTIONS, &write(&values, rate)?))
        }
    }
}

/// The words of a line with their values.
fn read<'a>(words: impl Iterator<Item = &'a str>, known: &'static [Word]) -> Result<Vec<(&'static Word, u64)>, String> {
    let (mut found, mut words) = (Vec::new(), words);
    while let Some(given) = words.next() {
        let Some(word) = known.iter().find(|word| word.name == given) else {
            let names: Vec<_> = known.iter().map(|word| word.name).collect();
            return Err(format!("unknown word {given}; there are {}", names.join(", ")));
        };
        let value = match word.kind {
            Flag(value) => u64::from(value),
            Kind::LongFlag(value) => value,
            kind => {
                let value = words.next().ok_or_else(|| format!("{given}: a value is missing"))?;
                parse(value, kind).ok_or_else(|| format!("{given} {value}: expected {}", kind.in_words()))?
            }
        };
        found.push((word, value));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate() -> Rate {
        Rate::from_bps(10_000_000).unwrap()
    }

    /// The options of a line as bytes.
    fn options(line: &str) -> Vec<u8> {
        let record = message(line, 7, rate()).unwrap().record();
        // The record's head, the header of netlink, struct tcmsg.
        let attributes = &record[8 + 16 + 20..];
        let found = crate::netlink::attributes_of(attributes).find(|(kind, _)| *kind == TCA_OPTIONS);
        found.unwrap().1.to_vec()
    }

    #[test]
    fn words_are_attributes() {
        let found = options("fq_pie limit 1000 target 15ms ecn");
        let found: Vec<_> = crate::netlink::attributes_of(&found)
            .map(|(kind, content)| (kind, u32::from_ne_bytes(content.try_into().unwrap())))
            .collect();
        assert_eq!(found, [(1, 1000), (3, 15_000), (10, 1)]);
        let cake = options("cake bandwidth 8mbit besteffort flows");
        let found: Vec<_> = crate::netlink::attributes_of(&cake).map(|(kind, content)| (kind, content.len())).collect();
        assert_eq!(found, [(2, 8), (3, 4), (5, 4)]);
    }

    #[test]
    fn unknown_words_and_values_are_refused() {
        for (line, reason) in [
            ("", "expected a discipline"),
            ("pye", "unknown discipline pye; there are pfifo"),
            ("pie limits 3", "unknown word limits; there are target, limit"),
            ("pie limit", "limit: a value is missing"),
            ("pie target soon", "target soon: expected a time such as 15ms"),
            ("red limit 60kb", "red needs min, max and avpkt"),
        ] {
            let error = message(line, 7, rate()).unwrap_err();
            assert!(error.starts_with(reason), "{line}: {error}");
        }
    }
}
