"""A scenario from options, without a file: one bottleneck, and flows through it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from ackclock.cli.capturing import check_target, write_capture
from ackclock.cli.console import talk
from ackclock.errors import InputError, Mistake, ScenarioError
from ackclock.files.documents import as_toml_file, text_of, toml_of
from ackclock.files.labels import parts, table_of
from ackclock.metrics.quantities import number_of, part_of
from ackclock.scenario import SCHEMA, Scenario, algorithm_text

#: Defaults of the options. `docs/reference/scenario.md` explains them.
_RATE, _RTT, _QUEUE, _LIMIT, _FLOWS, _DURATION = "20 Mbit/s", "40 ms", "drop-tail", "1 BDP", "cubic", "30 s"
#: Parts of the duration: the warm-up, and the time within which several flows start.
_WARMUP_PART, _START_PART = 10, 30
#: A trace of mahimahi has opportunities of 1504 B.
_OPPORTUNITY_BITS, _LEAST_LIMIT = 1504 * 8, 10
#: The key of a file that corresponds to each option, for the message about both.
_KEYS = {
    "rate": "topology.rate",
    "trace": "topology.varies",
    "rtt": "topology.delay",
    "queue": "topology.queue.kind",
    "limit": "topology.queue.limit",
    "loss": "topology.loss.probability",
    "flows": "flows.NAME.cc",
    "duration": "duration",
}
#: Keys that mistakes are found in, the longer ones first, and the option that each comes from.
_OPTIONS = {
    "topology.queue.limit": "limit",
    **{key: option for option, key in _KEYS.items()},
    "topology.queue": "queue",
    "topology.loss": "loss",
    "warmup": "duration",
    "flows": "flows",
}
#: `cubic*2`: an algorithm and a number of flows.
_COUNTED = re.compile(r"([^=]*\S)\s*\*\s*(\d+)", re.DOTALL)
_QUANTITY = re.compile(r"([\d.]+)\s*(\D+)")
#: Characters that a name of flows may not contain.
_UNNAMED = re.compile(r"[^A-Za-z0-9_+-]+")
_LONGEST_NAME = 40

#: The file of a command that may do without it.
optional_file: Callable[[Callable[..., Any]], Callable[..., Any]] = click.argument(
    "file", required=False, type=click.Path(readable=False)
)


def shorthand_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that stand for a scenario to a command."""
    options = (
        click.option(
            "--rate", metavar="RATE", help=f"Without FILE: rate of the bottleneck. Default: {_RATE}."
        ),
        click.option("--trace", metavar="FILE", help="Without FILE: mahimahi trace, which the rate follows."),
        click.option("--rtt", metavar="TIME", help=f"Without FILE: base RTT. Default: {_RTT}."),
        click.option(
            "--queue",
            metavar="QUEUE",
            help=f"Without FILE: queue, or 'codel(target=10 ms)'. Default: {_QUEUE}.",
        ),
        click.option(
            "--limit",
            metavar="SIZE",
            help=f"Without FILE: limit of the queue. Default: {_LIMIT} for {_QUEUE}, else the queue's own.",
        ),
        click.option(
            "--loss", metavar="PART", help="Without FILE: random loss, such as 0.1%. Default: none."
        ),
        click.option(
            "--flows",
            metavar="CC,...",
            help=f"Without FILE: algorithms, such as 'cubic*2,reno,my_cc.py:MyCc'. Default: {_FLOWS}.",
        ),
        click.option("--duration", metavar="TIME", help=f"Without FILE: {_DURATION} by default."),
        click.option("--save", metavar="FILE", help="Write the scenario, or study, into this file (TOML)."),
    )
    for option in reversed(options):
        command = option(command)
    return command


