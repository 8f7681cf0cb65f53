//! The fidelity of an emulation in time: its measurements and the verdict.

use ackclock::link::SojournTimes;
use ackclock::qdisc::Limit;
use ackclock::sim::Plan;
use ackclock::transport::Transport;
use ackclock::units::{Duration, Instant};
use serde::Serialize;

/// 99 of 100 packets come to a host no later than this after they were due.
const MOST_LATE: Duration = Duration::from_millis(1);
/// A permitted stall lasts at most this, or a tenth of the smallest base RTT if that is longer. The packets that a
/// host then sends at once are a small part of a window.
const MOST_STALL: Duration = Duration::from_millis(5);
const RTT_PART: u64 = 10;
/// It also lasts at most this fraction of the time in which the shortest queue empties. The queue then accepts the
/// packets after it.
const QUEUE_PART: u64 = 4;
/// CPU time of the thread that forwards, of the time of the run.
const MOST_CPU: f64 = 0.9;
/// CPU time that the hypervisor took.
const MOST_STEAL: f64 = 0.02;
/// Time in which hosts and not the network held a flow back.
const MOST_HOST_LIMITED: f64 = 0.01;

/// How far an emulation kept its times. Every share is of the time of the run.
#[derive(Clone, Debug, Serialize)]
pub struct Fidelity {
    /// Whether the result is one of the network, and not of a host that had no time.
    pub valid: bool,
    /// Why it is not.
    pub reasons: Vec<String>,
    /// Release of the kernel.
    pub kernel: String,
    /// Packets that came to a host.
    pub packets: u64,
    /// How much later than due packets came to a host: median.
    pub lateness_p50_s: f64,
    /// 99th percentile of the same.
    pub lateness_p99_s: f64,
    /// The largest.
    pub lateness_max_s: f64,
    /// Gaps of at least 5 ms (or the limit, if less) in which an answer of a host was due. Answers are data after
    /// ACKs, and ACKs after data.
    pub stalls: u64,
    /// The longest of them, or the longest for which the forwarding thread did not run when it was due.
    pub longest_stall_s: f64,
    /// Packets that a TUN device dropped because they were not read in time.
    pub tun_overflows: u64,
    /// Packets that a host did not take.
    pub refused_packets: u64,
    /// CPU time of the thread that forwards.
    pub cpu_share: f64,
    /// Share of the machine's CPU time that the hypervisor took, or none if it is unknown.
    pub steal_share: Option<f64>,
    /// The share of busy time in which a receive window or send buffer limited a flow, for the worst flow.
    pub host_limited_share: f64,
}

/// Measurements of the forwarding thread.
#[derive(Debug, Default)]
pub struct Timing {
    /// How much later than due packets came to a host.
    lateness: SojournTimes,
    latest: Duration,
    longest_sleep: Duration,
    pub refused_packets: u64,
    pub cpu_ns: u64,
}

impl Timing {
    /// A packet that was due came to a host.
    pub fn delivered(&mut self, due: Instant, now: Instant) {
        let late = now.since(due.min(now));
        self.lateness.record(late);
        self.latest = self.latest.max(late);
    }

    /// Records that the thread woke up late by `by`.
    pub fn overslept(&mut self, by: Duration) {
        self.longest_sleep = self.longest_sleep.max(by);
    }
}

/// Measurements of other threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    pub elapsed: Duration,
    pub stalls: u64,
    pub longest_stall: Duration,
    pub tun_overflows: u64,
    pub steal_share: Option<f64>,
    pub host_limited_share: f64,
}

impl Fidelity {
    /// The verdict.
    pub fn judge(plan: &Plan, timing: &Timing, measured: Measured) -> Fidelity {
        let lateness = timing.lateness.histogram();
        let quantile = |share: f64| Duration::from_nanos(lateness.value_at_quantile(share)).as_secs_f64();
        let longest_stall = measured.longest_stall.max(timing.longest_sleep).max(timing.latest);
        let mut fidelity = Fidelity {
            valid: true,
            reasons: Vec::new(),
            kernel: kernel_release(),
            packets: lateness.len(),
            lateness_p50_s: quantile(0.5),
            lateness_p99_s: quantile(0.99),
            lateness_max_s: timing.latest.as_secs_f64(),
            stalls: measured.stalls,
            longest_stall_s: longest_stall.as_secs_f64(),
            tun_overflows: measured.tun_overflows,
            refused_packets: timing.refused_packets,
            cpu_share: timing.cpu_ns as f64 / measured.elapsed.as_nanos().max(1) as f64,
            steal_share: measured.steal_share,
            host_limited_share: measured.host_limited_share,
        };
        fidelity.reasons = fidelity.faults(most_stall(plan));
        fidelity.valid = fidelity.reasons.is_empty();
        fidelity
    }

