"""Writes the generated parts of the documentation, from descriptions in the library.

    python tools/docs/generate.py            write
    python tools/docs/generate.py --check    exit code 1 if anything is out of date

The generated part of a page stands between the comments `<!-- generated: NAME -->` and `<!-- end -->`.
A page of docs/papers is generated as a whole, from its template in tools/docs/papers. The results next to the
template come from `make papers`. A page of docs/algorithms is generated from the
header of the file of its algorithm. Pages of algorithms and queues have a figure (live_figures.py). Pages of
suites show pictures of docs/images/paths, which paths.py draws.
"""

import argparse
import inspect
import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path += [
    str(Path(__file__).resolve().parents[1] / folder) for folder in ("evidence", "kernel", "markdown")
]

import agreement_page
import algorithm_page
import described
import evidence_page
import key_tables
import live_figures
import paper_page
import paths
import rows as evidence_rows
import trust
from ackclock import _core
from ackclock.attacks import families
from generated_parts import renewed
from markdown_table import table

DOCS = Path(__file__).resolve().parents[2] / "docs"
#: Pages outside of DOCS with generated parts.
PAGES_ABOVE = (DOCS.parent / "README.md", DOCS.parent / "paper" / "paper.md")
# Numbers from this on are shown without fractions.
LARGE = 1000
# A value below is a rounding error.
TINY = 1e-9
# The end of a definition of what only some queues count.
OF_QUEUES = re.compile(r"Only ((?:[a-z-]+, )*[a-z-]+) count them\.$")


def metrics_table(of: str) -> str:
    """The metrics of a list of the results, with their declarations."""
    rows = [("name", "better", "definition", "none where"), ("---",) * 4]
    for metric in json.loads(_core.metrics_json()):
        if metric["list"] == of:
            better = metric["better"] if metric["better"] in ("higher", "lower") else ""
            definition = OF_QUEUES.sub(lambda found: with_pages(found[1]), metric["definition"])
            rows.append((f"`{metric['key']}`", better, definition, metric["absent"] or ""))
    return table(rows)


def methods_table() -> str:
    """The events of a user-supplied class."""
    rows = [("method", "called when"), ("---",) * 2]
    for name, method in vars(_core.CongestionControl).items():
        if name.startswith("on_") or name == "probe":
            parameters = ", ".join(list(inspect.signature(method).parameters)[1:])
            rows.append((f"`{name}({parameters})`", " ".join(method.__doc__.split())))
    return table(rows)


def fields_table(of: str) -> str:
    """The fields of an event."""
    rows = [("field", "meaning"), ("---",) * 2]
    # Their order changes from build to build.
    for name, field in sorted(vars(getattr(_core, of)).items()):
        if inspect.isgetsetdescriptor(field):
            rows.append((f"`{name}`", " ".join((field.__doc__ or "").split())))
    return table(rows)


def bounds_table(of: str) -> str:
    """Actions, or the terms of observations and rewards."""
    rows = [("name", "unit", "meaning", "least", "largest"), ("---", "---", "---", "--:", "--:")]
    for name, unit, meaning, low, high in getattr(_core.Episodes, of)():
        rows.append((f"`{name}`", unit, meaning, f"{low:g}", f"{high:g}"))
    return table(rows)


def with_pages(queues: str) -> str:
    """A remark about some queues, with links to their pages."""
    return f"Only {', '.join(f'[{name}](../queues/{name}.md)' for name in queues.split(', '))} count them."


#: The lists of the results that have metrics, and the summary.
LISTS = ("summary", "flows", "transfers", "datagrams", "meters", "links")
#: The base class of user-supplied algorithms, and the arguments of its methods.
EVENTS = ("CongestionControl", "Event", "Ack", "Congestion", "Loss", "Recovery", "Sent")


def beside_linux(results: str) -> str:
    """The results of `make validate-linux`: a table, with kernel and date."""
    found = json.loads((DOCS.parent / "tools/linux" / results).read_text(encoding="utf-8"))
    made = found["made"].replace(": ", ". ", 1)
    return f"{made}.\n\n{found['table']}"


def newcomer_table() -> str:
    """The results of `tools/linux/newcomer.py`."""
    found = json.loads((DOCS.parent / "tools/linux/newcomer.json").read_text(encoding="utf-8"))
    rows = [("", "mean share", "least", "largest", "runs"), ("---",) * 5]
    for name, figures in found.items():
        shares = (f"{100 * figures[key]:.1f} %" for key in ("mean", "least", "largest"))
        invalid = f", {figures['invalid']} invalid" if figures["invalid"] else ""
        rows.append((name, *shares, f"{figures['runs']}{invalid}"))
    return table(rows)


