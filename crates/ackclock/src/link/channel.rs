//! A channel that stations contend for by the DCF of IEEE 802.11. It carries one transmission at a time, and two
//! counters that reach zero in the same slot cause a collision.
//!
//! Time is slotted from one DIFS after the last busy period. A counter is stored as the number of the slot in which
//! it reaches zero. Slots of busy periods have no numbers, so counters freeze without an update. One call of
//! [`Channel::advance`] processes the time between two transmissions, without an event per slot.
//!
//! A frame that arrives at a station without a counter while the channel is idle leaves in the next slot. If the
//! channel is busy, the station draws a counter. It also draws one after each transmission, even without a queued
//! frame.

use super::dcf::{Countdown, Dcf, Exchange};
use super::frame::{Departure, Frame};
use super::{Impairable, Link, Sink};
use crate::qdisc::Qdisc;
use crate::rng::Rng;
use crate::units::{Duration, Instant, Rate};

/// The sinks of all links.
pub trait Sinks<T> {
    /// The sink of a link.
    fn at(&mut self, link: usize) -> impl Sink<T>;
}

impl<T> Sinks<T> for () {
    fn at(&mut self, _link: usize) -> impl Sink<T> {}
}

/// Never: the slot of a station that has nothing to send.
const NEVER: u64 = u64::MAX;

/// A channel with its stations. The queue of a station, and its frames in flight, are a separate [`Link`], made by
/// [`Link::of_station`]. Calls pass all links, and a station knows the index of its own.
#[derive(Clone, Debug)]
pub struct Channel<T> {
    dcf: Dcf,
    /// The time of the next transmission, or never if no station has a packet.
    next_start: Instant,
    /// The slot that begins at `idle_from`.
    slot: u64,
    /// The time at which counters continue after the last busy period.
    idle_from: Instant,
    /// Busy periods so far.
    rounds: u64,
    /// For each station, the slot in which it sends.
    contenders: Vec<u64>,
    stations: Vec<Station<T>>,
    /// Links to which packets were given since somebody looked.
    news: Vec<usize>,
    /// The stations that send in the current slot.
    senders: Vec<usize>,
}

/// The configuration of a station.
#[derive(Clone, Debug)]
pub struct StationConfig {
    /// The place of its link.
    pub link: usize,
    /// The rate of its data.
    pub rate: Rate,
    /// Where its counters come from.
    pub backoff: Rng,
    /// Where the errors of its frames are drawn from.
    pub errors: Rng,
}

#[derive(Clone, Debug)]
struct Station<T> {
    config: StationConfig,
    /// The slot in which its counter reaches zero.
    due: u64,
    /// The busy period after which that was drawn.
    drawn: u64,
    /// Transmissions in a row without an answer.
    failures: u32,
    /// The current frame, once it was sent for the first time.
    frame: Frame<T>,
    /// Bytes in an aggregate at most.
    room: u64,
    exchange: Exchange,
    /// The end of its last exchange.
    idle_since: Instant,
}

impl<T: Impairable> Station<T> {
    /// Draws a counter that starts with `slot`.
    fn back_off(&mut self, window: u32, slot: u64, round: u64) {
        let choices = u64::from(window) + 1;
        let draw = ((u128::from(self.config.backoff.next_u64()) * u128::from(choices)) >> 64) as u64;
        (self.due, self.drawn) = (slot + draw, round);
    }
}

impl<T: Impairable> Channel<T> {
    /// An idle channel.
    pub fn new(dcf: Dcf, stations: Vec<StationConfig>) -> Self {
        let nothing = Exchange { exposed: Duration::ZERO, arrival: Duration::ZERO, end: Duration::ZERO };
        let station = |config: StationConfig| Station {
            room: dcf.room(config.rate),
            config,
            due: 0,
            drawn: 0,
            failures: 0,
            frame: Frame::new(),
            exchange: nothing,
            idle_since: Instant::ZERO,
        };
        let stations: Vec<_> = stations.into_iter().map(station).collect();
        Channel {
            dcf,
            next_start: Instant::MAX,
            slot: 0,
            idle_from: Instant::ZERO,
            rounds: 0,
            contenders: vec![NEVER; stations.len()],
            stations,
            news: Vec::new(),
            senders: Vec::new(),
        }
    }

    /// The time of the next advance. No transmission begins before it.
    pub fn next_start(&self) -> Option<Instant> {
        (self.next_start < Instant::MAX).then_some(self.next_start)
    }

