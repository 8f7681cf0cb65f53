"""Attacks that the literature knows: `known_attacks.py [NAME ...] [--seeds 3] [--confirm]`.

Each case runs `ackclock attack` with the bounds of its families. It is found if a confirmed find shows the
published weakness. The exit code is 1 if fewer than two of three seeds find a case.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.attacks import attack
from ackclock.attacks.finds import Find, described
from ackclock.evaluation.scoreboard import interval_text
from ackclock.running.backend import chosen as chosen_backend

#: The part of the seeds that must find a case.
_SUCCEED = 2 / 3


@dataclass(frozen=True)
class Known:
    """A weakness from the literature, and the attack that finds it."""

    title: str
    source: str
    cc: str
    against: tuple[str, ...]
    family: str
    objective: str
    #: Whether a confirmed find shows the weakness.
    shows: Callable[[Find], bool]
    sets: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The command without budget and seed."""
        sets = "".join(f" --set {text}" for text in self.sets)
        return (
            f"ackclock attack {self.cc} --against {','.join(self.against)} --family {self.family} "
            f"--objective {self.objective}{sets}"
        )


def _timeouts(find: Find) -> bool:
    behaviour = find.shrunk.behaviour
    return behaviour is not None and behaviour.timeouts > 0 and find.regret.mean >= 20


def _low_rate(find: Find) -> bool:
    """Timeouts by bursts, which take at most 30 % of the rate by the bounds of their family."""
    return _timeouts(find) and "load" in find.shrunk.network.values


def _has(name: str, least: float) -> Callable[[Find], bool]:
    return lambda find: name in find.shrunk.network.values and find.regret.mean >= least


#: All cases by name.
CASES: dict[str, Known] = {
    "low-rate-linux": Known(
        "Low-rate attack on Reno",
        "Kuzmanovic & Knightly 2003, minimum RTO of 200 ms",
        "reno",
        ("bbr3",),
        "bursts",
        "utilisation",
        _low_rate,
    ),
    "low-rate-rfc": Known(
        "Low-rate attack on Reno",
        "Kuzmanovic & Knightly 2003, minimum RTO of 1 s",
        "reno",
        ("bbr3",),
        "bursts",
        "utilisation",
        _low_rate,
        ("transport.profile=rfc",),
    ),
    "vegas-jitter": Known(
        "Starvation of Vegas by jitter",
        "Arun et al. 2022",
        "vegas",
        ("cubic", "bbr3"),
        "delay",
        "utilisation",
        _has("jitter", 50),
    ),
    "cubic-step": Known(
        "Slow return of CUBIC after a step of the capacity",
        "RFC 9438, section 4.2: growth by the time since the last loss",
        "cubic",
        ("aimd", "bbr3"),
        "square",
        "utilisation",
        _has("low", 4),
    ),
    "bbr1-shallow": Known(
        "Losses of BBRv1 in shallow buffers",
        "Hock et al. 2017",
        "bbr1",
        ("cubic", "bbr3"),
        "path",
        "loss",
        lambda find: find.shrunk.network.values.get("buffer", 1) < 1 and find.regret.mean >= 2,
    ),
    "bbr1-stall": Known(
        "Stall of BBRv1 after a timeout",
        "CC-Fuzz 2022",
        "bbr1",
        ("cubic", "bbr3"),
        "losses",
        "utilisation",
        _timeouts,
    ),
    "new-aimd-late": Known(
        "Lock-out of the newcomer by New-AIMD",
        "Jasem et al.",
        "new-aimd",
        ("aimd", "cubic"),
        "late",
        "fairness",
        _has("late-start", 5),
    ),
}


def searched(
    case: Known, seed: int, budget: int, backend: str | None = None
) -> tuple[Find | None, int, float]:
    """Return the confirmed find that shows a case, if any, with the runs and seconds of the attack."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = attack(
            case.cc,
            against=case.against,
            families=case.family.split(","),
            objective=case.objective,
            sets=case.sets,
            budget=budget,
            confirm=backend,
            seed=seed,
            out=Path(folder),
        )
    shown = next((find for find in found.confirmed if case.shows(find)), None)
    return shown, found.runs, time.monotonic() - began


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases, print a line for each attack, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budget", type=int, default=1500)
    parser.add_argument("--confirm", action="store_true", help="also run finds in a kernel in virtual time")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.names) - CASES.keys():
        parser.error(f"no case is called {', '.join(sorted(unknown))}; there are: {', '.join(CASES)}")
    backend = chosen_backend("kernel") if chosen.confirm else None
    rediscovered = 0
    names = chosen.names or list(CASES)
    for name in names:
        case, count = CASES[name], 0
        print(f"{name}: {case.title} ({case.source})\n  {case.command}")
        for seed in range(1, 1 + chosen.seeds):
            find, runs, seconds = searched(case, seed, chosen.budget, backend)
            count += find is not None
            text = "not found"
            if find is not None:
                behaviour = described(find.shrunk.behaviour)
                text = f"{interval_text(find.regret, 1)} % with {find.shrunk.network.text}: {behaviour}"
                if find.there is not None:
                    text += f"; in the kernel {find.there.failure or f'{find.there.regret:.1f} %'}"
            print(f"  seed {seed}: {text} ({runs} runs, {seconds:.0f} s)", flush=True)
        rediscovered += count >= _SUCCEED * chosen.seeds
    unmet = len(names) - rediscovered
    print(f"{len(names)} known weaknesses: {rediscovered} found by two of three seeds, {unmet} not found")
    return 1 if unmet else 0


if __name__ == "__main__":
    sys.exit(main())
