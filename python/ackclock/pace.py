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

    @property
    def runs(self) -> int:
        """How many runs to put into the next chunk."""
        if not self._run_s:
            return 1
        return max(1, min(round(self._chunk_s / self._run_s), _MOST_RUNS))

    def note(self, runs: int, busy_s: float) -> None:
        """Take in what a chunk of so many runs took."""
        if runs == 0:
            return
        found = busy_s / runs
        self._run_s = found if self._run_s is None else self._run_s + _WEIGHT * (found - self._run_s)
