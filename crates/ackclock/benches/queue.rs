//! Measures the cost of a packet in each queue discipline alone. Each queue receives the same arrivals at 0.9, 1.0
//! and 1.1 of the link rate.

use std::hint::black_box;

use ackclock::contract::Item;
use ackclock::qdisc::{
    DropTail, Drr, DrrParameters, Ecn, Gaps, Limit, Outside, Qdisc, Queue, Red, RedMode, RedParameters, Rio,
    RioParameters, Sfq,
};
use ackclock::rng::{Rng, RngStreams};
use ackclock::units::{Duration, Instant};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const ARRIVALS: usize = 50_000;
const SLOT: Duration = Duration::from_micros(120);
const LIMIT: Limit = Limit::Packets(60);

/// Makes an empty queue.
type Fresh = fn() -> Queue<Item>;

/// Poisson arrivals at so many packets a slot.
fn arrivals(load: f64) -> Vec<Instant> {
    let mut rngs = RngStreams::new(1, 0).stream("arrivals", "bench");
    let mut now = Instant::ZERO;
    let next = |_| {
        now += Duration::from_secs_f64_round(-libm::log(1.0 - rngs.next_f64()) * SLOT.as_secs_f64() / load);
        now
    };
    (0..ARRIVALS).map(next).collect()
}

/// Flows that take part, every other of them in profile.
const FLOWS: u64 = 16;

/// Sends the arrivals through a link with this queue. Returns the number of packets that left it.
fn serve(mut queue: Queue<Item>, arrivals: &[Instant]) -> u32 {
    let mut free_at = Instant::ZERO;
    let mut served = 0;
    for (number, &now) in arrivals.iter().enumerate() {
        while free_at <= now && queue.dequeue(free_at, &mut ()).is_some() {
            free_at += SLOT;
            served += 1;
        }
        let flow = number as u64 % FLOWS;
        let in_profile = flow.is_multiple_of(2);
        let packet = Item {
            number: 0,
            flow,
            bytes: 1500,
            ecn: Ecn::NotEct,
            in_profile,
            tag: ackclock::qdisc::Tag::NONE,
            corrupted: false,
        };
        if free_at > now {
            queue.enqueue(now, packet, &mut ());
        } else if black_box(queue.bypass(now, now.since(free_at), packet, &mut ())).is_some() {
            free_at = now + SLOT;
            served += 1;
        }
    }
    served
}

fn drop_tail() -> Queue<Item> {
    Queue::DropTail(DropTail::new(LIMIT))
}

fn red() -> Queue<Item> {
    Queue::Red(Box::new(Red::new(LIMIT, thresholds(), rng("red"))))
}

const TURNS: DrrParameters = DrrParameters { quantum: 1500, buckets: None };

fn drr() -> Queue<Item> {
    Queue::Drr(Box::new(Drr::new(LIMIT, TURNS)))
}

fn sfq() -> Queue<Item> {
    let turns = DrrParameters { buckets: Some(128), ..TURNS };
    Queue::Sfq(Box::new(Sfq::new(LIMIT, turns, Some(Duration::from_secs(10)), rng("sfq"))))
}

fn rio() -> Queue<Item> {
    let inside = RedParameters { min: 80.0, max: 140.0, ..thresholds() };
    let parameters = RioParameters { inside, outside: Outside::Red(thresholds()), push_out: true };
    Queue::Rio(Box::new(Rio::new(LIMIT, parameters, rng("in"), rng("out"))))
}

fn rng(purpose: &str) -> Rng {
    RngStreams::new(1, 0).stream(purpose, "bench")
}

/// The thresholds and the weight that the simulator takes for such a link.
fn thresholds() -> RedParameters {
    RedParameters {
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
    }
}

fn queues(bench: &mut Criterion) {
    for load in [0.9, 1.0, 1.1] {
        let schedule = arrivals(load);
        let mut group = bench.benchmark_group(format!("load {load}"));
        group.throughput(Throughput::Elements(ARRIVALS as u64));
        let queues: [(&str, Fresh); 5] =
            [("drop-tail", drop_tail), ("red", red), ("drr", drr), ("sfq", sfq), ("rio", rio)];
        for (name, queue) in queues {
            group.bench_with_input(BenchmarkId::from_parameter(name), &schedule, |bencher, schedule| {
                bencher.iter(|| serve(queue(), schedule));
            });
        }
    }
}

criterion_group!(benches, queues);
criterion_main!(benches);
