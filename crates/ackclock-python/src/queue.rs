//! Queues alone.

use ackclock::open_loop::{Arrival, Event, Outcome, serve};
use ackclock::qdisc::{Ecn, Groups, Place, QueueSpec};
use ackclock::rng::RngStreams;
use ackclock::units::{Duration, Rate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Time, arrival, event and reason.
type Row = (u64, usize, &'static str, &'static str);

/// Answers a request about a queue alone, without holding the GIL. `ackclock::open_loop::json` defines both sides.
#[pyfunction]
pub fn queue_json(py: Python<'_>, request: &str) -> PyResult<String> {
    py.detach(|| ackclock::open_loop::json(request)).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Puts arrivals (time, bytes, flow, ECN-capable) through a queue in front of a transmitter.
#[pyfunction]
pub fn serve_queue(queue: &str, rate_bps: u64, seed: u64, arrivals: Vec<(u64, u32, u64, bool)>) -> PyResult<Vec<Row>> {
    let bad = |what: &dyn std::fmt::Display| PyValueError::new_err(what.to_string());
    let rate = Rate::from_bps(rate_bps).ok_or_else(|| bad(&"a rate is above zero"))?;
    let spec: QueueSpec = serde_json::from_str(queue).map_err(|error| bad(&error))?;
    let packet_bytes = arrivals.iter().map(|(_, bytes, ..)| u64::from(*bytes)).max().unwrap_or(1);
    let place =
        Place { rate: Some(rate), delay: Duration::ZERO, packet_bytes, mean_rtt_secs: 0.0, groups: Groups::NONE };
    let plan = spec.plan(&place).map_err(|(key, problem)| bad(&format!("{key}: {problem}")))?;
    if !arrivals.is_sorted_by_key(|(at_ns, ..)| *at_ns) {
        return Err(bad(&"arrivals come in the order of their times"));
    }
    let arrival = |(at_ns, bytes, flow, is_ecn_capable)| {
        let ecn = if is_ecn_capable { Ecn::Ect0 } else { Ecn::NotEct };
        Arrival { at_ns, bytes, flow, ecn }
    };
    let arrivals: Vec<Arrival> = arrivals.into_iter().map(arrival).collect();
    let events = serve(plan.build(&|purpose| RngStreams::new(seed, 0).stream("link", purpose)), rate, &arrivals);
    let row = |event: Event| match event.outcome {
        Outcome::Sent => (event.at_ns, event.arrival, "sent", ""),
        Outcome::Dropped(reason) => (event.at_ns, event.arrival, "dropped", reason.name()),
        Outcome::Marked(reason) => (event.at_ns, event.arrival, "marked", reason.name()),
    };
    Ok(events.into_iter().map(row).collect())
}
