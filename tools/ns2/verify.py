"""Runs the scenarios of ns-2's validation suites, and compares packet by packet with ns-2's outputs.

    python tools/ns2/verify.py                   every case; exit code 1 if one that ran does not match
    python tools/ns2/verify.py onedrop_sack      one case
    python tools/ns2/verify.py --write           renew the table of docs/verify.md

The outputs are those that Debian's package `ns2-examples` installs. A case of `tcpVariants` matches if the
same packets and ACKs pass the slow link in the same order, the same packets are dropped, and no time differs
by more than one transmission. A case of `aimd` matches if the window takes the same values, within 0.001, at
the same times, within one transmission.
"""

import argparse
import dataclasses
import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars

import reference
from ackclock import _core
from reference import Packets, Point, Transfer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "verify.md"
TABLE = ("<!-- verified -->", "<!-- end of verified -->")
RECOVERY = {"Tahoe": "tahoe", "Reno": "reno", "Newreno": "newreno", "Sack1": "sack"}
# Senders of the suite that ackclock does not have.
OTHER_SENDERS = {"full": "two-way TCP", "fack": "FACK", "sackRH": "rate-halving"}
WINDOW_TOLERANCE = 1e-3
VERDICTS = ("matched", "explained", "not matched", "not run")
# A case with ns-2's partial_ack_ is explained if what differs is a packet that ns-2 sends twice.
REPEATED = (
    "ns-2 sends this packet twice in a row: new data that a partial ACK sends do not count as sent. "
    "NextSeg of RFC 6675 §4 sends nothing again that is not lost; up to there all is the same"
)

