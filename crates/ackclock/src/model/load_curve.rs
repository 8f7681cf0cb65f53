//! Throughput, response time and power against the offered load, with knee and cliff.
//!
//! Reference: the shape is figure 1 of Chiu & Jain 1989 (figure 2 of jasem-efficiency-fairness). Throughput follows
//! the load up to the *knee* and gains little from there to the *cliff*. Beyond the cliff it collapses, because the
//! queue overflows and the remaining packets arrive too late.
//!
//! The closed form here is an M/M/1/K queue whose senders repeat a packet after `timeout` service times. A packet
//! that took longer is wasted (Nagle's congestion collapse, RFC 896):
//!
//! - Offered load `rho`: packets that arrive at the queue, including repeated ones, over its capacity.
//! - Overflow `P = rho^K (1 - rho) / (1 - rho^(K+1))`. The queue holds `K` packets, one of them in service.
//! - An accepted packet finds `j < K` others with probability `q_j ~ rho^j`, and then takes an Erlang(j + 1) time.
//! - Throughput is `rho (1 - P) sum_j q_j P(Erlang(j + 1) <= timeout)`.
//! - Response time is `sum_j q_j (j + 1)`, in service times.
//! - Power is throughput / response time (Kleinrock 1979).
//! - The knee is the load with the greatest power, and the cliff the load with the greatest throughput.
//!
//! Deviations: Chiu & Jain draw the curves without a formula. With Poisson arrivals the knee is near half the
//! capacity, and with smoother traffic it would be higher.

use serde::{Deserialize, Serialize};

use super::synchronous::SetupError;

/// Which curve to compute.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoadCurveRequest {
    /// Packets that the queue holds, the one in service included.
    pub buffer: u32,
    /// How long a sender waits before it repeats a packet, in service times.
    pub timeout: f64,
    /// The largest load, as a multiple of the capacity.
    pub max_load: f64,
    /// Number of loads, evenly spaced up to `max_load`.
    pub points: u32,
}

impl Default for LoadCurveRequest {
    fn default() -> Self {
        LoadCurveRequest { buffer: 50, timeout: 25.0, max_load: 2.0, points: 200 }
    }
}

/// The curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadCurve {
    /// One point per load, ascending.
    pub points: Vec<LoadPoint>,
    /// Where power is greatest.
    pub knee: LoadPoint,
    /// Where throughput is greatest.
    pub cliff: LoadPoint,
}

/// The queue at one load. Loads and throughputs are multiples of the capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LoadPoint {
    /// Packets offered, repeated ones included.
    pub load: f64,
    /// Packets served in time.
    pub throughput: f64,
    /// Mean time in the queue and in service of accepted packets, in service times.
    pub response_time: f64,
    /// Throughput over response time.
    pub power: f64,
    /// Part of the offered packets that the queue has no room for.
    pub overflow: f64,
}

impl LoadCurve {
    /// The curve of a request.
    ///
    /// # Errors
    /// A parameter out of its range.
    pub fn new(request: &LoadCurveRequest) -> Result<LoadCurve, SetupError> {
        request.check()?;
        let in_time = in_time(request.buffer as usize, request.timeout);
        let spacing = request.max_load / f64::from(request.points);
        let points: Vec<_> = (1..=request.points).map(|i| LoadPoint::at(f64::from(i) * spacing, &in_time)).collect();
        let greatest = |by: fn(&LoadPoint) -> f64| {
            *points.iter().max_by(|a, b| by(a).total_cmp(&by(b))).expect("invariant: at least one point")
        };
        Ok(LoadCurve { knee: greatest(|point| point.power), cliff: greatest(|point| point.throughput), points })
    }
}

