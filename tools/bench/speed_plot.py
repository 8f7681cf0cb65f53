"""The plot of `speed.py`: packets per CPU second, and the cost of a packet among many flows."""

from pathlib import Path

import matplotlib

from measured import Report, Row
from speed_tables import standard
from workloads import SERIES, TOPOLOGIES

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes

BACKENDS = ("ackclock", "ns-2", "ns-3")
#: Readable without colour: hatches of bars, markers and lines of curves.
COLOURS = {"ackclock": "#1f5fa8", "ns-2": "#c46210", "ns-3": "#6b6b6b"}
HATCHES = {"ackclock": "", "ns-2": "///", "ns-3": "xxx"}
MARKERS = {"ackclock": "o", "ns-2": "s", "ns-3": "^"}
LINES = {"routers": "-", "hosts": "--"}


def draw(report: Report, path: Path) -> None:
    """Write the plot, the same bytes for the same report."""
    matplotlib.rcParams.update({"svg.hashsalt": "speed", "svg.fonttype": "none"})
    widths = {"width_ratios": (1.3, 1)}
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.4), layout="constrained", gridspec_kw=widths)
    workloads = [row for row in standard(report) if row.workload.startswith("W")]
    bars(left, [row for row in workloads if row.topology == "routers"])
    curves(right, {(row.workload, row.topology): row for row in report.rows})
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def bars(axes: Axes, rows: list[Row]) -> None:
    """Packets per CPU second of the workloads, on a log axis."""
    width = 0.87 / len(BACKENDS)
    for place, backend in enumerate(BACKENDS):
        speeds = [row.median(backend, lambda run: run.packets_per_cpu_s) for row in rows]
        at = [index + (place - 1) * width for index, speed in enumerate(speeds) if speed is not None]
        heights = [speed for speed in speeds if speed is not None]
        drawn = axes.bar(
            at,
            heights,
            width,
            label=backend,
            color=COLOURS[backend],
            hatch=HATCHES[backend],
            edgecolor="white",
        )
        axes.bar_label(drawn, [_short(height) for height in heights], fontsize=7, padding=2)
    axes.set_yscale("log")
    axes.set_ylim(top=axes.get_ylim()[1] * 2)
    axes.set_xlim(-0.5, len(rows) - 0.5)
    axes.set_xticks(range(len(rows)), [row.workload for row in rows])
    axes.set_ylabel("packets per CPU second")
    axes.set_title("Workloads, ends of flows on the routers", fontsize=10)
    axes.legend(frameon=False, ncols=3, loc="upper center", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def curves(axes: Axes, rows: dict[tuple[str, str], Row]) -> None:
    """CPU time per packet over the number of flows."""
    for backend in BACKENDS:
        for topology in TOPOLOGIES:
            points = []
            for flows in SERIES:
                row = rows.get((f"S{flows}", topology))
                speed = row and row.median(backend, lambda run: run.packets_per_cpu_s)
                if speed:
                    points.append((flows, 1e9 / speed))
            if points:
                axes.plot(
                    *zip(*points, strict=True),
                    LINES[topology],
                    color=COLOURS[backend],
                    marker=MARKERS[backend],
                    label=f"{backend}, {topology}",
                )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("flows over 1 Gbit/s")
    axes.set_ylabel("CPU time per packet, ns")
    axes.set_title("Many flows", fontsize=10)
    axes.set_ylim(top=axes.get_ylim()[1] * 5)
    axes.legend(frameon=False, ncols=2, fontsize=8, handlelength=3.5, loc="upper left")
    axes.grid(which="major", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _short(speed: float) -> str:
    """As 7.6M or 78k."""
    return f"{speed / 1e6:.1f}M" if speed >= 1e6 else f"{speed / 1e3:.0f}k"
