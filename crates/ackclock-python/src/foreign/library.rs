//! Shared objects with the interface of `ackclock_cc.h`.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Arc, Mutex};

use ackclock::cc::{
    self, CcContext, CcFactory, CongestionControl, CongestionKind, Departures, ForeignValue, PathView, Restart,
    SharedLibrary,
};
use ackclock::units::{Instant, Rate};
use libloading::Library;
use pyo3::prelude::*;

use super::progress::{Callback, Cells};
use super::window::{Held, Window};
use crate::error::RunError;

const VERSION: u32 = 1;
const ENTRY: &CStr = c"ackclock_cc_get";
const OWNS_RECOVERY: u32 = 1;
const IGNORES_ECN: u32 = 2;
const RATE_SAMPLES: u32 = 4;
/// More items than any table contains. A larger number is invalid.
const MOST_ITEMS: u32 = 1000;
/// Bytes of state that a flow may have.
const MOST_STATE: u32 = 1 << 24;

#[derive(Clone, Copy)]
#[repr(C)]
struct Path {
    now: f64,
    rtt: f64,
    srtt: f64,
    min_rtt: f64,
    in_flight_bytes: u64,
    in_flight: u32,
    mss: u32,
}

impl Path {
    #[inline]
    fn new(now: Instant, path: &PathView) -> Self {
        Path {
            now: now.as_secs_f64(),
            rtt: path.latest_rtt.as_secs_f64(),
            srtt: path.srtt.as_secs_f64(),
            min_rtt: path.min_rtt.as_secs_f64(),
            in_flight_bytes: path.in_flight_bytes,
            in_flight: path.in_flight,
            mss: path.mss,
        }
    }
}

#[repr(C)]
struct Ack {
    path: Path,
    acked: f64,
    delivery_rate: f64,
    delivered: u32,
    lost: u32,
    ce: u32,
    may_grow: bool,
    ece: bool,
    round_ended: bool,
    cwnd_limited: bool,
    in_recovery: bool,
    app_limited: bool,
    reserved: [u8; 6],
}

#[repr(C)]
struct Loss {
    path: Path,
    tx_in_flight: u64,
    lost: u64,
    bytes: u32,
    retransmission: bool,
    app_limited: bool,
    reserved: [u8; 2],
}

#[repr(C)]
struct Congestion {
    path: Path,
    kind: u32,
    flight_size: u32,
    again: bool,
    reserved: [u8; 7],
}

#[repr(C)]
struct Recovery {
    path: Path,
    flight_size: u32,
    reserved: u32,
}

#[repr(C)]
struct Sent {
    path: Path,
    bytes: u32,
    retransmission: bool,
    reserved: [u8; 3],
}

#[repr(C)]
struct RawParameter {
    name: *const c_char,
    value: f64,
    low: f64,
    high: f64,
}

type Event<E> = Option<unsafe extern "C" fn(*mut c_void, *mut Window, *const E)>;

/// The table that a library exports.
#[derive(Clone, Copy)]
#[repr(C)]
struct Table {
    version: u32,
    size: u32,
    name: *const c_char,
    state_size: u32,
    flags: u32,
    parameters: *const RawParameter,
    probe_names: *const *const c_char,
    parameter_count: u32,
    probe_count: u32,
    start: Event<f64>,
    on_ack: Event<Ack>,
    on_congestion: Event<Congestion>,
    on_timeout: Event<Congestion>,
    on_loss: Event<Loss>,
    on_sent: Event<Sent>,
    on_recovery_enter: Event<Recovery>,
    on_recovery_exit: Event<Recovery>,
    on_undo: Event<Recovery>,
    on_resume: Option<unsafe extern "C" fn(*mut c_void, *mut Window, f64)>,
    probe: Option<unsafe extern "C" fn(*const c_void, *mut f64)>,
}

