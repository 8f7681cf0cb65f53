"""Compares the simulator with a Linux kernel, and writes the table of docs/validation/linux.md.

    python tools/linux/validate.py                       all configurations and episodes, in virtual time
    python tools/linux/validate.py --write               also write the results that the documentation shows
    python tools/linux/validate.py --quick --only reno   configurations with such names, a few recoveries each
    python tools/linux/validate.py --long                also those with runs of more than two minutes
    python tools/linux/validate.py --real-time           the running kernel, an hour, as root

One flow crosses a dumbbell. The simulator runs the sender of `profile = "linux"`. The kernel runs in virtual
time, or in real time in the emulator, behind the same links and queues. A configuration contains 30
recoveries, in runs of about 15 seconds. On a shared machine, stalls invalidate most longer runs in real time.
A run begins after its third recovery and after 100 round trips. The simulation determines that time. Each run
is simulated ten times, and runs three times in virtual time. The sender delays each packet at random by up to
one transmission, which prevents phase effects.

    goodput                                           within 1 %
    mean cwnd, samples of both at the same instants   within 5 %
    recoveries per minute, as a ratio                 within 15 %
    min RTT                                           within 1 ms

Goodput, cwnd and min RTT are means of the runs. Recoveries per minute come from the times between
recoveries. A measure is inside, outside or undecided. Undecided means that random variation (95 %) explains
the excess over the bound. The variation comes from the scatter of runs, or from the scatter of times
between recoveries. In virtual time an undecided row runs 2, 4, 8 and 16 times as often, until it is decided.
An invalid emulation is repeated. A configuration is invalid if three times as many emulations
contain too few valid runs. Retransmissions and BBR are reported, and not judged. The episodes of
`episodes.py` compare slow start, reordering, many losses, undo, marks and transfers.

The exit code is 1 if a measure is outside, and 77 where the kernel cannot run.
"""

import argparse
import io
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import polars

import emulations
import episodes
from ackclock.errors import AckclockError
from ackclock.running.job import Job, execute
from ackclock.running.work import Study
from cells import CELLS, LONG, Cell

RESULTS = Path(__file__).with_name("results.json")
EPISODE_RESULTS = Path(__file__).with_name("episodes.json")
#: Recoveries before a configuration begins, and in it.
FIRST, COUNTED = 3, 30
QUICK_COUNTED = 4
#: Round trips that a run waits and lasts at least.
SETTLED_ROUNDS = 100
#: Seconds of a configuration, of a quick one, and of a long one.
MOST_S, MOST_QUICK_S, MOST_LONG_S = 120.0, 12.0, 3600.0
#: The approximate seconds of a run.
RUN_S = 15.0
#: The smallest number of runs of a configuration, unless it is a quick one.
LEAST_RUNS = 3
#: Simulations of each run.
REPLICATES = 10
#: Emulations of an episode.
EPISODE_RUNS = 3
#: Multiples of the runs of a row, the next one while its verdict is undecided.
MULTIPLES = (1, 2, 4, 8, 16)
MINUTES = 45.0
#: Reasons that a row names.
MOST_FAULTS = 3
MBIT = 1e6


@dataclass(frozen=True)
class Reading:
    """The figures of a run between its warm-up and its end."""

    goodput_bps: float
    cwnd_segments: float
    #: Seconds between recoveries.
    gaps: tuple[float, ...]
    rtt_min_s: float
    retransmits: int
    #: The reasons why the run is invalid.
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Measure:
    """A figure of both sides, and the verdict."""

    name: str
    simulated: float
    linux: float
    #: The deviation in the unit of the bound, the bound, and the random part of the deviation.
    deviation: float
    bound: float
    scatter: float

    @property
    def verdict(self) -> str:
        """Inside, undecided or outside."""
        return emulations.verdict(self.deviation, self.bound, self.scatter)


def entries(samples: bytes) -> list[float]:
    """Return the times at which recoveries began, seconds."""
    frame = polars.read_parquet(io.BytesIO(samples)).select("time_ns", "phase")
    found, was = [], False
    for time_ns, phase in frame.iter_rows():
        recovers = phase == "fast-recovery"
        if recovers and not was:
            found.append(1e-9 * time_ns)
        was = recovers
    return found


def read(job: Job, warmup_s: float) -> Reading:
    """Run a job and read its result."""
    outcome = execute(job)
    assert outcome.flow_samples is not None, "samples were asked for"
    document = json.loads(outcome.result_json)
    (flow,) = document["flows"]
    frame = polars.read_parquet(io.BytesIO(outcome.flow_samples)).filter(
        polars.col("time_ns") >= 1e9 * warmup_s
    )
    times = [at for at in entries(outcome.flow_samples) if at >= warmup_s]
    window = frame["cwnd_segments"].mean()
    assert isinstance(window, float), "there are samples after the warm-up"
    return Reading(
        goodput_bps=flow["goodput_bps"],
        cwnd_segments=window,
        gaps=tuple(after - before for before, after in pairwise(times)),
        rtt_min_s=flow["rtt_min_s"],
        retransmits=flow["retransmits"],
        faults=tuple(document.get("emulation", {}).get("reasons", ())),
    )


