//! Requests and answers as JSON, so that a binding only passes text through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, answer};
use super::traffic::MOST;
use super::{Arrival, Traffic};
use crate::qdisc::{Ecn, Groups, Place, QueueSpec};
use crate::rng::RngStreams;
use crate::units::{Duration, Rate};

/// The largest number of samples.
const MOST_SAMPLES: u64 = 100_000;

/// A queue alone, under the arrivals of sources or of a record.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The queue, as in a scenario.
    pub queue: QueueSpec,
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Base RTT that sizes in BDP refer to.
    #[serde(default = "rtt")]
    pub rtt: Duration,
    /// End of the run.
    pub duration: Duration,
    /// Time between samples.
    pub interval: Duration,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Sources of arrivals.
    #[serde(default)]
    pub arrivals: Vec<Traffic>,
    /// Recorded arrivals, in the order of their times.
    #[serde(default)]
    pub trace: Vec<Recorded>,
    /// Whether the answer contains the outcome of each packet.
    #[serde(default)]
    pub packets: bool,
}

/// A recorded arrival: time in nanoseconds, bytes on the wire, flow, and the two bits of the ECN field.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Recorded(pub u64, pub u32, pub u64, pub u8);

fn rtt() -> Duration {
    Duration::from_millis(100)
}

/// A request that cannot be answered.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if path.is_empty() || path == "." { String::new() } else { format!("{path}: ") })]
pub struct RequestError {
    path: String,
    message: String,
}

impl RequestError {
    pub(super) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        RequestError { path: path.into(), message: message.into() }
    }

    /// The same error of a part of the request.
    fn within(self, part: &str) -> Self {
        let path = if self.path.is_empty() { part.to_owned() } else { format!("{part}.{}", self.path) };
        RequestError { path, ..self }
    }
}

/// Answers a request, a [`Request`] with an [`Answer`].
///
/// # Errors
/// Text that is not a request, values out of range, and too many arrivals or samples.
pub fn json(request: &str) -> Result<String, RequestError> {
    let mut reader = serde_json::Deserializer::from_str(request);
    let request: Request = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| RequestError::new(error.path().to_string(), error.into_inner().to_string()))?;
    let answer = run(&request)?;
    Ok(serde_json::to_string(&answer).expect("invariant: an answer has a JSON form"))
}

fn run(request: &Request) -> Result<Answer, RequestError> {
    let (duration, interval) = (request.duration, request.interval);
    if duration == Duration::ZERO {
        return Err(RequestError::new("duration", "must be longer than zero"));
    }
    if interval == Duration::ZERO || duration.as_nanos() / interval.as_nanos() > MOST_SAMPLES {
        return Err(RequestError::new("interval", format!("must give at most {MOST_SAMPLES} samples")));
    }
    let streams = RngStreams::new(request.seed, 0);
    let mut labelled = Vec::new();
    let mut flows = 0;
    for (at, traffic) in request.arrivals.iter().enumerate() {
        let mut stream = streams.stream("queue", &format!("arrivals {at}"));
        let found =
            traffic.arrivals(duration, flows, &mut stream).map_err(|error| error.within(&format!("arrivals[{at}]")))?;
        flows += u64::from(traffic.flows);
        labelled.extend(found.into_iter().map(|arrival| (arrival, at)));
    }
    let recorded = request.arrivals.len();
    labelled.extend(recorded_arrivals(&request.trace, duration)?.map(|arrival| (arrival, recorded)));
    if labelled.is_empty() {
        return Err(RequestError::new("", "no packet arrives; give `arrivals` or a `trace`"));
    }
    if labelled.len() > MOST {
        return Err(RequestError::new("", format!("more than {MOST} packets arrive; lower the rates or the duration")));
    }
    labelled.sort_by_key(|(arrival, _)| arrival.at_ns);
    let (arrivals, sources): (Vec<Arrival>, Vec<usize>) = labelled.into_iter().unzip();
    let packet_bytes = arrivals.iter().map(|arrival| u64::from(arrival.bytes)).max().unwrap_or(1);
    let place = Place {
        rate: Some(request.rate),
        delay: Duration::ZERO,
        packet_bytes,
        mean_rtt_secs: request.rtt.as_secs_f64(),
        groups: Groups::NONE,
    };
    let planned = request.queue.plan(&place);
    let plan = planned.map_err(|(key, problem)| RequestError::new(format!("queue.{key}"), problem.to_string()))?;
    if plan.tc().is_some() {
        let message = "a queue of the kernel runs in a scenario with --backend kernel, not alone";
        return Err(RequestError::new("queue", message));
    }
    Ok(answer(request, &plan, &streams, &arrivals, &sources))
}

