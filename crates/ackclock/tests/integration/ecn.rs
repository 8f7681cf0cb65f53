//! Flows that are marked instead of dropped.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use ackclock::cc::{Ack, Algorithm, Cc, Congestion, CongestionControl};
use ackclock::ecn::Ecn;
use ackclock::sim::{self, FlowResult, LinkResult, RunResult};
use ackclock::units::Duration;
use ackclock_scenario::Scenario;

/// Four flows at 10 Mbit/s and 40 ms, with RED.
fn text(queue: &str, flows: &str) -> String {
    format!(
        r#"
        schema = 1
        duration = "80 s"
        warmup = "20 s"
        [topology]
        kind = "dumbbell"
        rate = "10 Mbit/s"
        delay = "20 ms"
        queue = {{ kind = "red", limit = "200 packets", min = "10 packets", max = "60 packets", {queue} }}
        {flows}
        "#
    )
}

fn run(queue: &str, flows: &str) -> RunResult {
    let scenario = Scenario::from_toml::<&str>(&text(queue, flows), "ecn", &[]).unwrap();
    sim::run(&scenario.plan(None, 0), &AtomicBool::new(false)).unwrap()
}

fn flows(recovery: &str, ecn: &str) -> String {
    format!(
        "[[flows]]\nname = '{ecn}'\ncount = 4\ncc = 'aimd'\nrecovery = '{recovery}'\necn = '{ecn}'\n\
         start = {{ uniform = ['0 s', '1 s'] }}\n"
    )
}

fn bottleneck(result: &RunResult) -> &LinkResult {
    result.links.iter().find(|link| link.name == "bottleneck").unwrap()
}

fn sum(result: &RunResult, group: &str, of: impl Fn(&FlowResult) -> u64) -> u64 {
    result.flows.iter().filter(|flow| *flow.group == *group).map(of).sum()
}

#[test]
fn marks_take_the_place_of_drops() {
    for recovery in ["reno", "newreno", "sack"] {
        let dropped = run("ecn = false", &flows(recovery, "off"));
        let marked = run("ecn = true", &flows(recovery, "classic"));
        let (link, plain) = (bottleneck(&marked), bottleneck(&dropped));
        assert!(link.marks > 100 && link.drops < link.marks / 10, "{recovery}: {:?}", link.reasons);
        assert!(plain.drops > 100 && plain.marks == 0, "{recovery}: {:?}", plain.reasons);
        assert!(marked.summary.goodput_bps.unwrap() > 0.99 * dropped.summary.goodput_bps.unwrap(), "{recovery}");
        assert!(marked.summary.mark_rate.unwrap() > 0.0 && dropped.summary.mark_rate.unwrap() == 0.0);
        // What was marked came to a receiver, but for what is in flight at either end of the window.
        let arrived = sum(&marked, "classic", |flow| flow.marks);
        assert!(arrived.abs_diff(link.marks) < 60, "{recovery}: {arrived} of {} marks", link.marks);
        let events = sum(&marked, "classic", |flow| flow.ecn_events);
        assert!(events > 50 && events <= arrived, "{recovery}: {events} cuts for {arrived} marks");
    }
}

#[test]
fn only_flows_that_are_ecn_capable_are_marked() {
    let result = run("ecn = true", &format!("{}{}", flows("sack", "off"), flows("sack", "classic")));
    assert_eq!(sum(&result, "off", |flow| flow.marks + flow.ecn_events), 0);
    assert!(sum(&result, "off", |flow| flow.retransmits) > 100);
    assert!(sum(&result, "classic", |flow| flow.marks) > 100);
    assert!(sum(&result, "classic", |flow| flow.retransmits) < sum(&result, "off", |flow| flow.retransmits) / 4);
}

/// The link carries two packets per second for each flow, and the queue marks above one packet. Windows are one
/// segment, and nearly every packet is marked.
#[test]
fn where_nearly_everything_is_marked_the_timer_spaces_the_segments() {
    let many = flows("sack", "classic").replace("count = 4", "count = 400");
    let result = run("ecn = true, weight = 1, max_p = 1, hard_drop = false", &many);
    let link = bottleneck(&result);
    // Without the delay all are marked.
    let share = link.marks as f64 / link.arrivals as f64;
    assert!((0.7..0.9).contains(&share), "{share}");
    assert!(result.summary.utilization.unwrap() > 0.95, "{}", result.summary.utilization.unwrap());
    assert!(link.drops < link.arrivals / 50, "{:?}", link.reasons);
}

