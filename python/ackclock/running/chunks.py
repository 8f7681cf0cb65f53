"""The chunk size: how many runs go to a worker at once.

Enough to outweigh the cost of sending them, few enough to lose little when a worker dies.
"""

from __future__ import annotations

#: The most runs in a chunk, however short they are: a chunk is also a message.
_MOST_RUNS = 1000
#: The weight of the last chunk in the expected cost of a run (an exponentially weighted average).
_WEIGHT = 0.3


class ChunkSize:
    """A chunk size that adapts to the duration of runs. It starts at one run."""

    def __init__(self, chunk_s: float) -> None:
        """`chunk_s`: seconds of work that a chunk should hold."""
        self._chunk_s = chunk_s
        self._run_s: float | None = None

    def next(self, left: int, capacity: int) -> int:
        """Return how many runs to put into the next chunk.

        `left`: runs that no chunk contains yet. A chunk takes at most the share 1 / `capacity` of them, so
        that chunks shrink towards the end. No worker then runs a large chunk while the others are idle.
        """
        if not self._run_s:
            return 1
        share = -(-left // capacity)
        return max(1, min(round(self._chunk_s / self._run_s), share, _MOST_RUNS))

    def observe(self, runs: int, busy_s: float) -> None:
        """Take in how long a chunk of so many runs took, in seconds."""
        if runs == 0:
            return
        found = busy_s / runs
        self._run_s = found if self._run_s is None else self._run_s + _WEIGHT * (found - self._run_s)
