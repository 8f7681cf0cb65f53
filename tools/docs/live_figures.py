"""Figures for the pages of algorithms and queues: a run as command, picture and live chart.

Every built-in algorithm and queue has one. In the repository a page shows the command. `site.py` replaces it
by the picture and by the data with which `web/figures/figure.js` runs the scenario in the browser.
"""

import contextlib
import html
import io
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import ackclock
from ackclock import _core
from ackclock.cli.play_command import packed
from ackclock.cli.shorthand import Shorthand
from ackclock.files.documents import as_toml, as_toml_file
from ackclock.page import live
from ackclock.page.embedded import bundle
from ackclock.page.over_time import over_time

SOURCES = Path(__file__).resolve().parents[2] / "web" / "figures"

#: Values of parameters without a default, by name.
REQUIRED = {
    "rate": "5 Mbit/s",
    "class": [{"flows": ["bbr3"], "queue": "codel"}, {"queue": "codel"}],
}
PART = re.compile(r"<!-- figure -->.*?<!-- end -->", re.DOTALL)
#: The panels of a figure: names in `figure.js` and in `over_time`.
PANELS = {"window": "cwnd", "rate": "goodput", "queue": "queue"}


class Figure(NamedTuple):
    """The figure of a page."""

    #: The folder of the page in `docs`, and its name.
    folder: str
    name: str
    #: A short description of the content.
    caption: str
    panels: tuple[str, ...]
    #: Options of `ackclock run`.
    options: Mapping[str, str]

    @property
    def page(self) -> str:
        """The page, below `docs`."""
        return f"{self.folder}/{self.name}.md"

    @property
    def command(self) -> str:
        """The command that shows the figure in a terminal."""
        words = (word for key, value in self.options.items() for word in (f"--{key}", value))
        return shlex.join(["ackclock", "run", *words, "--plot", "term"])

    @property
    def tree(self) -> Mapping[str, Any]:
        """The scenario."""
        options = Shorthand(**{key: self.options.get(key) for key in Shorthand._fields})
        # What the options stand for is told to who gives them.
        with contextlib.redirect_stderr(io.StringIO()):
            _, tree = options.scenario_and_tree(None, ())
        assert tree is not None, "there are options"
        return {**tree, "name": self.name}

    @property
    def text(self) -> str:
        """The scenario as a file has it."""
        return as_toml_file(self.tree)

    def svg(self) -> bytes:
        """The picture."""
        result = ackclock.run(self.tree)
        drawing = over_time(
            result.samples.flows, result.samples.links, result.document["duration_s"], self.caption
        )
        starts = tuple(PANELS[name] for name in self.panels)
        return drawing._replace(panels=[one for one in drawing.panels if one.title.startswith(starts)]).svg()

    def markdown(self) -> str:
        """The part of the page in the repository."""
        return f"<!-- figure -->\n\n{self.caption}:\n\n```sh\n{self.command}\n```\n\n<!-- end -->"

    def html(self, picture: str, folder: str | None) -> str:
        """The part of the page on the site: a picture, which runs where `write_live` filled the folder."""
        caption = html.escape(self.caption)
        image = f'<img src="{picture}" alt="{caption}: {" and ".join(self.panels)} over time">'
        if folder is None:
            return f"<figure>{image}</figure>"
        own = f"{folder}/figures"
        link = f'<a href="{folder}/play/{live.LIVE}#{packed(self.text)}">On the live page</a>'
        return (
            f'<figure class="live-figure" data-panels="{" ".join(self.panels)}">'
            f'<link rel="stylesheet" href="{own}/figure.css">{image}'
            f"<figcaption>{link}</figcaption></figure>\n"
            f'<script defer src="{own}/figure.js" data-engine="{own}/engine.js"></script>'
        )

    def put(self, text: str, part: str) -> str:
        """The text of the page with this part: where it has one, or before the first section."""
        if PART.search(text):
            return PART.sub(lambda _: part, text, count=1)
        return text.replace("\n## ", f"\n{part}\n\n## ", 1)


def figures() -> Iterator[Figure]:
    """The figures of all algorithms and queues."""
    path = {"rate": "10Mbit/s", "rtt": "40ms"}
    for algorithm in json.loads(_core.list_json("cc")):
        # Code of users has pages of its own.
        if not algorithm["reference"].startswith("docs/"):
            name = algorithm["name"]
            options = {**path, "flows": f"{written(algorithm)}*2", "duration": "60s"}
            yield Figure("algorithms", name, f"Two flows of {name}", ("window", "queue"), options)
    for queue in json.loads(_core.list_json("queue")):
        name = queue["name"]
        if name == "kernel":  # No page has a kernel.
            continue
        options = {**path, "queue": written(queue), "flows": "cubic,bbr3", "duration": "60s"}
        yield Figure("queues", name, f"CUBIC and BBRv3 through {name}", ("rate", "queue"), options)


def write_live(folder: Path) -> None:
    """Write the live page, the page of evaluations and the code of figures. All of it runs from disk.

    Figures load scripts, which browsers permit from disk. Raises `InputError` if the module for browsers is
    not built.
    """
    carried = json.dumps(live.engine())
    element = "Object.assign(document.createElement('script'), { type: 'text/plain', id, textContent })"
    engine = f"for (const [id, textContent] of Object.entries({carried})) document.head.append({element});\n"
    files = {
        f"play/{live.LIVE}": live.live_page(),
        f"play/{live.EVALUATION}": live.evaluation_page(),
        f"play/{live.QUEUE}": live.queue_page(),
        "figures/figure.css": (SOURCES / "figure.css").read_text(encoding="utf-8"),
        "figures/figure.js": f"(() => {{\n{bundle(SOURCES / 'figure.js')}\n}})();\n",
        "figures/engine.js": engine,
    }
    for name, text in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def written(entry: Mapping[str, Any]) -> str:
    """An algorithm or a queue as a command-line option: its name, with parameters that lack a default.

    Raises:
        ValueError: if `REQUIRED` has nothing to put there.
    """
    required = [parameter for parameter in entry["parameters"] if parameter["required"]]
    missing = [parameter["name"] for parameter in required if parameter["name"] not in REQUIRED]
    if missing:
        raise ValueError(f"the figure of {entry['name']} needs values of {', '.join(missing)}: see REQUIRED")
    values = [f"{parameter['name']} = {as_toml(REQUIRED[parameter['name']])}" for parameter in required]
    return f"{{ kind = {json.dumps(entry['name'])}, {', '.join(values)} }}" if values else str(entry["name"])
