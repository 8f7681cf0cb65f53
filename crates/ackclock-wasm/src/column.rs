//! Columns of samples, which JavaScript reads in the memory of the module.

use ackclock::cc::Phase;
use ackclock::probe::{FlowSamples, LinkSamples, PacketEvent, PacketTrace, Samples};
use ackclock::transport::Timer;
use wasm_bindgen::prelude::*;

use crate::error::to_json;

/// A table of samples: flows, links or packets.
#[derive(Clone, Copy)]
pub enum Table {
    Flows,
    Links,
    Packets,
}

impl Table {
    /// The table with this name.
    pub fn by_name(name: &str) -> Option<Table> {
        match name {
            "flows" => Some(Table::Flows),
            "links" => Some(Table::Links),
            "packets" => Some(Table::Packets),
            _ => None,
        }
    }
}

/// The place of a column, valid until the run continues or is freed.
#[wasm_bindgen]
#[derive(Clone)]
pub struct Column {
    name: String,
    kind: &'static str,
    names: Vec<String>,
    address: usize,
    length: usize,
}

#[wasm_bindgen]
impl Column {
    /// The name, with the unit.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The type of its numbers: `f64`, `u64`, `u32`, `u8`, or `bool`, a byte each.
    #[wasm_bindgen(getter)]
    pub fn kind(&self) -> String {
        self.kind.to_owned()
    }

    /// The names of its numbers, as a JSON list, empty for plain numbers. A number beyond the list has no name.
    #[wasm_bindgen(getter, js_name = namesJson)]
    pub fn names_json(&self) -> String {
        to_json(&self.names)
    }

    /// Its first byte in the memory of the module.
    #[wasm_bindgen(getter)]
    pub fn address(&self) -> usize {
        self.address
    }

    /// How many numbers it has.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.length
    }
}

/// A type of numbers that columns have.
trait Number {
    const KIND: &'static str;
}

impl Number for f64 {
    const KIND: &'static str = "f64";
}

impl Number for u64 {
    const KIND: &'static str = "u64";
}

impl Number for u32 {
    const KIND: &'static str = "u32";
}

impl Number for u8 {
    const KIND: &'static str = "u8";
}

impl Number for bool {
    const KIND: &'static str = "bool";
}

/// The timers of a packet trace as plain numbers, which have to stay where they are while JavaScript reads them.
pub fn timers(trace: &PacketTrace) -> Vec<u8> {
    trace.timer.iter().map(|timer| timer.unwrap_or(u8::MAX)).collect()
}

fn numbers<T: Number>(name: &str, values: &[T]) -> Column {
    of_names(name, values, &[] as &[&str])
}

fn of_names<T: Number>(name: &str, values: &[T], names: &[impl AsRef<str>]) -> Column {
    Column {
        name: name.to_owned(),
        kind: T::KIND,
        names: names.iter().map(|name| name.as_ref().to_owned()).collect(),
        address: values.as_ptr() as usize,
        length: values.len(),
    }
}

/// The columns of a table. `timers` are the packets' timers.
pub fn columns(samples: &Samples, timers: &[u8], table: Table) -> Vec<Column> {
    match table {
        Table::Flows => flows(&samples.flows, &samples.flow_names),
        Table::Links => links(&samples.links, &samples.link_names),
        Table::Packets => packets(&samples.trace, timers),
    }
}

fn flows(samples: &FlowSamples, names: &[String]) -> Vec<Column> {
    let mut columns = vec![
        numbers("time_ns", &samples.time_ns),
        of_names("flow", &samples.flow, names),
        numbers("cwnd_segments", &samples.cwnd_segments),
        numbers("ssthresh_segments", &samples.ssthresh_segments),
        numbers("in_flight_segments", &samples.in_flight_segments),
        numbers("srtt_ns", &samples.srtt_ns),
        of_names("phase", &samples.phase, &Phase::NAMES),
        numbers("sent_bytes", &samples.sent_bytes),
        numbers("delivered_bytes", &samples.delivered_bytes),
        numbers("retransmits", &samples.retransmits),
    ];
    columns.extend(samples.reported.iter().map(|(name, values)| numbers(name, values)));
    columns
}

fn links(samples: &LinkSamples, names: &[String]) -> Vec<Column> {
    let mut columns = vec![
        numbers("time_ns", &samples.time_ns),
        of_names("link", &samples.link, names),
        numbers("backlog_packets", &samples.backlog_packets),
        numbers("backlog_bytes", &samples.backlog_bytes),
        numbers("forwarded_bytes", &samples.forwarded_bytes),
        numbers("drops", &samples.drops),
    ];
    if !samples.capacity_bps.is_empty() {
        columns.push(numbers("capacity_bps", &samples.capacity_bps));
    }
    columns
}

fn packets(trace: &PacketTrace, timers: &[u8]) -> Vec<Column> {
    vec![
        numbers("time_ns", &trace.time_ns),
        of_names("link", &trace.link, &trace.link_names),
        of_names("flow", &trace.flow, &trace.flow_names),
        of_names("event", &trace.event, &PacketEvent::NAMES),
        numbers("seq", &trace.seq),
        numbers("len", &trace.len),
        numbers("wire_bytes", &trace.wire_bytes),
        numbers("retransmission", &trace.retransmission),
        numbers("cwnd_segments", &trace.cwnd_segments),
        of_names("timer", timers, &Timer::NAMES),
    ]
}
