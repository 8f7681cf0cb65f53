//! The contract suites detect violations: each subject here violates one clause.

use std::collections::VecDeque;

use ackclock::cc::{Ack, Congestion, CongestionControl, Departures, Sent, Windowed};
use ackclock::contract::{Item, Violation, check_cc, check_link, check_queue, check_rule};
use ackclock::link::{Impairments, Jitter, Link, LinkConfig};
use ackclock::qdisc::{DropTail, Ecn, Limit, Qdisc, Queue, QueueSink, Reason};
use ackclock::rng::RngStreams;
use ackclock::rule::Rule;
use ackclock::units::{Duration, Instant, Rate};

fn broken(checked: Result<(), Violation>, promise: &str) {
    let message = checked.expect_err(promise).to_string();
    assert!(message.contains(promise), "{message}");
}

/// A rule made of two functions.
#[derive(Clone, Copy, Debug)]
struct TestRule {
    grow: fn(f64, f64) -> f64,
    cut: fn(f64) -> f64,
}

const SOUND: TestRule = TestRule { grow: |w, acked| w + acked / w, cut: |w| w / 2.0 };

impl Rule for TestRule {
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        (self.grow)(w, acked)
    }
    fn cut(&mut self, w: f64) -> f64 {
        (self.cut)(w)
    }
}

#[test]
fn a_rule_that_breaks_a_promise_is_found() {
    check_rule("sound", || SOUND).unwrap();
    for (rule, promise) in [
        (TestRule { cut: |w| w + 1.0, ..SOUND }, "a cut raises the window"),
        (TestRule { cut: |_| f64::NAN, ..SOUND }, "the window becomes NaN"),
        (TestRule { cut: |w| w, ..SOUND }, "the first cut"),
        (TestRule { grow: |w, acked| w - acked / w, ..SOUND }, "growth shrinks the window"),
        (TestRule { grow: |w, acked| if acked < 1.0 { w + 1.0 } else { w }, ..SOUND }, "less acknowledged gives more"),
        (TestRule { grow: |w, acked| w + acked * acked, ..SOUND }, "by its parts"),
    ] {
        broken(check_rule("rule", || rule), promise);
    }
}

/// Remembers cuts in something that its copies share.
#[derive(Clone, Debug, Default)]
struct Shared(std::sync::Arc<std::sync::atomic::AtomicU64>);

impl Rule for Shared {
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        w + acked / w
    }
    fn cut(&mut self, w: f64) -> f64 {
        let cuts = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if cuts.is_multiple_of(2) { w / 2.0 } else { w / 3.0 }
    }
}

#[test]
fn a_rule_whose_copies_are_not_copies_is_found() {
    broken(check_rule("shared", Shared::default), "on a copy");
}

/// An algorithm that is sound but for one reaction.
#[derive(Debug)]
struct Almost {
    sound: Windowed<TestRule>,
    extra: f64,
    heard: f64,
    sampled: f64,
    wrong: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    GrowsUnused,
    GrowsInRecovery,
    GrowsWithoutNews,
    GrowsTooFast,
    RisesAtCongestion,
    Vanishes,
    ReadsTheClock,
    Listens,
    Samples,
    Resumes,
}

