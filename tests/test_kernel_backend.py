"""Runs of a kernel in virtual time by the command line. They need a kernel that `make kernel` has built."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from helpers import ROOT, cli, require_kernel

from ackclock.kernels import store

SCENARIO = """
schema = 2
duration = "4 s"
warmup = "1 s"
[topology]
kind = "dumbbell"
rate = "10 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "34 packets" }
[[flows]]
name = "test"
cc = "cubic"
send_jitter = "1 packet"
"""


@pytest.fixture(autouse=True)
def _built() -> None:
    require_kernel()


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    return str(path)


def documents(*arguments: str) -> dict[str, Any]:
    """Return the result of a run without its cost."""
    answer = cli("run", *arguments, "--backend", "kernel", "--json")
    assert answer.code == 0, answer.stderr
    document: dict[str, Any] = json.loads(answer.stdout)
    del document["engine_cpu_s"]
    return document


def test_a_run_equals_its_repetition_and_another_seed_does_not(scenario: str) -> None:
    first = documents(scenario)
    assert first["backend"] == "kernel" and first["emulation"]["valid"]
    assert first["emulation"]["algorithms"] == {"test": "cubic"}
    assert documents(scenario) == first
    assert documents(scenario, "--seed", "9")["flows"] != first["flows"]


def test_the_kernel_and_the_simulator_agree(scenario: str) -> None:
    answer = cli("run", scenario, "--backend", "sim", "--backend", "kernel", "--json")
    simulated, emulated = (run["flows"][0] for run in json.loads(answer.stdout)["runs"])
    assert emulated["goodput_bps"] == pytest.approx(simulated["goodput_bps"], rel=0.01)
    assert emulated["cwnd_mean_segments"] == pytest.approx(simulated["cwnd_mean_segments"], rel=0.05)


def test_samples_and_packets_are_written(scenario: str, tmp_path: Path) -> None:
    folder, capture = tmp_path / "csv", tmp_path / "run.pcapng"
    arguments = (
        "--set",
        "sampling.interval=100 ms",
        "--csv",
        str(folder),
        "--pcap",
        str(capture),
        "--at",
        "sender",
    )
    answer = cli("run", scenario, "--backend", "kernel", *arguments)
    assert answer.code == 0, answer.stderr
    assert len((folder / "flows.csv").read_text().splitlines()) == 42
    report = cli("sequence", str(capture), "--out", str(tmp_path / "sequence.svg"))
    assert report.code == 0, report.stderr


def test_a_study_stores_its_results_by_kernel_and_goes_on(scenario: str, tmp_path: Path) -> None:
    arguments = (
        "study",
        scenario,
        "--backend",
        "kernel",
        "--replicates",
        "2",
        "--out",
        str(tmp_path / "study"),
    )
    first = cli(*arguments, "--vary", "topology.rate=5 Mbit/s,10 Mbit/s", "--json")
    assert first.code == 0, first.stderr
    again = cli(*arguments, "--vary", "topology.rate=5 Mbit/s,10 Mbit/s", "--json")
    assert again.stdout == first.stdout


def test_simulated_flows_of_any_kind_run_beside_those_of_the_kernel(scenario: str, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "import ackclock\n"
        "class Half(ackclock.CongestionControl):\n"
        "    def on_ack(self, ack): self.cwnd += ack.acked / self.cwnd\n"
        "    def on_congestion(self, event): self.cwnd /= 2\n"
    )
    with Path(scenario).open("a") as file:
        file.write(f'[[flows]]\nname = "own"\ncc = "{own}:Half"\nstack = "simulated"\n')
        file.write('[[flows]]\nname = "quic"\ncc = "bbr3"\nprotocol = "quic"\nstack = "simulated"\n')
        file.write('[[flows]]\nname = "call"\ntraffic = { kind = "rtp", rate = "500 kbit/s" }\n')
    first = documents(scenario)
    assert documents(scenario) == first
    assert first["emulation"]["algorithms"] == {"test": "cubic"}
    assert [flow["group"] for flow in first["flows"]] == ["test", "own", "quic"]
    assert all(flow["goodput_bps"] > 3e5 for flow in first["flows"])
    (call,) = first["datagrams"]
    assert call["delivered_bps"] == pytest.approx(5e5, rel=0.02)
    (link,) = [link for link in first["links"] if link["name"] == "bottleneck"]
    assert link["drops"] == sum(flow["lost"] for flow in first["flows"]) + call["lost"]


WIFI = """
schema = 2
duration = "6 s"
warmup = "1 s"
[channels.wifi]
kind = "dcf"
preset = "802.11g"
rate = "54 Mbit/s"
[links]
ap = { channel = "wifi", queue = { kind = "drop-tail", limit = "300 packets" } }
station.channel = "wifi"
wire = { rate = "1 Gbit/s", delay = "10 ms" }
[[flows]]
name = "test"
cc = "cubic"
profile = "linux"
path = ["wire", "ap"]
reverse_path = ["station", "wire.reverse"]
"""


def test_stations_of_a_channel_carry_the_packets_of_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "wifi.toml"
    path.write_text(WIFI)
    answer = cli("run", path, "--backend", "sim", "--backend", "kernel", "--json")
    assert answer.code == 0, answer.stderr
    simulated, emulated = (run["flows"][0]["goodput_bps"] for run in json.loads(answer.stdout)["runs"])
    assert emulated == pytest.approx(simulated, rel=0.05) and emulated > 20e6


METER = """
[meters.edge]
kind = "srtcm"
committed_rate = "4 Mbit/s"
committed_burst = "20 kB"
excess_burst = "20 kB"
red = "drop"
"""


def test_a_meter_polices_the_packets_of_the_kernel(scenario: str) -> None:
    text = Path(scenario).read_text() + 'meter = "edge"\n'
    Path(scenario).write_text(text.replace("[[flows]]", f"{METER}[[flows]]"))
    document = documents(scenario)
    ((flow,), (meter,)) = document["flows"], document["meters"]
    assert flow["throughput_bps"] == pytest.approx(4e6, rel=0.06)
    assert meter["policed"] == meter["red"] == flow["lost"] > 10


def test_a_capture_at_a_link_shows_its_packets_and_changes_nothing(scenario: str, tmp_path: Path) -> None:
    capture = tmp_path / "run.pcapng"
    plain = documents(scenario)
    captured = documents(scenario, "--pcap", str(capture), "--at", "bottleneck")
    assert captured["flows"] == plain["flows"]
    flow = plain["flows"][0]
    assert capture.stat().st_size > 100 * flow["arrived"]


def test_algorithms_of_the_kernel_run_by_name_with_parameters_and_sysctls(scenario: str) -> None:
    westwood = documents(scenario, "--set", 'flows.test.cc={ kind = "kernel", name = "westwood" }')
    assert westwood["emulation"]["algorithms"] == {"test": "westwood"}
    plain = documents(scenario)
    without = documents(
        scenario,
        "--set",
        'flows.test.cc={ kind = "kernel", name = "cubic", hystart = 0 }',
        "--set",
        "warmup=0 s",
    )
    assert without["flows"][0]["retransmits"] > plain["flows"][0]["retransmits"]
    # A small send buffer limits the window. Without the sysctl, none limits it.
    held = documents(scenario, "--set", "kernel={ sysctl = { tcp_wmem = '4096 16384 65536' } }")
    assert held["flows"][0]["cwnd_mean_segments"] < 0.9 * plain["flows"][0]["cwnd_mean_segments"]


def test_both_ends_of_dctcp_agree_to_ecn(scenario: str) -> None:
    """Without ECN the queue is not marked, and it fills to its limit."""
    sets = [
        "--set", "flows.test.cc=dctcp", "--set", "flows.test.ecn=dctcp", "--set", "topology.rate=100 Mbit/s",
        "--set", "topology.delay=1 ms", "--set", "duration=3 s",
        "--set", "topology.queue={ kind = 'codel', ce_threshold = '1 ms', limit = '200 packets', "
        "target = '1 s', ecn = true }",
    ]  # fmt: skip
    kernel = documents(scenario, *sets)
    simulated = json.loads(cli("run", scenario, *sets, "--json").stdout)
    for document in (kernel, simulated):
        assert document["summary"]["mark_rate"] > 0.01 and document["flows"][0]["lost"] == 0
    assert kernel["summary"]["efficiency"] == pytest.approx(simulated["summary"]["efficiency"], rel=0.05)


def test_a_feature_that_the_backend_lacks_is_one_message(scenario: str) -> None:
    for key, value, message in (
        (
            "flows.test.cc",
            "bbr3",
            "error: flows.test.cc: the kernel contains no bbr3; use with --backend kernel: reno",
        ),
        (
            "flows.test.protocol",
            "quic",
            "error: flows.test.protocol: the kernel has TCP only (--backend kernel)",
        ),
        ("flows.test.max_window", "10", "error: flows.test.max_window: the kernel sets its receive window"),
        (
            "flows.test.cc",
            '{ kind = "kernel", name = "westwod" }',
            'error: flows.test.cc: the kernel has no algorithm westwod; did you mean "westwood"',
        ),
        (
            "kernel",
            "{ sysctl = { tcp_recvery = 0 } }",
            "error: kernel.sysctl.tcp_recvery: the kernel has no sysctl net.ipv4.tcp_recvery; did you mean",
        ),
    ):
        answer = cli("run", scenario, "--backend", "kernel", "--set", f"{key}={value}")
        assert (answer.code, answer.stdout) == (2, "")
        assert answer.stderr.splitlines()[-1].startswith(message), answer.stderr


#: Every algorithm of Linux 6.12, with a parameter of its module where it has one.
OWN = {
    "reno": "",
    "cubic": ", hystart = false",
    "bbr": "",
    "bic": ", beta = 900",
    "westwood": "",
    "highspeed": "",
    "hybla": ", rtt0 = 30",
    "htcp": ", use_rtt_scaling = false",
    "vegas": ", alpha = 3",
    "nv": ", nv_pad = 20",
    "scalable": "",
    "lp": "",
    "veno": "",
    "yeah": "",
    "illinois": ", theta = 4",
    "dctcp": ", dctcp_shift_g = 3",
    "cdg": ", window = 4",
}


def test_every_algorithm_of_the_kernel_runs_by_its_name(scenario: str) -> None:
    for name, parameter in OWN.items():
        cc = f'flows.test.cc={{ kind = "kernel", name = "{name}"{parameter} }}'
        document = documents(scenario, "--set", cc, "--set", "duration=2 s")
        assert document["emulation"]["algorithms"] == {"test": name}
        assert document["flows"][0]["goodput_bps"] > 2e6, name


def test_a_name_alone_selects_the_algorithm_of_the_kernel(scenario: str) -> None:
    by_kind = documents(scenario, "--set", 'flows.test.cc={ kind = "kernel", name = "nv" }')
    by_name = documents(scenario, "--set", "flows.test.cc=nv")
    for part in ("flows", "links", "emulation"):
        assert by_name[part] == by_kind[part], part
    answer = cli("run", "--flows", "nv*2,cubic", "--duration", "3 s", "--backend", "kernel")
    assert answer.code == 0, answer.stderr
    assert "cubic for cubic, nv for nv" in answer.stderr


def test_an_algorithm_of_both_is_the_one_of_the_backend(scenario: str) -> None:
    for name in ("vegas", "veno", "illinois", "yeah", "lp", "cdg"):
        change = ("--set", f"flows.test.cc={name}", "--set", "duration=2 s")
        document = documents(scenario, *change)
        assert document["emulation"]["algorithms"] == {"test": name}
        assert cli("run", scenario, *change).code == 0, name


def test_an_unknown_name_or_parameter_is_one_message_with_a_suggestion(scenario: str) -> None:
    for change, message in (
        (
            "flows.test.cc=illinios",
            'flows.test.cc.kind: unknown algorithm "illinios"; did you mean "illinois"?',
        ),
        (
            'flows.test.cc={ kind = "kernel", name = "nv", nv_padd = 20 }',
            "error: flows.test.cc.nv_padd: the kernel has no module parameter tcp_nv.nv_padd; "
            'did you mean "nv_pad"?',
        ),
    ):
        answer = cli("run", scenario, "--backend", "kernel", "--set", change)
        assert (answer.code, answer.stdout) == (2, "")
        assert message in answer.stderr.splitlines()[-1], answer.stderr


def test_the_simulation_refuses_an_algorithm_of_the_kernel(scenario: str) -> None:
    answer = cli("run", scenario, "--set", 'flows.test.cc={ kind = "kernel", name = "nv" }')
    message = "error: flows.test.cc: nv runs in a kernel only; use --backend kernel"
    assert (answer.code, answer.stdout) == (2, "") and answer.stderr.splitlines()[-1] == message


def test_several_kernels_are_compared(scenario: str) -> None:
    names = [kernel.name for kernel in store.kernels() if kernel.tree is not None]
    if len(names) < 2:
        pytest.skip("one kernel has its build tree")
    kernels = [word for name in names[:2] for word in ("--kernel", name)]
    answer = cli("run", scenario, *kernels, "--json")
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    versions = [name.rpartition("-")[0] for name in names[:2]]
    assert list(document["differences"][0]["values"]) == versions
    assert [run["backend"] for run in document["runs"]] == ["kernel", "kernel"]


def test_a_killed_run_leaves_no_guest(scenario: str) -> None:
    command = [
        sys.executable,
        "-m",
        "ackclock",
        "run",
        scenario,
        "--backend",
        "kernel",
        "--set",
        "duration=1 h",
    ]
    with subprocess.Popen(command, start_new_session=True) as run:
        while not (guests := children(run.pid)):
            time.sleep(0.01)
            assert run.poll() is None
        time.sleep(0.5)
        run.send_signal(signal.SIGKILL)
    for _ in range(200):
        if not any(Path(f"/proc/{guest}/cwd").exists() for guest in guests):
            break
        time.sleep(0.01)
    assert [guest for guest in guests if Path(f"/proc/{guest}/cwd").exists()] == []
    assert list(Path("/dev/shm").glob(f"ackclock-guests-{run.pid}-*")) == []


def children(parent: int) -> list[int]:
    """Return the processes whose parent is this one."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(status.parent.name))
    return found


