//! The functions of the kernel that programs call, in the simulator.
//!
//! Reference: the kernel's headers and documentation (`bpf-helpers(7)`), and RFC 5681 for the window.

use super::fault::Fault;
use super::memory::{Memory, SOCKET};
use super::socket::{
    IS_CWND_LIMITED, MAX_PACKETS_OUT, PRIOR_CWND, SND_CWND, SND_CWND_CLAMP, SND_CWND_CNT, SND_SSTHRESH,
};

/// The state outside of its memory that a program can read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Environment {
    /// Time in the run.
    pub now_ns: u64,
    /// State of the random numbers of this flow.
    pub random: u64,
}

/// A function that a program calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Another function of the program, at a distance in instructions.
    Function(i32),
    /// A function of the kernel, by its number in [`KNOWN`].
    Kernel(u8),
}

type Run = fn([u64; 5], &mut Memory, &mut Environment) -> Result<u64, Fault>;

/// A function of the kernel.
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// The number of a helper, or 0 for a function that is called by name.
    pub helper: i32,
    /// The implementation.
    pub run: Run,
}

const fn helper(helper: i32, name: &'static str, run: Run) -> Known {
    Known { name, helper, run }
}

const fn kfunc(name: &'static str, run: Run) -> Known {
    Known { name, helper: 0, run }
}

/// The functions of the kernel that there are.
pub const KNOWN: &[Known] = &[
    kfunc("tcp_slow_start", |[sk, acked, ..], memory, _| {
        Ok(u64::from(slow_start(its_socket(sk, memory)?, acked as u32)))
    }),
    kfunc("tcp_cong_avoid_ai", |[sk, w, acked, ..], memory, _| {
        cong_avoid_ai(its_socket(sk, memory)?, w as u32, acked as u32);
        Ok(0)
    }),
    kfunc("tcp_reno_cong_avoid", |[sk, _, acked, ..], memory, _| {
        reno_cong_avoid(its_socket(sk, memory)?, acked as u32);
        Ok(0)
    }),
    kfunc("tcp_reno_ssthresh", |[sk, ..], memory, _| {
        Ok(u64::from((its_socket(sk, memory)?.field(SND_CWND) / 2).max(2)))
    }),
    kfunc("tcp_reno_undo_cwnd", |[sk, ..], memory, _| {
        let memory = its_socket(sk, memory)?;
        Ok(u64::from(memory.field(SND_CWND).max(memory.field(PRIOR_CWND))))
    }),
    helper(4, "bpf_probe_read", probe_read),
    helper(113, "bpf_probe_read_kernel", probe_read),
    helper(5, "bpf_ktime_get_ns", |_, _, environment| Ok(environment.now_ns)),
    helper(125, "bpf_ktime_get_boot_ns", |_, _, environment| Ok(environment.now_ns)),
    helper(118, "bpf_jiffies64", |_, _, environment| Ok(jiffies(environment.now_ns))),
    helper(7, "bpf_get_prandom_u32", |_, _, environment| {
        // xorshift64*
        let mut x = environment.random;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        environment.random = x;
        Ok(x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32)
    }),
    helper(6, "bpf_trace_printk", |_, _, _| Ok(0)),
    // It sends a receiver's ACK. A sender's algorithm has no ACKs to send.
    helper(116, "bpf_tcp_send_ack", |[sk, ..], memory, _| its_socket(sk, memory).map(|_| 0)),
    // No map of sockets has an entry.
    helper(107, "bpf_sk_storage_get", |_, _, _| Ok(0)),
    helper(108, "bpf_sk_storage_delete", |_, _, _| Ok(-2_i64 as u64)),
    helper(49, "bpf_setsockopt", |_, _, _| Err(Fault::Call("calls bpf_setsockopt, which the simulator has not"))),
    helper(57, "bpf_getsockopt", |_, _, _| Err(Fault::Call("calls bpf_getsockopt, which the simulator has not"))),
];

impl Call {
    /// Set in the constant of an instruction that calls another function.
    pub const FUNCTION: u64 = 1 << 32;

    /// The function that the constant of an instruction denotes.
    #[inline]
    pub fn from_imm(imm: i64) -> Call {
        if imm as u64 & Self::FUNCTION == 0 { Call::Kernel(imm as u8) } else { Call::Function(imm as i32) }
    }

    /// The constant that stands for the call.
    pub fn to_imm(self) -> i64 {
        match self {
            Call::Function(distance) => (Self::FUNCTION | u64::from(distance as u32)) as i64,
            Call::Kernel(number) => number.into(),
        }
    }

    /// Runs a function of the kernel.
    #[inline]
    pub fn run(self, arguments: [u64; 5], memory: &mut Memory, environment: &mut Environment) -> Result<u64, Fault> {
        let Call::Kernel(number) = self else { return Err(Fault::Instruction) };
        let known = KNOWN.get(usize::from(number)).ok_or(Fault::Instruction)?;
        (known.run)(arguments, memory, environment)
    }
}

/// Jiffies of a kernel with `CONFIG_HZ=1000`, which begins some time before the run, as all kernels do.
pub fn jiffies(now_ns: u64) -> u64 {
    now_ns / 1_000_000 + 10_000
}

