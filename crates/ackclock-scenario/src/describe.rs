//! Describes a scenario in full: the named links of the shorthand, paths and base RTTs of flows, and random inputs.

use std::sync::Arc;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;

use super::checked::Scenario;
use super::compile::private_links;
use super::random_inputs::random_inputs;
use super::schema::{Document, Flow};
use super::topology::Network;
use super::traffic::TrafficKeys;
use ackclock::link::Bleaching;
use ackclock::meter::Profile;
use ackclock::quantity::RateOrZero;
use ackclock::sim::{
    DatagramPlan, Dcf, FlowPlan, ImpairmentsPlan, LinkId, LinkPlan, LossPlan, MeterPlan, MeterScope, Plan,
    ReorderingPlan, Script,
};
use ackclock::variation::{Leo, Lte, OnOff, VariationPlan, Walk, WalkKind, Wifi};

/// A scenario, spelled out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Its canonical hash.
    pub hash: String,
    /// Its seed.
    pub seed: u64,
    /// Length of the run.
    pub duration_s: f64,
    /// The time that metrics omit.
    pub warmup_s: f64,
    /// Name of the link that the summary is about.
    pub bottleneck: String,
    /// How many directed links there are.
    pub link_count: u64,
    /// How many flows, groups of arrivals and sources of datagrams there are.
    pub flow_count: u64,
    /// Channels that links contend for, in words, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub channels: BTreeMap<String, String>,
    /// Every directed link.
    pub links: Vec<LinkDescription>,
    /// Every flow, and after them groups of arrivals and datagrams. Drawn values belong to the first replicate, and
    /// in groups to the first slot.
    pub flows: Vec<FlowDescription>,
    /// Every meter in words, omitted without a meter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meters: Vec<String>,
    /// Everything that differs from replicate to replicate.
    pub random_inputs: Vec<String>,
    /// True if there is any of it.
    pub is_random: bool,
    /// Notes for the interpretation of the results.
    pub notes: Vec<String>,
    /// Conditions to check before relying on the results.
    pub warnings: Vec<String>,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkDescription {
    /// Its name.
    pub name: String,
    /// The channel of a station.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Bits per second, or none for a pure delay.
    pub rate_bps: Option<u64>,
    /// How the rate varies, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub varies: Option<String>,
    /// Propagation.
    pub delay_s: f64,
    /// Upper bound of the extra delay of each packet.
    pub jitter_s: f64,
    /// Queue discipline with its limit.
    pub queue: String,
    /// The parameters of the queue in force, where its keys leave them open.
    pub queue_parameters: Option<Json>,
    /// Losses in transit.
    pub loss: String,
    /// The other impairments.
    pub impairments: Vec<String>,
    /// True if only one flow crosses it.
    pub private: bool,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowDescription {
    /// Its name.
    pub name: String,
    /// Name of the group that it was declared in.
    pub group: String,
    /// Name of the algorithm, or none for datagrams.
    pub cc: Option<Arc<str>>,
    /// Name of the loss recovery, or none for datagrams.
    pub recovery: Option<&'static str>,
    /// Name of the ECN feedback, or none for datagrams.
    pub ecn: Option<&'static str>,
    /// The traffic of the application or the source.
    pub traffic: String,
    /// Links that data crosses.
    pub path: Vec<String>,
    /// Links that ACKs cross, empty for datagrams.
    pub reverse_path: Vec<String>,
    /// Propagation in both directions, or none for datagrams.
    pub base_rtt_s: Option<f64>,
    /// Time at which the application starts.
    pub start_s: f64,
    /// When it stops writing, if before the end.
    pub stop_s: Option<f64>,
}

impl Scenario {
    /// Describes the scenario.
    pub fn describe(&self) -> Description {
        self.describe_first(u32::MAX)
    }

    /// The same with the first `most` flows of each group, and the links that these have for themselves.
    pub fn describe_first(&self, most: u32) -> Description {
        let plan = self.plan_of_first(most, None, 0);
        let document = self.document();
        let (link_count, flow_count) = counts(document, &self.network);
        let random_inputs = random_inputs(document, &self.network);
        Description {
            name: document.name.clone(),
            hash: self.hash(),
            seed: document.seed,
            duration_s: document.duration.as_secs_f64(),
            warmup_s: document.warmup.as_secs_f64(),
            bottleneck: plan.links[plan.bottleneck].name.clone(),
            link_count,
            flow_count,
            channels: plan.channels.iter().map(|plan| (plan.name.clone(), dcf_in_words(&plan.dcf))).collect(),
            links: plan.links.iter().map(|link| describe_link(link, &plan)).collect(),
            flows: describe_flows(document, &plan),
            meters: meters_in_words(document, &plan),
            is_random: !random_inputs.is_empty(),
            random_inputs,
            notes: notes(document, &self.network),
            warnings: self.warnings(),
        }
    }
}

/// Links without flows that are named in notes.
const MOST_IDLE: usize = 10;

/// How many directed links, and how many rows of flows, the plan of all flows has.
fn counts(document: &Document, network: &Network) -> (u64, u64) {
    let (mut links, mut flows) = (network.links.len() as u64, 0);
    for (flow, route) in document.flows.iter().zip(&network.routes) {
        let count = u64::from(flow.count);
        links += count * private_links(document, flow, route, network);
        flows += match flow.traffic {
            TrafficKeys::Arrivals { .. } | TrafficKeys::Population { .. } => 1,
            _ => count,
        };
    }
    (links, flows)
}

fn describe_link(link: &LinkPlan, plan: &Plan) -> LinkDescription {
    let queue = if link.rate.is_none() { "none".to_owned() } else { link.queue.in_words() };
    LinkDescription {
        name: link.name.clone(),
        channel: link.channel.map(|channel| plan.channels[channel].name.clone()),
        rate_bps: link.rate.map(|rate| rate.as_bps()),
        varies: link.varies.as_ref().map(variation_in_words),
        delay_s: link.delay.as_secs_f64(),
        jitter_s: link.impairments.jitter.as_secs_f64(),
        queue,
        queue_parameters: link.queue.in_force(),
        loss: loss_in_words(&link.impairments.loss),
        impairments: impairments_in_words(&link.impairments),
        private: link.private,
    }
}

fn dcf_in_words(dcf: &Dcf) -> String {
    let Dcf { slot, sifs, difs, cw_min, cw_max, retries, aggregate, frame_errors, packet_errors, .. } = dcf;
    let mut words = format!(
        "dcf, slot {slot}, SIFS {sifs}, DIFS {difs}, counters up to {cw_min}, doubled up to {cw_max}, {retries} retries"
    );
    let more = [
        (dcf.rts_threshold.is_some(), format!("RTS from {} B", dcf.rts_threshold.unwrap_or_default())),
        (*aggregate > 1, format!("up to {aggregate} packets a transmission")),
        (*frame_errors > 0.0, format!("frame errors {frame_errors}")),
        (*packet_errors > 0.0, format!("packet errors {packet_errors}")),
    ];
    for (_, word) in more.iter().filter(|(holds, _)| *holds) {
        words.push_str(", ");
        words.push_str(word);
    }
    words
}

fn variation_in_words(plan: &VariationPlan) -> String {
    let shown = |bps: u64| RateOrZero(bps);
    match plan {
        VariationPlan::Schedule(schedule) => format!("timetable, up to {}", shown(schedule.peak_bps())),
        VariationPlan::Walk(Walk { kind, min_bps, max_bps, step }) => {
            let (min, max) = (shown(*min_bps), shown(*max_bps));
            let kind = match kind {
                WalkKind::Anywhere => "random".to_owned(),
                WalkKind::Around { start, delta } => format!("random-walk from {} by {}", shown(*start), shown(*delta)),
                WalkKind::Additive { start, delta } => {
                    format!("additive-walk from {} by {}", shown(*start), shown(*delta))
                }
                WalkKind::Multiplicative { start, factor } => {
                    format!("multiplicative-walk from {} by {factor}", shown(*start))
                }
            };
            format!("{kind}, kept between {min} and {max}, every {step}")
        }
        VariationPlan::OnOff(OnOff { high_bps, low_bps, mean_high, mean_low }) => {
            let (high, low) = (shown(*high_bps), shown(*low_bps));
            format!("on-off, {high} for {mean_high} and {low} for {mean_low} on average")
        }
        VariationPlan::Wifi(Wifi { stations, .. }) => format!("wifi, {stations} other stations"),
        VariationPlan::Lte(Lte { volatility, mean_outage, .. }) => {
            format!("lte, volatility {volatility}, outages of {mean_outage} on average")
        }
        VariationPlan::Leo(Leo { min_bps, slot, interruption, .. }) => {
            format!("leo, from {}, slots of {slot}, interruptions of {interruption}", shown(*min_bps))
        }
    }
}

fn loss_in_words(loss: &LossPlan) -> String {
    match loss {
        LossPlan::None => "none".to_owned(),
        LossPlan::Bernoulli { probability } => format!("bernoulli, probability {probability}"),
        LossPlan::BitErrors { probability } => format!("bit-errors, probability {probability:e}"),
        LossPlan::GilbertElliott { good, bad } => {
            let (p, r, loss_good, loss_bad) = (good.leave, bad.leave, good.loss, bad.loss);
            format!("gilbert-elliott, p {p}, r {r}, loss {loss_good} or {loss_bad}")
        }
        LossPlan::Periodic { period, offset: 0 } => format!("periodic, every {period} packets"),
        LossPlan::Periodic { period, offset } => format!("periodic, every {period} packets, {offset} earlier"),
        LossPlan::Scripted(Script { lost, late, late_by: _, marked }) => {
            let lists = [("late", late), ("marked", marked)].into_iter().filter(|(_, numbers)| !numbers.is_empty());
            lists.fold(format!("scripted, {} packets", lost.len()), |text, (what, numbers)| {
                format!("{text}, {} {what}", numbers.len())
            })
        }
    }
}

/// Impairments other than jitter and losses, in words.
fn impairments_in_words(impairments: &ImpairmentsPlan) -> Vec<String> {
    let ImpairmentsPlan { course, outages, ack_thinning, aggregation, .. } = impairments;
    let ImpairmentsPlan { jitter, jitter_reorders, reordering, bleaching, duplication, corruption, .. } = impairments;
    let mut words = Vec::new();
    if let Some(course) = course {
        words.push(format!("delay varies, by up to {}", course.most()));
    }
    if let Some(outages) = outages {
        words.push(format!("outages of {}", outages.length));
    }
    if let Some((every, packets)) = aggregation {
        let most = if *packets == u32::MAX { String::new() } else { format!(" of up to {packets} packets") };
        words.push(format!("bursts{most} every {every}"));
    }
    if let Some(keep_every) = ack_thinning {
        words.push(format!("1 of {keep_every} ACKs is kept"));
    }
    if *jitter_reorders && !jitter.is_zero() {
        words.push("jitter reorders".to_owned());
    }
    if let Some(ReorderingPlan { probability, delay }) = reordering {
        words.push(format!("reordering, probability {probability}, by {delay}"));
    }
    match bleaching {
        Bleaching::None => {}
        Bleaching::Ect1 => words.push("clears ECT(1)".to_owned()),
        Bleaching::All => words.push("clears the ECN field".to_owned()),
    }
    for (probability, name) in [(duplication, "duplication"), (corruption, "corruption")] {
        if *probability > 0.0 {
            words.push(format!("{name}, probability {probability}"));
        }
    }
    words
}

fn meters_in_words(document: &Document, plan: &Plan) -> Vec<String> {
    let words = |meter: &MeterPlan| {
        let of = |flow: &&Flow| flow.meter.as_ref() == Some(&meter.name);
        let flows: Vec<&str> = document.flows.iter().filter(of).map(|flow| flow.name.as_str()).collect();
        let profile = match meter.profile {
            Profile::SingleRate { committed_rate, committed_burst, excess_burst } => {
                format!("{committed_rate} with bursts of {committed_burst} B and {excess_burst} B")
            }
            Profile::TwoRates { committed_rate, committed_burst, peak_rate, peak_burst } => {
                format!("{committed_rate} with bursts of {committed_burst} B, {peak_rate} with {peak_burst} B")
            }
        };
        let words = [
            (meter.scope == MeterScope::Flow, ", each flow"),
            (meter.is_aware, ", aware of colours"),
            (meter.drops_red, ", drops red"),
        ];
        let words: String = words.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect();
        let (name, link, flows) = (&meter.name, &plan.links[meter.link].name, flows.join(", "));
        format!("{name} in front of {link}: {profile}{words}; for {flows}")
    };
    plan.meters.iter().map(words).collect()
}

fn describe_flows(document: &Document, plan: &Plan) -> Vec<FlowDescription> {
    let by_name: BTreeMap<&str, &Flow> = document.flows.iter().map(|flow| (flow.name.as_str(), flow)).collect();
    let traffic = |group: &str| by_name.get(group).map_or_else(String::new, |flow| flow.traffic.to_string());
    let flows = plan.flows.iter().map(|flow| describe_flow(flow, plan, traffic(&flow.group)));
    let arrivals = plan.arrivals.iter().flat_map(|group| {
        let count = by_name.get(group.name.as_str()).map_or(0, |flow| flow.count);
        let words = format!("{}, {count} at one time", traffic(&group.name));
        let first = group.slots.first().map(|slot| describe_flow(slot, plan, words));
        first.map(|first| FlowDescription {
            name: group.name.clone(),
            start_s: group.start.as_secs_f64(),
            stop_s: group.stop.map(|stop| stop.as_secs_f64()),
            ..first
        })
    });
    let datagrams = plan.datagrams.iter().map(|group| describe_datagrams(group, plan, traffic(&group.group)));
    flows.chain(arrivals).chain(datagrams).collect()
}

fn names(plan: &Plan, path: &[LinkId]) -> Vec<String> {
    path.iter().map(|link| plan.links[*link].name.clone()).collect()
}

fn describe_datagrams(group: &DatagramPlan, plan: &Plan, traffic: String) -> FlowDescription {
    FlowDescription {
        name: group.name.clone(),
        group: group.group.clone(),
        cc: None,
        recovery: None,
        ecn: None,
        traffic,
        path: group.sources.first().map(|source| names(plan, &source.forward)).unwrap_or_default(),
        reverse_path: Vec::new(),
        base_rtt_s: None,
        start_s: group.start.as_secs_f64(),
        stop_s: group.stop.map(|stop| stop.as_secs_f64()),
    }
}

fn describe_flow(flow: &FlowPlan, plan: &Plan, traffic: String) -> FlowDescription {
    FlowDescription {
        name: flow.name.to_string(),
        group: flow.group.to_string(),
        cc: Some(flow.cc.name().clone()),
        recovery: Some(flow.transport.recovery_name()),
        ecn: Some(flow.transport.ecn.name()),
        traffic,
        path: names(plan, &flow.forward),
        reverse_path: names(plan, &flow.reverse),
        base_rtt_s: Some(flow.base_rtt.as_secs_f64()),
        start_s: flow.start.as_secs_f64(),
        stop_s: flow.stop.map(|stop| stop.as_secs_f64()),
    }
}

fn notes(document: &Document, network: &Network) -> Vec<String> {
    let mut notes = Vec::new();
    if random_inputs(document, network).is_empty() {
        notes.push("nothing is random: every replicate gives the same result".to_owned());
    }
    for (index, name) in document.channels.keys().enumerate() {
        if network.links.iter().all(|link| link.channel != Some(index)) {
            notes.push(format!("no link is a station of {name}"));
        }
    }
    let mut crossed = vec![false; network.links.len()];
    for link in network.routes.iter().flat_map(|route| route.forward.iter().chain(&*route.reverse)) {
        crossed[link.number()] = true;
    }
    let idle = network.links.iter().zip(crossed).filter(|(_, crossed)| !crossed);
    let idle: Vec<&str> = idle.map(|(link, _)| link.name.as_str()).collect();
    notes.extend(idle.iter().take(MOST_IDLE).map(|name| format!("no flow crosses {name}")));
    if idle.len() > MOST_IDLE {
        notes.push(format!("no flow crosses {} more links", idle.len() - MOST_IDLE));
    }
    notes
}
