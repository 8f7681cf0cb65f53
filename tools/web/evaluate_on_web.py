"""Compares an evaluation in Node or Chromium with the command, and measures both times.

    python tools/web/evaluate_on_web.py                            new-aimd over `core`, in Node
    python tools/web/evaluate_on_web.py --in chromium --workers 2  the same in a page
    python tools/web/evaluate_on_web.py bbr3 cubic --replicates 1 --set "transport.min_rto=300 ms"

It needs `make web`, node and Chromium. It prints the places that differ, and then ends with 1.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from chromium import chromium, files
from golden_on_web import PROGRAMS, missing

from ackclock.evaluation import evaluate
from ackclock.evaluation.present import evaluation_json


def found(place: str, suite: str, options: dict[str, Any]) -> Any:
    """Return the results of an evaluation in this place: `document`, `took_s`, and in Node `cpu_s`."""
    given = [suite, json.dumps(options)]
    if place == "node":
        return _answer(["node", str(PROGRAMS / "evaluate.mjs"), *given])
    browser = chromium()
    assert browser is not None
    with files() as address:
        return _answer(["node", str(PROGRAMS / "evaluate_chromium.mjs"), browser, address, *given])


def _answer(command: list[str]) -> Any:
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def differences(ours: Any, theirs: Any, place: str = "") -> Iterator[str]:
    """The places in which two documents differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        for key in ours:
            yield from differences(ours[key], theirs[key], f"{place}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for at, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(*pair, f"{place}[{at}]")
    elif ours != theirs:
        yield f"{place}: {ours!r} by the command, {theirs!r} in WebAssembly"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ccs", metavar="cc", nargs="*", default=["new-aimd"])
    parser.add_argument("--against", action="append", help="the panel of the suite by default")
    parser.add_argument("--metric", default="shares")
    parser.add_argument("--set", dest="sets", action="append", default=[])
    parser.add_argument("--suite", default="core")
    parser.add_argument("--replicates", type=int, default=3)
    parser.add_argument("--workers", type=int, help="all cores by default")
    parser.add_argument("--in", dest="place", choices=("node", "chromium"), default="node")
    options = parser.parse_args()
    problem = missing(options.place)
    if problem is not None:
        print(f"evaluate: skipped, {problem}")
        return 77
    asked = {"replicates": options.replicates, "metric": options.metric, "sets": options.sets}
    asked |= {} if options.against is None else {"against": options.against}
    there_asked = asked | {"cc": options.ccs}
    if options.workers is not None:
        there_asked["workers"] = options.workers
    there = found(options.place, options.suite, there_asked)
    began = time.monotonic()
    evaluation = evaluate(
        options.ccs if len(options.ccs) > 1 else options.ccs[0],
        suite=options.suite,
        **asked,
        workers=options.workers,
        progress=lambda done, total: None,
    )
    took_s = time.monotonic() - began
    cpu = f" ({there['cpu_s']:.0f} s of CPU time)" if "cpu_s" in there else ""
    differ = list(differences(evaluation_json(evaluation), there["document"]))
    print(
        *differ,
        f"{evaluation.runs} runs: {there['took_s']:.0f} s in WebAssembly{cpu}, {took_s:.0f} s natively; "
        f"{len(differ)} figures differ",
        sep="\n",
    )
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
