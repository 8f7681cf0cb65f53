"""The recipe of kernels for virtual time, their store, and `ackclock kernel`."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import cli

from ackclock.errors import ArgumentValueError, InputError
from ackclock.kernels import edits, recipe, source, store
from ackclock.kernels.recipe import GUEST
from ackclock.kernels.source import Source
from ackclock.kernels.store import Digests, Kernel
from ackclock.running.backend import chosen, title, workers_for
from ackclock.running.cells import command
from ackclock.running.job import Job, execute, kernel_of, kind_of
from ackclock.running.work import Study
from ackclock.scenario import Scenario

#: The lines of a kernel that the recipe changes, in files of their names.
FILES = {
    "Makefile": "# SPDX\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION =\nNAME = Fake\n",
    "arch/um/Kconfig": "config UML\n\tbool\n\nconfig HZ\n\tint\n\tdefault 100\n",
    "arch/um/os-Linux/util.c": (
        "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)\n{\n\treturn getrandom(buf);\n}\n"
    ),
    "arch/um/os-Linux/Makefile": "obj-y = main.o \\\n\tutil.o\n\nUSER_OBJS := main.o util.o\n",
    "arch/um/os-Linux/user_syms.c": "EXPORT_SYMBOL(memset);\nEXPORT_SYMBOL_PROTO(__xmknod);\n",
    "arch/um/kernel/time.c": "\ttime_travel_ext_waiting++;\n\ttime_travel_ext_waiting--;\n",
    "drivers/Makefile": "obj-y\t\t\t\t+= cache/\n",
    "kernel/module/main.c": "\tmod->args = strndup_user(uargs, ~0UL >> 1);\n",
}

needs_tools = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in recipe.TOOLS), reason="needs the tools of a kernel's build"
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with the edited files of a kernel."""
    folder = tmp_path / "linux"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of built kernels."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    monkeypatch.setenv(store.VARIABLE, str(folder))
    return folder


def built(kernels: Path, version: str, at: int, source_name: str = "6.12") -> Kernel:
    """Put a kernel that was built at a time into the store."""
    recipe_of = hashlib.sha256(f"{version} {at}".encode()).hexdigest()
    folder = kernels / f"{version}-{recipe_of[:8]}"
    folder.mkdir()
    (folder / store.IMAGE).write_text(version)
    digests = Digests(store.digest(folder / store.IMAGE), "0")
    kernel = Kernel(folder.name, version, source_name, recipe_of, digests, ("IFB",), at, folder)
    (folder / store.DOCUMENT).write_text(json.dumps(kernel.document()))
    return kernel


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Content and time of each file."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_edits_change_each_place_once(tree: Path) -> None:
    edits.apply(tree, "6.12.117")
    edits.add_files(tree, GUEST)
    once = snapshot(tree)
    assert 'config HZ\n\tint "Timer frequency"\n' in (tree / "arch/um/Kconfig").read_text()
    assert "\tbool\n" in (tree / "arch/um/Kconfig").read_text()
    assert "__attribute__((weak)) ssize_t os_getrandom(" in (tree / "arch/um/os-Linux/util.c").read_text()
    makefile = (tree / "arch/um/os-Linux/Makefile").read_text()
    assert makefile.startswith("obj-y = ackclock_seed_user.o main.o") and makefile.endswith(
        FILES["arch/um/os-Linux/Makefile"].partition("main.o")[2]
    )
    clock = (tree / "arch/um/kernel/time.c").read_text()
    assert clock.startswith('#include "../../../drivers/ackclock/clock.h"\n')
    assert "waiting--;\n\tackclock_ran();\n" in clock and clock.endswith('drivers/ackclock/clock.c"\n')
    assert (tree / "drivers/Makefile").read_text().endswith("cache/\nobj-y += ackclock/\n")
    assert "\tmod->args = ackclock_module_parameters(" in (tree / "kernel/module/main.c").read_text()
    assert (
        (tree / "arch/um/os-Linux/user_syms.c")
        .read_text()
        .endswith(";\n/* EXPORT_SYMBOL_PROTO(__xmknod); */\n")
    )
    assert (tree / edits.SEED).read_bytes() == (GUEST / "seed.c").read_bytes()
    assert {path.name for path in (tree / edits.AGENT).iterdir()} >= {"Makefile"}
    edits.apply(tree, "6.12.117")
    edits.add_files(tree, GUEST)
    assert snapshot(tree) == once


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("arch/um/Kconfig", "config HZ\n\tint \n", "contains the place 0 times, expected once"),
        ("arch/um/os-Linux/util.c", 2 * FILES["arch/um/os-Linux/util.c"], "contains the place 2 times"),
        ("drivers/Makefile", "obj-y += ackclock/\nobj-y += ackclock/\n", "contains the edit 2 times"),
        ("arch/um/os-Linux/Makefile", None, "cannot be read: No such file or directory"),
    ],
)
def test_an_edit_that_does_not_fit_names_version_and_file(
    tree: Path, file: str, text: str | None, message: str
) -> None:
    path = tree / file
    path.unlink()
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=re.escape(f"Linux 6.12.117: {file} {message}")) as caught:
        edits.apply(tree, "6.12.117")
    assert "this version cannot be edited to" in str(caught.value) and "\n" not in str(caught.value)


