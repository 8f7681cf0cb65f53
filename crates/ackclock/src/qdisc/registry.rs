//! Every queue discipline by name: one line of [`queues!`] each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blue::BlueKeys;
use super::cake::CakeKeys;
use super::choke::ChokeKeys;
use super::cobalt::CobaltKeys;
use super::codel::CoDelKeys;
use super::drop_tail::DropTailKeys;
use super::drr::DrrKeys;
use super::dualpi2::DualPi2Keys;
use super::fq_cobalt::FqCobaltKeys;
use super::fq_codel::FqCoDelKeys;
use super::fq_pie::FqPieKeys;
use super::head_drop::HeadDropKeys;
use super::kernel::KernelQueueKeys;
use super::pie::PieKeys;
use super::place::{Misfit, Place};
use super::policer::PolicerKeys;
use super::prio::PrioKeys;
use super::red::RedKeys;
use super::rio::RioKeys;
use super::sfb::SfbKeys;
use super::sfq::SfqKeys;
use super::token_bucket::TokenBucketKeys;
use super::wrr::WrrKeys;
use super::{AMPLE, Limit, ONE_BDP, Qdisc, QueueServer, QueueSink, Queued, Reason};
use crate::quantity;
use crate::rng::Rng;
use crate::units::{Duration, Instant, Rate};

/// The keys of a discipline in a scenario, as a table.
pub trait QueueKeys {
    /// The values of the keys at a link.
    type Parameters: QueueParameters;

    /// The purpose of the discipline's random numbers, for the list of `check`. The name of the link replaces
    /// "{link}". None if it draws none.
    const DRAWS: Option<&'static str> = None;

    /// The limit of the queue.
    fn limit(&self) -> quantity::Limit;

    /// The purposes of its random numbers. By default the one of the discipline.
    fn draws(&self) -> Vec<&'static str> {
        Self::DRAWS.into_iter().collect()
    }

    /// Whether it reads profiles. By default as the discipline.
    fn reads_profiles(&self) -> bool {
        Self::Parameters::READS_PROFILES
    }

    /// The rate to which it shapes, if it does.
    fn shaped_rate(&self) -> Option<Rate> {
        None
    }

    /// Whether it marks ECN-capable packets.
    fn marks(&self) -> bool {
        false
    }

    /// Whether it was asked for marks, so that flows which cannot be marked are worth a warning.
    fn asks_for_ecn(&self) -> bool {
        self.marks()
    }

    /// The parameters at a link. The queue has a capacity of `limit`.
    ///
    /// # Errors
    /// The key that does not fit, and why.
    fn parameters(&self, place: &Place, limit: Limit) -> Result<Self::Parameters, Misfit>;
}

/// A discipline with its parameters at a link.
pub trait QueueParameters {
    /// The queue.
    type Queue<T: Queued>: Qdisc<T>;

    /// The reasons for drops that results report. A queue that drops only when it is full needs none.
    const DROPS: &'static [Reason] = &[];
    /// For which reasons it marks, as results report them.
    const MARKS: &'static [Reason] = &[];
    /// Whether it reads profiles.
    const READS_PROFILES: bool = false;
    /// Whether it is work-conserving. A queue that is not cannot share a channel.
    const CONSERVES_WORK: bool = true;

    /// An empty queue. A random one draws from the `stream` of a purpose.
    fn build<T: Queued>(&self, limit: Limit, stream: &dyn Fn(&str) -> Rng) -> Self::Queue<T>;

    /// The reasons for drops, as results report them. By default, the discipline defines them.
    fn drops(&self) -> Vec<Reason> {
        Self::DROPS.to_vec()
    }

    /// The reasons for marks, as results report them. By default, the discipline defines them.
    fn marks(&self) -> Vec<Reason> {
        Self::MARKS.to_vec()
    }

    /// Whether it reads profiles. By default as the discipline.
    fn reads_profiles(&self) -> bool {
        Self::READS_PROFILES
    }

