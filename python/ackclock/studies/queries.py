"""Stored results as tables, and SQL over them.

Tables hold the runs of this version of ackclock; `all_versions` takes those of others, too. A run whose row
is damaged is in none. `left_out` says what is missing for these reasons.
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

#: What a query may begin with: polars answers DELETE, DROP and others, and changes nothing that lasts.
_READING = ("SELECT", "WITH", "FROM", "VALUES", "SHOW")
#: What may stand before the first word.
_COMMENT = r"--[^\n]*(?:\n|$)|/\*.*?\*/"
_FIRST_WORD = re.compile(rf"(?:\s|{_COMMENT}|\()*(\w+)", re.DOTALL)
#: A function of polars that reads a file, called.
_READS_FILE = re.compile(rf"\b((?:read|scan)_\w+)[\"`]?(?:\s|{_COMMENT})*\(", re.DOTALL | re.IGNORECASE)
#: What reads a file in a plan of polars.
_SCAN = re.compile(r"\bSCAN \[")
#: Words and signs that a query consists of.
_WORD = re.compile(r"\w+|[^\w\s]")
#: Characters of a long query that are shown.
_SHOWN = 60
#: Names that are listed in a message.
_MOST_NAMED = 3


class Read(Protocol):
    """Reads a table of a store."""

    def __call__(self, store: Store, *, all_versions: bool = False) -> polars.DataFrame:
        """Return the table. Raises `StoreError`."""


def runs(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """One row per run: where it comes from, what its study set, and its summary."""
    return frame_of(
        {**origin, **settings, **document["summary"]}
        for origin, settings, document in _documents(store, all_versions)
    )


def flows(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """One row per run and flow: where it comes from, and the metrics of the flow."""
    return frame_of(
        {**origin, **settings, **_renamed(flow, "flow")}
        for origin, settings, document in _documents(store, all_versions)
        for flow in document["flows"]
    )


def transfers(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """One row per run and group of transfers: where it comes from, and the metrics of the group."""
    return frame_of(
        {**origin, **settings, **group}
        for origin, settings, document in _documents(store, all_versions)
        for group in document.get("transfers", ())
    )


def datagrams(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """One row per run and source of datagrams: where it comes from, and its metrics."""
    return frame_of(
        {**origin, **settings, **_renamed(row, "flow")}
        for origin, settings, document in _documents(store, all_versions)
        for row in document.get("datagrams", ())
    )


def meters(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """One row per run and meter: where it comes from, and what the meter made of packets."""
    return frame_of(
        {**origin, **settings, **_renamed(row, "meter")}
        for origin, settings, document in _documents(store, all_versions)
        for row in document.get("meters", ())
    )


def links(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """One row per run and shared link: where it comes from, and the metrics of the link."""
    return frame_of(
        {**origin, **settings, **_renamed(link, "link")}
        for origin, settings, document in _documents(store, all_versions)
        for link in document["links"]
    )


def histograms(store: Store, *, all_versions: bool = False) -> polars.DataFrame:
    """One row per run, link and class of waiting times: its upper edge, and packets in it.

    Without a link: the queueing delay of the data of all flows on their paths.
    """
    return frame_of(
        {**origin, **settings, "link": entry["link"], "up_to_s": edge_ns / 1e9, "packets": packets}
        for origin, settings, text in _rows(store, "histograms_json", all_versions)
        for entry in json.loads(text)
        for edge_ns, packets in zip(entry["up_to_ns"], entry["packets"], strict=True)
    )


#: What SQL may name.
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
    """Return the answer to an SQL query in polars' dialect, over the tables of the store and nothing else.

    Only the tables that the query names are read. `tell` is called with what they leave out. Raises
    `InputError` for a query that makes no sense, would change something or read a file, and where all runs
    are of other versions; `StoreError` for a store that cannot be read.
    """
    import polars

    _require_reading(sql)
    _require_runs(store, all_versions)
    words = {word.lower() for word in re.findall(r"\w+", sql)}
    frames = {name: read(store, all_versions=all_versions) for name, read in TABLES.items() if name in words}
    try:
        plan = polars.SQLContext(frames).execute(sql, eager=False)
        # Whatever a later polars calls its functions: no query sees a file.
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
            'columns; a column with a dot in its name goes in quotes: "topology.rate"'
        ) from None
    for sentence in left_out(store, all_versions=all_versions):
        tell(sentence)
    return answer


def left_out(store: Store, *, all_versions: bool = False) -> list[str]:
    """Return what the tables of a store leave out, and which samples are broken: a sentence for each."""
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
                f"files of samples are missing or truncated, which no table uses ({_named(broken)}); "
                "the command that filled the store writes them again"
            )
    return sentences


def _require_reading(sql: str) -> None:
    """Raise `InputError` for what is not a question, is one about a file, or is too long for polars.

    The parser of polars calls itself for each sign, and a process does not survive the end of its stack.
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
    """Raise `InputError` where there are runs, and all are of other versions: an empty answer is not true."""
    others = {} if all_versions else _versions(store)
    if others and not _count(store, f"version = '{_core.BUILD}'"):
        raise InputError(
            f"{store.folder}: has no run of this version of ackclock, {_core.BUILD}, but "
            f"{sum(others.values())} of others ({_named(others)}); --all-versions includes them"
        )


def _versions(store: Store) -> dict[str, int]:
    """Return the other versions of ackclock that runs are of, and how many."""
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
    """Return the first names, and how many more there are."""
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
    """Give origin, settings and a document of each run, in the order of study, point and replicate.

    A run that several points share comes once for each; one that no study knows has no settings. Behind a
    setting that is a quantity comes its number.
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
    """A flow's or link's `name` is a column of that kind's name."""
    return {name if key == "name" else key: value for key, value in entry.items()}
