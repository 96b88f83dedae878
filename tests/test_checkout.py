"""Whether the engine fits the sources."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sojourn import _internal, checkout
from test_directories import command


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """The sources that the engine was built from."""
    target = tmp_path / "crates/sojourn-core"
    shutil.copytree(checkout.CORE / "src", target / "src")
    shutil.copy(checkout.CORE / "Cargo.toml", target)
    return target


def test_the_hash_is_that_of_the_build(core: Path) -> None:
    assert _internal.engine_build().endswith(f"-{checkout.source_hash(core)}"), "make setup"
    assert not checkout.is_stale(core)


@pytest.mark.parametrize("changed", ["src/lib.rs", "src/cc/reno.rs", "Cargo.toml"])
def test_a_changed_source_is_told(
    core: Path, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (core / changed).open("a") as file:
        file.write("\n")
    assert checkout.is_stale(core)
    monkeypatch.setattr("sojourn.cli.is_stale", lambda: checkout.is_stale(core))
    told = command("list", "queues", "--format", "json")
    assert told.status == 0
    assert "the engine is older than its Rust sources; to build it anew: make setup" in told.err


def test_a_wheel_has_no_sources(tmp_path: Path) -> None:
    assert not checkout.is_stale(tmp_path / "crates/sojourn-core")
