"""What commands do with a terminal, a pipe that is closed, a full disk, Ctrl-C at any moment."""

from __future__ import annotations

import os
import pty
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ACKCLOCK, ROOT, TWO_FLOWS, Answer, cli

STUDY = """\
scenario = "tiny.toml"
replicates = 2

[grid]
"topology.queue.limit" = ["5 packets", "20 packets", "100 packets"]
"flows.test.cc" = ["aimd", { kind = "aimd", increase = 0.2, remaining = 0.875 }]
"topology.reverse.rate" = ["2 Mbit/s"]
"""
LONG_CC = "linear(increase_add=0.25, decrease_mul=0.875)"


def require_fits(answer: Answer, width: int = 80) -> str:
    assert answer.code == 0, answer.stderr
    long = [line for line in answer.stdout.splitlines() if len(line) > width]
    assert not long, "\n".join(long)
    assert "…" not in answer.stdout.replace(" … ", "")
    return answer.stdout


# --- Eighty columns ---


@pytest.mark.parametrize("kind", ["cc", "recovery", "queue", "loss", "traffic", "topology", "suite", "paper"])
def test_lists_fit_80_columns(kind: str) -> None:
    require_fits(cli("list", kind, columns=80))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_examples_are_checked_in_80_columns(path: Path) -> None:
    if "scenario =" in path.read_text():
        pytest.skip("a study")
    require_fits(cli("check", path, columns=80))


def test_runs_and_models_fit_80_columns(tiny: Path) -> None:
    shown = require_fits(cli("run", TWO_FLOWS, columns=80))
    assert "bottleneck.reverse" in shown and "test.1" in shown
    marking = [
        'topology.queue={ kind = "red", limit = "30 packets", ecn = true }',
        "topology.duplication=0.05",
        "flows.test.ecn=classic",
        'flows.test.name="a-name-of-thirty-letters-or-so"',
    ]
    require_fits(cli("run", tiny, *(word for text in marking for word in ("--set", text)), columns=80))
    require_fits(cli("model", "aimd", "new-aimd", columns=80))


def test_evaluate_and_panel_fit_80_columns(tiny_suite: Path, tmp_path: Path) -> None:
    shown = require_fits(cli("panel", "--suite", tiny_suite, "--out", "panel.json", cwd=tmp_path, columns=80))
    assert shown == "panel.json\n"
    out = tmp_path / "out"
    args = ("evaluate", LONG_CC, "--suite", tiny_suite, "--replicates", "3", "--out", out)
    shown = require_fits(cli(*args, columns=80))
    assert "Among themselves" in shown and "±" in shown and "In company: standard's share" in shown
    # A wider terminal takes fewer lines.
    assert len(require_fits(cli(*args, columns=160), 160).splitlines()) < len(shown.splitlines())


def test_studies_and_queries_fit_80_columns(tiny: Path, tmp_path: Path) -> None:
    study = tiny.with_name("study.toml")
    study.write_text(STUDY)
    out = tmp_path / "out"
    require_fits(cli("study", study, "--plan", "--out", out, columns=80))
    shown = require_fits(cli("study", study, "--out", out, columns=80))
    assert "100 packets" in shown and "remaining = 0.875" in " ".join(shown.split())
    wide = require_fits(cli("study", study, "--out", out, columns=200), 200)
    assert "Jain" in wide and '{ kind = "aimd", increase = 0.2, remaining = 0.875 }' in wide
    for table in ("runs", "flows", "links", "histograms"):
        shown = require_fits(cli("query", f"SELECT * FROM {table} LIMIT 20", "--store", out, columns=80))
        # A line for each cell, or nearly.
        assert "topology.queue.limit_packets" in shown
    require_fits(cli("query", "--tables", "--store", out, columns=80))
    few = require_fits(cli("query", "SELECT * FROM runs LIMIT 2", "--store", out, columns=80))
    assert len(few.splitlines()) < 40


def test_tuning_fits_80_columns(tiny_suite: Path, tmp_path: Path) -> None:
    assert cli("panel", "--suite", tiny_suite).code == 0
    args = ("--suite", tiny_suite, "--budget", "44", "--out", tmp_path / "out")
    require_fits(cli("tune", "aimd", *args, columns=80))


@pytest.mark.parametrize("paper", ["jasem-utilization", "jasem-efficiency"])
def test_papers_fit_80_columns(paper: str, tmp_path: Path) -> None:
    require_fits(cli("reproduce", paper, "--quick", "--replicates", "2", "--out", tmp_path, columns=80))


def test_a_terminal_says_how_wide_it_is(tiny: Path) -> None:
    main, other = pty.openpty()
    import fcntl
    import struct
    import termios

    try:
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 47, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        environment["TERM"] = "xterm"
        subprocess.run([ACKCLOCK, "list", "queue"], env=environment, stdout=other, check=True, timeout=60)
        text = os.read(main, 1 << 16).decode()
    finally:
        os.close(main)
        os.close(other)
    plain = re.sub(r"\x1b\[\d+m", "", text)
    widths = [len(line.rstrip("\r")) for line in plain.split("\n")]
    assert 40 < max(widths) <= 47


