//! Events of the contract as Python sees them: seconds, segments, bit/s.

use ackclock::cc::{self, CongestionKind, PathView, Restart};
use ackclock::units::Instant;
use pyo3::PyClass;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;

use super::window::Window;

/// The common part of all events: the time, and the sender's measurements of the path after the event.
#[pyclass(subclass, module = "ackclock")]
pub struct Event {
    now: Instant,
    path: PathView,
}

#[pymethods]
impl Event {
    /// Seconds since the start of the run. Only differences of time should matter.
    #[getter]
    fn now(&self) -> f64 {
        self.now.as_secs_f64()
    }

    /// The latest round-trip time in seconds, 0 before the first measurement.
    #[getter]
    fn rtt(&self) -> f64 {
        self.path.latest_rtt.as_secs_f64()
    }

    /// The smoothed round-trip time (RFC 6298) in seconds, 0 before the first measurement.
    #[getter]
    fn srtt(&self) -> f64 {
        self.path.srtt.as_secs_f64()
    }

    /// The smallest round-trip time so far in seconds, 0 before the first measurement.
    #[getter]
    fn min_rtt(&self) -> f64 {
        self.path.min_rtt.as_secs_f64()
    }

    /// The latest round-trip time minus the smallest one, in seconds.
    #[getter]
    fn queue_delay(&self) -> f64 {
        self.path.latest_rtt.saturating_sub(self.path.min_rtt).as_secs_f64()
    }

    /// Segments in flight (the pipe of RFC 6675).
    #[getter]
    fn in_flight(&self) -> u32 {
        self.path.in_flight
    }

    /// Their payload in bytes.
    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.path.in_flight_bytes
    }

    /// Payload bytes of a full segment.
    #[getter]
    fn mss(&self) -> u32 {
        self.path.mss
    }
}

/// An event that Python can hold, made of one of the core.
pub trait FromCore: PyClass + Sized {
    /// The event of the core.
    type Core: Copy;

