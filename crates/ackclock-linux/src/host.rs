//! A host: a network namespace without a name, and the TUN device that is its only way out.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};

use ackclock::sim::Plan;
use ackclock_wire::{Side, largest_packet, sysctls};

use crate::error::{EmulationError, Tried};
use crate::sys::{self, Interface};

/// The name of the device in each namespace.
const DEVICE: &str = "link";
/// Packets that wait to be read at most: far more than a loop that keeps up ever finds.
const WAITING: u32 = 10_000;
/// One half of 10.0.0.0/8 contains the senders' addresses, and the other the receivers'. Each host owns its half.
const MASK: Ipv4Addr = Ipv4Addr::new(255, 128, 0, 0);

/// A namespace with its device.
#[derive(Debug)]
pub struct Host {
    namespace: OwnedFd,
    device: File,
}

impl Host {
    /// Makes the host of a plan.
    pub fn make(side: Side, plan: &Plan) -> Result<Host, EmulationError> {
        // The thread may end, because its files belong to the process.
        let made = std::thread::scope(|scope| scope.spawn(|| Host::make_here(side, plan)).join());
        made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn make_here(side: Side, plan: &Plan) -> Result<Host, EmulationError> {
        sys::unshare_network().map_err(EmulationError::NoNamespaces)?;
        let namespace = sys::current_network().tried("the network namespace")?;
        let device = sys::open_tun(DEVICE).map_err(EmulationError::NoTun)?;
        set_kernel(plan)?;
        let own = "lo:1";
        let settings = [
            ("lo", Interface::Up),
            // An address of the loopback device makes its whole network local.
            (own, Interface::Address(side.address(0))),
            (own, Interface::Mask(MASK)),
            (DEVICE, Interface::Mtu(largest_packet(plan))),
            (DEVICE, Interface::Up),
        ];
        for (name, setting) in settings {
            sys::configure(name, setting).tried("setting up the TUN device")?;
        }
        // Root of a user namespace may not set it. The queue is shorter then, and its drops are counted.
        let _ = sys::configure(DEVICE, Interface::QueueLen(WAITING));
        sys::route_all_to(DEVICE).tried("the route to the TUN device")?;
        Ok(Host { namespace, device })
    }

    /// Does something in the namespace.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let done = std::thread::scope(|scope| {
            let inside = || sys::enter_network(self.namespace.as_fd()).and_then(|()| work());
            scope.spawn(inside).join()
        });
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// The namespace, for a program.
    pub fn namespace(&self) -> io::Result<OwnedFd> {
        self.namespace.try_clone()
    }

    /// The device, to wait at.
    pub fn device(&self) -> &File {
        &self.device
    }

    /// The next packet that leaves the host, or none if the host is idle.
    pub fn read(&self, into: &mut [u8]) -> Option<usize> {
        (&self.device).read(into).ok()
    }

    /// A packet comes to the host. Whether it took it.
    pub fn write(&self, packet: &[u8]) -> bool {
        (&self.device).write(packet).is_ok()
    }

    /// Packets that the device has dropped because they were not read in time.
    pub fn overflows(&self) -> io::Result<u64> {
        let table = self.within(|| std::fs::read_to_string("/proc/thread-self/net/dev"))?;
        Ok(sent_and_dropped(&table, DEVICE).unwrap_or(0))
    }
}

/// Packets to be sent that a device has dropped, from the table of all devices. Each row has 8 columns for received
/// packets, then those for sent packets.
fn sent_and_dropped(table: &str, device: &str) -> Option<u64> {
    let row = table.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'))?;
    row.split_whitespace().nth(8 + 3)?.parse().ok()
}

/// The common settings of a plan's flows, as settings of the kernel.
fn set_kernel(plan: &Plan) -> Result<(), EmulationError> {
    for (name, value) in sysctls(plan) {
        set(&name.replace('.', "/"), &value)?;
    }
    for name in ["ipv4/conf/all/rp_filter", "ipv4/conf/default/rp_filter"] {
        set(name, "0")?;
    }
    // Where the kernel has no IPv6 there is nothing to switch off.
    let _ = set("ipv6/conf/all/disable_ipv6", "1");
    Ok(())
}

fn set(name: &str, value: &str) -> Result<(), EmulationError> {
    let (path, setting) = (format!("/proc/sys/net/{name}"), name.to_owned());
    std::fs::write(path, value).map_err(|error| EmulationError::Setting {
        name: setting,
        value: value.to_owned(),
        error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_of_a_device_are_in_the_twelfth_column() {
        let table = "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|...\n\
                     lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  link: 1 2 3 4 5 6 7 8 9 10 11 77 13 14 15 16\n";
        assert_eq!(sent_and_dropped(table, "link"), Some(77));
        assert_eq!(sent_and_dropped(table, "tun"), None);
    }
}