    /// A link to which packets were given that come out of it later, each of them once.
    pub fn next_news(&mut self) -> Option<usize> {
        self.news.pop()
    }

    /// Packets that are held for another transmission, and their bytes.
    pub fn held(&self) -> (u64, u64) {
        let frames = || self.stations.iter().flat_map(|station| station.frame.held());
        (frames().count() as u64, frames().map(|item| u64::from(item.wire_len())).sum())
    }

    /// A packet arrives at the queue of a station at `now`.
    pub fn enqueue(&mut self, now: Instant, station: usize, item: T, links: &mut [Link<T>], sinks: &mut impl Sinks<T>) {
        self.advance(now, links, sinks);
        let state = &mut self.stations[station];
        let link = &mut links[state.config.link];
        if self.contenders[station] == NEVER {
            link.queue.idled(Duration::from_nanos(now.as_nanos().saturating_sub(state.idle_since.as_nanos())));
        }
        link.enqueue(now, item, &mut sinks.at(state.config.link));
        let has_packet = link.backlog().0 > 0 || !state.frame.is_empty();
        match (self.contenders[station] < NEVER, has_packet) {
            (false, true) => self.contend(now, station),
            // A queue may drop all waiting packets for a packet that it also drops.
            (true, false) => {
                self.contenders[station] = NEVER;
                self.find_next_start();
            }
            _ => {}
        }
    }

    /// A station has something to send from now on.
    fn contend(&mut self, now: Instant, station: usize) {
        let state = &mut self.stations[station];
        if now >= self.idle_from {
            let slots = now.since(self.idle_from).as_nanos() / self.dcf.slot.as_nanos() + 1;
            state.due = state.due.max(self.slot + slots);
        } else if state.due < self.slot || state.due == self.slot && state.drawn < self.rounds {
            state.back_off(self.dcf.window(0), self.slot, self.rounds);
        }
        let due = state.due;
        self.contenders[station] = due;
        self.next_start = self.next_start.min(self.start_of(due));
    }

    fn start_of(&self, slot: u64) -> Instant {
        self.idle_from + self.dcf.slot * (slot - self.slot)
    }

    /// Begins every transmission that is due by `now`.
    #[inline]
    pub fn advance(&mut self, now: Instant, links: &mut [Link<T>], sinks: &mut impl Sinks<T>) {
        while self.next_start <= now {
            self.transmit(links, sinks);
        }
    }

    /// The stations whose backoff ends now transmit.
    fn transmit(&mut self, links: &mut [Link<T>], sinks: &mut impl Sinks<T>) {
        let (start, slot) = (self.next_start, self.contenders.iter().copied().min().unwrap_or(NEVER));
        debug_assert_eq!(start, self.start_of(slot), "invariant: the first counter to reach zero begins");
        let mut senders = std::mem::take(&mut self.senders);
        senders.clear();
        senders.extend((0..self.contenders.len()).filter(|station| self.contenders[*station] == slot));
        senders.retain(|station| self.make_frame(start, *station, links, sinks));
        if senders.is_empty() {
            self.senders = senders;
            self.find_next_start();
            return;
        }
        let succeeds = self.receive(&senders);
        let end = start + self.busy(&senders, succeeds);
        self.slot = slot + u64::from(self.dcf.countdown == Countdown::CountsBusy);
        self.idle_from = end + if succeeds { self.dcf.difs } else { self.dcf.recovery() };
        self.rounds += 1;
        for station in &senders {
            let link = self.stations[*station].config.link;
            let sink = &mut sinks.at(link);
            self.conclude(*station, succeeds.then_some(start), end, &mut links[link], sink);
        }
        self.senders = senders;
        self.find_next_start();
    }

    /// How long those who send together keep the channel busy.
    fn busy(&self, senders: &[usize], succeeds: bool) -> Duration {
        let exchanges = senders.iter().map(|station| self.stations[*station].exchange);
        let longest = match senders.len() {
            1 if succeeds => exchanges.map(|exchange| exchange.end).max(),
            // Nothing collides, so that all of it is sent before an ACK is missed.
            1 => exchanges.map(|exchange| exchange.arrival).max(),
            _ => exchanges.map(|exchange| exchange.exposed + self.dcf.propagation).max(),
        };
        longest.unwrap_or_default()
    }

