"""Paths of any name, files of anybody, manifests in any state: all of it is told in words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import call
from sojourn.store import manifest
from test_directories import TINY, empty_directory

ODD = "x[1]*?s"


@pytest.fixture
def home() -> Iterator[Path]:
    with empty_directory() as directory:
        yield directory


def test_a_path_is_no_pattern(home: Path) -> None:
    run = ("run", "tiny.toml", "--no-figures", "--record", "queue", "--out", ODD)
    for command in (
        run,
        ("sweep", "tiny.toml", "--out", f"{ODD}/s"),
        ("plot", ODD, "--y", "mean_throughput_l4", "--kind", "series"),
        ("report", ODD),
        ("report", f"{ODD}/s"),
        ("export", ODD, "--mahimahi", "bottleneck", f"{ODD}/trace"),
    ):
        done = call(*command)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "why"),
    [(os.fsdecode(b"b\xffd"), "is no UTF-8"), ("n" * 300, "File name too long; give a shorter")],
)
def test_a_name_that_cannot_be_is_refused_first(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    def running(*_arguments: object, **_options: object) -> None:
        raise AssertionError("it ran")

    monkeypatch.setattr("sojourn.engine.simulate", running)
    for command in ("run", "sweep"):
        done = call(command, "tiny.toml", "--out", name)
        assert done.returncode == 2
        assert why in done.stderr
    assert call("report", "n" * 300).returncode == 1


def test_others_files_stay_and_are_named(home: Path) -> None:
    call("sweep", "tiny.toml", "--out", "s")
    for name in ("mine.parquet", "batch-1.parquet", "batch-0123456789ab-0123456789abcdef.parquet"):
        (home / "s/runs" / name).write_bytes(b"a note")
    again = call("sweep", "tiny.toml", "--out", "s")
    assert again.returncode == 0
    assert "0 run now, 2 stored before" in again.stderr
    for name in ("mine", "batch-1"):
        assert again.stderr.count(f"s/runs/{name}.parquet is no file of these results") == 1
        assert (home / f"s/runs/{name}.parquet").read_bytes() == b"a note"
    assert "0123456789abcdef.parquet is damaged: moved to" in again.stderr


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"format": 2}',
        '{"format": 2, "kind": 7}',
        *(f'{{"format": 2, "kind": "{kind}"}}' for kind in ("run", "sweep", "reproduction")),
        '{"format": 2, "kind": "sweep", "grid": 1}',
    ],
)
def test_a_damaged_manifest_is_told_with_a_remedy(home: Path, content: str) -> None:
    Path("m").mkdir()
    Path("m", manifest.FILE).write_text(content)
    for command in (
        ("report", "m"),
        ("plot", "m", "--y", "mean_throughput_l4"),
        ("explain", "m"),
        ("export", "m", "--flent", "x.flent.gz"),
        ("compare", "m", "m"),
        ("run", "tiny.toml", "--out", "m"),
        ("sweep", "tiny.toml", "--out", "m"),
    ):
        done = call(*command)
        assert done.returncode in (1, 2)
        assert "m/manifest.json: is damaged: restore it from a copy" in done.stderr
        assert "--force" in done.stderr
    assert call("run", "tiny.toml", "--out", "m", "--no-figures", "--force").returncode == 0


def test_the_largest_seed(home: Path) -> None:
    largest = 2**64 - 1
    run = ("run", "tiny.toml", "--no-figures", "--out", "out")
    assert call(*run, "--set", f"seed={largest}").returncode == 0
    assert manifest.read(home / "out")["scenario"]["seed"] == largest
    assert call(*run, "--seed", largest).returncode == 0
    Path("tiny.toml").write_text(f"seed = {largest}\n{TINY}")
    done = call(*run)
    assert done.returncode == 2
    assert "line 1, column 8: u64 value was too large; TOML has integers up to" in done.stderr
    assert "--seed" in done.stderr
