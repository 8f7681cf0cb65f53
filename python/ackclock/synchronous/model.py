"""The synchronous (Chiu-Jain) model: its table, trajectories, and throughput against load.

The core contains the model, and `docs/reference/synchronous-model.md` explains its conventions.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.errors import InputError, writing_error
from ackclock.files.writing import write_whole


def model(what: str = "table", **fields: Any) -> dict[str, Any]:
    """Ask the model: `table`, `trajectory` or `load-curve`, with the fields of the request.

    Windows and loads are in segments, times in round trips. Raises `InputError` naming the field.
    """
    _require_finite(fields, "")
    try:
        request = json.dumps({"what": what, **fields}, allow_nan=False)
        answer: dict[str, Any] = json.loads(_core.model_json(request))
    except ValueError as error:
        raise InputError(f"model: {error}") from None
    return answer


def _require_finite(value: Any, path: str) -> None:
    """Refuse numbers that JSON does not have, by their place in the request."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"model: {path} is {value}, but must be a finite number")
    if isinstance(value, Mapping):
        for key, item in value.items():
            _require_finite(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _require_finite(item, f"{path}.{index}")


def trajectory(
    users: Sequence[Mapping[str, Any]], *, x_goal: float, duration: float, **fields: Any
) -> dict[str, Any]:
    """Return windows and load over time for users that are dicts of `cc`, `window`, `start`, `stop`."""
    return model("trajectory", users=list(users), x_goal=x_goal, duration=duration, **fields)


def plot(trajectories: Mapping[str, dict[str, Any]], x_goal: float, path: str | Path) -> None:
    """Draw phase plot (first two users), loads over time and load curve, a column per trajectory.

    The suffix of `path` selects the format, and PNG is the default. The file is written whole or not at all.
    Needs matplotlib. Raises `InputError`, or `StoreError` if the file cannot be written.
    """
    try:
        import matplotlib
    except ImportError:
        raise InputError(
            "a plot needs matplotlib; install it with: python -m pip install matplotlib"
        ) from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    count = len(trajectories)
    figure, axes = pyplot.subplots(
        2, count + 1, figsize=(4.2 * (count + 1), 7.5), squeeze=False, layout="constrained"
    )
    for column, (name, data) in enumerate(trajectories.items()):
        _phase(axes[0][column], name, data, x_goal)
        _loads(axes[1][column], data, x_goal)
    _load_curve(axes[0][count], axes[1][count])
    picture, path = io.BytesIO(), Path(path)
    try:
        figure.savefig(picture, dpi=150, format=path.suffix.removeprefix(".") or None)
        write_whole(path, picture.getvalue())
    except OSError as error:
        raise writing_error(f"{path}: the plot cannot be written: {error.strerror}", error) from None
    except ValueError as error:
        raise InputError(f"{path}: the plot cannot be written: {error}") from None
    finally:
        pyplot.close(figure)


def _phase(axes: Any, name: str, data: dict[str, Any], x_goal: float) -> None:
    pairs = [(row[0], row[1]) for row in data["windows"] if row[0] is not None and row[1] is not None]
    axes.plot([pair[0] for pair in pairs], [pair[1] for pair in pairs], linewidth=0.8)
    axes.plot([0, x_goal], [x_goal, 0], color="tab:red", linewidth=1, label="X = X_goal")
    axes.plot([0, x_goal], [0, x_goal], color="tab:green", linewidth=1, linestyle="--", label="equal shares")
    axes.set(
        title=f"{name}: phase plot", xlabel="window of user 1, segments", ylabel="window of user 2, segments"
    )
    axes.set(xlim=(0, x_goal), ylim=(0, x_goal), aspect="equal")
    axes.legend(loc="upper right", fontsize="small")


def _loads(axes: Any, data: dict[str, Any], x_goal: float) -> None:
    for index, windows in enumerate(zip(*data["windows"], strict=True)):
        values = [float("nan") if window is None else window for window in windows]
        axes.plot(data["time"], values, linewidth=0.9, label=f"user {index + 1}")
    axes.plot(data["time"], data["load"], linewidth=0.9, color="black", label="load X")
    axes.axhline(x_goal, color="tab:red", linewidth=1, label="X_goal")
    axes.set(title="loads over time", xlabel="time, round trips", ylabel="segments", ylim=(0, 1.4 * x_goal))
    axes.legend(loc="upper center", ncols=3, fontsize="small")


def _load_curve(throughput: Any, response: Any) -> None:
    curve = model("load-curve")
    load = [point["load"] for point in curve["points"]]
    for axes, key, label in (
        (throughput, "throughput", "throughput / capacity"),
        (response, "response_time", "response time / service time"),
    ):
        axes.plot(load, [point[key] for point in curve["points"]])
        for name in ("knee", "cliff"):
            point = curve[name]
            axes.plot([point["load"]], [point[key]], "o", label=f"{name}: load {point['load']:.2f}")
        axes.set(title=f"{label.split(' /')[0]} against load", xlabel="offered load / capacity", ylabel=label)
        axes.set(ylim=(0, None))
        axes.legend(fontsize="small")