fn its_socket(sk: u64, memory: &mut Memory) -> Result<&mut Memory, Fault> {
    if sk == SOCKET { Ok(memory) } else { Err(Fault::Call("hands a pointer to the kernel that is not its socket")) }
}

fn probe_read([to, size, from, ..]: [u64; 5], memory: &mut Memory, _: &mut Environment) -> Result<u64, Fault> {
    const MOST: u64 = 512;
    if size > MOST {
        return Err(Fault::Call("reads more at once than a stack holds"));
    }
    let mut bytes = [0; MOST as usize];
    let bytes = &mut bytes[..size as usize];
    bytes.copy_from_slice(memory.read(from, size as usize)?);
    memory.write(to, size as usize)?.copy_from_slice(bytes);
    Ok(0)
}

/// RFC 5681: adds one segment for each acknowledged segment, up to ssthresh. Returns the remaining segments.
fn slow_start(memory: &mut Memory, acked: u32) -> u32 {
    let before = memory.field(SND_CWND);
    let cwnd = before.saturating_add(acked).min(memory.field(SND_SSTHRESH));
    memory.set_field(SND_CWND, cwnd.min(memory.field(SND_CWND_CLAMP)));
    acked.saturating_sub(cwnd.saturating_sub(before))
}

/// One segment more for each `w` that were acknowledged, which are counted in snd_cwnd_cnt.
fn cong_avoid_ai(memory: &mut Memory, w: u32, acked: u32) {
    let w = w.max(1);
    let (mut cwnd, mut count) = (memory.field(SND_CWND), memory.field(SND_CWND_CNT));
    // Credits from a larger w.
    if count >= w {
        (cwnd, count) = (cwnd.saturating_add(1), 0);
    }
    count = count.saturating_add(acked);
    if count >= w {
        cwnd = cwnd.saturating_add(count / w);
        count %= w;
    }
    memory.set_field(SND_CWND_CNT, count);
    memory.set_field(SND_CWND, cwnd.min(memory.field(SND_CWND_CLAMP)));
}

fn reno_cong_avoid(memory: &mut Memory, acked: u32) {
    let in_slow_start = memory.field(SND_CWND) < memory.field(SND_SSTHRESH);
    let is_limited = if in_slow_start {
        memory.field(SND_CWND) < memory.field(MAX_PACKETS_OUT).saturating_mul(2)
    } else {
        memory.byte(IS_CWND_LIMITED) != 0
    };
    if !is_limited {
        return;
    }
    let left = if in_slow_start { slow_start(memory, acked) } else { acked };
    if left > 0 {
        cong_avoid_ai(memory, memory.field(SND_CWND), left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: [u64; 5], memory: &mut Memory) -> Result<u64, Fault> {
        let known = KNOWN.iter().find(|known| known.name == name).unwrap();
        (known.run)(arguments, memory, &mut Environment::default())
    }

    fn socket(cwnd: u32, ssthresh: u32) -> Memory {
        let mut memory = Memory::new(&[]);
        memory.set_field(SND_CWND, cwnd);
        memory.set_field(SND_SSTHRESH, ssthresh);
        memory.set_field(SND_CWND_CLAMP, u32::MAX);
        memory
    }

    #[test]
    fn slow_start_ends_at_ssthresh_and_gives_back_the_rest() {
        let mut memory = socket(10, 12);
        assert_eq!(call("tcp_slow_start", [SOCKET, 5, 0, 0, 0], &mut memory), Ok(3));
        assert_eq!(memory.field(SND_CWND), 12);
    }

    #[test]
    fn a_window_of_acks_adds_a_segment() {
        let mut memory = socket(10, 5);
        memory.set_byte(IS_CWND_LIMITED, 1);
        for _ in 0..9 {
            call("tcp_reno_cong_avoid", [SOCKET, 0, 1, 0, 0], &mut memory).unwrap();
        }
        assert_eq!((memory.field(SND_CWND), memory.field(SND_CWND_CNT)), (10, 9));
        call("tcp_reno_cong_avoid", [SOCKET, 0, 1, 0, 0], &mut memory).unwrap();
        assert_eq!((memory.field(SND_CWND), memory.field(SND_CWND_CNT)), (11, 0));
        // 25 at once: two windows of 11 and three more.
        call("tcp_cong_avoid_ai", [SOCKET, 11, 25, 0, 0], &mut memory).unwrap();
        assert_eq!((memory.field(SND_CWND), memory.field(SND_CWND_CNT)), (13, 3));
    }

    #[test]
    fn half_is_left_but_two_and_undone_is_what_was_there() {
        let mut memory = socket(3, 5);
        assert_eq!(call("tcp_reno_ssthresh", [SOCKET, 0, 0, 0, 0], &mut memory), Ok(2));
        memory.set_field(PRIOR_CWND, 9);
        assert_eq!(call("tcp_reno_undo_cwnd", [SOCKET, 0, 0, 0, 0], &mut memory), Ok(9));
        assert!(call("tcp_reno_ssthresh", [SOCKET + 8, 0, 0, 0, 0], &mut memory).is_err());
    }
}
