//! The applications at both ends: they connect, write, read, and sample the kernel's state of each connection.

use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use ackclock::probe::FlowSamples;
use ackclock::sim::{FlowPlan, Plan, Traffic};
use ackclock::units::{Duration, Instant, NANOS_PER_SEC};
use ackclock_bpf::kernel::Link;
use ackclock_wire::{Algorithms, Reading, Readings, Refused, Side, options_len, record_sample};

use crate::error::{EmulationError, Tried};
use crate::forwarder::{Clock, Shared};
use crate::host::Host;
use crate::sys::{self, Waiting};

/// Time between two samples of a connection.
const TICK: Duration = Duration::from_millis(5);
const PORT: u16 = 5001;
/// Bytes that a sender has ready beyond those in flight.
const AHEAD: u32 = 1 << 17;
/// A receiver reads each segment up to 100 Mbit/s, and data of this time at higher rates.
const READ_EVERY: Duration = Duration::from_micros(100);
/// A receiver that waits for more data than this would enlarge its buffer.
const MOST_UNREAD: u128 = 1 << 16;

/// The connections of a plan before they begin.
pub struct Sockets {
    listener: OwnedFd,
    senders: Vec<OwnedFd>,
}

impl Sockets {
    /// Makes them in the namespaces of the hosts.
    pub fn make(
        plan: &Plan,
        algorithms: &Algorithms<Option<Link>>,
        [sending, receiving]: [&Host; 2],
    ) -> Result<Self, EmulationError> {
        let segment = |flow: &FlowPlan| {
            // This bound includes the option of timestamps.
            flow.transport.mss + options_len(&flow.transport)
        };
        let listener = receiving.within(|| {
            let listener = sys::socket(libc::SOCK_STREAM)?;
            sys::bind(listener.as_fd(), Ipv4Addr::UNSPECIFIED, PORT)?;
            sys::listen(listener.as_fd(), 4096)?;
            Ok(listener)
        });
        let listener = listener.tried("the listening socket")?;
        let made = sending.within(|| plan.flows.iter().map(|_| sys::socket(libc::SOCK_STREAM)).collect());
        let senders: Vec<OwnedFd> = made.tried("the sockets of the senders")?;
        for (index, (flow, socket)) in plan.flows.iter().zip(&senders).enumerate() {
            let name = algorithms.name(index);
            sys::set_congestion_control(socket.as_fd(), name).map_err(|error| no_algorithm(flow, name, &error))?;
            let (tcp, socket) = (libc::IPPROTO_TCP, socket.as_fd());
            let abort = libc::linger { l_onoff: 1, l_linger: 0 };
            let options = sys::set_option(socket, tcp, libc::TCP_MAXSEG, &(segment(flow) as i32))
                .and_then(|()| sys::set_option(socket, tcp, libc::TCP_NOTSENT_LOWAT, &AHEAD))
                .and_then(|()| sys::set_option(socket, tcp, libc::TCP_NODELAY, &1_i32))
                // Unsent data at the end of the run are not sent afterwards.
                .and_then(|()| sys::set_option(socket, libc::SOL_SOCKET, libc::SO_LINGER, &abort))
                .and_then(|()| sys::bind(socket, Side::Sender.address(index), 0));
            options.tried("the options of a sender")?;
        }
        Ok(Sockets { listener, senders })
    }
}

fn no_algorithm(flow: &FlowPlan, name: &str, error: &std::io::Error) -> EmulationError {
    let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let message = format!("the running kernel has no algorithm {name:?} ({error}); it has {}", known.trim());
    Refused::algorithm(flow, message).into()
}

/// A connection.
struct Connection<'a> {
    plan: &'a FlowPlan,
    index: usize,
    sender: OwnedFd,
    receiver: Option<OwnedFd>,
    /// The sender has ended the connection, and everything is read.
    has_ended: bool,
    state: State,
    /// Bytes that remain to be written, or none without an end.
    left: Option<u64>,
    /// When a source of constant rate writes next.
    next_write: Instant,
    written: u64,
    reading: Reading,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Writing,
    Written,
}

impl<'a> Connection<'a> {
    fn new(plan: &'a FlowPlan, index: usize, sender: OwnedFd) -> Self {
        let left = match plan.traffic {
            Traffic::Transfer { bytes } => Some(bytes),
            _ => None,
        };
        let (next_write, state) = (plan.start, State::Waiting);
        let reading = Reading::default();
        Connection {
            plan,
            index,
            sender,
            receiver: None,
            has_ended: false,
            state,
            left,
            next_write,
            written: 0,
            reading,
        }
    }

    /// When it does something by the clock.
    fn next_time(&self) -> Option<Instant> {
        match self.state {
            State::Waiting => Some(self.plan.start),
            State::Writing if self.is_rate_limited() => Some(self.next_write),
            State::Writing => self.plan.stop,
            State::Written => None,
        }
    }

