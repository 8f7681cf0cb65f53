//! System calls that the standard library lacks, and shared memory. This module contains the only unsafe code of the
//! crate.
#![allow(unsafe_code, reason = "each block is one call of libc, or an access inside of a mapping of known length")]

mod confinement;

use std::io;
use std::mem::{size_of_val, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{Ordering, fence};

pub use confinement::Confinement;

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Memory that this process shares with a guest.
#[derive(Debug)]
pub struct Memory {
    place: *mut u8,
    len: usize,
    file: OwnedFd,
}

// SAFETY: the mapping belongs to this value alone, and has no tie to a thread.
unsafe impl Send for Memory {}

impl Memory {
    /// Zeros of this length.
    pub fn new(len: usize) -> io::Result<Self> {
        // SAFETY: the name is a string of C.
        let fd = check(unsafe { libc::memfd_create(c"ackclock".as_ptr(), libc::MFD_CLOEXEC) })?;
        // SAFETY: the descriptor is new and has no other owner.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: the descriptor is open.
        check(unsafe { libc::ftruncate(fd, len as libc::off_t) })?;
        let (rights, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping of an open file.
        let place = unsafe { libc::mmap(std::ptr::null_mut(), len, rights, kind, fd, 0) };
        if place == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Memory { place: place.cast(), len, file })
    }

    /// The file, which a guest maps.
    pub fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Copies bytes out.
    pub fn read(&self, at: usize, into: &mut [u8]) {
        assert!(at + into.len() <= self.len, "invariant: an access lies inside of the memory");
        fence(Ordering::Acquire);
        // SAFETY: both places have this length, and the guest waits.
        unsafe { std::ptr::copy_nonoverlapping(self.place.add(at), into.as_mut_ptr(), into.len()) };
    }

    /// Copies bytes in.
    pub fn write(&self, at: usize, from: &[u8]) {
        assert!(at + from.len() <= self.len, "invariant: an access lies inside of the memory");
        // SAFETY: both places have this length, and the guest waits.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.place.add(at), from.len()) };
        fence(Ordering::Release);
    }

    /// Moves bytes inside.
    pub fn shift(&self, from: usize, to: usize, len: usize) {
        assert!(from.max(to) + len <= self.len, "invariant: an access lies inside of the memory");
        // SAFETY: both places lie inside, and may overlap.
        unsafe { std::ptr::copy(self.place.add(from), self.place.add(to), len) };
    }

    /// Reads a number.
    pub fn u64_at(&self, at: usize) -> u64 {
        let mut bytes = [0; 8];
        self.read(at, &mut bytes);
        u64::from_ne_bytes(bytes)
    }

    /// Reads a number.
    pub fn u32_at(&self, at: usize) -> u32 {
        let mut bytes = [0; 4];
        self.read(at, &mut bytes);
        u32::from_ne_bytes(bytes)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping has this length, and no reference to it remains.
        unsafe { libc::munmap(self.place.cast(), self.len) };
    }
}

/// The descriptor of the shared memory in a guest.
pub const GUESTS_MEMORY: RawFd = 3;

/// The program gets the file under [`GUESTS_MEMORY`], and is confined. It ends with this process.
pub fn prepare(command: &mut Command, memory: &Memory, confinement: Confinement) {
    let file = memory.file().as_raw_fd();
    let parent = std::process::id();
    // SAFETY: the closure calls functions of the system only.
    unsafe {
        command.pre_exec(move || {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            if libc::getppid() as u32 != parent {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            // The places of its memory do not depend on luck. Its results would be the same.
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            check(libc::setpgid(0, 0))?;
            confinement.apply();
            if file == GUESTS_MEMORY {
                check(libc::fcntl(file, libc::F_SETFD, 0))
            } else {
                check(libc::dup2(file, GUESTS_MEMORY))
            }
            .map(drop)
        })
    };
}

/// Kills a guest with all its processes.
pub fn kill_group(leader: u32) {
    // SAFETY: a child of this process leads the group.
    unsafe { libc::kill(-(leader as libc::pid_t), libc::SIGKILL) };
}

/// Waits for the end of a child. Returns its CPU time in nanoseconds.
pub fn reap(child: u32) -> u64 {
    // SAFETY: zeros are a value of this type, and both places outlive the call.
    let usage = unsafe {
        let (mut status, mut usage) = (0, zeroed::<libc::rusage>());
        libc::wait4(child as libc::pid_t, &mut status, 0, &mut usage);
        usage
    };
    let nanos = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    nanos(usage.ru_utime) + nanos(usage.ru_stime)
}

/// CPU time of this thread in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    // SAFETY: zeros are a value of this type, which outlives the call.
    let time = unsafe {
        let mut time = zeroed::<libc::timespec>();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time);
        time
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sends bytes with open files.
pub fn send_files(socket: &UnixStream, bytes: &[u8], files: &[RawFd]) -> io::Result<()> {
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut control = [0u64; 8];
    // SAFETY: the message refers to values that outlive the call, and the control buffer has room for two files.
    unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of_val(files) as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of_val(files) as u32) as _;
        std::ptr::copy_nonoverlapping(files.as_ptr(), libc::CMSG_DATA(header).cast(), files.len());
        match libc::sendmsg(socket.as_raw_fd(), &message, libc::MSG_NOSIGNAL) {
            sent if sent == bytes.len() as isize => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
