//! A class of a user as an algorithm of the core.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use ackclock::cc::{
    self, CcContext, CcFactory, CongestionControl, CongestionKind, Departures, ForeignValue, Hosted, PythonClass,
};
use ackclock::units::{Instant, Rate};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyType};

use super::PACKAGE;
use super::class::CongestionControl as Base;
use super::event::{Ack, Congestion, FromCore, Loss, Recovery, Sent};
use super::progress::{Callback, Cells};
use super::window::Held;
use crate::error::RunError;

/// Makes an object of the user's class for each connection.
pub struct PythonFactory {
    class: Py<PyType>,
    parameters: Py<PyDict>,
    cells: &'static Cells,
}

impl PythonFactory {
    /// Loads the code again, so that it contains no state of an earlier run.
    pub fn new(py: Python<'_>, spec: &PythonClass, cells: &'static Cells) -> PyResult<Self> {
        let parameters = PyDict::new(py);
        for (name, value) in &spec.parameters {
            match value {
                ForeignValue::Bool(value) => parameters.set_item(name, value)?,
                ForeignValue::Integer(value) => parameters.set_item(name, value)?,
                ForeignValue::Number(value) => parameters.set_item(name, value)?,
                ForeignValue::Text(value) => parameters.set_item(name, value)?,
            }
        }
        let package = py.import(PACKAGE)?;
        let loaded = package.call_method1("load_class", (&spec.source, &spec.code));
        let class = loaded.map_err(|error| RunError::new_err(failure(py, &error)))?.cast_into::<PyType>()?;
        Ok(PythonFactory { class: class.unbind(), parameters: parameters.unbind(), cells })
    }

    fn make(&self, py: Python<'_>, context: &CcContext) -> PyResult<PythonController> {
        let class = self.class.bind(py);
        let object = class.call((), Some(self.parameters.bind(py)))?;
        let base = object.cast::<Base>()?;
        let plain = py.get_type::<Base>();
        let method = |callback: Callback| -> PyResult<Option<Py<PyAny>>> {
            let name = callback.name();
            let overrides = !class.getattr(name)?.is(plain.getattr(name)?);
            overrides.then(|| Ok(object.getattr(name)?.unbind())).transpose()
        };
        let flag = |name: &str| object.getattr(name)?.is_truthy();
        let owns_recovery = flag("owns_recovery")?;
        *base.borrow_mut().held() = Held::new(context, owns_recovery);
        let on_loss = method(Callback::Loss)?;
        let has_rates = on_loss.is_some() || flag("rate_samples")?;
        Ok(PythonController {
            methods: Methods {
                on_start: method(Callback::Start)?,
                on_ack: method(Callback::Ack)?,
                on_round: method(Callback::Round)?,
                on_loss,
                on_congestion: method(Callback::Congestion)?,
                on_timeout: method(Callback::Timeout)?,
                on_sent: method(Callback::Sent)?,
                on_recovery_enter: method(Callback::RecoveryEnter)?,
                on_recovery_exit: method(Callback::RecoveryExit)?,
                on_undo: method(Callback::Undo)?,
                on_resume: method(Callback::Resume)?,
                probe: method(Callback::Probe)?,
            },
            ack: None,
            sent: None,
            owns_recovery,
            responds_to_ecn: flag("responds_to_ecn")?,
            has_rates,
            cwnd: context.initial_window,
            least: context.initial_window,
            ssthresh: context.initial_ssthresh,
            pacing_rate: None,
            fault: OnceLock::new(),
            cells: self.cells,
            object: Some(base.clone().unbind()),
        })
    }
}

impl CcFactory for PythonFactory {
    fn build(&self, context: CcContext) -> Box<dyn CongestionControl> {
        let controller = Python::attach(|py| {
            self.cells.enter(Callback::Init, 0);
            let made = self.make(py, &context);
            self.cells.leave();
            match made {
                Ok(mut controller) => {
                    controller.start(py);
                    controller
                }
                Err(error) => PythonController::failed(failure(py, &error), self.cells),
            }
        });
        Box::new(controller)
    }
}

