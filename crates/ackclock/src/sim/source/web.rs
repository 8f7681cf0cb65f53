//! A client that sends a request, receives the whole response, and pauses before the next request (a closed loop).

use crate::rng::{Rng, RngStreams};
use crate::sim::distribution::Distribution;
use crate::sim::endpoint::SendingEnd;
use crate::sim::plan::{FlowPlan, WebPlan};
use crate::sim::transfer::TransferLog;
use crate::units::{Duration, Instant};

/// A lost request is sent again after a second, and then after doubling intervals (RFC 6298 §2.1, §5.5).
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);

/// The client at the receiver, and the state of its server at the sender.
#[derive(Clone, Debug)]
pub struct Web {
    think: Distribution,
    request_len: u32,
    response: Distribution,
    thoughts: Rng,
    sizes: Rng,
    stop: Option<Instant>,
    /// Number of the last request, from 1.
    request: u64,
    asked_at: Instant,
    state: State,
    /// Answers.
    pub log: TransferLog,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing has been asked yet, or the last answer is being read.
    Thinking { until: Instant },
    /// The request is in flight.
    Asking { retry_at: Instant, timeout: Duration },
    /// The response is in flight.
    Answering,
    /// No more requests.
    Over,
}

impl Web {
    /// Before the first request, at the start of the flow.
    pub fn new(plan: &WebPlan, flow: &FlowPlan, rngs: &RngStreams) -> Self {
        Web {
            think: plan.think,
            request_len: plan.request,
            response: plan.response,
            thoughts: rngs.stream(&flow.name, "think"),
            sizes: rngs.stream(&flow.name, "sizes"),
            stop: flow.stop,
            request: 0,
            asked_at: flow.start,
            state: State::Thinking { until: flow.start },
            log: TransferLog::default(),
        }
    }

    /// Payload of a request.
    pub fn request_len(&self) -> u32 {
        self.request_len
    }

    /// When the client does something next.
    pub fn next_deadline(&self) -> Option<Instant> {
        match self.state {
            State::Thinking { until } => Some(until),
            State::Asking { retry_at, .. } => Some(retry_at),
            State::Answering | State::Over => None,
        }
    }

    /// Nothing is asked for from `now` on.
    pub fn stop(&mut self, now: Instant) {
        self.stop = Some(now);
    }

    /// Processes the work due at `now`. Returns the number of a request to send.
    pub fn on_deadline(&mut self, now: Instant, sender: &mut SendingEnd) -> Option<u64> {
        let timeout = match self.state {
            State::Thinking { until } if until <= now => {
                if self.stop.is_some_and(|stop| stop <= now) {
                    self.state = State::Over;
                    return None;
                }
                if self.request == 0 {
                    sender.open(now);
                }
                self.request += 1;
                self.asked_at = now;
                FIRST_RETRY
            }
            State::Asking { retry_at, timeout } if retry_at <= now => (timeout * 2).min(LAST_RETRY),
            _ => return None,
        };
        self.state = State::Asking { retry_at: now + timeout, timeout };
        Some(self.request)
    }

    /// A request has arrived at the server. Returns the size of the answer, unless it was answered before.
    pub fn on_request(&mut self, number: u64) -> Option<u64> {
        if number != self.request || !matches!(self.state, State::Asking { .. }) {
            return None;
        }
        self.state = State::Answering;
        let bytes = self.response.draw_bytes(&mut self.sizes);
        self.log.start(bytes);
        Some(bytes)
    }

    /// The whole answer has come at `now`.
    pub fn on_response(&mut self, now: Instant) {
        self.state = State::Thinking { until: now + self.think.draw_time(&mut self.thoughts) };
        self.log.times_ns.push(now.since(self.asked_at).as_nanos());
    }
}
