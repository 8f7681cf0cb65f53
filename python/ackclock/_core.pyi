"""The compiled half of ackclock: scenarios, runs, the synchronous model."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Self, final

from typing_extensions import disjoint_base

__all__ = [
    "BUILD",
    "CONFIDENCE",
    "FAIR",
    "RESAMPLES",
    "STARVED",
    "VERSION",
    "Ack",
    "BackendError",
    "BudgetError",
    "Cancel",
    "CaptureError",
    "CaptureFile",
    "Congestion",
    "CongestionControl",
    "Episodes",
    "Estimate",
    "Event",
    "FoundRegret",
    "Interrupted",
    "KernelLink",
    "Loss",
    "Overdue",
    "Race",
    "Recovery",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Sent",
    "Table",
    "UnderTest",
    "callback_limit_s",
    "callback_names",
    "common_metrics_json",
    "compared",
    "compile_rule",
    "cost",
    "costs_of_best",
    "describe_bpf",
    "describe_library",
    "enter_user_namespace",
    "estimate",
    "exchange_json",
    "is_relative",
    "kernel_attach",
    "kernel_list",
    "kernel_load",
    "kernel_unload",
    "keys_json",
    "kind_of_code",
    "label_json",
    "least_difference",
    "list_json",
    "measured_in_run",
    "metrics_json",
    "metrics_of_json",
    "model_json",
    "noise_floor",
    "paired_difference",
    "quantile",
    "queue_json",
    "reflected_estimate",
    "regrets",
    "resampled_means",
    "rule_json",
    "schema_json",
    "scores",
    "serve_kernel_queue",
    "serve_queue",
    "share_progress",
    "share_text",
    "share_weights",
    "student_t_quantile",
    "that_count",
    "values_of_run",
    "verdict",
    "weighted_metrics",
    "worst_costs",
    "worst_result",
]

VERSION: str
"""The version of the product."""

BUILD: str
"""The version and a fingerprint of the sources, part of every stored result."""

CONFIDENCE: float
"""The confidence of every interval."""

RESAMPLES: int
"""The number of resamples of a bootstrap interval."""

STARVED: float
FAIR: float
"""Flows with less than this part of a fair share starve: of as many others each has nine times as much."""

class ScenarioError(ValueError):
    """A scenario that cannot be used; the message has the place."""

    mistakes_json: str
    """Its `mistakes`, each with `file`, `line`, `set`, `key` and `message`, and how many `more` there are."""

class Interrupted(Exception):
    """A run was cancelled."""

class RunError(Exception):
    """A run that would take too much memory; the message has the flow and the time."""

class BackendError(Exception):
    """The backend lacks a feature, or the system does not permit it."""

class CaptureError(ValueError):
    """A capture of a missing item. Its arguments are `link` or `flow`, the name, and the existing names."""

class Overdue(BaseException):
    """Raised in a callback that takes no end; no callback should catch it."""

@final
class Cancel:
    """A switch that stops runs: pass it to `Scenario.run`, call `set()` from any thread."""

    def __new__(cls) -> Cancel: ...
    def set(self) -> None:
        """Stops every run that was given this object, now or later."""

    def is_set(self) -> bool:
        """True after `set()`."""

@final
class Episodes:
    """Runs of scenarios whose flows agents steer."""

    def __new__(
        cls,
        scenario: Scenario,
        agents: Sequence[str],
        step_s: float,
        action: str,
        observation: Sequence[int],
        reward: Sequence[float],
        runs: int,
        threads: int,
    ) -> Episodes: ...
    @staticmethod
    def actions() -> list[tuple[str, str, str, float, float]]:
        """Names, units and meanings of actions, with the lowest and highest value."""

    @staticmethod
    def terms() -> list[tuple[str, str, str, float, float]]:
        """Names, units and meanings of the terms of observations and rewards, with their clipping bounds."""

    @property
    def agents(self) -> list[str]:
        """Names of the flows that agents steer, in the order of rows."""

    def reset(self, begin: Sequence[tuple[int, int, Scenario | None, Any]]) -> None:
        """Begins runs again.

        Each run gives its place, its seed, a scenario or None for the common one, and an array. The
        array of 32-bit floats gets a row for each agent.
        """

    def step(self, actions: Any, observations: Any, rewards: Any) -> tuple[list[bool], list[bool]]:
        """Takes an action for each agent of each run, and advances by a step.

        `observations` (32-bit floats) and `rewards` (64-bit floats) get a row and a number for each agent.
        Returned is which runs ended as the transfers of their agents are complete, and which for any reason.
        A run that has ended stays as it is.
        """

    def now_s(self, run: int) -> float:
        """The time of a run in seconds."""

@final
class Scenario:
    """A checked scenario."""

    @staticmethod
    def from_toml(text: str, source: str = "<string>", sets: Sequence[str] = ...) -> Scenario:
        """Reads TOML. `source` is the file's name in messages, and `sets` contains `KEY=VALUE` texts as for
        `--set`.
        """

    @staticmethod
    def from_toml_known(text: str, source: str, sets: Sequence[str]) -> Scenario:
        """Reads TOML with settings that are known to reach runs, which is several times as fast."""

    @staticmethod
    def from_json(text: str, source: str = "<string>", sets: Sequence[str] = ...) -> Scenario:
        """Reads the same tree from JSON."""

    def check_cc_json(self, group: str) -> str | None:
        """The contract violations of the algorithm of a group, as JSON, or None for a group without an
        algorithm.
        """

    def with_sets(self, sets: Sequence[str]) -> Scenario:
        """This scenario with some keys changed."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def hash(self) -> str:
        """The canonical hash, equal for scenarios with equal results. It ignores name and seed."""

    @property
    def seed(self) -> int:
        """The seed."""

    @property
    def is_random(self) -> bool:
        """True if replicates differ."""

    @property
    def foreign(self) -> list[tuple[str, str, str]]:
        """The user-supplied algorithms that flows run.

        Of each its `kind` (`python` or `library`), source, and name in results.
        """

    @property
    def warnings(self) -> list[str]:
        """Warnings: properties to check before trusting a result."""

    def resolved_json(self) -> str:
        """The resolved scenario as JSON that reads back as the same scenario."""

    def written_json(self) -> str:
        """The scenario as written, with the contents of its files, as JSON. Settings reach the shared parts
        of its flows.
        """

    @property
    def fingerprint(self) -> str:
        """Equal for scenarios whose compiled plans are equal. It ignores name and seed."""

    def describe_json(self, most: int | None = None) -> str:
        """Links, flows and random inputs in full, as JSON. `most` limits the flows per group."""

    def run(
        self,
        seed: int | None = None,
        replicate: int = 0,
        cancel: Cancel | None = None,
        *,
        samples: bool = True,
        capture: tuple[str, Sequence[str], bool] | None = None,
    ) -> Run:
        """Runs one replicate, without holding the GIL. Ctrl-C in the main thread ends it.

        Without `samples` the run samples nothing over time, even if the scenario asks for it. The other
        results are the same. `capture` gives the place of capture: a link, `sender` or `receiver`. It
        also gives the flows (all if none are given), and whether to capture the states of senders.
        """

    def emulate(
        self,
        seed: int | None = None,
        replicate: int = 0,
        cancel: Cancel | None = None,
        *,
        samples: bool = True,
        programs: tuple[str, str, str | None] | None = None,
        capture: tuple[str, Sequence[str], int] | None = None,
        objects: str | PathLike[str] | None = None,
        kernel: tuple[str | PathLike[str], str, Mapping[str, str | PathLike[str]]] | None = None,
    ) -> Run:
        """Runs one replicate in real time, with the TCP of the running kernel at both ends. Ctrl-C in the
        main thread ends it.

        `seed`, `replicate`, `cancel` and `samples` are as for `run`. `programs` lists a group of flows
        and the shell commands that replace it. The first command runs on the host of the senders, and
        its end is the end of the run. The second runs on the host of the receivers, if given. `capture`
        gives a link, `sender` or `receiver`, the flows, and the bytes kept of each packet. `objects` is
        the folder of compiled objects for algorithms that the kernel lacks. `kernel` lists the image and
        the title of a kernel, which then runs in virtual time, and compiled modules by their source.
        """

    def check_capture(self, at: str, flows: Sequence[str]) -> None:
        """Checks `capture` as `run` takes it."""