/// A loaded library, which stays loaded for the life of the process.
pub struct Loaded {
    table: Table,
    name: String,
    parameters: Vec<Parameter>,
    probes: Vec<String>,
    /// Code of the library may run until the end.
    _library: Library,
}

// SAFETY: the table is copied, and its functions may be called from any thread, each with its own state.
unsafe impl Send for Loaded {}
// SAFETY: nothing in it changes.
unsafe impl Sync for Loaded {}

/// A parameter that a library declares.
struct Parameter {
    name: String,
    value: f64,
    low: f64,
    high: f64,
}

/// The libraries of this process, by the hash of their content.
static LOADED: Mutex<Vec<(String, Arc<Loaded>)>> = Mutex::new(Vec::new());

impl Loaded {
    /// The library at `path`, whose content is `sha256`.
    fn get(path: &str, sha256: &str) -> Result<Arc<Loaded>, String> {
        let mut loaded = LOADED.lock().map_err(|_| "another library failed to load".to_owned())?;
        if let Some((_, found)) = loaded.iter().find(|(content, _)| content == sha256) {
            return Ok(found.clone());
        }
        let found = Arc::new(Loaded::load(path)?);
        loaded.push((sha256.to_owned(), found.clone()));
        Ok(found)
    }

    fn load(path: &str) -> Result<Loaded, String> {
        // SAFETY: what a library does as it is loaded is the user's; it happens in a process for that.
        let library =
            unsafe { Library::new(path) }.map_err(|error| format!("cannot be loaded: {}", in_words(&error)))?;
        // SAFETY: the header declares the type of the symbol.
        let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const Table>(ENTRY.to_bytes_with_nul()) };
        let entry = entry.map_err(|_| {
            format!("exports no {}; include ackclock_cc.h, and define it as the header says", ENTRY.to_string_lossy())
        })?;
        // SAFETY: the header says that it takes nothing.
        let table = unsafe { entry() };
        if table.is_null() {
            return Err(format!("{} returns NULL", ENTRY.to_string_lossy()));
        }
        // SAFETY: whatever the version, a table begins with two numbers.
        let (version, size) = unsafe { ((*table).version, (*table).size) };
        if version != VERSION {
            return Err(format!(
                "has version {version} of the interface, and this ackclock version {VERSION}; compile it with the \
                 header of this ackclock"
            ));
        }
        if size as usize != size_of::<Table>() {
            let expected = size_of::<Table>();
            return Err(format!(
                "has a table of {size} bytes instead of {expected}; set size to sizeof(ackclock_cc), and compile it \
                 with the header of this ackclock"
            ));
        }
        // SAFETY: it has this version and size.
        let table = unsafe { *table };
        // SAFETY: the header says that names end with a zero, and how many there are.
        let (name, parameters, probes) = unsafe { (text(table.name, "name")?, parameters(&table)?, probes(&table)?) };
        if table.state_size > MOST_STATE {
            return Err(format!("has a state_size of {} bytes; at most {MOST_STATE}", table.state_size));
        }
        Ok(Loaded { table, name, parameters, probes, _library: library })
    }
}

/// The loader's message, without the parts about the loader itself.
fn in_words(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}

