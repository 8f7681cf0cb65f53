//! Problems of a scenario's keys, each with the expected value and a hint.

use std::fmt;

use crate::rule::ParameterError;
use crate::units::{Duration, ParseQuantityError, show_number};

/// A problem of a key.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The text is not in the language.
    #[error("this is not {language}: {message}")]
    Syntax {
        /// TOML or JSON.
        language: &'static str,
        /// The message of the parser.
        message: String,
    },
    /// There is nothing in the file.
    #[error("the scenario is empty; it begins with schema = 2")]
    Empty,
    /// The whole is not a table.
    #[error("a scenario is a table, not {found}")]
    NotATable {
        /// Its kind.
        found: String,
    },
    /// A number that is NaN or infinite.
    #[error("{number} is not a finite number; write a number such as 1.5")]
    NotFinite {
        /// The value.
        number: f64,
    },
    /// A file for another version of the program.
    #[error("the scenario is written in version {found} of the schema; this program reads versions 1 and 2")]
    SchemaVersion {
        /// The version of the file.
        found: String,
    },
    /// An unknown key.
    #[error("unknown key; {hint}")]
    UnknownKey {
        /// A near one, or all.
        hint: Hint,
    },
    /// A required key that is missing.
    #[error("missing; {example}")]
    MissingKey {
        /// An example of a correct value.
        example: String,
    },
    /// A name that is not one of the known ones.
    #[error("unknown {what} \"{name}\"; {hint}")]
    UnknownName {
        /// The kind of the name: algorithm, link, value.
        what: &'static str,
        /// The name.
        name: String,
        /// A near one, or all.
        hint: Hint,
    },
    /// A name that was changed.
    #[error("\"{old}\" is called \"{new}\" now")]
    Renamed {
        /// The old name.
        old: &'static str,
        /// The new one.
        new: &'static str,
    },
    /// A value of the wrong type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// The right type, in words.
        expected: String,
        /// The type that was found, in words.
        found: String,
    },
    /// A number without a unit.
    #[error("a bare number has no unit; write a {quantity} such as \"{example}\"")]
    BareNumber {
        /// The quantity that the number should measure.
        quantity: &'static str,
        /// A correct spelling.
        example: &'static str,
    },
    /// A quantity that cannot be read.
    #[error(transparent)]
    Quantity(#[from] ParseQuantityError),
    /// Text that is neither a quantity nor one of the words that may replace it.
    #[error("\"{text}\" is not a {what}; write {expected}")]
    BadText {
        /// The value that was found.
        text: String,
        /// The expected quantity.
        what: &'static str,
        /// Correct spellings.
        expected: &'static str,
    },
    /// A number out of its range.
    #[error("{value} is out of range; must be {expected}")]
    OutOfRange {
        /// The value that was found.
        value: String,
        /// The range, in words.
        expected: String,
    },
    /// A key of another transport protocol.
    #[error("{protocol} has no such key, it is of {other}; leave it out, or write protocol = \"{other}\"")]
    OtherProtocol {
        /// The protocol of the flow.
        protocol: &'static str,
        /// The protocol of the key.
        other: &'static str,
    },
    /// A value that the transport protocol does not know.
    #[error("\"{value}\" is not of {protocol}; write {expected}")]
    NotOfProtocol {
        /// The value that was found.
        value: String,
        /// The protocol of the flow.
        protocol: &'static str,
        /// Correct spellings.
        expected: &'static str,
    },
    /// Traffic that needs all of its data, over a transport that sends nothing again.
    #[error(
        "rtp sends nothing again, and {traffic} needs all of its data; write kind = \"video\", or protocol = \"tcp\""
    )]
    Unreliable {
        /// The kind of traffic.
        traffic: &'static str,
    },
    /// A key of TCP for a flow of datagrams.
    #[error("datagrams have no congestion control and no acknowledgements; leave the key out")]
    NotOfDatagrams,
    /// A parameter of an algorithm out of its range.
    #[error("{} is out of range; must be {}", show_number(.0.value), .0.expected)]
    Parameter(ParameterError),
    /// An invalid formula of a rule: the problem and its place.
    #[error("{0}")]
    Formula(String),
    /// User-supplied code that cannot be used, or a parameter that it does not take.
    #[error("{0}")]
    Foreign(String),
    /// A flow that cannot be a subflow of Multipath TCP.
    #[error("{flow} cannot be a subflow: {reason}")]
    NotASubflow {
        /// The flow.
        flow: String,
        /// The reason.
        reason: &'static str,
    },
    /// A list with the wrong number of items.
    #[error("expected {expected} items, found {found}")]
    WrongLength {
        /// The right number, in words.
        expected: String,
        /// How many there are.
        found: usize,
    },
    /// The warm-up leaves nothing to measure.
    #[error("the warm-up of {warmup} leaves nothing of a run of {duration}")]
    WarmupTooLong {
        /// The warm-up.
        warmup: Duration,
        /// The length of the run.
        duration: Duration,
    },
    /// A flow that never starts.
    #[error("the flow starts at {start}, but the run ends at {duration}")]
    StartAfterEnd {
        /// The latest start.
        start: Duration,
        /// The length of the run.
        duration: Duration,
    },
    /// A flow that stops before it starts.
    #[error("the flow stops at {stop}, but may start as late as {start}")]
    StopBeforeStart {
        /// When it stops.
        stop: Duration,
        /// The latest start.
        start: Duration,
    },
    /// The bounds of a uniform distribution in the wrong order.
    #[error("the lower bound {min} is above the upper bound {max}")]
    EmptyRange {
        /// The first bound.
        min: Duration,
        /// The second.
        max: Duration,
    },
    /// A name with characters that names of columns and files should not have.
    #[error("\"{name}\" cannot be a name; use up to 64 letters, digits, \"-\", \"_\" or \"+\", and not digits alone")]
    BadName {
        /// The name.
        name: String,
    },
    /// A name that is already used.
    #[error("the name \"{name}\" is taken by {other}")]
    DuplicateName {
        /// The name.
        name: String,
        /// The kind of the thing that has the name.
        other: String,
    },
    /// Neither a topology nor links.
    #[error("no network; write a [topology] or [links.NAME]")]
    NoNetwork,
    /// Both a topology and links.
    #[error("a [topology] and [links] exclude each other; write one of them")]
    TwoNetworks,
    /// A scenario without flows.
    #[error("no flows; write at least one [[flows]]")]
    NoFlows,
    /// More names, or larger ones, than a terminal or a table should show.
    #[error("\"{name}\" cannot be a name; use up to {limit} characters, none of them a control character")]
    BadTitle {
        /// The name.
        name: String,
        /// The limit.
        limit: usize,
    },
    /// Too many flows for a run.
    #[error("{count} flows are too many; at most {limit}")]
    TooManyFlows {
        /// How many.
        count: u64,
        /// The limit.
        limit: u64,
    },
    /// The paths contain so many links that the plan would exhaust the memory.
    #[error("the flows cross {count} links in total; at most {limit}")]
    TooManyHops {
        /// How many.
        count: u64,
        /// The limit.
        limit: u64,
    },
    /// More samples than a store should hold.
    #[error("{rows} rows of samples are too many; at most {limit}: a longer interval, or fewer flows")]
    TooManySamples {
        /// How many.
        rows: u64,
        /// The limit.
        limit: u64,
    },
    /// More rows of a trace than a machine should hold.
    #[error("about {rows} rows of packets would be written down; at most {limit}: a shorter run, or packets = false")]
    TooManyTraceRows {
        /// How many.
        rows: u64,
        /// The limit.
        limit: u64,
    },
    /// More transfers than a run should remember.
    #[error("{count} transfers would arrive; at most {limit}: a longer time between two, or a shorter run")]
    TooManyArrivals {
        /// How many are expected.
        count: u64,
        /// The limit.
        limit: u64,
    },
    /// A flow that could take several paths.
    #[error("missing; there are several links, write for example path = [\"{example}\"]")]
    NoPath {
        /// One of the links.
        example: String,
    },
    /// A path that returns to a link.
    #[error("the path crosses \"{link}\" twice")]
    PathLoop {
        /// The link.
        link: String,
    },
    /// A path that crosses both directions of a link.
    #[error("the path crosses both \"{first}\" and \"{second}\", the two directions of a link; write one of them")]
    PathBothWays {
        /// The direction that comes first.
        first: String,
        /// The other one.
        second: String,
    },
    /// A path where nothing bounds the window.
    #[error("no link on the path has a rate, so nothing limits the flow")]
    NoRateOnPath,
    /// A wanted RTT below the RTT of the path.
    #[error("an RTT of {rtt} is below the {path} that the shared path takes")]
    RttTooShort {
        /// The wanted RTT.
        rtt: Duration,
        /// The RTT of the path.
        path: Duration,
    },
    /// A propagation that cannot be simulated.
    #[error("a base RTT of {seconds} s is too long; at most {limit}")]
    RttTooLong {
        /// The delay that was requested.
        seconds: f64,
        /// The limit.
        limit: Duration,
    },
    /// A limit relative to a rate on a link without a rate.
    #[error("a limit in BDP or time needs a rate, and link \"{link}\" has none")]
    BdpWithoutRate {
        /// The link.
        link: String,
    },
    /// A limit relative to a rate at a station, whose rate depends on the others.
    #[error(
        "a limit in BDP or time needs a fixed rate, and stations of channel \"{channel}\" share theirs; write for example \
         \"100 packets\""
    )]
    BdpOnChannel {
        /// The channel.
        channel: String,
    },
    /// A key of a link that its channel has.
    #[error("a station has the {what} of its channel, \"{channel}\"; leave the key out")]
    OfChannel {
        /// The key of the channel.
        what: &'static str,
        /// The channel.
        channel: String,
    },
    /// A queue that holds packets back at a station. A station sends whenever its channel permits.
    #[error(
        "this queue keeps packets back, and a station of channel \"{channel}\" sends whenever it may; use another one"
    )]
    ShaperOnChannel {
        /// The channel.
        channel: String,
    },
    /// A queue of the kernel within another queue.
    #[error("a queue of the kernel cannot be inside another queue; write it as the queue of a link")]
    KernelQueueInside,
    /// A queue that holds no packet.
    #[error(
        "a queue of {limit} carries nothing, as every packet passes through it; at least 1 packet, or {packet} B here"
    )]
    NoRoom {
        /// The limit.
        limit: String,
        /// Bytes of the largest packet that crosses it.
        packet: u64,
    },
    /// A problem of a queue within another one.
    #[error("{place}: {problem}")]
    Within {
        /// The keys from the outer queue to the place of the problem.
        place: String,
        /// The problem.
        problem: Box<Problem>,
    },
    /// A class that gets no packet.
    #[error("class {class} takes every packet, so class {shadowed} never gets one; give class {class} a selector")]
    Shadowed {
        /// The number of the class that takes all packets, from 1.
        class: usize,
        /// The number of a later class.
        shadowed: usize,
    },
    /// RED at a link that never has a queue.
    #[error("RED needs the rate of its link, and this one has none")]
    RedWithoutRate,
    /// Thresholds of RED in the wrong order.
    #[error("the lower threshold, {min}, is above the upper one, {max}")]
    Thresholds {
        /// The lower one.
        min: String,
        /// The upper one.
        max: String,
    },
    /// A rate that varies on a link without a rate.
    #[error("a rate that varies needs its highest value as the rate of the link, and link \"{link}\" has no rate")]
    VariesWithoutRate {
        /// The link.
        link: String,
    },
    /// A flow that never comes to its meter.
    #[error("the flow does not cross \"{link}\", where the meter \"{meter}\" stands; write meters.{meter}.link")]
    NotAtMeter {
        /// The meter.
        meter: String,
        /// Its link.
        link: String,
    },
    /// A file that this reader cannot access.
    #[error("\"{file}\" cannot be read here; write its lines as milliseconds")]
    NoFilesHere {
        /// The name of the file.
        file: String,
    },
    /// A trace without anything in it.
    #[error("the trace is empty; write at least one millisecond in which a packet can leave")]
    EmptyTrace,
    /// A trace that would take more memory than it is worth.
    #[error("the trace is too long; at most {limit} milliseconds are read")]
    TraceTooLong {
        /// The limit.
        limit: usize,
    },
    /// A trace that takes no time.
    #[error("the trace takes no time, as all its milliseconds are 0; the last one says when it begins again")]
    TraceWithoutTime,
    /// Two traces: a file and a list of milliseconds.
    #[error("write a file or milliseconds, not both")]
    TwoTraces,
    /// A trace file that cannot be used.
    #[error("{file}: {message}")]
    TraceFile {
        /// The name of the file.
        file: String,
        /// The problem, with the line.
        message: String,
    },
    /// A jitter relative to a rate on a path without a rate.
    #[error("a jitter in packets needs a rate, and the bottleneck \"{link}\" has none")]
    PacketsWithoutRate {
        /// The bottleneck.
        link: String,
    },
    /// A jitter of the flow at a link that has one.
    #[error("the access links have a jitter of their own; write one of the two")]
    TwoJitters,
    /// A change without a key or a value.
    #[error("write KEY=VALUE, for example topology.rate=\"10 Mbit/s\"")]
    SetSyntax,
    /// A change that no run depends on.
    #[error("reaches nothing: {hint}")]
    ReachesNothing {
        /// The key to change instead.
        hint: String,
    },
    /// A change that later changes replace completely.
    #[error("reaches nothing: a later setting replaces it")]
    SettingReplaced,
    /// A change of an item of a list that is not there.
    #[error("no item \"{item}\"; {hint}")]
    NoSuchItem {
        /// The name or index.
        item: String,
        /// The items that there are.
        hint: Hint,
    },
    /// A change below a plain value.
    #[error("{found} has no keys below it")]
    NotBelow {
        /// The value, in words.
        found: String,
    },
    /// The schema accepts a value that the types refuse, which is a mistake of this program.
    #[error("internal: the schema and the types disagree: {message}")]
    Internal {
        /// The message of the types.
        message: String,
    },
}

