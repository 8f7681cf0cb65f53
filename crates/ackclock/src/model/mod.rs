//! The synchronous (Chiu-Jain) model and closed forms: windows without packets.
//!
//! Users share one resource of capacity `X_goal` and receive the same feedback at the same time, once per step. The
//! `rule` objects of TCP also drive the users. Windows and loads are in segments, times in round trips.
//! `docs/reference/synchronous-model.md` explains the conventions of each figure.

pub mod closed_form;
mod cycles;
mod expansion;
mod load_curve;
mod long_run;
mod request;
mod synchronous;
mod table;
#[cfg(test)]
mod tests;
mod trajectory;

pub use cycles::{Cycle, cycles};
pub use expansion::{Expansion, expansion};
pub use load_curve::{LoadCurve, LoadCurveRequest, LoadPoint};
pub use long_run::{Averages, Horizon, long_run};
pub use request::{RequestError, json};
pub use synchronous::{Advance, Peak, Setup, SetupError, Synchronous, User};
pub use table::{ClosedForm, Convention, EfficiencyRow, Fair, FairnessRow, IntegerStep, Table, table};
pub use trajectory::{Trajectory, TrajectoryRequest, UserRequest, simulate};
