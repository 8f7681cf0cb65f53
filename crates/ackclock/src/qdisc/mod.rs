//! Queue disciplines over anything that is [`Queued`].
//!
//! A discipline is a folder: its keys ([`QueueKeys`]), parameters at a link ([`QueueParameters`]), queue ([`Qdisc`])
//! and tests. A line of `queues!` registers it for scenarios, the schema, warnings, `ackclock list`, results and the
//! contract suite.

mod blue;
mod cake;
mod choke;
mod classes;
mod cobalt;
mod codel;
mod contract;
mod drop_tail;
mod drr;
mod dualpi2;
mod fair_queue;
mod fifo;
mod flow_queues;
mod fq_cobalt;
mod fq_codel;
mod fq_pie;
mod groups;
mod head_drop;
mod kernel;
mod limit;
mod nested;
mod pie;
mod place;
mod policer;
mod prio;
mod red;
mod registry;
mod rio;
mod sfb;
mod sfq;
mod ticks;
mod token_bucket;
mod wrr;

pub use crate::ecn::Ecn;
pub use blue::{Blue, BlueParameters};
pub use cake::{AckFilter, Cake, CakeParameters, Cells, Diffserv, Framing, Isolation, TinParameters};
pub use choke::{Choke, ChokeParameters};
pub use classes::{ClassKeys, Classes, ClassesParameters};
pub use cobalt::{Cobalt, CobaltParameters};
pub use codel::{CoDel, CoDelParameters, ControlLaw};
pub use contract::{Qdisc, QueueSink, Queued, Reason};
pub use drop_tail::DropTail;
pub use drr::{Drr, DrrParameters};
pub use dualpi2::{DualPi2, DualPi2Parameters, DualPi2Variant};
pub use fair_queue::{FairQueue, FairQueueParameters, FairQueueVariant};
pub use fq_cobalt::{FqCobalt, FqCobaltParameters};
pub use fq_codel::{FqCoDel, FqCoDelParameters};
pub use fq_pie::{FqPie, FqPieParameters};
pub use groups::{Group, Groups, Tag};
pub use head_drop::HeadDrop;
pub use kernel::{KernelQueue, KernelQueueParameters, QueueAnswer, QueueServer, ServedPacket, ServerEnded};
pub use limit::{AMPLE, Limit, ONE_BDP};
pub use nested::InnerQueue;
pub use pie::{Pie, PieParameters, PieVariant};
pub use place::{Misfit, Place};
pub use policer::{Policer, PolicerParameters};
pub use prio::{Prio, PrioParameters};
pub use red::{Gaps, Red, RedMode, RedParameters};
pub use registry::{Queue, QueueKeys, QueueParameters, QueuePlan, QueueSpec, Reasoned, disciplines};
pub use rio::{Outside, Rio, RioParameters};
pub use sfb::{Sfb, SfbParameters};
pub use sfq::{Sfq, SfqParameters};
pub use token_bucket::{TokenBucket, TokenBucketParameters};
pub use wrr::{Wrr, WrrParameters};