def test_a_version_may_lack_the_place_of_an_optional_edit(tree: Path) -> None:
    (tree / "arch/um/os-Linux/user_syms.c").write_text("EXPORT_SYMBOL(memset);\n")
    edits.apply(tree, "6.12.117")
    assert (tree / "arch/um/os-Linux/user_syms.c").read_text() == "EXPORT_SYMBOL(memset);\n"


def test_a_file_that_the_agent_lost_leaves_the_tree(tree: Path) -> None:
    (tree / edits.AGENT).mkdir()
    (tree / edits.AGENT / "old.c").write_text("")
    edits.add_files(tree, GUEST)
    assert not (tree / edits.AGENT / "old.c").exists()


def test_version_is_of_the_top_makefile(tree: Path) -> None:
    assert source.version_of(tree) == "6.12.117"
    (tree / "Makefile").write_text(FILES["Makefile"].replace("EXTRAVERSION =", "EXTRAVERSION = -rc3"))
    assert source.version_of(tree) == "6.12.117-rc3"
    (tree / "Makefile").write_text("all:\n")
    with pytest.raises(InputError, match="its Makefile contains no version"):
        source.version_of(tree)


def test_a_folder_is_copied_and_the_copy_follows_it(tree: Path, tmp_path: Path) -> None:
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("")
    (tree / "link").symlink_to("Makefile")
    given = Source.of(str(tree))
    copied, first = given.copy(tmp_path / "build")
    assert (copied / "link").is_symlink() and not (copied / ".git").exists()
    edits.apply(copied, "6.12.117")
    edits.add_files(copied, GUEST)
    seeded = snapshot(copied)[str(edits.SEED)]
    (tree / "link").unlink()
    (tree / "Makefile").write_text("changed")
    _, second = given.copy(tmp_path / "build")
    assert first != second and not (copied / "link").exists()
    assert (copied / "Makefile").read_text() == "changed"
    # The files of the guest stay, so that make does not compile them again.
    assert snapshot(copied)[str(edits.SEED)] == seeded
    assert given.copy(tmp_path / "other")[1] == second


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_working_copy_of_git_is_copied_without_ignored_files(tree: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tree], check=True)
    (tree / ".gitignore").write_text("*.o\n")
    (tree / "main.o").write_text("")
    copied, first = Source.of(str(tree)).copy(tmp_path / "build")
    assert (copied / "Makefile").is_file() and not (copied / "main.o").exists()
    (tree / "main.o").write_text("built again")
    assert Source.of(str(tree)).copy(tmp_path / "build") == (copied, first)


def test_a_tarball_is_unpacked_once(tree: Path, tmp_path: Path) -> None:
    packed = tmp_path / "mine.tar.gz"
    with tarfile.open(packed, "w:gz") as file:
        file.add(tree, "linux-6.12")
    given = Source.of(str(packed))
    copied, digest = given.copy(tmp_path / "build")
    assert digest == store.digest(packed) and source.version_of(copied) == "6.12.117"
    (copied / "Makefile").write_text("edited")
    assert given.copy(tmp_path / "build") == (copied, digest)
    assert (copied / "Makefile").read_text() == "edited"
    packed.write_bytes(b"no tarball")
    with pytest.raises(InputError, match=r"mine\.tar\.gz: cannot be unpacked as a source of Linux: tar: "):
        given.copy(tmp_path / "build")