    /// A new object.
    fn new(py: Python<'_>, core: Self::Core, has_rates: bool) -> PyResult<Py<Self>>;

    /// Puts the next event into an object without other references.
    fn replace(object: &Bound<'_, Self>, core: Self::Core);
}

macro_rules! from_core {
    ($($event:ident),*) => { $(
        impl FromCore for $event {
            type Core = cc::$event;

            fn new(py: Python<'_>, core: Self::Core, has_rates: bool) -> PyResult<Py<Self>> {
                let event = Event { now: core.now, path: core.path };
                Py::new(py, PyClassInitializer::from(event).add_subclass($event::of(core, has_rates)))
            }

            #[inline]
            fn replace(object: &Bound<'_, Self>, core: Self::Core) {
                let mut event = object.borrow_mut();
                event.core = core;
                let path = event.as_super();
                (path.now, path.path) = (core.now, core.path);
            }
        }
    )* };
}

from_core!(Ack, Loss, Congestion, Recovery, Sent);

/// An ACK with new information.
#[pyclass(extends = Event, module = "ackclock")]
pub struct Ack {
    core: cc::Ack,
    has_rates: bool,
}

impl Ack {
    fn of(core: cc::Ack, has_rates: bool) -> Self {
        Ack { core, has_rates }
    }

    /// The event of the core.
    pub fn core(&self) -> &cc::Ack {
        &self.core
    }

    fn sample(&self) -> PyResult<Option<&cc::RateSample>> {
        if self.has_rates {
            return Ok(self.core.rate.as_ref());
        }
        Err(PyAttributeError::new_err(
            "delivery rates are measured for a class that asks for them: write rate_samples = True in the class",
        ))
    }
}

#[pymethods]
impl Ack {
    /// Segments that this ACK counts for growth. An ACK of new data counts 1, or up to 2 with `byte_counting`. A
    /// duplicate ACK counts 0.
    #[getter]
    fn acked(&self) -> f64 {
        self.core.acked
    }

    /// Segments newly known to be delivered, cumulatively or selectively.
    #[getter]
    fn delivered(&self) -> u32 {
        self.core.newly_delivered
    }

    /// Segments newly considered lost.
    #[getter]
    fn lost(&self) -> u32 {
        self.core.newly_lost
    }

    /// Packets newly reported as CE-marked. Only AccECN counts them.
    #[getter]
    fn ce(&self) -> u32 {
        self.core.ce_count
    }

    /// True if the ACK echoes a mark.
    #[getter]
    fn ece(&self) -> bool {
        self.core.ece
    }

    /// True on the first ACK of data sent after the end of the previous round trip.
    #[getter]
    fn round_ended(&self) -> bool {
        self.core.round_ended
    }

    /// True if the window limited the sender, and not the application or the receiver.
    #[getter]
    fn cwnd_limited(&self) -> bool {
        self.core.cwnd_limited
    }

    /// True during loss recovery.
    #[getter]
    fn in_recovery(&self) -> bool {
        self.core.in_recovery
    }

    /// True if a window should grow by this ACK (RFC 5681, RFC 3168). The ACK acknowledges new data and echoes no
    /// mark, the window was used, and the sender is not in recovery.
    #[getter]
    fn may_grow(&self) -> bool {
        Window::may_grow(&self.core)
    }

    /// The delivery rate in bit/s (draft-ietf-ccwg-bbr), or None if this ACK gives no sample. Needs `rate_samples =
    /// True`.
    #[getter]
    fn delivery_rate(&self) -> PyResult<Option<f64>> {
        let rate = self.sample()?.and_then(cc::RateSample::rate);
        Ok(rate.map(|rate| rate.as_bps() as f64))
    }

    /// True if the application, not the network, limited that sample. Needs `rate_samples = True`.
    #[getter]
    fn app_limited(&self) -> PyResult<bool> {
        Ok(self.sample()?.is_some_and(|sample| sample.app_limited))
    }

    fn __repr__(&self) -> String {
        format!("Ack(now={}, acked={})", self.core.now.as_secs_f64(), self.core.acked)
    }
}

/// A transmission is considered lost. Only a class with an `on_loss` gets these.
#[pyclass(extends = Event, module = "ackclock")]
pub struct Loss {
    core: cc::Loss,
}

impl Loss {
    fn of(core: cc::Loss, _has_rates: bool) -> Self {
        Loss { core }
    }
}

#[pymethods]
impl Loss {
    /// Payload bytes.
    #[getter]
    fn bytes(&self) -> u32 {
        self.core.bytes
    }

    /// True for data sent before: each transmission may be lost.
    #[getter]
    fn retransmission(&self) -> bool {
        self.core.retransmission
    }

    /// Payload bytes in flight when it was sent, with itself.
    #[getter]
    fn tx_in_flight(&self) -> u64 {
        self.core.tx_in_flight
    }

    /// Payload bytes lost since it was sent, with itself.
    #[getter]
    fn lost(&self) -> u64 {
        self.core.lost
    }

    /// True if the application, not the network, limited the sender when it was sent.
    #[getter]
    fn app_limited(&self) -> bool {
        self.core.app_limited
    }
}

/// Congestion was detected, at most once per window of data except for timeouts.
#[pyclass(extends = Event, module = "ackclock")]
pub struct Congestion {
    core: cc::Congestion,
}

impl Congestion {
    fn of(core: cc::Congestion, _has_rates: bool) -> Self {
        Congestion { core }
    }

    /// The event of the core.
    pub fn core(&self) -> &cc::Congestion {
        &self.core
    }
}

#[pymethods]
impl Congestion {
    /// The sign of congestion: "loss", "ecn" or "timeout".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.core.kind {
            CongestionKind::Loss => "loss",
            CongestionKind::Ecn => "ecn",
            CongestionKind::Timeout => "timeout",
        }
    }

    /// Segments sent and not acknowledged (RFC 5681's FlightSize).
    #[getter]
    fn flight_size(&self) -> u32 {
        self.core.flight_size
    }

    /// True if the window was cut before in the same window of data: ssthresh stays (RFC 3168, 6.1.2).
    #[getter]
    fn again(&self) -> bool {
        matches!(self.core.restart, Restart::SlowStartAgain | Restart::OneSegment)
    }
}

/// Loss recovery begins, ends, or was spurious.
#[pyclass(extends = Event, module = "ackclock")]
pub struct Recovery {
    core: cc::Recovery,
}

impl Recovery {
    fn of(core: cc::Recovery, _has_rates: bool) -> Self {
        Recovery { core }
    }

    /// The event of the core.
    pub fn core(&self) -> &cc::Recovery {
        &self.core
    }
}

#[pymethods]
impl Recovery {
    /// Segments sent and not acknowledged (RFC 5681's FlightSize).
    #[getter]
    fn flight_size(&self) -> u32 {
        self.core.flight_size
    }
}

/// A segment was handed to the network. Only a class with an `on_sent` gets these.
#[pyclass(extends = Event, module = "ackclock")]
pub struct Sent {
    core: cc::Sent,
}

impl Sent {
    fn of(core: cc::Sent, _has_rates: bool) -> Self {
        Sent { core }
    }
}

#[pymethods]
impl Sent {
    /// Payload bytes.
    #[getter]
    fn bytes(&self) -> u32 {
        self.core.bytes
    }

    /// True for data sent before.
    #[getter]
    fn retransmission(&self) -> bool {
        self.core.retransmission
    }
}
