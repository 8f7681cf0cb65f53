//! The contract of a run.

use super::Violation;
use crate::meter::Profile;
use crate::qdisc::Limit;
use crate::sim::{self, FlowPlan, MeterScope, Plan, RunResult, Traffic};
use crate::transport::{EcnMode, Protocol};
use crate::units::Duration;
use std::sync::atomic::AtomicBool;

/// Runs a plan, and checks the properties of every run:
///
/// - Data packets and acknowledgements are conserved, in packets and in bytes: sent + duplicated = delivered +
///   corrupted + policed + dropped + lost + in flight.
/// - A link never exceeds its capacity, and a queue never exceeds its limit.
/// - Measured RTTs are at least the propagation of the path.
/// - Windows are finite and at least one segment. Data in flight do not exceed the receive window.
/// - The data packets of each flow are conserved within the window. In flight at its beginning + sent + copies equal
///   arrived + lost + discarded as corrupt + in flight at its end.
/// - Only ECN-capable flows are marked.
/// - Green packets of meters do not exceed the committed rate. A meter drops all red packets or none.
/// - Delivered data do not exceed sent data, and acknowledgements arrive no earlier than possible.
/// - A datagram takes at least the delay of its path, and a transfer at least a round trip.
/// - A transfer starts at most once, and ends only after its start.
///
/// # Errors
/// The first promise that is broken.
pub fn check_run(name: &str, plan: &Plan) -> Result<RunResult, Violation> {
    let violation = |broken| Violation { subject: name.to_owned(), case: 0, broken };
    let result = sim::run(plan, &AtomicBool::new(false)).map_err(|stop| violation(stop.to_string()))?;
    check_result(plan, &result).map_err(violation)?;
    Ok(result)
}

/// Checks the result of a plan.
pub(super) fn check_result(plan: &Plan, result: &RunResult) -> Result<(), String> {
    check_totals(result)?;
    check_meters(plan, result)?;
    check_links(plan, result)?;
    check_flows(plan, result)?;
    check_transfers(plan, result)?;
    check_datagrams(plan, result)?;
    check_samples(plan, result)
}

fn check_totals(result: &RunResult) -> Result<(), String> {
    let totals = &result.totals;
    let mut sum = totals.delivered;
    for part in [totals.corrupted, totals.policed, totals.dropped, totals.lost, totals.in_flight] {
        sum += part;
    }
    let mut known = totals.sent;
    known += totals.duplicated;
    ensure!(
        sum == known,
        "sent + duplicated is not delivered + corrupted + policed + dropped + lost + in flight: {totals:?}"
    );
    Ok(())
}

fn check_meters(plan: &Plan, result: &RunResult) -> Result<(), String> {
    let secs = (plan.duration - plan.warmup).as_secs_f64();
    for (row, known) in result.meters.iter().zip(&plan.meters) {
        let (name, colours) = (&row.name, &row.colours);
        let policed = if known.drops_red { colours.red } else { 0 };
        ensure!(colours.policed == policed, "{name}: {colours:?}, but {policed} should be dropped");
        let (Profile::SingleRate { committed_rate, committed_burst, .. }
        | Profile::TwoRates { committed_rate, committed_burst, .. }) = known.profile;
        if known.scope == MeterScope::Aggregate {
            let most = committed_rate.as_bps() as f64 + 8.0 * committed_burst as f64 / secs;
            ensure!(row.green_bps <= most * (1.0 + 1e-12), "{name}: {} green of {most}", row.green_bps);
        }
    }
    for flow in &result.flows {
        let policed = flow.colours.as_ref().map_or(0, |colours| colours.policed);
        ensure!(policed + flow.access_drops <= flow.lost, "{}: {policed} policed, {} lost", flow.name, flow.lost);
    }
    Ok(())
}

