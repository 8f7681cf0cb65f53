//! System calls that the standard library lacks. This module contains the only unsafe code of the crate.
#![allow(unsafe_code, reason = "each block is one call of libc with memory that lives on this stack")]

use std::ffi::c_int;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::{size_of_val, zeroed};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use ackclock_wire::TcpInfo;

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Moves this thread to a new network namespace.
pub fn unshare_network() -> io::Result<()> {
    // SAFETY: takes no memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// Makes this process root of a new user namespace, so that it may create network namespaces. The process must have
/// one thread only.
///
/// # Errors
/// Where the system does not allow it.
pub fn enter_user_namespace() -> io::Result<()> {
    // SAFETY: these take no memory.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: as above.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// Moves this thread to a network namespace.
pub fn enter_network(namespace: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: takes no memory.
    check(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// The network namespace of this thread.
pub fn current_network() -> io::Result<OwnedFd> {
    Ok(File::open("/proc/thread-self/ns/net")?.into())
}

/// Opens a TUN device of this name for whole IP packets. The device ends when it is closed.
pub fn open_tun(name: &str) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
    let mut request = interface(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16;
    // SAFETY: the request outlives the call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &mut request) })?;
    Ok(file)
}

fn interface(name: &str) -> libc::ifreq {
    // SAFETY: all zeros are a value of this type.
    let mut request: libc::ifreq = unsafe { zeroed() };
    request.ifr_name.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from as libc::c_char);
    request
}

fn address(address: Ipv4Addr, port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(address).to_be() },
        sin_zero: [0; 8],
    }
}

/// An address as the kernel takes one of any family.
fn any_address(of: Ipv4Addr) -> libc::sockaddr {
    let mut any = libc::sockaddr { sa_family: libc::AF_INET as libc::sa_family_t, sa_data: [0; 14] };
    any.sa_data[2..6].iter_mut().zip(of.octets()).for_each(|(to, from)| *to = from as libc::c_char);
    any
}

/// Settings of a network interface.
pub enum Interface {
    /// It is up.
    Up,
    /// Its address.
    Address(Ipv4Addr),
    /// The mask of its network.
    Mask(Ipv4Addr),
    /// The largest packet.
    Mtu(u32),
    /// Packets that wait to be read.
    QueueLen(u32),
}

/// Sets something of an interface in the namespace of this thread.
pub fn configure(name: &str, setting: Interface) -> io::Result<()> {
    let socket = socket(libc::SOCK_DGRAM)?;
    let mut request = interface(name);
    let number = match setting {
        Interface::Up => {
            request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
            libc::SIOCSIFFLAGS
        }
        Interface::Address(of) => {
            request.ifr_ifru.ifru_addr = any_address(of);
            libc::SIOCSIFADDR
        }
        Interface::Mask(of) => {
            request.ifr_ifru.ifru_netmask = any_address(of);
            libc::SIOCSIFNETMASK
        }
        Interface::Mtu(bytes) => {
            request.ifr_ifru.ifru_mtu = bytes as c_int;
            libc::SIOCSIFMTU
        }
        Interface::QueueLen(packets) => {
            request.ifr_ifru.ifru_ifindex = packets as c_int;
            libc::SIOCSIFTXQLEN
        }
    };
    // SAFETY: the request outlives the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), number as _, &mut request) }).map(drop)
}

/// All packets of the namespace of this thread that are not for itself go to an interface.
pub fn route_all_to(name: &str) -> io::Result<()> {
    let socket = socket(libc::SOCK_DGRAM)?;
    let mut device: Vec<libc::c_char> = name.bytes().chain([0]).map(|byte| byte as libc::c_char).collect();
    // SAFETY: all zeros are a value of this type.
    let mut route: libc::rtentry = unsafe { zeroed() };
    route.rt_dst = any_address(Ipv4Addr::UNSPECIFIED);
    route.rt_genmask = any_address(Ipv4Addr::UNSPECIFIED);
    route.rt_flags = libc::RTF_UP;
    route.rt_dev = device.as_mut_ptr();
    // SAFETY: the route and the name of its device outlive the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCADDRT as _, &mut route) }).map(drop)
}

/// A socket of IPv4 in the namespace of this thread, which does not block.
pub fn socket(kind: c_int) -> io::Result<OwnedFd> {
    // SAFETY: takes no memory.
    let number = check(unsafe { libc::socket(libc::AF_INET, kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Sets an option of a socket.
pub fn set_option<T>(socket: BorrowedFd<'_>, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let len = size_of_val(value) as libc::socklen_t;
    // SAFETY: the value outlives the call, and has this length.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), len) }).map(drop)
}

/// Sets the congestion control of a socket.
pub fn set_congestion_control(socket: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    let (level, option, len) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.len() as libc::socklen_t);
    // SAFETY: the name outlives the call, and has this length.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, name.as_ptr().cast(), len) }).map(drop)
}

/// Gives a socket its own address.
pub fn bind(socket: BorrowedFd<'_>, own: Ipv4Addr, port: u16) -> io::Result<()> {
    let own = address(own, port);
    let len = size_of_val(&own) as libc::socklen_t;
    // SAFETY: the address outlives the call.
    check(unsafe { libc::bind(socket.as_raw_fd(), std::ptr::from_ref(&own).cast(), len) }).map(drop)
}

/// Begins a connection.
pub fn connect(socket: BorrowedFd<'_>, peer: Ipv4Addr, port: u16) -> io::Result<()> {
    let peer = address(peer, port);
    let len = size_of_val(&peer) as libc::socklen_t;
    // SAFETY: the address outlives the call.
    match check(unsafe { libc::connect(socket.as_raw_fd(), std::ptr::from_ref(&peer).cast(), len) }) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        other => other.map(drop),
    }
}

/// Waits for connections.
pub fn listen(socket: BorrowedFd<'_>, most: c_int) -> io::Result<()> {
    // SAFETY: takes no memory.
    check(unsafe { libc::listen(socket.as_raw_fd(), most) }).map(drop)
}

/// The next connection, and where it comes from.
pub fn accept(listener: BorrowedFd<'_>) -> io::Result<(OwnedFd, Ipv4Addr)> {
    let mut peer = address(Ipv4Addr::UNSPECIFIED, 0);
    let mut len = size_of_val(&peer) as libc::socklen_t;
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let place = std::ptr::from_mut(&mut peer).cast();
    // SAFETY: address and length outlive the call.
    let number = check(unsafe { libc::accept4(listener.as_raw_fd(), place, &mut len, flags) })?;
    // SAFETY: nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    Ok((socket, Ipv4Addr::from(u32::from_be(peer.sin_addr.s_addr))))
}

/// Writes to a connection and returns the number of accepted bytes.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: the bytes outlive the call.
    let sent = unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Discards up to this many arrived bytes without copying, and returns their number.
pub fn discard(socket: BorrowedFd<'_>, most: usize) -> io::Result<usize> {
    let flags = libc::MSG_TRUNC | libc::MSG_DONTWAIT;
    // SAFETY: with this flag TCP writes no byte to the place.
    let taken = unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), most, flags) };
    usize::try_from(taken).map_err(|_| io::Error::last_os_error())
}

