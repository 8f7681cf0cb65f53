"""Known differences from ns-2, with a test of each: without the rule the case must match."""

import dataclasses
from collections.abc import Callable, Sequence

from flows import lost_syn
from packets import Difference, Point
from setups import Sender, Setup
from translate import Variant

# Times of a trace have six digits.
TRACE_DIGIT_S = 2e-6
# A receive window that never limits the sender.
AMPLE_WINDOW = 100
WITHOUT_FRTO = Variant(ns2={"frto_enabled_": 0, "sfrto_enabled_": 0})


@dataclasses.dataclass(frozen=True)
class Explanation:
    """A difference by a known rule. `reason` names the simulator that follows the RFC."""

    reason: str
    #: Whether the rule concerns a case, by its configuration and first difference.
    applies: Callable[[Setup, Difference], bool]
    #: A change that disables the rule, so the case must match. Without one only the first difference counts.
    variant: Variant | None = None


def any_sender(holds: Callable[[Sender], bool]) -> Callable[[Setup, Difference], bool]:
    """True for a configuration with a sender for which `holds` is true."""
    return lambda setup, difference: any(holds(sender) for sender in setup.senders)


def newreno(sender: Sender) -> bool:
    """True for NewReno."""
    return sender.kind == "Agent/TCP/Newreno"


def has_frto(sender: Sender) -> bool:
    """True for a sender that detects spurious timeouts."""
    return sender.options["frto_enabled_"] == 1


def is_tie(setup: Setup, difference: Difference) -> bool:
    """True if ns-2 drops the packet that ackclock accepts, at the moment when the link sends another."""
    if difference.position >= len(difference.ours):
        return False
    ours = difference.ours[difference.position]
    here = [event for event in setup.trace if event.link == difference.link]
    drops = (event for event in here if event.kind == "d" and event.number == ours.number)
    times = [drop.time_s for drop in drops if abs(drop.time_s - ours.time_s) <= TRACE_DIGIT_S]
    return any(
        event.kind == "-" and abs(event.time_s - time) <= TRACE_DIGIT_S for event in here for time in times
    )


def is_sent_twice(points: Sequence[Point], position: int) -> bool:
    """True if the packet at `position` repeats the packet before it."""
    return 0 < position < len(points) and points[position].number == points[position - 1].number


def follows_echo(setup: Setup, difference: Difference) -> bool:
    """True if ns-2 sends the packet on an ACK that echoes a mark."""
    if difference.position >= len(difference.theirs):
        return False
    time = difference.theirs[difference.position].time_s
    return any(
        event.is_ack and event.echoes and event.kind == "r" and abs(event.time_s - time) <= TRACE_DIGIT_S
        for event in setup.trace
    )


def concerns(difference: Difference, sender: Sender) -> bool:
    """True if ns-2's packet comes from this sender."""
    return (
        difference.position < len(difference.theirs)
        and difference.theirs[difference.position].flow == f"tcp{sender.flow}"
    )


