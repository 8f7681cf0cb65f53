//! The confinement of a guest: Landlock limits its files, and seccomp its system calls.
//!
//! Modules in a guest are native code. A host that lacks one of the two runs guests without it.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

// Rights on files, by the names of include/uapi/linux/landlock.h.
const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const TRUNCATE: u64 = 1 << 14;
/// Rights that each version of Landlock knows.
const RIGHTS: [u64; 5] = [(1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1];
/// Rights to bind and to connect ports of TCP.
const PORTS: u64 = 3;
/// Sockets with abstract names and signals stay inside.
const SCOPES: u64 = 3;
const CREATE_RULESET_VERSION: libc::c_uint = 1;
const RULE_PATH_BENEATH: libc::c_uint = 1;

/// `struct landlock_ruleset_attr`.
#[repr(C)]
struct Ruleset {
    files: u64,
    ports: u64,
    scopes: u64,
}

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct PathBeneath {
    rights: u64,
    place: i32,
}

/// The confinement of a guest, which its process applies to itself.
pub struct Confinement {
    rules: Option<OwnedFd>,
    filter: Vec<libc::sock_filter>,
}

impl Confinement {
    /// A guest that may run its kernel, and write to its folder alone.
    pub fn new(kernel: &Path, folder: &Path) -> Self {
        Confinement { rules: rules(kernel, folder), filter: filter() }
    }

    /// Confines this process and its children. It calls functions of the system only.
    pub fn apply(&self) {
        let program = libc::sock_fprog { len: self.filter.len() as u16, filter: self.filter.as_ptr().cast_mut() };
        // SAFETY: the filter and the rules outlive the calls.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            if let Some(rules) = &self.rules {
                libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0);
            }
            if !self.filter.is_empty() {
                libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program);
            }
        }
    }
}

/// The rules for the files of a guest. None where the host has no Landlock.
fn rules(kernel: &Path, folder: &Path) -> Option<OwnedFd> {
    // SAFETY: this call asks for the version, and reads no memory.
    let version = unsafe {
        let nothing = std::ptr::null::<Ruleset>();
        libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0usize, CREATE_RULESET_VERSION)
    };
    let version = usize::try_from(version).ok().filter(|version| *version > 0)?;
    let files = RIGHTS[version.min(RIGHTS.len()) - 1];
    let ruleset = Ruleset { files, ports: PORTS, scopes: SCOPES };
    // Versions before 4 have files only, and versions before 6 no scopes.
    let len = if version < 4 {
        8
    } else if version < 6 {
        16
    } else {
        size_of::<Ruleset>()
    };
    // SAFETY: the structure outlives the call, and has at least this length.
    let made = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const ruleset, len, 0) };
    let made = RawFd::try_from(made).ok().filter(|made| *made >= 0)?;
    // SAFETY: the descriptor is new and has no other owner.
    let rules = unsafe { OwnedFd::from_raw_fd(made) };
    let permitted = [
        (kernel, EXECUTE | READ_FILE),
        (folder, files),
        (Path::new("/dev/null"), READ_FILE | WRITE_FILE | TRUNCATE),
        (Path::new("/proc"), READ_FILE | READ_DIR),
    ];
    permitted.iter().for_each(|(path, rights)| permit(&rules, path, files & rights));
    Some(rules)
}

/// Permits the use of a file, or of everything in a folder. An absent place needs no permission.
fn permit(rules: &OwnedFd, path: &Path, rights: u64) {
    let Ok(place) = File::options().read(true).custom_flags(libc::O_PATH).open(path) else { return };
    let beneath = PathBeneath { rights, place: place.as_raw_fd() };
    // SAFETY: the structure outlives the call.
    unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, rules.as_raw_fd(), RULE_PATH_BENEATH, &raw const beneath, 0);
    }
}

/// System calls that a guest never needs.
const DENIED: [libc::c_long; 30] = [
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_open_by_handle_at,
    libc::SYS_io_uring_setup,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_fanotify_init,
];

/// `AUDIT_ARCH_X86_64`, and the first system call of the x32 interface.
const X86_64: u32 = 0xc000_003e;
const X32: u32 = 0x4000_0000;
// Places in `struct seccomp_data`.
const AT_NUMBER: u32 = 0;
const AT_ARCHITECTURE: u32 = 4;
const AT_FIRST_ARGUMENT: u32 = 16;

/// The filter of system calls: only sockets of Unix, and none of [`DENIED`]. Empty on other processors.
fn filter() -> Vec<libc::sock_filter> {
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    let step = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let load = |at: u32| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at);
    // A jump over the next step, if the comparison holds or not.
    let unless = |compare: u32, k: u32| libc::sock_filter { jt: 1, ..step(libc::BPF_JMP | compare | libc::BPF_K, k) };
    let when = |compare: u32, k: u32| libc::sock_filter { jf: 1, ..step(libc::BPF_JMP | compare | libc::BPF_K, k) };
    let deny = step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
    let allow = step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW);
    let mut filter = vec![load(AT_ARCHITECTURE), unless(libc::BPF_JEQ, X86_64), deny];
    filter.extend([load(AT_NUMBER), when(libc::BPF_JGE, X32), deny]);
    filter.extend(DENIED.iter().flat_map(|number| [when(libc::BPF_JEQ, *number as u32), deny]));
    filter.extend([unless(libc::BPF_JEQ, libc::SYS_socket as u32), allow]);
    filter.extend([load(AT_FIRST_ARGUMENT), unless(libc::BPF_JEQ, libc::AF_UNIX as u32), deny, allow]);
    filter
}
