//! The run of a script: its events in their order, and timers between them.
//!
//! At equal times, segments arrive first, then timers expire, then the application acts, as in a simulation.

use std::collections::VecDeque;

use super::ScriptError;
use super::expression::{Scope, Statement};
use super::host::{Host, Returned, Sent};
use super::packet::{Flags, Packet};
use super::report::{Answer, Mismatch, Note, Outcome, Report};
use super::script::{Action, Call, Event, Script, When};
use super::timestamps::Timestamps;
use crate::ecn::Ecn;
use crate::units::{Duration, Instant};

/// How long a segment without a time (`*`) is expected.
const PATIENCE: Duration = Duration::from_secs(1_000);

/// A script as it runs.
#[derive(Debug)]
pub struct Run<'a, H> {
    script: &'a Script,
    host: &'a mut H,
    timestamps: Timestamps,
    /// A call that waits, with its line.
    waiting: Option<(u32, &'a Call)>,
    answers: Vec<Answer>,
    segments: u64,
    /// The sent segments that no line has matched yet.
    sent: VecDeque<Sent>,
    now: Instant,
    /// When the last event happened by the script: `+` counts from here.
    base: Instant,
    notes: Vec<Note>,
    /// The values that its code has assigned.
    values: Vec<f64>,
    timers: u64,
    max_segments: u64,
}

/// Why a run ends early.
enum Stop {
    Mismatch { expected: String, seen: String },
    Error(String),
}

impl From<String> for Stop {
    fn from(message: String) -> Self {
        Stop::Error(message)
    }
}

/// When an event may happen.
#[derive(Clone, Copy)]
struct Span {
    earliest: Instant,
    latest: Instant,
}

impl<'a, H: Host> Run<'a, H> {
    /// A run at its start. One that sends more than `max_segments` is given up.
    pub fn new(script: &'a Script, host: &'a mut H, max_segments: u64) -> Self {
        Run {
            script,
            host,
            timestamps: Timestamps::default(),
            waiting: None,
            answers: Vec::new(),
            segments: 0,
            sent: VecDeque::new(),
            now: Instant::ZERO,
            base: Instant::ZERO,
            notes: Vec::new(),
            values: vec![0.0; script.names],
            timers: 0,
            max_segments,
        }
    }

    /// Runs to the end or to the first difference.
    pub fn finish(mut self) -> Report {
        let mut outcome = Outcome::Passed;
        let script = self.script;
        for event in &script.events {
            let line = event.line;
            match self.step(event) {
                Ok(()) => continue,
                Err(Stop::Mismatch { expected, seen }) => outcome = Outcome::Failed(Mismatch { line, expected, seen }),
                Err(Stop::Error(message)) => {
                    outcome = Outcome::Unreadable(ScriptError { line, message, is_elsewhere: false });
                }
            }
            break;
        }
        if outcome == Outcome::Passed
            && let Some(first) = self.sent.front()
        {
            let line = self.script.events.last().map_or(1, |event| event.line);
            let message = format!("{} more segments were sent, the first: {}", self.sent.len(), show(first));
            self.notes.push(Note { line, message });
        }
        if outcome == Outcome::Passed
            && let Some((line, call)) = self.waiting
        {
            self.notes.push(Note { line, message: format!("{} still waits at the end of the script", call.name) });
        }
        Report { outcome, notes: self.notes, segments: self.segments, answers: self.answers }
    }

    fn step(&mut self, event: &'a Event) -> Result<(), Stop> {
        let span = self.span(event.when)?;
        let at = span.earliest.max(self.now);
        if let Action::Leaves(expected) = &event.action {
            let taken_at = self.expect(event.line, expected, span)?;
            self.now = self.now.max(taken_at);
            // The script's own time continues exactly where the script gives one.
            self.base = if span.earliest == span.latest { span.earliest } else { taken_at.max(self.base) };
            return Ok(());
        }
        self.base = at;
        match &event.action {
            Action::Arrives(packet) => {
                self.run_timers(|deadline| deadline < at)?;
                self.now = at;
                self.host.on_packet(at, &self.timestamps.in_host(packet))?;
                self.collect()
            }
            Action::Call(call) => {
                self.run_to(at)?;
                self.call(event.line, call)
            }
            Action::Code(code) => {
                self.run_to(at)?;
                code.iter().try_for_each(|statement| self.execute(statement))
            }
            Action::Shell(command) => {
                self.run_to(at)?;
                let notes = self.host.shell(at, command)?;
                self.notes.extend(notes.into_iter().map(|message| Note { line: event.line, message }));
                self.collect()
            }
            Action::Leaves(_) => unreachable!("invariant: handled above"),
        }
    }