/// A near name, or all the names that there are.
#[derive(Clone, Debug, PartialEq)]
pub enum Hint {
    /// One is near.
    Near(String),
    /// None is near.
    OneOf(Vec<String>),
    /// A known name with its parameters in brackets. They belong into a table.
    Table(String),
}

impl Hint {
    /// The hint for `name` where `known` names exist.
    pub fn for_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Hint {
        /// Below this similarity a suggestion is a guess.
        const NEAR: f64 = 0.75;
        let known: Vec<&str> = known.into_iter().collect();
        if let Some((kind, parameters)) = name.strip_suffix(')').and_then(|call| call.split_once('('))
            && known.contains(&kind)
        {
            return Hint::Table(format!("{{ kind = \"{kind}\", {parameters} }}"));
        }
        let versions: Vec<_> = known.iter().filter(|candidate| is_version(candidate, name)).collect();
        if versions.len() > 1 {
            return Hint::OneOf(versions.into_iter().map(|version| (*version).to_owned()).collect());
        }
        let similarity = |candidate: &str| {
            let lower = name.to_lowercase();
            let edits = strsim::normalized_damerau_levenshtein(&lower, candidate);
            let common = lower.bytes().zip(candidate.bytes()).take_while(|(a, b)| a == b).count();
            // Letters in the same order alone are not enough: "sprout" is not "sqrt".
            let is_related = edits > 0.5 || common == candidate.len() || 2 * common >= lower.len();
            if is_related { strsim::jaro_winkler(&lower, candidate).max(edits) } else { edits }
        };
        // Names can be as long as the file; comparing costs the product of the lengths.
        if name.len() <= 64 {
            let best = known.iter().map(|candidate| (similarity(candidate), candidate));
            let best = best.max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((similarity, candidate)) = best
                && similarity >= NEAR
            {
                return Hint::Near((*candidate).to_owned());
            }
        }
        Hint::OneOf(known.into_iter().map(str::to_owned).collect())
    }
}