    fn faults(&self, most_stall: Duration) -> Vec<String> {
        let ms = |seconds: f64| 1e3 * seconds;
        let percent = |share: f64| 100.0 * share;
        let (late, stall) = (MOST_LATE.as_secs_f64(), most_stall.as_secs_f64());
        let steal = self.steal_share.unwrap_or(0.0);
        let faults = [
            (self.packets == 0).then(|| "no packet came to a host".to_owned()),
            (self.lateness_p99_s > late).then(|| {
                format!("1 % of the packets were late by {:.1} ms or more (limit 1 ms)", ms(self.lateness_p99_s))
            }),
            (self.longest_stall_s > stall)
                .then(|| format!("it stalled for {:.1} ms (limit {:.1} ms)", ms(self.longest_stall_s), ms(stall))),
            (self.tun_overflows > 0).then(|| format!("a TUN device dropped {} packets", self.tun_overflows)),
            (self.refused_packets > 0).then(|| format!("a host did not take {} packets", self.refused_packets)),
            (self.cpu_share > MOST_CPU)
                .then(|| format!("forwarding took {:.0} % of a core (limit 90 %)", percent(self.cpu_share))),
            (steal > MOST_STEAL).then(|| format!("the hypervisor took {:.1} % of the CPU (limit 2 %)", percent(steal))),
            (self.host_limited_share > MOST_HOST_LIMITED).then(|| {
                let share = percent(self.host_limited_share);
                format!("windows or buffers of a host held a flow back for {share:.1} % of its time (limit 1 %)")
            }),
        ];
        faults.into_iter().flatten().collect()
    }
}

/// How long a gap is at least that counts as a stall.
pub fn least_stall(plan: &Plan) -> Duration {
    MOST_STALL.min(most_stall(plan))
}

/// How long a stall of a run may be.
fn most_stall(plan: &Plan) -> Duration {
    let shortest = plan.flows.iter().map(|flow| flow.base_rtt).min().unwrap_or_default();
    let packet = |transport: &Transport| u64::from(transport.mss + transport.data_overhead());
    let largest = plan.flows.iter().map(|flow| packet(&flow.transport)).max().unwrap_or_default();
    let empty_after = plan.links.iter().filter_map(|link| {
        let bytes = match link.queue.limit() {
            Limit::Packets(packets) => u64::from(packets) * largest,
            Limit::Bytes(bytes) => bytes,
        };
        link.rate.map(|rate| rate.transmission(bytes).0)
    });
    empty_after.map(|time| time / QUEUE_PART).fold(MOST_STALL.max(shortest / RTT_PART), Duration::min)
}

/// Release of the running kernel.
fn kernel_release() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", release.trim())
}

/// CPU time of the machine so far: stolen, and all, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct CpuTime {
    stolen: u64,
    all: u64,
}

