//! Bounds on the amount of recorded data. A run that would exhaust the memory of the machine is rejected before it
//! starts.

use super::mistakes::Misfits;
use super::schema::Document;
use super::topology::Network;
use super::traffic::TrafficKeys;
use ackclock::quantity::Problem;
use ackclock::units::Duration;

/// More rows than a store should hold.
const MOST_ROWS: u64 = 10_000_000;
/// More rows than a trace of all packets should hold: some gigabytes.
const MOST_TRACE_ROWS: u64 = 50_000_000;
/// Rows of a packet at a link that flows share, unless something happens to it: it enters, is transmitted, leaves.
const ROWS_AT_SHARED_LINK: u64 = 3;
/// Rows of a packet and its ACK at their access links: they enter and leave two each.
const ROWS_AT_ACCESS_LINKS: u64 = 8;
/// Rows of a sender for a packet: its pacing timer goes off, its window changes.
const ROWS_AT_SENDER: u64 = 2;
/// More transfers than a run should remember the times of.
const MOST_ARRIVALS: u64 = 10_000_000;

/// Adds the excessive requests.
pub fn amounts(document: &Document, network: &Network, misfits: &mut Misfits) {
    misfits.check("sampling.interval", samples(document, network));
    misfits.check("sampling.packets", packets(document, network));
    for (index, flow) in document.flows.iter().enumerate() {
        let end = flow.stop.unwrap_or(document.duration).min(document.duration);
        let active = Duration::from_nanos(end.as_nanos().saturating_sub(flow.start.min().as_nanos()));
        if let TrafficKeys::Interactive { every, .. } = &flow.traffic {
            let result = arrivals(active * u64::from(flow.count), every.mean());
            misfits.check(&format!("flows.{index}.traffic.every"), result);
        }
        if let TrafficKeys::Chunks { interval, .. } = &flow.traffic {
            let result = arrivals(active * u64::from(flow.count), *interval);
            misfits.check(&format!("flows.{index}.traffic.interval"), result);
        }
        if let TrafficKeys::Abr { chunk, .. } = &flow.traffic {
            let result = arrivals(active * u64::from(flow.count), *chunk);
            misfits.check(&format!("flows.{index}.traffic.chunk"), result);
        }
        if let TrafficKeys::Video { frame_rate, .. } = &flow.traffic {
            let result = arrivals(active * u64::from(flow.count), Duration::from_secs_f64_round(1.0 / frame_rate));
            misfits.check(&format!("flows.{index}.traffic.frame_rate"), result);
        }
        if let TrafficKeys::Arrivals { every, alternating, .. } = &flow.traffic {
            let result = match alternating {
                None => arrivals(active, *every),
                Some(other) => arrivals(active, *every).and_then(|()| arrivals(active, other.every)),
            };
            misfits.check(&format!("flows.{index}.traffic.every"), result);
        }
    }
}

fn samples(document: &Document, network: &Network) -> Result<(), Problem> {
    let Some(interval) = document.sampling_interval() else { return Ok(()) };
    let sampled = document.flows.iter().filter(|flow| flow.is_persistent());
    let flows: u64 = sampled.map(|flow| u64::from(flow.count)).sum();
    let series = flows.min(u64::from(document.sampling.flows)) + network.links.len() as u64;
    let rows = (document.duration.as_nanos() / interval.as_nanos()).saturating_mul(series);
    if rows > MOST_ROWS { Err(Problem::TooManySamples { rows, limit: MOST_ROWS }) } else { Ok(()) }
}

/// Bounds the recorded packet events by the packets that the bottleneck can carry.
fn packets(document: &Document, network: &Network) -> Result<(), Problem> {
    let Some(rate) = network.link(network.bottleneck).rate.filter(|_| document.sampling.packets) else {
        return Ok(());
    };
    let packet = document.flows.iter().map(super::schema::Flow::packet_bytes).max().unwrap_or(1).max(1);
    let packets = rate.bytes_in_floor(document.duration) / packet;
    let shared =
        network.routes.iter().map(|route| (route.forward.len() + route.reverse.len()) as u64).max().unwrap_or(0);
    let access = if network.access.is_some() { ROWS_AT_ACCESS_LINKS } else { 0 };
    let rows = packets.saturating_mul(ROWS_AT_SHARED_LINK * shared + access + ROWS_AT_SENDER);
    if rows > MOST_TRACE_ROWS { Err(Problem::TooManyTraceRows { rows, limit: MOST_TRACE_ROWS }) } else { Ok(()) }
}

fn arrivals(active: Duration, every: Duration) -> Result<(), Problem> {
    let count = active.as_nanos() / every.as_nanos().max(1);
    if count > MOST_ARRIVALS { Err(Problem::TooManyArrivals { count, limit: MOST_ARRIVALS }) } else { Ok(()) }
}