@final
class CaptureFile:
    """A capture: a file, or the captured packets of a run."""

    def __new__(cls, path: str | None = None, content: bytes | None = None) -> Self: ...
    def summary_json(self) -> str:
        """Packets, those that are left out and why, how the file ends, and the connections, as JSON."""

    def observe_json(self, flow: int) -> str:
        """The measurements of the connection with this number, from 0, at its sender, as JSON.

        Raises `ValueError` where it shows nothing.
        """

    def sequence_json(self, flow: int, from_ns: int, to_ns: int) -> str:
        """The time-sequence plot of a connection, by its number from 0, as JSON. Times count from its first
        packet.

        Raises `ValueError` where it has no data.
        """

@final
class Run:
    """The result of one run."""

    def to_json(self) -> str:
        """Everything but the samples and histograms, as JSON."""

    def histograms_json(self) -> str:
        """How long packets waited: a JSON list of `link`, `up_to_ns`, `packets`.

        One for each shared link, and one with `link` null for the data of all flows on their paths.
        """

    @property
    def flow_samples(self) -> Table:
        """Samples of flows over time, a table of Arrow."""

    @property
    def link_samples(self) -> Table:
        """Samples of links over time, a table of Arrow."""

    @property
    def packets(self) -> Table:
        """Every packet at every link, every window that changes and timer that goes off, a table of Arrow.

        Empty unless `sampling.packets` is on.
        """

    def qlog(self, version: str) -> str:
        """The capture of senders as a file of qlog of this version, `0.3` or `draft`."""

    def sequences_json(self, from_ns: int, to_ns: int) -> str:
        """Time-sequence plots of the connections of a capture of senders, within some nanoseconds, as
        JSON."""

    def pcapng(self, snaplen: int) -> bytes:
        """The captured packets as a pcapng file, with at most `snaplen` bytes of each. It is empty unless
        `capture` was given.
        """

