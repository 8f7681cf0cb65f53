"""`ackclock play`: what it serves, and the page in a browser."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browsers import used
from helpers import ROOT, cli, require_web

import ackclock
from ackclock.cli import play_command
from ackclock.errors import InputError
from ackclock.page import embedded

SCENARIO = """
schema = 2
duration = "300 s"
topology = { kind = "dumbbell", rate = "10 Mbit/s", delay = "20 ms" }
flows = [{ name = "one", cc = "cubic" }]
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a page that is served, with a scenario in it."""
    require_web()
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    command = [sys.executable, "-m", "ackclock", "play", "--no-open", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def imported(name: str, found: set[str]) -> set[str]:
    """The modules of the live page that one of them imports."""
    text = (ROOT / "web" / "play" / name).read_text(encoding="utf-8")
    for each in re.findall(r'^import .* from "\./([\w.-]+)";$', text, re.MULTILINE):
        if each not in found:
            found.add(each)
            imported(each, found)
    return found


@pytest.mark.parametrize(
    ("page", "entry", "known"),
    [("index.html", "page.js", "scales.js"), ("evaluate.html", "evaluating.js", "plane.js")],
)
def test_modules_are_asked_for_all_at_once(page: str, entry: str, known: str) -> None:
    text = (ROOT / "web" / "play" / page).read_text(encoding="utf-8")
    asked = re.findall(r'<link rel="modulepreload" href="([\w.-]+)">', text)
    assert asked == sorted(imported(entry, set())) and known in asked


def test_files_are_served_under_a_strict_policy(address: str) -> None:
    page, _, fragment = address.partition("#")
    root = page.removesuffix("/play/")
    types = {
        "/play/": "text/html",
        "/ackclock.js": "text/javascript",
        "/module/ackclock_bg.wasm": "application/wasm",
    }
    for name, kind in types.items():
        with urllib.request.urlopen(root + name) as answer:
            assert answer.headers.get_content_type() == kind
            assert answer.headers["Content-Security-Policy"].startswith(
                "default-src 'none'; script-src 'self'"
            )
    with urllib.request.urlopen(root + "/") as answer:
        assert answer.url == page
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(root + "/../pyproject.toml")
    assert root.startswith("http://127.0.0.1:") and fragment.startswith("1j.")


def test_a_link_gives_the_same_run(address: str) -> None:
    found = used("link.mjs", address)
    assert found["problems"] == []
    assert found["first"] == found["again"] == found["second"] != ""
    assert found["changes"][0].endswith("bottleneck: rate 5 Mbit/s") and len(found["changes"]) == 7
    assert found["changes"][2].endswith("bottleneck: fq-codel")
    assert found["changes"][3].endswith("buffer 20 packets") and found["changes"][4].endswith("loss 0.1 %")
    assert found["changes"][5].endswith("one: bbr3")
    assert found["changes"][6].endswith("one: grow = 1 / w; cut = 0.9 * w")
    assert found["link"].split("#")[1].startswith("1z.")


def test_every_control_does_what_it_says(address: str, tmp_path: Path) -> None:
    found = used("controls.mjs", address, str(tmp_path))
    assert found["problems"] == []
    # What was taken away is the same run, natively.
    scenario = tmp_path / "scenario.toml"
    summary = ackclock.run(ackclock.Scenario.from_file(scenario)).document["summary"]
    figures = {"%": 100 * summary["utilization"], "Mbit/s": summary["goodput_bps"] / 1e6}
    assert found["summary"][:2] == [f"{float(f'{value:.4g}'):g} {unit}" for unit, value in figures.items()]
    words = shlex.split(found["command"])
    assert words[:3] == ["ackclock", "run", "scenario.toml"]
    answer = cli("run", str(scenario), *words[3:], "--json")
    assert json.loads(answer.stdout)["summary"] == summary
    flows = (tmp_path / "scenario-flows.csv").read_text().splitlines()
    assert flows[0].startswith("time_ns,") and len(flows) > 100
    assert (tmp_path / "scenario-links.csv").read_text().startswith("time_ns,")
    assert ElementTree.parse(tmp_path / "scenario.svg").getroot().tag.endswith("svg")


def test_packets_are_drawn_and_two_set_ups_compared(address: str) -> None:
    found = used("packets.mjs", address)
    assert found["problems"] == []
    assert all(len(total) == 64 for total in found["sums"])
    assert len(found["figures"]) == 5 and all(figure.startswith("B: ") for figure in found["figures"])


def test_lessons_show_what_their_runs_give(address: str) -> None:
    found = used("lessons.mjs", address)
    assert found["problems"] == [] and len(found["found"]) == 10
    for name, figures in found["found"].items():
        assert "✓" in figures[0], name
        assert not any("✗" in figure for figure in figures), name


def test_a_link_of_firefox_gives_the_same_run_in_chromium(address: str) -> None:
    found = used("link.mjs", address, browser="firefox-esr")
    assert found["problems"] == []
    assert found["first"] == found["second"] != "" and len(found["changes"]) == 7
    assert used("opened.mjs", found["link"], browser="chromium")["sum"] == found["first"]


def test_a_lesson_in_firefox_shows_what_its_runs_give(address: str) -> None:
    found = used("lessons.mjs", address, "sawtooth", browser="firefox-esr")
    assert found["problems"] == []
    assert "✓" in found["found"]["sawtooth"][0]


def test_what_is_hostile_or_too_much_is_one_message(address: str) -> None:
    found = used("hostile.mjs", address)
    assert found["problems"] == [] and found["elsewhere"] == []
    reasons = {
        "long": "more than 100000",
        "junk": "not one that this page makes",
        "damaged": "damaged",
        "other": "no set-up",
    }
    for name, reason in reasons.items():
        assert found["links"][name].startswith("The link cannot be read") and reason in found["links"][name]
    assert set(found["broken"]) == {"connect-src", "img-src", "script-src-attr", "script-src-elem"}
    assert found["much"].startswith("The simulation did not answer for 8 s, and was ended")


def test_what_cannot_be_played_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = cli("play", "--no-open", str(tmp_path / "missing.toml"))
    assert missing.code == 2 and len(missing.stderr.splitlines()) == 1
    monkeypatch.setattr(embedded, "_NEEDED", ("nowhere.html",))
    with pytest.raises(InputError, match="not built here; in a checkout of ackclock: make web"):
        embedded.web()
    file = tmp_path / "long.toml"
    file.write_text(SCENARIO + "# " + 100_000 * "x")
    with pytest.raises(InputError, match="too long for the address of a page"):
        play_command.opening(file)