fn check_links(plan: &Plan, result: &RunResult) -> Result<(), String> {
    let secs = (plan.duration - plan.warmup).as_secs_f64();
    let datagrams = plan.datagrams.iter().map(|datagrams| datagrams.packet);
    let largest = plan.tcp_flows().map(largest_packet).chain(datagrams).max().unwrap_or_default();
    for link in &result.links {
        let known = plan.links.iter().find(|known| known.name == link.name);
        let Some(known) = known else { return Err(format!("no link of the plan is called {}", link.name)) };
        // A packet counts when its transmission begins: one of them may reach beyond the end.
        if let (Some(rate), Some(utilization)) = (known.rate, link.utilization) {
            let capacity = link.capacity_bps.unwrap_or(rate.as_bps() as f64);
            ensure!(capacity <= rate.as_bps() as f64, "{} had {capacity} of {rate}", link.name);
            let most = 1.0 + 8.0 * f64::from(largest) / (capacity * secs);
            ensure!(utilization <= most, "{} is used {utilization} times", link.name);
        }
        // What was queued at the end of the warm-up leaves in the window of measurement.
        let waiting = match known.queue.limit() {
            Limit::Packets(most) => u64::from(most),
            Limit::Bytes(most) => most,
        };
        let left = link.forwarded + link.drops;
        ensure!(left <= link.arrivals + waiting, "{}: {left} left, {} came", link.name, link.arrivals);
        ensure!(link.arrivals <= left + waiting, "{}: {} came, {left} left", link.name, link.arrivals);
    }
    Ok(())
}

fn check_flows(plan: &Plan, result: &RunResult) -> Result<(), String> {
    for flow in &result.flows {
        let name = &flow.name;
        let rtt = flow.rtt_mean_s;
        ensure!(rtt.is_none_or(|rtt| rtt >= flow.base_rtt_s), "{name}: mean RTT {rtt:?}, base {}", flow.base_rtt_s);
        let least = flow.rtt_min_s;
        ensure!(least.is_none_or(|rtt| rtt >= flow.base_rtt_s), "{name}: min RTT {least:?}, base {}", flow.base_rtt_s);
        ensure!(rtt.is_none() || rtt >= least, "{name}: mean RTT {rtt:?}, min {least:?}");
        let cwnd = flow.cwnd_mean_segments;
        let started = plan.flows[flow.id].start.as_nanos() < plan.duration.as_nanos();
        let is_window = |cwnd: f64| cwnd.is_finite() && (cwnd >= 1.0 - 1e-9 || cwnd == 0.0 || !started);
        ensure!(cwnd.is_none_or(is_window), "{name}: mean window {cwnd:?}");
        ensure!(flow.retransmits <= flow.sent, "{name}: {} sent, {} of them again", flow.sent, flow.retransmits);
        let is_capable = plan.flows[flow.id].transport.ecn != EcnMode::Off;
        let signalled = flow.marks + flow.ecn_events;
        ensure!(is_capable || signalled == 0, "{name}: {signalled} marks and cuts for them without ECN");
        let done = flow.completion_time_s;
        ensure!(
            done.is_none_or(|done| done >= flow.base_rtt_s),
            "{name}: done after {done:?}, base {}",
            flow.base_rtt_s
        );
        let known = flow.in_flight_start + flow.sent + flow.copies;
        let found = flow.arrived + flow.lost + flow.corrupted + flow.in_flight_end;
        ensure!(
            known == found,
            "{name}: in flight at the beginning + sent + copies = {known}, arrived + lost + corrupted + in flight at the \
             end = {found}"
        );
        ensure!(flow.access_drops <= flow.lost, "{name}: {} lost, {} of them dropped", flow.lost, flow.access_drops);
        let delay = flow.queue_delay_mean_s;
        ensure!(delay.is_some() == (flow.arrived > 0), "{name}: {} arrived, they waited {delay:?}", flow.arrived);
    }
    let fairness = result.summary.jain_index;
    ensure!(fairness.is_none_or(|index| index > 0.0 && index <= 1.0 + 1e-12), "Jain's index is {fairness:?}");
    Ok(())
}

