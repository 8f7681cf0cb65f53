#!/bin/sh
# Installs a wheel into an empty environment without Rust, runs a scenario, reproduces a paper, writes a report and serves the live
# page with it.
#
#   sh tools/check_wheel.sh PYTHON WHEEL
set -eu
python=$1
wheel=$2
root=$(cd "$(dirname "$0")/.." && pwd)

case $wheel in
*-cp311-abi3-manylinux*) ;;
*) echo "check_wheel: $wheel is not an abi3 manylinux wheel for Python 3.11 and later" >&2; exit 1 ;;
esac
echo "wheel: $(($(wc -c < "$wheel") / 1000)) kB"

environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
"$python" -m venv "$environment"
# Only wheels, and no compiler in reach: nothing may be compiled.
PATH="$environment/bin" "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --require-hashes --requirement "$root/requirements/run.txt"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$wheel"
# What the wheel says that it needs is there.
"$environment/bin/python" -m pip --disable-pip-version-check check

# The sources of the guest, which `ackclock kernel build` compiles.
for file in config seed.c agent/Makefile; do
    ls "$environment"/lib/python*/site-packages/ackclock/kernels/guest/$file >/dev/null
done

cd "$environment"
PATH="$environment/bin" ackclock run "$root/examples/two-flows.toml" --json |
    "$environment/bin/python" -c '
import json, sys
goodput = json.load(sys.stdin)["summary"]["goodput_bps"]
assert 4e6 < goodput < 5e6, goodput
print(f"wheel installed without Rust: two flows at 5 Mbit/s reach {goodput / 1e6:.2f} Mbit/s")
'
PATH="$environment/bin" ackclock reproduce jasem-utilization --quick --json 2>/dev/null |
    "$environment/bin/python" -c '
import json, sys
print("wheel: " + json.load(sys.stdin)["summary"])
'
PATH="$environment/bin" ackclock evaluate new-aimd --replicates 1 --out report --json > evaluation.json
"$environment/bin/python" -c '
from pathlib import Path
report = Path("report/report.html")
assert "new-aimd" in report.read_text(), report
print(f"wheel: a report of {report.stat().st_size / 1e3:.0f} kB")
'
if PATH="$environment/bin" ackclock evaluate new-aimd --replicates 1 --out report --interactive --json > evaluation.json 2> refused; then
    PATH="$environment/bin" "$environment/bin/python" -c '
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen
report = Path("report/report.html")
assert "id=\"rerun-module\"" in report.read_text() and report.stat().st_size < 3_000_000, report
with subprocess.Popen(["ackclock", "play", "--no-open"], stdout=subprocess.PIPE, text=True) as server:
    page = server.stdout.readline().strip()
    try:
        sizes = [len(urlopen(page + name).read()) for name in ("", "evaluate.html")]
    finally:
        server.terminate()
subprocess.run(["ackclock", "play", "--save", "pages"], check=True, stdout=subprocess.DEVNULL)
assert sizes == [Path("pages", name).stat().st_size for name in ("index.html", "evaluate.html")], sizes
assert list(Path(sys.prefix).glob("lib/python*/site-packages/ackclock/web/evaluate.js")), "ackclock for JavaScript is not there"
print(f"wheel: the live page is served and saved, and a report of {report.stat().st_size / 1e6:.1f} MB carries the simulator")
'
else
    grep -q "not built here; in a checkout of ackclock: make web" refused || { cat refused >&2; exit 1; }
    echo "wheel: without the module for browsers, which was not built" >&2
fi
