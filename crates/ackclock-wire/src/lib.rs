//! The links of a plan with packets of a real network stack, and the counters of a run.
//!
//! A backend owns the hosts and the clock. It passes the packets of its hosts to [`Network`]. It observes the run
//! with [`Watch`], and keeps a [`Reading`] of each connection. [`Ended`] turns these into the result of a run.

mod account;
mod backend;
mod flows;
mod in_kernel;
mod network;
mod packet;
mod reading;
mod result;
mod side;
mod support;
mod tap;
mod watch;

pub use account::{Account, Counters};
pub use backend::{Backend, Refused, kernels_flows};
pub use flows::{Departure, Flows, Header};
pub use in_kernel::{Algorithms, InKernel};
pub use network::{Delivery, Network};
pub use packet::{corrupt, ecn_of, set_ecn};
pub use reading::{Reading, Readings, TcpInfo, record_sample};
pub use result::{Ended, FlowWindow, host_limited_share};
pub use side::Side;
pub use support::{check, largest_packet, options_len, sysctls};
pub use tap::{Place, Tap};
pub use watch::{Watch, Watched};