def times_of(cell: Cell, *, counted: int, most_s: float) -> tuple[float, float, int]:
    """Return warm-up and end of the runs of a configuration, and their number, from its simulation."""
    job = Study.of(cell.scenario(0.0, 2 * most_s), samples=True).jobs[0]
    samples = execute(job).flow_samples
    assert samples is not None, "samples were asked for"
    begins = entries(samples)
    # What follows slow start has recoveries of its own.
    settled_s = SETTLED_ROUNDS * 1e-3 * cell.rtt_ms
    warmup_s = max(begins[FIRST - 1] if len(begins) >= FIRST else most_s / 4, settled_s)
    after = [at for at in begins if at >= warmup_s][: counted + 1]
    length_s = min(after[-1] - after[0], most_s) if len(after) > 1 else most_s
    runs = max(LEAST_RUNS if counted == COUNTED else 1, round(length_s / RUN_S))
    per_run = math.ceil(counted / runs)
    last = after[min(per_run, len(after) - 1)] + 0.1 if len(after) > 1 else warmup_s + length_s / runs
    return warmup_s, max(min(last, warmup_s + most_s), warmup_s + settled_s), runs


def measures(simulated: Sequence[Reading], linux: Sequence[Reading]) -> Iterator[Measure]:
    """Compare emulations with simulations."""

    def scatter(values: Sequence[float]) -> float:
        """Of the mean, as a part of it."""
        if len(values) < 2:
            return 0.0
        return statistics.stdev(values) / math.sqrt(len(values)) / abs(statistics.fmean(values))

    def compared(
        name: str, of: Callable[[Reading], Sequence[float]], bound: float, *, inverse: bool
    ) -> Measure:
        both = [[value for reading in side for value in of(reading)] for side in (simulated, linux)]
        here, there = (
            1 / statistics.fmean(values) if inverse else statistics.fmean(values) for values in both
        )
        random = emulations.SIGMAS * math.hypot(*map(scatter, both))
        return Measure(name, here, there, there / here - 1, bound, random)

    yield compared("goodput", lambda reading: [reading.goodput_bps], 0.01, inverse=False)
    yield compared("cwnd", lambda reading: [reading.cwnd_segments], 0.05, inverse=False)
    if all(any(reading.gaps for reading in side) for side in (simulated, linux)):
        yield compared("recoveries", lambda reading: reading.gaps, 0.15, inverse=True)
    here, there = (statistics.fmean(reading.rtt_min_s for reading in side) for side in (simulated, linux))
    yield Measure("min RTT", here, there, 1e3 * (there - here), 1.0, 0.0)


def decided(row_of: Callable[..., dict[str, Any]], backend: emulations.Backend) -> dict[str, Any]:
    """Return the row of the first of `MULTIPLES` that decides it. Runs in real time are not multiplied."""
    for multiple in MULTIPLES:
        row = row_of(multiple=multiple)
        if row["verdict"] != "undecided" or not backend.is_virtual:
            break
    return row


def compare(
    cell: Cell, backend: emulations.Backend, *, multiple: int, counted: int, most_s: float, deadline: float
) -> dict[str, Any]:
    """Return the row of a configuration with a multiple of its runs."""
    warmup_s, end_s, runs = times_of(cell, counted=counted, most_s=most_s)
    runs *= multiple
    scenario = cell.scenario(warmup_s, end_s)
    study = Study.of(scenario, samples=True, replicates=REPLICATES * runs)
    simulated = [read(job, warmup_s) for job in study.jobs]
    wanted = backend.wanted(runs)
    before_deadline = takewhile(
        lambda _: time.monotonic() + end_s < deadline, backend.jobs(scenario, runs, samples=True)
    )
    valid, refused = emulations.until_valid((read(job, warmup_s) for job in before_deadline), wanted)
    is_valid = len(valid) == wanted
    linux = valid if is_valid else valid + refused
    found = list(measures(simulated, linux))
    verdicts = {measure.verdict for measure in found}
    worst = next(verdict for verdict in ("outside", "undecided", "inside") if verdict in verdicts)
    verdict = "reported" if not cell.is_judged else worst
    return {
        "cell": cell.name,
        "seconds": round(end_s - warmup_s, 1),
        "runs": wanted,
        "refused": len(refused),
        "verdict": verdict if is_valid else "invalid",
        "faults": sorted({fault for reading in refused for fault in reading.faults})[:MOST_FAULTS],
        "retransmits": [
            round(statistics.fmean(reading.retransmits for reading in side), 1) for side in (simulated, linux)
        ],
        "measures": [{**asdict(measure), "verdict": measure.verdict} for measure in found],
    }


