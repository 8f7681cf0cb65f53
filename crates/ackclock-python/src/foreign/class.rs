//! The class that algorithms of users inherit.

use std::collections::BTreeMap;

use ackclock::cc::CcContext;
use ackclock::units::Instant;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::event::{Ack, Congestion, Loss, Recovery, Sent};
use super::window::Held;

/// A congestion-control algorithm: inherit from it, and override the events that matter.
///
/// Methods that a class does not override follow TCP Reno (RFC 5681). The window grows in slow start below ssthresh,
/// and by one segment per round trip above it. A loss or mark halves the window. Windows are in segments with
/// fractions, times in seconds, rates in bit/s. The fields of a dataclass are the parameters.
#[pyclass(subclass, module = "ackclock")]
pub struct CongestionControl {
    held: Held,
}

impl CongestionControl {
    /// The window of the connection.
    pub fn held(&mut self) -> &mut Held {
        &mut self.held
    }
}

/// The number in `value`, which `name` is set to.
fn number(name: &str, value: &Bound<'_, PyAny>, least: f64, most: f64, range: &str) -> PyResult<f64> {
    let Ok(number) = value.extract::<f64>() else {
        let found = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name} must be a number, not {found}")));
    };
    if !(least..=most).contains(&number) {
        return Err(PyValueError::new_err(format!("{name} must be {range}, not {number}")));
    }
    Ok(number)
}

#[pymethods]
impl CongestionControl {
    #[new]
    #[pyo3(signature = (*_args, **_parameters))]
    fn new(_args: &Bound<'_, PyTuple>, _parameters: Option<&Bound<'_, PyDict>>) -> Self {
        CongestionControl { held: Held::new(&CcContext::new(10.0), false) }
    }

    /// True for a class that sets the window itself during loss recovery, from ACK to ACK, and after timeouts.
    #[classattr]
    #[allow(non_upper_case_globals)]
    const owns_recovery: bool = false;

    /// False for a class that does not reduce its rate for marks. It then also learns of losses in a marked window.
    #[classattr]
    #[allow(non_upper_case_globals)]
    const responds_to_ecn: bool = true;

    /// True for a class that reads `ack.delivery_rate`.
    #[classattr]
    #[allow(non_upper_case_globals)]
    const rate_samples: bool = false;

    /// The congestion window in segments. The sender uses whole segments, and at least one.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.held.seen.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.held.seen.cwnd = number("cwnd", value, 0.0, f64::MAX, "finite and not negative")?;
        Ok(())
    }

    /// The slow-start threshold in segments, infinite until something sets it.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.held.seen.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.held.seen.ssthresh = number("ssthresh", value, 0.0, f64::INFINITY, "a number that is not negative")?;
        Ok(())
    }

    /// The pacing rate in bit/s. With None, the sender sends as fast as the window permits.
    #[getter]
    fn pacing_rate(&self) -> Option<f64> {
        let rate = self.held.seen.pacing_rate;
        (rate != 0.0).then_some(rate)
    }

    #[setter]
    fn set_pacing_rate(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.held.seen.pacing_rate = if value.is_none() {
            0.0
        } else {
            number("pacing_rate", value, 1.0, f64::MAX, "finite and at least 1 bit/s, or None")?
        };
        Ok(())
    }

    /// The window that the connection began with, in segments.
    #[getter]
    fn initial_window(&self) -> f64 {
        self.held.seen.initial_window
    }

    /// True below ssthresh.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.held.seen.cwnd < self.held.seen.ssthresh
    }

    /// The connection begins. cwnd and ssthresh contain their first values.
    fn on_start(&self) {}

    /// An ACK reports data delivered, data lost, or marks.
    ///
    /// By default the window grows as in RFC 5681 if `ack.may_grow`. In slow start it grows by the acknowledged
    /// segments, above it by one segment per round trip.
    fn on_ack(&mut self, ack: PyRef<'_, Ack>) {
        self.held.standard(|tcp| tcp.on_ack(ack.core()));
    }

    /// A round trip has ended. The call precedes `on_ack` of the same ACK.
    fn on_round(&self, ack: PyRef<'_, Ack>) {
        drop(ack);
    }

    /// A loss or a mark shows congestion, at most once per window of data.
    ///
    /// By default half of the window is left, and ssthresh is the same, at least two segments.
    fn on_congestion(&mut self, congestion: PyRef<'_, Congestion>) {
        self.held.standard(|tcp| tcp.on_congestion(congestion.core()));
    }

    /// The retransmission timer expired, or QUIC found persistent congestion.
    ///
    /// By default ssthresh becomes half of the window. The window is one segment afterwards, two over QUIC, unless
    /// the class owns recovery.
    fn on_timeout(&mut self, congestion: PyRef<'_, Congestion>) {
        self.held.standard(|tcp| tcp.on_congestion(congestion.core()));
    }

    /// A single transmission is considered lost. The call precedes `on_ack` of the ACK that shows it.
    fn on_loss(&self, loss: PyRef<'_, Loss>) {
        drop(loss);
    }

    /// A segment was handed to the network.
    fn on_sent(&self, sent: PyRef<'_, Sent>) {
        drop(sent);
    }

    /// Loss recovery begins, after `on_congestion`.
    fn on_recovery_enter(&self, recovery: PyRef<'_, Recovery>) {
        drop(recovery);
    }

    /// Everything sent before recovery began is acknowledged.
    fn on_recovery_exit(&mut self, recovery: PyRef<'_, Recovery>) {
        self.held.standard(|tcp| tcp.on_recovery_exit(recovery.core()));
    }

    /// The last congestion event was spurious. By default window and ssthresh return at least to their values before
    /// it.
    fn on_undo(&mut self, recovery: PyRef<'_, Recovery>) {
        self.held.standard(|tcp| tcp.on_undo(recovery.core()));
    }

    /// The sender resumes at `now` in seconds, after an idle time longer than its RTO.
    ///
    /// By default `idle_window` of the transport sets the window. It becomes at most the initial window (RFC 5681,
    /// 4.1), or half of the window for each RTO (Linux).
    fn on_resume(&mut self, now: f64) {
        let now = Instant::from_nanos((now * 1e9) as u64);
        self.held.standard(|tcp| tcp.on_resume(now));
    }

    /// Numbers for samples over time, by name. By default there are none. Each sample calls it.
    fn probe(&self) -> BTreeMap<String, f64> {
        BTreeMap::new()
    }
}