# Cases of aimd that differ by a known rule: with this many more packets of the second flow lost behind its
# last drop, which is what ns-2's rule amounts to, they must match.
EXPLAINED = {
    "tcpB": (
        10,
        "the last packet of the second flow is dropped when its application has just stopped; ns-2 sends "
        "nothing any more, ackclock sends it again at the timeout, as RFC 6298 §5.4 says. Without that "
        "packet the case matches",
    ),
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a case: `verdict` is matched, explained, not matched or not run."""

    suite: str
    name: str
    verdict: str
    remark: str = ""


# ---- tcpVariants ----

# test-suite-tcpVariants.tcl, Topology/net4: 8 Mbit/s and no delay, then 800 kbit/s, 100 ms, a queue of 8. In
# ns-2 the packet that arrives counts, so 7 wait.
SLOW = {"bits_per_s": 800_000, "delay_s": 0.1}
DATA_BYTES, ACK_BYTES = 1040, 40
DATA_TIME = DATA_BYTES * 8 / SLOW["bits_per_s"]
# One-way TCP of ns-2 sends packet 0 as a SYN at 1 s: a header each way. The connection is open behind it.
OPEN_AT = "1200880 us"
# When ns-2 stops writing, in seconds.
END = 6.0


def variants_scenario(sender: str, drops: list[int], options: dict[str, Any]) -> dict[str, Any]:
    """The scenario of a case; packet n of ns-2 is our n-th, since its 0 is the SYN."""
    access = {"rate": "8 Mbit/s", "delay": "0 s", "queue": {"kind": "drop-tail", "limit": "49 packets"}}
    slow_queue = {"kind": "drop-tail", "limit": "7 packets"}
    return {
        "schema": 1,
        # Long enough for all that set out by END to arrive.
        "duration": "7 s",
        "sampling": {"interval": "none", "packets": True},
        "links": {
            "access": {
                **access,
                # In ns-2 the drops are in front of the slow link's queue.
                "loss": {"kind": "scripted", "packets": drops},
                "reverse": {**access, "loss": {"kind": "none"}},
            },
            "slow": {
                "rate": "800 kbit/s",
                "delay": "100 ms",
                "queue": slow_queue,
                "reverse": {"queue": slow_queue},
            },
        },
        "flows": [
            {
                "name": "tcp",
                "cc": {"kind": "aimd"},
                "recovery": RECOVERY[sender],
                "path": ["access", "slow"],
                "start": OPEN_AT,
                "profile": "ns-2",
                # newreno_changes1_ 0, partial_window_deflation_ 0
                "partial_ack": "reset",
                "mss": "1000 B",
                "header": "40 B",
                "max_window": 28,
                "min_rto": "1 s",
                **options,
                # TCPSink/Sack1 goes with TCP/Sack1 alone.
                "peer_sack": sender == "Sack1",
            }
        ],
    }


def run(scenario: dict[str, Any]) -> polars.DataFrame:
    """Every packet of a run."""
    compiled = _core.Scenario.from_json(json.dumps(scenario), source="verify")
    frame = polars.DataFrame(compiled.run().packets)
    return frame.with_columns(polars.col("link", "flow", "event").cast(polars.String))


def ours(packets: polars.DataFrame) -> Transfer:
    """A run of ours in ns-2's form: packets are numbered from 1, and ACKs name the last packet received."""

    def points(link: str, event: str, earlier: float, first: int) -> list[Point]:
        rows = packets.filter(polars.col("link") == link, polars.col("event") == event).select(
            "time_ns", "seq"
        )
        moved = ((time / 1e9 - earlier, seq // 1000 + first) for time, seq in rows.iter_rows())
        return [Point(time, number % reference.MODULUS) for time, number in moved if time <= END]

    def queue(link: str, sending: float, first: int) -> Packets:
        departures = points(link, "leave", SLOW["delay_s"] + sending, first)
        return Packets(points(link, "enter", 0.0, first), departures)

    ack_time = ACK_BYTES * 8 / SLOW["bits_per_s"]
    drops = points("access", "lose", 0.0, 1) + points("slow", "drop", 0.0, 1)
    return Transfer(
        queue("slow", DATA_TIME, 1),
        queue("slow.reverse", ack_time, 0),
        sorted(drops, key=lambda drop: drop.time),
    )


@dataclasses.dataclass(frozen=True)
class Difference:
    """Where two lists differ first, and how."""

    position: int
    words: str


def difference(theirs: Sequence[Point], mine: Sequence[Point], what: str) -> Difference | None:
    """The first difference."""
    for position, (their, our) in enumerate(zip(theirs, mine, strict=False)):
        if their.number != our.number or abs(their.time - our.time) > DATA_TIME:
            in_ns2, in_ackclock = (f"{point.number} at {point.time:.5f} s" for point in (their, our))
            return Difference(position, f"{what} {position}: ns-2 has {in_ns2}, ackclock {in_ackclock}")
    common = min(len(theirs), len(mine))
    # A point may fall on either side of the end.
    if any(point.time <= END - DATA_TIME for point in (*theirs[common:], *mine[common:])):
        return Difference(common, f"{what}: {len(theirs)} in ns-2, {len(mine)} in ackclock")
    return None


def sent_twice(packets: Sequence[Point], position: int) -> bool:
    """True if the packet at `position` is the one before it once more."""
    return 0 < position < len(packets) and packets[position].number == packets[position - 1].number


def compare_variants(name: str, script: dict[str, tuple[str, list[int]]]) -> Outcome:
    """One case of tcpVariants."""
    suite = "tcpVariants"
    for ending, what in OTHER_SENDERS.items():
        if name.endswith(f"_{ending}"):
            return Outcome(suite, name, "not run", f"{what} is not in ackclock")
    sender, drops = script[name.replace("_SA_", "_").replace("_partial_ack_", "_")]
    theirs = reference.transfer(suite, name)
    pairs = "_partial_ack_" in name
    options: dict[str, Any] = {"limited_transmit": "_SA_" in name}
    if pairs:
        options["sack_sender"] = "pair-on-partial-ack"
    mine = ours(run(variants_scenario(sender, drops, options)))
    # Their first packet and ACK are the SYN's.
    for theirs_part, our_part, what in (
        (theirs.data.arrivals[1:], mine.data.arrivals, "packet"),
        (theirs.drops, mine.drops, "drop"),
        (theirs.data.departures[1:], mine.data.departures, "departure"),
        (theirs.acks.arrivals[1:], mine.acks.arrivals, "ACK"),
        (theirs.acks.departures[1:], mine.acks.departures, "departure of ACK"),
    ):
        if found := difference(theirs_part, our_part, what):
            if pairs and what == "packet" and sent_twice(theirs_part, found.position):
                return Outcome(suite, name, "explained", f"{found.words}: {REPEATED}")
            return Outcome(suite, name, "not matched", found.words)
    return Outcome(suite, name, "matched", f"{len(mine.data.arrivals)} packets, {len(mine.drops)} drops")


# ---- aimd ----

# One transmission of 1000 B at 1.5 Mbit/s. ns-2 prints five digits of a time: rounding may add one.
AIMD_TIME = 1000 * 8 / 1_500_000 + 1e-5
AIMD_TICK_S = 0.1
# The second flow's first link. Where packets of both flows reach the slow link at one time, ns-2 takes first
# what was sent first: what comes over this link, which is longer. ackclock goes by names; this one does it.
SECOND = "second"
ENDINGS = {"tahoe": "tahoe", "reno": "reno", "newreno": "newreno"}


@dataclasses.dataclass(frozen=True)
class AimdCase:
    """What a case of test-suite-aimd.tcl sets."""

    increase: float
    remaining: float
    recovery: str
    precise: bool
    # Whether the losses are scripted; else RED drops, and a second flow comes from 10 to 15 s.
    scripted: bool

    @classmethod
    def named(cls, name: str) -> "AimdCase":
        """The case; its name says what it sets."""
        laws = {"tcpA": (0.41, 0.75), "tcpB": (1.0, 0.875), "A": (0.41, 0.75)}
        first, *words = name.split("_")
        scripted = first.startswith("ssthresh")
        law = laws["A"] if scripted and name.endswith("A") else laws.get(first, (1.0, 0.5))
        recovery = next((ENDINGS[word] for word in words if word in ENDINGS), "sack")
        return cls(*law, recovery, "precise" in words, scripted)


def aimd_scenario(case: AimdCase, drops: Sequence[Sequence[int]], clocks: Sequence[float]) -> dict[str, Any]:
    """The scenario of a case.

    `drops` are those of each flow, in front of the slow link, counted from 1; `clocks` says how far clocks
    are ahead, in seconds.
    """
    edge = {"rate": "10 Mbit/s", "queue": {"kind": "drop-tail", "limit": "49 packets"}}

    def end(delay: str, losses: Sequence[int] = ()) -> dict[str, Any]:
        loss = {"kind": "scripted", "packets": list(losses)} if losses else {"kind": "none"}
        return {
            **edge,
            "delay": delay,
            "loss": loss,
            "reverse": {"loss": {"kind": "none"}, "queue": edge["queue"]},
        }

    # RED in ns-2, whose drops are scripted here. It is first in, first out.
    slow_queue = {"kind": "drop-tail", "limit": "49 packets"}
    slow = {"rate": "1.5 Mbit/s", "delay": "5 ms", "queue": slow_queue, "reverse": {"queue": slow_queue}}
    tcp = {
        "cc": {"kind": "aimd", "increase": case.increase, "remaining": case.remaining},
        "recovery": case.recovery,
        "profile": "ns-2",
        "cut_window": "capped" if case.precise else "whole",
        "partial_ack": "deflate",
        "mss": "960 B",
        "header": "40 B",
        "initial_window": 1,
        "max_window": 8 if case.scripted else 20,
        # minrto_ 0, tcpTick_ 0.1, rtxcur_init_ 6
        "min_rto": "1 ns",
        "clock_tick": f"{AIMD_TICK_S} s",
        "initial_rto": "6 s",
        "limited_transmit": False,
        "peer_sack": case.recovery == "sack",
    }
    links = {"first0": end("2 ms", drops[0]), "slow": slow, "last0": end("4 ms")}
    stop = "1999 ms" if case.scripted else "19999 ms"
    offsets = [f"{round(clock * 1e9)} ns" for clock in clocks]
    path = ["first0", "slow", "last0"]
    flows = [{**tcp, "name": "tcp0", "path": path, "stop": stop, "clock_offset": offsets[0]}]
    if not case.scripted:
        links |= {SECOND: end("3 ms", drops[1]), "last1": end("5 ms")}
        path = [SECOND, "slow", "last1"]
        times = {"start": "10 s", "stop": "15 s"}
        flows.append({**tcp, "name": "tcp1", "path": path, **times, "clock_offset": offsets[1]})
    return {
        "schema": 1,
        "duration": "2 s" if case.scripted else "20 s",
        "sampling": {"interval": "none", "packets": True},
        "links": links,
        "flows": flows,
    }


def compare_aimd(name: str) -> Outcome:
    """One case of aimd."""
    if name.startswith("binomial"):
        return Outcome("aimd", name, "not run", "the binomial family is not in ackclock")
    if name not in reference.tests("test-suite-aimd.tcl"):
        return Outcome("aimd", name, "not run", "an output without a test in the suite")
    case = AimdCase.named(name)
    if shutil.which("ns") is None:
        return Outcome("aimd", name, "not run", "ns-2, whose run tells what is dropped, is not installed")
    drops = reference.drops_of_flows("test-suite-aimd.tcl", name, flows=2)
    found, changes = compare_windows(name, case, drops)
    if not found:
        losses = f"{sum(map(len, drops))} drops"
        return Outcome("aimd", name, "matched", f"{changes} changes of the window, {losses}")
    if name in EXPLAINED:
        more, rule = EXPLAINED[name]
        last = drops[1][-1]
        drops[1].extend(range(last + 1, last + 1 + more))
        if not compare_windows(name, case, drops)[0]:
            return Outcome("aimd", name, "explained", f"{found}: {rule}")
    return Outcome("aimd", name, "not matched", found)


def compare_windows(name: str, case: AimdCase, drops: Sequence[Sequence[int]]) -> tuple[str, int]:
    """The first difference in words, empty if there is none, and how often the window changes."""
    theirs = reference.windows("aimd", name)
    clocks = reference.clock_offsets(1 if case.scripted else 2, AIMD_TICK_S)
    packets = run(aimd_scenario(case, drops, clocks)).filter(
        polars.col("event") == "window", polars.col("flow") == "tcp0"
    )
    mine = [(time / 1e9, cwnd) for time, cwnd in packets.select("time_ns", "cwnd_segments").iter_rows()]
    for position, (their, our) in enumerate(zip(theirs, mine, strict=False)):
        if abs(their[1] - our[1]) > WINDOW_TOLERANCE or abs(their[0] - our[0]) > AIMD_TIME:
            in_ns2, in_ackclock = (f"{cwnd:.3f} at {time:.5f} s" for time, cwnd in (their, our))
            return f"change {position}: ns-2 has {in_ns2}, ackclock {in_ackclock}", len(mine)
    if len(theirs) != len(mine):
        return f"{len(theirs)} changes in ns-2, {len(mine)} in ackclock", len(mine)
    return "", len(mine)


# ---- the table ----


def outcomes(chosen: Sequence[str]) -> Iterable[Outcome]:
    """Every case, or those chosen."""
    script = reference.scripted_drops("test-suite-tcpVariants.tcl")
    for name in reference.names("tcpVariants"):
        if not chosen or name in chosen:
            yield compare_variants(name, script)
    for name in reference.names("aimd"):
        if not chosen or name in chosen:
            yield compare_aimd(name)


def table(results: Sequence[Outcome]) -> str:
    """The results in Markdown: counts, the cases that ran, and why others did not."""
    lines = []
    for suite in dict.fromkeys(result.suite for result in results):
        verdicts = [result.verdict for result in results if result.suite == suite]
        counts = (f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in verdicts)
        lines.append(f"- `{suite}`: {len(verdicts)} outputs; {', '.join(counts)}.")
    idle: dict[tuple[str, str], list[str]] = {}
    for result in results:
        if result.verdict == "not run":
            idle.setdefault((result.suite, result.remark), []).append(f"`{result.name}`")
    if idle:
        lines += ["", "Not run:", ""]
        lines += [f"- {remark}: {', '.join(cases)}." for (_, remark), cases in idle.items()]
    lines += ["", "| suite | case | result | |", "|---|---|---|---|"]
    for result in results:
        if result.verdict != "not run":
            lines.append(f"| {result.suite} | {result.name} | {result.verdict} | {result.remark} |")
    return "\n".join(lines)


def main() -> int:
    """Compares, prints, and says by the exit code whether all is well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", help="names of cases; all by default")
    parser.add_argument("--write", action="store_true", help="renew the table of docs/verify.md")
    options = parser.parse_args()
    try:
        results = list(outcomes(options.cases))
    except reference.ReferenceMissing as missing:
        print(missing, file=sys.stderr)
        return 2
    print(table(results))
    if options.write:
        before, _, rest = PAGE.read_text().partition(TABLE[0])
        after = rest.partition(TABLE[1])[2]
        PAGE.write_text(f"{before}{TABLE[0]}\n\n{table(results)}\n\n{TABLE[1]}{after}")
    return 1 if any(result.verdict == "not matched" for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
