//! Which callback runs: noted where another thread, or the process that waits for the result, can see it.

#![allow(unsafe_code)]
// What watches callbacks that take no end reads a clock.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::Needs;
use crate::error::Overdue;

/// How long a callback may take, and the variable of the environment that says otherwise, in seconds.
const LIMIT: Duration = Duration::from_secs(10);
const LIMIT_VARIABLE: &str = "ACKCLOCK_CALLBACK_SECONDS";

/// A callback of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Callback {
    /// None is running.
    None,
    /// The algorithm is made.
    Init,
    /// `on_start`.
    Start,
    /// `on_ack`.
    Ack,
    /// `on_loss`.
    Loss,
    /// `on_congestion`.
    Congestion,
    /// `on_timeout`.
    Timeout,
    /// `on_sent`.
    Sent,
    /// `on_recovery_enter`.
    RecoveryEnter,
    /// `on_recovery_exit`.
    RecoveryExit,
    /// `on_undo`.
    Undo,
    /// `on_round`.
    Round,
    /// `on_resume`.
    Resume,
    /// `probe`.
    Probe,
}

impl Callback {
    /// Names, in the order of the discriminants.
    pub const NAMES: [&'static str; 14] = [
        "",
        "__init__",
        "on_start",
        "on_ack",
        "on_loss",
        "on_congestion",
        "on_timeout",
        "on_sent",
        "on_recovery_enter",
        "on_recovery_exit",
        "on_undo",
        "on_round",
        "on_resume",
        "probe",
    ];

    /// The name of its method.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The progress of one run: the callback, the number of callbacks, and the simulated time.
///
/// The worker's process shares them with its parent as numbers of 64 bits.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Cells {
    callback: AtomicU64,
    count: AtomicU64,
    now_ns: AtomicU64,
    /// The thread of the run, as Python numbers it.
    thread: AtomicU64,
}

/// The address of the page that the parent reads, zero outside of a worker process.
static PAGE: AtomicUsize = AtomicUsize::new(0);
/// Cells of runs that have ended.
static FREE: Mutex<Vec<&'static Cells>> = Mutex::new(Vec::new());

impl Cells {
    /// Cells for a run. A worker process uses the shared page, because it runs one at a time.
    pub fn take() -> &'static Cells {
        match PAGE.load(Ordering::Relaxed) {
            0 => FREE.lock().ok().and_then(|mut free| free.pop()).unwrap_or_else(|| Box::leak(Box::default())),
            // SAFETY: `share_progress` checked its size and alignment, and never gives the buffer back.
            page => unsafe { &*(page as *const Cells) },
        }
    }

    /// Notes that the run executes in this thread.
    pub fn begin(&self, py: Python<'_>) -> PyResult<()> {
        let ident: u64 = py.import("threading")?.call_method0("get_ident")?.extract()?;
        self.thread.store(ident, Ordering::Relaxed);
        Ok(())
    }

    /// The run has ended.
    pub fn put_back(&'static self) {
        self.leave();
        if PAGE.load(Ordering::Relaxed) == 0
            && let Ok(mut free) = FREE.lock()
        {
            free.push(self);
        }
    }

    /// A callback begins.
    #[inline]
    pub fn enter(&self, callback: Callback, now_ns: u64) {
        self.count.store(self.count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.now_ns.store(now_ns, Ordering::Relaxed);
        self.callback.store(callback as u64, Ordering::Relaxed);
    }

    /// It has ended.
    #[inline]
    pub fn leave(&self) {
        self.callback.store(Callback::None as u64, Ordering::Relaxed);
    }
}

/// Ends callbacks of Python that take no end, by an exception at the line that runs.
pub struct Watch {
    cells: &'static Cells,
    limit: Option<Duration>,
    /// The number of the callback that was running, and for how long one has waited for its end.
    seen: (u64, Duration),
}

impl Watch {
    /// Watches the callbacks of a run. A run without Python code has none.
    pub fn new(cells: &'static Cells, needs: Needs) -> Self {
        let limit = needs.interpreter.then(limit);
        Watch { cells, limit, seen: (u64::MAX, Duration::ZERO) }
    }

    /// Waits for the run until `timeout` has passed.
    pub fn wait<T>(&mut self, run: &mut Receiver<T>, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let received = run.recv_timeout(timeout);
        if matches!(received, Err(RecvTimeoutError::Timeout)) && self.is_overdue(timeout) {
            let thread = self.cells.thread.load(Ordering::Relaxed);
            // Another thread waits for the interpreter, because this thread continues to watch.
            std::thread::spawn(move || interrupt(thread));
            self.seen.1 = Duration::ZERO;
        }
        received
    }

    /// True once a callback has run for longer than the limit. `waited` is the additional time.
    fn is_overdue(&mut self, waited: Duration) -> bool {
        let count = self.cells.count.load(Ordering::Relaxed);
        let is_running = self.cells.callback.load(Ordering::Relaxed) != Callback::None as u64;
        let so_far = if is_running && self.seen.0 == count { self.seen.1 + waited } else { Duration::ZERO };
        self.seen = (count, so_far);
        self.limit.is_some_and(|limit| so_far > limit)
    }
}

/// How long a callback may take.
fn limit() -> Duration {
    let given = std::env::var(LIMIT_VARIABLE).ok().and_then(|text| text.parse::<f64>().ok());
    let seconds = given.filter(|seconds| (0.1..=1e6).contains(seconds));
    seconds.map_or(LIMIT, Duration::from_secs_f64)
}

/// Raises `Overdue` in a thread of Python.
fn interrupt(thread: u64) {
    Python::attach(|py| {
        let exception = py.get_type::<Overdue>();
        // SAFETY: the interpreter is held, and the exception is a class.
        unsafe { pyo3::ffi::PyThreadState_SetAsyncExc(thread as std::ffi::c_long, exception.as_ptr()) };
    });
}

/// How long a callback may take, in seconds: 10, or `ACKCLOCK_CALLBACK_SECONDS`.
#[pyfunction]
pub fn callback_limit_s() -> f64 {
    limit().as_secs_f64()
}

/// The names of callbacks, by the number that stands for each where progress is shared.
#[pyfunction]
pub fn callback_names() -> [&'static str; 14] {
    Callback::NAMES
}

/// Notes the callbacks of every later run of this process in `buffer`.
///
/// Callback, count, time in ns and thread, of 64 bits each.
#[pyfunction]
pub fn share_progress(buffer: PyBuffer<u8>) -> PyResult<()> {
    let address = buffer.buf_ptr() as usize;
    if buffer.len_bytes() < size_of::<Cells>() || !address.is_multiple_of(align_of::<Cells>()) || buffer.readonly() {
        return Err(PyValueError::new_err("the buffer must hold four aligned numbers of 64 bits"));
    }
    // Callbacks write to it as long as the process lives.
    std::mem::forget(buffer);
    PAGE.store(address, Ordering::Relaxed);
    Ok(())
}
