"""Stored results as tables, and SQL over them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ackclock.errors import InputError
from ackclock.frames import frame_of
from ackclock.quantities import with_numbers
from ackclock.store import Store

if TYPE_CHECKING:
    import polars


def runs(store: Store) -> polars.DataFrame:
    """One row per run: where it comes from, what its study set, and its summary."""
    return frame_of(
        {**origin, **settings, **document["summary"]} for origin, settings, document in _documents(store)
    )


def flows(store: Store) -> polars.DataFrame:
    """One row per run and flow: where it comes from, and the metrics of the flow."""
    return frame_of(
        {**origin, **settings, **_renamed(flow, "flow")}
        for origin, settings, document in _documents(store)
        for flow in document["flows"]
    )


def transfers(store: Store) -> polars.DataFrame:
    """One row per run and group of transfers: where it comes from, and the metrics of the group."""
    return frame_of(
        {**origin, **settings, **group}
        for origin, settings, document in _documents(store)
        for group in document.get("transfers", ())
    )


def datagrams(store: Store) -> polars.DataFrame:
    """One row per run and flow or crowd of datagrams: where it comes from, and its metrics."""
    return frame_of(
        {**origin, **settings, **_renamed(row, "flow")}
        for origin, settings, document in _documents(store)
        for row in document.get("datagrams", ())
    )


def links(store: Store) -> polars.DataFrame:
    """One row per run and shared link: where it comes from, and the metrics of the link."""
    return frame_of(
        {**origin, **settings, **_renamed(link, "link")}
        for origin, settings, document in _documents(store)
        for link in document["links"]
    )


def histograms(store: Store) -> polars.DataFrame:
    """One row per run, shared link and class of waiting times: its upper edge, and packets in it."""
    return frame_of(
        {**origin, **settings, "link": entry["link"], "up_to_s": edge_ns / 1e9, "packets": packets}
        for origin, settings, text in _rows(store, "histograms_json")
        for entry in json.loads(text)
        for edge_ns, packets in zip(entry["up_to_ns"], entry["packets"], strict=True)
    )


#: What SQL may name.
TABLES: dict[str, Callable[[Store], polars.DataFrame]] = {
    "runs": runs,
    "flows": flows,
    "transfers": transfers,
    "datagrams": datagrams,
    "links": links,
    "histograms": histograms,
}


def answer(store: Store, sql: str) -> polars.DataFrame:
    """Return the answer to an SQL query in polars' dialect. Raises `InputError`.

    Only the tables that the query names are read.
    """
    import polars

    words = {word.lower() for word in re.findall(r"\w+", sql)}
    frames = {name: read(store) for name, read in TABLES.items() if name in words}
    try:
        return polars.SQLContext(frames).execute(sql, eager=True)
    except (polars.exceptions.PolarsError, polars.exceptions.PolarsWarning, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{sql!r}: {reason}; tables are {', '.join(TABLES)}, and `ackclock query --tables` shows their "
            'columns; a column with a dot in its name goes in quotes: "topology.rate"'
        ) from None


def _documents(store: Store) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    for origin, settings, text in _rows(store, "result_json"):
        yield origin, settings, json.loads(text)


def _rows(store: Store, column: str) -> Iterator[tuple[dict[str, Any], dict[str, Any], str]]:
    """Give origin, settings and a document of each run, in the order of study, point and replicate.

    A run that several points share comes once for each; one that no study knows has no settings. Behind a
    setting that is a quantity comes its number.
    """
    rows = store.rows(
        f"""
        SELECT study, point, scenario, runs.scenario_hash, runs.seed, replicate, version,
            settings_json, {column}
        FROM runs LEFT JOIN points
        ON points.scenario_hash = runs.scenario_hash AND points.seed = runs.seed AND replicate < replicates
        ORDER BY study, point, scenario, runs.scenario_hash, runs.seed, replicate, version
        """
    )
    names = ("study", "point", "scenario", "scenario_hash", "seed", "replicate", "version")
    for *origin, settings, document in rows:
        yield dict(zip(names, origin, strict=True)), with_numbers(json.loads(settings or "{}")), document


def _renamed(entry: dict[str, Any], name: str) -> dict[str, Any]:
    """A flow's or link's `name` is a column of that kind's name."""
    return {name if key == "name" else key: value for key, value in entry.items()}