# The first explanation that applies counts.
EXPLANATIONS = (
    Explanation(
        "A packet arrives at a full queue at the moment when a transmission begins and makes room. No RFC "
        "orders the two. ns-2 drops the packet, ackclock does not. With ns-2's drops the case matches.",
        is_tie,
        Variant(same_drops=True),
    ),
    Explanation(
        "ns-2 leaves recovery with the window that partial ACKs have deflated. RFC 6582 §3.2, step 3 sets "
        "it to ssthresh or to one segment more than is in flight. With `exit_recovery_fix_` in both the "
        "case matches.",
        any_sender(
            lambda sender: (
                newreno(sender)
                and sender.options["partial_window_deflation_"] == 1
                and sender.options["exit_recovery_fix_"] == 0
            )
        ),
        Variant(ns2={"exit_recovery_fix_": 1}),
    ),
    Explanation(
        "The last ACK covered four segments. RFC 6582 §4.1 interprets duplicate ACKs after it as a loss, "
        "and ns-2 only up to three segments. Without the heuristic in ackclock the case matches.",
        any_sender(lambda sender: sender.options["bugFix_ack_"] == 1),
        Variant(keys={"second_loss": "careful"}),
    ),
    Explanation(
        "A recovery ended on the ACK after a partial one. Afterwards ns-2 widens the window by duplicate "
        "ACKs. RFC 5681 §3.2, step 4 does so in fast recovery only. With `partial_window_deflation_` in "
        "both the case matches.",
        any_sender(lambda sender: newreno(sender) and sender.options["partial_window_deflation_"] == 0),
        Variant(ns2={"partial_window_deflation_": 1}),
    ),
    Explanation(
        "ns-2 continues to back off its timer, although timestamps also measure retransmissions. RFC 6298 "
        "§5 ends the back-off with a measurement. With `ts_resetRTO_` in ns-2 the case matches.",
        any_sender(lambda sender: sender.options["timestamps_"] == 1 and sender.options["ts_resetRTO_"] == 0),
        Variant(ns2={"ts_resetRTO_": 1}),
    ),
    Explanation(
        "In ns-2 an old ACK sends segments that the longest burst held back. ackclock ignores it, as RFC "
        "9293 §3.10.7.4 says. Without `aggressive_maxburst_` in ns-2 the case matches.",
        any_sender(
            lambda sender: sender.options["maxburst_"] > 0 and sender.options["aggressive_maxburst_"] == 1
        ),
        Variant(ns2={"aggressive_maxburst_": 0}),
    ),
    Explanation(
        "A packet is dropped when its application has just stopped. ns-2 sends nothing afterwards. "
        "ackclock sends it again at the timeout, as RFC 6298 §5.4 says. With a longer timer the case "
        "matches.",
        any_sender(lambda sender: sender.commands[-1].words == ("stop",)),
        Variant(keys_of_stopped={"min_rto": "60 s"}),
    ),
    Explanation(
        "ns-2 sends this packet twice in a row, because it does not count new data sent by a partial ACK. "
        "NextSeg of RFC 6675 §4 repeats lost data only. All packets before are the same.",
        lambda setup, difference: (
            any(sender.options.get("partial_ack_") == 1 for sender in setup.senders)
            and is_sent_twice(difference.theirs, difference.position)
        ),
    ),
    Explanation(
        "ns-2 detects spurious timeouts (F-RTO) also without SACK, by the basic algorithm of RFC 5682 §2. "
        "ackclock implements §3, for SACK. Without F-RTO in both the case matches.",
        any_sender(lambda sender: has_frto(sender) and "Sack1" not in sender.kind),
        WITHOUT_FRTO,
    ),
    Explanation(
        "F-RTO finds a genuine timeout. RFC 5682 §3.1, step 3a continues with a window of no more than "
        "three segments. ns-2 sets the window to three, and sends. ackclock leaves it at the two segments "
        "of slow start, which are in flight. Without F-RTO in both the case matches.",
        any_sender(lambda sender: has_frto(sender) and "Sack1" in sender.kind),
        WITHOUT_FRTO,
    ),
    Explanation(
        "Duplicate ACKs widen NewReno's window beyond the receiver's. A partial ACK leaves less of it in "
        "ns-2 than RFC 6582 §3.2, step 3, which deflates the whole window. With a receiver's window of 100 "
        "packets in both the case matches.",
        any_sender(lambda sender: newreno(sender) and sender.options["window_"] < AMPLE_WINDOW),
        Variant(ns2={"window_": AMPLE_WINDOW}),
    ),
    Explanation(
        "The SYN is lost. ns-2 treats this as a timeout of data with a threshold of two segments, and the "
        "answer grows the window. RFC 5681 §3.1 begins with one segment, and the threshold stays. All "
        "packets before are the same.",
        lambda setup, difference: any(
            lost_syn(setup, sender) and concerns(difference, sender) for sender in setup.senders
        ),
    ),
    Explanation(
        "The ACK that ends Reno's recovery echoes a mark. ns-2 cuts the window that duplicate ACKs have "
        "inflated. RFC 5681 §3.2, step 6 deflates it first. All packets before are the same.",
        lambda setup, difference: (
            any(sender.kind == "Agent/TCP/Reno" and sender.options["ecn_"] == 1 for sender in setup.senders)
            and follows_echo(setup, difference)
        ),
    ),
)
