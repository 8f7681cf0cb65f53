"""Keeps finds as a suite of one's own, which `evaluate`, `gate` and `tune` take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ackclock.attacks import Attack
from ackclock.attacks.families import UNDER_TEST, Tree
from ackclock.attacks.finds import Find
from ackclock.attacks.objectives import environment_of
from ackclock.errors import InputError
from ackclock.evaluation.suite import Suite
from ackclock.files.documents import as_toml_file, read_toml
from ackclock.files.labels import slug
from ackclock.files.writing import write_whole

FILE = "suite.toml"
_REPLICATES = 10


def keep(attack: Attack, folder: Path, panel: Sequence[str] = ()) -> tuple[str, ...]:
    """Add the confirmed finds to the suite of a folder, and return the ids of the new environments.

    `panel`: the panel of the suite, by default the references. A network that the suite already contains is
    not added again. Raises `InputError` for another suite.
    """
    suite = _suite(panel or [each.text for each in attack.references], folder)
    known = {_network(read_toml(folder / entry["scenario"])) for entry in suite["environments"]}
    ids: list[str] = []
    if attack.confirmed:
        folder.mkdir(parents=True, exist_ok=True)
    for find in attack.confirmed:
        tree = scenario_of(find, attack)
        if _network(tree) in known:
            continue
        known.add(_network(tree))
        name = _free(slug(tree["name"]), {entry["id"] for entry in suite["environments"]})
        tree["name"] = name
        write_whole(folder / f"{name}.toml", scenario_text(find, tree).encode())
        suite["environments"].append(_entry(name, tree, find))
        suite["test"] = [each for each in UNDER_TEST if each in {*suite["test"], *_groups(tree)}]
        ids.append(name)
    if ids:
        suite["version"] += 1
        write_whole(folder / FILE, as_toml_file(suite).encode())
        Suite.load(str(folder))
    return tuple(ids)


def scenario_of(find: Find, attack: Attack) -> Tree:
    """Return the scenario of a find with the attacked algorithm, named after both."""
    network = find.shrunk.network
    tree: Tree = {**network.tree, "name": slug("-".join((attack.candidate.label, *network.values)))[:60]}
    written = attack.candidate.written
    tree["flows"] = [
        {**flow, "cc": written} if flow["name"] in UNDER_TEST else flow for flow in tree["flows"]
    ]
    return tree


def scenario_text(find: Find, tree: Tree) -> str:
    """Return the file of a scenario, with its question."""
    return f"# {find.question}\n{as_toml_file(tree)}"


def _suite(panel: Sequence[str], folder: Path) -> dict[str, Any]:
    path = folder / FILE
    if path.is_file():
        # Raises for a suite that cannot be read.
        Suite.load(str(folder))
        suite = read_toml(path)
        if "subject" in suite or set(suite.get("test", ())) - set(UNDER_TEST):
            raise InputError(f"{path}: is not a suite of finds; give --keep another folder")
        suite["panel"] = list(dict.fromkeys([*suite["panel"], *panel]))
        return suite
    if folder.is_file():
        raise InputError(f"{folder}: is a file; --keep takes a folder")
    return {
        "name": slug(folder.name) or "found",
        "version": 0,
        "title": "Networks that attacks found",
        "replicates": _REPLICATES,
        "test": [],
        "panel": list(panel),
        "environments": [],
    }


def _entry(name: str, tree: Tree, find: Find) -> dict[str, Any]:
    environment = environment_of(tree)
    entry: dict[str, Any] = {
        "id": name,
        "scenario": f"{name}.toml",
        "title": find.shrunk.network.text[:1].upper() + find.shrunk.network.text[1:],
        "question": find.question,
    }
    if not environment.fairness:
        entry["fairness"] = False
    if environment.scored:
        entry["company"] = True
    if environment.watch is not None:
        watch = environment.watch
        entry["watch"] = {
            "metric": watch.metric,
            "group": watch.group,
            "label": watch.label,
            "better": watch.better,
            **({"unit": watch.unit} if watch.unit else {}),
        }
    return entry


def _groups(tree: Tree) -> list[str]:
    return [flow["name"] for flow in tree["flows"]]


def _network(tree: Tree) -> str:
    """Return a scenario without its name and without the algorithm under test."""
    flows = [{**flow, "cc": ""} if flow["name"] in UNDER_TEST else flow for flow in tree["flows"]]
    return as_toml_file({**tree, "name": "", "flows": flows})


def _free(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}-{number}", number + 1
    return found
