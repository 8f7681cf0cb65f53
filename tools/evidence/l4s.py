"""Compares DCTCP, Prague and DualPI2 with the equations of their papers and RFCs.

    python tools/evidence/l4s.py                     all comparisons, some minutes
    python tools/evidence/l4s.py dctcp               alpha and queue of DCTCP
    python tools/evidence/l4s.py prague              rates of Prague beside Reno and CUBIC
    python tools/evidence/l4s.py latency             queueing delay of L4S packets
    python tools/evidence/l4s.py --quick             a few configurations of each
    python tools/evidence/l4s.py --write             also write the tables into docs/validation/l4s.md

`dctcp`: one and two flows cross a queue that marks above K packets. Alizadeh et al. have a fluid model in
section 3.3 of their paper (SIGCOMM 2010). There alpha is near `sqrt(2/W*)`, with `W* = (C RTT + K)/N`. The
queue is at most `K + N`. Every packet is acknowledged.

`prague`: one flow of Prague shares a link with one of Reno or CUBIC under DualPI2. Prague's equation counts
the marks in a round trip (y). A reduction by p/2 comes with the first mark after a virtual RTT since the last
one. Then y = 2 a (1 - p) (R_v / R + 1 / y). The measured marks must agree with it.

RFC 9332, appendix C.2, predicts the ratio of rates as R_C / (1.22 R_L). R_C is 0.75 (R + target) for Reno. It
is 0.85 (R + target) for CUBIC in its Reno-friendly region. R_L is the base RTT, or at least 25 ms with RTT
independence. The RFC has y = 2, and constant probabilities. Configurations count if both windows have at
least 10 segments on average.

`latency`: the 99th percentile of the queueing delay of L4S packets at 100 Mbit/s.

A configuration of `dctcp` may differ by at most 10 %. A configuration of `prague` may differ by at most 25 %.
The delay must be below 2 ms. The table of `prague` also shows the configurations within 25 % of RFC 9332. The
exit code is 1 if any configuration is outside.
"""

import argparse
import json
import math
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars

from ackclock import _core

PAGE = Path(__file__).resolve().parents[2] / "docs" / "validation" / "l4s.md"
PACKET_BITS = 12_000
#: Round trips in flight at 1 packet per 0.1 ms, and thresholds K above a seventh of them.
DCTCP_CELLS = ((50, 10), (50, 20), (100, 20), (100, 40), (200, 40), (200, 80))
DCTCP_BOUND = 0.10
TARGET_S = 0.015
#: RFC 9332, equation (5): the constant of the square root formula.
SQUARE_ROOT = 1.22
#: RFC 9332: R_C over R + target.
SAWTOOTH = {"reno": 0.75, "cubic": 0.85}
RTT_TARGET_S = 0.025
PRAGUE_RATES = (20, 40, 100)
PRAGUE_RTTS_MS = (5, 10, 25, 50, 100)
PRAGUE_BOUND = 0.25
LEAST_WINDOW = 10
VERDICTS = {True: "inside", False: "outside", None: "not judged"}
DELAY_BOUND_MS = 2.0
LATENCY_CELLS = (("prague", 1, 0), ("prague", 1, 1), ("prague", 4, 4), ("prague", 10, 1))


@dataclass(frozen=True)
class Table:
    """The results of a comparison."""

    name: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    inside: int
    outside: int
    #: More about the configurations, after their count.
    note: str = ""

    def lines(self) -> list[str]:
        """As Markdown."""
        rule = "|" + "---|" * len(self.head)
        return [_line(self.head), rule, *map(_line, self.rows)]

    def summary(self) -> str:
        """The count of configurations."""
        return f"{self.name}: {self.inside} configurations inside, {self.outside} outside{self.note}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def scenario(tree: dict[str, Any]) -> _core.Scenario:
    """A scenario of a dumbbell."""
    return _core.Scenario.from_json(json.dumps({"schema": 1, **tree}))


