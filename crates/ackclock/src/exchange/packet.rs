//! A TCP segment as a script writes it: `S. 0:0(0) ack 1 win 257 <mss 1000,sackOK>`.

use std::fmt;

use super::ScriptError;
use super::scanner::Scanner;
use crate::ecn::Ecn;

/// A segment. Sequence numbers are relative to the initial ones, so that data begin at 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The ECN field of IP.
    pub ecn: Option<Ecn>,
    /// The flags.
    pub flags: Flags,
    /// First byte.
    pub seq: u32,
    /// Payload bytes.
    pub len: u32,
    /// The acknowledgement.
    pub ack: Option<u32>,
    /// The window field, unscaled.
    pub window: Option<u32>,
    /// The options, or `None` for any (`<...>`).
    pub options: Option<Options>,
}

/// Protocols other than TCP that packetdrill supports.
const OTHER_PROTOCOLS: &[&str] = &["icmp", "icmpv4", "icmpv6", "udp", "gre", "ipv4", "ipv6", "mpls"];
/// Options of Fast Open and of authentication.
const OTHER_OPTIONS: &[&str] = &["FO", "FOEXP", "md5", "ao"];

/// The flags of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

/// The options of a segment, padding left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size.
    pub mss: Option<u32>,
    /// SACK permitted.
    pub sack_ok: bool,
    /// Window scale.
    pub wscale: Option<u32>,
    /// Timestamps: value and echo.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks.
    pub sack: Vec<(u32, u32)>,
    /// The counters of AccECN.
    pub accecn: Option<AccEcnCounters>,
}

/// The counters of the AccECN option, as far as it has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccEcnCounters {
    /// Bytes that came as ECT(0).
    pub e0b: Option<u32>,
    /// Bytes that came with CE.
    pub ceb: Option<u32>,
    /// Bytes that came as ECT(1).
    pub e1b: Option<u32>,
}

impl Flags {
    /// FIN.
    pub const FIN: Flags = Flags(1);
    /// SYN.
    pub const SYN: Flags = Flags(2);
    /// RST.
    pub const RST: Flags = Flags(4);
    /// PSH.
    pub const PSH: Flags = Flags(8);
    /// ACK.
    pub const ACK: Flags = Flags(16);
    /// ECE.
    pub const ECE: Flags = Flags(64);
    /// CWR.
    pub const CWR: Flags = Flags(128);
    /// AE.
    pub const AE: Flags = Flags(256);

    const LETTERS: [(char, Flags); 8] = [
        ('F', Flags::FIN),
        ('S', Flags::SYN),
        ('R', Flags::RST),
        ('P', Flags::PSH),
        ('E', Flags::ECE),
        ('W', Flags::CWR),
        ('A', Flags::AE),
        ('.', Flags::ACK),
    ];

    /// These flags and `others`.
    pub const fn with(self, others: Flags) -> Flags {
        Flags(self.0 | others.0)
    }

    /// These flags without `others`.
    pub const fn without(self, others: Flags) -> Flags {
        Flags(self.0 & !others.0)
    }

    /// ECE, CWR and AE as a number: the ACE field of RFC 9768.
    pub const fn ace(self) -> u8 {
        ((self.0 / Self::ECE.0) & 7) as u8
    }

    /// The flags of an ACE field.
    pub const fn of_ace(ace: u8) -> Flags {
        Flags((ace & 7) as u16 * Self::ECE.0)
    }

    /// The flags that are in both sets.
    pub const fn only(self, others: Flags) -> Flags {
        Flags(self.0 & others.0)
    }

    /// The flags as the low bits of the header's field.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The flags of the low bits of the header's field.
    pub const fn of_bits(bits: u16) -> Flags {
        Flags(bits)
    }

    /// True if all of `others` are set.
    pub const fn has(self, others: Flags) -> bool {
        self.0 & others.0 == others.0
    }
}

