"""Building kernels in virtual time: all of it but the compiler's work, which CI leaves out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from capabilities import KERNEL_SOURCES
from conftest import Command
from sojourn.errors import ScenarioError, SojournError
from sojourn.kernel import build, cache, source
from sojourn.kernel.build import TOOLS, _check_machine
from sojourn.kernel.change import Change
from sojourn.kernel.changes import changes
from sojourn.kernel.options import fragment
from sojourn.kernel.same import STAMPS

#: The places of Linux 6.12 that are changed, below the names of their files.
PLACES = Path(__file__).parent / "kernel/places.txt"
MAKEFILE = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 7\nEXTRAVERSION =\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What is changed of a kernel's sources, and no more."""
    root = tmp_path / "linux-source-6.12"
    root.mkdir()
    (root / "Makefile").write_text(MAKEFILE)
    _, *parts = re.split(r"^== (.+)\n", PLACES.read_text(encoding="utf-8"), flags=re.M)
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"int before;\n\n{text}\nint after;\n", encoding="utf-8")
    return root


def files(tree: Path) -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in tree.rglob("*") if path.is_file()}


def test_changes_are_made_once(tree: Path) -> None:
    found = []
    for _ in range(2):
        for change in changes(250):
            change.apply(tree)
        found.append(files(tree))
    assert found[0] == found[1]
    for change in changes(250):
        assert found[0][tree / change.file].count(change.replacement) == 1, change
    kconfig = found[0][tree / "arch/um/Kconfig"]
    assert kconfig.endswith("\n\nconfig HZ\n\tint\n\tdefault 250\n\n\nint after;\n")
    random = found[0][tree / "arch/um/os-Linux/util.c"]
    assert "getrandom(buf, len, flags);" not in random


def test_a_change_concerns_versions_from_its_first_one_on() -> None:
    change = Change("file", "a", "b", "why", since=(6, 12))
    versions = ("6.1.159", "6.11.9", "6.12.1", "6.13.2", "7.0.1")
    concerned = [version for version in versions if change.concerns(version)]
    assert concerned == ["6.12.1", "6.13.2", "7.0.1"]
    assert Change("file", "a", "b", "why").concerns("6.1.159")


def test_another_recipe_is_another_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    before = build.recipe(250)
    assert build.recipe(250) == before != build.recipe(1000)
    monkeypatch.setattr(build, "STAMPS", (*STAMPS[1:], "KBUILD_BUILD_TIMESTAMP=now"))
    assert build.recipe(250) != before


@pytest.mark.long
@pytest.mark.needs("kernel-sources")
def test_linux_6_1_is_as_expected(tmp_path: Path) -> None:
    command = ["tar", "-xf", KERNEL_SOURCES, "-C", tmp_path, "--wildcards"]
    subprocess.run([*command, "*/Makefile", "*/arch/um/*", "*/arch/x86/um/*"], check=True)
    (root,) = tmp_path.iterdir()
    version = source.version(root)
    concerned = [change for change in changes(250) if change.concerns(version)]
    assert len(concerned) < len(changes(250))
    for change in concerned:
        change.apply(root)


def test_a_file_that_is_not_as_expected_is_refused(tree: Path) -> None:
    (tree / "arch/um/Kconfig").write_text('config HZ\n\tint "ticks"\n')
    with pytest.raises(SojournError, match="not as expected"):
        changes(250)[0].apply(tree)


def test_sources_come_from_a_tarball_or_a_tree(tree: Path, tmp_path: Path) -> None:
    tarball = tmp_path / "linux.tar.xz"
    with tarfile.open(tarball, "w:xz") as file:
        file.add(tree, tree.name)
    for number, found in enumerate((tarball, tree)):
        copy = source.unpacked(source.located(str(found), tmp_path), tmp_path / f"{number}")
        assert source.version(copy) == "6.12.7"
        assert copy != tree
    (tmp_path / "0/linux/arch/um/Kconfig").write_text("kept")
    source.unpacked(tarball, tmp_path / "0")
    assert (tmp_path / "0/linux/arch/um/Kconfig").read_text() == "kept"  # it goes on where it was


def test_what_is_no_kernel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no such file"):
        source.located("nowhere", tmp_path)
    empty = tmp_path / "empty"
    (empty / "inside").mkdir(parents=True)
    with pytest.raises(ScenarioError, match="not a kernel's sources"):
        source.unpacked(empty, tmp_path / "place")


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda tool: None if tool == "ld" else tool)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    with pytest.raises(ScenarioError, match="ld missing; to get them: apt install binutils"):
        _check_machine()
    assert set(TOOLS) == {"make", "gcc", "ld", "flex", "bison", "bc"}


def kernel(root: Path, version: str, hz: int) -> None:
    place = root / "sojourn/kernels" / f"{version}-hz{hz}"
    place.mkdir(parents=True)
    (place / cache.FACTS).write_text(json.dumps({"version": version, "hz": hz, "recipe": ""}))


def test_the_latest_kernel_of_a_version_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ScenarioError, match="no kernel is built; to build one: sojourn"):
        cache.kernel()
    for version, hz in (("6.1.9", 250), ("6.12.7", 1000), ("6.12.7", 250), ("6.12.10", 1000)):
        kernel(tmp_path, version, hz)
    assert cache.kernel().name == "6.12.10-hz1000"
    assert cache.kernel("6.1").name == "6.1.9-hz250"
    assert cache.kernel("6.12.7").name == "6.12.7-hz250"
    assert cache.kernel("6.12.7-hz1000").hz == 1000
    with pytest.raises(ScenarioError, match=r"kernel:5\.10 given; built: 6\.12\.10-hz1000, "):
        cache.kernel("5.10")


def test_all_controls_are_configured() -> None:
    lines = fragment().splitlines()
    assert len(lines) == len(set(lines))
    assert {"CONFIG_TCP_CONG_NV=y", "CONFIG_NET_SCH_CAKE=y"} <= set(lines)


def test_without_a_kernel_it_is_said_how_to_get_one(
    sojourn: Command, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = sojourn("run", scenario_file, "--backend", "kernel:6.12")
    assert done.returncode == 2
    assert "sojourn kernel build linux-source-6.12" in done.stderr
    done = sojourn("run", scenario_file, "--backend", "sim,ns3")
    assert done.returncode == 2
    assert "'ns3' given; allowed: sim, live, kernel" in done.stderr


def test_sources_that_are_not_there_are_named(
    sojourn: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tool in TOOLS:  # which a machine may lack
        (tmp_path / tool).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    done = sojourn("kernel", "build", "nowhere")
    assert done.returncode == 2
    assert "no such file" in done.stderr


def test_a_download_that_ends_half_way_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = "linux-source-9.9"
    tarball = f"usr/src/{package}.tar.xz"
    for name, does in (
        ("apt-get", f": >{package}_1_all.deb"),
        ("dpkg-deb", f"mkdir -p usr/src; printf whol >{tarball}; $ENDS; printf e >>{tarball}"),
    ):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{does}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("ENDS", "exit 1")
    with pytest.raises(SojournError, match="downloading"):
        source.located(package, tmp_path / "cache")
    monkeypatch.setenv("ENDS", ":")
    assert source.located(package, tmp_path / "cache").read_text() == "whole"
