"""Algorithms compiled for the kernel: in the running kernel, where it takes them, and in the simulator."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import ACKCLOCK, ROOT, cli

import ackclock
from ackclock import _core, kernel
from ackclock.evaluation.candidate import Candidate

OBJECTS = ROOT / "python/ackclock/kernel/objects"
CLANG = os.environ.get("CLANG", "clang-19")


def reason() -> str:
    """Return why the kernel takes no programs from here, if it does not."""
    try:
        kernel.attach("aimd", {}, f"probe{os.getpid()}")[1].close()
    except kernel.KernelError as error:
        return str(error)
    return ""


needs_kernel = pytest.mark.skipif(bool(reason()), reason=reason())


def scenario(cc: str) -> ackclock.Scenario:
    return ackclock.Scenario.from_dict(
        {
            "schema": 1,
            "duration": "20 s",
            "topology": {
                "kind": "dumbbell",
                "rate": "10 Mbit/s",
                "delay": "20 ms",
                "queue": {"kind": "drop-tail", "limit": "50 packets"},
            },
            "transport": {"timeout_ssthresh": "rule"},
            "flows": [{"name": "test", "cc": "aimd"}],
        },
        [f"flows.test.cc={cc}"],
    )


@pytest.fixture
def name() -> Iterator[str]:
    """A name that no other run of the tests has; it is gone in the end."""
    name = f"t{os.getpid()}"
    yield name
    if name in [entry.name for entry in kernel.listing()]:
        kernel.unload(name)


@needs_kernel
def test_a_socket_takes_what_is_loaded_until_it_is_unloaded(name: str) -> None:
    assert cli("cc", "load", "new-aimd", "--increase", "2", "--name", name).stdout == f"loaded {name}\n"
    listed = {entry["name"]: entry for entry in json.loads(cli("cc", "list", "--json").stdout)}
    assert listed[name] == {"name": name, "algorithm": "new-aimd", "parameters": {"increase": 2.0}}
    assert listed["reno"] == {"name": "reno", "algorithm": "", "parameters": {}}
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        client.connect(server.getsockname())
        accepted, _ = server.accept()
        with accepted:
            for _ in range(100):
                client.sendall(bytes(10_000))
                left = 10_000
                while left:
                    left -= len(accepted.recv(left))
        # It has never lost anything: the window has grown from its ten segments.
        info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        assert int.from_bytes(info[80:84], sys.byteorder) >= 10
    assert cli("cc", "unload", name).code == 0
    assert name not in [entry.name for entry in kernel.listing()]
    again = cli("cc", "unload", name)
    assert (again.code, again.stderr) == (
        2,
        f"error: no congestion control called {name} was loaded\n",
    )


@needs_kernel
def test_an_algorithm_is_there_while_a_command_runs(name: str) -> None:
    known = "/proc/sys/net/ipv4/tcp_available_congestion_control"
    answer = cli("cc", "load", "aiad", "--name", name, "--while", f"grep -q {name} {known} && exit 7")
    assert answer.code == 7
    assert name not in Path(known).read_text().split()


@needs_kernel
def test_a_process_that_is_killed_leaves_nothing(name: str) -> None:
    code = f"import os, signal\nfrom ackclock import kernel\nkept = kernel.attach('mimd', {{}}, '{name}')\n"
    subprocess.run([sys.executable, "-c", code + "os.kill(os.getpid(), signal.SIGKILL)"], check=False)
    assert name not in [entry.name for entry in kernel.listing()]


#: AIMD with another cut after a long round trip.
RULE = "grow = a / w; cut = if(srtt > 1 s, 2, b * w); a = 1; b = 0.5"

#: Sends for a second through a queue of 50 kB at 100 Mbit/s; prints window and ssthresh.
THROUGH_A_QUEUE = """
import socket, subprocess, sys, threading, time
for command in ("ip link set lo mtu 1500 up", "tc qdisc add dev lo root tbf rate 100mbit burst 5k limit 50k"):
    subprocess.run(command.split(), check=True)
