//! The links of a plan with packets of a real network stack, and the counters of a run.
//!
//! A backend owns the hosts and the clock. It passes the packets of its hosts to [`Network`]. It observes the run
//! with [`Watch`], and keeps a [`Reading`] of each connection. [`Ended`] turns these into the result of a run.

mod account;
mod ahead;
mod network;
mod packet;
mod reading;
mod result;
mod side;
mod tap;
mod watch;

pub use account::Account;
pub use network::{Certain, Delivery, Network};
pub use packet::IP_LEN;
pub use reading::{Reading, Readings, TcpInfo, record_sample};
pub use result::{Ended, host_limited_share};
pub use side::Side;
pub use tap::Tap;
pub use watch::{Watch, Watched};
