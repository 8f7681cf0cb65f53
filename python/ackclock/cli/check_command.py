"""`ackclock check`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from ackclock.cli.console import emit, say, show, warn
from ackclock.cli.options import file_argument, json_option, set_option
from ackclock.errors import ScenarioError
from ackclock.scenario import Scenario

#: Flows and private links shown. `--json` prints all.
_MAX_ROWS = 24


@click.command("check")
@file_argument
@set_option
@json_option
def command(file: str, sets: tuple[str, ...], as_json: bool) -> None:
    """Check the scenario FILE and print it in full, without running it.

    With --json the mistakes of an invalid scenario are printed to stdout as a list.
    """
    try:
        scenario = Scenario.from_file(file, sets)
    except ScenarioError as error:
        if as_json and error.mistakes:
            mistakes = [asdict(mistake) for mistake in error.mistakes]
            emit(json.dumps({"mistakes": mistakes, "more": error.more}, indent=2))
        raise
    if as_json:
        described = {"name": scenario.name, "hash": scenario.hash, **scenario.describe()}
        emit(json.dumps(described, indent=2))
        return
    _show(scenario.describe(_MAX_ROWS))


def _show(described: dict[str, Any]) -> None:
    from ackclock.text.table import Column, Table

    shown = described["links"][:_MAX_ROWS]
    jittered = any(link["jitter_s"] for link in shown)
    contending = any("channel" in link for link in shown)
    figures = ("rate Mbit/s", "delay ms", *(("jitter ms",) if jittered else ()))
    links = Table(
        "link",
        *(("channel",) if contending else ()),
        *(Column(heading, right=True) for heading in figures),
        "queue",
        "loss",
        title=f"{described['name']}: links",
    )
    for link in shown:
        rate_bps = link["rate_bps"]
        links.add_row(
            link["name"],
            *((link.get("channel", "-"),) if contending else ()),
            "none" if rate_bps is None else f"{1e-6 * rate_bps:g}",
            f"{1e3 * link['delay_s']:g}",
            *((f"{1e3 * link['jitter_s']:g}",) if jittered else ()),
            link["queue"],
            link["loss"],
        )
    show(links)
    _more(described["link_count"], "links")
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
    _more(described["flow_count"], "flows")
    say(f"bottleneck: {described['bottleneck']}")
    _traffic(described["flows"])
    for name, words in described.get("channels", {}).items():
        say(f"channel: {name}: {words}")
    for meter in described.get("meters", ()):
        say(f"meter: {meter}")
    for link in described["links"]:
        if "varies" in link:
            say(f"varies: {link['name']}: {link['varies']}")
    _impairments(described["links"], described["link_count"])
    for source in described["random_inputs"]:
        say(f"random: {source}")
    for note in described.get("notes", ()):
        say(f"note: {note}")
    warn(described["warnings"])


def _way_back(path: list[str]) -> list[str]:
    """The same links in the other direction."""
    reverse = ".reverse"
    return [name.removesuffix(reverse) if name.endswith(reverse) else name + reverse for name in path[::-1]]


def _traffic(flows: list[dict[str, Any]]) -> None:
    """A line for each group that does not just send as much as it may."""
    groups = {flow["group"]: flow["traffic"] for flow in flows if flow["traffic"] != "bulk"}
    for group, words in groups.items():
        say(f"traffic: {group}: {words}")


def _impairments(links: list[dict[str, Any]], link_count: int) -> None:
    """A line for impairments that several links have in common."""
    impaired: dict[str, list[dict[str, Any]]] = {}
    for link in links:
        if link["impairments"]:
            impaired.setdefault("; ".join(link["impairments"]), []).append(link)
    for words, some in impaired.items():
        # The links of omitted flows are equal to the links of the listed flows.
        left_out = link_count - len(links) if any(link["private"] for link in some) else 0
        rest = f" and {len(some) + left_out - 1} more" if len(some) + left_out > 1 else ""
        say(f"impaired: {some[0]['name']}{rest}: {words}")


def _more(count: int, what: str) -> None:
    if count > _MAX_ROWS:
        say(f"  and {count - _MAX_ROWS} more {what} (--json has all)\n")
