"""A queue alone: `ackclock queue` and `ackclock.queue`."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from helpers import cli

import ackclock
from ackclock.errors import AckclockError
from ackclock.files.labels import table_of


def test_the_command_prints_counts_and_sojourn_times_and_draws_the_state() -> None:
    answer = cli("queue", "codel", "--duration", "4 s")
    assert answer.code == 0, answer.stderr
    for text in ("utilization", "sojourn time, ms", "poisson(7.5 Mbit/s)", "drops by reason: sojourn"):
        assert text in answer.stdout


def test_every_packet_is_sent_dropped_or_queued() -> None:
    answer = cli(
        "queue",
        "red",
        "--arrivals",
        "poisson(11 Mbit/s, flows=3)",
        "--arrivals",
        "burst(packets=30, every=1 s)",
        "--json",
    )
    document = json.loads(answer.stdout)
    for row in [document["total"], *document["sources"]]:
        assert row["arrived"] == row["sent"] + row["dropped"] + row["queued"]
    assert sum(row["arrived"] for row in document["sources"]) == document["total"]["arrived"]
    assert document["total"]["dropped"] == sum(document["drops"].values()) > 0


def test_samples_are_of_equal_intervals_and_add_up(tmp_path: Path) -> None:
    run = ackclock.queue("pie", arrivals=["poisson(11 Mbit/s)"], duration="2 s", interval="50 ms")
    assert run.samples["time_ns"].to_list() == [50_000_000 * (at + 1) for at in range(40)]
    assert run.samples["dropped"].sum() == run.document["total"]["dropped"]
    assert run.samples["arrived_bytes"].sum() == 1500 * run.document["total"]["arrived"]
    assert any(run.samples["probability"])
    sent = run.packets.filter(run.packets["outcome"] == "sent")
    assert (sent["left_ns"] - sent["arrived_ns"]).max() == run.document["total"]["sojourn"]["max_ns"]
    assert pickle.loads(pickle.dumps(run)).document == run.document


def test_the_same_seed_gives_the_same_packets() -> None:
    once, again, other = (
        ackclock.queue("red", arrivals=["poisson(12 Mbit/s)"], duration="2 s", seed=seed).document
        for seed in (1, 1, 2)
    )
    assert once == again != other


def test_a_fifo_at_constant_rate_has_the_sojourn_times_of_theory() -> None:
    """At twice the rate, 20 packets of 1.2 ms fill the queue. The last one waits for all of them."""
    run = ackclock.queue(
        '{ kind = "drop-tail", limit = "20 packets" }', arrivals=["cbr(20 Mbit/s)"], duration="1 s"
    )
    assert run.document["total"]["sojourn"]["max_ns"] == pytest.approx(20 * 1.2e6, rel=0.05)
    assert run.document["utilization"] == pytest.approx(1, abs=0.01)


def test_poisson_arrivals_at_a_fifo_wait_as_in_an_md1_queue() -> None:
    """Pollaczek and Khinchine: at load r, the mean wait is r / (2 (1 - r)) of a transmission."""
    run = ackclock.queue(
        '{ kind = "drop-tail", limit = "100000 packets" }',
        arrivals=["poisson(7 Mbit/s)"],
        duration="400 s",
        packets=False,
    )
    assert run.document["total"]["sojourn"]["mean_ns"] == pytest.approx(1.2e6 * 0.7 / (2 * 0.3), rel=0.03)


def test_recorded_arrivals_are_read(tmp_path: Path) -> None:
    file = tmp_path / "arrivals.csv"
    file.write_text("time_s,bytes,flow,ecn\n0,1000,a,not-ect\n0.0001,1000,b,ect0\n0.0002,500,a,ect1\n")
    out = tmp_path / "packets.csv"
    answer = cli(
        "queue", "drop-tail", "--trace", str(file), "--rate", "8 Mbit/s", "--csv", str(out), "--json"
    )
    assert answer.code == 0, answer.stderr
    assert json.loads(answer.stdout)["total"]["sent_bytes"] == 2500
    # The first packet is sent at once, the others wait for a millisecond each.
    lines = out.read_text().splitlines()
    assert [line.split(",")[5] for line in lines[1:]] == ["0", "1000000", "2000000"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: has no column time_s"),
        ("time_s,bytes\n", "has no packets"),
        ("time_s,bytes,colour\n0,1,red\n", "unknown column 'colour'"),
        ("time_s,bytes\n1,100\n0.5,100\n", "line 3: time_s is before the line above"),
        ("time_s,bytes\n0,zero\n", "line 2: bytes is 'zero'"),
        ("time_s,bytes\n0,70000\n", "bytes is '70000'"),
        ("time_s,bytes\nnan,1\n", "time_s is 'nan'"),
        ("time_s,bytes\n0\n", "has another number of columns"),
        ("time_s,bytes,ecn\n0,10,ect2\n", "ecn is 'ect2'; did you mean"),
    ],
)
def test_mistakes_in_a_trace_name_file_and_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "arrivals.csv"
    file.write_text(content)
    answer = cli("queue", "codel", "--trace", str(file))
    assert (answer.code, answer.stdout) == (2, "")
    assert str(file) in answer.stderr and message in answer.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["coddel"], 'error: queue coddel: unknown queue discipline "coddel"; did you mean "codel"?'),
        (["codel(taget=5 ms)"], "taget"),
        (["codel(5 ms)"], 'has the value "5 ms" without a key'),
        (["codel", "--arrivals", "poison(9 Mbit/s)"], "arrivals[0].kind"),
        (["codel", "--arrivals", "cbr"], "arrivals[0].rate: is missing; cbr needs rate"),
        (["codel", "--arrivals", "cbr(9 Mbit)"], "arrivals[0].rate"),
        (["codel", "--rate", "fast"], "rate"),
        (["codel", "--duration", "0 s"], "duration"),
        (["codel", "--interval", "1 ns"], "interval: must give at most 100000 samples"),
        (["codel", "--arrivals", "burst(packets=1, every=100 s, from=20 s)"], "no packet arrives"),
        (["codel", "--plot", "queue.pdf"], "must be a file that ends in .svg or .png"),
    ],
)
def test_mistakes_are_one_message(arguments: list[str], message: str) -> None:
    answer = cli("queue", *arguments)
    assert (answer.code, answer.stdout) == (2, "")
    assert message in answer.stderr and len(answer.stderr.splitlines()) == 1


def test_labels_are_tables() -> None:
    assert table_of("codel(target=10 ms, ecn=true)") == {"kind": "codel", "target": "10 ms", "ecn": True}
    assert table_of("poisson(9 Mbit/s, flows=3)", "rate") == {
        "kind": "poisson",
        "rate": "9 Mbit/s",
        "flows": 3,
    }
    assert table_of('{ kind = "codel", target = "1 ms" }') == {"kind": "codel", "target": "1 ms"}
    with pytest.raises(ValueError, match="has no closing parenthesis"):
        table_of("codel(target")


def test_a_picture_is_written(tmp_path: Path) -> None:
    file = tmp_path / "queue.svg"
    answer = cli("queue", "fq-codel", "--plot", str(file), "--duration", "1 s")
    assert answer.code == 0, answer.stderr
    assert "largest sojourn time" in file.read_text()


def test_the_interface_raises_errors_of_its_own() -> None:
    with pytest.raises(AckclockError, match="did you mean"):
        ackclock.queue("coddel")
