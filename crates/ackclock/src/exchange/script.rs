//! A script: its events and their times, as written.

use super::ScriptError;
use super::expression::{Names, Statement, parse_code};
use super::packet::Packet;
use super::scanner::Scanner;
use super::settings::Settings;
use crate::units::{Duration, NANOS_PER_SEC};

/// Later times are refused: a script is about segments, not about days.
const MAX_SECONDS: u64 = 1_000_000;

/// Calls that wait for sockets, or hand data over in other ways than one stretch at a time.
const OTHER_CALLS: &[&str] =
    &["epoll", "poll", "select", "sendfile", "splice", "sendmsg", "recvmsg", "writev", "readv"];
/// Flags and socket options of unsupported features: Fast Open, authentication, urgent data, receive buffers and data
/// handling of the host.
const OTHER_WORDS: &[&str] = &[
    "MSG_FASTOPEN",
    "MSG_ZEROCOPY",
    "MSG_OOB",
    "MSG_EOR",
    "MSG_MORE",
    "TCP_FASTOPEN",
    "TCP_MD5SIG",
    "TCP_REPAIR",
    "TCP_CORK",
    "TCP_INQ",
    "TCP_NOTSENT_LOWAT",
    "TCP_USER_TIMEOUT",
    "TCP_ZEROCOPY",
    "SO_TIMESTAMPING",
    "SO_ZEROCOPY",
    "SO_PEEK_OFF",
    "SO_RCVBUF",
    "SO_RCVLOWAT",
    "SIOCINQ",
    "SIOCOUTQ",
    "IPPROTO_UDP",
    "SOCK_DGRAM",
    "AF_INET6",
];

/// Options for encapsulation and authentication.
const OTHER_OPTIONS: &[&str] = &[
    "udp_encapsulation",
    "tcp_md5_secret",
    "psp_udp_port",
    "psp_secret",
    "tcp_ts_ecr_scaled",
    "fm_speed_up",
    "pref64",
];

/// A script, read and checked.
#[derive(Clone, Debug)]
pub struct Script {
    /// The settings of the lines `--name=value` at its head.
    pub settings: Settings,
    /// The events in their order.
    pub events: Vec<Event>,
    /// How many names its code assigns.
    pub names: usize,
}

/// A line of a script.
#[derive(Clone, Debug)]
pub struct Event {
    /// The line, from 1.
    pub line: u32,
    /// When it happens.
    pub when: When,
    /// The event.
    pub action: Action,
}

/// When an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At any time (`*`).
    Any,
    /// From `earliest` to `latest`.
    Between {
        /// True if the times count from the event before (`+`).
        relative: bool,
        /// The first time at which it is right.
        earliest: Duration,
        /// The last one.
        latest: Duration,
    },
}

/// An event of a script.
#[derive(Clone, Debug)]
pub enum Action {
    /// A segment arrives (`<`).
    Arrives(Packet),
    /// A segment is expected to leave (`>`).
    Leaves(Packet),
    /// The application calls the socket.
    Call(Call),
    /// A command of the shell between backticks.
    Shell(String),
    /// Code between `%{` and `}%`.
    Code(Vec<Statement>),
}

/// A system call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// Its arguments as written.
    pub arguments: Vec<String>,
    /// The expected result, or `None` for any.
    pub result: Option<i64>,
    /// The error it should fail with.
    pub errno: Option<String>,
    /// It may wait, as its time `0...0.2` says.
    pub may_wait: bool,
}

impl Script {
    /// True if anything is expected: a segment, a result of a call, an assertion.
    pub fn expects_anything(&self) -> bool {
        self.events.iter().any(|event| match &event.action {
            Action::Leaves(_) => true,
            Action::Call(call) => call.result.is_some(),
            Action::Code(code) => code.iter().any(|statement| matches!(statement, Statement::Assert(_))),
            Action::Arrives(_) | Action::Shell(_) => false,
        })
    }