@final
class Table:
    """A table that any library of Arrow can read: `polars.DataFrame(table)`."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """The Arrow C stream of the table."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""

    def __len__(self) -> int: ...

@disjoint_base
class Event:
    """The common part of all events: the time, and the sender's measurements of the path after the event."""

    @property
    def now(self) -> float:
        """Seconds since the start of the run. Only differences of time should matter."""

    @property
    def rtt(self) -> float:
        """The latest round-trip time in seconds, 0 before the first measurement."""

    @property
    def srtt(self) -> float:
        """The smoothed round-trip time (RFC 6298) in seconds, 0 before the first measurement."""

    @property
    def min_rtt(self) -> float:
        """The smallest round-trip time so far in seconds, 0 before the first measurement."""

    @property
    def queue_delay(self) -> float:
        """The latest round-trip time minus the smallest one, in seconds."""

    @property
    def in_flight(self) -> int:
        """Segments in flight (the pipe of RFC 6675)."""

    @property
    def in_flight_bytes(self) -> int:
        """Their payload in bytes."""

    @property
    def mss(self) -> int:
        """Payload bytes of a full segment."""

@final
class Ack(Event):
    """An ACK with new information."""

    @property
    def acked(self) -> float:
        """Segments that this ACK counts for growth. An ACK of new data counts 1, or up to 2 with
        `byte_counting`. A duplicate ACK counts 0.
        """

    @property
    def delivered(self) -> int:
        """Segments newly known to be delivered, cumulatively or selectively."""

    @property
    def lost(self) -> int:
        """Segments newly considered lost."""

    @property
    def ce(self) -> int:
        """Packets newly reported as CE-marked. Only AccECN counts them."""

    @property
    def ece(self) -> bool:
        """True if the ACK echoes a mark."""

    @property
    def round_ended(self) -> bool:
        """True on the first ACK of data sent after the end of the previous round trip."""

    @property
    def cwnd_limited(self) -> bool:
        """True if the window limited the sender, and not the application or the receiver."""

    @property
    def in_recovery(self) -> bool:
        """True during loss recovery."""

    @property
    def may_grow(self) -> bool:
        """True if a window should grow by this ACK (RFC 5681, RFC 3168). The ACK acknowledges new data and
        echoes no mark, the window was used, and the sender is not in recovery.
        """

    @property
    def delivery_rate(self) -> float | None:
        """The delivery rate in bit/s (draft-ietf-ccwg-bbr), or None if this ACK gives no sample. Needs
        `rate_samples = True`.
        """

    @property
    def app_limited(self) -> bool:
        """True if the application, not the network, limited that sample. Needs `rate_samples = True`."""