def alpha_of_the_model(window: float) -> float:
    """Equation (6) of the paper: alpha^2 (1 - alpha/4) = (2 W + 1) / (W + 1)^2, by bisection."""
    goal = (2 * window + 1) / (window + 1) ** 2
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle**2 * (1 - middle / 4) < goal else (low, middle)
    return low


def dctcp(*, quick: bool) -> Table:
    """Alpha and the largest queue of DCTCP over step marking."""
    rows: list[tuple[str, ...]] = []
    inside = 0
    cells = [(bdp, k, n) for bdp, k in (DCTCP_CELLS[2:4] if quick else DCTCP_CELLS) for n in (1, 2)]
    for bdp, threshold, flows in cells:
        alpha, most = _dctcp_cell(bdp, threshold, flows)
        window = (bdp + threshold) / flows
        near, model, bound = math.sqrt(2 / window), alpha_of_the_model(window), threshold + flows
        fits = abs(alpha / near - 1) <= DCTCP_BOUND and abs(most / bound - 1) <= DCTCP_BOUND
        inside += fits
        rows.append(
            (
                f"{bdp}",
                f"{threshold}",
                f"{flows}",
                f"{alpha:.3f}",
                f"{near:.3f}",
                f"{model:.3f}",
                f"{100 * (alpha / near - 1):+.1f} %",
                f"{most}",
                f"{bound}",
                "inside" if fits else "outside",
            )
        )
    head = (
        "C RTT",
        "K",
        "N",
        "alpha",
        "sqrt(2/W*)",
        "equation 6",
        "difference",
        "largest queue",
        "K + N",
        "",
    )
    return Table("dctcp", head, rows, inside, len(rows) - inside)


def _dctcp_cell(bdp: int, threshold: int, flows: int) -> tuple[float, int]:
    """Mean alpha of all flows, and the largest queue, in steady state."""
    rate = 10_000 * PACKET_BITS
    queue = {
        "kind": "red",
        "limit": "1000 packets",
        "ecn": True,
        "min": f"{threshold - 1} packets",
        "max": f"{threshold} packets",
        "weight": 1.0,
        "max_p": 1e-9,
        "gentle": False,
        "hard_drop": False,
        "mode": "packets",
    }
    made = scenario(
        {
            "duration": "40 s",
            "warmup": "20 s",
            "topology": {
                "kind": "dumbbell",
                "rate": f"{rate} bit/s",
                "delay": f"{bdp * 50} us",
                "queue": queue,
            },
            "sampling": {"interval": "100 us"},
            "flows": [{"name": "test", "count": flows, "cc": "dctcp", "recovery": "sack"}],
        }
    )
    run = made.run()
    steady = polars.col("time_ns") >= 20 * 10**9
    samples = polars.DataFrame(run.flow_samples).filter(steady)
    links = polars.DataFrame(run.link_samples).filter(steady)
    alpha = samples["alpha"].mean()
    most = links["backlog_packets"].max()
    assert isinstance(alpha, float), "flows without samples"
    assert isinstance(most, int), "a link without samples"
    return alpha, most


def prague(*, quick: bool) -> Table:
    """Rates of Prague against Reno and CUBIC under DualPI2."""
    rates, rtts = ((40,), (10, 25)) if quick else (PRAGUE_RATES, PRAGUE_RTTS_MS)
    rows, inside, outside = [], 0, 0
    for classic in SAWTOOTH:
        for independent in (True, False):
            for rate in rates:
                for rtt in rtts:
                    row, fits = _prague_cell(classic, rate, rtt, independent=independent)
                    rows.append(row)
                    inside += fits is True
                    outside += fits is False
    head = (
        "against",
        "RTT independence",
        "rate",
        "base RTT",
        "windows",
        "marks per RTT",
        "equation",
        "difference",
        "ratio",
        "RFC 9332",
        "difference",
        "marks",
        "ratio",
    )
    ratios = [row[-1] for row in rows if row[-1] != VERDICTS[None]]
    near = ratios.count(VERDICTS[True])
    note = f". The ratio is within 25 % of RFC 9332 in {near} of {len(ratios)} configurations"
    return Table("prague", head, rows, inside, outside, note)


