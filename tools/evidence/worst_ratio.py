"""Worst ratios of linear controls, exact and searched: `worst_ratio.py [CONTROL ...] [--budget 40000]`.

An adversary moves the capacity of the synchronous model. Dynamic programming finds the least ratio of goodput
to capacity. The optimiser of `ackclock attack` searches for the same. A search that stays more than 5 % above
the least ratio continues up to three times the budget. The exit code is 1 if it still does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ackclock.attacks.ratio_search import searched
from ackclock.synchronous.adversary import LINEAR, PEAK, STEPS_PER_DOUBLING, Capacities, Control

#: The part of the least ratio by which a search may exceed it.
WITHIN = 0.05
ROUNDS = 40
#: The longest search, as a multiple of the budget.
_LONGEST = 3
#: The adversaries, the still one first.
ADVERSARIES = (
    Capacities.additive(0),
    Capacities.additive(5),
    Capacities.additive(10),
    Capacities.multiplicative(2),
    Capacities.multiplicative(STEPS_PER_DOUBLING),
    Capacities.additive(5, free_fall=True),
    Capacities.multiplicative(2, free_fall=True),
)
CONTROLS = LINEAR[:4]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each control and adversary, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("controls", nargs="*", metavar="CONTROL", help=f"of {', '.join(CONTROLS)}")
    parser.add_argument("--budget", type=int, default=40_000, help="sequences of each search")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="round trips (default: %(default)s)")
    parser.add_argument(
        "--additive", type=float, metavar="PERCENT", help="only the adversary with this bound, of the peak"
    )
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.controls) - set(CONTROLS):
        parser.error(f"no control is called {', '.join(sorted(unknown))}; there are: {', '.join(CONTROLS)}")
    rounds = chosen.rounds
    adversaries = ADVERSARIES if chosen.additive is None else (Capacities.additive(chosen.additive),)
    print(f"{rounds} round trips from a capacity and a window of {PEAK:g} segments")
    print("| control | change of capacity | worst ratio | without the grid | search | excess | sequences |")
    print("| --- | --- | --: | --: | --: | --: | --: |")
    close, rows = 0, 0
    for kind in chosen.controls or CONTROLS:
        control = Control({"kind": kind})
        for capacities in adversaries:
            worst = control.worst(capacities, rounds)
            free = control.off_the_grid(worst.capacities)
            for budget in (chosen.budget, _LONGEST * chosen.budget):
                near = searched(control, capacities, rounds, budget, chosen.seed)
                excess = near.ratio / worst.ratio - 1
                if excess <= WITHIN:
                    break
            rows, close = rows + 1, close + (excess <= WITHIN)
            print(
                f"| {kind} | {capacities.title} | {worst.ratio:.3f} | {free.ratio:.3f} | {near.ratio:.3f} | "
                f"{100 * excess:.1f} % | {budget} |",
                flush=True,
            )
    print(f"{close} of {rows} searches come within {100 * WITHIN:g} % of the worst ratio")
    return 0 if close == rows else 1


if __name__ == "__main__":
    sys.exit(main())
