"""Situations of a connection in which simulator and kernel are compared.

They are slow start, reordering, many losses, undo, marks and transfers.

`validate.py` runs them after its cells. An episode is a run of fixed length from the start of a connection.
It consists of ten simulations, and of nine runs of the kernel in virtual time or three valid emulations. Each
run has other random numbers. An episode has some of these measures, each with a bound:

    goodput               3 %, of the whole run
    mean cwnd             10 %, of samples at the same instants
    exit window           10 %, of ssthresh when it is first set, in segments
    first retransmits     25 % or 5, in the first second
    retransmits           25 % or 5, in the run
    recoveries            10 % or 1, in the run
    completion            5 %, from the start to the last byte acknowledged
"""

import io
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars

import emulations
from ackclock.running.job import Job, execute
from ackclock.scenario import Scenario

SAMPLES = "10 ms"
SECOND_NS = 10**9
SEGMENT_BYTES = 1448
#: A difference of one retransmission does not count.
FEW = 5.0


@dataclass(frozen=True)
class Measure:
    """A figure of a run, and by how much the kernel's may differ: a part of the figure, or `least`."""

    name: str
    unit: float
    digits: int
    bound: float
    least: float = 0.0


GOODPUT = Measure("goodput, Mbit/s", 1e6, 3, 0.03)
CWND = Measure("mean cwnd, segments", 1, 1, 0.1)
EXIT = Measure("exit window, segments", 1, 0, 0.1)
FIRST = Measure("first retransmits", 1, 1, 0.25, FEW)
RETRANSMITS = Measure("retransmits", 1, 1, 0.25, FEW)
RECOVERIES = Measure("recoveries", 1, 1, 0.1, 1)
COMPLETION = Measure("completion, ms", 1e-3, 1, 0.05)


@dataclass(frozen=True)
class Run:
    """The figures of a run, by the name of the measure, and why it does not count."""

    figures: Mapping[str, float]
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Episode:
    """A situation: settings of link and flow beyond rate, delay and algorithm, and its measures."""

    name: str
    cc: str
    mbit: int
    rtt_ms: int
    length_s: float
    measures: tuple[Measure, ...]
    topology: Mapping[str, Any] = field(default_factory=dict)
    flow: Mapping[str, Any] = field(default_factory=dict)
    #: The cause of a difference, where it is known.
    explained: str = ""

    @property
    def title(self) -> str:
        """The name that `--only` searches."""
        return f"{self.name}: {self.cc}, {self.mbit} Mbit/s, {self.rtt_ms} ms"

    def scenario(self) -> Scenario:
        """Return its run."""
        return Scenario.from_dict(
            {
                "schema": 2,
                "name": self.title,
                "duration": f"{self.length_s:g} s",
                "topology": {
                    "kind": "dumbbell",
                    "rate": f"{self.mbit} Mbit/s",
                    "delay": f"{self.rtt_ms / 2:g} ms",
                    "queue": {"kind": "drop-tail", "limit": "1 BDP"},
                    **self.topology,
                },
                "transport": emulations.TRANSPORT,
                "sampling": {"interval": SAMPLES},
                "flows": [emulations.flow("test", self.cc, **self.flow)],
            }
        )


def slow_start(mbit: int, rtt_ms: int, bdp: float) -> Episode:
    """The first three seconds of a connection."""
    queue = {"queue": {"kind": "drop-tail", "limit": f"{bdp:g} BDP"}}
    name = f"slow start, drop-tail {bdp:g} BDP"
    return Episode(name, "cubic", mbit, rtt_ms, 3.0, (EXIT, FIRST, GOODPUT), queue)


def transfer(cc: str, segments: int) -> Episode:
    """A transfer of so many segments."""
    return Episode(f"transfer of {segments} segments", cc, 20, 40, 3.0, (COMPLETION,), flow=_of(segments))


