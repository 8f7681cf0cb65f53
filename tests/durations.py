"""The CPU time of files of tests. `--write-durations` measures it, and `--fast` runs the fast files only.

`fast.txt` lists the fast files with their CPU time in seconds, including started processes. A file that is
missing from the list counts as slow, so a new file cannot slow `make check` down. `make durations` adds it.
"""

from __future__ import annotations

import resource
from collections import defaultdict
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("fast.txt")
#: The CPU time of a fast file in seconds, at most.
FAST_S = 3.0
#: The CPU time of all files of the list in seconds, at most: less than a minute on two cores.
BUDGET_S = 80.0
MEASURED = pytest.StashKey[defaultdict[str, float]]()


def listed() -> dict[str, float]:
    """The fast files with their CPU time."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return {file: float(seconds) for seconds, file in map(str.split, lines)}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("durations")
    group.addoption("--fast", action="store_true", help="run the files of fast.txt only")
    group.addoption("--write-durations", action="store_true", help="write fast.txt; not with several workers")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--write-durations") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--write-durations needs one process; add -p no:xdist")
    config.stash[MEASURED] = defaultdict(float)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave slow files out before their imports."""
    is_file_of_tests = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    if config.getoption("--fast") and is_file_of_tests and collection_path.name not in listed():
        return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    before = _cpu_s()
    result = yield
    item.config.stash[MEASURED][item.path.name] += _cpu_s() - before
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    measured = session.config.stash[MEASURED]
    if session.config.getoption("--write-durations"):
        LIST.write_text(as_text(merged(listed(), measured)), encoding="utf-8")


def merged(known: Mapping[str, float], measured: Mapping[str, float]) -> dict[str, float]:
    """Replace the measured files of the list, and leave those out that became slow."""
    return {file: seconds for file, seconds in {**known, **measured}.items() if seconds <= FAST_S}


def as_text(fast: Mapping[str, float]) -> str:
    return "".join(f"{fast[file]:.1f} {file}\n" for file in sorted(fast))


def _cpu_s() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