def paper_on_linux(name: str) -> str:
    """The results of `tools/kernel/paper_runs.py`: claims as printed, simulated, and with the kernel."""
    found = json.loads((DOCS.parent / "tools/kernel/papers.json").read_text(encoding="utf-8"))[name]

    def number(value: float) -> str:
        value = 0.0 if abs(value) < TINY else value
        return f"{value:.0f}" if abs(value) >= LARGE else f"{value:.4g}"

    def figure(side: dict[str, Any]) -> str:
        return f"{number(side['measured'])}, {side['verdict']}"

    rows = [("claim", "printed", "simulated", "with the kernel", "unit"), ("---",) * 5]
    for claim in found["claims"]:
        printed = "" if claim["printed"] is None else number(claim["printed"])
        changed = "**" if claim["id"] in found["changed"] else ""
        there = f"{changed}{figure(claim['kernel'])}{changed}"
        what = f"{claim['statement']} (`{claim['id']}`)"
        rows.append((what, printed, figure(claim["simulated"]), there, claim["unit"]))
    counts = f"{found['runs']} runs, {found['replicates']} of each configuration"
    return f"{found['made']}: {counts}. In bold: another verdict than the simulation's.\n\n{table(rows)}"


def kernel_speed() -> str:
    """The results of `tools/kernel/virtual_speed.py`."""
    found = json.loads((DOCS.parent / "tools/kernel/virtual_speed.json").read_text(encoding="utf-8"))
    rows = [("figure", "value"), ("---",) * 2, *found["figures"].items()]
    return f"{found['made']}.\n\n{table(rows)}"


def validation() -> str:
    """The tables of the validation overview."""
    rows = evidence_rows.rows()
    return evidence_page.overview(rows, evidence_page.known(rows, evidence_page.stored()))


def attack_families() -> str:
    """The families of `ackclock attack`, with the bounds of their settings."""
    rows = [("family", "part of the network", "settings"), ("---",) * 3]
    for family in families.FAMILIES:
        # Numbered settings have the same bounds.
        bounds = {
            re.sub(r"-\d+$", "", each.name): f"{each.axis.low:g} to {each.axis.high:g} {each.unit}".rstrip()
            for each in family.settings
        }
        settings = ", ".join(f"`{name}` {each}" for name, each in bounds.items())
        rows.append((f"`{family.name}`", family.title, settings))
    return table(rows)


def suite_part(name: str) -> str:
    """The picture of the paths of a suite, and the table of its environments."""
    return f"{paths.markdown(name)}\n\n{described.environments(name)}"


PARTS: dict[str, Callable[[], str]] = {
    **key_tables.GENERATED,
    "validation": validation,
    "slices": lambda: evidence_page.slices(evidence_rows.rows()),
    "suites": described.suites,
    "attack_families": attack_families,
    "core_pictures": described.core_pictures,
    **{f"suite_{name.replace('-', '_')}": partial(suite_part, name) for name in described.SUITES},
    "commands": described.command_index,
    "python": described.python_reference,
    "papers": paper_page.summary,
    "trust": trust.table,
    "trust_of_paper": trust.table_of_paper,
    "agreement": partial(beside_linux, "results.json"),
    "episodes": partial(beside_linux, "episodes.json"),
    "shares": partial(beside_linux, "shares.json"),
    "fidelity": partial(beside_linux, "fidelity.json"),
    "newcomer": newcomer_table,
    "kernel_agreement": agreement_page.table,
    "kernel_speed": kernel_speed,
    "efficiency_on_linux": partial(paper_on_linux, "jasem-efficiency"),
    "utilization_on_linux": partial(paper_on_linux, "jasem-utilization"),
    "methods": methods_table,
    **{f"gym_{of}": partial(bounds_table, of) for of in ("actions", "terms")},
    **{f"fields_{of}": partial(fields_table, of) for of in EVENTS},
    **{f"metrics_{of}": partial(metrics_table, of) for of in LISTS},
}


def generated(text: str) -> str:
    """The page with its generated parts renewed."""
    return renewed(text, lambda name: PARTS[name]())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if anything is out of date")
    options = parser.parse_args()
    stale = False
    pages = {page: generated(page.read_text()) for page in (*PAGES_ABOVE, *DOCS.rglob("*.md"))}
    pages |= {DOCS / "papers" / f"{name}.md": text for name, text in paper_page.pages()}
    pages |= {DOCS / "algorithms" / f"{name}.md": text for name, text in algorithm_page.pages()}
    pages |= {DOCS / "reference/cli" / f"{name}.md": text for name, text in described.command_pages()}
    pages |= {DOCS / "images/paths" / f"{name}.svg": paths.picture(name) for name in described.SUITES}
    for figure in live_figures.figures():
        page = DOCS / figure.page
        if page not in pages:
            raise ValueError(f"docs/{figure.page} is missing: each queue and algorithm has a page")
        pages[page] = figure.put(pages[page], figure.markdown())
    for page, expected in sorted(pages.items()):
        text = page.read_text() if page.exists() else ""
        if expected == text:
            continue
        stale = True
        print(
            f"{page.relative_to(DOCS.parent)}: {'out of date; run make docs' if options.check else 'written'}"
        )
        if not options.check:
            page.parent.mkdir(exist_ok=True)
            page.write_text(expected)
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