def _prague_cell(
    classic: str, rate: int, rtt: int, *, independent: bool
) -> tuple[tuple[str, ...], bool | None]:
    made = scenario(
        {
            "duration": "120 s",
            "warmup": "40 s",
            "topology": {
                "kind": "dumbbell",
                "rate": f"{rate} Mbit/s",
                "delay": f"{rtt * 500} us",
                "queue": {"kind": "dualpi2"},
            },
            "sampling": {"interval": "none"},
            "flows": [
                {
                    "name": "prague",
                    "cc": {"kind": "prague", "rtt_independence": independent},
                    "recovery": "sack",
                },
                {"name": classic, "cc": classic, "recovery": "sack", "start": {"uniform": ["0 s", "1 s"]}},
            ],
        }
    )
    results = [json.loads(made.run(replicate=replicate).to_json())["flows"] for replicate in range(3)]
    mine, other = (statistics.mean(flows[number]["goodput_bps"] for flows in results) for number in (0, 1))
    windows = [statistics.mean(flows[number]["cwnd_mean_segments"] for flows in results) for number in (0, 1)]
    base = rtt / 1000
    of_l4s = max(base, RTT_TARGET_S) if independent else base
    expected = SAWTOOTH[classic] * (base + TARGET_S) / (SQUARE_ROOT * of_l4s)
    ratio = mine / other
    rtt_s, marked = (
        statistics.mean(flows[0][key] / per(flows[0]) for flows in results)
        for key, per in (("rtt_mean_s", lambda _: 1), ("marks", lambda flow: flow["sent"]))
    )
    found, equation = marked * windows[0], marks_per_round(rtt_s, windows[0], independent=independent)
    counts = min(windows) >= LEAST_WINDOW
    follows = counts and (classic == "reno" or _is_reno_friendly(windows[1], base))
    fits = _within(found / equation) if counts else None
    cells = (
        "Reno" if classic == "reno" else "CUBIC",
        "yes" if independent else "no",
        f"{rate} Mbit/s",
        f"{rtt} ms",
        f"{windows[0]:.0f}, {windows[1]:.0f}",
        f"{found:.2f}",
        f"{equation:.2f}",
        f"{100 * (found / equation - 1):+.0f} %",
        f"{ratio:.2f}",
        f"{expected:.2f}",
        f"{100 * (ratio / expected - 1):+.0f} %",
        VERDICTS[fits],
        VERDICTS[_within(ratio / expected) if follows else None],
    )
    return cells, fits


def _within(quotient: float) -> bool:
    return bool(abs(quotient - 1) <= PRAGUE_BOUND)


def marks_per_round(rtt: float, window: float, *, independent: bool) -> float:
    """Marks in a round trip at equilibrium, the solution of the equation at the top."""
    virtual = max(rtt, RTT_TARGET_S) if independent else rtt
    increase = (rtt / virtual) ** 2
    low, high = 1e-6, min(100.0, window)
    for _ in range(60):
        marks = (low + high) / 2
        gain = 2 * increase * (1 - marks / window) * (virtual / rtt + 1 / marks)
        low, high = (marks, high) if gain > marks else (low, marks)
    return low


def _is_reno_friendly(window: float, base: float) -> bool:
    """Whether the equation of RFC 9438, section 5, gives a smaller mean window than Reno's."""
    rtt = SAWTOOTH["cubic"] * (base + TARGET_S)
    # Both mean windows at the loss rate at which Reno has this window: p = 1.5 / w^2.
    loss = 1.5 / window**2
    of_curve: float = (0.4 * 3.7 / (4 * 0.3)) ** 0.25 * rtt**0.75 / loss**0.75
    return of_curve <= window


