"""`ackclock new` and `check-cc`: what is written runs as it stands, in every language with one result."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import cli

import ackclock
from ackclock.starters import LANGUAGES, create

#: What a starter builds, and the algorithm in it.
BUILDS = {
    "c": ("make", "my_thing.so"),
    "rust": ("cargo build --release --quiet --offline", "target/release/libmy_thing.so"),
}
ALGORITHMS = {"python": "my_thing.py:MyThing", "rule": "my-thing.rule"} | {
    language: path for language, (_, path) in BUILDS.items()
}


@pytest.fixture(scope="module", params=LANGUAGES)
def starter(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A language, and a folder begun in it and built."""
    folder = tmp_path_factory.mktemp(request.param) / "my-thing"
    create(folder, request.param)
    if request.param in BUILDS:
        command, path = BUILDS[request.param]
        if shutil.which(command.split()[0]) is None:
            pytest.skip(f"{command.split()[0]} is not installed")
        subprocess.run(command, cwd=folder, shell=True, check=True, timeout=300)
        assert (folder / path).exists()
    return request.param, folder


def test_a_starter_passes_its_own_test(starter: tuple[str, Path]) -> None:
    _, folder = starter
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "--quiet"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_the_languages_agree(starter: tuple[str, Path]) -> None:
    language, folder = starter
    written = "rule grow = gain / w; cut = if(queue_delay > 0.01, 0.5, 0.8) * w; gain = 1"
    scenario = ackclock.Scenario.from_file(folder / "scenario.toml")
    expected = ackclock.run(scenario, cc=written.removeprefix("rule ")).summary
    assert ackclock.run(scenario).summary == expected, language


def test_the_commands_of_the_readme_run(
    starter: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, tiny_suite: Path
) -> None:
    language, folder = starter
    monkeypatch.chdir(folder)
    answer = cli("check-cc", ALGORITHMS[language])
    assert answer.code == 0 and answer.stdout.startswith("contract checks passed (77 cases)"), answer
    assert cli("run", "scenario.toml", "--set", "flows.test.gain=2").code == 2
    assert cli("run", "scenario.toml", "--set", "flows.test.cc.gain=2").code == 0
    answer = cli("evaluate", ALGORITHMS[language], "--suite", tiny_suite, "--against", "reno")
    assert answer.code == 0, answer.stderr


def test_a_folder_is_named_and_nothing_is_overwritten(tmp_path: Path) -> None:
    answer = cli("new", "cc", tmp_path / "calm-one")
    assert answer.code == 0
    names = sorted(path.name for path in (tmp_path / "calm-one").iterdir())
    assert names == ["README.md", "calm_one.py", "scenario.toml", "test_calm_one.py"]
    assert answer.stdout.split() == [str(tmp_path / "calm-one" / name) for name in names]
    assert "class CalmOne(" in (tmp_path / "calm-one/calm_one.py").read_text(encoding="utf-8")
    for folder, message in [
        (tmp_path / "calm-one", "already exists"),
        (tmp_path / "Calm", "cannot be the name of an algorithm"),
        (tmp_path / "random", "is the name of a Python module"),
    ]:
        answer = cli("new", "cc", folder)
        assert answer.code == 2 and message in answer.stderr and "Traceback" not in answer.stderr
    assert not os.path.lexists(tmp_path / "Calm")


MISTAKES = {
    "unused": "def on_ack(self, ack):\n        self.cwnd += ack.acked / self.cwnd",
    "one-reduction": "def on_loss(self, loss):\n        self.cwnd = max(self.cwnd / 2, 1)",
    "time-shift": "def on_ack(self, ack):\n        self.cwnd = 10 - min(ack.now, 8)",
    "window": "def on_ack(self, ack):\n        self.cwnd = 1 / (ack.acked - 2)",
}


@pytest.mark.parametrize("promise", MISTAKES)
def test_a_broken_promise_is_explained(promise: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(
        f"import ackclock\n\n\nclass Wrong(ackclock.CongestionControl):\n    {MISTAKES[promise]}\n"
    )
    answer = cli("check-cc", path, "--json")
    assert answer.code == 1, answer
    findings = {finding["promise"]: finding for finding in json.loads(answer.stdout)["findings"]}
    steps = findings[promise]["steps"]
    assert 1 <= len(steps) <= 3
    assert findings[promise]["advice"]
    shown = cli("check-cc", path)
    text = " ".join(shown.stdout.split())
    assert shown.code == 1 and f"{promise}: " in text and steps[0]["event"].split(",")[0] in text


def test_an_exception_is_a_finding_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(
        "import ackclock\n\n\nclass Wrong(ackclock.CongestionControl):\n"
        "    def on_congestion(self, congestion):\n        self.cwnd = 1 / 0\n"
    )
    answer = cli("check-cc", path)
    assert answer.code == 1
    assert "ZeroDivisionError" in answer.stdout and "wrong.py:6" in answer.stdout


def test_what_is_no_algorithm_is_one_message(tmp_path: Path) -> None:
    for cc in ("nosuch", str(tmp_path / "no.py"), "grow = 1 / ww"):
        answer = cli("check-cc", cc)
        assert answer.code == 2 and answer.stderr.startswith("error: ") and "Traceback" not in answer.stderr


def test_the_algorithms_of_the_package_have_no_findings() -> None:
    for entry in json.loads(ackclock._core.list_json("cc")):
        if entry["name"] not in ("python", "library", "bpf", "kernel", "module"):
            found = {finding.promise for finding in ackclock.check_cc(entry["name"])}
            # The slow start of Hybla is as fast as on its shorter reference path.
            assert found == ({"slow-start"} if entry["name"] == "hybla" else set()), entry["name"]
