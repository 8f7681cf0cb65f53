"""Random scenarios that are short and valid, with many simultaneous events.

Times are often round, and rates often divide them, so several events happen at the same time.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

Tree = dict[str, Any]

#: At 12 Mbit/s a packet of 1500 B takes 1 ms.
RATES = ("600 kbit/s", "1.2 Mbit/s", "2 Mbit/s", "3 Mbit/s", "5 Mbit/s", "7.7 Mbit/s", "12 Mbit/s")
#: Slower than most of these rates, so a queue builds up before the link.
SLOW_RATES = ("400 kbit/s", "1 Mbit/s", "2.5 Mbit/s", "10 Mbit/s")
#: ACKs of 40 B wait for one another.
ACK_RATES = ("16 kbit/s", "50 kbit/s", "100 kbit/s")
DELAYS = ("0 s", "1 ms", "3 ms", "10 ms", "12.345678 ms", "20 ms")
ALGORITHMS = (
    "aimd", "aiad", "mimd", "aimd-fc", "aimd-fc+", "new-aimd", "mr-aimd", "cubic", "reno", "aild",
)  # fmt: skip


def random_scenario(seed: int) -> Tree:
    """The scenario of a seed, every packet traced."""
    tree = _Draw(random.Random(seed)).scenario(seed)
    # From a generator of its own, so that scenarios are otherwise what they are without meters.
    _change_delay(tree, random.Random(f"delay {seed}"))
    return _with_meter(tree, random.Random(f"meter {seed}"))


def _change_delay(tree: Tree, rng: random.Random) -> None:
    """Sometimes let the delay of a link change, with an outage."""
    link = tree["topology"] if "topology" in tree else rng.choice(list(tree["links"].values()))
    if rng.random() < 0.2:
        link["delay_varies"] = {
            "kind": rng.choice(("steps", "linear")),
            "times": ["0 s", "200 ms", "500 ms"],
            "delays": rng.choice((["20 ms", "90 ms", "30 ms"], ["70 ms", "20 ms", "70 ms"])),
        } | ({"repeat": "700 ms"} if rng.random() < 0.5 else {})
    if rng.random() < 0.15:
        link["outages"] = {"times": ["300 ms"], "length": "50 ms", "repeat": "900 ms"}


def _with_meter(tree: Tree, rng: random.Random) -> Tree:
    """The scenario, in some cases with a meter on the path of some flows."""
    link = rng.choice(rng.choice(tree["flows"])["path"])
    crossing = [flow for flow in tree["flows"] if link in flow["path"] and rng.random() < 0.8]
    if rng.random() < 0.6 or not crossing:
        return tree
    meter = {
        "link": link,
        "committed_rate": rng.choice(("300 kbit/s", "1 Mbit/s", "1.2 Mbit/s")),
        "committed_burst": rng.choice(("3 kB", "15 kB", "100 B")),
        "per": rng.choice(("aggregate", "flow")),
        "colour": rng.choice(("blind", "aware")),
        "red": rng.choice(("drop", "drop", "out")),
    }
    if rng.random() < 0.5:
        meter |= {"kind": "srtcm", "excess_burst": rng.choice(("0 B", "6 kB"))}
    else:
        meter |= {"kind": "trtcm", "peak_rate": rng.choice(("1.2 Mbit/s", "2 Mbit/s")), "peak_burst": "9 kB"}
    for flow in crossing:
        flow["meter"] = "meter"
    return tree | {"meters": {"meter": meter}}


def with_events_at_the_edges(tree: Tree, events: Mapping[str, Sequence[int]]) -> Tree:
    """The scenario with a window that begins and ends at the very times of two of its events.

    `events` has the times of each kind of event, in nanoseconds. Kinds are drawn first, as some are rare.
    """
    rng = random.Random(tree["seed"])
    end_ns = int(tree["duration"].removesuffix(" ms")) * 1_000_000
    early, late = (
        [found for times in events.values() if (found := [time for time in times if low <= time < high])]
        for low, high in ((0, 0.7 * end_ns), (0.9 * end_ns, end_ns))
    )
    times = {
        key: f"{rng.choice(rng.choice(kinds))} ns"
        for key, kinds in (("warmup", early), ("duration", late))
        if kinds
    }
    return tree | times


class _Draw:
    """Draws the parts of a scenario."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def happens(self, probability: float) -> bool:
        return self.rng.random() < probability

    def scenario(self, seed: int) -> Tree:
        duration_ms = self.rng.choice((500, 1000, 1500, 2000, 2500))
        warmup_ms = self.rng.choice((0, 0, 1, 200, 250, 400, duration_ms - 1))
        self.duration_ms, self.warmup = duration_ms, f"{warmup_ms} ms"
        starts = ("0 s", "0 s", "1 ns", "37 ms", {"uniform": ["0 s", f"{duration_ms // 2} ms"]})
        self.starts = (*starts, self.warmup) if warmup_ms <= 400 else starts
        network, self.paths = self.rng.choice((self.dumbbell, self.dumbbell, self.parking_lot, self.chain))()
        flows = self.datagrams_alone() if self.happens(0.03) else self.flows()
        return {
            "schema": 1,
            "name": f"evidence-{seed}",
            "seed": seed,
            "duration": f"{duration_ms} ms",
            "warmup": self.warmup,
            "transport": self.transport(network),
            "sampling": {"packets": True},
            **network,
            "flows": flows,
        }

    def dumbbell(self) -> tuple[Tree, list[list[str]]]:
        topology = {"kind": "dumbbell", **self.link(), "reverse": self.reverse(), **self.access()}
        return {"topology": topology}, [["bottleneck"]] * 4 + [["bottleneck.reverse"]]

    def parking_lot(self) -> tuple[Tree, list[list[str]]]:
        hops = self.rng.randint(2, 3)
        topology = {
            "kind": "parking-lot", "hops": hops, **self.link(), "reverse": self.reverse(), **self.access(),
        }  # fmt: skip
        whole = [f"hop{number}" for number in range(1, hops + 1)]
        return {"topology": topology}, [whole, whole, *([hop] for hop in whole)]

    def chain(self) -> tuple[Tree, list[list[str]]]:
        """Links of different rates, one of them maybe a pure delay."""
        links = {f"l{number}": {**self.link(), "reverse": self.reverse()} for number in range(3)}
        if self.happens(0.4):
            links["l1"] = {"delay": self.rng.choice(DELAYS), **self.impairments(0.5)}
        whole = list(links)
        return {"links": links}, [whole, whole, whole[1:], whole[:2], ["l2.reverse", "l1.reverse"]]

    def link(self) -> Tree:
        rate = self.rng.choice(RATES)
        link = {
            "rate": rate,
            "delay": self.rng.choice(DELAYS),
            "queue": self.queue(),
            **self.impairments(0.35),
        }
        return link | self.variation(rate, 0.2)

    def reverse(self) -> Tree:
        reverse = {"delay": self.rng.choice(DELAYS), **self.impairments(0.2)}
        if self.happens(0.4):
            reverse["rate"] = rate = self.rng.choice(ACK_RATES if self.happens(0.6) else RATES)
            reverse["queue"] = {"kind": "drop-tail", "limit": self.rng.choice(("4 packets", "30 packets"))}
            reverse |= self.variation(rate, 0.2)
        return reverse

    def access(self) -> Tree:
        if self.happens(0.4):
            return {}
        access = {"delay": self.rng.choice(DELAYS), **self.impairments(0.2)}
        if self.happens(0.7):
            access["rate"] = self.rng.choice(SLOW_RATES)
            access["queue"] = (
                self.queue() if self.happens(0.3) else {"kind": "drop-tail", "limit": "12 packets"}
            )
        return {"access": access}

    def queue(self) -> Tree:
        limit = f"{self.rng.randint(4, 50)} packets"
        thresholds = {"min": "1 packet", "max": "4 packets", "limit": f"{self.rng.randint(8, 40)} packets"}
        return self.rng.choice(
            (
                {"kind": "drop-tail", "limit": limit},
                {"kind": "drop-tail", "limit": f"{self.rng.randint(10_000, 60_000)} B"},
                {"kind": "red", **thresholds, "ecn": self.happens(0.7), "weight": 0.1},
                {
                    "kind": "red",
                    **thresholds,
                    "ecn": True,
                    "hard_drop": False,
                    "gentle": False,
                    "max_p": 0.3,
                    "weight": 0.05,
                },
                {"kind": "drr", "limit": limit},
                {"kind": "sfq", "limit": limit, "perturbation": self.rng.choice(("0 s", "300 ms"))},
                {"kind": "rio", "limit": "40 packets", "out_min": "2 packets", "out_max": "8 packets"},
            )
        )

    def impairments(self, probability: float) -> Tree:
        """Impairments behind a queue, each with its own probability."""
        if not self.happens(probability):
            return {}
        some: Tree = {}
        if self.happens(0.6):
            some["loss"] = self.loss()
        if self.happens(0.3):
            some |= {"jitter": self.rng.choice(("500 us", "4 ms")), "jitter_reorders": self.happens(0.5)}
        if self.happens(0.2):
            some["reordering"] = {"probability": 0.05, "delay": self.rng.choice(("2 ms", "15 ms"))}
        if self.happens(0.3):
            some["duplication"] = 0.03
        if self.happens(0.3):
            some["corruption"] = 0.02
        return some

    def loss(self) -> Tree:
        numbers = sorted(self.rng.sample(range(1, 200), 12))
        return self.rng.choice(
            (
                {"kind": "bernoulli", "probability": 0.03},
                {"kind": "bit-errors", "probability": 3e-6},
                {"kind": "gilbert-elliott", "p": 0.01, "r": 0.3},
                {"kind": "periodic", "period": 37},
                {"kind": "scripted", "packets": numbers[::3], "marked_packets": numbers[1::3]},
                {
                    "kind": "scripted", "packets": numbers[::3],
                    "late_packets": numbers[2::3], "late_by": "8 ms",
                },
            )
        )  # fmt: skip

    def variation(self, rate: str, probability: float) -> Tree:
        if not self.happens(probability):
            return {}
        low = self.rng.choice(("0 bit/s", "8 kbit/s", "16 kbit/s"))
        steps = {"kind": "steps", "times": ["0 s", "300 ms", "333 ms"], "rates": [rate, low, rate]}
        return {
            "varies": self.rng.choice(
                (
                    {"kind": "square", "high": rate, "low": low, "interval": "150 ms"},
                    steps,
                    {**steps, "repeat": "700 ms"},
                    {"kind": "random", "high": rate, "low": low, "step": "70 ms"},
                )
            )
        }

    def transport(self, network: Tree) -> Tree:
        some = {
            "delayed_ack": self.rng.choice((False, True, "40 ms")),
            "timestamps": self.happens(0.3),
            "framing": self.rng.choice(("0 B", "38 B")),
            "initial_window": self.rng.choice((1, 2, 10)),
            "mss": self.rng.choice(("1460 B", "536 B")),
            "min_rto": self.rng.choice(("200 ms", "30 ms")),
        }
        has_jitter = "jitter" in network.get("topology", {}).get("access", {})
        if not has_jitter and self.happens(0.15):
            some["send_jitter"] = "1 ms"
        return some

    def flows(self) -> list[Tree]:
        kinds = ("bulk", "bulk", "bulk", "transfer", "rate-limited", "web", "arrivals", "datagrams")
        drawn = ["bulk", *(self.rng.choice(kinds) for _ in range(self.rng.randint(0, 4)))]
        return [self.flow(f"f{number}", kind) for number, kind in enumerate(drawn)]

    def datagrams_alone(self) -> list[Tree]:
        return [self.flow(f"f{number}", "datagrams") for number in range(2)]

    def flow(self, name: str, kind: str) -> Tree:
        flow: Tree = {
            "name": name,
            "path": self.rng.choice(self.paths),
            "start": self.rng.choice(self.starts),
        }
        if self.happens(0.2):
            flow["rtt"] = self.rng.choice(("400 ms", {"uniform": ["300 ms", "500 ms"]}))
        if self.happens(0.15):
            flow["stop"] = f"{self.duration_ms - 50} ms"
        if self.happens(0.3):
            flow["in_profile"] = True
        if kind == "datagrams":
            return flow | {"traffic": self.datagrams()}
        flow["cc"] = self.rng.choice(ALGORITHMS)
        flow["recovery"] = self.rng.choice(("tahoe", "reno", "newreno", "sack", "sack"))
        flow["ecn"] = self.rng.choice(("off", "classic", "accecn"))
        if self.happens(0.2):
            flow["count"] = 2
        if kind == "arrivals":
            flow["count"] = self.rng.randint(1, 6)
        return flow | {"traffic": self.application(kind)}

    def application(self, kind: str) -> Tree:
        size: Any = self.rng.choice(("1 B", "14.6 kB", "30 kB", "100 kB"))
        mean: Any = {"kind": "pareto", "mean": "12 kB", "shape": 1.3}
        traffic: dict[str, Tree] = {
            "transfer": {"size": size},
            "rate-limited": {"rate": self.rng.choice(("200 kbit/s", "1.168 Mbit/s"))},
            "web": {"think": self.rng.choice(("20 ms", "100 ms")), "response": self.rng.choice((size, mean))},
            "arrivals": {"every": self.rng.choice(("40 ms", "150 ms")), "size": mean},
        }
        return {"kind": kind, **traffic.get(kind, {})}

    def datagrams(self) -> Tree:
        return self.rng.choice(
            (
                {"kind": "cbr", "rate": "800 kbit/s"},
                {"kind": "cbr", "rate": "500 kbit/s", "packet": "250 B", "spacing": "exponential"},
                {
                    "kind": "on-off", "rate": "1.5 Mbit/s",
                    "on": {"kind": "exponential", "mean": "50 ms"}, "off": "100 ms",
                },
                {"kind": "rtp", "rate": "640 kbit/s", "packet": "400 B", "deadline": "40 ms"},
            )
        )  # fmt: skip
