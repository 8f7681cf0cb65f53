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
use ackclock::sim::{Plan, Simulation};
use ackclock::units::Rate;
use ackclock_wire::Refused;

pub use router::Routers;
use router::{Router, Setup};

use crate::error::KernelError;
use crate::guest::{Alone, ETHERNET_MTU};

/// The name of the guests in messages.
const HOST: &str = "a router";
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
    let (key, routers) = ("tc", Routers::default());
    // A wrong line needs no guest.
    tc::message(line, 0, rate).map_err(|message| Refused::new(key.to_owned(), message))?;
    let guest = Alone { kernel, host: HOST, seed, mtu: ETHERNET_MTU, limit: None };
    let router = Router::start(&Setup { guest, key, line, rate }, routers.clone())?;
    let mut queue = KernelQueue::new(Limit::Packets(u32::MAX));
    queue.connect(Box::new(router));
    let events = open_loop::serve(Queue::Kernel(Box::new(queue)), rate, arrivals);
    routers.check()?;
    Ok(events)
}

/// Checks the queues of the kernel in a plan, as far as that needs no kernel.
///
/// # Errors
/// A line that is not understood, a link without a rate, and too many queues.
pub fn check(plan: &Plan) -> Result<(), Refused> {
    for (link, line) in plan.kernel_queues() {
        let link = &plan.links[link];
        let refuse = |message: String| Refused::new(link.queue_key(), format!("{message} (--backend kernel)"));
        let rate = link.rate.ok_or_else(|| refuse("a queue of the kernel needs a link with a rate".to_owned()))?;
        tc::message(line, 0, rate).map_err(refuse)?;
    }
    match plan.kernel_queues().nth(MOST) {
        Some((link, _)) => Err(Refused::new(
            plan.links[link].queue_key(),
            format!("a scenario has at most {MOST} queues of the kernel"),
        )),
        None => Ok(()),
    }
}

/// Starts the routers of a plan, and connects them to the queues of its links.
///
/// # Errors
/// A line that the kernel denies, and a guest that ends.
pub fn connect(simulation: &mut Simulation<'_>, plan: &Plan, kernel: &Path) -> Result<Routers, KernelError> {
    let routers = Routers::default();
    for (id, line) in plan.kernel_queues() {
        let link = &plan.links[id];
        let Some(rate) = link.rate else { continue };
        let guest = Alone {
            kernel,
            host: HOST,
            mtu: link.place.packet_bytes as u32,
            seed: RngStreams::from_root(plan.seed).stream(&link.name, "kernel").next_u64(),
            limit: plan.kernel.timeout.map(|limit| std::time::Duration::from_nanos(limit.as_nanos())),
        };
        let setup = Setup { guest, key: &link.queue_key(), line, rate };
        simulation.connect_queue(id, Box::new(Router::start(&setup, routers.clone())?));
    }
    Ok(routers)
}
