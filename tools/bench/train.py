"""Trains the profile-guided build with short runs of the workloads and of the environments.

`maturin build --pgo` runs it with an instrumented engine (`pgo-command` in `pyproject.toml`), and then
optimises the engine by the counts.
"""

from pathlib import Path

from ackclock import _core

ROOT = Path(__file__).resolve().parents[2]
SUITES = ROOT / "python" / "ackclock" / "suites"
#: The capacity that the source of datagrams leaves to the test flows.
SQUARE = (
    'flows.cross.traffic.leaves={ kind = "square", high = "100 Mbit/s", low = "50 Mbit/s", interval = "5 s" }'
)
#: Each file with its settings.
RUNS = (
    (ROOT / "bench" / "w1.toml", ["duration=30 s"]),
    (ROOT / "bench" / "w1-access.toml", ["duration=10 s"]),
    (ROOT / "bench" / "w2.toml", ["duration=3 s"]),
    (ROOT / "bench" / "w3.toml", ["duration=3 s"]),
    (ROOT / "bench" / "w4.toml", ["duration=2 s"]),
    (ROOT / "bench" / "w6.toml", ["duration=3 s"]),
    (ROOT / "bench" / "s.toml", ["flows.test.count=10000", "duration=4 s"]),
    *(
        (SUITES / file, [f"flows.test.recovery={recovery}", *sets])
        for file, sets in (
            ("environments/web.toml", []),
            ("environments/varying.toml", []),
            ("environments/varying.toml", ["links.bottleneck.queue=red"]),
            ("environments-cbr/cross.toml", [SQUARE]),
            ("environments-cbr/cross.toml", [SQUARE, 'links.bottleneck.queue={ kind = "rio", out = "red" }']),
        )
        for recovery in ("reno", "sack")
    ),
)


def main() -> None:
    for file, sets in RUNS:
        _core.Scenario.from_toml(file.read_text(encoding="utf-8"), str(file), sets).run()


if __name__ == "__main__":
    main()
