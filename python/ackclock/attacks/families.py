"""Families of networks: settings with realistic bounds, and the scenario that they describe.

Every network begins as the same one: a flow under test on a link of 20 Mbit/s. Its base RTT is 40 ms, and
its buffer is one BDP. A family changes a part of the network. An absent setting changes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.errors import ArgumentValueError
from ackclock.text.suggest import hint
from ackclock.tuning.space import Axis

#: Settings by name. An absent setting changes nothing.
Values = Mapping[str, float]
#: A scenario as a tree of keys.
Tree = dict[str, Any]

#: The groups of flows under test.
UNDER_TEST = ("test", "test-late")
DURATION_S, WARMUP_S = 30.0, 5.0
RATE_MBIT, RTT_MS, BUFFER_BDP = 20.0, 40.0, 1.0
#: The largest mean rate of cross traffic, in percent of the rate of the link.
MOST_CROSS = 30.0
#: The time between two steps of a capacity, and the least share of the rate that a step leaves.
STEP_S, LEAST_CAPACITY = 4.0, 0.1
#: The largest change of a step: percent of the rate, and a factor.
ADDITIVE, MULTIPLICATIVE = 30.0, 2.0
STEPS = 6
LOSSES = 6


@dataclass(frozen=True)
class Setting:
    """A number of a network, with its bounds."""

    axis: Axis
    unit: str
    #: The setting in a sentence, with `{}` for its value and unit.
    phrase: str
    #: The value of the absent setting. None if it then has no effect.
    default: float | None = None
    #: The setting without which the default has no effect.
    needs: str = ""

    @property
    def name(self) -> str:
        """The name in reports and in `--json`."""
        return self.axis.name

    def text(self, value: float) -> str:
        """Return the setting in words, such as "a buffer of 2 BDP"."""
        return self.phrase.format(f"{value:g} {self.unit}".rstrip())


@dataclass(frozen=True)
class Family:
    """Settings that change one part of the network."""

    name: str
    title: str
    settings: tuple[Setting, ...]
    #: Changes the scenario. It gets the settings that are present, and the defaults of others.
    apply: Callable[[Tree, Values], None]
    #: The objectives that need the flows of this family. Without any, the family fits all objectives.
    objectives: tuple[str, ...] = ()

    def filled(self, values: Values) -> dict[str, float]:
        """Return the settings of this family that are present, and the defaults of others.

        A family without an effect has none.
        """
        own = {each.name: values[each.name] for each in self.settings if each.name in values}
        # The flows of an objective are in every network.
        if not own and not self.objectives:
            return {}
        return {
            each.name: value
            for each in self.settings
            if each.name in own or not each.needs or each.needs in own
            if (value := own.get(each.name, each.default)) is not None
        }


def _setting(
    name: str,
    low: float,
    high: float,
    unit: str,
    phrase: str,
    *,
    default: float | None = None,
    needs: str = "",
    whole: bool = False,
) -> Setting:
    return Setting(Axis(name, low, high, whole), unit, phrase, default, needs)


def _ms(value: float) -> str:
    return f"{value:g} ms"


def _s(value: float) -> str:
    return f"{value:g} s"


def _rate(tree: Tree) -> float:
    """Return the rate of the link in Mbit/s."""
    return float(tree["topology"]["rate"].split()[0])


def _mbit(value: float) -> str:
    return f"{value:.4g} Mbit/s"


def _path(tree: Tree, values: Values) -> None:
    topology = tree["topology"]
    if "rate" in values:
        topology["rate"] = _mbit(values["rate"])
    if "rtt" in values:
        topology["delay"] = _ms(values["rtt"] / 2)
    if "buffer" in values:
        topology["queue"] = {"kind": "drop-tail", "limit": f"{values['buffer']:g} BDP"}


def _square(tree: Tree, values: Values) -> None:
    if "low" in values:
        rate = _rate(tree)
        tree["topology"]["varies"] = {
            "kind": "square",
            "high": _mbit(rate),
            "low": _mbit(rate * values["low"] / 100),
            "interval": _s(values["interval"]),
        }


def _steps(tree: Tree, values: Values, following: Callable[[float, float], float]) -> None:
    """Let the capacity change every `STEP_S` seconds.

    `following` gives a share of the rate from the last share and a setting.
    """
    shares = [1.0]
    for number in range(1, STEPS + 1):
        name = next((each for each in values if each.endswith(f"-{number}")), None)
        share = shares[-1] if name is None else following(shares[-1], values[name])
        shares.append(min(max(share, LEAST_CAPACITY), 1.0))
    if len(set(shares)) > 1:
        rate = _rate(tree)
        tree["topology"]["varies"] = {
            "kind": "steps",
            "times": [_s(number * STEP_S) for number in range(len(shares))],
            "rates": [_mbit(rate * share) for share in shares],
        }


def _additive(tree: Tree, values: Values) -> None:
    _steps(tree, values, lambda share, change: share + change / 100)


def _multiplicative(tree: Tree, values: Values) -> None:
    _steps(tree, values, lambda share, factor: share * factor)


def _losses(tree: Tree, values: Values) -> None:
    gaps = [values[name] for name in (f"gap-{number}" for number in range(1, LOSSES + 1)) if name in values]
    if gaps:
        packets = [int(each) for each in itertools.accumulate(gaps)]
        tree["topology"]["loss"] = {"kind": "scripted", "packets": packets}


def _delay(tree: Tree, values: Values) -> None:
    topology = tree["topology"]
    if "jitter" in values:
        topology["jitter"] = _ms(values["jitter"])
    if "delay-step" in values:
        delay = float(topology["delay"].split()[0])
        every = values["delay-every"]
        topology["delay_varies"] = {
            "kind": "steps",
            "times": ["0 s", _s(every)],
            "delays": [_ms(delay), _ms(delay + values["delay-step"])],
            "repeat": _s(2 * every),
        }


def _bursts(tree: Tree, values: Values) -> None:
    if "load" not in values:
        return
    period, size = values["period"], values["burst-rate"]
    burst = min(values["load"] / size, 0.95) * period
    tree["flows"].append(
        {
            "name": "bursts",
            "traffic": {
                "kind": "on-off",
                "rate": _mbit(size * _rate(tree) / 100),
                "on": _s(float(f"{burst:.3g}")),
                "off": _s(float(f"{period - burst:.3g}")),
            },
        }
    )


def _red(tree: Tree, values: Values) -> None:
    if "red-least" in values:
        least = values["red-least"]
        tree["topology"]["queue"] = {
            "kind": "red",
            "limit": "4 BDP",
            "min": f"{least:g} BDP",
            "max": f"{least * values['red-span']:.3g} BDP",
            "max_p": values["red-probability"] / 100,
        }


def _codel(tree: Tree, values: Values) -> None:
    if values:
        target, interval = values["target"], values["codel-interval"]
        tree["topology"]["queue"] = {"kind": "codel", "target": _ms(target), "interval": _ms(interval)}


def _acks(tree: Tree, values: Values) -> None:
    reverse: Tree = {}
    if "thinning" in values:
        reverse["ack_thinning"] = int(values["thinning"])
    if "ack-loss" in values:
        reverse["loss"] = {"kind": "bernoulli", "probability": values["ack-loss"] / 100}
    if "ack-bursts" in values:
        reverse["aggregation"] = {"every": _ms(values["ack-bursts"])}
    if "ack-jitter" in values:
        reverse["jitter"] = _ms(values["ack-jitter"])
    if reverse:
        tree["topology"]["reverse"] = reverse


def _late(tree: Tree, values: Values) -> None:
    late = {"name": "test-late", "cc": tree["flows"][0]["cc"], "start": _s(values["late-start"])}
    _add_flows(tree, late, values.get("late-rtt"))


def _competitors(tree: Tree, values: Values) -> None:
    other: Tree = {"name": "competitor", "cc": "cubic", "start": _s(values["competitor-start"])}
    if "competitors" in values:
        other["count"] = int(values["competitors"])
    _add_flows(tree, other, values.get("competitor-rtt"))


def _add_flows(tree: Tree, flows: Tree, rtt_ms: float | None) -> None:
    """Add flows with a base RTT, by default the RTT of the path."""
    topology, first = tree["topology"], tree["flows"][0]
    path_ms = 2 * float(topology["delay"].split()[0])
    if rtt_ms is not None:
        flows["rtt"] = _ms(rtt_ms)
        # The RTT of a flow cannot be below the RTT of the path, so the path becomes shorter.
        if rtt_ms < path_ms:
            topology["delay"], first["rtt"] = _ms(rtt_ms / 2), _ms(path_ms)
    tree["flows"].append(flows)


def _application(tree: Tree, values: Values) -> None:
    tree["flows"][0]["traffic"] = {
        "kind": "web",
        "think": _s(values["pause"]),
        "response": f"{values['answer']:g} kB",
    }


_NUMBERED = range(1, STEPS + 1)

#: All families, in the order of lists and of the search.
FAMILIES: tuple[Family, ...] = (
    Family(
        "path",
        "Rate, RTT and buffer",
        (
            _setting("rate", 1, 100, "Mbit/s", "a rate of {}"),
            _setting("rtt", 5, 300, "ms", "a base RTT of {}"),
            _setting("buffer", 0.05, 16, "BDP", "a buffer of {}"),
        ),
        _path,
    ),
    Family(
        "square",
        "Capacity that alternates",
        (
            _setting("low", 5, 95, "% of the rate", "a capacity that falls to {}"),
            _setting("interval", 0.1, 10, "s", "{} at each capacity", default=DURATION_S / 2, needs="low"),
        ),
        _square,
    ),
    Family(
        "additive",
        f"Capacity that moves by up to {ADDITIVE:g} % of the rate every {STEP_S:g} s (Karp et al.)",
        tuple(
            _setting(
                f"change-{each}",
                -ADDITIVE,
                ADDITIVE,
                "% of the rate",
                f"a change of capacity by {{}} at {each * STEP_S:g} s",
            )
            for each in _NUMBERED
        ),
        _additive,
    ),
    Family(
        "multiplicative",
        f"Capacity that moves by a factor of up to {MULTIPLICATIVE:g} every {STEP_S:g} s (Karp et al.)",
        tuple(
            _setting(
                f"factor-{each}",
                1 / MULTIPLICATIVE,
                MULTIPLICATIVE,
                "times",
                f"{{}} the capacity from {each * STEP_S:g} s on",
            )
            for each in _NUMBERED
        ),
        _multiplicative,
    ),
    Family(
        "losses",
        f"Up to {LOSSES} lost packets",
        tuple(
            _setting(f"gap-{each}", 1, 5000, "packets", "a loss after {} more", whole=True)
            for each in range(1, LOSSES + 1)
        ),
        _losses,
    ),
    Family(
        "delay",
        "Jitter, and a delay that alternates",
        (
            _setting("jitter", 0.1, 50, "ms", "jitter of {}"),
            _setting("delay-step", 1, 200, "ms", "a delay that rises by {}"),
            _setting(
                "delay-every", 0.1, 10, "s", "{} at each delay", default=DURATION_S / 2, needs="delay-step"
            ),
        ),
        _delay,
    ),
    Family(
        "bursts",
        f"Bursts of cross traffic, up to {MOST_CROSS:g} % of the link on average",
        (
            _setting("period", 0.05, 5, "s", "bursts of cross traffic every {}", default=1.0, needs="load"),
            _setting("load", 2, MOST_CROSS, "% of the rate", "cross traffic of {} on average"),
            _setting("burst-rate", 20, 300, "% of the rate", "bursts at {}", default=100.0, needs="load"),
        ),
        _bursts,
    ),
    Family(
        "red",
        "RED with other parameters",
        (
            _setting("red-least", 0.02, 1, "BDP", "RED with a lower threshold of {}"),
            _setting(
                "red-span",
                1.1,
                4,
                "times",
                "an upper threshold of {} the lower one",
                default=3.0,
                needs="red-least",
            ),
            _setting(
                "red-probability", 1, 100, "%", "a drop probability of {}", default=10.0, needs="red-least"
            ),
        ),
        _red,
    ),
    Family(
        "codel",
        "CoDel with other parameters",
        (
            _setting("target", 0.5, 50, "ms", "CoDel with a target of {}", default=5.0),
            _setting("codel-interval", 10, 500, "ms", "an interval of {}", default=100.0),
        ),
        _codel,
    ),
    Family(
        "acks",
        "A path of ACKs that loses, delays or batches them",
        (
            _setting("thinning", 2, 64, "ACKs", "one kept of {}", whole=True),
            _setting("ack-loss", 0.1, 50, "%", "{} of the ACKs lost"),
            _setting("ack-bursts", 1, 50, "ms", "ACKs in bursts every {}"),
            _setting("ack-jitter", 0.1, 50, "ms", "jitter of ACKs of {}"),
        ),
        _acks,
    ),
    Family(
        "late",
        "A second flow of the same algorithm that starts late",
        (
            _setting("late-start", 0.5, 15, "s", "a second flow that starts at {}", default=1.0),
            _setting("late-rtt", 10, 200, "ms", "a second flow with a base RTT of {}"),
        ),
        _late,
        ("fairness",),
    ),
    Family(
        "competitors",
        "CUBIC flows that start at another time, with another RTT",
        (
            _setting("competitor-start", 0.5, 15, "s", "CUBIC flows that start at {}", default=1.0),
            _setting("competitor-rtt", 10, 200, "ms", "CUBIC flows with a base RTT of {}"),
            _setting("competitors", 1, 8, "flows", "{} of CUBIC", whole=True),
        ),
        _competitors,
        ("share",),
    ),
    Family(
        "application",
        "Answers of an application, with pauses",
        (
            _setting("pause", 0.05, 5, "s", "pauses of {}", default=1.0),
            _setting("answer", 10, 5000, "kB", "answers of {}", default=1000.0),
        ),
        _application,
        ("completion-time",),
    ),
)
NAMES = tuple(family.name for family in FAMILIES)


def families_of(names: Iterable[str], objective: str) -> tuple[Family, ...]:
    """Return families by name, or all that fit an objective. Raises `ArgumentValueError`."""
    wanted = list(names)
    for name in wanted:
        if name not in NAMES:
            raise ArgumentValueError("family", f"no family is called {name!r}; {hint(name, NAMES)}")
        if wanted.count(name) > 1:
            raise ArgumentValueError("family", f"{name}: is given twice")
    needed = [family.name for family in FAMILIES if objective in family.objectives]
    if not wanted:
        return tuple(family for family in FAMILIES if not family.objectives or objective in family.objectives)
    if needed and not set(needed) & set(wanted):
        raise ArgumentValueError(
            "family", f"the objective {objective} needs the flows of the family {' or '.join(needed)}"
        )
    return tuple(family for family in FAMILIES if family.name in wanted)


def context_of(objective: str) -> tuple[Family, ...]:
    """Return the families whose flows an objective needs in every network."""
    return tuple(family for family in FAMILIES if objective in family.objectives)


def ordered(families: Iterable[Family]) -> tuple[Family, ...]:
    """Return families once each, in the order of `FAMILIES`."""
    chosen = set(families)
    return tuple(family for family in FAMILIES if family in chosen)


def tree_of(families: Sequence[Family], values: Values, *, duration_s: float = DURATION_S) -> Tree:
    """Return the scenario of a network, without the algorithm under test."""
    tree: Tree = {
        "schema": 2,
        "name": "network",
        "duration": _s(duration_s),
        "warmup": _s(min(WARMUP_S, duration_s / 4)),
        "replicates": {"rtt": 0.05, "rate": 0.02},
        "topology": {
            "kind": "dumbbell",
            "rate": _mbit(RATE_MBIT),
            "delay": _ms(RTT_MS / 2),
            "queue": {"kind": "drop-tail", "limit": f"{BUFFER_BDP:g} BDP"},
        },
        "transport": {"send_jitter": "1 packet"},
        "flows": [{"name": "test", "cc": "cubic"}],
    }
    for family in families:
        family.apply(tree, family.filled(values))
    return tree