def test_sources_have_names_and_folders(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "linux-source-6.12.tar.xz").touch()
    packaged = Source.of("6.12", tmp_path)
    assert (packaged.name, packaged.folder) == ("6.12", "6.12")
    assert packaged.path == tmp_path / "linux-source-6.12.tar.xz"
    mine = Source.of(str(tree))
    assert mine.name == str(tree) and re.fullmatch(r"linux-[0-9a-f]{8}", mine.folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("6.1", "contains no source of Linux 6.1: apt-get install linux-source-6.1 flex bison bc libelf-dev"),
        ("newest", "newest: is neither a version such as 6.12 nor a source tree or tarball"),
        ("{folder}", "is not a source tree of Linux: it contains no folder arch/um"),
        ("{folder}/file", "is not a tarball: expected a name that ends with .tar.xz"),
    ],
)
def test_a_source_that_is_absent_is_one_line(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        Source.of(name.format(folder=tmp_path), tmp_path)
    assert "\n" not in str(caught.value)


def test_missing_options_are_fatal_only_if_needed(tmp_path: Path) -> None:
    wished, configured = tmp_path / "wished", tmp_path / "configured"
    wished.write_text("CONFIG_HZ=1000\nCONFIG_NET=y\n# Optional: these.\nCONFIG_IFB=y\nCONFIG_VETH=y\n")
    configured.write_text("CONFIG_HZ=1000\nCONFIG_NET=y\nCONFIG_VETH=y\n# CONFIG_IFB is not set\n")
    assert recipe.lacking(wished, configured, "6.1") == ("IFB",)
    configured.write_text("CONFIG_HZ=100\nCONFIG_NET=y\n")
    with pytest.raises(InputError, match=r"Linux 6\.1: cannot be configured with CONFIG_HZ=1000$"):
        recipe.lacking(wished, configured, "6.1")


def test_the_configuration_wishes_each_option_once() -> None:
    options = re.findall(r"^CONFIG_\w+", (GUEST / "config").read_text(), re.MULTILINE)
    assert len(options) == len(set(options)) > 80


def test_the_recipe_depends_on_every_file_of_the_guest(tmp_path: Path) -> None:
    guest = tmp_path / "guest"
    shutil.copytree(GUEST, guest)
    digests = {recipe.recipe_digest("source", guest, "gcc 12")}
    assert digests == {recipe.recipe_digest("source", GUEST, "gcc 12")}
    digests |= {
        recipe.recipe_digest("other", guest, "gcc 12"),
        recipe.recipe_digest("source", guest, "gcc 13"),
    }
    for name in ("config", "seed.c", "agent/Makefile"):
        with (guest / name).open("a") as file:
            file.write("\n")
        digests.add(recipe.recipe_digest("source", guest, "gcc 12"))
    assert len(digests) == 6


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_the_seed_gives_the_numbers_of_splitmix64(tmp_path: Path) -> None:
    (tmp_path / "os.h").touch()
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\n#include <sys/types.h>\nssize_t os_getrandom(void *, size_t, unsigned int);\n"
        "int main(void)\n{\n\tunsigned long long word;\n\tos_getrandom(&word, 8, 0);\n"
        '\tprintf("%llx ", word);\n\tos_getrandom(&word, 8, 0);\n\tprintf("%llx", word);\n}\n'
    )
    program = tmp_path / "seed"
    files = map(str, (tmp_path, GUEST / "seed.c", tmp_path / "main.c", "-o", program))
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-I", *files], check=True)
    done = subprocess.run([program], check=True, env={"UML_SEED": "0"}, stdout=subprocess.PIPE, text=True)
    # The first two numbers of splitmix64 with state 0.
    assert done.stdout == "e220a8397b1dcdaf 6e789e6aa1b965f4"