impl CongestionControl for Almost {
    fn cwnd(&self) -> f64 {
        if self.wrong == Wrong::Vanishes { self.sound.cwnd() - 1.0 } else { self.sound.cwnd() + self.extra }
    }
    fn ssthresh(&self) -> f64 {
        match self.wrong {
            Wrong::Listens => self.sound.ssthresh() + self.heard,
            Wrong::Samples => self.sound.ssthresh() + self.sampled,
            _ => self.sound.ssthresh(),
        }
    }
    fn departures(&self) -> Departures {
        Departures::None
    }
    fn needs_rate_samples(&self) -> bool {
        false
    }
    fn on_sent(&mut self, _sent: &Sent) {
        self.heard += 1.0;
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.sound.on_ack(ack);
        self.sampled += f64::from(u8::from(ack.rate.is_some()));
        let wrong = match self.wrong {
            Wrong::GrowsUnused => !ack.cwnd_limited,
            Wrong::GrowsInRecovery => ack.in_recovery && ack.cwnd_limited && ack.acked > 0.0,
            Wrong::GrowsWithoutNews => ack.acked == 0.0 && ack.cwnd_limited && !ack.in_recovery,
            Wrong::GrowsTooFast => ack.acked > 0.0 && ack.cwnd_limited && !ack.in_recovery,
            Wrong::ReadsTheClock => {
                ack.cwnd_limited && !ack.in_recovery && ack.acked > 0.0 && ack.now.as_nanos() > 3_600_000_000_000
            }
            _ => false,
        };
        self.extra += f64::from(u8::from(wrong));
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.sound.on_congestion(congestion);
        self.extra = if self.wrong == Wrong::RisesAtCongestion { 100.0 } else { 0.0 };
    }
    fn on_resume(&mut self, now: Instant) {
        self.sound.on_resume(now);
        self.extra = if self.wrong == Wrong::Resumes { 100.0 } else { 0.0 };
    }
}

#[test]
fn an_algorithm_that_breaks_a_promise_is_found() {
    check_cc("sound", |context| Windowed::new(SOUND, context)).unwrap();
    for (wrong, promise) in [
        (Wrong::GrowsUnused, "a window that is not used grows"),
        (Wrong::GrowsInRecovery, "grows while losses are being repaired"),
        (Wrong::GrowsWithoutNews, "without an ACK of new data"),
        (Wrong::GrowsTooFast, "slow start adds more"),
        (Wrong::RisesAtCongestion, "congestion raises the window"),
        (Wrong::Vanishes, "below one segment"),
        (Wrong::ReadsTheClock, "later"),
        (Wrong::Listens, "0 s later"),
        (Wrong::Samples, "0 s later"),
        (Wrong::Resumes, "idleness raises the window"),
    ] {
        let new =
            move |context| Almost { sound: Windowed::new(SOUND, context), extra: 0.0, heard: 0.0, sampled: 0.0, wrong };
        broken(check_cc("almost", new), promise);
    }
}

/// A queue of items that is sound but for one thing.
#[derive(Clone, Debug)]
struct Heap {
    items: VecDeque<(Instant, Item)>,
    most: usize,
    last_first: bool,
    forgets: bool,
    idles: bool,
    is_early: bool,
    mumbles: bool,
    bypasses_all: bool,
    is_stubborn: bool,
    hides: bool,
    misdates: bool,
    renames: bool,
}

const FIFO: Heap = Heap {
    items: VecDeque::new(),
    most: 5,
    last_first: false,
    forgets: false,
    idles: false,
    is_early: false,
    mumbles: false,
    bypasses_all: false,
    is_stubborn: false,
    hides: false,
    misdates: false,
    renames: false,
};

impl Qdisc<Item> for Heap {
    fn enqueue(&mut self, now: Instant, item: Item, sink: &mut dyn QueueSink<Item>) {
        if self.items.len() >= self.most {
            sink.dropped(now, item, Reason::Full);
        } else if !(self.forgets && item.number.is_multiple_of(50)) {
            self.items.push_back((now, item));
        }
    }
    fn bypass(&mut self, now: Instant, _idle: Duration, item: Item, sink: &mut dyn QueueSink<Item>) -> Option<Item> {
        if !self.bypasses_all {
            self.enqueue(now, item, sink);
            return self.dequeue(now, sink).map(|(_, item)| item);
        }
        Some(Item { ecn: Ecn::Ce, ..item })
    }
    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<Item>) -> Option<(Instant, Item)> {
        if self.idles && now.as_nanos() % 1000 < 100 {
            return None;
        }
        let left = if self.last_first { self.items.pop_back() } else { self.items.pop_front() };
        match left {
            Some((_, item)) if self.mumbles && item.number.is_multiple_of(50) => {
                sink.marked(now, &item, Reason::Early);
                left
            }
            left => left,
        }
    }
    fn next_deadline(&self) -> Instant {
        if self.is_early { Instant::MAX } else { Instant::ZERO }
    }
    fn backlog_packets(&self) -> u32 {
        self.items.len() as u32
    }
    fn backlog_bytes(&self) -> u64 {
        self.items.iter().map(|(_, item)| u64::from(item.bytes)).sum()
    }
    fn limit(&self) -> Limit {
        Limit::Packets(self.most as u32)
    }
    fn set_limit(&mut self, limit: Limit) {
        if let (Limit::Packets(packets), false) = (limit, self.is_stubborn) {
            self.most = packets as usize;
        }
    }
    fn visit(&self, see: &mut dyn FnMut(Instant, &Item)) {
        self.items.iter().skip(usize::from(self.hides)).for_each(|(since, item)| {
            see(if self.misdates { *since + Duration::from_nanos(1) } else { *since }, item);
        });
    }
    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        see(if self.renames && self.items.len() == self.most { "full" } else { "not_full" }, 1.0);
    }
}