# --- Escapes ---


def test_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    answer = cli("run", tmp_path / "a\x1b[2J\x9b.toml")
    assert answer.code == 2 and r"a\x1b[2J\x9b.toml: cannot be read" in answer.stderr
    answer = cli("list", "a\x1b[2J")
    assert answer.code == 2 and "\x1b" not in answer.stderr
    assert cli("run", TWO_FLOWS, "--out", tmp_path / "out").code == 0
    answer = cli("query", 'SELECT 1 AS "a\x1b[2J" FROM runs', "--store", tmp_path / "out")
    assert answer.code == 0 and r"a\x1b[2J" in answer.stdout and "\x1b" not in answer.stdout


# --- Pipes and signals ---


@pytest.mark.parametrize(
    "words", ["list cc", "list cc --json", "schema", "--help", f"run {TWO_FLOWS} --json"]
)
def test_a_reader_that_leaves_is_no_error(words: str) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        answer = cli(*words.split(), stdout=write)
    finally:
        os.close(write)
    assert (answer.code, answer.stderr) == (141, "")


@pytest.mark.parametrize("words", ["list cc", "list cc --json", "--version"])
def test_stdout_may_be_closed(words: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f"exec {ACKCLOCK} {words} >&-"], capture_output=True, encoding="utf-8", timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_results_do_not_get_into_files_where_stdout_is_closed(tiny: Path, tmp_path: Path) -> None:
    command = f"exec {ACKCLOCK} run {tiny} --out {tmp_path / 'out'} >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], timeout=60).returncode == 0
    answer = cli("query", "SELECT count(*) AS runs FROM runs", "--store", tmp_path / "out", "--csv")
    assert answer.stdout == "runs\n1\n", answer.stderr


@pytest.mark.parametrize(
    "module", ["ackclock._core", "click", "ackclock.cli.list_command", "ackclock.text.table"]
)
def test_ctrl_c_during_import_is_quiet(module: str) -> None:
    script = f"""
import builtins, sys
imported = builtins.__import__
def interrupted(name, *args, **kwargs):
    if name == {module!r}:
        raise KeyboardInterrupt
    return imported(name, *args, **kwargs)
builtins.__import__ = interrupted
import importlib
import_module = importlib.import_module
importlib.import_module = lambda name: interrupted(name) and sys.modules[name]
from ackclock.__main__ import main
sys.argv = ["ackclock", "list", "cc"]
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 130, done
    assert "Traceback" not in done.stderr and len(done.stderr.strip().splitlines()) <= 1


# --- Full disks ---


def small_files() -> None:
    """A bound on the size of files stands for a disk that is nearly full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, 4_096))


def test_no_part_of_a_file_is_left_on_a_full_disk(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "csv"
    answer = cli("run", tiny, "--csv", folder, before=small_files)
    assert answer.code == 1 and answer.stdout == ""
    assert answer.stderr.startswith(f"error: {folder / 'flows.csv'}: cannot be written: File too large")
    assert list(folder.iterdir()) == []
    pytest.importorskip("matplotlib")
    # matplotlib keeps a cache of fonts: let it be there.
    assert cli("model", "--plot", tmp_path / "whole.svg").code == 0
    answer = cli("model", "--plot", tmp_path / "model.svg", before=small_files)
    assert answer.code == 1 and "model.svg: the plot cannot be written" in answer.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["csv", "tiny.toml", "whole.svg"]


def test_samples_as_csv(tiny: Path, tmp_path: Path) -> None:
    import polars

    folder = tmp_path / "some" / "csv"
    answer = cli("run", tiny, "--csv", folder, "--json")
    assert answer.code == 0 and answer.stderr.startswith(f"samples in {folder}")
    flows, links = (polars.read_csv(folder / f"{kind}.csv") for kind in ("flows", "links"))
    assert {"time_ns", "flow", "cwnd_segments"} <= set(flows.columns) and flows.height > 900
    assert {"time_ns", "link", "backlog_packets"} <= set(links.columns)


# --- Completion ---


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_words(shell: str) -> None:
    environment = {**os.environ, "_ACKCLOCK_COMPLETE": f"{shell}_source"}
    done = subprocess.run([ACKCLOCK], env=environment, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0 and "ackclock" in done.stdout
    words = {"COMP_WORDS": "ackclock eva" if shell != "fish" else "ackclock", "COMP_CWORD": "1"}
    if shell == "fish":
        words["COMP_CWORD"] = "eva"
    environment = {**os.environ, **words, "_ACKCLOCK_COMPLETE": f"{shell}_complete"}
    done = subprocess.run([ACKCLOCK], env=environment, capture_output=True, encoding="utf-8", timeout=60)
    assert "evaluate" in done.stdout, done