impl CpuTime {
    /// Reads the CPU times, or returns none if the system does not report them.
    pub fn read() -> Option<CpuTime> {
        CpuTime::of(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first row of the table: user, nice, system, idle, iowait, irq, softirq, steal.
    fn of(table: &str) -> Option<CpuTime> {
        let row = table.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = row.split_whitespace().map_while(|number| number.parse().ok()).take(8).collect();
        Some(CpuTime { stolen: *ticks.get(7)?, all: ticks.iter().sum() })
    }

    /// The share that was stolen since then.
    pub fn stolen_since(self, before: CpuTime) -> f64 {
        (self.stolen - before.stolen) as f64 / (self.all - before.all).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_scenario::Scenario;

    fn plan_with(sets: &[&str]) -> Plan {
        let text = "
            schema = 1
            duration = '1 s'
            topology = { kind = 'dumbbell', rate = '10 Mbit/s', delay = '40 ms' }
            [[flows]]
            name = 'test'
            cc = 'reno'
        ";
        Scenario::from_toml(text, "s.toml", sets).unwrap().plan(None, 0)
    }

    fn plan() -> Plan {
        plan_with(&[])
    }

    #[test]
    fn a_stall_is_short_beside_the_rtt_and_the_shortest_queue() {
        let of = |queue: &str| most_stall(&plan_with(&[&format!("topology.queue.limit={queue}")]));
        // A tenth of 80 ms; 1 BDP of the bottleneck is empty after 80 ms.
        assert_eq!(of("1 BDP"), Duration::from_millis(8));
        // 10 packets of 1500 B at 10 Mbit/s take 12 ms.
        assert_eq!(of("10 packets"), Duration::from_millis(3));
        assert_eq!(of("10 kB"), Duration::from_millis(2));
        let short = plan_with(&["topology.queue.limit=10 packets"]);
        assert_eq!((least_stall(&short), least_stall(&plan())), (Duration::from_millis(3), MOST_STALL));
    }

    /// 99 packets on time, and one that is `late_us` microseconds late.
    fn timing(late_us: u64) -> Timing {
        let mut timing = Timing::default();
        let due = Instant::ZERO + Duration::from_millis(1);
        (0..99).for_each(|_| timing.delivered(due, due + Duration::from_micros(50)));
        timing.delivered(due, due + Duration::from_micros(late_us));
        timing
    }

    #[test]
    fn a_run_that_kept_its_times_is_valid() {
        let measured = Measured { elapsed: Duration::from_secs(1), ..Measured::default() };
        let fidelity = Fidelity::judge(&plan(), &timing(3_000), measured);
        assert_eq!((fidelity.valid, fidelity.reasons, fidelity.packets), (true, vec![], 100));
        assert!((fidelity.lateness_p50_s - 50e-6).abs() < 1e-6 && fidelity.lateness_max_s == 3e-3);
    }

    #[test]
    fn every_fault_has_its_reason() {
        let base = Measured { elapsed: Duration::from_secs(1), ..Measured::default() };
        // The base RTT is 80 ms, so a stall of up to 8 ms passes.
        let stall = |millis| Measured { longest_stall: Duration::from_millis(millis), ..base };
        let reasons = |timing: &Timing, measured| Fidelity::judge(&plan(), timing, measured).reasons;
        assert!(reasons(&timing(0), stall(8)).is_empty());
        assert_eq!(reasons(&timing(0), stall(9)), ["it stalled for 9.0 ms (limit 8.0 ms)"]);
        assert_eq!(reasons(&timing(9_000), base), ["it stalled for 9.0 ms (limit 8.0 ms)"]);
        let overflow = Measured { tun_overflows: 3, ..base };
        assert_eq!(reasons(&timing(0), overflow), ["a TUN device dropped 3 packets"]);
        let stolen = Measured { steal_share: Some(0.03), ..base };
        assert_eq!(reasons(&timing(0), stolen), ["the hypervisor took 3.0 % of the CPU (limit 2 %)"]);
        let mut busy = timing(0);
        busy.cpu_ns = 950_000_000;
        assert_eq!(reasons(&busy, base), ["forwarding took 95 % of a core (limit 90 %)"]);
        let mut late = timing(2_000);
        (0..3).for_each(|_| late.delivered(Instant::ZERO, Instant::ZERO + Duration::from_millis(2)));
        assert_eq!(reasons(&late, base), ["1 % of the packets were late by 2.0 ms or more (limit 1 ms)"]);
        assert_eq!(reasons(&Timing::default(), base), ["no packet came to a host"]);
        let limited = Measured { host_limited_share: 0.5, ..base };
        let expected = "windows or buffers of a host held a flow back for 50.0 % of its time (limit 1 %)";
        assert_eq!(reasons(&timing(0), limited), [expected]);
    }

    #[test]
    fn stolen_time_is_the_eighth_column() {
        let of = |table: &str| CpuTime::of(table).unwrap();
        let before = of("cpu  10 0 10 80 0 0 0 0 0 0\ncpu0 1 1\n");
        let after = of("cpu  60 0 10 105 0 0 0 25 0 0\n");
        assert_eq!(after.stolen_since(before), 0.25);
        assert!(CpuTime::of("intr 1 2").is_none());
    }
}
