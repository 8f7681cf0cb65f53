//! Packets from outside of a simulation arrive as in a network with a clock, after the bounds of the simulation.

use std::sync::atomic::AtomicBool;

use ackclock::qdisc::Ecn;
use ackclock::sim::{Direction, FlowId, OutcomeEvent, OutsidePacket, PacketKind, Plan, Simulation, Stack};
use ackclock::units::{Duration, Instant};
use ackclock_scenario::Scenario;
use ackclock_wire::{Delivery, Network, Side};

/// An IPv4 packet with a TCP segment of so many bytes from the sender of a flow.
fn segment(flow: usize, seq: u32, len: u16) -> Vec<u8> {
    let mut bytes = vec![0x45, 0];
    bytes.extend((40 + len).to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    bytes.extend(Side::Sender.address(flow).octets());
    bytes.extend(Side::Receiver.address(flow).octets());
    bytes.extend([0x27, 0x10, 0x13, 0x89]);
    bytes.extend(seq.to_be_bytes());
    bytes.extend([0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
    bytes.resize(40 + usize::from(len), 0);
    bytes
}

/// Times, flows and sizes of packets that compete for a queue.
fn packets() -> Vec<(Instant, usize, u32, u16)> {
    let at = |number: u32| Instant::ZERO + Duration::from_micros(u64::from(number * number % 997) * 150);
    let mut packets: Vec<_> = (0..300)
        .map(|number| (at(number), number as usize % 3, number * 1000, 100 + (number % 13) as u16 * 100))
        .collect();
    packets.sort();
    packets
}

/// Times, flows and bytes of IP.
type Arrivals = Vec<(Instant, usize, u32)>;

fn by_clock(network: &mut Network) -> Arrivals {
    let mut arrivals = Vec::new();
    let mut deliver = |Delivery { bytes, due, .. }: Delivery<'_>| {
        let flow = Side::Receiver.flow(u32::from_be_bytes(bytes[16..20].try_into().unwrap())).unwrap();
        arrivals.push((due, flow, bytes.len() as u32));
        due
    };
    for (at, flow, seq, len) in packets() {
        network.advance(at, &mut deliver);
        network.enter(at, Side::Sender, &segment(flow, seq, len), None);
    }
    network.advance(Instant::ZERO + Duration::from_secs(9), &mut deliver);
    arrivals
}

/// Packets enter from outside. The simulation goes from news to news, or directly from packet to packet.
fn from_outside(plan: &Plan, direction: Direction, heeds_news: bool) -> Arrivals {
    let (stop, packets, mut arrivals) = (AtomicBool::new(false), packets(), Vec::new());
    let mut simulation = Simulation::new(plan);
    let mut take = |now: Instant, simulation: &mut Simulation<'_>| {
        while let Some(outcome) = simulation.take_outcome() {
            if let OutcomeEvent::Arrived { .. } = outcome.event {
                assert!(!heeds_news || outcome.at >= now, "an arrival is known before it happens");
                let (_, flow, _, len) = packets[outcome.token as usize];
                arrivals.push((outcome.at, flow, u32::from(len) + 40));
            }
        }
    };
    let mut go_to = |now: Instant, simulation: &mut Simulation<'_>| {
        let mut step = |at: Instant, simulation: &mut Simulation<'_>| {
            simulation.step(at + Duration::from_nanos(1), &stop).unwrap();
            take(at, simulation);
        };
        // Nothing that is unknown arrives before the news.
        let mut last = None;
        while let Some(news) = simulation.earliest_news(direction).filter(|news| heeds_news && *news <= now) {
            assert!(last < Some(news), "a step to the news brings later news");
            last = Some(news);
            step(news, simulation);
        }
        step(now, simulation);
    };
    for (token, (at, flow, _, len)) in packets.iter().copied().enumerate() {
        go_to(at, &mut simulation);
        let packet = OutsidePacket {
            flow: FlowId::new(flow),
            direction,
            kind: PacketKind::Data,
            token: token as u32,
            wire_len: u32::from(len) + 40,
            ecn: Ecn::NotEct,
        };
        simulation.enter(at, packet);
        go_to(at, &mut simulation);
    }
    let end = Instant::ZERO + plan.duration;
    go_to(end.before().unwrap(), &mut simulation);
    arrivals.sort();
    arrivals
}

#[test]
fn packets_from_outside_arrive_as_by_the_clock() {
    for (link, is_lossy) in [
        ("queue = { kind = 'drop-tail', limit = '20 packets' }", true),
        ("queue = { kind = 'codel' }", false),
        ("queue = { kind = 'fq-codel' }", false),
        ("queue = { kind = 'drop-tail', limit = '500 packets' }, jitter = '3 ms'", false),
        ("queue = { kind = 'drop-tail', limit = '500 packets' }, jitter = '3 ms', jitter_reorders = true", false),
        ("queue = { kind = 'drop-tail', limit = '500 packets' }, duplication = 0.1, corruption = 0.1", false),
    ] {
        let text = format!(
            "
            schema = 1
            duration = '10 s'
            sampling = {{ interval = '7 ms' }}
            topology = {{ kind = 'dumbbell', rate = '10 Mbit/s', delay = '5 ms', {link} }}
            [[flows]]
            name = 'test'
            cc = 'reno'
            count = 3
            "
        );
        let scenario = Scenario::from_toml::<&str>(&text, "s.toml", &[]).unwrap();
        let mut plan = scenario.plan(Some(7), 0);
        let mut expected = by_clock(&mut Network::new(&plan));
        expected.sort();
        plan.flows.iter_mut().for_each(|flow| flow.stack = Stack::Outside);
        assert_eq!(from_outside(&plan, Direction::Forward, true), expected, "{link}");
        assert!(!is_lossy || expected.len() < 300, "{link}: the queue drops packets");
    }
}

#[test]
fn packets_from_outside_arrive_beside_simulated_flows_as_without_news() {
    let queues = [
        "limit = '20 packets'",
        "limit = '500 packets' }, jitter = '3 ms', reverse = { jitter = '3 ms'",
        "limit = '100 packets' }, jitter = '3 ms', jitter_reorders = true, loss = { kind = 'bernoulli', probability = 0.01",
    ];
    for (queue, delay) in queues.into_iter().flat_map(|queue| ["0 ms", "5 ms"].map(|delay| (queue, delay))) {
        for (own, others) in [
            ("", "send_jitter = '1 packet'"),
            ("", "rtt = '80 ms'"),
            ("rtt = '40 ms'", ""),
            ("rtt = '40 ms'", "rtt = '80 ms', send_jitter = '1 packet'"),
        ] {
            let text = format!(
                "
                schema = 1
                duration = '2 s'
                topology = {{ kind = 'dumbbell', rate = '20 Mbit/s', delay = '{delay}', queue = {{ kind = 'drop-tail', {queue} }} }}
                flows = [
                    {{ name = 'test', cc = 'reno', count = 3, {own} }},
                    {{ name = 'others', cc = 'cubic', count = 4, profile = 'linux', {others} }},
                ]
                "
            );
            let scenario = Scenario::from_toml::<&str>(&text, "s.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
            let mut plan = scenario.plan(Some(7), 0);
            plan.flows.iter_mut().take(3).for_each(|flow| flow.stack = Stack::Outside);
            for direction in [Direction::Forward, Direction::Reverse] {
                let arrivals = |heeds_news: bool| from_outside(&plan, direction, heeds_news);
                assert_eq!(arrivals(true), arrivals(false), "{queue}, {delay}, {own}, {others}, {direction:?}");
            }
        }
    }
}
