//! The interface of `ackclock_cc.h`, version 1, for Rust: implement [`Algorithm`], and `export!` it.
#![allow(dead_code)]

use std::ffi::{c_char, c_void, CStr};

/// The values that the algorithm sets.
#[repr(C)]
pub struct Window {
    /// Segments, finite and not negative. At least one segment is sent.
    pub cwnd: f64,
    /// Segments. Infinite until something sets it.
    pub ssthresh: f64,
    /// bit/s. 0 sends all segments that the window permits at once.
    pub pacing_rate: f64,
    /// Segments at the start of the connection, read only.
    pub initial_window: f64,
}

/// The time, and the sender's measurements of the path after the event, in seconds. 0 before the first measurement.
#[repr(C)]
pub struct Path {
    /// Since the start of the run. Only differences should matter.
    pub now: f64,
    pub rtt: f64,
    pub srtt: f64,
    pub min_rtt: f64,
    pub in_flight_bytes: u64,
    /// Segments.
    pub in_flight: u32,
    /// Payload bytes of a full segment.
    pub mss: u32,
}

/// An ACK with new information. The last members are 0 or 1.
#[repr(C)]
pub struct Ack {
    pub path: Path,
    /// Segments that may count for growth. 0 for a duplicate ACK.
    pub acked: f64,
    /// bit/s. 0 if there is no sample.
    pub delivery_rate: f64,
    pub delivered: u32,
    pub lost: u32,
    pub ce: u32,
    /// New data, of a window that was used, outside of recovery, without a mark.
    pub may_grow: u8,
    pub ece: u8,
    pub round_ended: u8,
    pub cwnd_limited: u8,
    pub in_recovery: u8,
    pub app_limited: u8,
    reserved: [u8; 6],
}

/// A loss, a mark, or the retransmission timer.
#[repr(C)]
pub struct Congestion {
    pub path: Path,
    /// 0 for a loss, 1 for a mark, 2 for a timeout.
    pub kind: u32,
    /// Segments sent and not acknowledged.
    pub flight_size: u32,
    pub again: u8,
    reserved: [u8; 7],
}

/// A parameter: its name in a scenario, its default, and the range that `ackclock tune` searches.
#[repr(C)]
pub struct Parameter {
    name: *const c_char,
    value: f64,
    low: f64,
    high: f64,
}

// The names are constants.
unsafe impl Sync for Parameter {}

impl Parameter {
    /// A parameter.
    pub const fn new(name: &'static CStr, value: f64, low: f64, high: f64) -> Self {
        Parameter { name: name.as_ptr(), value, low, high }
    }
}

/// The algorithm of a flow. Functions of the header's table that are missing here are TCP Reno's.
pub trait Algorithm: Sized + 'static {
    /// Its name.
    const NAME: &'static CStr;
    /// Its parameters. `start` gets their values in this order.
    const PARAMETERS: &'static [Parameter];

    /// The connection begins.
    fn start(window: &mut Window, parameters: &[f64]) -> Self;
    /// An ACK came.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);
    /// A loss or a mark, at most once per window of data.
    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion);
}

type Missing = Option<unsafe extern "C" fn()>;

/// The table of functions.
#[repr(C)]
pub struct Table {
    version: u32,
    size: u32,
    name: *const c_char,
    state_size: u32,
    flags: u32,
    parameters: *const Parameter,
    probe_names: *const *const c_char,
    parameter_count: u32,
    probe_count: u32,
    start: unsafe extern "C" fn(*mut c_void, &mut Window, *const f64),
    on_ack: unsafe extern "C" fn(*mut c_void, &mut Window, &Ack),
    on_congestion: unsafe extern "C" fn(*mut c_void, &mut Window, &Congestion),
    /// on_timeout, on_loss, on_sent, on_recovery_enter, on_recovery_exit, on_undo, on_resume, probe.
    others: [Missing; 8],
}

// Nothing in it changes.
unsafe impl Sync for Table {}

impl Table {
    /// The table of an algorithm, whose state has no destructor and an alignment of 16 bytes at most.
    pub const fn of<A: Algorithm>() -> Self {
        assert!(!std::mem::needs_drop::<A>() && std::mem::align_of::<A>() <= 16);
        Table {
            version: 1,
            size: std::mem::size_of::<Table>() as u32,
            name: A::NAME.as_ptr(),
            state_size: std::mem::size_of::<A>() as u32,
            flags: 0,
            parameters: A::PARAMETERS.as_ptr(),
            probe_names: std::ptr::null(),
            parameter_count: A::PARAMETERS.len() as u32,
            probe_count: 0,
            start: start::<A>,
            on_ack: on_ack::<A>,
            on_congestion: on_congestion::<A>,
            others: [None; 8],
        }
    }
}

unsafe extern "C" fn start<A: Algorithm>(state: *mut c_void, window: &mut Window, parameters: *const f64) {
    let parameters = match A::PARAMETERS.len() {
        0 => &[],
        count => unsafe { std::slice::from_raw_parts(parameters, count) },
    };
    unsafe { state.cast::<A>().write(A::start(window, parameters)) };
}

unsafe extern "C" fn on_ack<A: Algorithm>(state: *mut c_void, window: &mut Window, ack: &Ack) {
    unsafe { &mut *state.cast::<A>() }.on_ack(window, ack);
}

unsafe extern "C" fn on_congestion<A: Algorithm>(state: *mut c_void, window: &mut Window, congestion: &Congestion) {
    unsafe { &mut *state.cast::<A>() }.on_congestion(window, congestion);
}

/// Exports an algorithm from a library.
macro_rules! export {
    ($algorithm:ty) => {
        #[no_mangle]
        pub extern "C" fn ackclock_cc_get() -> &'static $crate::ackclock_cc::Table {
            static TABLE: $crate::ackclock_cc::Table = $crate::ackclock_cc::Table::of::<$algorithm>();
            &TABLE
        }
    };
}
pub(crate) use export;
