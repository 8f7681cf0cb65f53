"""`ackclock play`: what it serves and saves, and the page in a browser, served and from disk."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browsers import PROGRAMS, used
from helpers import ROOT, cli, require_web

import ackclock
from ackclock.cli import play_command
from ackclock.errors import InputError
from ackclock.page import embedded, live

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


@pytest.fixture
def on_disk(tmp_path: Path) -> str:
    """The address of a page that is a file, with a scenario in it."""
    require_web()
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    page = tmp_path / "page of mine.html"
    saved = cli("play", str(file), "--save", str(page))
    assert saved.code == 0 and saved.stdout == f"{page}\n", saved.stderr
    return page.as_uri()


def test_the_pages_are_served_and_nothing_else(address: str) -> None:
    page, _, fragment = address.partition("#")
    for name in ("", "index.html", "evaluate.html?again", "queue.html"):
        with urllib.request.urlopen(page + name) as answer:
            assert answer.headers.get_content_type() == "text/html"
            assert answer.headers["Content-Security-Policy"] == "frame-ancestors 'none'"
            assert "<title>ackclock" in answer.read().decode()
    for name in ("page.js", "module/ackclock_bg.wasm", "../pyproject.toml"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(page + name)
    assert page.startswith("http://127.0.0.1:") and fragment.startswith("1j.")


def test_a_page_names_all_that_it_may_do_and_is_small() -> None:
    require_web()
    for page, most in (
        (live.live_page(), 1_028_000),
        (live.evaluation_page(), 1_383_000),
        (live.queue_page(), 982_000),
    ):
        found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
        assert found is not None
        policy = dict(part.split(" ", 1) for part in found[1].split("; "))
        assert policy["default-src"] == policy["connect-src"] == policy["base-uri"] == "'none'"
        assert policy["worker-src"] == "blob:" and policy["img-src"] == "data:"
        hashes = r"'sha256-[\w+/]{43}='"
        assert re.fullmatch(rf"{hashes}( {hashes})*", policy["style-src"])
        assert re.fullmatch(rf"{hashes} {hashes} 'wasm-unsafe-eval'", policy["script-src"])
        # The modules of the evaluation page take 1,149 kB, and the suites 160 kB.
        assert len(gzip.compress(page.encode(), 9)) < most
        assert not re.search(r'(?:src|href)="(?!data:|evaluate\.html"|index\.html"|queue\.html")', page)


def test_texts_in_scripts_do_not_end_their_elements() -> None:
    text = "const ends = `</script>`, comment = '<!-- ';"
    assert embedded.script(text, " nomodule") == (
        "<script nomodule>\nconst ends = `<\\/script>`, comment = '<\\!-- ';\n</script>"
    )


def test_a_folder_has_all_pages_and_a_file_is_alone(tmp_path: Path) -> None:
    require_web()
    saved = cli("play", "--save", str(tmp_path / "stick"))
    names = ["index.html", "evaluate.html", "queue.html"]
    assert saved.stdout.splitlines() == [str(tmp_path / "stick" / name) for name in names]
    assert (tmp_path / "stick/index.html").read_text() == live.live_page()
    # A page that is alone does not lead to the other one.
    assert cli("play", "--save", str(tmp_path / "lab.htm")).code == 0
    assert (tmp_path / "lab.htm").read_text().count("<html data-alone ") == 1
    refused = cli("play", "--save", str(tmp_path / "lab.htm" / "stick"))
    assert refused.code == 2 and len(refused.stderr.splitlines()) == 1 and "--save" in refused.stderr


@pytest.mark.parametrize("browser", ["chromium", "firefox-esr"])
def test_the_page_of_a_queue_gives_the_counts_of_the_command(tmp_path: Path, browser: str) -> None:
    require_web()
    page = tmp_path / "queue.html"
    page.write_text(live.queue_page())
    found = used("queue.mjs", page.as_uri(), browser=browser)
    assert found["problems"] == [] and found["elsewhere"] == []
    command = shlex.split(found["command"])
    assert command[:3] == ["ackclock", "queue", "pie(target=10 ms)"]
    total = json.loads(cli(*command[1:], "--json").stdout)["total"]
    assert found["counts"][1:5] == [str(total[key]) for key in ("arrived", "sent", "dropped", "marked")]
    assert "largest sojourn time, ms" in found["charts"] and "probability" in found["charts"]
    assert "did you mean" in found["mistake"]


@pytest.mark.parametrize("browser", ["chromium", "firefox-esr"])
def test_a_link_of_the_served_page_gives_the_same_run_from_disk(
    address: str, on_disk: str, browser: str
) -> None:
    served = used("opened.mjs", address, browser="chromium")
    # The page begins with the scenario that it was saved with, and with what a link has otherwise.
    assert served["problems"] == [] and len(served["sum"]) == 64
    text = SCENARIO.replace("10 Mbit/s", "7 Mbit/s")
    other = used("opened.mjs", f"{on_disk}#{play_command.packed(text)}", browser=browser)
    found = used("opened.mjs", on_disk, browser=browser)
    assert found == served | {"elsewhere": []} and other["sum"] not in ("", found["sum"])
    link = f"{on_disk}#{address.partition('#')[2]}"
    assert used("opened.mjs", link, browser=browser)["sum"] == served["sum"]


def test_rates_are_those_of_the_receivers(tmp_path: Path) -> None:
    require_web()
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    files = []
    for name in ("bufferbloat", "cubic", "rtt-unfairness", "square-root"):
        lesson = (ROOT / f"web/play/lessons/{name}.md").read_text(encoding="utf-8")
        scenario = re.search(r"^```toml\n(.*?)^```$", lesson, re.MULTILINE | re.DOTALL)
        assert scenario is not None
        files.append(tmp_path / f"{name}.toml")
        files[-1].write_text(scenario[1])
    module = embedded.web() / embedded.MODULE
    program = ["node", str(PROGRAMS / "rate.mjs"), str(module), *map(str, files)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120, check=True)
    for file, found in zip(files, json.loads(done.stdout), strict=True):
        # A gap that is filled delivers a whole window at once, and no rate may show it.
        assert found["excess"] <= 2, file.stem
        assert max(found["errors"]) < 0.05 * found["capacity"], file.stem
        assert found["means"] == pytest.approx(found["goodputs"], rel=0.03), file.stem


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
    # The command needs no file that is not there: it writes the one that it names.
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    written, _, command = found["command"].rpartition("\n")
    subprocess.run(["sh", "-c", written], cwd=folder, check=True)
    words = shlex.split(command)
    assert words[:3] == ["ackclock", "run", "scenario.toml"]
    answer = cli("run", *words[2:], "--json", cwd=folder)
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


def test_lessons_show_what_their_runs_give(on_disk: str) -> None:
    found = used("lessons.mjs", on_disk)
    assert found["problems"] == [] and found["elsewhere"] == [] and len(found["found"]) == 10
    for name, figures in found["found"].items():
        assert "✓" in figures[0], name
        assert not any("✗" in figure for figure in figures), name


def test_a_link_of_firefox_gives_the_same_run_in_chromium(address: str) -> None:
    found = used("link.mjs", address, browser="firefox-esr")
    assert found["problems"] == []
    assert found["first"] == found["second"] != "" and len(found["changes"]) == 7
    assert used("opened.mjs", found["link"], browser="chromium")["sum"] == found["first"]


def test_a_lesson_in_firefox_shows_what_its_runs_give(on_disk: str) -> None:
    found = used("lessons.mjs", on_disk, "sawtooth", browser="firefox-esr")
    assert found["problems"] == []
    assert "✓" in found["found"]["sawtooth"][0]


def test_what_is_hostile_or_too_much_is_one_message(on_disk: str) -> None:
    found = used("hostile.mjs", on_disk)
    assert found["problems"] == [] and found["elsewhere"] == []
    reasons = {
        "long": "more than 100000",
        "junk": "its format is unknown",
        "damaged": "damaged",
        "other": "contains no configuration",
    }
    for name, reason in reasons.items():
        assert found["links"][name].startswith("The link cannot be read") and reason in found["links"][name]
    assert set(found["broken"]) == {"connect-src", "img-src", "script-src-attr", "script-src-elem"}
    advice = "Reduce the duration (1000000 s), the link rate (100000 Mbit/s) or the number of flows (50)."
    assert found["much"] == {
        "offered": f"The simulation has not answered for 8 s. Wait, or stop it. {advice} Wait Stop",
        "stopped": f"The simulation was stopped. {advice}",
    }


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
