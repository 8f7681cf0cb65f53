"""`ackclock check`."""

from __future__ import annotations

import json
from typing import Any

import click

from ackclock.cli.console import emit, say, show, talk
from ackclock.cli.options import file_argument, json_option, set_option
from ackclock.scenario import Scenario

#: Flows and private links shown; `--json` has all.
_MAX_ROWS = 24


@click.command("check")
@file_argument
@set_option
@json_option
def command(file: str, sets: tuple[str, ...], as_json: bool) -> None:
    """Check the scenario FILE and print what it stands for, without running it."""
    scenario = Scenario.from_file(file, sets)
    described = {"name": scenario.name, "hash": scenario.hash, **scenario.describe()}
    if as_json:
        emit(json.dumps(described, indent=2))
        return
    _show(described)


def _show(described: dict[str, Any]) -> None:
    from ackclock.table import Column, Table

    shown = described["links"][:_MAX_ROWS]
    jittered = any(link["jitter_s"] for link in shown)
    figures = ("rate Mbit/s", "delay ms", *(("jitter ms",) if jittered else ()))
    links = Table(
        "link",
        *(Column(heading, right=True) for heading in figures),
        "queue",
        "loss",
        title=f"{described['name']}: links",
    )
    for link in shown:
        rate_bps = link["rate_bps"]
        links.add_row(
            link["name"],
            "none" if rate_bps is None else f"{1e-6 * rate_bps:g}",
            f"{1e3 * link['delay_s']:g}",
            *((f"{1e3 * link['jitter_s']:g}",) if jittered else ()),
            link["queue"],
            link["loss"],
        )
    show(links)
    _more(described["links"], "links")
    asymmetric = any(
        flow["cc"] is not None and flow["reverse_path"] != _way_back(flow["path"])
        for flow in described["flows"]
    )
    flows = Table(
        "flow",
        Column("base RTT ms", right=True),
        "path",
        *(("reverse path",) if asymmetric else ()),
        title="flows",
    )
    for flow in described["flows"][:_MAX_ROWS]:
        ways = [flow["path"], flow["reverse_path"]] if asymmetric else [flow["path"]]
        base_rtt = "-" if flow["base_rtt_s"] is None else f"{1e3 * flow['base_rtt_s']:g}"
        flows.add_row(flow["name"], base_rtt, *(" -> ".join(way) for way in ways))
    show(flows)
    _more(described["flows"], "flows")
    say(f"bottleneck: {described['bottleneck']}")
    _traffic(described["flows"])
    for link in described["links"]:
        if "varies" in link:
            say(f"varies: {link['name']}: {link['varies']}")
    _impairments(described["links"])
    for source in described["random_inputs"]:
        say(f"random: {source}")
    for note in described.get("notes", ()):
        say(f"note: {note}")
    for warning in described["warnings"]:
        talk(f"warning: {warning}")


def _way_back(path: list[str]) -> list[str]:
    """The same links in the other direction."""
    reverse = ".reverse"
    return [name.removesuffix(reverse) if name.endswith(reverse) else name + reverse for name in path[::-1]]


def _traffic(flows: list[dict[str, Any]]) -> None:
    """A line for each group that does not just send as much as it may."""
    groups = {flow["group"]: flow["traffic"] for flow in flows if flow["traffic"] != "bulk"}
    for group, words in groups.items():
        say(f"traffic: {group}: {words}")


def _impairments(links: list[dict[str, Any]]) -> None:
    """A line for what goes wrong in the same way on some links."""
    impaired: dict[str, list[str]] = {}
    for link in links:
        if link["impairments"]:
            impaired.setdefault("; ".join(link["impairments"]), []).append(link["name"])
    for words, names in impaired.items():
        rest = f" and {len(names) - 1} more" if len(names) > 1 else ""
        say(f"impaired: {names[0]}{rest}: {words}")


def _more(rows: list[Any], what: str) -> None:
    if len(rows) > _MAX_ROWS:
        say(f"  and {len(rows) - _MAX_ROWS} more {what} (--json has all)\n")
