//! The contract of a [`Link`].

use super::parts::{impairments, variation};
use super::{Draw, Item, Violation, for_each_case};
use crate::link::{Link, LinkConfig, Sink};
use crate::qdisc::{Ecn, Limit, Qdisc, Reason};
use crate::rng::RngStreams;
use crate::sim::ImpairmentsPlan;
use crate::units::{Duration, Instant, Rate};
use crate::variation::Variation;

const CASES: u64 = 200;
const ARRIVALS: u64 = 300;
/// Capacities do not vary after this time, and packets in transit may never arrive.
const END: Instant = Instant::from_nanos(3_600_000_000_000);

/// Checks the contract of links with random rates, delays, impairments, limits of the queue and arrivals:
///
/// - A packet is dropped by the queue, lost in transit, queued, in flight, or has arrived, once or twice. These cases
///   are complete in packets and in bytes.
/// - Packets of a flow never overtake each other on a link that keeps the order.
/// - Packets arrive no earlier than transmission and propagation permit, and no faster than the rate allows.
/// - In any time, the arrived bits do not exceed the capacity of a varying rate.
/// - Reading the state of the link changes nothing.
///
/// # Errors
/// The first promise that is broken.
pub fn check_link(name: &str, new: impl Fn(LinkConfig, Limit) -> Link<Item>) -> Result<(), Violation> {
    for_each_case(name, CASES, |draw| {
        let rate = if draw.chance(85) { Rate::from_bps(draw.scale(1e4, 1e10) as u64) } else { None };
        let delay = draw.time(Duration::from_millis(100));
        let impairments = impairments(draw);
        let rngs = || RngStreams::new(0, 0).stream("link", "rate");
        let plan = rate.and_then(|rate| Some((rate, variation(draw, rate.as_bps())?)));
        let varies = plan.map(|(rate, plan)| plan.build(rate, END, rngs));
        let config = LinkConfig {
            rate,
            varies: varies.clone(),
            delay,
            impairments: impairments.build(|purpose| RngStreams::new(0, 0).stream("link", purpose)),
            histogram: draw.chance(50),
        };
        let mut link = new(config, random_limit(draw));
        let mut course = Course::default();
        let mean_gap = rate.map_or(Duration::from_millis(1), |rate| rate.transmission(1500).0);
        let load = draw.scale(0.3, 3.0);
        let looks = draw.chance(50);
        let mut now = Instant::ZERO;
        for number in 0..ARRIVALS {
            // Bursts and pauses with the load as their mean.
            if draw.chance(60) {
                now += draw.time(mean_gap.mul_f64_floor(2.0 / 0.6 / load));
            }
            if looks {
                course.take_until(&mut link, now);
            }
            course.enqueue(&mut link, now, Item::random(draw, number));
            course.check_conservation(&link)?;
        }
        course.witness(draw, &link)?;
        course.drain(&mut link)?;
        course.check_times(rate, delay, &impairments)?;
        varies.map_or(Ok(()), |varies| course.check_capacity(&varies, delay, &impairments))
    })
}

/// A link whose capacity is zero for ever sends all packets after this time.
const WITHOUT_CAPACITY: Instant = Instant::from_nanos(1 << 61);

/// The outcomes of the items of a case.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    enqueued: Vec<(Instant, Item)>,
    pub(super) dropped: Vec<Item>,
    pub(super) arrived: Vec<(Instant, Item)>,
    lost: Vec<Item>,
    /// L4S and classic items of a flow may overtake one another.
    separates_l4s: bool,
}

impl Sink<Item> for Course {
    fn dropped(&mut self, _at: Instant, item: Item, _reason: Reason) {
        self.dropped.push(item);
    }

    fn lost(&mut self, _at: Instant, item: Item) {
        self.lost.push(item);
    }
}

