"""Response functions: measured goodput compared with closed forms."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from helpers import cli

import ackclock
from ackclock.responses.closed_form import aimd_window, buffer_utilization, mean_window


def test_a_sawtooth_has_its_mean_window() -> None:
    # Windows from 50 to 100 segments: 50 round trips with 75 segments each.
    assert aimd_window(1.0, 0.5, 1 / (50 * 75)) == pytest.approx(75.0)
    mimd = {"kind": "mimd", "increase": 0.1, "remaining": 1 / 1.1**10}
    # Ten round trips between losses.
    assert mean_window(mimd, 0.001, 0.1) == pytest.approx(100.0)
    assert mean_window({"kind": "bbr3"}, 0.001, 0.1) is None


def test_cubic_has_the_window_of_its_rfc() -> None:
    cubic = {"kind": "cubic", "remaining": 0.7, "c": 0.4, "reno_friendly": True}
    # RFC 9438, table 1: RTT of 0.1 s. The table rounds, and its smallest windows are those of Reno.
    for loss, window in ((1e-4, 187), (1e-5, 1054), (1e-6, 5926), (1e-7, 33325)):
        assert mean_window(cubic, loss, 0.1) == pytest.approx(window, rel=0.01)
    assert mean_window(cubic, 1e-2, 0.01) == pytest.approx(12.0, rel=0.03)


def test_highspeed_and_scalable_follow_their_response_functions() -> None:
    highspeed = {"kind": "highspeed", "low_window": 38, "high_window": 83_000, "low_p": 1e-3, "high_p": 1e-7}
    # RFC 3649, section 5: W = 0.12 / p^0.835.
    for loss in (1e-4, 1e-5, 1e-6):
        assert mean_window(highspeed, loss, 0.1) == pytest.approx(0.12 / loss**0.835, rel=0.03)
    assert mean_window(highspeed, 1e-2, 0.1) == pytest.approx(12.2, rel=0.01)
    scalable = {"kind": "scalable", "increase": 0.01, "decrease": 0.125, "low_window": 16.0}
    assert mean_window(scalable, 1e-4, 0.1) == pytest.approx(745, rel=0.01)


def test_a_small_buffer_costs_utilization() -> None:
    reno = {"kind": "reno"}
    # Without a buffer the window varies between a half and one BDP.
    assert buffer_utilization(reno, 0.0) == pytest.approx(0.75)
    assert buffer_utilization(reno, 1.0) == 1.0
    assert buffer_utilization({"kind": "cubic"}, 1.0) is None


def test_smooth_controls_have_closed_forms() -> None:
    # The root of 1.5/p is Reno's. GAIMD grows by 5/16 and keeps 7/8.
    for kind in ("sqrt", "iiad"):
        parameters = {"kind": kind, "increase": 1.5, "decrease": 1.0}
        assert mean_window(parameters, 1e-4, 0.1) == pytest.approx(math.sqrt(1.5e4))
    assert mean_window({"kind": "gaimd", "remaining": 0.875}, 1e-4, 0.1) == pytest.approx(
        math.sqrt(2.34375e4)
    )
    given = {"kind": "gaimd", "remaining": 0.5, "increase": 2.0}
    assert mean_window(given, 1e-4, 0.1) == pytest.approx(math.sqrt(3e4))
    binomial = {"kind": "binomial", "increase": 2.0, "decrease": 0.5, "k": 1.0, "l": 0.5}
    assert mean_window(binomial, 1e-4, 0.1) == pytest.approx(4e4**0.4)


def test_compound_has_the_closed_form_of_its_draft() -> None:
    parameters = {"kind": "compound", "alpha": 0.125, "k": 0.75, "beta": 0.5}
    for loss in (1e-4, 1e-5):
        assert mean_window(parameters, loss, 0.1) == pytest.approx(0.255 / loss**0.8, rel=0.003)
    assert mean_window({**parameters, "alpha": 0.0}, 1e-4, 0.1) == aimd_window(1.0, 0.5, 1e-4)


def test_goodput_follows_the_closed_form_under_periodic_loss() -> None:
    found = ackclock.response("reno", values=["0.0001", "0.001"], loss_kind="periodic", duration="120 s")
    assert [point.x for point in found.points] == [0.0001, 0.001]
    for point in found.points:
        assert point.low_bps is None, "nothing is random"
        assert point.closed_form_bps is not None
        # A recovery takes a round trip in which the window does not grow: 5 % of a cycle of 20.
        assert 0.93 < point.goodput_bps / point.closed_form_bps < 1.0
    assert found.frame.columns[:3] == ["algorithm", "loss_rate", "goodput_bps"]


def test_utilization_follows_the_closed_form_over_the_buffer() -> None:
    found = ackclock.response("reno", over="buffer", values=["0.1 BDP", "0.5 BDP"])
    for point in found.points:
        assert point.closed_form_bps is not None
        assert point.goodput_bps == pytest.approx(point.closed_form_bps, rel=0.03)


def test_the_command_prints_a_table_and_draws(tmp_path: Path) -> None:
    words = ("response", "reno", "aimd(increase=2)", "--over", "rtt", "--values", "20 ms,40 ms")
    short = ("--duration", "5 s", "--replicates", "2")
    for name in ("response.svg", "response.png"):
        picture = tmp_path / name
        shown = cli(*words, *short, "--plot", str(picture))
        assert shown.code == 0, shown.stderr
        assert max(map(len, shown.stdout.splitlines())) <= 80
        assert "aimd(increase=2)" in shown.stdout and "+-" in shown.stdout and "closed form" in shown.stdout
        assert picture.stat().st_size > 1000
    document = json.loads(cli(*words, *short, "--json").stdout)
    assert document["over"] == "rtt" and len(document["points"]) == 4
    assert {point["x"] for point in document["points"]} == {20.0, 40.0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("cubik",), "did you mean 'cubic'"),
        (("cubic", "--values", "2"), "expected a part such as 0.001 or 0.1%"),
        (("cubic", "--over", "rtt", "--values", "20 Mbit/s"), "expected a quantity such as 40 ms"),
        (("cubic", "--over", "rtt", "--rtt", "20 ms"), "is the axis"),
        (("cubic", "--duration", "0 s"), "expected a time such as 60 s"),
        (("cubic", "--plot", "x.txt"), "must be a file that ends in .svg or .png"),
    ],
)
def test_a_mistake_is_named(words: tuple[str, ...], message: str) -> None:
    answer = cli("response", *words)
    assert answer.code == 2
    assert message in answer.stderr.replace('"', "'"), answer.stderr
    assert "Traceback" not in answer.stderr
