"""Runs a TCP flow over a bottleneck in ns-3.44 and in ackclock, and compares their congestion controls.

    python tools/ns3/senders.py                        Reno, CUBIC and BBRv1 on six paths, 15 minutes
    python tools/ns3/senders.py cubic "10 Mbit/s"      cases with all of these words
    python tools/ns3/senders.py --write                renew rows of docs/validation/ns3.md

Both sides use the same segments, queue, losses, initial window, delayed ACKs, minimum timeout, SACK and
PRR. Only the phases of BBR's cycles are random. Each case runs under several sets of rules of ns-3. The tool
prints the values of ns-3, the difference of ackclock and a verdict. The verdict is `inside` if these measures
are within their bounds, and `outside` otherwise:

    goodput           2 %
    cwnd              mean over time; Reno and CUBIC: 5 %
    queueing delay    mean; BBR: 10 %

The first set of rules is unchanged ns-3. Each further set replaces one more rule by the standard's or
Linux's. senders.cc and docs/validation/ns3.md explain the rules. The exit code is 1 if a case is outside with
all rules replaced, and 77 without ns-3.44.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import ns3_program
from ackclock import _core

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = HERE / "senders.cc"
PROGRAM = ROOT / "target" / "ns3" / "senders"
MODULES = ("applications", "internet", "point-to-point", "network", "core")
PAGE = ROOT / "docs" / "validation" / "ns3.md"
TABLE = ("<!-- senders -->", "<!-- end of senders -->")

WORKERS = 2
WARMUP_S = 20
END_S = 80
PACKET = 1500
#: Runs of a path with losses.
OFFSETS = 8
Measures = dict[str, float]


@dataclass(frozen=True)
class Rules:
    """Rules of ns-3: its own congestion control or one of senders.cc, and attributes.

    `transport` contains keys of ackclock for the same rules.
    """

    name: str
    tcp: str
    attributes: tuple[str, ...] = ()
    transport: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Score:
    """A measure. Its bound is relative to ns-3's value, and a measure without a bound is not judged."""

    name: str
    key: str
    unit: float
    bound: float | None


@dataclass(frozen=True)
class Control:
    """A congestion control on both sides, and bounds of its mean window or queueing delay."""

    name: str
    cc: dict[str, Any]
    rules: tuple[Rules, ...]
    cwnd: float | None = None
    delay: float | None = None
    transport: dict[str, Any] = field(default_factory=dict)

    @property
    def scores(self) -> tuple[Score, ...]:
        """The compared measures."""
        return (
            Score("goodput, Mbit/s", "goodput_bps", 1e6, 0.02),
            Score("cwnd, segments", "cwnd_mean_segments", 1, self.cwnd),
            Score("queueing delay, ms", "queue_delay_mean_s", 1e-3, self.delay),
        )