    fn is_rate_limited(&self) -> bool {
        matches!(self.plan.traffic, Traffic::RateLimited { .. })
    }

    fn wants_room(&self) -> bool {
        self.state == State::Writing && !self.is_rate_limited()
    }

    fn act(&mut self, now: Instant) -> std::io::Result<()> {
        if self.state == State::Waiting && now >= self.plan.start {
            sys::connect(self.sender.as_fd(), Side::Receiver.address(self.index), PORT)?;
            self.state = State::Writing;
        }
        if self.state == State::Writing && self.plan.stop.is_some_and(|stop| now >= stop) {
            self.end()?;
        }
        while self.state == State::Writing && self.is_rate_limited() && now >= self.next_write {
            let Traffic::RateLimited { rate } = self.plan.traffic else { break };
            // Data that do not fit are written with the next segment.
            let _ = sys::send(self.sender.as_fd(), &vec![0; self.plan.transport.mss as usize]);
            self.written += u64::from(self.plan.transport.mss);
            let after = u128::from(self.written) * 8 * u128::from(NANOS_PER_SEC) / u128::from(rate.as_bps());
            self.next_write = self.plan.start + Duration::from_nanos(after as u64);
        }
        Ok(())
    }

    /// Writes as much as the buffer accepts.
    fn write(&mut self, zeros: &[u8]) -> std::io::Result<()> {
        let most = self.left.map_or(zeros.len(), |left| left.min(zeros.len() as u64) as usize);
        let taken = match sys::send(self.sender.as_fd(), &zeros[..most]) {
            Ok(taken) => taken as u64,
            // It is still being opened, or full.
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => 0,
            // The kernel gave up the connection. Its counters show that.
            Err(_) => {
                self.state = State::Written;
                return Ok(());
            }
        };
        if let Some(left) = &mut self.left {
            *left -= taken;
            if *left == 0 {
                self.end()?;
            }
        }
        Ok(())
    }

    fn end(&mut self) -> std::io::Result<()> {
        self.state = State::Written;
        match sys::end_writing(self.sender.as_fd()) {
            // It was never opened.
            Err(error) if error.kind() == std::io::ErrorKind::NotConnected => Ok(()),
            other => other,
        }
    }

    fn look(&mut self, elapsed: Duration, is_active: bool) -> std::io::Result<()> {
        if self.state == State::Waiting {
            return Ok(());
        }
        self.reading.look(sys::tcp_info(self.sender.as_fd())?, None, elapsed, is_active);
        self.read();
        if let Some(receiver) = &self.receiver {
            self.reading.received = sys::tcp_info(receiver.as_fd())?.bytes_received();
        }
        Ok(())
    }

    /// The receiver, unless the sender has ended.
    fn reader(&self) -> Option<BorrowedFd<'_>> {
        self.receiver.as_ref().filter(|_| !self.has_ended).map(AsFd::as_fd)
    }

    /// Reads the data that have arrived.
    fn read(&mut self) {
        while let Some(receiver) = self.reader() {
            match sys::discard(receiver, 1 << 22) {
                Ok(0) => self.has_ended = true,
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => self.has_ended = true,
            }
        }
    }
}

/// Bytes for which a receiver waits.
fn least_read(plan: &Plan) -> i32 {
    let rates = plan.links.iter().filter_map(|link| link.rate);
    let slowest = rates.map(|rate| u128::from(rate.as_bps())).min().unwrap_or(u128::MAX >> 64);
    let bytes = slowest * u128::from(READ_EVERY.as_nanos()) / u128::from(8 * NANOS_PER_SEC);
    bytes.clamp(1, MOST_UNREAD) as i32
}

/// Runs the applications of a plan.
pub struct Applications<'a> {
    plan: &'a Plan,
    clock: Clock,
    shared: &'a Shared,
    listener: OwnedFd,
    connections: Vec<Connection<'a>>,
    before: Option<Vec<Reading>>,
    samples: FlowSamples,
    next_sample: Option<Instant>,
    last_look: Instant,
}

