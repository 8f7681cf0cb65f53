"""How many runs make a chunk: enough to be worth the way, few enough to lose little with a worker."""

from __future__ import annotations

#: However little they cost, a chunk is also a message.
_MOST_RUNS = 1000
#: The weight of the last chunk in what the next runs are expected to cost.
_WEIGHT = 0.3


class Pace:
    """Expects of the next runs what the last ones cost; begins with a run each."""

    def __init__(self, chunk_s: float) -> None:
        self._chunk_s = chunk_s
        self._run_s: float | None = None

    def runs(self, left: int, capacity: int) -> int:
        """Return how many runs to put into the next chunk.

        `left`: runs that are not handed out, of which a chunk takes one part in `capacity`: towards the end
        chunks become small, so that no worker has a large one when the others are done.
        """
        if not self._run_s:
            return 1
        share = -(-left // capacity)
        return max(1, min(round(self._chunk_s / self._run_s), share, _MOST_RUNS))

    def note(self, runs: int, busy_s: float) -> None:
        """Take in what a chunk of so many runs took."""
        if runs == 0:
            return
        found = busy_s / runs
        self._run_s = found if self._run_s is None else self._run_s + _WEIGHT * (found - self._run_s)
