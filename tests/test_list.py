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
    here = [name for name in algorithms if name not in ("python", "library", "bpf", "kernel", "module")]
    assert all((ROOT / "docs" / "algorithms" / f"{name}.md").is_file() for name in here)


def test_algorithms_have_their_family_above_them_and_a_line_each() -> None:
    entries = json.loads(cli("list", "cc", "--json").stdout)
    lines = cli("list", "cc").stdout.splitlines()
    firsts = [line.split("  ")[0] for line in lines]
    places = {name: at for at, first in enumerate(firsts) for name in (first, *first.split(", "))}
    for entry in entries:
        assert {places[name] for name in (entry["name"], *entry.get("aliases", ()))} == {
            places[entry["name"]]
        }
        assert places[entry["family"]] < places[entry["name"]]
    assert places["bbr"] == places["bbr1"], "Linux's name"
    families = len({entry["family"] for entry in entries})
    # A heading and a rule, a blank line between families, and a caption.
    assert len([line for line in lines if line]) == 2 + families + len(entries) + 1


def test_one_of_a_kind_is_shown_with_its_parameters() -> None:
    shown = cli("list", "cc", "aimd-fc-plus")
    assert shown.code == 0 and max(map(len, shown.stdout.splitlines())) <= 80
    for text in ("aimd-fc+", "Window rules of the papers", "Lahanas", "gain_kept", "0.5"):
        assert text in shown.stdout
    assert json.loads(cli("list", "queue", "codel", "--json").stdout)["name"] == "codel"
    wrong = cli("list", "cc", "cubik")
    assert (wrong.code, "did you mean 'cubic'?" in wrong.stderr) == (2, True)


def test_every_command_has_help() -> None:
    overview = cli("--help").stdout
    for command in ("run", "check", "evaluate", "panel", "reproduce", "model", "list", "schema"):
        assert command in overview
        answer = cli(command, "--help")
        assert answer.code == 0 and answer.stdout.startswith(f"Usage: ackclock {command}")
    assert cli("--version").stdout.startswith("ackclock, version ")