fn check_transfers(plan: &Plan, result: &RunResult) -> Result<(), String> {
    for row in &result.transfers {
        let name = &row.group;
        let mut flows = plan.tcp_flows().filter(|flow| *flow.group == **name).peekable();
        let Some(first) = flows.peek() else { return Err(format!("no group of the plan is called {name}")) };
        // A keystroke or frame goes one way, and many may be in flight at the end of the warm-up.
        let is_interactive = matches!(first.traffic, Traffic::Interactive(_) | Traffic::Video(_));
        let soonest = |flow: &FlowPlan| match is_interactive {
            true => flow.forward.iter().fold(Duration::ZERO, |sum, link| sum + plan.links[*link].delay),
            false => flow.base_rtt,
        };
        let base_rtt = flows.map(soonest).min().unwrap_or_default().as_secs_f64();
        let times = &row.times;
        // What was in progress at the end of the warm-up: at most one transfer of each flow.
        let known = row.started + row.flows as u64;
        let ended = times.completed + row.unfinished;
        ensure!(
            is_interactive || ended <= known,
            "{name}: {ended} ended or did not, {} started in {} flows",
            row.started,
            row.flows
        );
        let figures = [times.fct_p50_s, times.fct_p95_s, times.fct_p99_s, times.fct_max_s];
        ensure!(figures.iter().all(|figure| figure.is_some() == (times.completed > 0)), "{name}: {times:?}");
        ensure!(figures.is_sorted(), "{name}: percentiles do not ascend: {times:?}");
        ensure!(times.fct_p50_s.is_none_or(|time| time >= base_rtt), "{name}: {times:?}, base {base_rtt}");
        ensure!(times.fct_mean_s <= times.fct_max_s, "{name}: {times:?}");
        ensure!(row.active_mean.is_none_or(|mean| mean <= row.flows as f64), "{name}: {:?} active", row.active_mean);
        let is_lost = row.loss_rate.is_some_and(|rate| rate > 0.0);
        ensure!(is_lost == (row.lost > 0 && row.sent > 0), "{name}: loss rate {:?}, {} lost", row.loss_rate, row.lost);
    }
    Ok(())
}

fn check_datagrams(plan: &Plan, result: &RunResult) -> Result<(), String> {
    for row in &result.datagrams {
        let (name, known) = (&row.name, &plan.datagrams[row.id]);
        let paths =
            known.sources.iter().map(|source| source.forward.iter().map(|link| plan.links[*link].delay.as_nanos()));
        let fastest = paths.map(Iterator::sum::<u64>).min().unwrap_or_default() as f64 / 1e9;
        ensure!(row.delay_mean_s.is_none_or(|mean| mean >= fastest), "{name}: {:?}, path {fastest}", row.delay_mean_s);
        ensure!(row.delay_p50_s <= row.delay_p99_s, "{name}: percentiles of the delay do not ascend");
        ensure!(row.late_rate <= row.lost_or_late_rate, "{name}: more is late than lost or late");
    }
    Ok(())
}

