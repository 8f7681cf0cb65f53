//! A client at the receiver that requests one response after the other, and its server at the sender.
//!
//! It contains requests, their retransmissions and completion times. [`Web`] and [`Player`] set the size of each
//! response and the time of the next request.

use super::abr::Player;
use super::web::Web;
use crate::sim::endpoint::SendingEnd;
use crate::sim::plan::FlowPlan;
use crate::sim::transfer::TransferLog;
use crate::units::{Duration, Instant};

/// A lost request is sent again after a second, and then after doubling intervals (RFC 6298 §2.1, §5.5).
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);

/// The client, and the state of its server.
#[derive(Clone, Debug)]
pub struct Client {
    request_len: u32,
    stop: Option<Instant>,
    /// Number of the last request, from 1.
    request: u64,
    asked_at: Instant,
    state: State,
    user: User,
    /// Responses.
    log: TransferLog,
}

/// The program that requests.
#[derive(Clone, Debug)]
pub enum User {
    /// A reader of pages.
    Web(Web),
    /// A player of streamed media.
    Player(Player),
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The next request is due then.
    Idle { until: Instant },
    /// The request is in flight.
    Asking { retry_at: Instant, timeout: Duration },
    /// The response is in flight.
    Answering,
    /// No more requests.
    Over,
}

impl Client {
    /// Before the first request, at the start of the flow.
    pub fn new(user: User, request_len: u32, flow: &FlowPlan) -> Self {
        Client {
            request_len,
            stop: flow.stop,
            request: 0,
            asked_at: flow.start,
            state: State::Idle { until: flow.start },
            user,
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
            State::Idle { until } => Some(until),
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
            State::Idle { until } if until <= now => {
                if self.stop.is_some_and(|stop| stop <= now) {
                    self.state = State::Over;
                    if let User::Player(player) = &mut self.user {
                        player.on_last_chunk(now, &mut self.log);
                    }
                    return None;
                }
                if self.request == 0 {
                    sender.open(now);
                }
                if let User::Player(player) = &mut self.user {
                    player.choose(now, &mut self.log);
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

    /// A request has arrived at the server. Returns the size of the response, unless it was sent before.
    pub fn on_request(&mut self, number: u64) -> Option<u64> {
        if number != self.request || !matches!(self.state, State::Asking { .. }) {
            return None;
        }
        self.state = State::Answering;
        let bytes = match &mut self.user {
            User::Web(web) => web.response(),
            User::Player(player) => player.response(),
        };
        self.log.start(bytes);
        Some(bytes)
    }

    /// The whole response has come at `now`.
    pub fn on_response(&mut self, now: Instant) {
        let taken = now.since(self.asked_at);
        self.log.times_ns.push(taken.as_nanos());
        let until = match &mut self.user {
            User::Web(web) => now + web.think(),
            User::Player(player) => player.on_chunk(now, taken, &mut self.log),
        };
        self.state = State::Idle { until };
    }

    /// The window of measurement begins at `now`.
    pub fn begin(&mut self, now: Instant) {
        if let User::Player(player) = &mut self.user {
            player.advance(now, &mut self.log);
        }
        self.log = TransferLog::default();
        if let User::Player(player) = &self.user {
            // A stall in progress is one of the window.
            self.log.stalls = u64::from(player.is_stalled());
        }
    }

    /// Responses since the window began.
    pub fn responses(&self) -> &TransferLog {
        &self.log
    }

    /// The log at the end of the run.
    pub fn log_at(&self, end: Instant) -> TransferLog {
        let mut log = self.log.clone();
        if let User::Player(player) = &self.user {
            player.clone().end(end, &mut log);
        }
        log
    }
}
