//! Asking for memory before it is needed.

/// Whether [`prefetch`] has an effect here. If it has none, callers need not search for the next values.
pub const PREFETCHES: bool = cfg!(target_arch = "x86_64");

/// Lines of the processor's caches, in bytes.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Tells the processor that this value will be used soon. It has no effect on other processors.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    let start = std::ptr::from_ref(value).cast::<i8>();
    let ask = |offset| {
        // SAFETY: a prefetch reads and writes nothing that a program could see, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset)) };
    };
    (0..size_of::<T>()).step_by(LINE).for_each(ask);
    // A value need not begin with a line.
    ask(size_of::<T>().saturating_sub(1));
}

/// Tells the processor that this value will be used soon. It has no effect on this processor.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn prefetch<T>(_value: &T) {}