server, client = socket.socket(), socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
client.connect(server.getsockname())
accepted, _ = server.accept()
threading.Thread(target=lambda: [None for _ in iter(lambda: accepted.recv(65536), b"")], daemon=True).start()
end = time.monotonic() + 1
while time.monotonic() < end:
    client.sendall(bytes(65536))
info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
print(*(int.from_bytes(info[at : at + 4], sys.byteorder) for at in (80, 76)))
"""


@needs_kernel
def test_a_rule_is_loaded_and_moves_the_window_of_a_connection(name: str) -> None:
    # Slow start overflows the queue; what is left is 17 segments, which then stay.
    rule = "grow = 0; cut = if(w > 17, sqrt(a * a), w); a = 10"
    answer = cli("cc", "load", "--rule", rule, "--a", "17", "--name", name)
    assert (answer.code, answer.stdout) == (0, f"loaded {name}\n"), answer.stderr
    listed = {entry["name"]: entry for entry in json.loads(cli("cc", "list", "--json").stdout)}
    text = "rule grow = 0; cut = if(w > 17, sqrt(a * a), w)"
    assert listed[name] == {"name": name, "algorithm": text, "parameters": {"a": 17.0}}
    command = ["unshare", "--net", sys.executable, "-c", THROUGH_A_QUEUE, name]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert cli("cc", "unload", name).code == 0
    if "tc" in done.stderr or "unshare" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.stdout == "17 17\n", done.stderr


def test_a_compiled_rule_runs_in_the_simulator_as_its_text(tmp_path: Path) -> None:
    made, file = tmp_path / "made.bpf.o", tmp_path / "gentle.rule"
    answer = cli("cc", "compile", "--rule", RULE, "--b", "0.7", "--out", made)
    assert (answer.code, answer.stdout) == (0, f"{made}\n"), answer.stderr
    file.write_text(RULE.replace("; ", "\n").replace("0.5", "0.7"))
    assert cli("cc", "compile", file, "--out", tmp_path / "other.bpf.o").code == 0
    assert (tmp_path / "other.bpf.o").read_bytes() == made.read_bytes()
    program, rule = (
        ackclock.run(scenario(cc)).flows[0]
        for cc in (f'{{ kind = "bpf", object = "{made}" }}', f'{{ kind = "rule", file = "{file}" }}')
    )
    assert program["goodput_bps"] == pytest.approx(rule["goodput_bps"], rel=0.01)
    assert program["congestion_events"] == rule["congestion_events"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["load"], "give an algorithm, such as new-aimd, my_cc.bpf.o or my.rule, or --rule 'TEXT'"),
        (["load", "aimd", "--rule", RULE], "give an algorithm, such as new-aimd"),
        (["load", "rule"], "a rule is its text: --rule 'grow = 1 / w; cut = w / 2'"),
        (
            ["load", "--rule", "grow = log(w)"],
            "character 1 of `log(w)`: the program in the kernel has no log",
        ),
        (
            ["load", "--rule", "cut = w * ce"],
            "character 5 of `w * ce`: the program in the kernel has no `ce`",
        ),
        (["load", "--rule", "pacing = 1 Mbit/s"], "pacing: the program in the kernel has no such text"),
        (["load", "--rule", "grow = 1 / ww"], "unknown variable `ww`; did you mean"),
        (["load", "--rule", RULE, "--c", "2"], "it takes no parameter c"),
        (["load", "--rule", RULE, "--name", "much_too_long_a_name"], "the kernel takes 1 to 15"),
        (["load", "/nowhere/my.rule"], "/nowhere/my.rule"),
        (
            ["compile", "aimd", "--out", "a.bpf.o"],
            "'aimd' is not a rule; give a file such as my.rule, or --rule",
        ),
        (
            ["compile", "--rule", RULE, "--out", "a.txt"],
            "expected a name that ends with .bpf.o, found 'a.txt'",
        ),
        (["compile", "--rule", RULE, "--out", "/nowhere/a.bpf.o"], "/nowhere/a.bpf.o: cannot be written"),
    ],
)
def test_what_is_no_rule_for_the_kernel_is_named(arguments: list[str], message: str) -> None:
    answer = cli("cc", *arguments)
    assert answer.code == 2 and message in answer.stderr and "Traceback" not in answer.stderr


@needs_kernel
@pytest.mark.parametrize(
    "arguments", [["load", "aimd"], ["load", "--rule", RULE], ["list"], ["unload", "--all"]]
)
def test_without_rights_it_says_what_is_needed(arguments: list[str]) -> None:
    # A user namespace of its own: no right counts outside of it.
    command = ["unshare", "--user", "--map-root-user", ACKCLOCK, "cc", *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if "unshare:" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 2 and "this needs root (CAP_BPF and CAP_NET_ADMIN" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["new-aimt"], "no algorithm for the kernel is called 'new-aimt'; did you mean 'new-aimd'?"),
        (["aimd", "--remaining", "1.5"], "must be at least 0.0001 and at most 1"),
        (["aimd", "--removed", "1"], "it takes no parameter removed; it takes increase, remaining"),
        (["aimd", "--name", "much_too_long_a_name"], "the kernel takes 1 to 15"),
        (["aimd", "--name", "my-aimd"], "the kernel takes letters, digits and _"),
        (["/dev/null/a.bpf.o"], "cannot be read"),
        (["aimd", "--increase", "much"], "expected a number, found 'much'"),
    ],
)
def test_what_cannot_be_loaded_is_one_line(arguments: list[str], message: str) -> None:
    answer = cli("cc", "load", *arguments)
    assert answer.code == 2 and message in answer.stderr and "Traceback" not in answer.stderr


def test_what_is_no_object_or_was_stripped_is_one_line(tmp_path: Path) -> None:
    text, stripped = tmp_path / "text.bpf.o", tmp_path / "stripped.bpf.o"
    text.write_text("int main() {}")
    stripped.write_bytes((OBJECTS / "aimd.bpf.o").read_bytes().replace(b".BTF\0", b".XTF\0"))
    for path, message in ((text, "not a 64-bit ELF object"), (stripped, "has no BTF, or was stripped of it")):
        assert message in cli("cc", "load", path).stderr
        with pytest.raises(ackclock.ScenarioError, match=message):
            scenario(f'{{ kind = "bpf", object = "{path}" }}')


@pytest.mark.parametrize(
    ("program", "rule"),
    [("aimd", "aimd"), ("new_aimd", "new-aimd"), ("aimd_fc", "aimd-fc"), ("aiad", "aiad")],
)
def test_a_flow_of_the_simulator_runs_the_object_as_its_rule(program: str, rule: str) -> None:
    def goodput(cc: str) -> float:
        return float(ackclock.run(scenario(cc)).flows[0]["goodput_bps"])

    given = goodput(f'{{ kind = "bpf", object = "{OBJECTS / program}.bpf.o" }}')
    assert given == pytest.approx(goodput(rule), rel=0.01)


def test_a_parameter_and_the_content_are_part_of_the_scenario() -> None:
    path = OBJECTS / "aimd.bpf.o"
    plain = scenario(f'{{ kind = "bpf", object = "{path}" }}')
    other = scenario(f'{{ kind = "bpf", object = "{path}", increase = 2 }}')
    assert plain.hash != other.hash
    cc = json.loads(plain.resolved_json)["flows"][0]["cc"]
    assert (cc["increase"], cc["remaining"], len(cc["sha256"])) == (1.0, 0.5, 64)
    assert Candidate.parse(f"{path}(increase=2)").label == "aimd(increase=2)"
    with pytest.raises(ackclock.ScenarioError, match="takes no parameter 'increse'"):
        scenario(f'{{ kind = "bpf", object = "{path}", increse = 2 }}')


@pytest.mark.skipif(platform.machine() != "x86_64", reason="there is code for x86-64 alone")
@pytest.mark.parametrize("program", ["aimd", "mr_aimd", "aimd_fc_plus"])
def test_translated_programs_give_the_same_samples(program: str) -> None:
    path = OBJECTS / f"{program}.bpf.o"
    interpreted = scenario(f'{{ kind = "bpf", object = "{path}" }}')
    translated = scenario(f'{{ kind = "bpf", object = "{path}", jit = true }}')
    assert interpreted.hash != translated.hash
    one, other = (ackclock.run(each) for each in (interpreted, translated))
    assert one.samples.flows.equals(other.samples.flows)
    assert one.flows == other.flows


def test_whether_to_translate_is_true_or_false() -> None:
    path = OBJECTS / "aimd.bpf.o"
    with pytest.raises(ackclock.ScenarioError, match=r"flows.test.cc.*jit"):
        scenario(f'{{ kind = "bpf", object = "{path}", jit = "yes" }}')


def test_the_contract_holds_for_the_objects() -> None:
    assert ackclock.check_cc(str(OBJECTS / "aimd.bpf.o")) == []


#: AIMD(1, 0.25) that reduces the window when it hears of the recovery, as DCTCP does.
LATE = """
#include "window.h"

