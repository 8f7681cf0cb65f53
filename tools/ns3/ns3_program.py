"""Programs that are linked with ns-3: Debian's, or the wheel of release 3.44."""

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "requirements" / "ns3.txt"
#: Where the wheel is unpacked.
WHEEL = ROOT / "target" / "ns3-3.44"


def compiled(source: Path, program: Path, modules: Iterable[str]) -> str | None:
    """Compile an outdated program with modules of Debian's ns-3, and return a missing requirement."""
    modules = tuple(modules)
    headers = (Path(f"/usr/include/ns3/{module}-module.h") for module in modules)
    if not all(header.exists() for header in headers) or not shutil.which("g++"):
        return "it is not installed (Debian: apt-get install g++ libns3-dev)"
    # The headers of ns-3.37 are not C++20.
    return _compiled(source, program, ["-std=c++17"], [f"-lns3-{module}" for module in modules])


def compiled_with_wheel(source: Path, program: Path, modules: Iterable[str]) -> str | None:
    """The same with ns-3.44, which is installed if it is missing."""
    if not shutil.which("g++"):
        return "g++ is not installed (Debian: apt-get install g++)"
    problem = _wheel_installed()
    if problem is not None:
        return problem
    package = WHEEL / "ns3"
    libraries = package / "lib64"
    paths = [f"-L{libraries}", f"-Wl,-rpath,{libraries}", f"-Wl,-rpath-link,{libraries}"]
    names = [f"-lns3.44-{module}" for module in modules]
    return _compiled(source, program, ["-std=c++20", f"-I{package / 'include'}"], [*paths, *names])


def _wheel_installed() -> str | None:
    if WHEEL.is_dir():
        return None
    # Under another name first, so that a part of it is not taken for all.
    fresh = WHEEL.with_name(f"{WHEEL.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    wanted = ["--only-binary", ":all:", "--require-hashes", "--requirement", str(REQUIREMENTS)]
    done = subprocess.run([*command, *wanted, "--target", str(fresh)], capture_output=True, text=True)
    if done.returncode != 0:
        return f"its wheel cannot be installed: {done.stderr.strip().splitlines()[-1]}"
    fresh.rename(WHEEL)
    return None


def _compiled(source: Path, program: Path, options: list[str], libraries: list[str]) -> str | None:
    if program.exists() and program.stat().st_mtime >= source.stat().st_mtime:
        return None
    program.parent.mkdir(parents=True, exist_ok=True)
    command = ["g++", "-O3", *options, "-o", str(program), str(source), *libraries]
    done = subprocess.run(command, capture_output=True, text=True)
    return None if done.returncode == 0 else f"{source.name} does not compile: {done.stderr.strip()}"