@final
class Loss(Event):
    """A transmission is considered lost. Only a class with an `on_loss` gets these."""

    @property
    def bytes(self) -> int:
        """Payload bytes."""

    @property
    def retransmission(self) -> bool:
        """True for data sent before: each transmission may be lost."""

    @property
    def tx_in_flight(self) -> int:
        """Payload bytes in flight when it was sent, with itself."""

    @property
    def lost(self) -> int:
        """Payload bytes lost since it was sent, with itself."""

    @property
    def app_limited(self) -> bool:
        """True if the application, not the network, limited the sender when it was sent."""

@final
class Congestion(Event):
    """Congestion was detected, at most once per window of data except for timeouts."""

    @property
    def kind(self) -> str:
        """The sign of congestion: "loss", "ecn" or "timeout"."""

    @property
    def flight_size(self) -> int:
        """Segments sent and not acknowledged (RFC 5681's FlightSize)."""

    @property
    def again(self) -> bool:
        """True if the window was cut before in the same window of data: ssthresh stays (RFC 3168, 6.1.2)."""

@final
class Recovery(Event):
    """Loss recovery begins, ends, or was spurious."""

    @property
    def flight_size(self) -> int:
        """Segments sent and not acknowledged (RFC 5681's FlightSize)."""

@final
class Sent(Event):
    """A segment was handed to the network. Only a class with an `on_sent` gets these."""

    @property
    def bytes(self) -> int:
        """Payload bytes."""

    @property
    def retransmission(self) -> bool:
        """True for data sent before."""

@disjoint_base
class CongestionControl:
    """A congestion-control algorithm: inherit from it, and override the events that matter.

    Methods that a class does not override follow TCP Reno (RFC 5681). The window grows in slow start
    below ssthresh, and by one segment per round trip above it. A loss or mark halves the window. Windows
    are in segments with fractions, times in seconds, rates in bit/s. The fields of a dataclass are the
    parameters.
    """

    def __new__(cls, *_args: Any, **_parameters: Any) -> Self: ...

    owns_recovery: bool
    """True for a class that sets the window itself during loss recovery, from ACK to ACK, and after
    timeouts."""

    responds_to_ecn: bool
    """False for a class that does not reduce its rate for marks. It then also learns of losses in a marked
    window.
    """

    rate_samples: bool
    """True for a class that reads `ack.delivery_rate`."""

    @property
    def cwnd(self) -> float:
        """The congestion window in segments. The sender uses whole segments, and at least one."""

    @cwnd.setter
    def cwnd(self, value: float) -> None:
        """The congestion window in segments. The sender uses whole segments, and at least one."""
    @property
    def ssthresh(self) -> float:
        """The slow-start threshold in segments, infinite until something sets it."""

    @ssthresh.setter
    def ssthresh(self, value: float) -> None:
        """The slow-start threshold in segments, infinite until something sets it."""
    @property
    def pacing_rate(self) -> float | None:
        """The pacing rate in bit/s. With None, the sender sends as fast as the window permits."""

    @pacing_rate.setter
    def pacing_rate(self, value: float | None) -> None:
        """The pacing rate in bit/s. With None, the sender sends as fast as the window permits."""
    @property
    def initial_window(self) -> float:
        """The window that the connection began with, in segments."""

    @property
    def in_slow_start(self) -> bool:
        """True below ssthresh."""

    def on_start(self) -> None:
        """The connection begins. cwnd and ssthresh contain their first values."""

    def on_ack(self, ack: Ack) -> None:
        """An ACK reports data delivered, data lost, or marks.

        By default the window grows as in RFC 5681 if `ack.may_grow`. In slow start it grows by the
        acknowledged segments, above it by one segment per round trip.
        """

    def on_round(self, ack: Ack) -> None:
        """A round trip has ended. The call precedes `on_ack` of the same ACK."""

    def on_congestion(self, congestion: Congestion) -> None:
        """A loss or a mark shows congestion, at most once per window of data.

        By default half of the window is left, and ssthresh is the same, at least two segments.
        """

    def on_timeout(self, congestion: Congestion) -> None:
        """The retransmission timer expired, or QUIC found persistent congestion.

        By default ssthresh becomes half of the window. The window is one segment afterwards, two over
        QUIC, unless the class owns recovery.
        """

    def on_loss(self, loss: Loss) -> None:
        """A single transmission is considered lost. The call precedes `on_ack` of the ACK that shows it."""

    def on_sent(self, sent: Sent) -> None:
        """A segment was handed to the network."""

    def on_recovery_enter(self, recovery: Recovery) -> None:
        """Loss recovery begins, after `on_congestion`."""

    def on_recovery_exit(self, recovery: Recovery) -> None:
        """Everything sent before recovery began is acknowledged."""

    def on_undo(self, recovery: Recovery) -> None:
        """The last congestion event was spurious. By default window and ssthresh return at least to their
        values before it.
        """

    def on_resume(self, now: float) -> None:
        """The sender resumes at `now` in seconds, after an idle time longer than its RTO.

        By default `idle_window` of the transport sets the window. It becomes at most the initial window
        (RFC 5681, 4.1), or half of the window for each RTO (Linux).
        """

    def probe(self) -> dict[str, float]:
        """Numbers for samples over time, by name. By default there are none. Each sample calls it."""

