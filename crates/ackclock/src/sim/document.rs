//! The result of a run as a document with the same keys in the same order for every caller.

use serde::Serialize;

use super::plan::{FlowPlan, LinkPlan, Plan};
use super::result::{
    DatagramResult, FlowResult, Histogram, LinkResult, MeterResult, RunResult, Summary, TransferResult,
};

/// The scenario of a run, and the program that ran it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RunOf<'a> {
    /// Name of the scenario.
    pub scenario: &'a str,
    /// Its canonical hash.
    pub scenario_hash: &'a str,
    /// `sim`, or `linux` in real time.
    pub backend: &'a str,
    /// Seed of all random inputs.
    pub seed: u64,
    /// Number of the replicate.
    pub replicate: u64,
    /// Time of the run, s.
    pub duration_s: f64,
    /// CPU time that the engine took, s.
    pub engine_cpu_s: f64,
    /// The network of this replicate, where each has another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<&'a Drawn>,
}

/// The network that a replicate drew.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drawn {
    /// Shared links that have a rate.
    links: Vec<DrawnLink>,
    /// Flows with congestion control, without slots of arrivals.
    flows: Vec<DrawnFlow>,
}

/// A link of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct DrawnLink {
    name: String,
    /// Bits per second, or the highest rates of a varying capacity.
    rate_bps: u64,
}

/// A flow of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct DrawnFlow {
    name: String,
    base_rtt_s: f64,
    start_s: f64,
}

impl Drawn {
    /// The drawn values of a replicate's plan.
    pub fn of(plan: &Plan) -> Self {
        let shared = plan.links.iter().filter(|link| !link.private);
        let link = |link: &LinkPlan| Some(DrawnLink { name: link.name.clone(), rate_bps: link.rate?.as_bps() });
        let flow = |flow: &FlowPlan| DrawnFlow {
            name: flow.name.to_string(),
            base_rtt_s: flow.base_rtt.as_secs_f64(),
            start_s: flow.start.as_secs_f64(),
        };
        Drawn { links: shared.filter_map(link).collect(), flows: plan.flows.iter().map(flow).collect() }
    }
}

/// Everything but samples and histograms, to be serialised.
#[derive(Clone, Debug, Serialize)]
pub struct ResultDocument<'a> {
    #[serde(flatten)]
    of: RunOf<'a>,
    packets_forwarded: u64,
    events: u64,
    summary: &'a Summary,
    flows: &'a [FlowResult],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    transfers: &'a [TransferResult],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    datagrams: &'a [DatagramResult],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    meters: &'a [MeterResult],
    links: &'a [LinkResult],
}

/// How long packets waited at a shared link, or, without one, the data of all flows on their paths.
#[derive(Clone, Debug, Serialize)]
pub struct SojournTimes<'a> {
    link: Option<&'a str>,
    #[serde(flatten)]
    histogram: &'a Histogram,
}

impl RunResult {
    /// The document of this result.
    pub fn document<'a>(&'a self, of: RunOf<'a>) -> ResultDocument<'a> {
        ResultDocument {
            of,
            packets_forwarded: self.packets_forwarded,
            events: self.events,
            summary: &self.summary,
            flows: &self.flows,
            transfers: &self.transfers,
            datagrams: &self.datagrams,
            meters: &self.meters,
            links: &self.links,
        }
    }

    /// How long packets waited: at each shared link, and last on their paths.
    pub fn sojourn_times(&self) -> Vec<SojournTimes<'_>> {
        let links = self.links.iter();
        let of_links = links.map(|link| SojournTimes { link: Some(&link.name), histogram: &link.queue_delays });
        of_links.chain([SojournTimes { link: None, histogram: &self.queue_delays }]).collect()
    }
}