    fn span(&self, when: When) -> Result<Span, Stop> {
        match when {
            When::Any => Ok(Span { earliest: Instant::ZERO, latest: self.now + PATIENCE }),
            When::Between { relative, earliest, latest } => {
                let start = if relative { self.base } else { Instant::ZERO };
                let span = Span { earliest: start + earliest, latest: start + latest };
                if span.earliest < self.base {
                    return Err(Stop::Error(format!("time runs backwards: the event before was at {}", self.base)));
                }
                Ok(span)
            }
        }
    }

    // ---- time ----

    /// Everything that is due by `at` happens, and it is `at`.
    fn run_to(&mut self, at: Instant) -> Result<(), Stop> {
        self.run_timers(|deadline| deadline <= at)?;
        self.now = at;
        Ok(())
    }

    /// Timers go off in order as long as `due` says so.
    fn run_timers(&mut self, due: impl Fn(Instant) -> bool) -> Result<(), Stop> {
        while let Some(deadline) = self.host.next_deadline().filter(|deadline| due(*deadline)) {
            self.run_timer(deadline)?;
        }
        Ok(())
    }

    fn run_timer(&mut self, deadline: Instant) -> Result<(), Stop> {
        self.now = self.now.max(deadline);
        self.host.on_deadline(self.now)?;
        self.timers += 1;
        self.collect()
    }

    fn collect(&mut self) -> Result<(), Stop> {
        let before = self.sent.len();
        self.host.take_sent(&mut self.sent);
        self.sent.iter().skip(before).for_each(|sent| self.timestamps.sent(&sent.packet));
        self.segments += (self.sent.len() - before) as u64;
        if self.segments + self.timers > self.max_segments {
            return Err(Stop::Error(format!("more than {} segments are sent", self.max_segments)));
        }
        if self.waiting.is_some()
            && let Some(returned) = self.host.take_returned(self.now)?
            && let Some((line, call)) = self.waiting.take()
        {
            self.returned(line, call, returned)?;
        }
        Ok(())
    }

    // ---- checks of a line ----

    /// Expects a segment, or an equivalent burst, within `span`. Returns its time.
    fn expect(&mut self, line: u32, expected: &Packet, span: Span) -> Result<Instant, Stop> {
        let tolerance = self.host.tolerance(span.earliest.since(self.base.min(span.earliest)));
        let until = span.latest + tolerance;
        while self.sent.is_empty()
            && let Some(deadline) = self.host.next_deadline().filter(|deadline| *deadline <= until)
        {
            self.run_timer(deadline)?;
        }
        let wanted = format!("> {expected} at {}", show_span(span));
        let Some(first) = self.sent.pop_front() else {
            let next = match self.host.next_deadline() {
                Some(deadline) => format!("the next timer goes off at {deadline}"),
                None => "no timer runs".to_owned(),
            };
            self.answers.push(Answer { line, at: self.now, segment: None });
            return Err(Stop::Mismatch { expected: wanted, seen: format!("no segment ({next})") });
        };
        let burst = self.take_burst(first, expected.len);
        let seen = self.timestamps.in_script(&burst.packet, expected);
        self.answers.push(Answer { line, at: burst.at, segment: Some(compared(expected, &seen).to_string()) });
        let on_time = burst.at + tolerance >= span.earliest && burst.at <= until;
        if on_time && agrees(expected, &seen) {
            return Ok(burst.at);
        }
        Err(Stop::Mismatch { expected: wanted, seen: format!("> {seen} at {}", burst.at) })
    }