def test_a_script_runs_in_the_simulation_and_in_the_kernel(tmp_path: Path) -> None:
    script = tmp_path / "script.pkt"
    script.write_text(
        "`defaults.sh`\n"
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"
        "+0 bind(3, ..., ...) = 0\n"
        "+0 listen(3, 1) = 0\n"
        "+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,wscale 7>\n"
        "+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>\n"
        "+.1 < . 1:1(0) ack 1 win 257\n"
        "+0 accept(3, ..., ...) = 4\n"
        "+0 write(4, ..., 3000) = 3000\n"
        "+0 > . 1:2001(2000) ack 1\n"
        "+0 > P. 2001:3001(1000) ack 1\n"
    )
    both = cli("exchange", str(script), "--backend", "sim", "--backend", "kernel")
    assert both.code == 0, both.stdout
    lines = both.stdout.splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [["sim", "passed"], ["kernel", "passed"]]
    assert lines[-2:] == ["sim: 1 passed, 0 failed", "kernel: 1 passed, 0 failed"]
    # Neither differs in a segment that the script expects.
    assert len(lines) == 4
    document = json.loads(cli("exchange", str(script), "--backend", "kernel", "--json").stdout)
    assert document["passed"] == 1
    assert [answer["at_ns"] for answer in document["reports"][0]["answers"]] == [0, 100_000_000, 100_000_000]