def list_json(kind: str) -> str:
    """The entries of the list `kind` (cc, recovery, queue, loss, traffic, topology) as JSON."""

def schema_json() -> str:
    """The JSON Schema of a scenario."""

def keys_json() -> str:
    """Every key of a scenario with type, default and help, as JSON."""

def kind_of_code(name: str) -> tuple[str, str] | None:
    """The kind of the algorithm in a file and the key that names the file, by the file's name. Other names
    give none.
    """

def metrics_json() -> str:
    """Every metric of the results with unit, label and definition, as JSON."""

def rule_json(line: str) -> str:
    """The algorithm that a rule on one line is, as JSON of the table `cc`.

    Raises:
        ScenarioError: The rule has a mistake.
    """

def enter_user_namespace() -> None:
    """Makes this process root of a user namespace of its own, so that it may emulate.

    It must have one thread only. Raises `BackendError` where the system does not allow it, or has no such
    thing.
    """

def model_json(request: str) -> str:
    """Answers a request to the model, without holding the GIL. `ackclock::model::json` defines both sides."""

def exchange_json(text: str, name: str, profile: str, kernel: PathLike[str] | None = None) -> str:
    """Runs the exchange script `text` without holding the GIL, and returns the report as JSON. `name` is
    the script's name in messages, and `profile` gives its first settings. With `kernel`, the script runs
    against that kernel in virtual time.

    Raises:
        BackendError: The kernel cannot run, or it ended.
        ValueError: There is no such profile.
    """

def label_json(text: str, first: str | None = None) -> str:
    """The table of a name or of a label such as `codel(target=10 ms)`, as JSON. `first` is the key of a first
    value without a key.

    Raises:
        ValueError: The problem of another text.
    """

def queue_json(request: str) -> str:
    """Answers a request about a queue alone, without holding the GIL. `ackclock::open_loop::json` defines
    both sides.

    Raises:
        ValueError: The request cannot be answered. The message names the key.
    """

def serve_queue(
    queue: str, rate_bps: int, seed: int, arrivals: Sequence[tuple[int, int, int, bool]]
) -> list[tuple[int, int, str, str]]:
    """Puts arrivals (time, bytes, flow, ECN-capable) through a queue in front of a transmitter.

    `queue` is the queue of a scenario as JSON. `arrivals` are in the order of their times, in ns, with
    bytes on the wire. What happened to each comes back, in order: rows are (time in ns, place among the
    arrivals, "sent", "dropped" or "marked", the reason). Raises ValueError for a queue that cannot stand
    there.
    """

def serve_kernel_queue(
    kernel: PathLike[str], tc: str, rate_bps: int, seed: int, arrivals: Sequence[tuple[int, int, int, bool]]
) -> list[tuple[int, int, str]]:
    """Puts arrivals (time, bytes, flow, ECN-capable) through a queue of a kernel in virtual time. `tc` is
    the discipline with its parameters.

    Rows are (time in ns, place among the arrivals, "sent", "dropped" or "marked").

    Raises:
        BackendError: The kernel denies the queue, or it ended.
        ValueError: The rate is zero, or the arrivals are out of order.
    """

def callback_limit_s() -> float:
    """How long a callback may take, in seconds: 10, or `ACKCLOCK_CALLBACK_SECONDS`."""

def callback_names() -> list[str]:
    """The names of callbacks, by the number that stands for each where progress is shared."""

def describe_bpf(path: str, sha256: str, jit: bool) -> tuple[str, list[tuple[str, str, float, float, float]]]:
    """The name and the parameters of a compiled congestion control. The simulator must support all that it
    uses. `jit` also requires machine code for it on this machine.
    """