def test_find_returns_the_newest_of_what_is_asked(
    kernels: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = built(kernels, "6.12.117", 1), built(kernels, "6.12.118", 3)
    other, mine = built(kernels, "6.1.140", 2), built(kernels, "6.17.0", 0, str(tree))
    assert store.kernels() == [new, other, old, mine]
    for which, expected in {
        None: new,
        "6.12": new,
        "6.12.117": old,
        "6.1": other,
        mine.name: mine,
        str(tree): mine,
    }.items():
        assert store.find(which) == expected, which
    monkeypatch.chdir(tree.parent)
    assert store.find(tree.name) == mine
    assert new.title == "Linux 6.12.118 in virtual time"


def test_find_says_what_to_do(kernels: Path) -> None:
    for which, message in {
        None: f"no kernel is built in {kernels}; build one: ackclock kernel build",
        "6.1": f"no kernel is built in {kernels}; build one: ackclock kernel build 6.1",
    }.items():
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            store.find(which)
    kernel = built(kernels, "6.12.117", 1)
    with pytest.raises(
        InputError, match=r"^kernel 6\.2 is not built; .*; build it: ackclock kernel build 6\.2$"
    ):
        store.find("6.2")
    kernel.image.write_text("another")
    with pytest.raises(InputError, match=r"linux: differs from the file that was built; build it again: "):
        store.find()
    kernel.image.unlink()
    with pytest.raises(InputError, match=r"linux: cannot be read: No such file"):
        store.find()
    (kernel.folder / store.DOCUMENT).write_text("{}")
    with pytest.raises(InputError, match=r"kernel\.json: describes no kernel of this ackclock; remove "):
        store.find()


def test_only_the_kernel_that_was_built_last_owns_the_tree(kernels: Path) -> None:
    old, new = built(kernels, "6.12.117", 1), built(kernels, "6.12.118", 2)
    place = kernels / store.BUILD / "6.12"
    place.mkdir(parents=True)
    (place / store.BUILT).write_text(new.name)
    assert (old.tree, new.tree) == (None, place)
    store.remove(old)
    assert place.is_dir() and store.kernels() == [new]
    with pytest.raises(InputError, match=r"no kernel is called '6\.12'; there are: 6\.12\.118-"):
        store.named("6.12")
    store.remove(new, only_tree=True)
    assert not place.exists() and store.kernels() == [new]
    with pytest.raises(InputError, match="has no build tree"):
        store.remove(new, only_tree=True)
    store.remove(new)
    assert store.kernels() == []


def test_the_folder_of_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(store.VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert store.folder() == tmp_path / ".cache/ackclock/kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache")
    assert store.folder() == Path("/var/cache/ackclock/kernels")
    monkeypatch.setenv(store.VARIABLE, "/kernels")
    assert store.folder() == Path("/kernels")


def test_another_processor_or_system_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(InputError, match="needs Linux on an x86-64 processor, this is Linux on aarch64"):
        recipe.build("6.12")


def test_missing_tools_are_named_with_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name in ("bc", "flex") else name)
    with pytest.raises(InputError, match=r"^flex, bc: not installed; install: apt-get install flex bison bc"):
        recipe.check_tools()


@needs_tools
def test_a_failed_build_names_its_first_error_and_keeps_the_log(tree: Path, kernels: Path) -> None:
    (tree / "Makefile").write_text(FILES["Makefile"] + "%:\n\t@echo 'a.c:3: error: no such thing'; false\n")
    with pytest.raises(
        InputError, match=r"^Linux 6\.12\.117: make failed: a\.c:3: error: no such thing; see "
    ) as caught:
        recipe.build(str(tree))
    assert "error: no such thing" in Path(str(caught.value).rpartition("see ")[2]).read_text()
    assert store.kernels() == [] and not list(kernels.glob(".new-*"))


@needs_tools
def test_two_builds_in_one_folder_exclude_each_other(tree: Path, kernels: Path) -> None:
    place = kernels / store.BUILD / Source.of(str(tree)).folder
    with recipe.locked(place), pytest.raises(InputError, match="another build is running there"):
        recipe.build(str(tree))


def test_the_command_lists_and_removes(kernels: Path) -> None:
    empty = cli("kernel", "list")
    assert empty.code == 0 and "no kernel is built; build one: ackclock kernel build" in empty.stderr
    kernel = built(kernels, "6.12.117", 1)
    (listed,) = json.loads(cli("kernel", "list", "--json").stdout)
    assert listed == {**json.loads(json.dumps(kernel.document())), "folder": str(kernel.folder), "tree": None}
    assert kernel.name in cli("kernel", "list").stdout
    assert (
        cli("kernel", "remove", kernel.name, "--tree").stderr == f"error: {kernel.name}: has no build tree\n"
    )
    assert cli("kernel", "remove", kernel.name).stdout == f"removed {kernel.name}\n"
    for arguments, message in (
        (("remove", kernel.name), f"error: no kernel is called '{kernel.name}'; there are none"),
        (("build", "/nowhere"), "error: /nowhere: is neither a version such as 6.12"),
        (("build", "--jobs", "0"), "error: invalid value for '--jobs'"),
    ):
        answer = cli("kernel", *arguments)
        assert answer.code == 2 and answer.stderr.startswith(message) and answer.stderr.count("\n") == 1


def test_a_document_with_other_fields_is_refused(kernels: Path) -> None:
    kernel = built(kernels, "6.12.117", 1)
    document = replace(kernel, version="6.12.118").document()
    (kernel.folder / store.DOCUMENT).write_text(json.dumps({**document, "later": 1}))
    assert cli("kernel", "list").code == 2


class _Asked(Exception):
    """The arguments of an emulation."""


class _Scenario:
    """A scenario whose emulation only notes its arguments."""

    foreign = ()

    def emulate(self, seed: int, replicate: int, cancel: object, **given: object) -> None:
        raise _Asked(seed, replicate, given.get("kernel"))