def latency(*, quick: bool) -> Table:
    """The queueing delay of L4S packets at 100 Mbit/s."""
    rows: list[tuple[str, ...]] = []
    inside = 0
    for cc, flows, others in LATENCY_CELLS[:2] if quick else LATENCY_CELLS:
        delay_ms, utilization = _latency_cell(cc, flows, others)
        fits = delay_ms < DELAY_BOUND_MS
        inside += fits
        rows.append(
            (
                f"{flows}",
                f"{others}",
                f"{delay_ms:.2f} ms",
                f"{100 * utilization:.1f} %",
                "inside" if fits else "outside",
            )
        )
    head = ("flows of Prague", "flows of CUBIC", "99th percentile", "utilisation", "")
    return Table("latency", head, rows, inside, len(rows) - inside)


def _latency_cell(cc: str, flows: int, others: int) -> tuple[float, float]:
    groups = [{"name": "l4s", "count": flows, "cc": cc, "recovery": "sack"}]
    if others:
        groups.append({"name": "classic", "count": others, "cc": "cubic", "recovery": "sack"})
    made = scenario(
        {
            "duration": "40 s",
            "warmup": "30 s",
            "topology": {
                "kind": "dumbbell",
                "rate": "100 Mbit/s",
                "delay": "10 ms",
                "queue": {"kind": "dualpi2"},
            },
            "sampling": {"interval": "none", "packets": True},
            "flows": groups,
        }
    )
    run = made.run()
    text = [polars.col(name).cast(polars.String) for name in ("link", "flow", "event")]
    events = (
        polars.DataFrame(run.packets)
        .with_columns(text)
        .filter(
            polars.col("link") == "bottleneck",
            polars.col("flow").str.starts_with("l4s"),
            polars.col("time_ns") >= 30 * 10**9,
        )
    )
    came = events.filter(polars.col("event") == "enter")
    went = events.filter(polars.col("event") == "transmit")
    both = came.join(went, on=["flow", "seq"], suffix="_went")
    delay = (both["time_ns_went"] - both["time_ns"]).cast(polars.Int64).quantile(0.99, "higher")
    assert delay is not None, "L4S packets that all vanish"
    return delay / 1e6, json.loads(run.to_json())["links"][0]["utilization"]


COMPARISONS: dict[str, Callable[..., Table]] = {"dctcp": dctcp, "prague": prague, "latency": latency}


def write(tables: Sequence[Table]) -> None:
    """Replace the tables of the page."""
    text = PAGE.read_text(encoding="utf-8")
    for table in tables:
        body = "\n".join([table.summary() + ".", "", *table.lines()])
        block = f"<!-- {table.name} -->\n{body}\n<!-- end of {table.name} -->"
        text, count = re.subn(
            f"<!-- {table.name} -->.*?<!-- end of {table.name} -->",
            block.replace("\\", r"\\"),
            text,
            flags=re.S,
        )
        assert count == 1, f"the page has no table `{table.name}`"
    PAGE.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. Return 1 if a configuration is outside."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(COMPARISONS) + " (default: all)")
    parser.add_argument("--quick", action="store_true", help="a few configurations of each")
    parser.add_argument("--write", action="store_true", help="write the tables into the page")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in COMPARISONS]
    if unknown:
        parser.error(f"unknown comparison {unknown[0]!r}; expected {', '.join(COMPARISONS)}")
    tables = []
    for name in options.names or COMPARISONS:
        table = COMPARISONS[name](quick=options.quick)
        tables.append(table)
        print(*table.lines(), table.summary(), "", sep="\n", flush=True)
    if options.write:
        write(tables)
    inside, outside = sum(table.inside for table in tables), sum(table.outside for table in tables)
    print(f"{inside + outside} comparisons, {outside} not met")
    return int(outside > 0)


if __name__ == "__main__":
    sys.exit(main())