def test_scripts_are_compared_line_by_line(tmp_path: Path) -> None:
    script = tmp_path / "syn.pkt"
    script.write_text(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"
        "+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n"
        "+0 connect(3, ..., ...) = -1 EINPROGRESS\n"
        "+0 > S 0:0(0) <mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7>\n"
    )
    both = cli("exchange", str(script), "--backend", "sim", "--backend", "kernel")
    assert both.code == 1
    # Without `defaults.sh` the kernel offers a larger window.
    assert "segments that differ" in both.stdout and "wscale 7" in both.stdout


def test_options_of_scripts_are_checked(tmp_path: Path) -> None:
    script = tmp_path / "syn.pkt"
    script.write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n")
    answer = cli("exchange", str(script), "--backend", "sim", "--kernel", "6.12")
    assert answer.code == 2 and "--kernel needs --backend kernel" in answer.stderr
    answer = cli("exchange", str(script), "--kernel", "9.9")
    assert answer.code == 2 and "kernel 9.9 is not built" in answer.stderr


MULTIPATH = ROOT / "examples" / "multipath.toml"


def goodputs(*arguments: str | Path) -> dict[str, float]:
    """Return the goodput of each flow of a run, Mbit/s."""
    return {flow["name"]: flow["goodput_bps"] / 1e6 for flow in documents(*map(str, arguments))["flows"]}


