"""MyCc: additive increase, multiplicative decrease, with a decrease that depends on the queueing delay."""

from dataclasses import dataclass, field

import ackclock


@dataclass
class MyCc(ackclock.CongestionControl):
    """Windows are in segments, times in seconds. Methods without an override are TCP Reno (RFC 5681)."""

    #: Segments that the window gains in a round trip.
    gain: float = field(default=1.0, metadata={"range": (0.2, 5.0)})
    #: Share of the window that a cut leaves if the queue is long.
    remaining: float = field(default=0.5, metadata={"range": (0.2, 0.8)})
    #: The queueing delay, in seconds, from which a queue is long.
    long_delay: float = field(default=0.01, metadata={"range": (0.001, 0.1)})

    def on_ack(self, ack: ackclock.Ack) -> None:
        """An ACK came in."""
        if not ack.may_grow:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd += ack.acked
        else:
            self.cwnd += self.gain * ack.acked / self.cwnd

    def on_congestion(self, congestion: ackclock.Congestion) -> None:
        """A loss or a mark: once per window of data."""
        is_long = congestion.queue_delay > self.long_delay
        self.ssthresh = max(self.cwnd * (self.remaining if is_long else 0.8), 2.0)
        self.cwnd = self.ssthresh