def compile_rule(program: str, rule: str) -> bytes:
    """The object of a rule given as text, as the JSON of a table `cc`. `program` is the file with the
    program that runs rules.
    """

@final
class KernelLink:
    """A congestion control that is in the kernel until it is closed, or the process ends."""

    def close(self) -> None:
        """Takes it out of the kernel."""

def kernel_load(path: str, parameters: Sequence[tuple[str, float]], name: str, about: str) -> None:
    """Loads the congestion control of an object into the kernel, under a name, and leaves it there. `about`
    describes it.
    """

def kernel_attach(path: str, parameters: Sequence[tuple[str, float]], name: str, about: str) -> KernelLink:
    """Loads the congestion control of an object into the kernel until the result is closed or the process
    ends.
    """

def kernel_list() -> list[tuple[str, str | None]]:
    """The congestion controls of the kernel, each by name, with the description that ackclock stored."""

def kernel_unload(name: str) -> None:
    """Takes a congestion control that ackclock loaded out of the kernel."""

def describe_library(path: str, sha256: str) -> tuple[str, list[tuple[str, float, float, float]]]:
    """The name and the parameters of a shared object."""

def share_progress(buffer: Any) -> None:
    """Notes the callbacks of every later run of this process in `buffer`.

    Callback, count, time in ns and thread, of 64 bits each.
    """

