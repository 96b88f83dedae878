"""Whether the engine fits the sources."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT, call
from sojourn import _internal, checkout

PARTS = dict(_internal.engine_parts())
CRATES = sorted(PARTS.keys() - {checkout.LOCK})
LOCKED = [version.rsplit(" ", 1)[0] for version in PARTS[checkout.LOCK].split(", ")]


def some_files(crate: str) -> list[str]:
    """The first of a crate's sources, the last of those that lie deepest, and its manifest."""
    top = ROOT / "crates" / crate
    deepest = max((top / "src").glob("**/*.rs"), key=lambda path: (len(path.parts), path))
    files = {top / "src" / "lib.rs", deepest, top / "Cargo.toml"}
    return sorted(str(path.relative_to(ROOT)) for path in files)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The sources that the engine was built from."""
    shutil.copy(ROOT / checkout.LOCK, tmp_path)
    for crate in CRATES:
        target = tmp_path / "crates" / crate
        shutil.copytree(ROOT / "crates" / crate / "src", target / "src")
        shutil.copy(ROOT / "crates" / crate / "Cargo.toml", target)
    return tmp_path


def update(root: Path, package: str) -> None:
    """Has another version of a package locked: it is named like ``libm 0.2.16``."""
    name, version = package.split(" ")
    text = (root / checkout.LOCK).read_text(encoding="utf-8")
    before, after = (f'name = "{name}"\nversion = "{v}"\n' for v in (version, "99.0.0"))
    assert text.count(before) == 1
    text = text.replace(before, after).replace(f'"{package}"', f'"{name} 99.0.0"')
    (root / checkout.LOCK).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("part", PARTS)
def test_the_parts_are_those_of_the_build(root: Path, part: str) -> None:
    assert checkout.current(root, part) == PARTS[part], "make setup"


def test_the_engine_is_that_of_the_checkout(root: Path) -> None:
    assert not checkout.is_stale(root)
    assert not checkout.is_stale(), "make setup"


@pytest.mark.parametrize("changed", [file for crate in CRATES for file in some_files(crate)])
def test_a_changed_source_is_told(
    root: Path, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (root / changed).open("a") as file:
        file.write("\n")
    assert checkout.is_stale(root)
    monkeypatch.setattr("sojourn.cli.is_stale", lambda: checkout.is_stale(root))
    told = call("list", "queues", "--format", "json")
    assert told.returncode == 0
    assert "the engine is older than its Rust sources; to build it anew: make setup" in told.stderr


@pytest.mark.parametrize("crate", CRATES)
def test_a_crate_that_has_gone_is_told(root: Path, crate: str) -> None:
    shutil.rmtree(root / "crates" / crate)
    assert checkout.is_stale(root)


def test_what_is_drawn_and_computed_with_is_locked() -> None:
    names = [package.split(" ")[0] for package in LOCKED]
    assert sorted(names) == sorted(checkout.DRAWN)


@pytest.mark.parametrize("package", LOCKED)
def test_another_locked_version_is_told(root: Path, package: str) -> None:
    update(root, package)
    assert checkout.is_stale(root)


def test_versions_that_only_tests_draw_with_are_not_told(root: Path) -> None:
    names = "|".join(checkout.DRAWN)
    lock = (root / checkout.LOCK).read_text(encoding="utf-8")
    found = re.findall(rf'^name = "({names})"\nversion = "(.*)"$', lock, re.MULTILINE)
    others = {f"{name} {version}" for name, version in found} - set(LOCKED)
    assert len(found) == len(others) + len(LOCKED)
    for package in others:
        update(root, package)
    assert not checkout.is_stale(root)


def test_what_a_crate_that_simulates_uses_of_ours_simulates() -> None:
    """What has no part of its own could change unseen."""
    files = {path.parent.name: path for path in ROOT.glob("crates/*/Cargo.toml")}
    manifests = {name: tomllib.loads(path.read_text()) for name, path in files.items()}
    built_with = {name: m.get("build-dependencies", {}) for name, m in manifests.items()}
    stamped = {name for name, crates in built_with.items() if "sojourn-stamp" in crates}
    # Which have the versions, and a page the whole.
    assert stamped == {*CRATES, "sojourn-python", "sojourn-wasm"}
    used = {name for crate in CRATES for name in manifests[crate]["dependencies"]}
    assert {name for name in used if name.startswith("sojourn-")} <= set(CRATES)


def test_a_wheel_has_no_sources(tmp_path: Path) -> None:
    assert not checkout.is_stale(tmp_path)
