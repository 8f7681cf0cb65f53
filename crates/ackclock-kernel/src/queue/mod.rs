//! Queues of the kernel, in front of transmitters of the simulation.
//!
//! A guest is the router. It learns each arrival, and each time at which the transmitter is free. It gives at most one
//! packet then.

mod router;
mod structures;
mod tc;
mod values;

use std::path::Path;

use ackclock::open_loop::{self, Arrival, Event};
use ackclock::qdisc::{KernelQueue, Limit, Queue};
use ackclock::rng::RngStreams;
use ackclock::sim::{LinkPlan, Plan, Simulation};
use ackclock::units::Rate;
use ackclock_wire::Refused;

pub use router::Reports;
use router::{Router, Setup};

use crate::error::KernelError;

/// The MTU of a device outside of a scenario: Ethernet's.
const MTU: u32 = 1500;
/// Links with a queue of the kernel in a scenario, at most. Each has a guest.
const MOST: usize = 32;

/// Sends arrivals through a queue of the kernel and a transmitter of this rate, until the queue is empty. `line` is the
/// discipline with its parameters, as in a command line of `tc`. Returns the events in order.
///
/// # Errors
/// A line that is not understood or that the kernel denies, and a guest that ends.
pub fn serve(
    kernel: &Path,
    line: &str,
    rate: Rate,
    seed: u64,
    arrivals: &[Arrival],
) -> Result<Vec<Event>, KernelError> {
    let (key, reports) = ("tc", Reports::default());
    // A wrong line needs no guest.
    tc::message(line, 0, rate).map_err(|message| Refused::new(key.to_owned(), message))?;
    let router = Router::start(&Setup { kernel, key, line, rate, mtu: MTU, seed, limit: None }, reports.clone())?;
    let mut queue = KernelQueue::new(Limit::Packets(u32::MAX));
    queue.connect(Box::new(router));
    let events = open_loop::serve(Queue::Kernel(Box::new(queue)), rate, arrivals);
    reports.check()?;
    Ok(events)
}

/// Checks the queues of the kernel in a plan, as far as that needs no kernel.
///
/// # Errors
/// A line that is not understood, a link without a rate, and too many queues.
pub fn check(plan: &Plan) -> Result<(), Refused> {
    for (link, line) in plan.kernel_queues() {
        let link = &plan.links[link];
        let refuse = |message: String| Refused::new(key(link), format!("{message} (--backend kernel)"));
        let rate = link.rate.ok_or_else(|| refuse("a queue of the kernel needs a link with a rate".to_owned()))?;
        tc::message(line, 0, rate).map_err(refuse)?;
    }
    match plan.kernel_queues().nth(MOST) {
        Some((link, _)) => {
            Err(Refused::new(key(&plan.links[link]), format!("a scenario has at most {MOST} queues of the kernel")))
        }
        None => Ok(()),
    }
}

/// Starts the routers of a plan, and connects them to the queues of its links.
///
/// # Errors
/// A line that the kernel denies, and a guest that ends.
pub fn connect(simulation: &mut Simulation<'_>, plan: &Plan, kernel: &Path) -> Result<Reports, KernelError> {
    let reports = Reports::default();
    for (id, line) in plan.kernel_queues() {
        let link = &plan.links[id];
        let Some(rate) = link.rate else { continue };
        let setup = Setup {
            kernel,
            key: &key(link),
            line,
            rate,
            mtu: link.place.packet_bytes as u32,
            seed: RngStreams::from_root(plan.seed).stream(&link.name, "kernel").next_u64(),
            limit: plan.kernel.timeout.map(|limit| std::time::Duration::from_nanos(limit.as_nanos())),
        };
        simulation.connect_queue(id, Box::new(Router::start(&setup, reports.clone())?));
    }
    Ok(reports)
}

/// The queue of a link in messages.
fn key(link: &LinkPlan) -> String {
    format!("queue of link {}", link.name)
}
