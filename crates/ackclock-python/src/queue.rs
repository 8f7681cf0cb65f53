//! Queues alone.

use std::path::{Path, PathBuf};

use ackclock::open_loop::{Arrival, Event, Outcome, serve};
use ackclock::qdisc::{Ecn, Groups, Place, QueueSpec};
use ackclock::rng::RngStreams;
use ackclock::units::{Duration, Rate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Error;

/// Time, arrival, event and reason.
type Row = (u64, usize, &'static str, &'static str);

/// Time, arrival and event. A kernel tells no reasons.
type KernelRow = (u64, usize, &'static str);

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
    if plan.tc().is_some() {
        return Err(bad(&"a queue of the kernel is served by serve_kernel_queue"));
    }
    if !arrivals.is_sorted_by_key(|(at_ns, ..)| *at_ns) {
        return Err(bad(&"arrivals come in the order of their times"));
    }
    let arrivals: Vec<Arrival> = arrivals.into_iter().map(arrival).collect();
    let events = serve(plan.build(&|purpose| RngStreams::new(seed, 0).stream("link", purpose)), rate, &arrivals);
    Ok(events.into_iter().map(row).collect())
}

fn row(event: Event) -> Row {
    match event.outcome {
        Outcome::Sent => (event.at_ns, event.arrival, "sent", ""),
        Outcome::Dropped(reason) => (event.at_ns, event.arrival, "dropped", reason.name()),
        Outcome::Marked(reason) => (event.at_ns, event.arrival, "marked", reason.name()),
    }
}

fn arrival((at_ns, bytes, flow, is_ecn_capable): (u64, u32, u64, bool)) -> Arrival {
    let ecn = if is_ecn_capable { Ecn::Ect0 } else { Ecn::NotEct };
    Arrival { at_ns, bytes, flow, ecn }
}

/// Puts arrivals (time, bytes, flow, ECN-capable) through a queue of a kernel in virtual time. `tc` is the discipline
/// with its parameters.
#[pyfunction]
pub fn serve_kernel_queue(
    py: Python<'_>,
    kernel: PathBuf,
    tc: &str,
    rate_bps: u64,
    seed: u64,
    arrivals: Vec<(u64, u32, u64, bool)>,
) -> PyResult<Vec<KernelRow>> {
    let rate = Rate::from_bps(rate_bps).ok_or_else(|| PyValueError::new_err("a rate is above zero"))?;
    if !arrivals.is_sorted_by_key(|(at_ns, ..)| *at_ns) {
        return Err(PyValueError::new_err("arrivals come in the order of their times"));
    }
    let arrivals: Vec<Arrival> = arrivals.into_iter().map(arrival).collect();
    Ok(py.detach(|| in_kernel(&kernel, tc, rate, seed, &arrivals))?)
}

#[cfg(target_os = "linux")]
fn in_kernel(kernel: &Path, tc: &str, rate: Rate, seed: u64, arrivals: &[Arrival]) -> Result<Vec<KernelRow>, Error> {
    let events = ackclock_kernel::queue::serve(kernel, tc, rate, seed, arrivals);
    let events = events.map_err(|error| Error::Backend(error.to_string()))?;
    let without_reason = |(at_ns, arrival, outcome, _): Row| (at_ns, arrival, outcome);
    Ok(events.into_iter().map(row).map(without_reason).collect())
}

/// There is none.
#[cfg(not(target_os = "linux"))]
fn in_kernel(
    _kernel: &Path,
    _tc: &str,
    _rate: Rate,
    _seed: u64,
    _arrivals: &[Arrival],
) -> Result<Vec<KernelRow>, Error> {
    Err(Error::Backend("this build of ackclock has no backend kernel: it needs Linux".to_owned()))
}