fn random_limit(draw: &mut Draw) -> Limit {
    if draw.chance(50) { Limit::Packets(draw.whole(1, 30) as u32) } else { Limit::Bytes(draw.whole(1500, 40_000)) }
}

fn transmission(rate: Option<Rate>, item: &Item) -> Duration {
    rate.map_or(Duration::ZERO, |rate| rate.transmission(u64::from(item.bytes)).0)
}

fn volume<'a>(items: impl IntoIterator<Item = &'a Item>) -> (u64, u64) {
    items.into_iter().fold((0, 0), |(packets, bytes), item| (packets + 1, bytes + u64::from(item.bytes)))
}

impl Course {
    pub(super) fn enqueue(&mut self, link: &mut Link<Item>, now: Instant, item: Item) {
        let order = |ecn| link.queue().order(&Item { ecn, ..item });
        self.separates_l4s |= order(Ecn::Ect1) != order(Ecn::Ect0);
        self.enqueued.push((now, item));
        link.enqueue(now, item, self);
    }

    /// Takes the arrivals by `now`, at the times that the link requests.
    pub(super) fn take_until(&mut self, link: &mut Link<Item>, now: Instant) {
        while let Some(deadline) = link.next_deadline().filter(|deadline| *deadline <= now) {
            while let Some(item) = link.poll(deadline, self) {
                self.arrived.push((deadline, item));
            }
        }
    }

    pub(super) fn check_conservation(&self, link: &Link<Item>) -> Result<(), String> {
        let counters = link.counters();
        let sent = volume(self.enqueued.iter().map(|(_, item)| item));
        let dropped = volume(&self.dropped);
        let (arrived, backlog, flying) =
            (volume(self.arrived.iter().map(|(_, item)| item)), link.backlog(), link.in_transit());
        let counted = (counters.drops, counters.dropped_bytes);
        ensure!(counted == dropped, "{dropped:?} were dropped, counted {counted:?}");
        ensure!(counters.arrivals == sent.0, "{} came, counted {}", sent.0, counters.arrivals);
        let waiting = (u64::from(backlog.0), backlog.1);
        let kept = (sent.0 - dropped.0 - waiting.0, sent.1 - dropped.1 - waiting.1);
        let forwarded = (counters.forwarded, counters.forwarded_bytes);
        ensure!(forwarded == kept, "{kept:?} have left the queue, counted {forwarded:?}");
        let lost = (counters.losses, counters.lost_bytes);
        let through = (arrived.0 + flying.0 as u64 + lost.0, arrived.1 + flying.1 + lost.1);
        let sent = (forwarded.0 + counters.duplicates, forwarded.1 + counters.duplicated_bytes);
        ensure!(through == sent, "{sent:?} were sent or doubled; arrived, in flight and lost are {through:?}");
        Ok(())
    }

    /// A copy that is polled late delivers the same items, none of them earlier.
    fn witness(&self, draw: &mut Draw, link: &Link<Item>) -> Result<(), String> {
        let (mut straight, mut watched) = (self.clone(), self.clone());
        straight.drain(&mut link.clone())?;
        let mut copy = link.clone();
        let mut now = self.enqueued.last().map_or(Instant::ZERO, |(at, _)| *at);
        while let Some(deadline) = copy.next_deadline() {
            now = now.max(deadline) + draw.time(Duration::from_millis(3));
            copy.advance(now, &mut watched);
            while let Some(item) = copy.poll(now, &mut watched) {
                watched.arrived.push((now, item));
            }
        }
        let order = |course: &Course| course.arrived.iter().map(|(_, item)| item.number).collect::<Vec<_>>();
        ensure!(order(&straight) == order(&watched), "who looks late sees other items");
        ensure!(
            straight.arrived.iter().zip(&watched.arrived).all(|(on_time, late)| on_time.0 <= late.0),
            "who looks late sees items earlier"
        );
        Ok(())
    }