impl<'a> Applications<'a> {
    /// Creates the applications of a plan whose sockets exist. A flow never starts if `takes_part` is false for it.
    pub fn new(
        plan: &'a Plan,
        (clock, shared): (Clock, &'a Shared),
        sockets: Sockets,
        takes_part: impl Fn(&FlowPlan) -> bool,
    ) -> Self {
        let flows = plan.flows.iter().zip(sockets.senders).enumerate();
        let mut connections: Vec<_> =
            flows.map(|(index, (flow, sender))| Connection::new(flow, index, sender)).collect();
        let idle = connections.iter_mut().filter(|connection| !takes_part(connection.plan));
        idle.for_each(|connection| connection.state = State::Written);
        Applications {
            plan,
            clock,
            shared,
            listener: sockets.listener,
            connections,
            before: None,
            samples: FlowSamples::default(),
            next_sample: plan.sampling.interval.map(|_| Instant::ZERO),
            last_look: Instant::ZERO,
        }
    }

    /// Runs to the end.
    pub fn run(mut self, stop: &AtomicBool) -> Result<Readings, EmulationError> {
        sys::be_prompt(1);
        // The forwarder runs only from the start. An earlier handshake would take longer than the path.
        self.clock.wait_for_start();
        let end = Instant::ZERO + self.plan.duration;
        let zeros = vec![0; AHEAD as usize];
        while self.clock.now() < end && !stop.load(Ordering::Relaxed) && !self.shared.is_over.load(Ordering::Relaxed) {
            let now = self.clock.now();
            self.connections.iter_mut().try_for_each(|connection| connection.act(now)).tried("a connection")?;
            if now >= self.last_look + TICK || self.next_observation().is_some_and(|at| at <= now) {
                self.look(now.min(end))?;
            }
            self.wait(end, &zeros)?;
        }
        self.look(self.clock.now().min(end))?;
        let after: Vec<_> = self.connections.iter().map(|connection| connection.reading).collect();
        self.samples.complete();
        Ok(Readings { before: self.before.unwrap_or_else(|| after.clone()), after, samples: self.samples })
    }

    fn next_observation(&self) -> Option<Instant> {
        let warmup = Some(Instant::ZERO + self.plan.warmup).filter(|_| self.before.is_none());
        warmup.into_iter().chain(self.next_sample).min()
    }

    /// Waits for room, connections, or the next time, and uses them.
    fn wait(&mut self, end: Instant, zeros: &[u8]) -> Result<(), EmulationError> {
        let times = self.connections.iter().filter_map(Connection::next_time).chain(self.next_observation());
        let until = times.fold(end.min(self.last_look + TICK), Instant::min);
        let now = self.clock.now();
        let writing: Vec<usize> =
            (0..self.connections.len()).filter(|index| self.connections[*index].wants_room()).collect();
        let reading: Vec<usize> =
            (0..self.connections.len()).filter(|index| self.connections[*index].reader().is_some()).collect();
        let mut files = vec![Waiting::at(&self.listener, false)];
        files.extend(writing.iter().map(|index| Waiting::at(&self.connections[*index].sender, true)));
        let readers = reading.iter().filter_map(|index| self.connections[*index].reader());
        files.extend(readers.map(|receiver| Waiting::at(&receiver, false)));
        sys::wait(&mut files, until.since(now.min(until)).as_nanos()).tried("waiting for connections")?;
        if files[0].is_ready() {
            self.accept().tried("accepting a connection")?;
        }
        let (room, data) = files[1..].split_at(writing.len());
        for (index, file) in writing.iter().zip(room) {
            if file.is_ready() {
                self.connections[*index].write(zeros).tried("writing to a connection")?;
            }
        }
        for (index, file) in reading.iter().zip(data) {
            if file.is_ready() {
                self.connections[*index].read();
            }
        }
        Ok(())
    }

    fn accept(&mut self) -> std::io::Result<()> {
        let (socket, peer) = sys::accept(self.listener.as_fd())?;
        let flow = Side::Sender.flow(u32::from(peer)).filter(|flow| *flow < self.connections.len());
        if let Some(connection) = flow.map(|flow| &mut self.connections[flow]) {
            sys::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, &least_read(self.plan))?;
            connection.receiver = Some(socket);
        }
        Ok(())
    }

    /// Reads the kernel's state and records the samples that are due.
    fn look(&mut self, now: Instant) -> Result<(), EmulationError> {
        let elapsed = now.since(self.last_look.min(now));
        for connection in &mut self.connections {
            let has_data = connection.state == State::Writing || connection.reading.sender.unacked() > 0;
            connection.look(elapsed, has_data).tried("TCP_INFO of a connection")?;
        }
        self.last_look = now;
        if self.before.is_none() && now >= Instant::ZERO + self.plan.warmup {
            self.before = Some(self.connections.iter().map(|connection| connection.reading).collect());
        }
        while let Some(at) = self.next_sample.filter(|at| *at <= now && *at < Instant::ZERO + self.plan.duration) {
            self.sample(at);
            self.next_sample = self.plan.sampling.interval.map(|interval| at + interval);
        }
        Ok(())
    }

    fn sample(&mut self, at: Instant) {
        for (position, connection) in self.connections.iter().take(self.plan.sampled_flows()).enumerate() {
            let wire_bytes = self.shared.wire_bytes[connection.index].load(Ordering::Relaxed);
            record_sample(&mut self.samples, at, position as u32, &connection.reading, wire_bytes);
        }
    }
}
