"""The linear controls in ns-2: its standard one, and the binomial ones of `windowOption_` 6."""

from typing import Any

from comparable import NotComparable

STANDARD, BINOMIAL = 1, 6
# The algorithms of Linux 2.6.22 and their parameters. The profile makes CUBIC 2.1, of which 819/1024 remains.
# Its C is 41/102.4.
LINUX: dict[str, dict[str, object]] = {
    "reno": {},
    "cubic": {"arithmetic": "profile", "remaining": 0.7, "c": 0.4, "hz": 1000},
}


def window(place: str, cc: dict[str, Any]) -> dict[str, object]:
    """The arguments of `dumbbell.tcl` for a congestion control.

    Binomial controls add a / w^k per round trip, and a loss removes (1 - b) w^l.

    Raises:
        NotComparable: for a control that ns-2 does not contain.
    """
    match cc["kind"]:
        case "aimd":
            return {"window_option": STANDARD, "increase": cc["increase"], "remaining": cc["remaining"]}
        case "aiad":
            return {**binomial(k=0, l=0), "increase": cc["increase"], "remaining": 1 - cc["removed"]}
        case "mimd":
            return {**binomial(k=-1, l=1), "increase": cc["increase"], "remaining": cc["remaining"]}
        case "miad":
            return {**binomial(k=-1, l=0), "increase": cc["increase"], "remaining": 1 - cc["removed"]}
    raise NotComparable(f"{place}: ns-2 has aimd, aiad, mimd and miad, not {cc['kind']}")


def linux(place: str, flow: dict[str, Any]) -> dict[str, object]:
    """The arguments for Agent/TCP/Linux, which runs the algorithms of Linux 2.6.22.

    Raises:
        NotComparable: for another algorithm or other parameters.
    """
    cc = flow["cc"]
    if cc["kind"] not in LINUX or any(cc[key] != value for key, value in LINUX[cc["kind"]].items()):
        raise NotComparable(f"{place}: Agent/TCP/Linux is compared with {LINUX}")
    return {"tcp": "Linux", "ca": cc["kind"], "cwnd_interval": 0.01}


def binomial(**exponents: int) -> dict[str, object]:
    """A control of the binomial family."""
    return {"window_option": BINOMIAL, **exponents}