    /// Takes everything to its end.
    pub(super) fn drain(&mut self, link: &mut Link<Item>) -> Result<(), String> {
        while let Some(deadline) = link.next_deadline() {
            self.take_until(link, deadline);
            self.check_conservation(link)?;
        }
        let mut known: Vec<u64> = self
            .arrived
            .iter()
            .map(|(_, item)| item)
            .chain(&self.dropped)
            .chain(&self.lost)
            .map(|item| item.number)
            .collect();
        known.sort_unstable();
        let all = known.len() as u64;
        known.dedup();
        ensure!(known.iter().copied().eq(0..self.enqueued.len() as u64), "each item arrives, is dropped or lost");
        let twice = all - known.len() as u64;
        let counted = link.counters();
        ensure!(twice == counted.duplicates, "{twice} arrived twice, counted {}", counted.duplicates);
        let mut corrupted: Vec<u64> =
            self.arrived.iter().filter(|(_, item)| item.corrupted).map(|(_, item)| item.number).collect();
        corrupted.sort_unstable();
        corrupted.dedup();
        let corrupted = corrupted.len() as u64;
        ensure!(corrupted == counted.corruptions, "{corrupted} arrived corrupted, counted {}", counted.corruptions);
        Ok(())
    }

    pub(super) fn check_times(
        &self,
        rate: Option<Rate>,
        delay: Duration,
        impairments: &ImpairmentsPlan,
    ) -> Result<(), String> {
        for flow in (0..4).filter(|_| !impairments.reorders()) {
            for is_l4s in [false, true] {
                let of_queue = |item: &Item| {
                    let sent = self.enqueued[item.number as usize].1;
                    // A mark on the way may have moved an item from one queue to the other.
                    let class = |ecn: Ecn| ecn.is_l4s() == is_l4s;
                    item.flow == flow && (!self.separates_l4s || class(sent.ecn) && class(item.ecn))
                };
                let numbers = self.arrived.iter().filter(|(_, item)| of_queue(item)).map(|(_, item)| item.number);
                ensure!(numbers.is_sorted(), "items of flow {flow} overtake one another");
            }
        }
        for (at, item) in &self.arrived {
            let came = self.enqueued[item.number as usize].0;
            let soonest = came + transmission(rate, item) + delay;
            ensure!(*at >= soonest, "item {} arrives at {at}, before {soonest}", item.number);
        }
        for pair in self.arrived.windows(2) {
            let [(before, _), (at, item)] = pair else { continue };
            if *at >= WITHOUT_CAPACITY {
                break;
            }
            // Some impairments bunch arrivals up.
            let is_even = impairments.keeps_gaps();
            let apart = if is_even { transmission(rate, item) } else { Duration::ZERO };
            ensure!(*at >= *before + apart, "item {} arrives at {at}, too close after {before}", item.number);
        }
        Ok(())
    }

    /// From the time at which an item came the capacity is enough for all that came since and has arrived.
    fn check_capacity(&self, varies: &Variation, delay: Duration, impairments: &ImpairmentsPlan) -> Result<(), String> {
        let is_even = impairments.keeps_gaps();
        for (came, first) in self.enqueued.iter().filter(|(_, item)| is_even && item.number.is_multiple_of(10)) {
            let mut variation = varies.clone();
            let (mut bits, mut possible, mut since) = (0.0, 0.0, *came);
            let later = self.arrived.iter().filter(|(_, item)| item.number >= first.number);
            for (at, item) in later.take_while(|(at, _)| *at < END) {
                let sent = Instant::from_nanos(at.as_nanos() - delay.as_nanos());
                bits += 8.0 * f64::from(item.bytes);
                possible += variation.bits_between(since, sent);
                since = sent;
                // The end is rounded down to a nanosecond.
                let gained = 1.0 + 1e-9 * variation.most().as_bps() as f64;
                ensure!(bits <= possible + gained, "{bits} bits arrive by {at} in the room of {possible}");
            }
        }
        Ok(())
    }
}
