//! What a queue discipline costs, the queue alone: each meets the same arrivals at a link that carries a packet in
//! every slot, at nine tenths, the whole, and eleven tenths of its rate.

use std::hint::black_box;

use ackclock::contract::Item;
use ackclock::luck::Luck;
use ackclock::qdisc::{DropTail, Ecn, Gaps, Limit, Qdisc, Queue, Red, RedMode, RedParameters};
use ackclock::units::{Duration, Instant};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const ARRIVALS: usize = 50_000;
const SLOT: Duration = Duration::from_micros(120);
const LIMIT: Limit = Limit::Packets(60);

/// Poisson arrivals at so many packets a slot.
fn arrivals(load: f64) -> Vec<Instant> {
    let mut luck = Luck::new(1, 0).stream("arrivals", "bench");
    let mut now = Instant::ZERO;
    let next = |_| {
        now += Duration::from_secs_f64_round(-libm::log(1.0 - luck.next_f64()) * SLOT.as_secs_f64() / load);
        now
    };
    (0..ARRIVALS).map(next).collect()
}

/// Puts the arrivals through a link with this queue; how many left it.
fn serve(mut queue: Queue<Item>, arrivals: &[Instant]) -> u32 {
    let mut free_at = Instant::ZERO;
    let mut served = 0;
    for &now in arrivals {
        while free_at <= now && queue.dequeue(free_at).is_some() {
            free_at += SLOT;
            served += 1;
        }
        let mut packet =
            Item { number: 0, flow: 0, bytes: 1500, ecn: Ecn::NotEct, in_profile: false, corrupted: false };
        if free_at > now {
            black_box(queue.enqueue(now, packet));
        } else {
            black_box(queue.pass(now, now.since(free_at), &mut packet));
            free_at = now + SLOT;
            served += 1;
        }
    }
    served
}

fn drop_tail() -> Queue<Item> {
    Queue::DropTail(DropTail::new(LIMIT))
}

/// The thresholds and the weight that the simulator takes for such a link.
fn red() -> Queue<Item> {
    let parameters = RedParameters {
        mode: RedMode::Packets,
        min: 20.0,
        max: 60.0,
        max_p: 0.1,
        weight: 0.000_12,
        gentle: true,
        mean_packet: 1500,
        packets_per_second: 1.0 / SLOT.as_secs_f64(),
        drop_by_size: false,
        gaps: Gaps::Wait,
        spares_short: true,
        adaptive: None,
        ecn: false,
        mark_below: 1.0,
        hard_drop: true,
    };
    Queue::Red(Box::new(Red::new(LIMIT, parameters, Luck::new(1, 0).stream("red", "bench"))))
}

fn queues(bench: &mut Criterion) {
    for load in [0.9, 1.0, 1.1] {
        let schedule = arrivals(load);
        let mut group = bench.benchmark_group(format!("load {load}"));
        group.throughput(Throughput::Elements(ARRIVALS as u64));
        for (name, queue) in [("drop-tail", drop_tail as fn() -> _), ("red", red)] {
            group.bench_with_input(BenchmarkId::from_parameter(name), &schedule, |bencher, schedule| {
                bencher.iter(|| serve(queue(), schedule));
            });
        }
    }
}

criterion_group!(benches, queues);
criterion_main!(benches);
