"""The differences that are understood, and how each shows that it is the one, and the only one."""

import dataclasses
from collections.abc import Sequence

from packets import Difference, Point
from setups import Setup
from translate import Variant

# A trace has six digits of a time.
TRACE_DIGIT_S = 2e-6


@dataclasses.dataclass(frozen=True)
class Explanation:
    """A difference by a known rule.

    Attributes:
        reason: what differs, and which of the two follows the RFC.
        variant: with it, which takes the rule away, the case must match.
        ties: the first difference must be a packet that ns-2 drops at the very time of a departure.
        repeats: the first difference must be a packet that ns-2 sends twice in a row.
    """

    reason: str
    variant: Variant | None = None
    ties: bool = False
    repeats: bool = False


REPEATED = Explanation(
    "ns-2 sends this packet twice in a row: new data that a partial ACK sends do not count as sent. NextSeg "
    "of RFC 6675 §4 sends nothing again that is not lost; up to there all is the same",
    repeats=True,
)
TIE = Explanation(
    "a packet comes to a full queue at the moment at which a transmission begins, which makes room. No RFC "
    "orders the two: ns-2 drops it, ackclock does not. With ns-2's drops the case matches",
    Variant(same_drops=True),
    ties=True,
)
DEFLATED = Explanation(
    "ns-2 leaves recovery with the window that partial ACKs have deflated; RFC 6582 §3.2, step 3 sets it to "
    "ssthresh or to one segment more than is in flight. With `exit_recovery_fix_` in both the case matches",
    Variant(ns2={"exit_recovery_fix_": 1}),
)
HEURISTIC = Explanation(
    "the last ACK covered four segments: RFC 6582 §4.1 takes duplicate ACKs behind it for a loss, ns-2 only "
    "up to three. Without the heuristic in ackclock the case matches",
    Variant(keys={1: {"second_loss": "careful"}}),
)
INFLATED = Explanation(
    "behind a recovery that ended on the ACK after a partial one, ns-2 widens the window by duplicate ACKs; "
    "RFC 5681 §3.2, step 4 does so in fast recovery only. With `partial_window_deflation_` in both the case "
    "matches",
    Variant(ns2={"partial_window_deflation_": 1}),
)
EXPLAINED = {
    ("tcpVariants", "multiple_partial_ack_sack"): REPEATED,
    ("tcpVariants", "multiple2_partial_ack_sack"): REPEATED,
    ("aimd", "tcpB"): Explanation(
        "the last packet of the second flow is dropped when its application has just stopped; ns-2 sends "
        "nothing any more, ackclock sends it again at the timeout, as RFC 6298 §5.4 says. With a timer that "
        "is too long for that the case matches",
        Variant(keys={1: {"min_rto": "60 s"}}),
    ),
    ("sack", "sackB2"): TIE,
    ("sack", "sack_finiteflow"): TIE,
    ("newreno", "slow4"): TIE,
    ("newreno", "newreno5"): INFLATED,
    ("newreno", "newreno5_noLT"): INFLATED,
    ("newreno", "newreno_rto_loss_ack"): DEFLATED,
    ("newreno", "newreno_rto_loss_tsh"): DEFLATED,
    ("newreno", "newreno_rto_dup_ack"): HEURISTIC,
    ("newreno", "newreno_rto_loss_ackf"): HEURISTIC,
    ("newreno", "newreno_rto_loss_ts"): Explanation(
        "ns-2 goes on backing off its timer although timestamps measure retransmissions, too; RFC 6298 §5 "
        "ends the back-off with a measurement. With `ts_resetRTO_` in ns-2 the case matches",
        Variant(ns2={"ts_resetRTO_": 1}),
    ),
}


def is_tie(setup: Setup, difference: Difference) -> bool:
    """True if ns-2 drops the packet that ackclock takes, when the link begins to send another."""
    if difference.position >= len(difference.ours):
        return False
    ours = difference.ours[difference.position]
    here = [event for event in setup.trace if event.link == difference.link]
    drops = (event for event in here if event.kind == "d" and event.number == ours.number)
    times = [drop.time_s for drop in drops if abs(drop.time_s - ours.time_s) <= TRACE_DIGIT_S]
    return any(
        event.kind == "-" and abs(event.time_s - time) <= TRACE_DIGIT_S for event in here for time in times
    )


def sent_twice(points: Sequence[Point], position: int) -> bool:
    """True if the packet at `position` is the one before it once more."""
    return 0 < position < len(points) and points[position].number == points[position - 1].number
