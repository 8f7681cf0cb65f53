"""The metrics that can define a score."""

from __future__ import annotations

from pathlib import Path

import pytest

from ackclock.errors import ArgumentValueError
from ackclock.evaluation.ranking import require_metric
from ackclock.evaluation.subject import Algorithms
from ackclock.evaluation.suite import Environment, Suite


def test_a_metric_must_be_there() -> None:
    environment = Environment("shared", "Shared", "?", Path("none.toml"), (), True, None)
    suite = Suite("hand", 1, "By hand", 3, Algorithms(("test",)), ("aimd",), (environment,))
    with pytest.raises(ArgumentValueError, match="did you mean 'efficiency'"):
        require_metric(suite, "eficiency")
    with pytest.raises(ArgumentValueError, match="no environment of suite hand has watch"):
        require_metric(suite, "watch")
