"""`ackclock list`: everything there is, explained; help of every command."""

from __future__ import annotations

import json

import pytest
from helpers import ROOT, cli


@pytest.mark.parametrize(
    "kind", ["cc", "recovery", "queue", "loss", "traffic", "topology", "channel", "suite", "paper"]
)
def test_every_kind_is_listed(kind: str) -> None:
    entries = json.loads(cli("list", kind, "--json").stdout)
    assert entries and all(entry["name"] and entry["summary"] for entry in entries)
    table = cli("list", kind)
    assert table.code == 0
    assert max(map(len, table.stdout.splitlines())) <= 80
    assert all(entry["name"] in table.stdout for entry in entries)


def test_the_algorithms_of_the_papers_are_there() -> None:
    algorithms = {entry["name"]: entry for entry in json.loads(cli("list", "cc", "--json").stdout)}
    assert {"linear", "aimd", "aiad", "mimd", "miad", "aimd-fc", "aimd-fc+", "new-aimd"} <= set(algorithms)
    defaults = {parameter["name"]: parameter["default"] for parameter in algorithms["aimd"]["parameters"]}
    assert defaults == {"increase": 1.0, "remaining": 0.5}
    # Algorithms of user-supplied files and of the kernel have one page for all.
    here = [name for name in algorithms if name not in ("python", "library", "bpf", "kernel")]
    assert all((ROOT / "docs" / "algorithms" / f"{name}.md").is_file() for name in here)


def test_every_command_has_help() -> None:
    overview = cli("--help").stdout
    for command in ("run", "check", "evaluate", "panel", "reproduce", "model", "list", "schema"):
        assert command in overview
        answer = cli(command, "--help")
        assert answer.code == 0 and answer.stdout.startswith(f"Usage: ackclock {command}")
    assert cli("--version").stdout.startswith("ackclock, version ")
