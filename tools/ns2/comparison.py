"""Runs a case in both simulators, and finds the first difference."""

import dataclasses
import itertools

import polars

import packets
import reference
import setups
from packets import Difference
from setups import Setup
from suites import Suite
from translate import UNCHANGED, Translation, Variant, translate

WINDOW_TOLERANCE = 1e-3


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A case in both simulators, and the first difference."""

    setup: Setup
    difference: Difference | str | None


def compare(suite: Suite, name: str, variant: Variant = UNCHANGED) -> Comparison:
    """Runs a case in both simulators.

    Raises:
        NotTranslatable: if ackclock lacks something.
        ns2.Ns2Error: if ns-2 is missing.
    """
    setup = setups.run(suite.script, name, variant.ns2)
    translation = translate(setup, clocks_of(setup), variant)
    if (
        not variant.ns2
        and suite.link
        and not reference.gives(setup.trace, suite.link, suite.name, name, parts=suite.parts)
    ):
        return Comparison(setup, "this ns-2 does not give the output that is installed")
    ours = packets.run(translation.scenario)
    difference: Difference | str | None = packets.first_difference(setup, translation, ours)
    if difference is None and suite.link is None:
        difference = window_difference(suite, name, setup, translation, ours)
    return Comparison(setup, difference)


def clocks_of(setup: Setup) -> list[float]:
    """How far the clock of each sender is ahead, in seconds."""
    tick = max((sender.options["tcpTick_"] for sender in setup.senders), default=0.0)
    return reference.clock_offsets(len(setup.senders), tick)


def window_difference(
    suite: Suite, name: str, setup: Setup, translation: Translation, ours: polars.DataFrame
) -> str | None:
    """The first difference between the windows that the output notes and ours."""
    changes = ours.filter(
        polars.col("event") == "window", polars.col("flow") == f"tcp{setup.senders[0].flow}"
    )
    within_s = packets.tolerance(setup, translation)
    mine = [
        (time / 1e9, cwnd)
        for time, cwnd in changes.select("time_ns", "cwnd_segments").iter_rows()
        if time / 1e9 <= setup.end_s
    ]
    for their, our in itertools.zip_longest(reference.windows(suite.name, name), mine):
        known = their is not None and our is not None
        if not known or abs(their[1] - our[1]) > WINDOW_TOLERANCE or abs(their[0] - our[0]) > within_s:
            return f"window: ns-2 has {their}, ackclock {our}"
    return None
