//! Random numbers for the models, which share nothing with the simulator's.

/// SplitMix64 (Steele, Lea & Flood 2014).
pub struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Self {
        Draws(seed)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Number of the first success, from 1, of trials that succeed with probability `p`.
    pub fn geometric(&mut self, p: f64) -> u64 {
        1 + (libm::log(1.0 - self.uniform()) / libm::log(1.0 - p)) as u64
    }
}
