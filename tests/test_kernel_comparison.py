"""The comparison with the kernel's token bucket, on frames that passed through none."""

import json
import random
from dataclasses import replace

import pytest

import tbf
import veth
from ackclock import _core
from tbf import BURST, LIMIT, Frame, bursts, compared, poisson
from veth import Passed

RATE_BPS = 8_000_000
EPOCH_NS = 1_700_000_000_000_000_000


def as_ours(schedule: list[Frame], late_ns: int = 0, limit: int = LIMIT) -> Passed:
    """What a kernel would report that does what ackclock does, and lets each frame go so much later."""
    queue = {"kind": "tbf", "limit": f"{limit} B", "rate": f"{RATE_BPS} bit/s", "burst": f"{BURST} B"}
    arrivals = [(at_ns, size, 0, False) for at_ns, size in schedule]
    events = _core.serve_queue(json.dumps(queue), 10**12, 1, arrivals)
    came = {number: EPOCH_NS + at_ns for number, (at_ns, _) in enumerate(schedule)}
    left = {number: EPOCH_NS + at_ns + late_ns for at_ns, number, what, _ in events if what == "sent"}
    return Passed(came, left)


@pytest.fixture(params=[poisson, bursts])
def schedule(request: pytest.FixtureRequest) -> list[Frame]:
    frames = list(request.param(random.Random(1), RATE_BPS, 1000))
    begin = frames[0][0]
    # Sending one takes 5 us.
    return [(at_ns - begin + 5_000 * number, size) for number, (at_ns, size) in enumerate(frames)]


def test_what_does_the_same_is_the_same(schedule: list[Frame]) -> None:
    found = compared(schedule, as_ours(schedule), RATE_BPS)
    assert found.met and found.frames == 1000
    assert found.kernel_drops == found.drops > 20
    assert (found.contrary, found.late_ns[0], found.late_ns[-1]) == (0, 0, 0)


def test_lateness_is_measured_and_the_median_judged(schedule: list[Frame]) -> None:
    found = compared(schedule, as_ours(schedule, late_ns=101_000), RATE_BPS)
    assert set(found.late_ns) == {101_000} and not found.met
    assert compared(schedule, as_ours(schedule, late_ns=99_000), RATE_BPS).met


def test_a_frame_that_goes_early_is_noticed(schedule: list[Frame]) -> None:
    passed = as_ours(schedule)
    last = max(passed.left)
    early = {**passed.left, last: passed.left[last] - 2_000}
    found = compared(schedule, replace(passed, left=early), RATE_BPS)
    assert found.late_ns[0] == -2_000 and not found.met


@pytest.mark.parametrize("limit", [LIMIT - tbf.FRAME, LIMIT + tbf.FRAME])
def test_a_limit_of_one_frame_more_or_less_is_noticed(schedule: list[Frame], limit: int) -> None:
    found = compared(schedule, as_ours(schedule, limit=limit), RATE_BPS)
    assert found.contrary > 1 and not found.met


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert tbf.main([]) == 77
    absent = "ip and tc: not installed (Debian: apt-get install iproute2)"
    assert capsys.readouterr().out == f"compare-kernel: skipped, {absent}\n"
    with pytest.raises(veth.Unavailable, match="ip and tc"):
        veth.enter_namespace()