struct state {
	fixed32 window;
} __attribute__((preserve_access_index));

INLINE void restart(struct state *state, fixed32 w) {}
INLINE void floored(struct state *state, fixed32 w) {}
INLINE fixed32 grow(struct state *state, fixed32 w, __u32 acked) { return w + acked * share(ONE, w); }
INLINE fixed32 cut(struct state *state, fixed32 w) { return w; }

SEC("struct_ops") void cong_avoid(__u64 *ctx) { rule_cong_avoid((struct sock *)ctx[0], ctx[2]); }
SEC("struct_ops") __u32 ssthresh(__u64 *ctx) { return rule_ssthresh((struct sock *)ctx[0]); }
SEC("struct_ops") __u32 undo_cwnd(__u64 *ctx) { return rule_undo_cwnd((struct sock *)ctx[0]); }
SEC("struct_ops") void set_state(__u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	fixed32 left = part((fixed32)tcp_sk(sk)->snd_cwnd << 32, ONE / 4);

	if ((__u8)ctx[1] != 3)
		return;
	state_of(sk)->window = left;
	tcp_sk(sk)->snd_ssthresh = left >> 32;
}

SEC(".struct_ops.link") struct tcp_congestion_ops late = {
	.cong_avoid = (void *)cong_avoid,
	.ssthresh = (void *)ssthresh,
	.undo_cwnd = (void *)undo_cwnd,
	.set_state = (void *)set_state,
	.name = "late",
};
"""

needs_clang = pytest.mark.skipif(
    shutil.which(CLANG) is None, reason=f"{CLANG} is missing; apt-get install clang-19"
)


@needs_clang
def test_a_program_may_reduce_the_window_when_it_hears_of_the_recovery(tmp_path: Path) -> None:
    source, made = tmp_path / "late.bpf.c", tmp_path / "late.bpf.o"
    source.write_text(LATE)
    flags = ["-O2", "-g", "-Wno-unused", "-target", "bpf", "-mcpu=v3", "-I", str(ROOT / "bpf")]
    subprocess.run([CLANG, *flags, "-c", str(source), "-o", str(made)], check=True)
    late, rule = (
        ackclock.run(scenario(cc)).flows[0]
        for cc in (f'{{ kind = "bpf", object = "{made}" }}', "{ kind = 'aimd', remaining = 0.25 }")
    )
    assert late["congestion_events"] == rule["congestion_events"]
    assert late["cwnd_mean_segments"] == pytest.approx(rule["cwnd_mean_segments"], rel=0.02)


@needs_clang
def test_what_is_committed_is_what_the_sources_say(tmp_path: Path) -> None:
    for source in (ROOT / "bpf").glob("*.bpf.c"):
        made = tmp_path / f"{source.stem}.o"
        command = [CLANG, "-O2", "-g", "-target", "bpf", "-mcpu=v3", "-c", source.name, "-o", str(made)]
        subprocess.run(command, cwd=ROOT / "bpf", check=True)
        committed = OBJECTS / made.name
        assert _core.describe_bpf(str(made), f"new {source.stem}", False) == _core.describe_bpf(
            str(committed), source.stem, False
        )
        runs = [
            ackclock.run(scenario(f'{{ kind = "bpf", object = "{path}" }}')).flows[0]["goodput_bps"]
            for path in (made, committed)
        ]
        assert runs[0] == runs[1], source.name