/// An exception of the user's code in words, with the places in it.
fn failure(py: Python<'_>, error: &PyErr) -> String {
    let told =
        py.import(PACKAGE).and_then(|package| package.call_method1("failure", (error.clone_ref(py).into_value(py),)));
    told.and_then(|text| text.extract()).unwrap_or_else(|_| error.to_string())
}

type Method = Option<Py<PyAny>>;

/// The methods of the user's class that are not the default ones.
#[derive(Default)]
struct Methods {
    on_start: Method,
    on_ack: Method,
    on_round: Method,
    on_loss: Method,
    on_congestion: Method,
    on_timeout: Method,
    on_sent: Method,
    on_recovery_enter: Method,
    on_recovery_exit: Method,
    on_undo: Method,
    on_resume: Method,
    probe: Method,
}

/// An object of the user's class, its methods, and the values that it has set.
pub struct PythonController {
    cwnd: f64,
    /// The smallest window to which `prr = "rate-halving"` reduces.
    least: f64,
    ssthresh: f64,
    pacing_rate: Option<Rate>,
    /// None if the class could not be made.
    object: Option<Py<Base>>,
    methods: Methods,
    /// The objects of the last ACK and the last segment, which are used again unless the class keeps them.
    ack: Option<Py<Ack>>,
    sent: Option<Py<Sent>>,
    cells: &'static Cells,
    fault: OnceLock<String>,
    owns_recovery: bool,
    responds_to_ecn: bool,
    has_rates: bool,
}

impl std::fmt::Debug for PythonController {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PythonController").field("cwnd", &self.cwnd).finish_non_exhaustive()
    }
}

impl PythonController {
    fn failed(fault: String, cells: &'static Cells) -> Self {
        PythonController {
            cwnd: f64::NAN,
            least: f64::NAN,
            ssthresh: f64::INFINITY,
            pacing_rate: None,
            object: None,
            methods: Methods::default(),
            ack: None,
            sent: None,
            cells,
            fault: OnceLock::from(fault),
            owns_recovery: false,
            responds_to_ecn: true,
            has_rates: false,
        }
    }

    /// Takes the values that the object has set.
    #[inline]
    fn read(&mut self, py: Python<'_>) {
        if let Some(object) = &self.object {
            let mut object = object.bind(py).borrow_mut();
            let held = object.held();
            held.take();
            (self.cwnd, self.least) = (held.segments(), held.least_in_recovery());
            self.ssthresh = held.seen.ssthresh;
            self.pacing_rate = Rate::from_bps(held.seen.pacing_rate as u64);
        }
        if self.fault.get().is_some() {
            self.cwnd = f64::NAN;
        }
    }

    /// Changes the window of the object, unless there is none.
    fn change<T: Default>(&self, py: Python<'_>, change: impl FnOnce(&mut Held) -> T) -> T {
        self.object.as_ref().map_or_else(T::default, |object| change(object.bind(py).borrow_mut().held()))
    }

    /// TCP Reno answers an event, where the class does not.
    fn standard(&self, py: Python<'_>, event: impl FnOnce(&mut Hosted)) {
        self.change(py, |held| held.standard(event));
    }

    fn fail(&self, py: Python<'_>, callback: Callback, error: &PyErr) {
        // The first failure is the one that counts.
        let _ = self.fault.set(format!("{}: {}", callback.name(), failure(py, error)));
    }

    /// Calls a method of the class, unless one has failed before.
    #[inline]
    fn call(&self, py: Python<'_>, method: &Py<PyAny>, callback: Callback, now: Instant, event: &Bound<'_, PyAny>) {
        if self.fault.get().is_some() {
            return;
        }
        self.cells.enter(callback, now.as_nanos());
        let called = call_with(py, method, event);
        self.cells.leave();
        if let Err(error) = called {
            self.fail(py, callback, &error);
        }
    }