class Shorthand(NamedTuple):
    """The options as they were given."""

    rate: str | None
    trace: str | None
    rtt: str | None
    queue: str | None
    limit: str | None
    loss: str | None
    flows: str | None
    duration: str | None
    save: str | None

    def scenario(self, file: str | None, sets: Iterable[str]) -> Scenario:
        """Return the scenario of the file, or else of the options. Both together are a mistake.

        Writes it where `--save` says. Raises `UsageError`, `InputError` or `ScenarioError`.
        """
        self.check(file)
        if file is None and all(value is None for value in self):
            raise click.UsageError(
                "needs a FILE, or options in its place, such as --rate 20Mbit/s --flows 'cubic*2,bbr3'"
            )
        scenario, tree = self.scenario_and_tree(file, sets)
        self.keep(lasting_tree(self.save, scenario, tree), "scenario")
        return scenario

    def scenario_and_tree(
        self, file: str | None, sets: Iterable[str]
    ) -> tuple[Scenario, Mapping[str, Any] | None]:
        """Return the scenario, and the tree of the options if there is no file."""
        self.check(file)
        if self.save is not None:
            check_target(Path(self.save), "--save")
        if file is not None:
            return Scenario.from_file(file, sets), None
        sets = tuple(sets)
        self._check_sets(sets)
        tree, words = self._tree()
        scenario = _read(tree, sets)
        talk(words)
        return scenario, tree

    def check(self, file: str | None) -> None:
        """Raise `UsageError` where there is both a file and options that stand for one."""
        given = [option for option in _KEYS if getattr(self, option) is not None]
        if file is not None and given:
            capture = "; to capture only some flows use --capture" if given[0] == "flows" else ""
            raise click.UsageError(
                f"--{given[0]} makes a scenario without a file, but there is {file}; use --set "
                f"{_KEYS[given[0]]}=VALUE{capture}"
            )

    def _check_sets(self, sets: Iterable[str]) -> None:
        """Raise `UsageError` where `--set` replaces the value of an option."""
        for key in (text.partition("=")[0].strip() for text in sets):
            for option, own in _KEYS.items():
                if getattr(self, option) is not None and (own == key or own.startswith(f"{key}.")):
                    raise click.UsageError(
                        f"--{option} reaches nothing: --set {key} replaces it. Leave one out"
                    )

    def _tree(self) -> tuple[dict[str, Any], str]:
        """Return the scenario in the form of a file, and its description. Raises `InputError`."""
        rtt, duration = self.rtt or _RTT, self.duration or _DURATION
        queue = _table("--queue", self.queue or _QUEUE)
        if self.limit is not None:
            queue["limit"] = self.limit
        elif queue.get("kind") == _QUEUE:
            queue.setdefault("limit", _LIMIT if self.trace is None else _limit_of(self.trace, rtt))
        topology: dict[str, Any] = {"kind": "dumbbell", "delay": _divided("--rtt", rtt, 2), "queue": queue}
        topology["rate"] = self.rate or _RATE
        if self.trace is not None:
            topology["varies"] = {"kind": "trace", "file": self.trace}
            topology["rate"] = self.rate or _highest_rate(self.trace)
        if self.loss is not None:
            topology["loss"] = _loss(self.loss)
        warmup = _divided("--duration", duration, _WARMUP_PART)
        flows = _groups(self.flows or _FLOWS)
        if sum(flow.get("count", 1) for flow in flows) > 1:
            latest = _divided("--duration", duration, _START_PART, digits=2)
            for flow in flows:
                flow["start"] = {"uniform": ["0 s", latest]}
        words = (
            f"scenario: {self.trace or topology['rate']}, {rtt} RTT, {queue.get('kind')}"
            f"{' ' + str(queue['limit']) if 'limit' in queue else ''}, "
            f"{'loss ' + self.loss if self.loss else 'no loss'}, {self.flows or _FLOWS}, {duration} "
            f"({warmup} warm-up); write it with --save FILE"
        )
        tree = {
            "schema": SCHEMA,
            "name": "command-line",
            "duration": duration,
            "warmup": warmup,
            "topology": topology,
            "flows": flows,
        }
        return tree, words

    def keep(self, tree: Mapping[str, Any], what: str) -> None:
        """Write a tree into the file of `--save`, if it is given. Raises `StoreError`."""
        if self.save is not None:
            write_capture(Path(self.save), as_toml_file(tree).encode(), what)


