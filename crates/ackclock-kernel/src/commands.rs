//! The commands to the guests of a run, each with its time: the applications and the looks.

use std::collections::VecDeque;

use ackclock::sim::{FlowPlan, LinkId, Plan, Traffic};
use ackclock::units::{Duration, Instant, NANOS_PER_SEC};
use ackclock_wire::{Side, kernels_flows, options_len};

use crate::shared::Kind;

/// Time between two reports of the connections, and the part of the shortest base RTT that bounds it.
const TICK: Duration = Duration::from_millis(5);
const PER_RTT: u64 = 4;
const LEAST_TICK: Duration = Duration::from_millis(1);
/// Bytes that a sender has ready beyond those in flight, as in the emulator.
const AHEAD: u32 = 1 << 17;
/// The port of a flow's sender is this number and its index.
const FIRST_PORT: u16 = 10_000;
/// A flow that writes without an end.
const FOREVER: u64 = u64::MAX;

/// A command.
#[derive(Clone, Debug)]
pub struct Command {
    /// When it takes effect.
    pub at: Instant,
    /// Its kind.
    pub kind: Kind,
    /// The flow that it concerns.
    pub flow: u16,
    /// Its content.
    pub content: Vec<u8>,
}

/// The commands of a host, in the order of their times.
#[derive(Debug, Default)]
pub struct Commands {
    applications: VecDeque<Command>,
    looks: VecDeque<Command>,
}

impl Commands {
    /// The commands of the host on this side. `algorithm` returns the kernel's name of a flow's algorithm.
    pub fn new<'a>(plan: &Plan, side: Side, algorithm: impl Fn(usize) -> &'a str, looks: &[Instant]) -> Self {
        let mut applications = Vec::new();
        let subflows = &plan.kernel.subflows;
        let is_further = |index: usize| subflows.iter().skip(1).any(|flow| flow.number() == index);
        for (index, flow) in kernels_flows(plan).filter(|(index, _)| !is_further(*index)) {
            let opens = subflows.first().is_some_and(|first| first.number() == index);
            let kind = if opens { Kind::OpenMultipath } else { Kind::Open };
            let open =
                Command { at: flow.start, kind, flow: index as u16, content: open(index, flow, algorithm(index)) };
            match side {
                Side::Sender => application(open, flow, Instant::ZERO + plan.duration, &mut applications),
                Side::Receiver if opens => applications.push(Command { at: Instant::ZERO, ..open }),
                Side::Receiver => {}
            }
        }
        applications.sort_by_key(|command| command.at);
        let look = |(number, at): (usize, &Instant)| Command {
            at: *at,
            kind: Kind::Look,
            flow: 0,
            content: (number as u64).to_ne_bytes().to_vec(),
        };
        Commands { applications: applications.into(), looks: looks.iter().enumerate().map(look).collect() }
    }

    /// The time of the next command after which the host may send.
    pub fn next_application(&self) -> Option<Instant> {
        self.applications.front().map(|command| command.at)
    }

    /// The time of the next command.
    pub fn next(&self) -> Option<Instant> {
        let looks = self.looks.front().map(|command| command.at);
        self.next_application().into_iter().chain(looks).min()
    }

    /// Takes the next command. A look precedes the other commands of its time.
    pub fn take(&mut self) -> Option<Command> {
        match (self.looks.front(), self.applications.front()) {
            (Some(look), Some(other)) if other.at < look.at => self.applications.pop_front(),
            (Some(_), _) => self.looks.pop_front(),
            (None, _) => self.applications.pop_front(),
        }
    }
}

/// The commands of a flow's sender, which begin with `open`.
fn application(open: Command, flow: &FlowPlan, end: Instant, commands: &mut Vec<Command>) {
    let number = open.flow;
    let mut add = |at: Instant, kind: Kind, content: Vec<u8>| {
        if at <= end {
            commands.push(Command { at, kind, flow: number, content });
        }
    };
    let write = |bytes: u64| bytes.to_ne_bytes().to_vec();
    add(flow.start, open.kind, open.content);
    match flow.traffic {
        Traffic::Transfer { bytes } => {
            add(flow.start, Kind::Write, write(bytes));
            add(flow.start, Kind::End, Vec::new());
        }
        Traffic::RateLimited { rate } => {
            let segment = u64::from(flow.transport.mss);
            let stop = flow.stop.unwrap_or(end).min(end);
            let at = |number: u64| {
                let bits = u128::from(number * segment) * 8 * u128::from(NANOS_PER_SEC);
                flow.start + Duration::from_nanos((bits / u128::from(rate.as_bps())) as u64)
            };
            let times = (0..).map(at).take_while(|at| *at < stop);
            times.for_each(|at| add(at, Kind::Write, write(segment)));
        }
        _ => add(flow.start, Kind::Write, write(FOREVER)),
    }
    if let Some(stop) = flow.stop {
        add(stop, Kind::End, Vec::new());
    }
}