    /// Calls a method with an event that is made for it.
    fn tell<E>(&mut self, callback: Callback, now: Instant, method: fn(&Self) -> &Method, core: E::Core)
    where
        E: FromCore,
    {
        Python::attach(|py| {
            if let Some(method) = method(self) {
                match E::new(py, core, self.has_rates) {
                    Ok(event) => self.call(py, method, callback, now, event.bind(py).as_any()),
                    Err(error) => self.fail(py, callback, &error),
                }
                self.read(py);
            }
        });
    }

    /// TCP Reno answers an event that the class does not override.
    fn answer(&mut self, event: impl FnOnce(&mut Hosted)) {
        Python::attach(|py| {
            self.standard(py, event);
            self.read(py);
        });
    }

    fn start(&mut self, py: Python<'_>) {
        if let Some(on_start) = &self.methods.on_start {
            self.cells.enter(Callback::Start, 0);
            let called = on_start.bind(py).call0();
            self.cells.leave();
            if let Err(error) = called {
                self.fail(py, Callback::Start, &error);
            }
        }
        self.read(py);
    }

    fn cut(&mut self, py: Python<'_>, congestion: &cc::Congestion) {
        let is_timeout = congestion.kind == CongestionKind::Timeout;
        let (callback, method) = match is_timeout {
            true => (Callback::Timeout, &self.methods.on_timeout),
            false => (Callback::Congestion, &self.methods.on_congestion),
        };
        match method {
            Some(method) => {
                let before = self.change(py, |held| held.begin(congestion));
                match Congestion::new(py, *congestion, self.has_rates) {
                    Ok(event) => self.call(py, method, callback, congestion.now, event.bind(py)),
                    Err(error) => self.fail(py, callback, &error),
                }
                self.change(py, |held| held.end(congestion, before));
            }
            None => self.standard(py, |tcp| tcp.on_congestion(congestion)),
        }
    }

    /// The numbers that the class reports for samples.
    fn probed(&self, py: Python<'_>, probe: &Py<PyAny>) -> PyResult<BTreeMap<String, f64>> {
        probe.bind(py).call0()?.extract()
    }
}

/// Calls a method with an argument. Unlike `call1`, which makes a tuple under the stable ABI of 3.11, this passes it as it is.
#[inline]
#[allow(unsafe_code)]
fn call_with(py: Python<'_>, method: &Py<PyAny>, argument: &Bound<'_, PyAny>) -> PyResult<()> {
    let end = std::ptr::null_mut::<pyo3::ffi::PyObject>();
    // SAFETY: the interpreter is held, both objects are alive, and the list of arguments ends with null.
    let result = unsafe { pyo3::ffi::PyObject_CallFunctionObjArgs(method.as_ptr(), argument.as_ptr(), end) };
    // SAFETY: it is null with an exception set, or a reference of ours.
    unsafe { Bound::from_owned_ptr_or_err(py, result) }.map(drop)
}

/// Whether nothing else holds an object.
#[inline]
#[allow(unsafe_code)]
fn is_ours_alone<E>(_py: Python<'_>, object: &Py<E>) -> bool {
    // SAFETY: the interpreter is held, and the object is alive.
    unsafe { pyo3::ffi::Py_REFCNT(object.as_ptr()) == 1 }
}

/// An event in the object of the last one, or in a new one where the class has kept that.
#[inline]
fn event<'py, E: FromCore>(
    py: Python<'py>,
    last: &mut Option<Py<E>>,
    core: E::Core,
    has_rates: bool,
) -> PyResult<Bound<'py, E>> {
    if let Some(object) = last
        && is_ours_alone(py, object)
    {
        let object = object.bind(py);
        E::replace(object, core);
        return Ok(object.clone());
    }
    let object = E::new(py, core, has_rates)?;
    Ok(last.insert(object).bind(py).clone())
}

