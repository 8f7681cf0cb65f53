//! A client at the receiver that requests one response after the other, and its server at the sender.
//!
//! It contains requests, their retransmissions and completion times. [`Web`], [`Page`] and [`Player`] set the size
//! of each response and the time of the next request.

use super::abr::Player;
use super::page::Page;
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
    /// A reader of one response after the other.
    Web(Web),
    /// A browser.
    Page(Page),
    /// A player of streamed media.
    Player(Player),
}

impl User {
    /// The client requests something at `now`.
    fn on_ask(&mut self, now: Instant, log: &mut TransferLog) {
        match self {
            User::Web(_) => {}
            User::Page(page) => page.on_ask(now),
            User::Player(player) => player.choose(now, log),
        }
    }

    /// The size of the response. The first part of a page begins a transfer.
    fn response(&mut self, log: &mut TransferLog) -> u64 {
        let bytes = match self {
            User::Web(web) => web.response(),
            User::Page(page) => page.response(),
            User::Player(player) => player.response(),
        };
        match self {
            User::Page(page) if page.lacks_objects() => log.started_bytes += bytes,
            _ => log.start(bytes),
        }
        bytes
    }

    /// The response came at `now`, after `taken`. Returns when the next request is due.
    fn on_response(&mut self, now: Instant, taken: Duration, log: &mut TransferLog) -> Instant {
        let (until, taken) = match self {
            User::Web(web) => (now + web.think(), Some(taken)),
            User::Page(page) => page.on_response(now),
            User::Player(player) => (player.on_chunk(now, taken, log), Some(taken)),
        };
        log.times_ns.extend(taken.map(Duration::as_nanos));
        until
    }
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
                if self.stop.is_some_and(|stop| stop <= now) && !self.lacks_objects() {
                    self.state = State::Over;
                    if let User::Player(player) = &mut self.user {
                        player.on_last_chunk(now, &mut self.log);
                    }
                    return None;
                }
                if self.request == 0 {
                    sender.open(now);
                }
                self.user.on_ask(now, &mut self.log);
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
        Some(self.user.response(&mut self.log))
    }

    /// The whole response has come at `now`.
    pub fn on_response(&mut self, now: Instant) {
        let until = self.user.on_response(now, now.since(self.asked_at), &mut self.log);
        self.state = State::Idle { until };
    }

    /// Whether a transfer is in progress between two responses.
    pub fn lacks_objects(&self) -> bool {
        matches!(&self.user, User::Page(page) if page.lacks_objects())
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
