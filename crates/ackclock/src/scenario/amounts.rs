//! Bounds on what a run writes down: what would take the memory of the machine is refused before it runs.

use super::mistakes::Misfits;
use super::schema::Document;
use super::topology::Network;
use super::traffic::TrafficKeys;
use crate::quantity::Problem;
use crate::units::Duration;

/// More rows than a store should hold.
const MOST_ROWS: u64 = 10_000_000;
/// More packets than a trace of all of them should hold: some gigabytes.
const MOST_PACKETS: u64 = 50_000_000;
/// More transfers than a run should remember the times of.
const MOST_ARRIVALS: u64 = 10_000_000;

/// Adds what asks for too much.
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

/// A busy bottleneck bounds what all packets can be.
fn packets(document: &Document, network: &Network) -> Result<(), Problem> {
    let Some(rate) = network.links[network.bottleneck].rate.filter(|_| document.sampling.packets) else {
        return Ok(());
    };
    let packet = document.flows.iter().map(super::schema::Flow::packet_bytes).max().unwrap_or(1).max(1);
    let packets = rate.bytes_in_floor(document.duration) / packet;
    if packets > MOST_PACKETS { Err(Problem::TooManyPackets { packets, limit: MOST_PACKETS }) } else { Ok(()) }
}

fn arrivals(active: Duration, every: Duration) -> Result<(), Problem> {
    let count = active.as_nanos() / every.as_nanos().max(1);
    if count > MOST_ARRIVALS { Err(Problem::TooManyArrivals { count, limit: MOST_ARRIVALS }) } else { Ok(()) }
}