def test_multipath_tcp_fills_both_paths() -> None:
    found = goodputs(MULTIPATH, "--set", "duration=5 s")
    assert 18 < found["over-wifi"] < 19.2 and 9 < found["over-lte"] < 9.6


def test_multipath_tcp_hands_over_to_the_path_that_remains(tmp_path: Path) -> None:
    answer = cli("run", MULTIPATH, "--backend", "kernel", "--csv", tmp_path, "--set", "sampling.interval=1 s")
    assert answer.code == 0, answer.stderr
    samples = pl.read_csv(tmp_path / "flows.csv").sort("flow", "time_ns")
    rates = samples.with_columns(mbps=pl.col("delivered_bytes").diff().over("flow") * 8e-6)
    last = dict(rates.filter(pl.col("time_ns") == 10**10).select("flow", "mbps").iter_rows())
    assert last["over-wifi"] == 0 and last["over-lte"] > 9


def test_multipath_tcp_competes_with_other_flows() -> None:
    other = 'flows=[{name="over-wifi",cc="cubic",path=["wifi"]},{name="over-lte",cc="cubic",path=["lte"]},'
    other += '{name="single",cc="reno",path=["lte"]}]'
    found = goodputs(MULTIPATH, "--set", other, "--set", "duration=5 s")
    assert found["single"] > 2 and found["over-lte"] > 2
    # Data that a gap holds back at the start of the window counts in it.
    assert 9 < found["single"] + found["over-lte"] < 10


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--backend", "sim"], "kernel.mptcp: the simulation has no Multipath TCP; use --backend kernel"),
        (["--backend", "linux"], "kernel.mptcp: Multipath TCP needs --backend kernel"),
        (
            ["--backend", "kernel", "--set", "flows.over-lte.stack=simulated"],
            "flows.over-lte.stack: a subflow needs the TCP of the kernel",
        ),
        (
            ["--backend", "kernel", "--set", 'kernel.sysctl={"net.mptcp.enabled"=0}'],
            "over-wifi: the kernel denies MPTCP (Protocol not available",
        ),
    ],
)
def test_multipath_tcp_needs_the_kernel(arguments: list[str], told: str) -> None:
    answer = cli("run", MULTIPATH, *arguments)
    assert answer.code == 2 and told in answer.stderr
