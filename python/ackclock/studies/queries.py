"""Stored results as tables, and SQL over them.

Tables contain the runs of this version of ackclock, and with `all_versions` the runs of other versions.
Damaged rows are omitted. `left_out` reports all omissions.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from ackclock import _core
from ackclock.errors import InputError, StoreError
from ackclock.files.reading import QUERY, WORDS, too_deep
from ackclock.metrics.frames import frame_of
from ackclock.metrics.quantities import with_numbers
from ackclock.running.rows import SOUND, SOUND_POINT
from ackclock.running.store import Store

if TYPE_CHECKING:
    import polars

#: The allowed first words of a query. Polars also accepts DELETE and DROP, without a lasting effect.
_READING = ("SELECT", "WITH", "FROM", "VALUES", "SHOW")
#: A comment, which may precede the first word.
_COMMENT = r"--[^\n]*(?:\n|$)|/\*.*?\*/"
_FIRST_WORD = re.compile(rf"(?:\s|{_COMMENT}|\()*(\w+)", re.DOTALL)
#: A call of a polars function that reads a file.
_READS_FILE = re.compile(rf"\b((?:read|scan)_\w+)[\"`]?(?:\s|{_COMMENT})*\(", re.DOTALL | re.IGNORECASE)
#: The nodes of a polars plan that read a file.
_SCAN = re.compile(r"\bSCAN \[")
#: The tokens of a query.
_WORD = re.compile(r"\w+|[^\w\s]")
#: The number of characters of a long query in messages.
_SHOWN = 60
#: The largest number of names in a message.
_MOST_NAMED = 3


class Read(Protocol):
    """Reads a table of a store."""

    def __call__(self, store: Store, *, all_versions: bool = False) -> polars.DataFrame:
        """Return the table. Raises `StoreError`."""


def runs(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """Return one row per run with its origin, the settings of its study, and its summary."""
    return frame_of(
        {**origin, **settings, **document["summary"]}
        for origin, settings, document in _documents(store, all_versions)
    )


def flows(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """Return one row per run and flow with origin and metrics."""
    return frame_of(
        {**origin, **settings, **_renamed(flow, "flow")}
        for origin, settings, document in _documents(store, all_versions)
        for flow in document["flows"]
    )


def transfers(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """Return one row per run and group of transfers with origin and metrics."""
    return frame_of(
        {**origin, **settings, **group}
        for origin, settings, document in _documents(store, all_versions)
        for group in document.get("transfers", ())
    )


def datagrams(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """Return one row per run and source of datagrams with origin and metrics."""
    return frame_of(
        {**origin, **settings, **_renamed(row, "flow")}
        for origin, settings, document in _documents(store, all_versions)
        for row in document.get("datagrams", ())
    )


def meters(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """Return one row per run and meter with origin and packet counts."""
    return frame_of(
        {**origin, **settings, **_renamed(row, "meter")}
        for origin, settings, document in _documents(store, all_versions)
        for row in document.get("meters", ())
    )


def links(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """Return one row per run and shared link with origin and metrics."""
    return frame_of(
        {**origin, **settings, **_renamed(link, "link")}
        for origin, settings, document in _documents(store, all_versions)
        for link in document["links"]
    )


def histograms(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """Return one row per run, link and class of queueing delays, with its upper edge and packets.

    Rows without a link contain the queueing delay of all data packets on their paths.
    """
    return frame_of(
        {**origin, **settings, "link": entry["link"], "up_to_s": edge_ns / 1e9, "packets": packets}
        for origin, settings, text in _rows(store, "histograms_json", all_versions)
        for entry in json.loads(text)
        for edge_ns, packets in zip(entry["up_to_ns"], entry["packets"], strict=True)
    )


#: The tables of SQL queries.
TABLES: dict[str, Read] = {
    "runs": runs,
    "flows": flows,
    "transfers": transfers,
    "datagrams": datagrams,
    "meters": meters,
    "links": links,
    "histograms": histograms,
}


def answer(
    store: Store, sql: str, *, all_versions: bool = False, tell: Callable[[str], None] = warnings.warn
) -> polars.DataFrame:
    """Return the answer to an SQL query in polars' dialect, over the tables of the store.

    Only the named tables are read. `tell` is called with a sentence for each omission. Raises `InputError`
    for an invalid query, and for one that would change data or read a file. Raises it also if all runs are
    of other versions. Raises `StoreError` for an unreadable store.
    """
    import polars

    _require_reading(sql)
    _require_runs(store, all_versions)
    words = {word.lower() for word in re.findall(r"\w+", sql)}
    frames = {name: read(store, all_versions=all_versions) for name, read in TABLES.items() if name in words}
    try:
        plan = polars.SQLContext(frames).execute(sql, eager=False)
        # Later versions of polars may rename functions, so the plan is checked for files.
        if _SCAN.search(plan.explain(optimized=False)):
            raise _reads_file(sql)
        answer = plan.collect()
    except (
        polars.exceptions.PolarsError,
        polars.exceptions.PolarsWarning,
        polars.exceptions.PanicException,
        RuntimeError,
    ) as error:
        reason = (str(error).splitlines() or ["polars cannot answer it"])[0]
        raise InputError(
            f"{sql!r}: {reason}; tables are {', '.join(TABLES)}, and `ackclock query --tables` shows their "
            'columns; quote column names that contain a dot: "topology.rate"'
        ) from None
    for sentence in left_out(store, all_versions=all_versions):
        tell(sentence)
    return answer


def left_out(store: Store, *, all_versions: bool = False) -> list[str]:
    """Return sentences about omitted runs and damaged samples of a store."""
    sentences = []
    total = _count(store, "1")
    if not all_versions and (others := _versions(store)):
        sentences.append(
            f"left out {sum(others.values())} of {total} runs of other versions of ackclock "
            f"({_named(others)}); --all-versions includes them"
        )
    shown = "1" if all_versions else "version = ?1"
    damaged = [key for (key,) in _keys(store, f"{shown} AND NOT {SOUND}")]
    if damaged:
        sentences.append(
            f"left out {len(damaged)} of {total} runs, whose rows are damaged ({_named(damaged)}); "
            "the command that filled the store runs them again"
        )
    if store.folder is not None:
        sampled = [key for (key,) in _keys(store, f"{shown} AND samples")]
        broken = [path.name for key in sampled for path in store.broken_samples(key)]
        if broken:
            sentences.append(
                f"files of samples are missing or truncated, but no table uses them ({_named(broken)}); "
                "repeat the command of the study to write them again"
            )
    return sentences


def _require_reading(sql: str) -> None:
    """Raise `InputError` for a query that changes data, reads a file, or is too long for polars.

    The parser of polars recurses for each token, and a stack overflow would end the process.
    """
    if len(sql) > QUERY:
        raise InputError(f"{sql[:_SHOWN]!r}...: a query has at most {QUERY} characters, this has {len(sql)}")
    if (words := len(_WORD.findall(sql))) > WORDS:
        raise InputError(f"{sql[:_SHOWN]!r}...: a query has at most {WORDS} words and signs, not {words}")
    if deep := too_deep(sql):
        raise InputError(f"{sql[:_SHOWN]!r}...: {deep} in a query")
    found = _FIRST_WORD.match(sql)
    word = found[1].upper() if found is not None else ""
    if word not in _READING:
        raise InputError(
            f"{sql!r}: a query cannot change the store; it begins with {', '.join(_READING)}"
            f"{f', not with {word}' if word else ''}"
        )
    if _READS_FILE.search(sql):
        raise _reads_file(sql)


def _reads_file(sql: str) -> InputError:
    return InputError(f"{sql!r}: a query reads no file, only the tables of the store: {', '.join(TABLES)}")


def _require_runs(store: Store, all_versions: bool) -> None:
    """Raise `InputError` if all runs are of other versions, as an empty answer would be wrong."""
    others = {} if all_versions else _versions(store)
    if others and not _count(store, f"version = '{_core.BUILD}'"):
        raise InputError(
            f"{store.folder}: has no run of this version of ackclock, {_core.BUILD}, but "
            f"{sum(others.values())} of others ({_named(others)}); --all-versions includes them"
        )


def _versions(store: Store) -> dict[str, int]:
    """Return the other versions of ackclock among the runs, with counts."""
    grouped = store.rows(
        "SELECT version, count(*) FROM runs WHERE version != ?1 GROUP BY version ORDER BY version",
        (_core.BUILD,),
    )
    return {str(version): int(count) for version, count in grouped}


def _count(store: Store, condition: str) -> int:
    ((count,),) = store.rows(f"SELECT count(*) FROM runs WHERE {condition}")
    return int(count)


def _keys(store: Store, condition: str) -> Iterator[tuple[Any, ...]]:
    values = (_core.BUILD,) if "?1" in condition else ()
    return store.rows(f"SELECT key FROM runs WHERE {condition} ORDER BY key", values)


def _named(names: Collection[str]) -> str:
    """Return the first names, and the number of further ones."""
    first = ", ".join(list(names)[:_MOST_NAMED])
    return first if len(names) <= _MOST_NAMED else f"{first} and {len(names) - _MOST_NAMED} more"


def _documents(
    store: Store, all_versions: bool
) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    for origin, settings, text in _rows(store, "result_json", all_versions):
        yield origin, settings, json.loads(text)


def _rows(
    store: Store, column: str, all_versions: bool
) -> Iterator[tuple[dict[str, Any], dict[str, Any], str]]:
    """Yield origin, settings and a document of each run, in the order of study, point and replicate.

    A run of several points appears once for each. A run outside of studies has no settings. A quantity is
    followed by its number.
    """
    rows = store.rows(
        f"""
        SELECT study, point, scenario, runs.scenario_hash, runs.seed, replicate, version,
            coalesce(json_extract(result_json, '$.backend'), 'sim'),
            CASE WHEN study IS NULL OR {SOUND_POINT} THEN settings_json ELSE 'damaged' END, {column}
        FROM runs LEFT JOIN points
        ON points.scenario_hash = runs.scenario_hash AND points.seed = runs.seed AND replicate < replicates
        WHERE (version = ? OR ?) AND {SOUND}
        ORDER BY study, point, scenario, runs.scenario_hash, runs.seed, replicate, version
        """,
        (_core.BUILD, all_versions),
    )
    names = ("study", "point", "scenario", "scenario_hash", "seed", "replicate", "version", "backend")
    for *origin, settings, document in rows:
        place = dict(zip(names, origin, strict=True))
        yield place, with_numbers(_settings(store, place, settings)), document


def _settings(store: Store, place: dict[str, Any], text: str | None) -> dict[str, Any]:
    try:
        settings: dict[str, Any] = dict(json.loads(text or "{}"))
    except (ValueError, TypeError):
        raise StoreError(
            f"{store.folder}: the settings of point {place['point']} of study {place['study']} are damaged; "
            "the command that filled the store writes them again"
        ) from None
    return settings


def _renamed(entry: dict[str, Any], name: str) -> dict[str, Any]:
    """Rename `name` of a flow or link to a column of that kind's name."""
    return {name if key == "name" else key: value for key, value in entry.items()}
