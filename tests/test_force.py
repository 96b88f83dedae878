"""Old results stay until the new ones are whole, which take their place at one instant."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import call
from sojourn.errors import SojournError
from sojourn.store import manifest, run_directory
from sojourn.store.replacement import replace, settle
from test_directories import empty_directory


@pytest.fixture
def home() -> Iterator[Path]:
    with empty_directory() as directory:
        yield directory


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return call("run", "tiny.toml", "--no-figures", "--out", "out", *arguments)


def content(directory: Path) -> dict[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_what_fails_costs_no_old_results(
    home: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    run()
    (home / "out/mine.txt").write_text("a note")
    before = content(home / "out")

    def failing(*_arguments: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as failed:
        failed.setattr("sojourn.store.run_directory.write_together", failing)
        failed.setattr("sojourn.store.batches.write_atomically", failing)
        failed.setattr("sojourn.spool.Spool.add", failing)
        told = call(command, "tiny.toml", "--seed", "2", "--out", "out", "--force")
    assert told.returncode == 1
    assert {n: c for n, c in content(home / "out").items() if n in before} == before
    assert manifest.read(home / "out")["kind"] == "run"
    call(command, "tiny.toml", "--seed", "2", "--out", "out", "--force")
    assert manifest.read(home / "out")["kind"] == command
    assert (home / "out/mine.txt").read_text() == "a note"
    assert not [*(home / "out").glob(".new-*"), *(home / "out").glob(".replacement")]


def test_a_replacement_that_is_cut_short_is_gone_on_with(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it is cut, the directory holds the old results or the new ones."""
    run()
    old = content(home / "out")
    run("--seed", "2", "--out", "other")
    new = content(home / "other")
    (home / "out/mine.txt").write_text("a note")
    assert old.keys() == new.keys()
    seen = []
    for last in range(200):
        staged = home / "out/.new-x.partial"
        for name, data in new.items():
            (staged / name).parent.mkdir(parents=True, exist_ok=True)
            (staged / name).write_bytes(data)
        left = [last]
        with monkeypatch.context() as cut:
            for name in ("rename", "replace", "unlink", "rmdir"):
                cut.setattr(os, name, counted(getattr(os, name), left))
            with contextlib.suppress(SojournError, OSError):
                replace(home / "out", staged)
        seed = manifest.read(home / "out")["scenario"]["seed"]  # any command's first step
        found = content(home / "out")
        assert found.pop("mine.txt") == b"a note"
        found = {name: data for name, data in found.items() if not name.startswith(".new-")}
        assert found == (new if seed == 2 else old)
        seen.append(seed)
        if left[0] > 0:  # nothing was cut
            break
        for name, data in old.items():
            (home / "out" / name).write_bytes(data)
    assert seen[0] == 1
    assert seen[-1] == 2
    assert seen == sorted(seen)


def counted(call: object, left: list[int]) -> object:
    def limited(*arguments: object, **options: object) -> object:
        if left[0] == 0:
            raise OSError(5, "Input/output error", str(arguments[0]))
        left[0] -= 1
        return call(*arguments, **options)  # type: ignore[operator]

    return limited


def test_what_is_in_the_way_of_results_is_named(home: Path) -> None:
    run()
    (home / "out/links.parquet").unlink()
    (home / "out/links.parquet").mkdir()
    told = run("--seed", "2", "--force")
    assert told.returncode == 1
    assert "out/links.parquet: is in the way of results: move it elsewhere" in told.stderr
    assert manifest.read(home / "out")["scenario"]["seed"] == 1


def test_the_same_run_is_replaced_as_a_whole(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    before = content(home / "out")
    with monkeypatch.context() as failed:
        failed.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(OSError(30, "Read-only")))
        assert run().returncode == 1
    assert content(home / "out") == before
    assert run_directory.load(home / "out").flows.height == 1


@pytest.mark.concurrent
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_was_killed_holds_no_directory(home: Path, number: int) -> None:
    long = [sys.executable, "-m", "sojourn", "run", "tiny.toml", "--out", "out", "--seed", "3"]
    process = subprocess.Popen([*long, "--set", "duration=100000 s"], stderr=subprocess.DEVNULL)
    while not (home / "out/manifest.json").exists():
        assert process.poll() is None
        time.sleep(0.05)
    refused = run("--seed", "2")
    assert refused.returncode == 2, refused.stderr
    process.send_signal(number)
    process.wait(timeout=60)
    assert run("--seed", "2").returncode == 0
    assert manifest.read(home / "out")["scenario"]["seed"] == 2


def test_settling_what_is_settled_changes_nothing(tmp_path: Path) -> None:
    settle(tmp_path)
    settle(tmp_path / "nowhere")
    assert not list(tmp_path.iterdir())
