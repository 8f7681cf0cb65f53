//! Captures made elsewhere: files of pcap and pcapng, and the TCP connections in them.

mod decode;
mod packets;

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::net::IpAddr;
use std::path::Path;

use ackclock::capture::{TcpHeader, observe};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

use crate::catalog::to_json;
use decode::{LeftOut, Segment, decode};
use packets::{End, NoCapture, for_each_packet};

/// Intervals of each series.
const POINTS: usize = 900;

/// An address and a port.
type Endpoint = (IpAddr, u16);

/// A connection of a file.
struct Flow {
    /// In the order of addresses.
    ends: [Endpoint; 2],
    packets: u64,
    /// Payload from each end.
    bytes: [u64; 2],
    first_ns: u64,
    last_ns: u64,
    /// The sequence number of its SYN, from the end that opens it.
    syn: Option<u32>,
}

impl Flow {
    /// Which of the ends sends more.
    fn sender(&self) -> usize {
        usize::from(self.bytes[1] > self.bytes[0])
    }
}

/// What a file has.
#[derive(Serialize)]
struct Summary<'a> {
    packets: u64,
    left_out: Vec<(String, u64)>,
    end: &'a str,
    flows: Vec<Described>,
}

/// A connection, for people.
#[derive(Serialize)]
struct Described {
    sender: String,
    receiver: String,
    ipv6: bool,
    packets: u64,
    bytes: u64,
    reverse_bytes: u64,
    start_s: f64,
    duration_s: f64,
}

/// The connections of a file, as they come in it.
#[derive(Default)]
struct Flows {
    all: Vec<Flow>,
    /// By their ends, the latest ones.
    latest: BTreeMap<[Endpoint; 2], usize>,
}

impl Flows {
    /// The connection of a segment, and which of its ends sent it. A SYN of its own begins another one.
    fn take(&mut self, segment: &Segment) -> (usize, usize) {
        let (from, to) = (segment.from, segment.to);
        let side = usize::from(from > to);
        let ends = if side == 0 { [from, to] } else { [to, from] };
        let opens = segment.header.syn && segment.header.ack.is_none();
        let time_ns = segment.header.time.as_nanos();
        let known = self.latest.get(&ends).copied();
        let index = known.filter(|index| !opens || self.all[*index].syn == Some(segment.header.seq));
        let index = index.unwrap_or_else(|| {
            let syn = opens.then_some(segment.header.seq);
            self.all.push(Flow { ends, packets: 0, bytes: [0; 2], first_ns: time_ns, last_ns: time_ns, syn });
            self.latest.insert(ends, self.all.len() - 1);
            self.all.len() - 1
        });
        let flow = &mut self.all[index];
        flow.packets += 1;
        flow.bytes[side] += u64::from(segment.header.len);
        (flow.first_ns, flow.last_ns) = (flow.first_ns.min(time_ns), flow.last_ns.max(time_ns));
        (index, side)
    }
}

/// A capture: a file, or what a run has captured.
#[pyclass(frozen, module = "ackclock._core")]
pub struct CaptureFile {
    source: Source,
    packets: u64,
    left_out: BTreeMap<LeftOut, u64>,
    end: End,
    flows: Vec<Flow>,
}

enum Source {
    File(String),
    Bytes(Vec<u8>),
}

impl Source {
    fn each(&self, on_packet: impl FnMut(Option<packets::Packet<'_>>)) -> PyResult<End> {
        let input: Box<dyn Read + Send + '_> = match self {
            Source::File(path) => Box::new(ackclock_input::open(Path::new(path), ackclock_input::CAPTURE)?),
            Source::Bytes(bytes) => Box::new(Cursor::new(bytes)),
        };
        for_each_packet(input, on_packet).map_err(|error| match error {
            NoCapture::Empty => PyValueError::new_err("is empty"),
            NoCapture::Unknown => PyValueError::new_err("is neither pcap nor pcapng"),
            NoCapture::Unreadable => PyOSError::new_err("cannot be read"),
        })
    }
}

#[pymethods]
impl CaptureFile {
    /// Reads a file, given by its path or its bytes, for the connections in it.
    #[new]
    #[pyo3(signature = (path = None, content = None))]
    fn new(py: Python<'_>, path: Option<String>, content: Option<Vec<u8>>) -> PyResult<Self> {
        let source = match (path, content) {
            (Some(path), None) => Source::File(path),
            (None, Some(content)) => Source::Bytes(content),
            _ => return Err(PyValueError::new_err("give a path or the content")),
        };
        py.detach(|| {
            let (mut packets, mut left_out, mut flows) = (0, BTreeMap::new(), Flows::default());
            let end = source.each(|packet| {
                packets += 1;
                match packet.ok_or(LeftOut::NoTime).and_then(|packet| decode(&packet)) {
                    Ok(segment) => {
                        flows.take(&segment);
                    }
                    Err(reason) => *left_out.entry(reason).or_insert(0) += 1,
                }
            })?;
            Ok(CaptureFile { source, packets, left_out, end, flows: flows.all })
        })
    }

    /// Packets, those that are left out and why, how the file ends, and the connections, as JSON.
    fn summary_json(&self) -> PyResult<String> {
        let name = |end: Endpoint| std::net::SocketAddr::from(end).to_string();
        let start = self.flows.iter().map(|flow| flow.first_ns).min().unwrap_or(0);
        let describe = |flow: &Flow| {
            let sender = flow.sender();
            Described {
                sender: name(flow.ends[sender]),
                receiver: name(flow.ends[1 - sender]),
                ipv6: flow.ends[0].0.is_ipv6(),
                packets: flow.packets,
                bytes: flow.bytes[sender],
                reverse_bytes: flow.bytes[1 - sender],
                start_s: (flow.first_ns - start) as f64 / 1e9,
                duration_s: (flow.last_ns - flow.first_ns) as f64 / 1e9,
            }
        };
        to_json(&Summary {
            packets: self.packets,
            left_out: self.left_out.iter().map(|(reason, packets)| (reason.text(), *packets)).collect(),
            end: match self.end {
                End::Whole => "whole",
                End::Cut => "cut",
                End::Damaged => "damaged",
            },
            flows: self.flows.iter().map(describe).collect(),
        })
    }

    /// What the connection with this number, from 0, shows of its sender, as JSON.
    ///
    /// Raises `ValueError` where it shows nothing.
    fn observe_json(&self, py: Python<'_>, flow: usize) -> PyResult<String> {
        let chosen = self.flows.get(flow).ok_or_else(|| PyValueError::new_err("there is no such connection"))?;
        let sender = chosen.sender();
        py.detach(|| {
            let (mut headers, mut flows): (Vec<TcpHeader>, _) = (Vec::new(), Flows::default());
            self.source.each(|packet| {
                let Some(Ok(segment)) = packet.map(|packet| decode(&packet)) else { return };
                let (index, side) = flows.take(&segment);
                if index == flow {
                    headers.push(TcpHeader { forward: side == sender, ..segment.header });
                }
            })?;
            // Packets of several interfaces need not be in order.
            headers.sort_by_key(|header| header.time);
            to_json(&observe(&headers, POINTS).map_err(|error| PyValueError::new_err(error.to_string()))?)
        })
    }
}
