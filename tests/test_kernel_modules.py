"""Kernel modules of users by the command line. They need a kernel with its build tree."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT, cli, require_kernel

from ackclock.kernels import store

EXAMPLE = ROOT / "examples" / "own" / "tcp_gentle.c"
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
cc = "tcp_gentle.c"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    shutil.copy(EXAMPLE, tmp_path)
    return path


@pytest.fixture
def _built() -> None:
    require_kernel()
    kernel = store.find()
    if kernel.tree is None:
        pytest.skip(f"{kernel.name} has no build tree: make kernel")


def run(scenario: Path, *arguments: str) -> dict[str, Any]:
    answer = cli("run", str(scenario), "--backend", "kernel", "--json", *arguments)
    assert answer.code == 0, answer.stderr
    document: dict[str, Any] = json.loads(answer.stdout)
    return document


def refusal(scenario: Path, *arguments: str) -> str:
    answer = cli("run", str(scenario), "--backend", "kernel", *arguments)
    assert (answer.code, answer.stdout) == (2, ""), answer.stderr
    assert "Traceback" not in answer.stderr
    return answer.stderr


@pytest.mark.usefixtures("_built")
def test_a_module_and_its_parameter_set_the_window(scenario: Path) -> None:
    def window(keep: int) -> float:
        document = run(scenario, "--set", f"flows.test.cc.keep={keep}", "--set", "duration=20 s")
        assert document["emulation"]["algorithms"] == {"test": "tcp_gentle.c (module)"}
        cwnd: float = document["flows"][0]["cwnd_mean_segments"]
        return cwnd

    # One segment of 1448 B per packet of the path and its queue: 34 and 33.
    assert 40 < window(50) < window(80) - 4 < 64


@pytest.mark.usefixtures("_built")
def test_half_of_the_window_is_reno(scenario: Path) -> None:
    module = run(scenario, "--set", "flows.test.cc.keep=50")
    reno = run(scenario, "--set", "flows.test.cc=reno")
    for run_of in (module, reno):
        del run_of["flows"][0]["cc"]
    assert module["flows"] == reno["flows"]


@pytest.mark.usefixtures("_built")
def test_results_depend_on_the_text_of_the_module(scenario: Path, tmp_path: Path) -> None:
    first = run(scenario)["scenario_hash"]
    source = tmp_path / "tcp_gentle.c"
    source.write_text(source.read_text().replace("keep = 80", "keep = 70"))
    assert run(scenario)["scenario_hash"] != first


def test_the_page_contains_the_example() -> None:
    page = (ROOT / "docs" / "how-to" / "run-a-kernel-module.md").read_text()
    assert f"```c\n{EXAMPLE.read_text()}```" in page


def test_faults_that_need_no_kernel_are_one_message_with_their_line(scenario: Path, tmp_path: Path) -> None:
    source = tmp_path / "tcp_gentle.c"
    text = source.read_text()
    (tmp_path / "mine.h").write_text("")
    for before, after, message in (
        (
            '.name = "gentle"',
            '.name = "sixteen_letters_"',
            "tcp_gentle.c:22: the name sixteen_letters_ has 16 letters, and the kernel takes 15 at most",
        ),
        (
            'MODULE_LICENSE("GPL");',
            "",
            "tcp_gentle.c: it has no licence, and the kernel's TCP takes modules under the GPL only; "
            'write MODULE_LICENSE("GPL");',
        ),
        (
            'MODULE_LICENSE("GPL");',
            'MODULE_LICENSE("MIT");',
            "tcp_gentle.c:43: its licence is 'MIT', and the kernel's TCP takes modules under the GPL only",
        ),
        (
            "#include <net/tcp.h>",
            '#include "mine.h"',
            "tcp_gentle.c:8: includes mine.h from its own folder, but a module is one file",
        ),
    ):
        assert before in text
        source.write_text(text.replace(before, after))
        answer = cli("run", str(scenario), "--backend", "kernel")
        assert (answer.code, answer.stdout) == (2, "")
        assert f"scenario.toml:12: flows.test.cc.source: {message}" in answer.stderr, answer.stderr
    source.unlink()
    assert "tcp_gentle.c: cannot be read: No such file" in cli("run", str(scenario)).stderr


def test_other_backends_refuse_a_module(scenario: Path) -> None:
    answer = cli("run", str(scenario))
    assert answer.code == 2
    assert "flows.test.cc: tcp_gentle.c runs in a kernel only; use --backend kernel" in answer.stderr


@pytest.mark.usefixtures("_built")
def test_faults_of_a_module_are_one_message(scenario: Path, tmp_path: Path) -> None:
    source = tmp_path / "tcp_gentle.c"
    text = source.read_text()
    body = "	if (keep < 1"
    for before, after, messages in (
        (
            "u32 window =",
            "u32 windo =",
            ("flows.test.cc: tcp_gentle.c does not compile:", "tcp_gentle.c:18:20: error: "),
        ),
        (
            "tcp_reno_undo_cwnd,",
            "tcp_reno_nothing,",
            ("tcp_gentle.c does not compile:", "undeclared here"),
        ),
        (
            "tcp_register_congestion_control(&gentle)",
            "0",
            ("flows.test.cc: tcp_gentle.c: it registers no congestion control",),
        ),
        (
            '.name = "gentle"',
            '.name = "cubic"',
            ("tcp_gentle.c: the kernel already contains a module or an algorithm of this name",),
        ),
        (body, f'	panic("mine fails");\n{body}', ("the kernel of the senders' host ended", "mine fails")),
        (
            body,
            f"	*(volatile int *)8 = 1;\n{body}",
            ("the kernel of the senders' host ended",),
        ),
        (
            body,
            f"	for (;;)\n		barrier();\n{body}",
            ("computed for 2 s without progress, as in an endless loop; kernel.timeout sets this limit",),
        ),
    ):
        assert before in text
        source.write_text(text.replace(before, after))
        said = refusal(scenario, "--set", "kernel.timeout=2 s")
        assert all(message in said for message in messages), said
    source.write_text(text)
    said = refusal(scenario, "--set", "flows.test.cc.kept=3")
    assert 'flows.test.cc.kept: tcp_gentle.c has no module parameter kept; did you mean "keep"?' in said
    said = refusal(scenario, "--set", "flows.test.cc.keep=100")
    assert "flows.test.cc: tcp_gentle.c: the kernel refuses the module (Invalid argument" in said


@pytest.mark.usefixtures("_built")
def test_a_module_reaches_no_file_and_no_network_of_the_host(scenario: Path, tmp_path: Path) -> None:
    source = tmp_path / "tcp_gentle.c"
    text = source.read_text()
    call = """
static long call(long number, long a, long b, long c)
{
	long result;

	asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

static int __init gentle_init(void)
{
	static const char file[] = "/etc/passwd", made[] = "/tmp/ackclock-made";

	pr_err("open %ld\\n", call(2, (long)file, 0, 0));
	pr_err("create %ld\\n", call(2, (long)made, 0101, 0600));
	pr_err("socket %ld\\n", call(41, 2, 1, 0));
	pr_err("packets %ld\\n", call(41, 17, 3, 0));
	pr_err("unshare %ld\\n", call(272, 0x10000000, 0, 0));
	return -EPERM;
"""
    source.write_text(text.replace("\nstatic int __init gentle_init(void)\n{\n", call))
    said = refusal(scenario)
    for line in ("open -13", "create -13", "socket -1", "packets -1", "unshare -1"):
        assert line in said, said