@dataclass(frozen=True)
class Link:
    """A bottleneck. With a loss period every n-th packet is lost, and the first loss has an offset."""

    rate_mbps: int
    rtt_ms: int
    queue_bdp: float
    loss_period: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """The words that name the link."""
        loss = f"1 in {self.loss_period}" if self.loss_period else "none"
        return (f"{self.rate_mbps} Mbit/s", f"{self.rtt_ms} ms", f"{self.queue_bdp:g} BDP", loss)

    @property
    def offsets(self) -> tuple[int, ...]:
        """The number of packets by which the first loss is earlier, for each run."""
        return (
            tuple(part * self.loss_period // OFFSETS for part in range(OFFSETS)) if self.loss_period else (0,)
        )

    @property
    def packets(self) -> int:
        """The queue limit."""
        return round(self.queue_bdp * self.rate_mbps * self.rtt_ms * 1000 / 8 / PACKET)


ONCE = "ns3::TcpL4Protocol::RecoveryType=Prr"
#: The minimum timeout of RFC 6298 instead of 200 ms.
SECOND = "ns3::TcpSocketBase::MinRto=1s"
CONTROLS = (
    Control(
        "reno",
        {"kind": "reno"},
        (
            Rules("unchanged", "ns3::TcpLinuxReno"),
            Rules("PRR as RFC 9937", "ns3::TcpLinuxReno", (ONCE,)),
            Rules("+ no growth at the end of recovery", "Reno", (ONCE,)),
            Rules("+ minimum RTO 1 s", "Reno", (ONCE, SECOND)),
        ),
        cwnd=0.05,
    ),
    Control(
        "cubic",
        {"kind": "cubic"},
        (
            Rules("unchanged", "ns3::TcpCubic"),
            Rules("PRR as RFC 9937", "ns3::TcpCubic", (ONCE,)),
            Rules("+ no growth at the end of recovery", "Cubic", (ONCE,)),
            Rules("+ minimum RTO 1 s", "Cubic", (ONCE, SECOND)),
            Rules(
                "+ no HyStart on both sides",
                "Cubic",
                (ONCE, SECOND, "ns3::TcpCubic::HyStart=false"),
                {"slow_start": "standard"},
            ),
        ),
        cwnd=0.05,
        transport={"slow_start": "linux"},
    ),
    Control(
        "bbr1",
        {"kind": "bbr1", "max_tso_segs": 1},
        (
            Rules("unchanged", "ns3::TcpBbr"),
            Rules("rate sample per ACK", "Bbr", ("Bbr::Smaller=false", "Bbr::WholeSegments=false")),
            Rules("+ only smaller RTTs renew the minimum", "Bbr", ("Bbr::WholeSegments=false",)),
            Rules("+ whole segments", "Bbr"),
        ),
        delay=0.1,
    ),
)
LINKS = (
    Link(10, 20, 0.5),
    Link(10, 40, 1),
    Link(10, 100, 2),
    Link(20, 40, 1),
    Link(20, 40, 2, 3000),
    Link(20, 100, 0.5, 10000),
)


def in_ns3(rules: Rules, link: Link, offset: int) -> Measures:
    """Run ns-3 and return its measures."""
    numbers = (
        link.rate_mbps * 10**6,
        link.rtt_ms * 10**6,
        link.packets,
        link.loss_period,
        offset,
        WARMUP_S * 10**9,
        END_S * 10**9,
    )
    command = [str(PROGRAM), rules.tcp, *map(str, numbers), *rules.attributes]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    words = (word.split("=") for word in done.stdout.split())
    return {key: float(value) for key, value in words}


def scenario(control: Control, rules: Rules, link: Link, offset: int = 0) -> _core.Scenario:
    """The same in ackclock."""
    period = link.loss_period
    loss = {"loss": {"kind": "periodic", "period": period, "offset": offset}} if period else {}
    tree = {
        "schema": 1,
        "duration": f"{END_S} s",
        "warmup": f"{WARMUP_S} s",
        "topology": {
            "kind": "dumbbell",
            "rate": f"{link.rate_mbps} Mbit/s",
            "delay": f"{link.rtt_ms * 500} us",
            "queue": {"kind": "drop-tail", "limit": f"{link.packets} packets"},
            **loss,
        },
        "sampling": {"interval": "none"},
        "transport": {
            "initial_window": 10,
            "byte_counting": "uncapped",
            "delayed_ack": "40 ms",
            "prr": True,
            "timeout_ssthresh": "rule",
            **control.transport,
            **rules.transport,
        },
        "flows": [{"name": "test", "cc": control.cc, "recovery": "sack"}],
    }
    return _core.Scenario.from_json(json.dumps(tree))


def in_ackclock(control: Control, rules: Rules, link: Link, offset: int) -> Measures:
    """Run ackclock and return its measures."""
    run = json.loads(scenario(control, rules, link, offset).run().to_json())
    bottleneck = next(row for row in run["links"] if row["name"] == "bottleneck")
    flow = run["flows"][0]
    return {
        "goodput_bps": flow["goodput_bps"],
        "cwnd_mean_segments": flow["cwnd_mean_segments"],
        "queue_delay_mean_s": bottleneck["queue_delay_mean_s"],
        "drops": bottleneck["drops"],
        "forwarded": bottleneck["forwarded"],
    }


def mean(runs: Sequence[Future[Measures]]) -> Measures:
    """The mean of each measure over runs."""
    results = [run.result() for run in runs]
    return {key: fmean(result[key] for result in results) for key in results[0]}


def judged(control: Control, theirs: Measures, ours: Measures) -> tuple[list[str], bool]:
    """The cells of a row, and whether each judged measure is within its bound."""
    cells, inside = [], True
    for score in control.scores:
        first = theirs[score.key]
        difference = ours[score.key] / first - 1
        cells.append(f"{first / score.unit:.4g} ({100 * difference:+.1f} %)")
        inside &= score.bound is None or abs(difference) <= score.bound
    return cells, inside


def compare(cases: Sequence[tuple[Control, Link]]) -> tuple[list[str], dict[str, int]]:
    """Run cases on both sides, print each row at once, and count the cases of each verdict."""
    lines: list[str] = []
    counts = {"unchanged": 0, "switched": 0, "outside": 0}
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        for control, link in cases:
            # Rules with the same keys of ackclock share its runs.
            ours = {
                str(rules.transport): [
                    pool.submit(in_ackclock, control, rules, link, offset) for offset in link.offsets
                ]
                for rules in {str(each.transport): each for each in control.rules}.values()
            }
            theirs = [
                [pool.submit(in_ns3, rules, link, offset) for offset in link.offsets]
                for rules in control.rules
            ]
            verdicts = []
            for rules, runs in zip(control.rules, theirs, strict=True):
                cells, inside = judged(control, mean(runs), mean(ours[str(rules.transport)]))
                verdicts.append(inside)
                verdict = "inside" if inside else "outside"
                lines.append(line([control.name, *link.words, rules.name, *cells, verdict]))
                print(lines[-1], flush=True)
            counts["unchanged" if verdicts[0] else "switched" if verdicts[-1] else "outside"] += 1
    return lines, counts


def line(cells: Sequence[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def header() -> list[str]:
    """The first two lines of the table."""
    names = [score.name for score in CONTROLS[0].scores]
    columns = ["control", "rate", "RTT", "queue", "loss", "rules of ns-3", *names, "verdict"]
    return [line(columns), line(["---"] * len(columns))]


def written(page: str, lines: Sequence[str]) -> str:
    """The page with these rows instead of the rows of the same cases. Other rows stay."""
    begin, end = TABLE
    before, _, rest = page.partition(begin)
    table, _, after = rest.partition(end)
    starts = [
        line([control.name, *link.words, rules.name]).removesuffix("|")
        for control in CONTROLS
        for link in LINKS
        for rules in control.rules
    ]
    # A later row replaces an earlier one.
    found = {start: row for row in [*table.splitlines(), *lines] for start in starts if row.startswith(start)}
    rows = [found[start] for start in starts if start in found]
    return "\n".join([before + begin, "", *header(), *rows, "", end + after])


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the chosen cases."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("words", nargs="*", help="words of a case. Default: all cases")
    parser.add_argument("--install", action="store_true", help="install ns-3.44 and compile the program only")
    parser.add_argument("--write", action="store_true", help="renew rows of docs/validation/ns3.md")
    options = parser.parse_intermixed_args(arguments)
    cases = [
        (control, link)
        for control in CONTROLS
        for link in LINKS
        if {*options.words} <= {control.name, *link.words}
    ]
    if not cases:
        parser.error(f"no case has all of these words: {' '.join(options.words)}")
    problem = ns3_program.compiled_with_wheel(SOURCE, PROGRAM, MODULES)
    if problem is not None:
        print(f"senders: skipped, ns-3.44: {problem}")
        return 77
    if options.install:
        return 0
    print(*header(), sep="\n")
    lines, counts = compare(cases)
    if options.write:
        PAGE.write_text(written(PAGE.read_text(), lines))
    print(
        f"{len(cases)} cases: {counts['unchanged']} inside with ns-3 unchanged, "
        f"{counts['switched']} with replaced rules, {counts['outside']} outside",
        file=sys.stderr,
    )
    return 1 if counts["outside"] else 0


if __name__ == "__main__":
    sys.exit(main())