/// # Safety
/// `pointer` is null, or points to a text that ends with a zero.
unsafe fn text(pointer: *const c_char, what: &str) -> Result<String, String> {
    if pointer.is_null() {
        return Err(format!("has a table without a {what}"));
    }
    // SAFETY: as above.
    Ok(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// # Safety
/// The table is one of the header's.
unsafe fn parameters(table: &Table) -> Result<Vec<Parameter>, String> {
    let count = items(table.parameter_count, table.parameters.is_null(), "parameters")?;
    (0..count)
        .map(|index| {
            // SAFETY: the table says how many there are.
            let raw = unsafe { &*table.parameters.add(index) };
            // SAFETY: a name ends with a zero.
            let name = unsafe { text(raw.name, "name of a parameter") }?;
            if !raw.value.is_finite() {
                return Err(format!("has a parameter {name:?} whose default is {}", raw.value));
            }
            Ok(Parameter { name, value: raw.value, low: raw.low, high: raw.high })
        })
        .collect()
}

/// # Safety
/// The table is one of the header's.
unsafe fn probes(table: &Table) -> Result<Vec<String>, String> {
    let count = items(table.probe_count, table.probe_names.is_null() || table.probe.is_none(), "probe")?;
    // SAFETY: the table says how many there are, and a name ends with a zero.
    (0..count).map(|index| unsafe { text(*table.probe_names.add(index), "name of a probe") }).collect()
}

fn items(count: u32, is_missing: bool, what: &str) -> Result<usize, String> {
    match count {
        0 => Ok(0),
        _ if is_missing => Err(format!("has a table with {what} that is NULL, but a count of {count}")),
        1..=MOST_ITEMS => Ok(count as usize),
        _ => Err(format!("has a table with {count} {what}; at most {MOST_ITEMS}")),
    }
}

/// A parameter as Python gets it: name, default, and range.
type Row = (String, f64, f64, f64);

/// The name and the parameters of a shared object.
#[pyfunction]
pub fn describe_library(py: Python<'_>, path: &str, sha256: &str) -> PyResult<(String, Vec<Row>)> {
    let loaded = py.detach(|| Loaded::get(path, sha256)).map_err(RunError::new_err)?;
    let row = |parameter: &Parameter| (parameter.name.clone(), parameter.value, parameter.low, parameter.high);
    Ok((loaded.name.clone(), loaded.parameters.iter().map(row).collect()))
}

/// Gives each connection its state.
pub struct LibraryFactory {
    loaded: Arc<Loaded>,
    values: Vec<f64>,
    cells: &'static Cells,
}

impl LibraryFactory {
    pub fn new(spec: &SharedLibrary, cells: &'static Cells) -> PyResult<Self> {
        let loaded = Loaded::get(&spec.path, &spec.sha256)
            .map_err(|message| RunError::new_err(format!("{}: {message}", spec.path)))?;
        let value = |parameter: &Parameter| match spec.parameters.get(&parameter.name) {
            Some(ForeignValue::Bool(value)) => f64::from(*value),
            Some(ForeignValue::Integer(value)) => *value as f64,
            Some(ForeignValue::Number(value)) => *value,
            Some(ForeignValue::Text(_)) | None => parameter.value,
        };
        let values = loaded.parameters.iter().map(value).collect();
        Ok(LibraryFactory { loaded, values, cells })
    }
}

impl CcFactory for LibraryFactory {
    fn build(&self, context: CcContext) -> Box<dyn CongestionControl> {
        let blocks = (self.loaded.table.state_size as usize).div_ceil(size_of::<Block>()).max(1);
        let mut controller = LibraryController {
            held: Held::new(&context, self.loaded.table.flags & OWNS_RECOVERY != 0),
            table: self.loaded.table,
            state: State(UnsafeCell::new(vec![Block([0; 16]); blocks].into_boxed_slice())),
            fault: None,
            cells: self.cells,
            loaded: self.loaded.clone(),
        };
        if let Some(start) = self.loaded.table.start {
            controller.call(Callback::Start, Instant::ZERO, |state, window| {
                // SAFETY: the state has the size that the table gives, and there is a value for each parameter.
                unsafe { start(state, window, self.values.as_ptr()) }
            });
            controller.held.take();
        }
        Box::new(controller)
    }
}

/// Aligned for every C type.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Block([u8; 16]);

/// The state of a flow, which only the library knows.
struct State(UnsafeCell<Box<[Block]>>);

// SAFETY: the header says that a state may move between threads; it is used by one at a time.
unsafe impl Send for State {}

impl State {
    #[inline]
    fn pointer(&self) -> *mut c_void {
        // SAFETY: nothing else refers to the blocks while a function of the library runs.
        unsafe { (*self.0.get()).as_mut_ptr().cast() }
    }
}

/// The functions of a library, with the state of a flow.
struct LibraryController {
    held: Held,
    table: Table,
    state: State,
    fault: Option<Box<str>>,
    cells: &'static Cells,
    loaded: Arc<Loaded>,
}

// SAFETY: the table is that of `loaded`.
unsafe impl Send for LibraryController {}

impl std::fmt::Debug for LibraryController {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LibraryController").field("name", &self.loaded.name).field("window", &self.held.seen).finish()
    }
}

impl LibraryController {
    /// Calls a function, and takes the values that it has set.
    #[inline]
    fn call(&mut self, callback: Callback, now: Instant, function: impl FnOnce(*mut c_void, *mut Window)) {
        if self.fault.is_some() {
            return;
        }
        self.cells.enter(callback, now.as_nanos());
        function(self.state.pointer(), &raw mut self.held.seen);
        self.cells.leave();
        if let Some(fault) = self.held.seen.fault() {
            self.fail(callback, &fault);
        }
    }

    #[cold]
    fn fail(&mut self, callback: Callback, fault: &str) {
        self.fault = Some(format!("{}: {fault}", callback.name()).into());
    }

    /// Calls a function with an event, if the library has it.
    #[inline]
    fn tell<E>(&mut self, callback: Callback, now: Instant, function: Event<E>, event: impl FnOnce() -> E) -> bool {
        let Some(function) = function else { return false };
        let event = event();
        // SAFETY: the state has the size that the table gives; window and event are those of the header.
        self.call(callback, now, |state, window| unsafe { function(state, window, &raw const event) });
        true
    }

    fn recovery(&mut self, callback: Callback, function: Event<Recovery>, core: &cc::Recovery) {
        self.tell(callback, core.now, function, || Recovery {
            path: Path::new(core.now, &core.path),
            flight_size: core.flight_size,
            reserved: 0,
        });
        self.held.take();
    }

    fn has(&self, flag: u32) -> bool {
        self.table.flags & flag != 0
    }
}

impl CongestionControl for LibraryController {
    #[inline]
    fn cwnd(&self) -> f64 {
        if self.fault.is_some() { f64::NAN } else { self.held.segments() }
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.held.seen.ssthresh
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bps(self.held.seen.pacing_rate as u64)
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    fn owns_recovery(&self) -> bool {
        self.has(OWNS_RECOVERY)
    }

    fn least_in_recovery(&self) -> f64 {
        self.held.least_in_recovery()
    }

    fn congestion_may_raise(&self) -> bool {
        true
    }

    fn responds_to_ecn(&self) -> bool {
        !self.has(IGNORES_ECN)
    }

    fn departures(&self) -> Departures {
        if self.table.on_sent.is_some() { Departures::All } else { Departures::None }
    }

    fn needs_rate_samples(&self) -> bool {
        self.has(RATE_SAMPLES) || self.table.on_loss.is_some()
    }

    fn on_sent(&mut self, core: &cc::Sent) {
        self.tell(Callback::Sent, core.now, self.table.on_sent, || Sent {
            path: Path::new(core.now, &core.path),
            bytes: core.bytes,
            retransmission: core.retransmission,
            reserved: [0; 3],
        });
        self.held.take();
    }

    fn on_loss(&mut self, core: &cc::Loss) {
        self.tell(Callback::Loss, core.now, self.table.on_loss, || Loss {
            path: Path::new(core.now, &core.path),
            tx_in_flight: core.tx_in_flight,
            lost: core.lost,
            bytes: core.bytes,
            retransmission: core.retransmission,
            app_limited: core.app_limited,
            reserved: [0; 2],
        });
        self.held.take();
    }

    #[inline]
    fn on_ack(&mut self, core: &cc::Ack) {
        let is_told = self.tell(Callback::Ack, core.now, self.table.on_ack, || Ack {
            path: Path::new(core.now, &core.path),
            acked: core.acked,
            delivery_rate: core.rate.and_then(|sample| sample.rate()).map_or(0.0, |rate| rate.as_bps() as f64),
            delivered: core.newly_delivered,
            lost: core.newly_lost,
            ce: core.ce_count,
            may_grow: Window::may_grow(core),
            ece: core.ece,
            round_ended: core.round_ended,
            cwnd_limited: core.cwnd_limited,
            in_recovery: core.in_recovery,
            app_limited: core.rate.is_some_and(|sample| sample.app_limited),
            reserved: [0; 6],
        });
        match is_told {
            true => self.held.take(),
            false => self.held.standard(|tcp| tcp.on_ack(core)),
        }
    }

    fn on_congestion(&mut self, core: &cc::Congestion) {
        let (callback, function) = match core.kind {
            CongestionKind::Timeout => (Callback::Timeout, self.table.on_timeout),
            CongestionKind::Loss | CongestionKind::Ecn => (Callback::Congestion, self.table.on_congestion),
        };
        if function.is_none() {
            return self.held.standard(|tcp| tcp.on_congestion(core));
        }
        let before = self.held.begin(core);
        self.tell(callback, core.now, function, || Congestion {
            path: Path::new(core.now, &core.path),
            kind: match core.kind {
                CongestionKind::Loss => 0,
                CongestionKind::Ecn => 1,
                CongestionKind::Timeout => 2,
            },
            flight_size: core.flight_size,
            again: matches!(core.restart, Restart::SlowStartAgain | Restart::OneSegment),
            reserved: [0; 7],
        });
        self.held.end(core, before);
    }

    fn on_recovery_enter(&mut self, core: &cc::Recovery) {
        self.recovery(Callback::RecoveryEnter, self.table.on_recovery_enter, core);
    }

    fn on_recovery_exit(&mut self, core: &cc::Recovery) {
        match self.table.on_recovery_exit {
            None => self.held.standard(|tcp| tcp.on_recovery_exit(core)),
            told => self.recovery(Callback::RecoveryExit, told, core),
        }
    }

    fn on_undo(&mut self, core: &cc::Recovery) {
        match self.table.on_undo {
            None => self.held.standard(|tcp| tcp.on_undo(core)),
            told => self.recovery(Callback::Undo, told, core),
        }
    }

    fn on_limit(&mut self, segments: f64) {
        self.held.standard(|tcp| tcp.on_limit(segments));
    }

    fn on_resume(&mut self, now: Instant) {
        match self.table.on_resume {
            // SAFETY: the state has the size that the table gives.
            Some(resume) => self.call(Callback::Resume, now, |state, window| unsafe {
                resume(state, window, now.as_secs_f64());
            }),
            None => self.held.standard(|tcp| tcp.on_resume(now)),
        }
        self.held.take();
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        let Some(probe) = self.table.probe.filter(|_| self.fault.is_none() && !self.loaded.probes.is_empty()) else {
            return;
        };
        let mut values = vec![f64::NAN; self.loaded.probes.len()];
        self.cells.enter(Callback::Probe, 0);
        // SAFETY: there is room for as many numbers as the table gives names.
        unsafe { probe(self.state.pointer(), values.as_mut_ptr()) };
        self.cells.leave();
        for (name, value) in self.loaded.probes.iter().zip(values) {
            report(&format!("cc.{name}"), value);
        }
    }
}

// The header has these sizes for 64 bits.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Path>() == 48 && size_of::<Ack>() == 88 && size_of::<Loss>() == 72);
    assert!(size_of::<Congestion>() == 64 && size_of::<Recovery>() == 56 && size_of::<Sent>() == 56);
    assert!(size_of::<RawParameter>() == 32 && size_of::<Table>() == 136);
};
