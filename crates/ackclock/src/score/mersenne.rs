//! The Mersenne Twister MT19937 (Matsumoto & Nishimura 1998), seeded and read like Python's `random.Random`.
//!
//! Resamples use this generator and not the streams of `rng`, because stored scores and printed intervals depend on it.

const SIZE: usize = 624;
const MIDDLE: usize = 397;

pub struct Mersenne {
    state: [u32; SIZE],
    next: usize,
}

impl Mersenne {
    /// Seeds like `init_by_array` of the reference implementation with a key of one word.
    pub fn new(seed: u32) -> Self {
        let mut state = [0u32; SIZE];
        state[0] = 19_650_218;
        for at in 1..SIZE {
            state[at] = mixed(state[at - 1]).wrapping_mul(1_812_433_253).wrapping_add(at as u32);
        }
        let mut at = 1;
        let mut step = |state: &mut [u32; SIZE], factor: u32, added: &dyn Fn(usize) -> u32| {
            state[at] = (state[at] ^ mixed(state[at - 1]).wrapping_mul(factor)).wrapping_add(added(at));
            at += 1;
            if at == SIZE {
                state[0] = state[SIZE - 1];
                at = 1;
            }
        };
        for _ in 0..SIZE {
            step(&mut state, 1_664_525, &|_| seed);
        }
        for _ in 1..SIZE {
            step(&mut state, 1_566_083_941, &|at| (at as u32).wrapping_neg());
        }
        state[0] = 1 << 31;
        Mersenne { state, next: SIZE }
    }

    /// A number of 53 bits in the interval [0, 1).
    pub fn unit(&mut self) -> f64 {
        let (high, low) = (self.word() >> 5, self.word() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (count as f64 * self.unit()) as usize
    }

    fn word(&mut self) -> u32 {
        if self.next == SIZE {
            self.refill();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn refill(&mut self) {
        for at in 0..SIZE {
            let joined = (self.state[at] & 0x8000_0000) | (self.state[(at + 1) % SIZE] & 0x7fff_ffff);
            let twist = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[at] = self.state[(at + MIDDLE) % SIZE] ^ (joined >> 1) ^ twist;
        }
        self.next = 0;
    }
}

fn mixed(word: u32) -> u32 {
    word ^ (word >> 30)
}