    /// Whether it is work-conserving. By default as the discipline.
    fn conserves_work(&self) -> bool {
        Self::CONSERVES_WORK
    }

    /// The limit in words, to follow the name.
    fn limit_in_words(&self, limit: Limit) -> String {
        limit.to_string()
    }

    /// The command line of `tc`, if the queue is the kernel's.
    fn tc(&self) -> Option<&str> {
        None
    }

    /// The parameters in words, to follow the name and the limit.
    fn in_words(&self) -> String {
        String::new()
    }

    /// Whether it does something at fixed times of a run, and not only as much later as items come later.
    fn has_clock(&self) -> bool {
        false
    }

    /// The parameters in force, where the keys leave them open.
    fn in_force(&self) -> Option<serde_json::Value> {
        None
    }
}

/// Most links have the first discipline, which costs a comparison. The others are boxed, so that such links stay
/// small, and cost a call.
macro_rules! queues {
    (
        $(#[$most_doc:meta])* $most_name:literal => $most:ident: $most_keys:ty;
        $($(#[$doc:meta])* $name:literal => $variant:ident: $keys:ty;)*
    ) => {
        /// A queue discipline.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum QueueSpec {
            $(#[$most_doc])*
            #[serde(rename = $most_name)]
            $most($most_keys),
            $($(#[$doc])* #[serde(rename = $name)] $variant($keys),)*
        }

        /// The result of an expression with the keys of any discipline.
        macro_rules! keys {
            ($spec:expr, $bound:ident => $result:expr) => {
                match $spec {
                    QueueSpec::$most($bound) => $result,
                    $(QueueSpec::$variant($bound) => $result,)*
                }
            };
        }

        /// The result of an expression with the parameters of any discipline.
        macro_rules! parameters {
            ($plan:expr, $parameters:ident => $result:expr) => {
                match &$plan.discipline {
                    Discipline::$most($parameters) => $result,
                    $(Discipline::$variant($parameters) => $result,)*
                }
            };
        }

        impl QueueSpec {
            /// The limit of the queue.
            pub fn limit(&self) -> quantity::Limit {
                keys!(self, keys => keys.limit())
            }

            /// Whether it marks ECN-capable packets.
            pub fn marks(&self) -> bool {
                keys!(self, keys => keys.marks())
            }

            /// Whether it was asked for marks, so that flows which cannot be marked are worth a warning.
            pub fn asks_for_ecn(&self) -> bool {
                keys!(self, keys => keys.asks_for_ecn())
            }

            /// The purposes of its random numbers. "{link}" stands for the name of the link.
            pub(super) fn purposes(&self) -> Vec<&'static str> {
                keys!(self, keys => keys.draws())
            }

            /// The purposes of its random numbers at a link of this name, each once.
            pub fn draws(&self, link: &str) -> Vec<String> {
                let mut draws = self.purposes();
                draws.sort_unstable();
                draws.dedup();
                draws.into_iter().map(|what| what.replace("{link}", link)).collect()
            }

            /// Whether it reads profiles.
            pub fn reads_profiles(&self) -> bool {
                keys!(self, keys => keys.reads_profiles())
            }

            /// The rate to which it shapes, if it does.
            pub fn shaped_rate(&self) -> Option<Rate> {
                keys!(self, keys => keys.shaped_rate())
            }

            /// The queue at a link.
            ///
            /// # Errors
            /// The key that does not fit, and why.
            pub fn plan(&self, place: &Place) -> Result<QueuePlan, Misfit> {
                let limit = place.limit_of_queue(self.limit())?;
                let discipline = match self {
                    QueueSpec::$most(keys) => Discipline::$most(keys.parameters(place, limit)?),
                    $(QueueSpec::$variant(keys) => Discipline::$variant(Box::new(keys.parameters(place, limit)?)),)*
                };
                Ok(QueuePlan { limit, discipline })
            }
        }

        /// Every discipline by name, and for which reasons it drops and marks.
        pub fn disciplines() -> impl Iterator<Item = (&'static str, Reasoned)> {
            [
                ($most_name, Reasoned::of::<<$most_keys as QueueKeys>::Parameters>()),
                $(($name, Reasoned::of::<<$keys as QueueKeys>::Parameters>()),)*
            ]
            .into_iter()
        }

        /// Every discipline with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        enum Discipline {
            $most(<$most_keys as QueueKeys>::Parameters),
            $($variant(Box<<$keys as QueueKeys>::Parameters>),)*
        }

        impl QueuePlan {
            /// The empty queue. A random one draws from the `stream` of a purpose.
            pub fn build<T: Queued>(&self, stream: &dyn Fn(&str) -> Rng) -> Queue<T> {
                match &self.discipline {
                    Discipline::$most(parameters) => Queue::$most(parameters.build(self.limit, stream)),
                    $(Discipline::$variant(parameters) => {
                        Queue::$variant(Box::new(parameters.build(self.limit, stream)))
                    })*
                }
            }

            /// The `kind` in a scenario.
            pub fn name(&self) -> &'static str {
                match self.discipline {
                    Discipline::$most(_) => $most_name,
                    $(Discipline::$variant(_) => $name,)*
                }
            }

            fn values_in_words(&self) -> String {
                let limit = self.limit;
                parameters!(self, parameters => parameters.limit_in_words(limit) + &parameters.in_words())
            }

            /// The command line of `tc`, if the queue is the kernel's.
            pub fn tc(&self) -> Option<&str> {
                parameters!(self, parameters => parameters.tc())
            }

            /// The parameters in force, where the keys leave them open.
            pub fn in_force(&self) -> Option<serde_json::Value> {
                parameters!(self, parameters => parameters.in_force())
            }

            /// Whether it does something at fixed times of a run, and not only as much later as items come later.
            pub fn has_clock(&self) -> bool {
                parameters!(self, parameters => parameters.has_clock())
            }

            /// For which reasons it drops, as results report them.
            pub fn drops(&self) -> Vec<Reason> {
                parameters!(self, parameters => parameters.drops())
            }

            /// For which reasons it marks, as results report them.
            pub fn marks(&self) -> Vec<Reason> {
                parameters!(self, parameters => parameters.marks())
            }

            /// Whether it reads profiles.
            pub fn reads_profiles(&self) -> bool {
                parameters!(self, parameters => parameters.reads_profiles())
            }

            /// Whether it is work-conserving.
            pub fn conserves_work(&self) -> bool {
                parameters!(self, parameters => parameters.conserves_work())
            }
        }

        /// Every queue.
        #[derive(Clone, Debug)]
        pub enum Queue<T: Queued> {
            $(#[$most_doc])*
            $most(<<$most_keys as QueueKeys>::Parameters as QueueParameters>::Queue<T>),
            $($(#[$doc])* $variant(Box<<<$keys as QueueKeys>::Parameters as QueueParameters>::Queue<T>>),)*
        }

        impl<T: Queued> Queue<T> {
            #[inline(never)]
            fn others(&mut self) -> &mut dyn Qdisc<T> {
                match self {
                    Queue::$most(queue) => queue,
                    $(Queue::$variant(queue) => &mut **queue,)*
                }
            }

            #[inline(never)]
            fn others_read(&self) -> &dyn Qdisc<T> {
                match self {
                    Queue::$most(queue) => queue,
                    $(Queue::$variant(queue) => &**queue,)*
                }
            }
        }

        impl<T: Queued> Qdisc<T> for Queue<T> {
            #[inline]
            fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
                match self {
                    Queue::$most(queue) => queue.enqueue(now, item, sink),
                    others => others.others().enqueue(now, item, sink),
                }
            }

            #[inline]
            fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
                match self {
                    Queue::$most(queue) => queue.dequeue(now, sink),
                    others => others.others().dequeue(now, sink),
                }
            }

            #[inline]
            fn bypass(&mut self, now: Instant, idle: Duration, item: T, sink: &mut dyn QueueSink<T>) -> Option<T> {
                match self {
                    Queue::$most(queue) => queue.bypass(now, idle, item, sink),
                    others => others.others().bypass(now, idle, item, sink),
                }
            }

            fn idled(&mut self, idle: Duration) {
                self.others().idled(idle);
            }

            #[inline]
            fn next_deadline(&self) -> Instant {
                match self {
                    Queue::$most(queue) => queue.next_deadline(),
                    others => others.others_read().next_deadline(),
                }
            }

            #[inline]
            fn backlog_packets(&self) -> u32 {
                match self {
                    Queue::$most(queue) => queue.backlog_packets(),
                    others => others.others_read().backlog_packets(),
                }
            }

            #[inline]
            fn backlog_bytes(&self) -> u64 {
                match self {
                    Queue::$most(queue) => queue.backlog_bytes(),
                    others => others.others_read().backlog_bytes(),
                }
            }

            fn limit(&self) -> Limit {
                self.others_read().limit()
            }

            fn set_limit(&mut self, limit: Limit) {
                self.others().set_limit(limit);
            }

            fn order(&self, item: &T) -> u64 {
                self.others_read().order(item)
            }

            fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
                self.others_read().visit(see);
            }

            fn state(&self, see: &mut dyn FnMut(&str, f64)) {
                self.others_read().state(see);
            }
        }
    };
}

queues! {
    /// First in, first out. Packets that do not fit are dropped.
    "drop-tail" => DropTail: DropTailKeys;
    /// Random early detection: drops, or marks, with a probability that rises with the average queue.
    "red" => Red: RedKeys;
    /// Deficit round robin: flows take turns, and each sends as many bytes a round as the others.
    "drr" => Drr: DrrKeys;
    /// Stochastic fairness queueing: flows are hashed into a few queues, which take turns.
    "sfq" => Sfq: SfqKeys;
    /// RED with in and out. Packets out of profile are dropped earlier than packets in profile.
    "rio" => Rio: RioKeys;
    /// CoDel: drops, or marks, once sojourn times have been above a target for an interval.
    "codel" => CoDel: CoDelKeys;
    /// Flow queue CoDel: flows are hashed into queues, which take turns, with CoDel in each.
    "fq-codel" => FqCoDel: FqCoDelKeys;
    /// PIE: drops, or marks, arrivals with a probability that a controller of the queueing delay sets.
    "pie" => Pie: PieKeys;
    /// Flow queue PIE: flows are hashed into queues, which take turns, with PIE in each.
    "fq-pie" => FqPie: FqPieKeys;
    /// DualPI2: a shallow queue for L4S and one for classic traffic, with coupled probabilities of marks and drops.
    "dualpi2" => DualPi2: DualPi2Keys;
    /// CHOKe: RED that also drops an arrival and a random queued packet of the same flow.
    "choke" => Choke: ChokeKeys;
    /// BLUE: drops, or marks, with a probability that losses raise and idle times lower.
    "blue" => Blue: BlueKeys;
    /// Stochastic Fair BLUE: BLUE in the bins of a Bloom filter, and a penalty rate for unresponsive flows.
    "sfb" => Sfb: SfbKeys;
    /// First in, first out. A full queue drops its oldest packets.
    "head-drop" => HeadDrop: HeadDropKeys;
    /// Policer: drops arrivals that exceed a rate and a burst.
    "policer" => Policer: PolicerKeys;
    /// Token bucket filter: sends no more than a rate and a burst allow.
    "tbf" => TokenBucket: TokenBucketKeys;
    /// COBALT: CoDel whose count falls step by step, and BLUE against flows that do not respond.
    "cobalt" => Cobalt: CobaltKeys;
    /// Flow queue COBALT: flows are hashed into queues, which take turns, with COBALT in each.
    "fq-cobalt" => FqCobalt: FqCobaltKeys;
    /// CAKE: a shaper, tins, host isolation, queues of flows with COBALT, and an ACK filter.
    "cake" => Cake: CakeKeys;
    /// Strict priority: a class sends while the classes before it have nothing to send.
    "prio" => Prio: PrioKeys;
    /// Weighted round robin: classes take turns, and each sends bytes in proportion to its weight.
    "wrr" => Wrr: WrrKeys;
    /// A queue of the Linux kernel by its command line of `tc`. It needs `--backend kernel`.
    "kernel" => Kernel: KernelQueueKeys;
}

/// A queue discipline with its parameters at a link.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuePlan {
    limit: Limit,
    discipline: Discipline,
}

/// For which reasons a discipline drops and marks, as results report them.
#[derive(Clone, Copy, Debug)]
pub struct Reasoned {
    /// Why it drops.
    pub drops: &'static [Reason],
    /// Why it marks.
    pub marks: &'static [Reason],
}

impl Reasoned {
    fn of<P: QueueParameters>() -> Self {
        Reasoned { drops: P::DROPS, marks: P::MARKS }
    }
}

impl QueuePlan {
    /// A FIFO with this limit.
    pub fn drop_tail(limit: Limit) -> Self {
        QueuePlan { limit, discipline: Discipline::DropTail(super::drop_tail::DropTailParameters) }
    }

    /// Its capacity.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Name, limit and parameters in words.
    pub fn in_words(&self) -> String {
        format!("{}, {}", self.name(), self.values_in_words())
    }
}

impl<T: Queued> Queue<T> {
    /// A server decides about the packets of a queue of the kernel from now on. Other queues stay unchanged.
    pub fn connect(&mut self, server: Box<dyn QueueServer>) {
        if let Queue::Kernel(queue) = self {
            queue.connect(server);
        }
    }
}

impl Default for QueueSpec {
    fn default() -> Self {
        QueueSpec::DropTail(DropTailKeys { limit: AMPLE })
    }
}

impl QueueSpec {
    /// A FIFO of one bandwidth-delay product.
    pub fn one_bdp() -> Self {
        QueueSpec::DropTail(DropTailKeys { limit: ONE_BDP })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Item;
    use crate::rng::RngStreams;

    #[test]
    fn queues_show_their_state_by_name() {
        let rate = Rate::from_bps(10_000_000);
        let place = Place {
            rate,
            delay: Duration::ZERO,
            packet_bytes: 1500,
            mean_rtt_secs: 0.04,
            groups: crate::qdisc::Groups::NONE,
        };
        let names = |json: &str| {
            let spec: QueueSpec = serde_json::from_str(json).unwrap();
            let queue: Queue<Item> =
                spec.plan(&place).unwrap().build(&|purpose| RngStreams::new(1, 0).stream("link", purpose));
            let mut names = Vec::new();
            queue.state(&mut |name, _| names.push(name.to_owned()));
            names.join(" ")
        };
        for (json, expected) in [
            (r#"{"kind": "drop-tail"}"#, ""),
            (r#"{"kind": "codel"}"#, "target_ms dropping count"),
            (r#"{"kind": "pie"}"#, "target_ms probability delay_ms burst_ms"),
            (r#"{"kind": "red"}"#, "average_packets max_p probability"),
            (r#"{"kind": "blue"}"#, "probability"),
            (r#"{"kind": "fq-codel"}"#, "active_flows longest_bytes longest_target_ms longest_dropping longest_count"),
            (r#"{"kind": "tbf", "rate": "1 Mbit/s"}"#, "tokens_bytes"),
        ] {
            assert_eq!(names(json), expected, "{json}");
        }
    }
}
