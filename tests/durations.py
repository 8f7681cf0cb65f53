"""The CPU time of tests. `--write-durations` measures it, and `--fast` leaves slow tests out.

`slow.txt` lists the slow tests with their CPU time in seconds, including started processes. A test that is
missing from the list counts as fast. So `make check` runs a new test until `make durations` finds it slow.
"""

from __future__ import annotations

import resource
from collections import defaultdict
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("slow.txt")
#: The CPU time of a fast test, in seconds, at most. On two cores, all fast tests take less than a minute.
FAST_S = 0.3
MEASURED = pytest.StashKey[dict[str, float]]()


def listed() -> dict[str, float]:
    """The slow tests with their CPU time."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return {test: float(seconds) for seconds, _, test in (line.partition("  ") for line in lines)}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("durations")
    group.addoption("--fast", action="store_true", help="leave the tests of slow.txt out")
    group.addoption("--write-durations", action="store_true", help="write slow.txt; not with several workers")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--write-durations") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--write-durations needs one process; add -p no:xdist")
    measured: dict[str, float] = {}
    config.stash[MEASURED] = measured


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow files come first, so that no worker begins a slow one last."""
    slow = listed()
    if config.getoption("--fast"):
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in slow])
        items[:] = [item for item in items if item.nodeid not in slow]
        return
    files: defaultdict[str, float] = defaultdict(float)
    for test, seconds in slow.items():
        files[test.partition("::")[0]] += seconds
    items.sort(key=lambda item: -files[item.nodeid.partition("::")[0]])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    before = _cpu_s()
    result = yield
    item.config.stash[MEASURED][item.nodeid] = _cpu_s() - before
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    measured = config.stash[MEASURED]
    if config.getoption("--write-durations"):
        known = listed() if config.getoption("--fast") else {}
        LIST.write_text(as_text(merged(known, measured)), encoding="utf-8")


def merged(known: Mapping[str, float], measured: Mapping[str, float]) -> dict[str, float]:
    """Add the slow ones of measured tests to the list."""
    return {**known, **{test: seconds for test, seconds in measured.items() if seconds > FAST_S}}


def as_text(slow: Mapping[str, float]) -> str:
    return "".join(f"{slow[test]:.1f}  {test}\n" for test in sorted(slow))


def _cpu_s() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