impl Packet {
    /// Reads a segment, the text after `<` or `>`.
    pub fn parse(scanner: &mut Scanner) -> Result<Packet, ScriptError> {
        if scanner.eat("(") {
            let field = scanner.word()?;
            return Err(scanner.elsewhere(&format!("the IP field {field}")));
        }
        let ecn = parse_ecn(scanner)?;
        let mut flags = Flags::default();
        if scanner.sees("- ") {
            return Err(scanner.elsewhere("a segment without flags"));
        }
        let letters = scanner.take_while(|c| c == '.' || c.is_ascii_alphanumeric());
        for letter in letters.chars() {
            if let Some(ace) = letter.to_digit(8) {
                flags = flags.with(Flags::of_ace(ace as u8));
                continue;
            }
            let known = Flags::LETTERS.iter().find(|(known, _)| *known == letter);
            let Some((_, flag)) = known else {
                if letter == 'U' && letters.chars().all(|c| c == '.' || c.is_ascii_uppercase()) {
                    return Err(scanner.elsewhere("the flag U (urgent data)"));
                }
                if OTHER_PROTOCOLS.contains(&letters) {
                    return Err(scanner.elsewhere(letters));
                }
                return Err(scanner.error(format!(
                    "unknown TCP flags `{letters}`; use `FSRPEWA.` or a number for the ACE field (TCP only)"
                )));
            };
            flags = flags.with(*flag);
        }
        if letters.is_empty() {
            return Err(scanner.expected("the flags of a TCP segment"));
        }
        let seq = scanner.number()?;
        scanner.expect(":")?;
        let end = scanner.number()?;
        scanner.expect("(")?;
        let len = scanner.number()?;
        scanner.expect(")")?;
        if seq.checked_add(len) != Some(end) {
            return Err(scanner.error(format!("{seq}:{end}({len}): the length is not the difference")));
        }
        let ack = if scanner.eat_word("ack") { Some(scanner.number()?) } else { None };
        if ack.is_some() != flags.has(Flags::ACK) {
            return Err(scanner.error("an acknowledgement goes with the flag `.`, and only with it"));
        }
        let window = match scanner.eat_word("win") {
            true if scanner.eat_word("nocheck") => None,
            true => Some(scanner.number()?),
            false => None,
        };
        let options = if scanner.eat("<") { parse_options(scanner)? } else { Some(Options::default()) };
        Ok(Packet { ecn, flags, seq, len, ack, window, options })
    }
}

fn parse_ecn(scanner: &mut Scanner) -> Result<Option<Ecn>, ScriptError> {
    if !scanner.eat("[") {
        return Ok(None);
    }
    let ecn = match scanner.word()? {
        "noecn" => Ecn::NotEct,
        "ect0" | "ect01" => Ecn::Ect0,
        "ect1" => Ecn::Ect1,
        "ce" => Ecn::Ce,
        other => return Err(scanner.error(format!("[{other}]: expected noecn, ect0, ect1, ect01 or ce"))),
    };
    scanner.expect("]")?;
    Ok(Some(ecn))
}

/// Options after `<`. Returns `None` for `...`, and if the value of an option is `nocheck`.
fn parse_options(scanner: &mut Scanner) -> Result<Option<Options>, ScriptError> {
    if scanner.eat("...") {
        scanner.expect(">")?;
        return Ok(None);
    }
    if scanner.option_list_has("nocheck") {
        scanner.raw_until(">")?;
        return Ok(None);
    }
    let mut options = Options::default();
    while !scanner.eat(">") {
        match scanner.word()? {
            "nop" | "eol" => {}
            "mss" => options.mss = Some(scanner.number()?),
            "sackOK" => options.sack_ok = true,
            "wscale" => options.wscale = Some(scanner.number()?),
            "TS" => {
                scanner.expect("val")?;
                let value = scanner.number()?;
                scanner.expect("ecr")?;
                options.timestamps = Some((value, scanner.number()?));
            }
            "sack" => {
                while scanner.peek().is_some_and(|c| c.is_ascii_digit()) {
                    let start = scanner.number()?;
                    scanner.expect(":")?;
                    options.sack.push((start, scanner.number()?));
                }
            }
            "ECN" => options.accecn = Some(parse_counters(scanner)?),
            other if OTHER_OPTIONS.contains(&other) => {
                return Err(scanner.elsewhere(&format!("the TCP option `{other}`")));
            }
            other => return Err(scanner.error(format!("the TCP option `{other}` is not supported"))),
        }
        if !scanner.sees(">") {
            scanner.expect(",")?;
        }
    }
    Ok(Some(options))
}

