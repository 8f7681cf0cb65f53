"""The emulator behind the command: real TCP of the running kernel, in real time.

The tests need Linux, /dev/net/tun, and root; elsewhere they are skipped with the reason.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import ACKCLOCK, cli, emulates, loads, no_programs

import ackclock
from ackclock import kernel
from ackclock.evaluation.sequence import sequence_plot
from ackclock.running.job import execute
from ackclock.running.work import Study

SCENARIO = """\
schema = 1
name = "cell"
duration = "2 s"
warmup = "500 ms"
[topology]
kind = "dumbbell"
rate = "5 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "20 packets" }
[[flows]]
name = "test"
cc = "cubic"
profile = "linux"
"""


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    file = tmp_path / "cell.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def without_hosts() -> set[str]:
    """Return the devices, namespaces and congestion controls that an emulation could leave."""
    loaded = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text(encoding="ascii").split()
    # Tests of the kernel load algorithms at the same time, under names with their process.
    loaded = [name for name in loaded if not re.fullmatch(r"t\d+", name)]
    devices = {entry.name for entry in Path("/sys/class/net").iterdir()}
    held = set()
    for entry in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            held.add(str(entry.readlink()))
        except OSError:
            continue
    return devices | held | set(loaded)


def left_behind(before: set[str]) -> set[str]:
    """Return the new entries of `without_hosts()` that stay for 20 s. Those of other tests end."""
    left = without_hosts() - before
    deadline = time.monotonic() + 20
    while left and time.monotonic() < deadline:
        time.sleep(0.1)
        left &= without_hosts()
    return left


@emulates
def test_a_run_has_the_metrics_of_a_simulation_and_says_whether_it_counts(cell: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    both = cli("run", cell, "--backend", "sim", "--backend", "linux", "--json", "--out", out)
    assert both.code == 0, both.stderr
    document = json.loads(both.stdout)
    simulated, emulated = document["runs"]
    assert (simulated["backend"], emulated["backend"]) == ("sim", "linux")
    assert set(emulated) - set(simulated) == {"emulation"}
    for rows in ("flows", "links"):
        assert [list(row) for row in simulated[rows]] == [list(row) for row in emulated[rows]]
    assert list(simulated["summary"]) == list(emulated["summary"])
    fidelity = emulated["emulation"]
    assert fidelity["valid"] == (not fidelity["reasons"]) == document["valid"]
    assert ("NOT VALID" in both.stderr) == (not fidelity["valid"])
    goodput = emulated["summary"]["goodput_bps"]
    assert 0 < goodput < 5.1e6
    if fidelity["valid"]:
        assert goodput == pytest.approx(simulated["summary"]["goodput_bps"], rel=0.1)
        # The handshake measures it, whose packets take next to no time; a full segment takes 2.4 ms.
        assert emulated["flows"][0]["rtt_min_s"] == pytest.approx(0.02, abs=0.001)
    (row,) = [
        row for row in document["differences"] if (row["flow"], row["metric"]) == ("test", "goodput_bps")
    ]
    assert row["relative"]["linux"] == pytest.approx(row["values"]["linux"] / row["values"]["sim"] - 1)
    # Stored apart, with samples of both.
    names = sorted(path.name for path in (out / "samples").iterdir())
    assert len(names) == 4 and sum(name.startswith("linux-") for name in names) == 2


@loads
def test_our_algorithms_and_those_of_users_run_as_programs(cell: Path) -> None:
    before = without_hosts()
    path = kernel.object_of("aimd")
    with cell.open("a", encoding="utf-8") as file:
        file.write(f'[[flows]]\nname = "mine"\ncc = {{ kind = "bpf", object = "{path}", increase = 3 }}\n')
        file.write('profile = "linux"\n[[flows]]\nname = "own"\ncc = "aimd"\nprofile = "linux"\n')
        file.write('[[flows]]\nname = "text"\ncc = { kind = "rule", cut = "0.7 * w" }\nprofile = "linux"\n')
    sets = [
        "flows.test.cc={ kind='mimd', increase=0.02 }",
        # Room for the initial windows of all four: losses among them leave a flow nothing but timeouts.
        "topology.queue.limit=100 packets",
    ]
    answer = cli(
        "run", cell, "--backend", "linux", "--json", *(word for each in sets for word in ("--set", each))
    )
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert document["emulation"]["algorithms"] == {
        "test": "mimd (eBPF)",
        "mine": f"{path} (eBPF)",
        "own": "reno",
        "text": "rule (eBPF)",
    }
    assert [flow["cc"] for flow in document["flows"]] == ["mimd", "aimd", "aimd", "rule"]
    assert all(flow["goodput_bps"] > 2e5 for flow in document["flows"]), document["flows"]
    # What fits into the path and the queue, and what recovery adds.
    assert all(1 < flow["cwnd_mean_segments"] < 150 for flow in document["flows"]), document["flows"]
    assert left_behind(before) == set()


@loads
def test_the_parameters_are_those_of_the_program(cell: Path) -> None:
    # From half of 28 segments to all in 14 round trips, or in two.
    def events(increase: int) -> int:
        cc = f"flows.test.cc={{ kind = 'aimd', increase = {increase} }}"
        answer = cli("run", cell, "--backend", "linux", "--json", "--set", cc)
        assert answer.code == 0, answer.stderr
        return int(json.loads(answer.stdout)["flows"][0]["congestion_events"])

    assert events(8) >= 2 * events(1) + 2


@emulates
def test_tables_have_the_mark(cell: Path) -> None:
    answer = cli("run", cell, "--backend", "linux", "--set", "duration=1 s", columns=100)
    assert answer.code == 0
    assert "lateness of packets, 99 %" in answer.stdout
    # A long title wraps.
    table = " ".join(answer.stdout.split())
    assert ("NOT VALID: " in table) == ("NOT VALID: " in answer.stderr)
    assert ": valid" in table or "NOT VALID: " in table


@emulates
def test_a_program_behind_the_scenario_gives_its_exit_code(cell: Path) -> None:
    fetch = (
        "import os, socket; "
        "end = socket.create_connection((os.environ['ACKCLOCK_SERVER'], 7)); "
        "end.shutdown(socket.SHUT_WR); size = 0\\n"
        "while data := end.recv(65536): size += len(data)\\n"
        "raise SystemExit(5 if size == 100000 else 6)"
    )
    serve = "import socket; door = socket.create_server(('', 7)); door.accept()[0].sendall(bytes(100000))"
    answer = cli(
        "run",
        cell,
        "--set",
        "duration=20 s",
        "--set",
        "warmup=0 s",
        "--serve",
        f'{sys.executable} -c "{serve}"',
        "--exec",
        f'{sys.executable} -c "$(printf \'%b\' "{fetch}")"',
        "--json",
    )
    assert answer.code == 5, answer.stderr
    document = json.loads(answer.stdout)
    assert document["emulation"]["program_exit"] == 5
    (row,) = document["datagrams"]
    assert (row["traffic"], row["group"]) == ("program", "test") and row["sent"] > 20


@emulates
def test_packets_are_captured_as_they_were(cell: Path, tmp_path: Path) -> None:
    file = tmp_path / "seen.pcapng"
    answer = cli(
        "run", cell, "--backend", "linux", "--set", "duration=1 s", "--pcap", file, "--at", "bottleneck"
    )
    assert answer.code == 0, answer.stderr
    content = file.read_bytes()
    assert content[:4] == b"\x0a\x0d\x0d\x0a" and len(content) > 10_000
    # The address of the first sender, and that of its receiver.
    assert bytes([10, 0, 0, 1, 10, 128, 0, 1]) in content


@emulates
def test_a_study_keeps_emulations_apart(cell: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'schema = 1\nscenario = "cell.toml"\nreplicates = 1\nset = ["duration=1 s"]\n'
        '[grid]\n"flows.test.cc" = ["reno", "cubic"]\n',
        encoding="utf-8",
    )
    answer = cli("study", study, "--backend", "linux", "--json", cwd=tmp_path)
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert document["backend"] == "linux" and (tmp_path / "ackclock-out/study-study-linux").is_dir()
    assert [point["replicates"] for point in document["points"]] == [1, 1]
    invalid = sum(point["invalid_runs"] for point in document["points"])
    assert (f"{invalid} of 2 emulations are invalid" in answer.stderr) == (invalid > 0)


@emulates
def test_nothing_is_left_of_a_run_that_is_killed(cell: Path) -> None:
    before = without_hosts()
    for number in range(4):
        sent = signal.SIGINT if number == 0 else signal.SIGKILL
        command = [ACKCLOCK, "run", str(cell), "--set", "duration=30 s", "--exec", "sleep 60"]
        command += [] if no_programs() else ["--set", "flows.test.cc=aiad"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as run:
            time.sleep(0.6 + 0.2 * number)
            run.send_signal(sent)
            run.wait(timeout=10)
    assert left_behind(before) == set()


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (
            ["flows.test.cc=aild"],
            "flows.test.cc: the kernel contains no aild; use with --backend linux: reno",
        ),
        (
            ["flows.test.cc={ kind = 'cubic', remaining = 0.6 }"],
            "flows.test.cc: the kernel has cubic with its",
        ),
        (["flows.test.max_window=20"], "flows.test.max_window: the kernel sets"),
        (
            ["flows.test.cc=cubic", "flows.test.profile=quic"],
            "flows.test.protocol: the emulator has the kernel's TCP",
        ),
        (["sampling.packets=true"], "sampling.packets: the emulator traces no packets"),
    ],
)
def test_what_cannot_be_emulated_is_one_line(cell: Path, sets: list[str], message: str) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("another message where there is no emulator at all")
    options = [word for text in sets for word in ("--set", text)]
    answer = cli("run", cell, "--backend", "linux", *options)
    assert (answer.code, answer.stdout) == (2, "")
    assert message in answer.stderr.splitlines()[-1]


def hidden(place: str) -> list[str]:
    """Return a command that runs another where nothing is at a place."""
    return ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none {place} && exec "$0" "$@"']


#: Of a user namespace without network namespaces.
CONFINED = ["unshare", "--user", "--map-root-user", "sh", "-c"]
CONFINED += ['echo 0 > /proc/sys/user/max_net_namespaces && exec "$0" "$@"']


@emulates
@pytest.mark.parametrize(
    ("within", "cc", "message"),
    [
        (hidden("/dev/net"), "cubic", "error: /dev/net/tun: No such file or directory"),
        (hidden("/sys/kernel/btf"), "aiad", "error: flows.test.cc: aiad (eBPF): this kernel has no BTF"),
        (CONFINED, "cubic", "error: the emulator needs network namespaces, and this user may not make them"),
        (CONFINED, "aiad", "error: flows.test.cc: aiad (eBPF): it cannot be loaded: this needs root"),
    ],
)
def test_a_system_that_lacks_something_is_one_line(
    cell: Path, within: list[str], cc: str, message: str
) -> None:
    before = without_hosts()
    command = [*within, ACKCLOCK, "run", str(cell), "--backend", "linux", "--set", f"flows.test.cc={cc}"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.stderr.startswith(("unshare:", "mount:", "sh:")):
        pytest.skip(done.stderr.splitlines()[0])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message) and done.stderr.count("\n") == 1
    assert left_behind(before) == set()


@loads
def test_two_emulations_at_once_do_not_see_each_other(cell: Path) -> None:
    command = [ACKCLOCK, "run", str(cell), "--backend", "linux", "--set", "flows.test.cc=aiad", "--json"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(2)]
    for run in both:
        document = json.loads(run.communicate(timeout=60)[0])
        # Each has the link for itself.
        assert run.returncode == 0 and document["summary"]["goodput_bps"] > 2e6


@emulates
def test_what_the_kernel_does_not_heed_is_named(cell: Path) -> None:
    short = ("--set", "duration=600 ms")
    warned = cli("run", cell, "--backend", "linux", *short, "--set", "flows.test.initial_window=4")
    assert (
        "warning: ignored with --backend linux, as the kernel uses its own: initial_window (" in warned.stderr
    )
    for quiet in (
        ("--backend", "linux", "--set", "flows.test.mss=1000 B"),
        ("--set", "flows.test.initial_window=4"),
    ):
        assert "ignored with --backend" not in cli("run", cell, *short, *quiet).stderr


@emulates
def test_a_shell_behind_the_scenario_gives_its_exit_code(cell: Path) -> None:
    command = [ACKCLOCK, "run", str(cell), "--shell"]
    done = subprocess.run(
        command,
        input='test -n "$ACKCLOCK_SERVER" || exit 4\nexit 3\n',
        env={**os.environ, "SHELL": "/bin/sh"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert done.returncode == 3, done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--serve", "true"), "--serve needs --exec or --shell"),
        (("--exec", "true", "--shell"), "--exec and --shell exclude each other"),
        (("--exec", "true", "--backend", "sim"), "--exec and --shell run in real time"),
        (("--backend", "ns3"), "'ns3' is not one of"),
    ],
)
def test_options_that_do_not_go_together(cell: Path, options: tuple[str, ...], message: str) -> None:
    answer = cli("run", cell, *options)
    assert answer.code == 2 and message in answer.stderr


@emulates
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become another user")
def test_a_user_gets_a_result_or_one_line(cell: Path) -> None:
    cell.chmod(0o644)
    for folder in cell.parents:
        if not os.access(folder, os.X_OK) or folder.stat().st_mode & 0o1 == 0:
            folder.chmod(folder.stat().st_mode | 0o5) if folder.is_relative_to("/tmp") else None

    def become_nobody() -> None:
        os.setgid(65534)
        os.setuid(65534)

    try:
        answer = cli(
            "run", cell, "--backend", "linux", "--set", "duration=1 s", "--json", before=become_nobody
        )
    except PermissionError:
        pytest.skip("another user cannot reach the command here")
    if answer.code == 0:
        assert json.loads(answer.stdout)["backend"] == "linux"
    else:
        assert answer.code == 2 and "Traceback" not in answer.stderr and "root" in answer.stderr


@emulates
def test_a_notebook_emulates_too(cell: Path) -> None:
    result = ackclock.run(cell, backend="linux", sets=["duration=1 s"], replicate=2)
    assert (result.document["backend"], result.document["replicate"]) == ("linux", 2)
    assert (result.samples.flows["cwnd_segments"] > 2).any()


def test_a_backend_that_there_is_not_is_refused(cell: Path) -> None:
    with pytest.raises(ackclock.ArgumentError, match="must be one of sim, linux"):
        ackclock.run(cell, backend="ns3")


def test_an_emulation_is_not_repeated_for_a_plot(cell: Path) -> None:
    scenario = ackclock.Scenario.from_file(cell)
    job = Study.of(scenario, samples=True).jobs[0]
    outcome = execute(job)
    assert sequence_plot(job, outcome) is not None
    assert sequence_plot(replace(job, backend="linux"), outcome) is None