/// Counts marks: packets, and bytes in samples.
#[derive(Debug)]
struct Counting {
    cc: Cc,
    marks: Arc<Mutex<(u64, u64)>>,
}

impl CongestionControl for Counting {
    fn cwnd(&self) -> f64 {
        self.cc.cwnd()
    }
    fn ssthresh(&self) -> f64 {
        self.cc.ssthresh()
    }
    fn on_ack(&mut self, ack: &Ack) {
        let mut marks = self.marks.lock().unwrap();
        marks.0 += u64::from(ack.ce_count);
        marks.1 += ack.rate.map_or(0, |rate| rate.newly_ce);
        self.cc.on_ack(ack);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.cc.on_congestion(congestion);
    }
}

/// Marked packets of four flows: those that came, and those that the algorithms heard of.
fn told(recovery: &str, change: &str) -> (u64, u64) {
    let (came, (packets, _)) = told_with(recovery, "accecn", change);
    (came, packets)
}

/// The same, with the bytes that samples reported.
fn told_with(recovery: &str, ecn: &str, change: &str) -> (u64, (u64, u64)) {
    let flows = flows(recovery, ecn);
    let scenario = Scenario::from_toml::<&str>(&text("ecn = true", &format!("{flows}{change}")), "ecn", &[]);
    let mut plan = scenario.unwrap().plan(None, 0);
    plan.warmup = Duration::ZERO;
    let marks = Arc::new(Mutex::new((0, 0)));
    for flow in &mut plan.flows {
        let (cc, marks) = (flow.cc.clone(), marks.clone());
        let counting = move |context| Counting { cc: cc.build(context), marks: marks.clone() };
        flow.cc = Arc::new(Algorithm::new("counting", counting));
    }
    let result = sim::run(&plan, &AtomicBool::new(false));
    let told = *marks.lock().unwrap();
    (sum(&result.unwrap(), ecn, |flow| flow.marks), told)
}

#[test]
fn accurate_feedback_tells_the_algorithm_of_every_mark() {
    for recovery in ["newreno", "sack"] {
        for change in ["", "delayed_ack = true", "timestamps = true"] {
            let (came, told) = told(recovery, change);
            assert!(came > 100, "{recovery}, {change}: {came} marks");
            // But for those of the last round trip.
            assert!(told <= came && told + 40 >= came, "{recovery}, {change}: {told} of {came} marks");
        }
    }
}

#[test]
fn samples_tell_of_all_bytes_that_came_with_a_mark() {
    // 4000 full segments each, all acknowledged in the end.
    let transfer = "traffic = { kind = 'transfer', size = '5840 kB' }";
    for recovery in ["newreno", "sack"] {
        let (came, told) = told_with(recovery, "accecn", transfer);
        assert!(came > 100, "{recovery}: {came} marks");
        assert_eq!(told, (came, 1460 * came), "{recovery}");
        let (came, told) = told_with(recovery, "classic", transfer);
        assert!(came > 100 && told == (0, 0), "{recovery}: {told:?} of {came} marks, which nobody counts");
    }
}

#[test]
fn where_acks_are_lost_the_counters_make_up_for_it() {
    let lossy = "[topology.reverse]\nloss = { kind = 'bernoulli', probability = 0.5 }";
    let (came, told) = told("sack", lossy);
    assert!(came > 100 && told.abs_diff(came) < came / 50, "{told} of {came} marks");
}

/// Under RFC 3168 the echo lasts for a round trip, in which the window does not grow.
#[test]
fn accurate_feedback_cuts_a_little_more_often_than_the_classic_one() {
    let [classic, accurate] = ["classic", "accecn"].map(|ecn| run("ecn = true", &flows("sack", ecn)));
    let goodput = accurate.summary.goodput_bps.unwrap() / classic.summary.goodput_bps.unwrap();
    assert!((goodput - 1.0).abs() < 0.01, "{goodput}");
    let events = |result: &RunResult| result.flows.iter().map(|flow| flow.ecn_events).sum::<u64>() as f64;
    let cuts = events(&accurate) / events(&classic);
    assert!((1.0..1.5).contains(&cuts), "{cuts}");
}