def lossy_transfer(name: str, segments: int, lost: Sequence[int]) -> Episode:
    """A transfer that loses the packets with these numbers, in which SYN is the first and data begin at 3."""
    loss = {"loss": {"kind": "scripted", "packets": list(lost)}}
    title = f"transfer of {segments} segments, {name} lost"
    return Episode(title, "cubic", 20, 40, 5.0, (COMPLETION, RETRANSMITS), loss, _of(segments))


def _of(segments: int) -> dict[str, Any]:
    return {"traffic": {"kind": "transfer", "size": f"{segments * SEGMENT_BYTES} B"}}


REORDERED = {"reordering": {"probability": 0.01, "delay": "5 ms"}}
JITTER = {"jitter": "10 ms", "jitter_reorders": True}
DUPLICATES = {"duplication": 0.02}
LOSSY = {"loss": {"kind": "bernoulli", "probability": 0.1}}
STEP = {"delay_varies": {"kind": "steps", "times": ["0 s", "5 s"], "delays": ["20 ms", "220 ms"]}}
MARKS = {"queue": {"kind": "codel", "ecn": True}}
ALL_MARKED = {"queue": {"kind": "codel", "ecn": True, "ce_threshold": "0 s"}}
CLASSIC = {"ecn": "classic"}
ALGORITHMS = ("cubic", "reno", "bbr1")
OF_LOSS = (GOODPUT, CWND, RETRANSMITS)
MARKED = (GOODPUT, CWND, RECOVERIES)

EPISODES = (
    *(slow_start(*path) for path in ((10, 20, 1), (10, 40, 1), (50, 40, 1), (50, 40, 0.5), (50, 150, 1))),
    Episode("1 % of packets 5 ms late", "cubic", 20, 40, 20.0, OF_LOSS, REORDERED),
    Episode("1 % of packets 5 ms late", "reno", 20, 40, 20.0, OF_LOSS, REORDERED),
    Episode("1 % of packets 5 ms late", "bbr1", 20, 40, 20.0, OF_LOSS, REORDERED),
    *(Episode("jitter of 10 ms that reorders", cc, 10, 40, 10.0, OF_LOSS, JITTER) for cc in ALGORITHMS),
    *(Episode("2 % of packets duplicated", cc, 10, 40, 10.0, OF_LOSS, DUPLICATES) for cc in ALGORITHMS),
    Episode("10 % loss", "cubic", 20, 100, 30.0, OF_LOSS, LOSSY),
    Episode("10 % loss", "bbr1", 20, 100, 20.0, OF_LOSS, LOSSY),
    Episode("200 ms more delay after 5 s", "cubic", 10, 40, 10.0, OF_LOSS, STEP),
    Episode("200 ms more delay after 5 s", "reno", 10, 40, 10.0, OF_LOSS, STEP),
    Episode("ECN, CoDel marks", "cubic", 10, 40, 15.0, (GOODPUT, CWND), MARKS, CLASSIC),
    Episode("ECN, CoDel marks", "reno", 10, 40, 15.0, (GOODPUT, CWND), MARKS, CLASSIC),
    *(
        Episode("ECN, each queued packet marked", cc, 10, 40, 10.0, MARKED, ALL_MARKED, CLASSIC)
        for cc in ("cubic", "reno")
    ),
    Episode("bulk", "cubic", 20, 40, 20.0, OF_LOSS),
    Episode("bulk", "bbr1", 20, 40, 20.0, OF_LOSS),
    Episode("bulk", "bbr1", 1, 40, 20.0, OF_LOSS),
    *(transfer(cc, segments) for cc in ("cubic", "bbr1") for segments in (10, 100, 1000)),
    lossy_transfer("SYN", 10, (1,)),
    lossy_transfer("two SYNs", 10, (1, 2)),
    lossy_transfer("last segment", 10, (12,)),
    lossy_transfer("last segment with FIN", 40, (42,)),
    lossy_transfer("segments 10 and 20", 40, (12, 22)),
)