fn check_samples(plan: &Plan, result: &RunResult) -> Result<(), String> {
    let samples = &result.samples.flows;
    for row in 0..samples.time_ns.len() {
        let flow = &plan.flows[samples.flow[row] as usize];
        let at = format!("{} at {} ns", flow.name, samples.time_ns[row]);
        let (cwnd, ssthresh, srtt) = (samples.cwnd_segments[row], samples.ssthresh_segments[row], samples.srtt_ns[row]);
        ensure!(cwnd.is_finite() && cwnd >= 1.0, "{at}: cwnd {cwnd}");
        ensure!(ssthresh >= 1.0, "{at}: ssthresh {ssthresh}");
        ensure!(srtt == 0 || srtt >= flow.base_rtt.as_nanos(), "{at}: smoothed RTT {srtt} ns below the base");
        // A segment that may be lost counts twice once it is retransmitted (RFC 6675's pipe).
        let in_flight = samples.in_flight_segments[row];
        // The receiver's window is in bytes, and keystrokes and frames have small segments; probes of QUIC repeat what is in flight.
        let is_full = !matches!(flow.traffic, Traffic::Interactive(_) | Traffic::Video(_))
            && flow.transport.protocol == Protocol::Tcp;
        let most = flow.transport.max_window.filter(|_| is_full).map(|window| 2 * window);
        ensure!(most.is_none_or(|most| in_flight <= most), "{at}: {in_flight} in flight beyond the receiver's window");
        let (sent, delivered) = (samples.sent_bytes[row], samples.delivered_bytes[row]);
        ensure!(delivered <= sent, "{at}: {delivered} bytes delivered, {sent} sent");
    }
    let samples = &result.samples.links;
    for row in 0..samples.time_ns.len() {
        let name = &result.samples.link_names[samples.link[row] as usize];
        let Some(link) = plan.links.iter().find(|link| link.name == *name) else { continue };
        let (packets, bytes) = (samples.backlog_packets[row], samples.backlog_bytes[row]);
        let within = match link.queue.limit() {
            Limit::Packets(most) => packets <= most,
            Limit::Bytes(most) => bytes <= most,
        };
        ensure!(within, "{name} at {} ns: {packets} packets of {bytes} bytes are queued", samples.time_ns[row]);
    }
    Ok(())
}

/// Bytes on the wire of a full packet with all its options.
fn largest_packet(flow: &FlowPlan) -> u32 {
    const OPTIONS: u32 = 40;
    flow.transport.mss + flow.transport.header + flow.transport.framing + OPTIONS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CcSpec;
    use crate::contract::random_plan;

    /// Makes a result impossible. None is a result without the part in question.
    type Spoil = fn(&mut RunResult) -> Option<()>;

    macro_rules! spoils {
        ($result:ident: $($spoil:expr;)*) => {
            [$(|$result| { $spoil; Some(()) }),*]
        };
    }

    const SPOILED: [Spoil; 19] = spoils! { result:
        result.totals.policed.bytes += 1;
        result.meters.first_mut()?.colours.policed += 1;
        result.totals.duplicated.packets += 1;
        result.totals.corrupted.bytes += 1;
        result.totals.delivered.packets += 1;
        result.totals.in_flight.bytes += 1;
        *result.links[0].utilization.as_mut()? = 1.5;
        result.links[0].arrivals += 1_000_000;
        result.links[0].forwarded += 1_000_000;
        {
            let flow = result.flows.first_mut()?;
            *flow.rtt_mean_s.as_mut()? = flow.base_rtt_s - 1e-9;
        };
        {
            let flow = result.flows.first_mut()?;
            *flow.rtt_min_s.as_mut()? = flow.base_rtt_s - 1e-9;
        };
        *result.flows.first_mut()?.rtt_min_s.as_mut()? = 1e9;
        result.flows.iter_mut().find(|flow| flow.ecn == "off")?.marks += 1;
        result.transfers.first_mut()?.unfinished += 1_000;
        *result.transfers.first_mut()?.times.fct_p99_s.as_mut()? = 1e9;
        *result.datagrams.first_mut()?.delay_mean_s.as_mut()? = 1e-9;
        *result.samples.flows.cwnd_segments.last_mut()? = f64::INFINITY;
        *result.samples.flows.srtt_ns.iter_mut().find(|srtt| **srtt > 1)? = 1;
        *result.samples.links.backlog_packets.last_mut()? = 100_000;
    };

    #[test]
    fn a_result_that_cannot_be_is_found() {
        let plan_of = |seed| random_plan(&CcSpec::by_name("aimd").unwrap(), seed);
        let results: Vec<_> = (0..40).map(plan_of).map(|plan| (check_run("aimd", &plan).unwrap(), plan)).collect();
        for (number, spoil) in SPOILED.iter().enumerate() {
            let is_found = results.iter().any(|(result, plan)| {
                let mut wrong = result.clone();
                spoil(&mut wrong).is_some() && check_result(plan, &wrong).is_err()
            });
            assert!(is_found, "number {number}");
        }
    }
}