/// Nothing more will be written.
pub fn end_writing(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: takes no memory.
    check(unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_WR) }).map(drop)
}

/// Reads the kernel's state of a connection.
pub fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    let mut info = [0; TcpInfo::LEN];
    let mut len = TcpInfo::LEN as libc::socklen_t;
    let (level, place) = (libc::IPPROTO_TCP, info.as_mut_ptr().cast());
    // SAFETY: the place has this length.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), level, libc::TCP_INFO, place, &mut len) })?;
    Ok(TcpInfo::new(info))
}

/// The awaited events of a file.
#[repr(transparent)]
pub struct Waiting(libc::pollfd);

impl Waiting {
    /// For something to read, or for room to write as well.
    pub fn at(file: &impl AsFd, to_write: bool) -> Self {
        let events = if to_write { libc::POLLOUT } else { libc::POLLIN };
        Waiting(libc::pollfd { fd: file.as_fd().as_raw_fd(), events, revents: 0 })
    }

    /// Whether it is there, or the file has failed.
    pub fn is_ready(&self) -> bool {
        self.0.revents != 0
    }
}

/// Waits for one of several files, at most for `nanos`.
pub fn wait(files: &mut [Waiting], nanos: u64) -> io::Result<()> {
    let timeout = libc::timespec { tv_sec: (nanos / 1_000_000_000) as _, tv_nsec: (nanos % 1_000_000_000) as _ };
    let count = files.len() as libc::nfds_t;
    // SAFETY: `Waiting` has the layout of its content, and the files outlive the call.
    match check(unsafe { libc::ppoll(files.as_mut_ptr().cast(), count, &timeout, std::ptr::null()) }) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        other => other.map(drop),
    }
}

fn clock(id: libc::clockid_t) -> u64 {
    // SAFETY: all zeros are a value of this type.
    let mut time: libc::timespec = unsafe { zeroed() };
    // SAFETY: the time outlives the call, which does not fail for clocks that every system has.
    unsafe { libc::clock_gettime(id, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds of the monotonic clock.
pub fn monotonic_ns() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since 1970.
pub fn epoch_ns() -> u64 {
    clock(libc::CLOCK_REALTIME)
}

/// CPU time of this thread, nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The step of the monotonic clock, nanoseconds.
pub fn clock_step_ns() -> u64 {
    // SAFETY: all zeros are a value of this type.
    let mut step: libc::timespec = unsafe { zeroed() };
    // SAFETY: the step outlives the call.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &mut step) };
    step.tv_sec as u64 * 1_000_000_000 + step.tv_nsec as u64
}

/// This thread wakes up when it is due, and before others where the system allows that.
pub fn be_prompt(priority: c_int) {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameters outlive the call. If either call is refused, the thread is late, which is measured.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &parameters);
    }
}

/// Makes later child processes of this thread run in a new PID namespace. They end with its first process.
pub fn unshare_processes() -> io::Result<()> {
    // SAFETY: takes no memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWPID) }).map(drop)
}

/// Prepares a child before it runs its program. The child joins a network namespace, and ends with the thread that
/// started it.
pub fn prepare_child(command: &mut std::process::Command, namespace: OwnedFd) {
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec it makes two calls of the system, which take no memory.
    unsafe {
        command.pre_exec(move || {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            enter_network(namespace.as_fd())
        });
    }
}

/// Asks a program to end, with all that it started.
pub fn terminate(process: u32) {
    // SAFETY: takes no memory.
    unsafe { libc::kill(process as libc::pid_t, libc::SIGTERM) };
}