@final
class Estimate:
    """A figure with its interval. A single replicate gives no interval."""

    def __new__(cls, mean: float, low: float | None, high: float | None, count: int) -> Self: ...
    def __getnewargs__(self) -> tuple[float, float | None, float | None, int]: ...
    @property
    def mean(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def count(self) -> int: ...
    @property
    def half_width(self) -> float | None:
        """Half the length of the interval, which need not lie evenly around the mean."""

    @property
    def excludes_zero(self) -> bool:
        """True if the interval excludes zero. Without an interval, true if the mean differs from zero."""

    @property
    def judgement(self) -> str:
        """The judgement of a difference of costs: `better`, `worse`, or nothing where it is inconclusive."""

def estimate(values: Sequence[float], confidence: float = ...) -> Estimate:
    """Mean and Student's t interval of independent values.

    The interval assumes that means are about normal. Raises `ValueError` without values.
    """

def paired_difference(values: Sequence[float], reference: Sequence[float]) -> Estimate:
    """The mean difference of two algorithms with the same random draws, replicate by replicate.

    Raises `ValueError` for different numbers of replicates.
    """

def compared(values: Sequence[float], reference: Sequence[float], *, exact: bool) -> Estimate | None:
    """The paired difference of values that may differ in their numbers of replicates, if it exists.

    Replicates that only one has are left out; a single one stands for all. None where a single replicate of
    each is all there is, unless nothing is random (`exact`).
    """

def student_t_quantile(degrees: int, confidence: float = ...) -> float:
    """The t such that Student's distribution has `confidence` of its weight within -t .. t."""

def resampled_means(values: Sequence[float], draws: int | None = None) -> list[float]:
    """The mean of each resample, which takes `draws` of the values. A single value does not change.

    The same replicates are drawn for every caller, so that environments, metrics and algorithms are resampled
    jointly.
    """

def reflected_estimate(point: float, resampled: Sequence[float], count: int) -> Estimate:
    """A figure with the basic interval of its resamples.

    For a maximum of means, which noise raises. The interval holds the figure.
    """

def quantile(ordered: Sequence[float], level: float) -> float:
    """The value below which a share of the ordered values lies."""

def that_count(differences: Sequence[tuple[Estimate, float]]) -> list[bool]:
    """Which differences count: significant after Holm's correction for all of them, and at least as large as
    given."""

def share_weights(
    environment: str, best: Mapping[str, float], weights: Mapping[str, float]
) -> list[tuple[str, float]]:
    """The weight of each metric's regret in the default score of one environment, in percent."""

def weighted_metrics() -> list[str]:
    """The names of the metrics of the default score."""

def common_metrics_json() -> tuple[str, str]:
    """The metrics of every environment that the scoreboard shows, as JSON, and those that it omits."""

def metrics_of_json(environment: str) -> str:
    """The metrics of an environment, as JSON."""

def measured_in_run(environment: str, document: str) -> list[float]:
    """The value of each metric of an environment in a run, then the queueing delay p95 in ms."""

def values_of_run(environment: str, document: str) -> list[float]:
    """The value of each metric of an environment in a run, whose document is JSON."""

def cost(better: str, value: float) -> float:
    """How bad a value is, by which way is better."""

def is_relative(environment: str, metric: str) -> bool:
    """Whether regret in a metric of an environment is a share of the best score."""

@final
class UnderTest:
    """The flows of some groups in the document of a run, where others take their part of the link."""

    def __new__(cls, document: str, groups: Sequence[str]) -> Self: ...
    def goodput_fraction(self, taken: str = "offered_bps") -> float | None:
        """Goodput over the capacity that datagrams and other transfers leave. It may exceed one if these lose
        packets.

        `taken`: `offered_bps`, what datagrams send, or `delivered_bps`, what comes through. None where the
        bottleneck has no rate.
        """

    @property
    def loss_rate(self) -> float:
        """Segments lost over segments sent, all flows together, or 0 without segments."""

    @property
    def queue_delay_mean_s(self) -> float:
        """Mean queueing delay of data packets on their paths, over all flows, or 0 without arrivals."""

    @property
    def jain_index(self) -> float:
        """Jain's index of the goodputs, 1 where all are zero."""

    @property
    def spread(self) -> float:
        """(max - min) / mean of the goodputs, 0 where all are zero."""

def scores(
    environment: str, runs: Sequence[Sequence[Sequence[float]]], reference: int, exact: bool
) -> list[list[tuple[list[float], Estimate, Estimate | None]]]:
    """Scores `runs[candidate][replicate][metric]` of an environment: `[candidate][metric]`."""

@final
class FoundRegret:
    """The regret of one candidate in one metric. Environments are given by their places."""

    @property
    def worst_case(self) -> Estimate: ...
    @property
    def total(self) -> Estimate: ...
    @property
    def worst(self) -> int: ...
    @property
    def by_environment(self) -> list[float]: ...
    @property
    def noise_floor(self) -> tuple[int, float, float, float, float] | None:
        """Algorithms, then mean and 95 % quantile of the worst case and of the total."""

    @property
    def drawn_worst_case(self) -> list[float]: ...
    @property
    def drawn_total(self) -> list[float]: ...

def regrets(
    costs: Sequence[Sequence[Sequence[float]]],
    *,
    best: Sequence[float] | None,
    best_costs: Sequence[Sequence[float]] | None,
    paired: bool,
    relative: Sequence[bool],
    algorithms: int,
    reference_costs: Sequence[Sequence[float]] | None,
    reference: int,
) -> list[FoundRegret]:
    """The regret of each candidate. `costs` are by environment, candidate and replicate."""

def noise_floor(costs: Sequence[Sequence[float]], rivals: int) -> tuple[int, float, float, float, float]:
    """The regret of an algorithm among equal competitors."""

def worst_costs(every: Sequence[Mapping[str, Mapping[str, Sequence[float]]]]) -> dict[str, dict[str, float]]:
    """The largest mean costs over algorithms, by metric and environment."""

def costs_of_best(
    every: Sequence[Mapping[str, Mapping[str, Sequence[float]]]],
) -> dict[str, dict[str, list[float]]]:
    """The costs per replicate of the algorithm with the least mean cost, by environment and metric."""

def least_difference(metric: str) -> float:
    """The least difference of scores that a sentence is worth."""

def verdict(board: Any) -> str:
    """The sentence on a scoreboard."""

def worst_result(board: Any) -> tuple[int, int] | None:
    """The places of environment and metric in which the first candidate is most clearly worse."""

def share_text(share: Estimate) -> str:
    """A share with its interval, as text."""

class BudgetError(ValueError):
    """The first round exceeds the budget. The argument is its work."""

@final
class Race:
    """A race of candidates alongside the panel of a suite. `suite` and `plan` are JSON."""

    def __new__(cls, suite: str, plan: str) -> Self: ...
    def wanted(self) -> tuple[int, list[int]] | None:
        """The replicates of the next round and the places of its algorithms. None if the race is over."""

    def add(
        self,
        values: Sequence[tuple[int, int, Sequence[Sequence[float]]]],
        failures: Sequence[tuple[int, int, int, str]],
    ) -> None:
        """Takes the runs of the wanted round."""

    def evaluation_json(self, notes: str) -> str:
        """Ends the race. The result is JSON with the `document` and the `overview` of the evaluation."""
