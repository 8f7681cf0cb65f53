//! A user who requests a response, reads all of it, and pauses before the next request (a closed loop).

use crate::rng::{Rng, RngStreams};
use crate::sim::distribution::Distribution;
use crate::sim::plan::FlowPlan;
use crate::sim::traffic::WebPlan;
use crate::units::Duration;

/// Sizes of responses, and pauses.
#[derive(Clone, Debug)]
pub struct Web {
    think: Distribution,
    response: Distribution,
    thoughts: Rng,
    sizes: Rng,
}

impl Web {
    /// Before the first request.
    pub fn new(plan: &WebPlan, flow: &FlowPlan, rngs: &RngStreams) -> Self {
        Web {
            think: plan.think,
            response: plan.response,
            thoughts: rngs.stream(&flow.name, "think"),
            sizes: rngs.stream(&flow.name, "sizes"),
        }
    }

    /// The size of the next response.
    pub fn response(&mut self) -> u64 {
        self.response.draw_bytes(&mut self.sizes)
    }

    /// The pause after a response.
    pub fn think(&mut self) -> Duration {
        self.think.draw_time(&mut self.thoughts)
    }
}