def test_a_job_names_its_kernel(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, other = built(kernels, "6.12.117", 1), built(kernels, "6.1.140", 2, "6.1")
    backend = chosen("kernel", "6.12")
    assert backend == f"kernel:{kernel.name}" and chosen("kernel") == f"kernel:{other.name}"
    assert (kind_of(backend), kernel_of(backend)) == ("kernel", kernel.name)
    assert (kind_of("linux"), kernel_of("linux")) == ("linux", "")
    assert chosen(backend) == backend and title(backend) == f"Linux kernel in virtual time ({kernel.name})"
    simulated = Job("name", "{}", "hash", 7, 2)
    job = replace(simulated, backend=backend)
    assert job.key == f"kernel-{kernel.recipe[:8]}-{simulated.key}"
    monkeypatch.setattr("ackclock.running.job._scenario", lambda job: _Scenario())
    with pytest.raises(_Asked) as caught:
        execute(job)
    assert caught.value.args == (7, 2, (kernel.image, kernel.title, {}))
    with pytest.raises(_Asked) as caught:
        execute(replace(job, backend="linux"))
    assert caught.value.args == (7, 2, None)
    store.remove(kernel)
    with pytest.raises(InputError, match=f"kernel {kernel.name} is not built"):
        execute(job)


def test_only_real_time_makes_a_fixed_scenario_random() -> None:
    fixed = Scenario(
        duration="2 s",
        topology={"kind": "dumbbell", "rate": "2 Mbit/s", "delay": "5 ms"},
        flows=[{"name": "test", "cc": "reno"}],
    )
    assert not fixed.is_random
    counts = {
        backend: len(Study.of(fixed, seed=5, replicates=3, backend=backend).jobs)
        for backend in ("sim", "linux", "kernel:6.12-0")
    }
    assert counts == {"sim": 1, "linux": 3, "kernel:6.12-0": 1}
    (job,) = Study.of(fixed, seed=5, backend="kernel:6.12-0").jobs
    assert job.seed == 5
    assert workers_for("kernel:6.12-0", None) is None


def test_the_command_of_a_cell_names_the_kernel() -> None:
    assert command(Path("out"), "cell", "kernel:6.12-0").endswith("cell --backend kernel --kernel 6.12-0")
    assert command(Path("out"), "cell", "linux").endswith("cell --backend linux")
    assert "kernel" not in command(Path("out"), "cell")


def test_options_of_the_backend(kernels: Path) -> None:
    scenario = ("--rate", "2Mbit/s", "--rtt", "10ms", "--flows", "reno", "--duration", "2s")
    for name in ("run", "study"):
        for options, message in (
            (("--backend", "kernel"), f"no kernel is built in {kernels}; build one: ackclock kernel build\n"),
            (
                ("--backend", "kernel", "--kernel", "6.1"),
                f"no kernel is built in {kernels}; build one: ackclock kernel build 6.1\n",
            ),
        ):
            answer = cli(name, *scenario, *options)
            assert answer.code == 2 and answer.stderr.startswith(f"error: {message}"), answer
    answer = cli("study", *scenario, "--kernel", "6.12")
    assert answer.code == 2 and answer.stderr.startswith("error: --kernel needs --backend kernel (see")
    # In `run` a kernel selects its backend.
    answer = cli("run", *scenario, "--kernel", "6.12")
    assert answer.code == 2 and answer.stderr.startswith(f"error: no kernel is built in {kernels}; ")
    answer = cli("run", *scenario, "--backend", "kernel", "--exec", "true")
    assert answer.code == 2 and "leave out --backend kernel" in answer.stderr
    with pytest.raises(ArgumentValueError, match="kernel: needs the backend kernel, and not sim"):
        chosen("sim", "6.12")
    with pytest.raises(
        ArgumentValueError, match="backend: is 'linux:6', but must be one of sim, linux, kernel"
    ):
        chosen("linux:6")


def test_a_built_kernel_is_whole() -> None:
    """Where `make kernel` was called: the kernel has what the recipe promises."""
    found = store.kernels()
    if not found:
        pytest.skip("no kernel is built: make kernel")
    kernel = store.find(found[0].name)
    tree = kernel.tree
    assert kernel.image.read_bytes()[:4] == b"\x7fELF"
    if tree is not None:
        config = (tree / "out/.config").read_text()
        assert "CONFIG_HZ=1000\n" in config and "CONFIG_MODULES=y\n" in config
        assert (tree / "out/Module.symvers").stat().st_size > 0
        assert store.digest(tree / "out/.config") == kernel.sha256.config
