"""Writes the data of a report as CSV and Parquet: runs, flows, scores, and the samples of its charts."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars

from ackclock.errors import StoreError
from ackclock.files.writing import write_whole
from ackclock.metrics.frames import samples_frame
from ackclock.running.job import Job, Outcome
from ackclock.running.store import Store
from ackclock.text.cells import csv_text

if TYPE_CHECKING:
    from ackclock.evaluation import Evaluation

#: The folder of the files, below the folder of the report.
FOLDER = "data"

#: Tables with compressed CSV, which is otherwise about ten times the size of Parquet.
_LARGE = ("flow_samples", "link_samples")

#: The contents of each table.
TABLES = {
    "runs": "a row per run, with the metrics of its summary",
    "flows": "a row per flow of a run",
    "links": "a row per shared link of a run",
    "scores": "a row per environment, algorithm and metric, with mean, interval and judgement",
    "flow_samples": "the flows over time, first replicate",
    "link_samples": "the shared links over time, first replicate",
}


@dataclass(frozen=True)
class StoredRun:
    """A stored run of an evaluation."""

    environment: str
    cc: str
    job: Job
    outcome: Outcome

    @property
    def document(self) -> dict[str, Any]:
        """The document of the run."""
        document: dict[str, Any] = json.loads(self.outcome.result_json)
        return document

    @property
    def labels(self) -> dict[str, Any]:
        """The columns that identify a run."""
        return {
            "environment": self.environment,
            "cc": self.cc,
            "seed": self.job.seed,
            "replicate": self.job.replicate,
        }


def stored_runs(evaluation: Evaluation, store: Store) -> Iterator[StoredRun]:
    """Yield every run of a scoreboard, by environment and algorithm.

    Raises `StoreError` if the store lacks a run.
    """
    board = evaluation.board
    for result, row in zip(board.results, evaluation.first, strict=True):
        for candidate, (job, outcome), scores in zip(board.candidates, row, result.scores, strict=True):
            yield StoredRun(result.environment.id, candidate.label, job, outcome)
            for replicate in range(1, len(scores[0].values)):
                other = replace(job, replicate=replicate, samples=False)
                found = store.get(other)
                if found is None:
                    raise StoreError(
                        f"{store.folder}: the run {other.key} is missing; a report goes into the folder "
                        "of the evaluation"
                    )
                yield StoredRun(result.environment.id, candidate.label, other, found)


def tables(evaluation: Evaluation, store: Store) -> dict[str, polars.DataFrame]:
    """Return the frames of `TABLES` by name. Raises `StoreError`."""
    rows: dict[str, list[dict[str, Any]]] = {"runs": [], "flows": [], "links": []}
    samples: dict[str, list[polars.DataFrame]] = {"flow_samples": [], "link_samples": []}
    for run in stored_runs(evaluation, store):
        document, labels = run.document, run.labels
        rows["runs"].append({**labels, "scenario_hash": run.job.scenario_hash, **document["summary"]})
        for kind in ("flows", "links"):
            rows[kind] += [{**labels, **entry} for entry in document[kind]]
        for kind, content in zip(samples, (run.outcome.flow_samples, run.outcome.link_samples), strict=True):
            if content is not None:
                samples[kind].append(_labelled(content, labels))
    frames = {name: polars.DataFrame(found, infer_schema_length=None) for name, found in rows.items()}
    frames["scores"] = _scores(evaluation)
    frames |= {name: polars.concat(found, how="diagonal") for name, found in samples.items() if found}
    return {name: frames[name] for name in TABLES if name in frames}


def csv_name(table: str) -> str:
    """Return the path of a table's CSV file below the folder of the report."""
    return f"{FOLDER}/{table}.csv{'.gz' if table in _LARGE else ''}"


def write_tables(frames: dict[str, polars.DataFrame], folder: Path) -> None:
    """Write each frame as CSV and Parquet below a folder. Raises `OSError`."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        text = csv_text(frame).encode()
        write_whole(folder / csv_name(name), gzip.compress(text, 6, mtime=0) if name in _LARGE else text)
        buffer = io.BytesIO()
        frame.write_parquet(buffer, compression="zstd")
        write_whole(folder / FOLDER / f"{name}.parquet", buffer.getvalue())


def _labelled(content: bytes, labels: dict[str, Any]) -> polars.DataFrame:
    frame = samples_frame(content)
    # Categories of different files do not join.
    frame = frame.with_columns(polars.col(polars.Categorical).cast(polars.String))
    return frame.select(*(polars.lit(value).alias(name) for name, value in labels.items()), polars.all())


def _scores(evaluation: Evaluation) -> polars.DataFrame:
    board = evaluation.board
    return polars.DataFrame(
        [
            {
                "environment": result.environment.id,
                "cc": candidate.label,
                "metric": score.metric.name,
                "heading": score.metric.heading,
                "mean": score.value.mean,
                "low": score.value.low,
                "high": score.value.high,
                "replicates": len(score.values),
                "judgement": score.judgement,
            }
            for result in board.results
            for candidate, row in zip(board.candidates, result.scores, strict=True)
            for score in row
        ],
        schema_overrides={"low": polars.Float64, "high": polars.Float64},
        infer_schema_length=None,
    )