/// Reno that sends ECT(1).
#[derive(Debug)]
struct Ect1(Cc);

impl CongestionControl for Ect1 {
    fn cwnd(&self) -> f64 {
        self.0.cwnd()
    }
    fn ssthresh(&self) -> f64 {
        self.0.ssthresh()
    }
    fn codepoint(&self) -> Ecn {
        Ecn::Ect1
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.0.on_ack(ack);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.0.on_congestion(congestion);
    }
}

#[test]
fn an_algorithm_selects_the_codepoint_and_accurate_feedback_counts_its_bytes() {
    for protocol in ["", "protocol = 'quic'\n"] {
        let ecn = if protocol.is_empty() { "accecn" } else { "counts" };
        let group = format!("[[flows]]\nname = 'test'\ncc = 'aimd'\necn = '{ecn}'\n{protocol}");
        let scenario = Scenario::from_toml::<&str>(&text("ecn = true", &group), "ecn", &["duration=30 s"]);
        let mut plan = scenario.unwrap().plan(None, 0);
        plan.capture_at("bottleneck", &[], true).unwrap();
        let plain = sim::run(&plan, &AtomicBool::new(false)).unwrap();
        let cc = plan.flows[0].cc.clone();
        plan.flows[0].cc = Arc::new(Algorithm::new("ect1", move |context| Ect1(cc.build(context))));
        let result = sim::run(&plan, &AtomicBool::new(false)).unwrap();
        // Queues treat both codepoints alike, so only the field differs.
        assert!(result.flows[0].marks > 5, "{protocol}");
        let count = |result: &RunResult, ecn: Ecn| {
            let recording = result.recording.as_ref().unwrap();
            recording.packets.iter().filter(|packet| packet.ecn == ecn).count()
        };
        let ect1 = count(&result, Ecn::Ect1);
        assert_eq!((count(&plain, Ecn::Ect0), count(&plain, Ecn::Ect1)), (ect1, 0), "{protocol}");
        assert_eq!(count(&result, Ecn::Ect0), 0, "{protocol}");
        assert_eq!(result.flows[0].goodput_bps, plain.flows[0].goodput_bps, "{protocol}");
    }
}

/// A flow of Prague competes with a flow of CUBIC under DualPI2, behind an access link with these keys.
fn under_dualpi2(access: &str) -> RunResult {
    let text = format!(
        r#"
        schema = 1
        duration = "20 s"
        warmup = "5 s"
        [topology]
        kind = "dumbbell"
        rate = "20 Mbit/s"
        delay = "5 ms"
        queue = "dualpi2"
        access = {{ rate = "1 Gbit/s", delay = "1 ms"{access} }}
        [[flows]]
        name = "prague"
        cc = "prague"
        [[flows]]
        name = "cubic"
        cc = "cubic"
        "#
    );
    let scenario = Scenario::from_toml::<&str>(&text, "l4s", &[]).unwrap();
    sim::run(&scenario.plan(None, 0), &AtomicBool::new(false)).unwrap()
}

#[test]
fn a_hop_that_clears_the_field_hides_l4s_packets() {
    let delay = |result: &RunResult| result.flows[0].queue_delay_p95_s.unwrap();
    let kept = under_dualpi2("");
    // Prague needs no setting, and CUBIC has no ECN.
    assert!(kept.flows[0].marks > 500 && kept.flows[1].marks == 0);
    assert!(delay(&kept) < 0.002 && kept.flows[0].retransmits == 0, "{}", delay(&kept));
    for bleaching in ["ect1", "all"] {
        let hidden = under_dualpi2(&format!(", bleaching = '{bleaching}'"));
        assert_eq!(hidden.flows[0].marks, 0, "{bleaching}");
        assert!(delay(&hidden) > 0.01 && hidden.flows[0].retransmits > 10, "{bleaching}");
    }
}