def read(job: Job) -> Run:
    """Run a job and read its figures."""
    outcome = execute(job)
    assert outcome.flow_samples is not None, "samples were asked for"
    document = json.loads(outcome.result_json)
    (flow,) = document["flows"]
    samples = polars.read_parquet(io.BytesIO(outcome.flow_samples))
    thresholds = samples["ssthresh_segments"].drop_nulls().drop_nans()
    finite = thresholds.filter(thresholds.is_finite())
    first = samples.filter(polars.col("time_ns") <= SECOND_NS)["retransmits"].max()
    figures = {
        GOODPUT.name: flow["goodput_bps"],
        CWND.name: samples["cwnd_segments"].mean(),
        EXIT.name: finite[0] if len(finite) else None,
        FIRST.name: first,
        RETRANSMITS.name: flow["retransmits"],
        RECOVERIES.name: flow["congestion_events"],
        COMPLETION.name: flow.get("completion_time_s"),
    }
    known = {name: float(value) for name, value in figures.items() if isinstance(value, int | float)}
    return Run(known, tuple(document.get("emulation", {}).get("reasons", ())))


def judge(measure: Measure, simulated: Sequence[Run], linux: Sequence[Run]) -> dict[str, Any]:
    """Return a measure of both, and whether it is inside its bound, undecided or outside."""
    both = [[run.figures.get(measure.name) for run in side] for side in (simulated, linux)]
    known = [[value for value in side if value is not None] for side in both]
    row: dict[str, Any] = {"name": measure.name}
    if not all(known):
        # One of them never did it, such as ending slow start.
        neither = not any(known)
        return {**row, "figures": [None, None], "verdict": "inside" if neither else "outside"}
    here, there = map(statistics.fmean, known)
    bound = max(measure.bound * abs(here), measure.least)
    verdict = emulations.verdict(there - here, bound, emulations.scatter(*known))
    return {**row, "figures": [here, there], "verdict": verdict}


def compare(episode: Episode, simulated: Sequence[Job], linux: Sequence[Job], wanted: int) -> dict[str, Any]:
    """Return the row of an episode, which needs this number of valid runs of the kernel."""
    here = [read(job) for job in simulated]
    valid, refused = emulations.until_valid(map(read, linux), wanted)
    is_valid = len(valid) == wanted
    found = [judge(measure, here, valid if is_valid else valid + refused) for measure in episode.measures]
    verdicts = [each["verdict"] for each in found]
    worst = next(verdict for verdict in ("outside", "undecided", "inside") if verdict in verdicts)
    if worst == "outside" and episode.explained:
        worst = emulations.EXPLAINED
    return {
        "cell": episode.title,
        "runs": wanted,
        "seconds": episode.length_s,
        "refused": len(refused),
        "verdict": worst if is_valid else "invalid",
        "measures": found,
    }


REASONS = {each.title: each.explained for each in EPISODES}
HEADINGS = ("episode", "runs", "simulator, Linux", "verdict")
UNITS = {each.name: each for each in (GOODPUT, CWND, EXIT, FIRST, RETRANSMITS, RECOVERIES, COMPLETION)}


def line(row: Mapping[str, Any]) -> str:
    """Return a row as the line of a table in Markdown."""

    def written(found: Mapping[str, Any]) -> str:
        measure = UNITS[found["name"]]
        both = (
            "-" if each is None else f"{each / measure.unit:.{measure.digits}f}" for each in found["figures"]
        )
        mark = "" if found["verdict"] == "inside" else f" ({found['verdict']})"
        return f"{measure.name} {', '.join(both)}{mark}"

    if row["verdict"] == emulations.NOT_MEASURED:
        return emulations.unmeasured(row["cell"], len(HEADINGS))
    figures = "<br>".join(map(written, row["measures"]))
    verdict = row["verdict"]
    if verdict == emulations.EXPLAINED:
        verdict += f": {REASONS[row['cell']]}"
    return f"| {' | '.join((row['cell'], emulations.runs_of(row), figures, verdict))} |"


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of the documentation."""
    return "\n".join([*emulations.head(HEADINGS), *map(line, rows)])