    /// Reads a script.
    ///
    /// # Errors
    /// The first line that is not understood.
    pub fn parse(text: &str, mut settings: Settings) -> Result<Script, ScriptError> {
        let mut scanner = Scanner::new(text);
        while scanner.eat("--") {
            let option = scanner.take_while(|c| !c.is_whitespace());
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            if OTHER_OPTIONS.contains(&name) {
                return Err(scanner.elsewhere(&format!("the option --{name}")));
            }
            settings.option(name, value).map_err(|message| scanner.error(message))?;
        }
        let (mut events, mut names) = (Vec::new(), Names::default());
        while !scanner.at_end() {
            let line = scanner.line();
            let (when, may_wait) = parse_when(&mut scanner)?;
            let mut action = parse_action(&mut scanner, &mut names)?;
            if let Action::Call(call) = &mut action {
                call.may_wait = may_wait;
            }
            events.push(Event { line, when, action });
        }
        Ok(Script { settings, events, names: names.len() })
    }
}

/// When an event happens, and whether its call may wait until a later time.
fn parse_when(scanner: &mut Scanner) -> Result<(When, bool), ScriptError> {
    if scanner.eat("*") {
        return Ok((When::Any, false));
    }
    if scanner.sees("`") || scanner.sees("%{") {
        return Ok((When::Between { relative: true, earliest: Duration::ZERO, latest: Duration::ZERO }, false));
    }
    let relative = scanner.eat("+");
    let earliest = parse_seconds(scanner)?;
    let (mut latest, mut may_wait) = (earliest, false);
    if scanner.eat("~") {
        // `+0.1~+0.2` and `0.1~0.2`: both ends count from the same time. `0.1~+0.2` is a length.
        let length = scanner.eat("+") && !relative;
        let end = parse_seconds(scanner)?;
        latest = if length { earliest + end } else { end };
    } else if scanner.eat("...") {
        // When a call returns that waits.
        scanner.eat("+");
        parse_seconds(scanner)?;
        may_wait = true;
    }
    if latest < earliest {
        return Err(scanner.error("the range of times ends before it begins"));
    }
    Ok((When::Between { relative, earliest, latest }, may_wait))
}

/// Seconds in decimal, exactly.
fn parse_seconds(scanner: &mut Scanner) -> Result<Duration, ScriptError> {
    let start = scanner.clone();
    let whole = scanner.take_while(|c| c.is_ascii_digit());
    let fraction = if scanner.sees(".") && !scanner.sees("..") {
        scanner.expect(".")?;
        scanner.take_while(|c| c.is_ascii_digit())
    } else {
        ""
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(start.clone().expected("a time in seconds"));
    }
    let seconds: u64 = if whole.is_empty() { 0 } else { whole.parse().unwrap_or(u64::MAX) };
    if seconds > MAX_SECONDS || fraction.len() > 9 {
        return Err(start.error(format!("a time has at most {MAX_SECONDS} seconds and nine decimal places")));
    }
    let nanos: u64 = format!("{fraction:0<9}").parse().map_err(|_| start.error("a time in seconds is expected"))?;
    Ok(Duration::from_nanos(seconds * NANOS_PER_SEC + nanos))
}

fn parse_action(scanner: &mut Scanner, names: &mut Names) -> Result<Action, ScriptError> {
    if scanner.eat("<") {
        let packet = Packet::parse(scanner)?;
        if packet.options.is_none() {
            return Err(scanner.error("the options of a segment that arrives must be given"));
        }
        Ok(Action::Arrives(packet))
    } else if scanner.eat(">") {
        Ok(Action::Leaves(Packet::parse(scanner)?))
    } else if scanner.eat("`") {
        Ok(Action::Shell(scanner.raw_until("`")?.to_owned()))
    } else if scanner.eat("%{") {
        let line = scanner.line();
        Ok(Action::Code(parse_code(scanner.raw_until("}%")?, line, names)?))
    } else {
        parse_call(scanner).map(Action::Call)
    }
}