#[test]
fn a_queue_that_breaks_a_promise_is_found() {
    let limit = Limit::Packets(5);
    check_queue("sound", limit, || FIFO).unwrap();
    for (queue, promise) in [
        (Heap { last_first: true, ..FIFO }, "leaves, due is"),
        (Heap { most: 6, ..FIFO }, "beyond the limit"),
        (Heap { forgets: true, ..FIFO }, "the backlog is"),
        (Heap { idles: true, ..FIFO }, "nothing leaves"),
        (Heap { is_early: true, ..FIFO }, "an item leaves at"),
        (Heap { mumbles: true, ..FIFO }, "is marked"),
        (Heap { bypasses_all: true, ..FIFO }, "an item that comes to an idle link leaves as"),
        (Heap { is_stubborn: true, ..FIFO }, "the limit is"),
        (Heap { hides: true, ..FIFO }, "are shown"),
        (Heap { misdates: true, ..FIFO }, "are shown"),
        (Heap { renames: true, ..FIFO }, "the state was"),
    ] {
        broken(check_queue("heap", limit, || queue.clone()), promise);
    }
}

type Change = fn(LinkConfig) -> LinkConfig;

/// Half a second later than it should, so that nothing comes too early.
fn late(config: LinkConfig) -> LinkConfig {
    LinkConfig { delay: config.delay + Duration::from_millis(500), ..config }
}

/// As if the rate did not vary.
fn steady(config: LinkConfig) -> LinkConfig {
    LinkConfig { varies: None, ..config }
}

fn twice_as_fast(config: LinkConfig) -> LinkConfig {
    LinkConfig { rate: config.rate.and_then(|rate| Rate::from_bps(2 * rate.as_bps())), ..config }
}

/// Each packet late on its own, whether the order was to be kept or not.
fn disordered(config: LinkConfig) -> LinkConfig {
    let jitter = Jitter::free(Duration::from_millis(100), RngStreams::new(1, 0).stream("link", "disorder"));
    let impairments = config.impairments.unwrap_or_else(Impairments::none);
    LinkConfig { impairments: Some(Impairments { jitter: Some(jitter), ..impairments }), ..config }
}

#[test]
fn a_link_that_breaks_a_promise_is_found() {
    let link = |config, limit| Link::new(config, Queue::DropTail(DropTail::new(limit)));
    check_link("sound", link).unwrap();
    check_link("late", |config, limit| link(late(config), limit)).unwrap();
    let wrong: [(Change, &str); 5] = [
        (steady, "in the room of"),
        (disordered, "overtake one another"),
        (|config| LinkConfig { delay: config.delay / 2, ..config }, ", before"),
        (|config| twice_as_fast(late(config)), "too close after"),
        (|config| LinkConfig { rate: None, varies: None, ..late(config) }, "too close after"),
    ];
    for (wrong, promise) in wrong {
        broken(check_link("link", |config, limit| link(wrong(config), limit)), promise);
    }
    // Something was sent before the first item came.
    let used = |config, limit| {
        let mut link = link(LinkConfig { impairments: None, ..config }, limit);
        link.enqueue(
            Instant::ZERO,
            Item { number: 0, flow: 0, bytes: 1500, ecn: Ecn::NotEct, in_profile: false, ..Item::default() },
            &mut (),
        );
        link
    };
    broken(check_link("used", used), "came, counted");
}
