//! Arrivals ahead of time are the arrivals of a network that is stepped by a clock.

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

type Arrivals = Vec<(Instant, usize, Vec<u8>)>;

fn by_clock(network: &mut Network) -> Arrivals {
    let mut arrivals = Vec::new();
    let mut deliver = |Delivery { to, bytes, due }: Delivery<'_>| {
        arrivals.push((due, to as usize, bytes.to_vec()));
        due
    };
    for (at, flow, seq, len) in packets() {
        network.advance(at, &mut deliver);
        network.enter(at, Side::Sender, &segment(flow, seq, len), None);
    }
    network.advance(Instant::ZERO + Duration::from_secs(9), &mut deliver);
    arrivals
}

fn ahead(network: &mut Network) -> Arrivals {
    let mut arrivals = Vec::new();
    let mut take = |now: Instant, network: &mut Network| {
        while let Some(at) = network.next_certain(Side::Receiver) {
            assert!(at >= now, "an arrival is known before it happens");
            network.take_certain(Side::Receiver, |packet| {
                arrivals.push((packet.at, Side::Receiver as usize, packet.bytes.to_vec()));
            });
        }
    };
    let mut go_to = |now: Instant, network: &mut Network| {
        // Nothing that is unknown arrives before the news.
        while let Some(news) = network.earliest_news(Side::Receiver).filter(|news| *news <= now) {
            network.advance(news, |_| unreachable!("nothing is delivered by the clock"));
            take(news, network);
        }
        network.advance(now, |_| unreachable!("nothing is delivered by the clock"));
        take(now, network);
    };
    for (at, flow, seq, len) in packets() {
        go_to(at, network);
        network.enter(at, Side::Sender, &segment(flow, seq, len), None);
        go_to(at, network);
    }
    go_to(Instant::ZERO + Duration::from_secs(9), network);
    arrivals.sort();
    arrivals
}

#[test]
fn arrivals_ahead_of_time_are_those_of_the_clock() {
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
            topology = {{ kind = 'dumbbell', rate = '10 Mbit/s', delay = '5 ms', {link} }}
            [[flows]]
            name = 'test'
            cc = 'reno'
            count = 3
            "
        );
        let scenario = Scenario::from_toml::<&str>(&text, "s.toml", &[]).unwrap();
        let plan = scenario.plan(Some(7), 0);
        let (mut clocked, mut virtual_time) = (Network::new(&plan), Network::in_virtual_time(&plan));
        let mut expected = by_clock(&mut clocked);
        expected.sort();
        assert_eq!(ahead(&mut virtual_time), expected, "{link}");
        assert!(!is_lossy || expected.len() < 300, "{link}: the queue drops packets");
        for (one, other) in clocked.accounts.iter().zip(&virtual_time.accounts) {
            assert_eq!(one.wire_bytes(), other.wire_bytes(), "{link}");
        }
    }
}