fn parse_call(scanner: &mut Scanner) -> Result<Call, ScriptError> {
    let name = scanner.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
    if name.is_empty() {
        return Err(scanner.expected("`<`, `>`, a call, a backtick or `%{`"));
    }
    if OTHER_CALLS.iter().any(|other| name.starts_with(other)) {
        return Err(scanner.elsewhere(&format!("the call {name}")));
    }
    scanner.expect("(")?;
    let mut arguments = Vec::new();
    while !scanner.eat(")") {
        let argument = scanner.argument()?;
        if let Some(word) = argument.split('|').map(str::trim).find(|word| is_other_word(word)) {
            return Err(scanner.elsewhere(word));
        }
        arguments.push(argument.to_owned());
        if !scanner.sees(")") {
            scanner.expect(",")?;
        }
    }
    scanner.expect("=")?;
    let result = if scanner.eat("?") {
        None
    } else {
        let negative = scanner.eat("-");
        let digits = scanner.word()?;
        let value = match digits.strip_prefix("0x") {
            Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16),
            None => digits.parse(),
        };
        let value = value.map_err(|_| scanner.error(format!("`{digits}` is not a number")))?;
        Some(if negative { -value } else { value })
    };
    let errno = scanner.peek().is_some_and(|c| c == 'E').then(|| scanner.word().map(str::to_owned)).transpose()?;
    if scanner.eat("(") {
        scanner.raw_until(")")?;
    }
    Ok(Call { name, arguments, result, errno, may_wait: false })
}

fn is_other_word(word: &str) -> bool {
    OTHER_WORDS.iter().any(|other| word.starts_with(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn when(text: &str) -> (bool, u64, u64) {
        match parse_when(&mut Scanner::new(text)).unwrap().0 {
            When::Any => (false, 0, u64::MAX),
            When::Between { relative, earliest, latest } => {
                (relative, earliest.as_nanos() / 1_000_000, latest.as_nanos() / 1_000_000)
            }
        }
    }

    #[test]
    fn times_are_relative_absolute_ranges_or_any() {
        assert_eq!(when("+.1 "), (true, 100, 100));
        assert_eq!(when("0.25 "), (false, 250, 250));
        assert_eq!(when("+0.1~+.2 "), (true, 100, 200));
        assert_eq!(when("1~1.5 "), (false, 1000, 1500));
        assert_eq!(when("0...0.2 "), (false, 0, 0));
        assert_eq!(when("* >"), (false, 0, u64::MAX));
        assert!(parse_when(&mut Scanner::new("+")).is_err());
        assert!(parse_when(&mut Scanner::new("9999999999999999999999 ")).is_err());
    }

    #[test]
    fn calls_have_arguments_a_result_and_an_error() {
        let text = "+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)\n\
                    +0 fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)\n+0 write(3, ..., 10) = 10";
        let script = Script::parse(text, Settings::default()).unwrap();
        let calls: Vec<_> = script
            .events
            .iter()
            .map(|event| match &event.action {
                Action::Call(call) => (event.line, call.arguments.len(), call.result, call.errno.as_deref()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(calls, [(1, 3, Some(-1), Some("EINPROGRESS")), (2, 2, Some(2), None), (3, 3, Some(10), None)]);
    }

    #[test]
    fn an_error_names_its_line() {
        for (text, message) in [
            ("\n\n+0 < S 0:0(0", "3: expected `)`, found nothing"),
            ("+0 `sysctl", "1: ``` is missing"),
            ("+0\n%{ import os }%", "2: expected an assertion"),
            ("--frobnicate=1", "1: the option --frobnicate"),
            ("--udp_encapsulation=tcp", "1: the option --udp_encapsulation: this is not about a sender"),
            ("--ip_version=ipv6\n+0 < U. 0:1(1) ack 1", "2: the flag U (urgent data): this is not about"),
            ("+0 > - 0:0(0)", "1: a segment without flags: this is not about a sender or a receiver"),
            ("+0 > (tos 0x10) S 0:0(0)", "1: the IP field tos: this is not about a sender or a receiver"),
            ("+0 < S 0:0(0) <TS val nocheck ecr 0>", "1: the options of a segment that arrives must be given"),
            ("soon > . 1:1(0) ack 1", "1: expected a time in seconds, found `soon"),
        ] {
            let error = Script::parse(text, Settings::default()).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