impl LoadCurveRequest {
    fn check(&self) -> Result<(), SetupError> {
        let at = |key: &str, value: f64, holds: bool, expected: &'static str| {
            if holds { Ok(()) } else { Err(SetupError::OutOfRange { key: key.to_owned(), value, expected }) }
        };
        let between = |value: f64, low: f64, high: f64| value > low && value <= high;
        at("buffer", f64::from(self.buffer), (1..=500).contains(&self.buffer), "in 1 ..= 500 packets")?;
        at("timeout", self.timeout, between(self.timeout, 0.0, 500.0), "above 0 and at most 500 service times")?;
        at("max_load", self.max_load, between(self.max_load, 0.0, 100.0), "above 0 and at most 100")?;
        at("points", f64::from(self.points), (1..=100_000).contains(&self.points), "in 1 ..= 100000")
    }
}

impl LoadPoint {
    /// The queue at `load`. `in_time[j]` is the probability that a packet is in time if it finds `j` others.
    fn at(load: f64, in_time: &[f64]) -> LoadPoint {
        // State probabilities up to a factor, the largest being 1 to keep powers in range.
        let buffer = in_time.len();
        let fullest = if load > 1.0 { buffer } else { 0 };
        let weight = |j: usize| libm::pow(load, j as f64 - fullest as f64);
        let accepted: f64 = (0..buffer).map(weight).sum();
        let overflow = weight(buffer) / (accepted + weight(buffer));
        let mean_over_accepted =
            |value: &dyn Fn(usize) -> f64| (0..buffer).map(|j| weight(j) * value(j)).sum::<f64>() / accepted;
        let throughput = load * (1.0 - overflow) * mean_over_accepted(&|j| in_time[j]);
        let response_time = mean_over_accepted(&|j| j as f64 + 1.0);
        LoadPoint { load, throughput, response_time, power: throughput / response_time, overflow }
    }
}

/// `P(Erlang(j + 1) <= timeout)` for `j` in `0 .. buffer`: one minus the Poisson probabilities of 0 ..= j.
fn in_time(buffer: usize, timeout: f64) -> Vec<f64> {
    let mut poisson = libm::exp(-timeout);
    let mut late = 0.0;
    (0..buffer)
        .map(|j| {
            late += poisson;
            poisson *= timeout / (j as f64 + 1.0);
            (1.0 - late).max(0.0)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_without_timeouts_is_m_m_1_k() {
        // K = 2, rho = 1: states 1/3 each; throughput 2/3; accepted packets find 0 or 1 others: response 1.5.
        let request = LoadCurveRequest { buffer: 2, timeout: 500.0, max_load: 1.0, points: 1 };
        let point = LoadCurve::new(&request).unwrap().points[0];
        assert!((point.throughput - 2.0 / 3.0).abs() < 1e-12 && (point.response_time - 1.5).abs() < 1e-12);
        assert!((point.overflow - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_lone_packet_is_in_time_with_an_exponential_probability() {
        // P(Erlang(1) <= 1) = 1 - 1/e; P(Erlang(2) <= 1) = 1 - 2/e.
        let expected = [1.0 - libm::exp(-1.0), 1.0 - 2.0 * libm::exp(-1.0)];
        for (value, expected) in in_time(2, 1.0).iter().zip(expected) {
            assert!((value - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn throughput_follows_the_load_then_levels_then_collapses() {
        let curve = LoadCurve::new(&LoadCurveRequest::default()).unwrap();
        // With a large buffer the knee is the one of M/M/1: power rho (1 - rho) is greatest at 1/2.
        assert!((curve.knee.load - 0.5).abs() < 0.02, "{:?}", curve.knee);
        assert!((curve.knee.throughput - curve.knee.load).abs() < 1e-3);
        assert!(curve.cliff.load > 0.8 && curve.cliff.load < 1.0, "{:?}", curve.cliff);
        assert!(curve.points.last().unwrap().throughput < 0.01);
        let rising = curve.points.windows(2).all(|pair| pair[1].response_time > pair[0].response_time);
        assert!(rising);
    }

    #[test]
    fn a_parameter_out_of_range_is_named() {
        let request = LoadCurveRequest { buffer: 0, ..LoadCurveRequest::default() };
        let message = LoadCurve::new(&request).unwrap_err().to_string();
        assert_eq!(message, "`buffer` is 0, but must be in 1 ..= 500 packets");
    }
}