    /// Joins segments that follow each other at once until they have `len` bytes.
    fn take_burst(&mut self, first: Sent, len: u32) -> Sent {
        let mut burst = first;
        while burst.packet.len > 0
            && burst.packet.len < len
            && !burst.packet.flags.has(Flags::FIN)
            && let Some(next) = self.sent.front()
            && next.at == burst.at
            && next.packet.seq == burst.packet.seq + burst.packet.len
            && next.packet.len > 0
            && next.packet.ecn == burst.packet.ecn
            && next.packet.len <= len - burst.packet.len
        {
            burst.packet.len += next.packet.len;
            burst.packet.flags = burst.packet.flags.with(next.packet.flags);
            self.sent.pop_front();
        }
        burst
    }

    fn call(&mut self, line: u32, call: &'a Call) -> Result<(), Stop> {
        if let Some((line, waiting)) = self.waiting {
            return Err(Stop::Error(format!("{} of line {line} still waits", waiting.name)));
        }
        match self.host.call(self.now, call)? {
            Some(returned) => self.returned(line, call, returned)?,
            None if call.may_wait => self.waiting = Some((line, call)),
            None => {
                return Err(Stop::Mismatch {
                    expected: format!("{} returns at once", call.name),
                    seen: "the call waits".to_owned(),
                });
            }
        }
        self.collect()
    }

    /// Checks the result of a call.
    fn returned(&mut self, line: u32, call: &Call, returned: Returned) -> Result<(), Stop> {
        self.notes.extend(returned.note.map(|message| Note { line, message }));
        let errno_agrees = call.errno.is_none() || call.errno.as_deref() == returned.errno;
        if call.result.is_none_or(|value| value == returned.value) && errno_agrees {
            return Ok(());
        }
        let show =
            |value: i64, errno: Option<&str>| format!("{value} {}", errno.unwrap_or_default()).trim_end().to_owned();
        Err(Stop::Mismatch {
            expected: format!("{} = {}", call.name, show(call.result.unwrap_or(-1), call.errno.as_deref())),
            seen: show(returned.value, returned.errno),
        })
    }

    fn execute(&mut self, statement: &Statement) -> Result<(), Stop> {
        let reading = self.host.reading(self.now)?;
        let reading =
            reading.ok_or_else(|| Stop::Error("there is no connection whose fields code could read".to_owned()));
        let scope = Scope { reading: &reading?, values: &self.values };
        match statement {
            Statement::Assign { index, value } => self.values[*index] = value.value(scope),
            Statement::Assert(assertion) if !assertion.holds(scope) => {
                let expected = format!("{} (line {})", assertion.text, assertion.line);
                return Err(Stop::Mismatch { expected, seen: assertion.values(scope) });
            }
            Statement::Assert(_) => {}
        }
        Ok(())
    }
}

/// PSH is not compared, because stacks set it at different places. Neither is the window of a receiver without a
/// limit.
fn agrees(expected: &Packet, seen: &Packet) -> bool {
    expected.flags.without(Flags::PSH) == seen.flags.without(Flags::PSH)
        && (expected.seq, expected.len, expected.ack) == (seen.seq, seen.len, seen.ack)
        && (expected.options.is_none() || expected.options == seen.options)
        && (expected.window.is_none() || seen.window.is_none_or(|window| expected.window == Some(window)))
        && (expected.ecn.is_none() || expected.ecn == Some(seen.ecn.unwrap_or(Ecn::NotEct)))
}

/// A segment without the fields that the script leaves open.
fn compared(expected: &Packet, seen: &Packet) -> Packet {
    Packet {
        ecn: seen.ecn.filter(|_| expected.ecn.is_some()),
        window: seen.window.filter(|_| expected.window.is_some()),
        options: seen.options.clone().filter(|_| expected.options.is_some()),
        flags: seen.flags.without(Flags::PSH).with(expected.flags.only(Flags::PSH)),
        ..*seen
    }
}

fn show(sent: &Sent) -> String {
    format!("> {} at {}", sent.packet, sent.at)
}

fn show_span(span: Span) -> String {
    if span.earliest == span.latest {
        span.earliest.to_string()
    } else {
        format!("{} to {}", span.earliest, span.latest)
    }
}