/// `e0b 1 ceb 0 e1b 1`, any of them in any order.
fn parse_counters(scanner: &mut Scanner) -> Result<AccEcnCounters, ScriptError> {
    let mut counters = AccEcnCounters::default();
    while scanner.peek().is_some_and(char::is_alphabetic) {
        let counter = match scanner.word()? {
            "e0b" => &mut counters.e0b,
            "ceb" => &mut counters.ceb,
            "e1b" => &mut counters.e1b,
            other => return Err(scanner.error(format!("`{other}`: expected e0b, ceb or e1b"))),
        };
        *counter = Some(scanner.number()?);
    }
    Ok(counters)
}

impl fmt::Display for AccEcnCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ECN")?;
        for (name, value) in [("e0b", self.e0b), ("ceb", self.ceb), ("e1b", self.e1b)] {
            if let Some(value) = value {
                write!(f, " {name} {value}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = Flags::LETTERS.iter().filter(|(_, flag)| self.has(*flag));
        f.write_str(&letters.map(|(letter, _)| letter).collect::<String>())
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.mss.map(|mss| format!("mss {mss}")));
        parts.extend(self.sack_ok.then(|| "sackOK".to_owned()));
        parts.extend(self.timestamps.map(|(value, echo)| format!("TS val {value} ecr {echo}")));
        parts.extend(self.wscale.map(|wscale| format!("wscale {wscale}")));
        if !self.sack.is_empty() {
            let blocks: Vec<_> = self.sack.iter().map(|(start, end)| format!("{start}:{end}")).collect();
            parts.push(format!("sack {}", blocks.join(" ")));
        }
        parts.extend(self.accecn.map(|counters| counters.to_string()));
        write!(f, "<{}>", parts.join(","))
    }
}

impl fmt::Display for Packet {
    /// Writes the packet as scripts do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ecn {
            Some(Ecn::NotEct) => f.write_str("[noecn] ")?,
            Some(Ecn::Ect0) => f.write_str("[ect0] ")?,
            Some(Ecn::Ect1) => f.write_str("[ect1] ")?,
            Some(Ecn::Ce) => f.write_str("[ce] ")?,
            None => {}
        }
        let end = u64::from(self.seq) + u64::from(self.len);
        write!(f, "{} {}:{end}({})", self.flags, self.seq, self.len)?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        match &self.options {
            None => f.write_str(" <...>"),
            Some(options) if *options != Options::default() => write!(f, " {options}"),
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_print_as_they_are_read() {
        for text in [
            "S 0:0(0) win 32792 <mss 1000,sackOK,TS val 3 ecr 0,wscale 7>",
            "S. 0:0(0) ack 1 <...>",
            "FP. 1:1001(1000) ack 1",
            "[ce] . 1:1(0) ack 1001 win 257 <sack 2001:3001 4001:5001>",
            "[noecn] SEW 0:0(0) win 9",
            "SEWA 0:0(0) win 9",
            "EA. 1:1(0) ack 1001 <ECN e0b 1001 ceb 0 e1b 1>",
        ] {
            assert_eq!(Packet::parse(&mut Scanner::new(text)).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_not_checked_is_none() {
        for text in ["S 0:0(0) win nocheck <...>", "S 0:0(0) <mss 1460,TS val nocheck ecr nocheck,nop>"] {
            let packet = Packet::parse(&mut Scanner::new(text)).unwrap();
            assert_eq!((packet.window, packet.options), (None, None), "{text}");
        }
        let checked = Packet::parse(&mut Scanner::new("S 0:0(0) <mss 1460> > nocheck")).unwrap();
        assert!(checked.options.is_some());
    }

    #[test]
    fn contradictions_are_refused() {
        for text in ["S 0:1(0)", ". 1:1(0)", "S 0:0(0) ack 1", "icmp 1:1(0)", "S 0:0(0) <FO 1>", "S 4294967296:0(0)"] {
            assert!(Packet::parse(&mut Scanner::new(text)).is_err(), "{text}");
        }
    }
}