/// `struct ackclock_open` of guest/agent/shared.h.
fn open(index: usize, flow: &FlowPlan, algorithm: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32);
    bytes.extend(Side::Sender.address(index).octets());
    bytes.extend(Side::Receiver.address(index).octets());
    bytes.extend((FIRST_PORT + index as u16).to_ne_bytes());
    // This bound of the kernel includes the option of timestamps.
    bytes.extend(((flow.transport.mss + options_len(&flow.transport)) as u16).to_ne_bytes());
    bytes.extend(AHEAD.to_ne_bytes());
    bytes.extend(algorithm.bytes().chain(std::iter::repeat(0)).take(16));
    bytes
}

/// The times of all looks.
pub fn looks(plan: &Plan) -> Vec<Instant> {
    let (start, end) = (Instant::ZERO, Instant::ZERO + plan.duration);
    let delay = |path: &[LinkId]| path.iter().map(|link| plan.links[*link].delay.as_nanos()).sum::<u64>();
    let shortest = kernels_flows(plan).map(|(_, flow)| delay(&flow.forward) + delay(&flow.reverse)).min();
    let tick = Duration::from_nanos(shortest.unwrap_or(0) / PER_RTT).clamp(LEAST_TICK, TICK);
    let every = |step: Duration| {
        (0..).map(move |number| start + Duration::from_nanos(step.as_nanos() * number)).take_while(move |at| *at < end)
    };
    let mut times: Vec<_> = every(tick).chain([start + plan.warmup, end]).collect();
    times.extend(plan.sampling.interval.into_iter().flat_map(every));
    times.sort_unstable();
    times.dedup();
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_scenario::Scenario;

    fn commands(traffic: &str) -> Vec<(u64, Kind, Vec<u8>)> {
        let text = format!(
            "
            schema = 1
            duration = '1 s'
            warmup = '0 s'
            topology = {{ kind = 'dumbbell', rate = '10 Mbit/s', delay = '10 ms' }}
            [[flows]]
            name = 'test'
            cc = 'reno'
            {traffic}
            "
        );
        let plan = Scenario::from_toml::<&str>(&text, "s.toml", &[]).unwrap().plan(None, 0);
        let mut commands = Commands::new(&plan, Side::Sender, |_| "reno", &[Instant::ZERO]);
        let mut all = Vec::new();
        while let Some(command) = commands.take() {
            all.push((command.at.as_nanos() / 1_000_000, command.kind, command.content));
        }
        all
    }

    #[test]
    fn a_flow_opens_writes_and_ends_at_its_times() {
        let kinds = |traffic: &str| -> Vec<_> {
            commands(traffic).into_iter().map(|(millis, kind, _)| (millis, kind)).collect()
        };
        assert_eq!(kinds("")[..], [(0, Kind::Look), (0, Kind::Open), (0, Kind::Write)]);
        assert_eq!(
            kinds("start = '200 ms'\nstop = '700 ms'")[..],
            [(0, Kind::Look), (200, Kind::Open), (200, Kind::Write), (700, Kind::End)]
        );
        let transfer = commands("traffic = { kind = 'transfer', size = '5 kB' }");
        assert_eq!(transfer[2], (0, Kind::Write, 5_000_u64.to_ne_bytes().to_vec()));
        assert_eq!(transfer[3], (0, Kind::End, Vec::new()));
    }

    #[test]
    fn a_source_of_constant_rate_writes_segment_by_segment() {
        let commands = commands("mss = '1000 B'\ntraffic = { kind = 'rate-limited', rate = '80 kbit/s' }");
        let writes: Vec<_> = commands.iter().filter(|(_, kind, _)| *kind == Kind::Write).collect();
        assert_eq!(
            writes.iter().map(|(millis, ..)| *millis).collect::<Vec<_>>(),
            [0, 100, 200, 300, 400, 500, 600, 700, 800, 900]
        );
    }

    #[test]
    fn looks_include_samples_the_warm_up_and_the_end() {
        let text = "
            schema = 1
            duration = '1 s'
            warmup = '333 ms'
            sampling = { interval = '7 ms' }
            topology = { kind = 'dumbbell', rate = '10 Mbit/s', delay = '10 ms' }
            [[flows]]
            name = 'test'
            cc = 'reno'
        ";
        let plan = Scenario::from_toml::<&str>(text, "s.toml", &[]).unwrap().plan(None, 0);
        let millis: Vec<_> = looks(&plan).iter().map(|at| at.as_nanos() / 1_000_000).collect();
        assert_eq!(millis[..5], [0, 5, 7, 10, 14]);
        assert!(millis.contains(&333) && millis.ends_with(&[1000]) && millis.is_sorted());
    }
}