def lasting_tree(save: str | None, scenario: Scenario, tree: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return an equivalent file: `tree` itself if it is complete, or else a longer one."""
    if tree is not None and save is not None:
        try:
            if Scenario.from_dict(tree, source=save).hash == scenario.hash:
                return tree
        except ScenarioError:
            # The file may, for example, contain a path relative to another folder.
            pass
    return scenario.written


def _read(tree: Mapping[str, Any], sets: Iterable[str]) -> Scenario:
    """Return the scenario of the options' tree. Its mistakes name the options."""
    try:
        return Scenario.from_dict(tree, sets, source="options")
    except ScenarioError as error:
        first: dict[str, Mistake] = {}
        for mistake in error.mistakes:
            if mistake.set is None:
                mistake = replace(mistake, file=_option(mistake.key), key="")
            # Mistakes that follow from a mistake in an option add no information.
            first.setdefault(mistake.set or mistake.file, mistake)
        if not first:
            raise
        raise ScenarioError.of([*first.values()], error.more, sets_called="--set") from None


def _option(key: str) -> str:
    option = next((option for start, option in _OPTIONS.items() if key.startswith(start)), None)
    return f"--{option}" if option is not None else f"options: {key}"


def _table(option: str, text: str) -> dict[str, Any]:
    """Return the table of a name, a label or an inline table."""
    try:
        return table_of(text)
    except ValueError as error:
        raise InputError(f"{option}: {text!r} {error}") from None


def _table_or_name(option: str, text: str) -> Any:
    """Return an inline table of TOML, or the text."""
    if not text.lstrip().startswith("{"):
        return text.strip()
    try:
        return toml_of(f"value = {text}")["value"]
    except ValueError as error:
        raise InputError(f"{option}: {text!r} is not an inline table of TOML: {error}") from None


def _divided(option: str, text: str, divisor: int, digits: int = 12) -> str:
    """Return a part of a duration, in its own unit."""
    found = _QUANTITY.fullmatch(text.strip())
    number = number_of(text)
    if found is None or number is None or number[0] != "s":
        example = _RTT if option == "--rtt" else _DURATION
        raise InputError(f'{option}: {text!r} is not a duration with a unit; write for example "{example}"')
    return f"{float(found[1]) / divisor:.{digits}g} {found[2]}"


def _opportunities(trace: str) -> list[int]:
    """Return the milliseconds of a trace, or nothing if the scenario will report a mistake in it."""
    try:
        return [int(line) for line in text_of(Path(trace)).split()]
    except (OSError, ValueError):
        return []


def _highest_rate(trace: str) -> str:
    """Return the rate of the busiest millisecond of a trace, at which no opportunity is cut off.

    Opportunities at 0 coincide with the last ones of the period before.
    """
    times = _opportunities(trace)
    busiest = max(Counter(time or times[-1] for time in times).values(), default=1)
    return f"{busiest * _OPPORTUNITY_BITS * 1000 / 1e6:.15g} Mbit/s"


def _limit_of(trace: str, rtt: str) -> str:
    """Return the packets of a bandwidth-delay product at the mean rate of a trace, at least ten."""
    times, number = _opportunities(trace), number_of(rtt)
    mean = len(times) / max(times[-1], 1) if times else 0.0
    return f"{max(round(mean * 1000 * (number[1] if number else 0)), _LEAST_LIMIT)} packets"


def _loss(text: str) -> Any:
    """Return the losses of `0.1%`, `0.001`, or a table."""
    if text.lstrip().startswith("{"):
        return _table_or_name("--loss", text)
    if (probability := part_of(text)) is None:
        raise InputError(f"--loss: {text!r} is not a share of packets; write 0.1% or 0.001")
    return {"kind": "bernoulli", "probability": probability}


def _groups(text: str) -> list[dict[str, Any]]:
    """Return the flows of `cubic*2,bbr3,my_cc.py:MyCc`, each group called as its algorithm."""
    groups: list[dict[str, Any]] = []
    for part in parts(text):
        counted = _COUNTED.fullmatch(part)
        algorithm, count = (counted[1], int(counted[2])) if counted else (part, 1)
        if not algorithm:
            raise InputError(f"--flows: has an empty name in {text!r}; write names such as cubic*2,bbr3")
        cc = _table_or_name("--flows", algorithm_text(algorithm.strip().removeprefix("rule ").strip()))
        name = _name(cc, [group["name"] for group in groups])
        groups.append({"name": name, **({"count": count} if counted else {}), "cc": cc})
    return groups


def _name(cc: Any, taken: list[str]) -> str:
    """Return an unused name for a group: the name of the algorithm, or of the class."""
    text = str(cc.get("kind", "flows")) if isinstance(cc, Mapping) else str(cc)
    text = text.split("(")[0].removesuffix(".so").rsplit("/", 1)[-1].rsplit(":", 1)[-1]
    name = _UNNAMED.sub("-", text).strip("-")[:_LONGEST_NAME] or "flows"
    if name.isdigit():
        name = f"flows-{name}"
    number = 1
    while (numbered := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return numbered
