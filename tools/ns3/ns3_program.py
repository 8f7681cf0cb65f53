"""Programs that are linked with ns-3."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path


def compiled(source: Path, program: Path, modules: Iterable[str]) -> str | None:
    """Compile a program with modules of ns-3 where it is out of date; what is missing, if anything is."""
    modules = tuple(modules)
    headers = (Path(f"/usr/include/ns3/{module}-module.h") for module in modules)
    if not all(header.exists() for header in headers) or not shutil.which("g++"):
        return "it is not installed (Debian: apt-get install g++ libns3-dev)"
    if program.exists() and program.stat().st_mtime >= source.stat().st_mtime:
        return None
    program.parent.mkdir(parents=True, exist_ok=True)
    # The headers of ns-3.37 are not C++20.
    command = ["g++", "-std=c++17", "-O3", "-o", str(program), str(source)]
    libraries = [f"-lns3-{module}" for module in modules]
    done = subprocess.run([*command, *libraries], capture_output=True, text=True)
    return None if done.returncode == 0 else f"{source.name} does not compile: {done.stderr.strip()}"
