"""`ackclock model`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ackclock.cli.console import emit, say, show, talk
from ackclock.cli.options import json_option
from ackclock.errors import InputError
from ackclock.synchronous.cycles import aimd_totals, cycle_rows, increase_rows
from ackclock.synchronous.model import model, plot, trajectory

if TYPE_CHECKING:
    from ackclock.text.table import Table

#: Algorithms that are drawn if none is named.
_PLOTTED = ("aimd", "aimd-fc", "aimd-fc+", "new-aimd")
#: Round trips at which windows are shown. --json prints all of them.
_EXPANSION_SHOWN = (0, 2, 4, 6, 8, 20)
#: Cycles that are shown of each rule.
_CYCLES_SHOWN = 5
_USER_KEYS = ("window", "start", "stop")


@click.command("model")
@click.argument("cc", nargs=-1)
@click.option(
    "--cc",
    "more_cc",
    multiple=True,
    metavar="CC",
    help="Another algorithm, such as 'aimd(increase=0.5)'. May be repeated.",
)
@click.option("--x-goal", type=float, default=100.0, show_default=True, help="Capacity in segments.")
@click.option("--duration", type=float, default=200.0, show_default=True, help="Length in round trips.")
@click.option(
    "--user",
    "users",
    multiple=True,
    metavar="window=W[,start=T][,stop=T]",
    help=(
        "Initial window (segments), arrival and departure (round trips) of a user. May be repeated. "
        "By default two users with windows of 10 and 50."
    ),
)
@click.option(
    "--plot",
    "picture",
    type=click.Path(dir_okay=False),
    help="Draw the phase plot, the loads over time and the load curve into this file.",
)
@json_option
def command(
    cc: tuple[str, ...],
    more_cc: tuple[str, ...],
    x_goal: float,
    duration: float,
    users: tuple[str, ...],
    picture: str | None,
    as_json: bool,
) -> None:
    """Compare closed forms of the synchronous model with computed figures.

    The command also computes the trajectory of each algorithm CC. The option --json prints it, --plot draws
    it, and the table of cycles shows it. CC is a name (`ackclock list cc`) or a name with parameters, such as
    'aimd(increase=0.5)'.
    """
    from ackclock.cli.rules import parse_rule

    named = {name.strip(): parse_rule(name) for name in cc + more_cc}
    shown = named or {name: parse_rule(name) for name in _PLOTTED}
    drawn = shown if picture else named
    if not drawn and _given("x_goal", "duration", "users"):
        raise InputError("--x-goal, --duration and --user need an algorithm or --plot")
    parsed = [_user(text) for text in users] or [{"window": 10.0}, {"window": 50.0}]
    trajectories = {
        name: trajectory([{"cc": rule, **user} for user in parsed], x_goal=x_goal, duration=duration)
        for name, rule in drawn.items()
    }
    windows = [user["window"] for user in parsed]
    cycles = {
        "windows": windows,
        "x_goal": x_goal,
        "rules": {
            name: cycle_rows(rule, windows, x_goal, _CYCLES_SHOWN, duration) for name, rule in shown.items()
        },
    }
    papers = {"aimd_totals": aimd_totals([10.0, 50.0], 100.0, _CYCLES_SHOWN), "increases": increase_rows()}
    table, curve = model("table"), model("load-curve")
    if picture is not None:
        plot(trajectories, x_goal, picture)
        talk(f"plot: {picture}")
    if as_json:
        document = {**table, "cycles": cycles, **papers, "load_curve": curve, "trajectories": trajectories}
        emit(json.dumps(document, indent=2))
    else:
        _show(table, curve, cycles, papers, trajectories)


def _given(*names: str) -> bool:
    """Return whether the command line has any of these options."""
    source = click.get_current_context().get_parameter_source
    return any(source(name) is ParameterSource.COMMANDLINE for name in names)


def _user(text: str) -> dict[str, float]:
    user: dict[str, float] = {}
    for part in text.split(","):
        key, _, value = part.partition("=")
        if key.strip() not in _USER_KEYS:
            raise InputError(
                f"--user {text}: {key.strip()!r} is none of {', '.join(_USER_KEYS)}; write window=10,start=50"
            )
        try:
            user[key.strip()] = float(value)
        except ValueError:
            raise InputError(f"--user {text}: {key.strip()} must be a number, not {value!r}") from None
    if "window" not in user:
        raise InputError(f"--user {text}: a user needs a window; write window=10,start=50")
    return user


def _show(
    table: dict[str, Any],
    curve: dict[str, Any],
    cycles: dict[str, Any],
    papers: dict[str, Any],
    trajectories: dict[str, Any],
) -> None:
    from ackclock.cli.model_tables import cycles_table, increases_table, totals_table
    from ackclock.text.table import Column, Table

    goals = [step["x_goal"] for step in table["efficiency"][0]["integer_step"]]
    figures = ("cut leaves", "closed", "exact", "fine", *(f"{goal:g}" for goal in goals))
    efficiency = Table(
        "rule",
        *(Column(heading, right=True) for heading in (*figures, f"over {goals[0]:g}, %")),
        title="efficiency: mean load / X_goal",
        caption=(
            "Columns: the closed form, peaks that hit X_goal exactly, fine steps, steps of one RTT, and "
            f"their share above X_goal. X_goal is {', '.join(f'{goal:g}' for goal in goals)}."
        ),
    )
    for row in table["efficiency"]:
        closed = row["closed_form"] or {}
        efficiency.add_row(
            row["rule"],
            _number(closed.get("remaining")),
            _number(closed.get("efficiency")),
            _number(row["exact_peak"]["efficiency"]),
            _number(row["fine_step"]["efficiency"]),
            *(_number(step["efficiency"]) for step in row["integer_step"]),
            f"{100 * row['integer_step'][0]['congested_share_from_start']:.1f}",
        )
    show(efficiency)
    fairness = Table(
        "rule",
        "from one congestion event to the next",
        *(Column(heading, right=True) for heading in ("cycles", "exact-peak steps", "integer steps")),
        title="fairness: two users from 10 and 50, X_goal 100",
        caption="steps until Jain's index exceeds 0.99",
    )
    for row in table["fairness"]:
        fair = row["fair"] or {}
        fairness.add_row(
            row["rule"],
            _law(row),
            *(
                f"{fair[key]:g}" if key in fair else "never"
                for key in ("cycles", "exact_peak_steps", "integer_steps")
            ),
        )
    show(fairness)
    show(_expansion(table["expansion"]))
    show(cycles_table(cycles["rules"], cycles["windows"], cycles["x_goal"]))
    show(totals_table(papers["aimd_totals"]))
    show(increases_table(papers["increases"]))
    knee, cliff = curve["knee"], curve["cliff"]
    say(
        f"load curve: knee at {knee['load']:.2f} of the capacity (throughput {knee['throughput']:.2f}), "
        f"cliff at {cliff['load']:.2f} (throughput {cliff['throughput']:.2f})"
    )
    for name, data in trajectories.items():
        last = ", ".join("-" if window is None else f"{window:.2f}" for window in data["windows"][-1])
        say(f"{name}: windows at the end {last} segments; Jain {data['jain_index'][-1]:.4f}")
    say("\nconventions: docs/reference/synchronous-model.md, or --json")


def _expansion(rows: list[dict[str, float]]) -> Table:
    from ackclock.text.table import Column, Table

    headings = ("round trips", "MR-AIMD, eq. 3", "MR-AIMD, eq. 1 per ACK", "AIMD(1, 0.5)")
    expansion = Table(
        *(Column(heading, right=True) for heading in headings),
        title="expansion: windows from 20 segments without marks and losses",
    )
    for row in rows:
        if row["time"] in _EXPANSION_SHOWN:
            windows = (row["mr_aimd_eq3"], row["mr_aimd_per_ack"], row["aimd"])
            expansion.add_row(f"{row['time']:g}", *(f"{window:.1f}" for window in windows))
    return expansion


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _law(row: dict[str, Any]) -> str:
    law = row["law"]
    if law is None:
        return f"differences {', '.join(f'{value:.3g}' for value in row['differences'][:4])}"
    return f"{law['kind']} x {law['factor']:g}" if "factor" in law else str(law["kind"]).replace("-", " ")
