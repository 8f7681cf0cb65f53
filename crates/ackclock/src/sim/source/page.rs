//! A browser that loads one page after the other over one connection: the HTML document, then all objects together.
//!
//! HTTP/2 multiplexes the responses of a connection. The last byte of the last object completes the page, so the
//! order of objects does not matter.

use crate::rng::{Rng, RngStreams};
use crate::sim::distribution::Distribution;
use crate::sim::plan::FlowPlan;
use crate::sim::traffic::PagePlan;
use crate::units::{Duration, Instant};

/// The requested part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Document,
    Objects,
}

/// The pages of a browser.
#[derive(Clone, Debug)]
pub struct Page {
    document: Distribution,
    objects: u32,
    object: Distribution,
    think: Distribution,
    thoughts: Rng,
    sizes: Rng,
    part: Part,
    /// The first request of the page.
    began: Instant,
}

impl Page {
    /// Before the first request.
    pub fn new(plan: &PagePlan, flow: &FlowPlan, rngs: &RngStreams) -> Self {
        Page {
            document: plan.document,
            objects: plan.objects,
            object: plan.object,
            think: plan.think,
            thoughts: rngs.stream(&flow.name, "think"),
            sizes: rngs.stream(&flow.name, "sizes"),
            part: Part::Document,
            began: flow.start,
        }
    }

    /// Whether the browser has the document, and lacks objects.
    pub fn lacks_objects(&self) -> bool {
        self.part == Part::Objects
    }

    /// A part is requested at `now`.
    pub fn on_ask(&mut self, now: Instant) {
        if self.part == Part::Document {
            self.began = now;
        }
    }

    /// The size of the requested part.
    pub fn response(&mut self) -> u64 {
        match self.part {
            Part::Document => self.document.draw_bytes(&mut self.sizes),
            Part::Objects => (0..self.objects).map(|_| self.object.draw_bytes(&mut self.sizes)).sum(),
        }
    }

    /// The requested part has come. Returns when the next one is requested, and the load time of a complete page.
    pub fn on_response(&mut self, now: Instant) -> (Instant, Option<Duration>) {
        match self.part {
            Part::Document => {
                self.part = Part::Objects;
                (now, None)
            }
            Part::Objects => {
                self.part = Part::Document;
                (now + self.think.draw_time(&mut self.thoughts), Some(now.since(self.began)))
            }
        }
    }
}