impl CongestionControl for PythonController {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }

    fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    fn owns_recovery(&self) -> bool {
        self.owns_recovery
    }

    fn least_in_recovery(&self) -> f64 {
        self.least
    }

    fn congestion_may_raise(&self) -> bool {
        true
    }

    fn responds_to_ecn(&self) -> bool {
        self.responds_to_ecn
    }

    fn departures(&self) -> Departures {
        if self.methods.on_sent.is_some() { Departures::All } else { Departures::None }
    }

    fn needs_rate_samples(&self) -> bool {
        self.has_rates
    }

    fn on_sent(&mut self, core: &cc::Sent) {
        Python::attach(|py| {
            let sent = event(py, &mut self.sent, *core, false);
            if let Some(method) = &self.methods.on_sent {
                match sent {
                    Ok(sent) => self.call(py, method, Callback::Sent, core.now, &sent),
                    Err(error) => self.fail(py, Callback::Sent, &error),
                }
                self.read(py);
            }
        });
    }

    fn on_loss(&mut self, loss: &cc::Loss) {
        self.tell::<Loss>(Callback::Loss, loss.now, |this| &this.methods.on_loss, *loss);
    }

    fn on_ack(&mut self, core: &cc::Ack) {
        Python::attach(|py| {
            if self.methods.on_ack.is_none() {
                self.standard(py, |tcp| tcp.on_ack(core));
            }
            if self.methods.on_ack.is_some() || core.round_ended && self.methods.on_round.is_some() {
                let ack = match event(py, &mut self.ack, *core, self.has_rates) {
                    Ok(ack) => ack,
                    Err(error) => return self.fail(py, Callback::Ack, &error),
                };
                if let Some(on_round) = self.methods.on_round.as_ref().filter(|_| core.round_ended) {
                    self.call(py, on_round, Callback::Round, core.now, &ack);
                }
                if let Some(on_ack) = &self.methods.on_ack {
                    self.call(py, on_ack, Callback::Ack, core.now, &ack);
                }
            }
            self.read(py);
        });
    }

    fn on_congestion(&mut self, congestion: &cc::Congestion) {
        Python::attach(|py| {
            self.cut(py, congestion);
            self.read(py);
        });
    }

    fn on_recovery_enter(&mut self, recovery: &cc::Recovery) {
        self.tell::<Recovery>(Callback::RecoveryEnter, recovery.now, |this| &this.methods.on_recovery_enter, *recovery);
    }

    fn on_recovery_exit(&mut self, recovery: &cc::Recovery) {
        if self.methods.on_recovery_exit.is_none() {
            return self.answer(|tcp| tcp.on_recovery_exit(recovery));
        }
        self.tell::<Recovery>(Callback::RecoveryExit, recovery.now, |this| &this.methods.on_recovery_exit, *recovery);
    }

    fn on_undo(&mut self, recovery: &cc::Recovery) {
        if self.methods.on_undo.is_none() {
            return self.answer(|tcp| tcp.on_undo(recovery));
        }
        self.tell::<Recovery>(Callback::Undo, recovery.now, |this| &this.methods.on_undo, *recovery);
    }

    fn on_limit(&mut self, segments: f64) {
        self.answer(|tcp| tcp.on_limit(segments));
    }

    fn on_resume(&mut self, now: Instant) {
        Python::attach(|py| {
            match &self.methods.on_resume {
                Some(method) => {
                    let seconds = PyFloat::new(py, now.as_secs_f64());
                    self.call(py, method, Callback::Resume, now, &seconds);
                }
                None => self.standard(py, |tcp| tcp.on_resume(now)),
            }
            self.read(py);
        });
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        let Some(probe) = self.methods.probe.as_ref().filter(|_| self.fault.get().is_none()) else { return };
        Python::attach(|py| {
            self.cells.enter(Callback::Probe, 0);
            let probed = self.probed(py, probe);
            self.cells.leave();
            match probed {
                Ok(numbers) => numbers.iter().for_each(|(name, value)| report(&format!("cc.{name}"), *value)),
                Err(error) => self.fail(py, Callback::Probe, &error),
            }
        });
    }
}
