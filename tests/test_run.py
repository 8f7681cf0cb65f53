"""`ackclock run` and `ackclock.run`: the document, its values, what is kept, how fast it starts."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import polars
import pytest
from helpers import TWO_FLOWS, cli, without_cost, without_cpu_time

import ackclock
from ackclock.metrics.declared import METRICS

DOCUMENT = [
    "scenario",
    "scenario_hash",
    "backend",
    "seed",
    "replicate",
    "duration_s",
    "engine_cpu_s",
    "packets_forwarded",
    "events",
    "summary",
    "flows",
    "links",
]
SUMMARY = [
    "capacity_bps",
    "goodput_bps",
    "throughput_bps",
    "utilization",
    "efficiency",
    "delivery_ratio",
    "loss_rate",
    "retransmit_rate",
    "drop_rate",
    "mark_rate",
    "jain_index",
    "spread",
    "queue_delay_mean_s",
    "queue_delay_p95_s",
    "delay_score",
    "reverse_queue_delay_mean_s",
    "reverse_queue_delay_p95_s",
    "bottleneck_queue_delay_mean_s",
    "bottleneck_queue_delay_p95_s",
    "rtt_p50_s",
    "rtt_p95_s",
]
FLOW = [
    "id",
    "name",
    "group",
    "cc",
    "recovery",
    "ecn",
    "goodput_bps",
    "throughput_bps",
    "delivered_bps",
    "loss_rate",
    "retransmit_rate",
    "in_flight_start",
    "sent",
    "copies",
    "arrived",
    "lost",
    "corrupted",
    "in_flight_end",
    "acks_lost",
    "acks_corrupted",
    "sent_bytes",
    "acknowledged_bytes",
    "retransmits",
    "timeouts",
    "congestion_events",
    "marks",
    "ecn_events",
    "access_drops",
    "queue_delay_mean_s",
    "queue_delay_p95_s",
    "delay_score",
    "rtt_mean_s",
    "rtt_p50_s",
    "rtt_p95_s",
    "rtt_min_s",
    "cwnd_mean_segments",
    "base_rtt_s",
    "completion_time_s",
]
LINK = [
    "name",
    "utilization",
    "arrivals",
    "forwarded",
    "drops",
    "marks",
    "losses",
    "queue_delay_mean_s",
    "queue_delay_p95_s",
]


def run_json(*args: str | Path) -> dict[str, Any]:
    answer = cli("run", *args, "--json")
    assert answer.code == 0, answer.stderr
    document: dict[str, Any] = json.loads(answer.stdout)
    return document


@pytest.fixture(scope="module")
def two_flows() -> dict[str, Any]:
    return run_json(TWO_FLOWS)


def test_every_number_of_a_row_is_a_declared_metric() -> None:
    sets = ["--set", "topology.queue=red", "--set", "topology.duplication=0.1", "--set", "duration=10 s"]
    document = run_json(TWO_FLOWS, *sets)
    for of, metrics in METRICS.items():
        for row in [document["summary"]] if of == "summary" else document.get(of, ()):
            numbers = {key for key, value in row.items() if not isinstance(value, str) and key != "id"}
            assert numbers and numbers <= set(metrics), of


def test_the_document_has_the_promised_keys(two_flows: dict[str, Any]) -> None:
    assert list(two_flows) == DOCUMENT
    assert list(two_flows["summary"]) == SUMMARY
    assert [list(flow) for flow in two_flows["flows"]] == [FLOW, FLOW]
    assert all(list(link) == LINK for link in two_flows["links"])
    assert two_flows["links"][0]["name"] == "bottleneck"
    assert (two_flows["scenario"], two_flows["seed"], two_flows["duration_s"]) == ("two-flows", 1, 100.0)


def test_the_values_are_what_the_network_allows(two_flows: dict[str, Any]) -> None:
    summary, flows, link = two_flows["summary"], two_flows["flows"], two_flows["links"][0]
    # 5 Mbit/s hold 416.7 packets of 1500 B a second, 41 667 in 100 s; the flows start within a second.
    assert 0.98 * 41_667 < two_flows["packets_forwarded"] <= 41_667
    # The pipe holds 5 Mbit/s x 64 ms = 26.7 packets, the queue 100. Half of 126.7 still fills the pipe: the
    # link never idles, and the queue never falls below about 36.7 packets, 88 ms.
    # A packet on its way as the measurement begins counts whole: one too many in 95 s.
    assert 0.995 < summary["utilization"] <= 1.0 + 12e3 / (5e6 * 95)
    assert 0.088 < summary["queue_delay_mean_s"] < summary["queue_delay_p95_s"]
    # A packet finds at most 100 before it, 2.4 ms each; percentiles are within 1 %.
    assert summary["queue_delay_p95_s"] < 1.01 * 0.240
    # 1460 of 1500 B are payload. A hole that closes after the warm-up may deliver a window from before it.
    window_bps = 127 * 1460 * 8 / 95
    assert 0.98 * 5e6 * 1460 / 1500 < summary["goodput_bps"] < 5e6 * 1460 / 1500 + window_bps
    assert summary["goodput_bps"] < summary["throughput_bps"] < 1.01 * 5e6
    assert summary["efficiency"] == pytest.approx(summary["goodput_bps"] / 5e6, rel=1e-12)
    # Only the bottleneck drops, and only data: over what came to it, or over what was sent.
    assert sum(flow["lost"] for flow in flows) == link["drops"] > 0
    assert summary["loss_rate"] == pytest.approx(summary["drop_rate"], rel=127 / 39_000)
    assert summary["reverse_queue_delay_mean_s"] < 0.001
    for flow in flows:
        # Propagation, transmissions (2.4 ms + 2 x 0.12 ms) and the queue.
        assert 0.064 + 0.0026 + 0.088 < flow["rtt_mean_s"] < 0.064 + 0.004 + 0.240
        assert flow["base_rtt_s"] == pytest.approx(0.064)
        assert flow["retransmits"] > 0
        assert flow["completion_time_s"] is None
        assert (flow["group"], flow["cc"], flow["recovery"]) == ("test", "aimd", "sack")
    assert 63 < math.fsum(flow["cwnd_mean_segments"] for flow in flows) < 130
    assert link["drops"] + link["forwarded"] <= link["arrivals"] + 101


def test_the_summary_follows_from_flows_and_links(two_flows: dict[str, Any]) -> None:
    summary, link = two_flows["summary"], two_flows["links"][0]
    goodputs = [flow["goodput_bps"] for flow in two_flows["flows"]]
    total, squares = math.fsum(goodputs), math.fsum(goodput**2 for goodput in goodputs)
    assert summary["goodput_bps"] == pytest.approx(total, rel=1e-12)
    assert summary["jain_index"] == pytest.approx(total**2 / (2 * squares), rel=1e-12)
    assert summary["spread"] == pytest.approx((max(goodputs) - min(goodputs)) / (total / 2), rel=1e-9)
    assert summary["drop_rate"] == pytest.approx(link["drops"] / link["arrivals"], rel=1e-12)
    assert summary["utilization"] == link["utilization"]
    assert summary["bottleneck_queue_delay_mean_s"] == link["queue_delay_mean_s"]
    # Of packets that arrived, beside those that the bottleneck forwarded: others at both ends.
    assert summary["queue_delay_mean_s"] == pytest.approx(link["queue_delay_mean_s"], rel=1e-3)
    sums = {key: sum(flow[key] for flow in two_flows["flows"]) for key in ("sent", "lost", "retransmits")}
    assert summary["loss_rate"] == pytest.approx(sums["lost"] / sums["sent"], rel=1e-12)
    assert summary["retransmit_rate"] == pytest.approx(sums["retransmits"] / sums["sent"], rel=1e-12)
    for flow in two_flows["flows"]:
        came = flow["in_flight_start"] + flow["sent"] + flow["copies"]
        assert came == flow["arrived"] + flow["lost"] + flow["corrupted"] + flow["in_flight_end"]


def test_what_is_under_way_at_the_end_is_not_lost() -> None:
    """Two windows of 60 segments fit into 26.7 packets of the path and 100 of the queue."""
    document = run_json(TWO_FLOWS, "--set", "transport.max_window=60", "--set", "duration=20 s")
    assert document["summary"]["loss_rate"] == document["summary"]["drop_rate"] == 0
    assert all(flow["loss_rate"] == flow["lost"] == 0 for flow in document["flows"])
    assert all(flow["in_flight_end"] > 0 for flow in document["flows"])
    assert all(link["drops"] == 0 for link in document["links"])


def test_the_headline_says_what_it_covers(tmp_path: Path, tiny: Path) -> None:
    assert cli("run", tiny).stdout.splitlines()[0] == "tiny: 2 flows"
    path = tmp_path / "mixed.toml"
    datagrams = '[[flows]]\nname = "cbr"\ntraffic = { kind = "cbr", rate = "100 kbit/s" }\n'
    transfers = (
        '[[flows]]\nname = "mice"\ncount = 4\ncc = "aimd"\n'
        'traffic = { kind = "arrivals", every = "500 ms", size = "20 kB" }\n'
    )
    path.write_text(f"{tiny.read_text()}\n{datagrams}{transfers}")
    answer = cli("run", path)
    assert answer.code == 0, answer.stderr
    assert answer.stdout.splitlines()[0] == (
        "tiny: 2 flows; flow arrivals and datagrams have tables of their own"
    )


@pytest.mark.parametrize(
    ("queue", "headings"),
    [
        ("red", ["full drops", "early drops", "forced drops", "early marks", "forced marks"]),
        ("codel", ["full drops", "sojourn drops", "sojourn marks", "ce threshold marks"]),
    ],
)
def test_the_table_of_links_shows_the_reasons_that_a_queue_declares(
    tiny: Path, queue: str, headings: list[str]
) -> None:
    answer = cli("run", tiny, "--set", f'topology.queue={{ kind = "{queue}" }}')
    (line,) = [line for line in answer.stdout.splitlines() if "full drops" in line]
    assert line.split("  ")[0] == "link" and all(heading in line for heading in headings)


def test_what_does_not_apply_is_a_dash_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "datagrams.toml"
    traffic = '[[flows]]\nname = "cbr"\ntraffic = { kind = "cbr", rate = "100 kbit/s" }\n'
    path.write_text(f'schema = 1\nduration = "2 s"\n{DUMBBELL}{traffic}')
    answer = cli("run", path)
    assert answer.code == 0, answer.stderr
    headline, *table = answer.stdout.splitlines()
    assert headline == "scenario: no flows; datagrams have a table of their own"
    lines = [line.split() for line in table]
    assert ["goodput", "-", "no", "flows"] in lines
    assert ["Jain", "index", "-", "no", "flows"] in lines
    result = ackclock.run(path)
    assert result.summary["goodput_bps"] is None
    assert "<td>-</td><td>no flows</td>" in result._repr_html_()


def test_the_same_seed_gives_the_same_bytes(tiny: Path) -> None:
    def lines(*args: str) -> list[str]:
        answer = cli("run", tiny, "--json", *args)
        return [line for line in answer.stdout.splitlines() if "engine_cpu_s" not in line]

    first = lines()
    assert len(first) > 50
    assert lines() == first == lines("--seed", "1")
    assert lines("--seed", "2") != first
    assert run_json(tiny, "--seed", "2")["flows"] != run_json(tiny, "--seed", "3")["flows"]


@pytest.mark.parametrize(
    ("sets", "path", "expected"),
    [
        (["flows.0.count=4"], ("flows", 0, "count"), 4),
        (["flows.test.count=3"], ("flows", 0, "count"), 3),
        (["flows.test.cc.increase=2"], ("flows", 0, "cc", "increase"), 2.0),
        (["flows.0.cc=new-aimd"], ("flows", 0, "cc", "kind"), "new-aimd"),
        (['flows.test.cc={ kind = "aiad", removed = 2 }'], ("flows", 0, "cc", "removed"), 2.0),
        (["topology.rate=3 Mbit/s"], ("topology", "rate"), "3 Mbit/s"),
        (['topology.queue.limit="7 packets"'], ("topology", "queue", "limit"), "7 packets"),
        (["seed=9", "duration=2 s"], ("seed",), 9),
    ],
)
def test_set_reaches_keys(
    tiny: Path, tmp_path: Path, sets: list[str], path: tuple[str | int, ...], expected: object
) -> None:
    out = tmp_path / "out"
    answer = cli("run", tiny, *(part for text in sets for part in ("--set", text)), "--out", out)
    assert answer.code == 0, answer.stderr
    value = json.loads((out / "scenario.json").read_text())
    for key in path:
        value = value[key]
    assert value == expected


def test_set_changes_the_run(tiny: Path) -> None:
    document = run_json(tiny, "--set", "flows.0.count=3", "--set", "flows.test.cc=new-aimd")
    assert [(flow["name"], flow["cc"]) for flow in document["flows"]] == [
        ("test.0", "new-aimd"),
        ("test.1", "new-aimd"),
        ("test.2", "new-aimd"),
    ]


def test_out_keeps_summary_scenario_and_samples(tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "results" / "tiny"
    document = run_json(tiny, "--out", out)
    assert json.loads((out / "summary.json").read_text()) == document
    # What was kept is a scenario, and it runs to the same result.
    again = run_json(out / "scenario.json")
    assert without_cost(again) == without_cost(document)
    flows, links = (polars.read_parquet(out / "samples" / f"*-{kind}.parquet") for kind in ("flows", "links"))
    assert {"time_ns", "flow", "cwnd_segments", "phase"} <= set(flows.columns)
    assert {"time_ns", "link", "backlog_packets"} <= set(links.columns)
    assert set(flows["flow"].cast(polars.String)) == {"test.0", "test.1"}
    assert 0 < links["backlog_packets"].cast(polars.Int64).max() <= 10  # type: ignore[operator]


def test_a_second_run_is_taken_from_the_store(tiny: Path, tmp_path: Path) -> None:
    first, second = (run_json(tiny, "--out", tmp_path / "out") for _ in range(2))
    # The CPU time gives away whether the engine ran.
    assert second == first
    assert run_json(tiny, "--out", tmp_path / "out", "--seed", "2") != first


def test_a_pipe_loses_no_column(tiny: Path, tmp_path: Path) -> None:
    wide, narrow = cli("run", TWO_FLOWS), cli("run", TWO_FLOWS, columns=80)

    def headings(text: str) -> set[str]:
        return set(" ".join(line for line in text.splitlines() if "  " in line).split())

    assert headings(narrow.stdout) < headings(wide.stdout)
    vary = ("--vary", "flows.test.cc=aimd,cubic", "--vary", "topology.rate=1 Mbit/s,2 Mbit/s")
    study = cli("study", tiny, *vary, "--vary", "topology.delay=9 ms,10 ms", "--out", tmp_path / "out")
    columns = ("goodput", "queue", "loss", "utilization", "Jain")
    assert all(column in study.stdout for column in columns)


def test_tables_fit_80_columns(two_flows: dict[str, Any]) -> None:
    answer = cli("run", TWO_FLOWS, "--all", columns=80)
    assert answer.code == 0
    assert max(map(len, answer.stdout.splitlines())) <= 80
    assert f"{100 * two_flows['summary']['efficiency']:.4f}" in answer.stdout
    brief = cli("run", TWO_FLOWS, columns=80)
    assert max(map(len, brief.stdout.splitlines())) <= 80
    assert "goodput" in brief.stdout and "efficiency" not in brief.stdout
    assert "test.1" in answer.stdout and "bottleneck" in answer.stdout
    assert "seed 1" in answer.stderr


def test_a_name_is_not_markup(tiny: Path, tmp_path: Path) -> None:
    name = "[/x] [red]a :smile: <b>"
    for command in ("run", "check"):
        answer = cli(command, tiny, "--set", f'name="{name}"')
        assert answer.code == 0, answer.stderr
        assert name in answer.stdout
    html = ackclock.run(tiny, sets=(f'name="{name}"',))._repr_html_()
    assert "&lt;b&gt;" in html and "<b>" not in html


def test_a_run_in_which_nothing_arrives(tiny: Path) -> None:
    answer = cli("run", tiny, "--set", 'topology.loss={ kind = "bernoulli", probability = 1 }')
    assert answer.code == 0, answer.stderr


def test_impairments_are_shown_and_counted(tiny: Path) -> None:
    sets = [
        "topology.duplication=0.05",
        "topology.access.corruption=0.02",
        "topology.reverse.reordering={ probability = 0.1, delay = '9 ms' }",
    ]
    options = [word for change in sets for word in ("--set", change)]
    check = cli("check", tiny, *options, columns=80)
    assert "duplication, probability 0.05" in check.stdout
    shown = cli("run", tiny, *options, columns=80)
    assert "corruptions" in shown.stdout and "reordered" in shown.stdout
    assert max(map(len, (check.stdout + shown.stdout).splitlines())) <= 80
    document = run_json(tiny, *options)
    forward, reverse = document["links"]
    assert forward["duplicates"] > 0 and forward["reordered"] == 0
    assert reverse["duplicates"] == 0 and reverse["reordered"] > 0
    assert all(flow["corrupted"] > 0 for flow in document["flows"])


def test_nothing_random_is_said(tiny: Path) -> None:
    answer = cli("run", tiny, "--set", "flows.test.start=0 s")
    assert "nothing is random" in answer.stderr
    assert "nothing is random" in cli("check", tiny, "--set", "flows.test.start=0 s").stdout


def test_check_prints_links_and_base_rtts(tiny: Path) -> None:
    answer = cli("check", tiny)
    assert answer.code == 0
    assert max(map(len, answer.stdout.splitlines())) <= 80
    assert "test.1.source.reverse" in answer.stdout
    described = json.loads(cli("check", tiny, "--json").stdout)
    # 2 x (18 + 1 + 1) ms.
    assert [flow["base_rtt_s"] for flow in described["flows"]] == [0.04, 0.04]
    assert described["bottleneck"] == "bottleneck"


def test_check_prints_a_way_back_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "asymmetric.toml"
    links = 'links = { down = { rate = "1 Mbit/s" }, up = { rate = "9 Mbit/s" } }'
    flow = '[[flows]]\ncc = "aimd"\npath = ["down"]\nreverse_path = ["up"]\n'
    path.write_text(f'schema = 1\nduration = "1 s"\n{links}\n{flow}')
    assert "reverse path" in cli("check", path).stdout
    path.write_text(path.read_text().replace('"up"]', '"down.reverse"]'))
    assert "reverse path" not in cli("check", path).stdout


def test_python_takes_a_file_a_dict_and_keywords(tiny: Path) -> None:
    tree = tomllib.loads(tiny.read_text())
    documents = [
        without_cpu_time(ackclock.run(scenario).document)
        for scenario in (str(tiny), tiny, tree, ackclock.Scenario(**tree))
    ]
    assert documents[1:] == documents[:1] * 3
    assert without_cost(ackclock.run(tiny).document) == without_cost(run_json(tiny))


def test_keywords_without_a_version_are_of_the_newest(tiny: Path) -> None:
    """A dict without one is refused, as is a file."""
    tree = tomllib.loads(tiny.read_text())
    del tree["schema"]
    newest = ackclock.Scenario(**tree)
    assert newest.hash == ackclock.Scenario(schema=2, **tree).hash
    assert {flow["profile"] for flow in json.loads(newest.resolved_json)["flows"]} == {"linux"}
    old = ackclock.Scenario(transport={"profile": "rfc"}, **tree)
    assert old.hash == ackclock.Scenario(schema=1, **tree).hash != newest.hash
    with pytest.raises(ackclock.ScenarioError, match="schema"):
        ackclock.Scenario.from_dict(tree)


def test_python_gives_values_and_frames(tiny: Path, tmp_path: Path) -> None:
    result = ackclock.run(tiny, seed=5, sets=("flows.test.count=3",), out=str(tmp_path / "out"))
    assert result.seed == 5
    assert list(result.summary) == SUMMARY
    assert [flow["name"] for flow in result.flows] == ["test.0", "test.1", "test.2"]
    assert result.links[0]["name"] == "bottleneck"
    flows, links = result.samples.flows, result.samples.links
    # A thousand intervals, of three flows.
    assert 3 * 900 < flows.height <= 3 * 1001
    assert links.height > 900
    one = flows.filter(polars.col("flow") == "test.0")
    assert one["time_ns"].is_sorted()
    assert "slow-start" in set(one["phase"].cast(polars.String))
    assert (tmp_path / "out" / "runs.sqlite").is_file()
    html = result._repr_html_()
    assert html.startswith("<table>") and "tiny" in html
    assert "<td>goodput</td>" in html and "<td>Mbit/s</td>" in html
    assert ackclock.run(tiny, replicate=1).document["replicate"] == 1
    assert "tiny" in repr(result)


def test_every_public_name_is_there() -> None:
    assert all(getattr(ackclock, name) is not None for name in ackclock.__all__)
    assert set(ackclock.__all__) == set(dir(ackclock))
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        _ = ackclock.runn


def test_run_json_needs_no_heavy_library(tiny: Path) -> None:
    script = (
        "import sys\n"
        "from ackclock.__main__ import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    heavy = {'polars', 'matplotlib', 'rich', 'jinja2'} & set(sys.modules)\n"
        "    print(sorted(heavy), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "run", str(tiny), "--json"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["scenario"] == "tiny"
    assert done.stderr == "[]\n"


DUMBBELL = 'topology = { kind = "dumbbell", rate = "1 Mbit/s", delay = "10 ms" }\n'
MARKING = 'topology.queue={ kind = "red", limit = "30 packets", ecn = true }'


def test_marks_are_counted_apart_from_losses(tiny: Path) -> None:
    document = run_json(tiny, "--set", MARKING, "--set", "flows.test.ecn=classic")
    link = next(link for link in document["links"] if link["name"] == "bottleneck")
    assert link["marks"] == link["early_marks"] + link["forced_marks"] > 10
    assert document["summary"]["mark_rate"] == pytest.approx(link["marks"] / link["arrivals"], rel=1e-12)
    flows = document["flows"]
    assert [flow["ecn"] for flow in flows] == ["classic", "classic"]
    # What is under way at either end of the window.
    assert sum(flow["marks"] for flow in flows) == pytest.approx(link["marks"], abs=5)
    assert all(0 < flow["ecn_events"] <= flow["marks"] for flow in flows)


@pytest.mark.parametrize("command", ["run", "check"])
def test_marking_in_vain_is_warned_of(tiny: Path, command: str) -> None:
    answer = cli(command, tiny, "--set", MARKING)
    assert answer.code == 0
    assert "warning: the queue of bottleneck is to mark packets, but" in answer.stderr
    assert "none is ECN-capable: test" in answer.stderr
    answer = cli(command, tiny, "--set", "flows.test.ecn=classic")
    assert 'warning: test is ECN-capable (ecn = "classic"), but no queue on its path marks' in answer.stderr
    both = cli(command, tiny, "--set", MARKING, "--set", "flows.test.ecn=classic")
    assert "warning" not in both.stderr
