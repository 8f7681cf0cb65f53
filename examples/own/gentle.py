"""A gentle AIMD: it grows by `gain` segments per round trip, and keeps `left` of the window at a loss."""

from dataclasses import dataclass, field

import ackclock


@dataclass
class Gentle(ackclock.CongestionControl):
    """Slow start as in RFC 5681, then additive increase and multiplicative decrease."""

    gain: float = field(default=1.0, metadata={"range": (0.1, 4.0)})
    left: float = field(default=0.7, metadata={"range": (0.3, 0.95)})

    def on_ack(self, ack: ackclock.Ack) -> None:
        if self.in_slow_start:
            super().on_ack(ack)
        elif ack.may_grow:
            self.cwnd += self.gain * ack.acked / self.cwnd

    def on_congestion(self, congestion: ackclock.Congestion) -> None:
        self.cwnd = self.ssthresh = max(self.left * self.cwnd, 2)