def line(row: Mapping[str, Any]) -> str:
    """Return a row as the line of a table in Markdown."""
    if row["verdict"] == emulations.NOT_MEASURED:
        return emulations.unmeasured(row["cell"], len(HEADINGS))
    by_name = {measure["name"]: measure for measure in row["measures"]}

    def cell(name: str, factor: float, digits: int) -> str:
        measure = by_name.get(name)
        if measure is None:
            return "-"
        both = f"{factor * measure['simulated']:.{digits}f}, {factor * measure['linux']:.{digits}f}"
        more = (
            f"{measure['deviation']:+.1f} ms" if name == "min RTT" else f"{100 * measure['deviation']:+.1f} %"
        )
        mark = "" if measure["verdict"] == "inside" else f", {measure['verdict']}"
        return f"{both} ({more}{mark})"

    cells = (
        row["cell"],
        emulations.runs_of(row),
        cell("goodput", 1 / MBIT, 3),
        cell("cwnd", 1, 1),
        cell("recoveries", 60, 1),
        cell("min RTT", 1e3, 1),
        "{}, {}".format(*row["retransmits"]),
        row["verdict"] + (f": {'; '.join(row['faults'])}" if row["verdict"] == "invalid" else ""),
    )
    return f"| {' | '.join(cells)} |"


HEADINGS = (
    "configuration",
    "runs",
    "goodput, Mbit/s",
    "mean cwnd, segments",
    "recoveries per minute",
    "min RTT, ms",
    "retransmits in a run",
    "verdict",
)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of the documentation."""
    return "\n".join([*emulations.head(HEADINGS), *map(line, rows)])


def compare_episode(
    episode: episodes.Episode, backend: emulations.Backend, *, multiple: int, is_quick: bool
) -> dict[str, Any]:
    """Return the row of an episode with a multiple of its runs."""
    replicates, runs = (1, 1) if is_quick else (multiple * REPLICATES, multiple * EPISODE_RUNS)
    scenario = episode.scenario()
    return episodes.compare(
        episode,
        Study.of(scenario, samples=True, replicates=replicates).jobs,
        backend.jobs(scenario, runs, samples=True),
        backend.wanted(runs),
    )


def main() -> int:
    """Compare, print and write, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", action="append", default=[], help="part of the name of a configuration; may be repeated"
    )
    parser.add_argument("--quick", action="store_true", help="a few recoveries, in 12 seconds at most")
    parser.add_argument("--long", action="store_true", help="also configurations that take up to an hour")
    emulations.add_backend(parser)
    parser.add_argument(
        "--write", action="store_true", help=f"write {RESULTS.name}, which the documentation shows"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the configurations")
    given = parser.parse_args()
    cells = [
        cell
        for cell in (*CELLS, *(LONG if given.long else ()))
        if emulations.is_chosen(cell.name, given.only)
    ]
    chosen = [each for each in episodes.EPISODES if emulations.is_chosen(each.title, given.only)]
    names = [cell.name for cell in cells] + [each.title for each in chosen]
    if given.list or not names:
        print(
            "\n".join(names or [*(cell.name for cell in CELLS), *(each.title for each in episodes.EPISODES)])
        )
        return 0 if given.list else 2
    if given.write and given.quick:
        parser.error("--write is not of quick configurations; leave out --quick")
    try:
        backend = emulations.backend_of(given)
    except AckclockError as error:
        print(f"nothing can be compared here: {error}", file=sys.stderr)
        return 77
    most_s = MOST_QUICK_S if given.quick else MOST_LONG_S if given.long else MOST_S
    counted = QUICK_COUNTED if given.quick else COUNTED
    deadline = math.inf if given.long or backend.is_virtual else time.monotonic() + 60 * MINUTES
    rows = []
    for cell in cells:
        of_cell = partial(compare, cell, backend, counted=counted, most_s=most_s, deadline=deadline)
        rows.append(decided(of_cell, backend))
        print(line(rows[-1]), flush=True)
    of_episodes = []
    for episode in chosen:
        of_episode = partial(compare_episode, episode, backend, is_quick=given.quick)
        of_episodes.append(decided(of_episode, backend))
        print(episodes.line(of_episodes[-1]), flush=True)
    print(emulations.summary([*rows, *of_episodes]))
    if given.write:
        emulations.write(RESULTS, backend.title, rows, "cell", [cell.name for cell in (*CELLS, *LONG)], table)
        titles = [each.title for each in episodes.EPISODES]
        emulations.write(EPISODE_RESULTS, backend.title, of_episodes, "cell", titles, episodes.table)
    return 1 if any(row["verdict"] == "outside" for row in (*rows, *of_episodes)) else 0


if __name__ == "__main__":
    sys.exit(main())