/// The arrivals of a record before the end.
fn recorded_arrivals(
    trace: &[Recorded],
    duration: Duration,
) -> Result<impl Iterator<Item = Arrival> + '_, RequestError> {
    let sizes = 1..=u32::from(u16::MAX);
    if let Some(at) = trace.iter().position(|Recorded(_, bytes, ..)| !sizes.contains(bytes)) {
        return Err(RequestError::new(format!("trace[{at}]"), "a packet has from 1 to 65535 bytes"));
    }
    let end = duration.as_nanos();
    let arrival =
        |&Recorded(at_ns, bytes, flow, ecn): &Recorded| Arrival { at_ns, bytes, flow, ecn: Ecn::from_bits(ecn) };
    Ok(trace.iter().map(arrival).filter(move |arrival| arrival.at_ns < end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_of(text: &str) -> Answer {
        run(&serde_json::from_str(text).unwrap()).unwrap()
    }

    /// 1500 B take 1 ms. Three packets arrive at once: the queue of one drops the third.
    const THREE: &str = r#"{
        "queue": { "kind": "drop-tail", "limit": "1 packets" }, "rate": "12 Mbit/s", "duration": "10 ms",
        "interval": "1 ms", "seed": 1, "arrivals": [{ "kind": "burst", "packets": 3, "every": "1 s" }], "packets": true
    }"#;

    #[test]
    fn packets_are_counted_and_samples_follow_the_queue() {
        let answer = answer_of(THREE);
        let total = &answer.total;
        assert_eq!((total.arrived, total.sent, total.dropped, total.queued), (3, 2, 1, 0));
        assert_eq!(answer.drops.get("full"), Some(&1));
        assert_eq!(answer.samples.backlog_packets[..2], [0, 0]);
        assert_eq!(answer.samples.arrived_bytes[..2], [4500, 0]);
        assert_eq!(answer.samples.sent_bytes[..2], [3000, 0]);
        assert_eq!(answer.samples.sojourn_ns[..2], [Some(1_000_000), None]);
        assert!((answer.utilization - 0.2).abs() < 1e-9);
        let outcomes: Vec<_> = answer.packets.iter().map(|packet| (packet.outcome, packet.left_ns)).collect();
        assert_eq!(outcomes, [("sent", Some(0)), ("sent", Some(1_000_000)), ("dropped", Some(0))]);
    }

    #[test]
    fn a_packet_that_waits_at_the_end_is_queued() {
        let answer = answer_of(&THREE.replace("\"10 ms\"", "\"500 us\"").replace("\"1 ms\"", "\"500 us\""));
        assert_eq!((answer.total.sent, answer.total.queued), (1, 1));
        assert_eq!(answer.samples.backlog_packets, [1]);
    }

    #[test]
    fn a_record_is_a_source_of_its_own() {
        let text = THREE.replace("\"packets\": true", "\"trace\": [[2000000, 100, 9, 2], [3000000, 100, 9, 0]]");
        let answer = answer_of(&text);
        assert_eq!(answer.sources.iter().map(|source| source.arrived).collect::<Vec<_>>(), [3, 2]);
        assert!(answer.packets.is_empty());
    }

    #[test]
    fn mistakes_name_their_key() {
        for (from, to, message) in [
            ("\"10 ms\"", "\"0 s\"", "duration: must be longer than zero"),
            ("\"1 ms\"", "\"0 s\"", "interval: must give at most 100000 samples"),
            ("\"1 packets\"", "\"0 packets\"", "queue.limit: "),
            ("\"packets\": 3", "\"packets\": 0", "arrivals[0].packets: must be at least 1"),
            ("\"burst\"", "\"bursts\"", "arrivals[0].kind: unknown variant"),
            ("\"packets\": true", "\"trace\": [[0, 0, 0, 0]]", "trace[0]: a packet has from 1 to 65535 bytes"),
            ("\"packets\": true", "\"trace\": [[0, 65536, 0, 0]]", "trace[0]: a packet has from 1 to 65535 bytes"),
            ("\"seed\": 1", "\"sed\": 1", "unknown field `sed`"),
        ] {
            let error = json(&THREE.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