    /// Whether an answer comes. It does if one station sends, and one of its packets arrives.
    fn receive(&mut self, senders: &[usize]) -> bool {
        let is_alone = senders.len() == 1;
        let Dcf { retries, frame_errors, packet_errors, .. } = self.dcf;
        let mut succeeds = false;
        for station in senders {
            let Station { config, frame, .. } = &mut self.stations[*station];
            let mut is_damaged = |errors: f64| errors > 0.0 && config.errors.next_f64() < errors;
            let arrives = is_alone && !is_damaged(frame_errors);
            succeeds |= frame.end(|| !arrives || is_damaged(packet_errors), retries);
        }
        succeeds
    }

    /// Ends a transmission of a station at `end`. If it was answered, it began at `start`. The station draws a new
    /// counter.
    fn conclude(
        &mut self,
        station: usize,
        start: Option<Instant>,
        end: Instant,
        link: &mut Link<T>,
        sink: &mut impl Sink<T>,
    ) {
        let state = &mut self.stations[station];
        link.count_attempt(start.is_none());
        state.idle_since = end;
        let is_last = state.failures >= self.dcf.retries;
        state.failures = if start.is_some() || is_last { 0 } else { state.failures + 1 };
        // The last packet of a frame leaves with the frame. The link adds the propagation.
        let left = start.map_or(end, |start| start + (state.exchange.arrival - self.dcf.propagation));
        let mut news = false;
        while let Some(departure) = state.frame.depart() {
            match departure {
                Departure::Arrived(item) => {
                    link.send_off(start.unwrap_or(end), left, item, sink);
                    news = true;
                }
                Departure::GivenUp(item) => link.give_up(end, item, sink),
            }
        }
        if news {
            self.news.push(state.config.link);
        }
        state.back_off(self.dcf.window(state.failures), self.slot, self.rounds);
        let has_more = !state.frame.is_empty() || link.backlog().0 > 0;
        self.contenders[station] = if has_more { state.due } else { NEVER };
    }

    fn find_next_start(&mut self) {
        let next = self.contenders.iter().copied().min().filter(|slot| *slot < NEVER);
        self.next_start = next.map_or(Instant::MAX, |slot| self.start_of(slot));
    }

    /// A station that is about to send takes packets from its queue, for which the frame has room. A frame without a
    /// block ACK goes out again as it was. False if the queue drops all packets, so that nothing is sent.
    fn make_frame(&mut self, start: Instant, station: usize, links: &mut [Link<T>], sinks: &mut impl Sinks<T>) -> bool {
        let Station { config, frame, room, exchange, .. } = &mut self.stations[station];
        let link = &mut links[config.link];
        let sink = &mut sinks.at(config.link);
        let joined = |bytes, item: &T| self.dcf.joined(bytes, item.wire_len());
        let mut bytes = frame.sent().fold(0, joined);
        let mut longest = frame.sent().map(T::wire_len).max().unwrap_or_default();
        // The next packet is as long as the longest, so far as a station can tell.
        while frame.has_room(self.dcf.aggregate) && (bytes == 0 || self.dcf.joined(bytes, longest) <= *room) {
            let Some(item) = link.take_for_frame(start, sink) else { break };
            bytes = joined(bytes, &item);
            longest = longest.max(item.wire_len());
            frame.add(item);
        }
        if frame.is_empty() {
            self.contenders[station] = NEVER;
            return false;
        }
        *exchange = self.dcf.exchange(config.rate, frame.sent().map(T::wire_len));
        true
    }
}

impl<T: Impairable> Link<T> {
    /// Makes it the link of a station: it sends nothing by itself, but when its channel says so.
    pub fn of_station(mut self) -> Self {
        self.transmitter.free_at = Instant::MAX;
        self
    }

    /// The next packet leaves the queue, as its first transmission begins.
    fn take_for_frame(&mut self, start: Instant, sink: &mut impl Sink<T>) -> Option<T> {
        let (since, item) = self.take(start, sink)?;
        self.begin(start, start.since(since), &item, sink);
        Some(item)
    }

    /// A packet that was taken is given up.
    fn give_up(&mut self, at: Instant, item: T, sink: &mut impl Sink<T>) {
        let counters = &mut **self.counters.get_or_insert_default();
        counters.losses += 1;
        counters.lost_bytes += u64::from(item.wire_len());
        sink.lost(at, item);
    }

    fn count_attempt(&mut self, failed: bool) {
        let counters = &mut **self.counters.get_or_insert_default();
        counters.attempts += 1;
        counters.failed_attempts += u64::from(failed);
    }
}

#[cfg(test)]
mod tests;