/// Whether `candidate` is `name` with the number of a version.
fn is_version(candidate: &str, name: &str) -> bool {
    let number = candidate.strip_prefix(name.to_lowercase().as_str()).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// More names fill the terminal.
        const MOST: usize = 12;
        match self {
            Hint::Near(name) => write!(f, "did you mean \"{name}\"?"),
            Hint::Table(table) => write!(f, "write parameters in a table: {table}"),
            Hint::OneOf(names) if names.is_empty() => f.write_str("there is none"),
            Hint::OneOf(names) => {
                write!(f, "use one of {}", names[..names.len().min(MOST)].join(", "))?;
                if names.len() > MOST { write!(f, " and {} more", names.len() - MOST) } else { Ok(()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parameters_is_shown_as_a_table() {
        let hint = |name| Hint::for_name(name, ["aimd", "cubic"]).to_string();
        assert_eq!(hint("aimd(increase=nan)"), "write parameters in a table: { kind = \"aimd\", increase=nan }");
        assert_eq!(hint("amd(increase=1)"), "use one of aimd, cubic");
    }

    #[test]
    fn a_name_without_its_version_is_none_of_them() {
        let hint = |name| Hint::for_name(name, ["bbr1", "bbr3", "aimd", "aimd-fc"]).to_string();
        assert_eq!(hint("bbr"), "use one of bbr1, bbr3");
        assert_eq!(hint("BBR"), "use one of bbr1, bbr3");
        assert_eq!(hint("bbr(beta=0.5)"), "use one of bbr1, bbr3, aimd, aimd-fc");
        assert_eq!(hint("aim"), "did you mean \"aimd\"?");
    }

    #[test]
    fn near_names_are_suggested_and_far_ones_listed() {
        let known = ["aimd", "aimd-fc", "new-aimd"];
        assert_eq!(Hint::for_name("new-amd", known).to_string(), "did you mean \"new-aimd\"?");
        assert_eq!(Hint::for_name("AIMD", known).to_string(), "did you mean \"aimd\"?");
        assert_eq!(Hint::for_name("bbr", known).to_string(), "use one of aimd, aimd-fc, new-aimd");
        assert_eq!(Hint::for_name("sprout", ["sqrt", "iiad"]).to_string(), "use one of sqrt, iiad");
        assert_eq!(Hint::for_name("west", ["westwood", "veno"]).to_string(), "did you mean \"westwood\"?");
        assert_eq!(Hint::for_name("kept", ["keep"]).to_string(), "did you mean \"keep\"?");
        assert_eq!(Hint::for_name("x", []).to_string(), "there is none");
        let many = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"];
        assert_eq!(Hint::for_name("xx", many).to_string(), "use one of a, b, c, d, e, f, g, h, i, j, k, l and 2 more");
        let twelve = Hint::for_name("xx", many[..12].iter().copied());
        assert_eq!(twelve.to_string(), "use one of a, b, c, d, e, f, g, h, i, j, k, l");
    }
}
