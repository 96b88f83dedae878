"""Scenarios and the command line for the tests, and what they need of a machine."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from capabilities import CAPABILITIES, lacking

# Who starts tests in the background may have it ignored, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
TWO_FLOWS = """
name = "two-flows"
duration = "3 s"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "8 Mbit/s"
queue = { kind = "fifo", limit = "20 packets" }

[[flows]]
cca = "reno"
rtt = "20 ms"

[[flows]]
cca = "cubic"
rtt = "20 ms"
"""
Command = Callable[..., "subprocess.CompletedProcess[str]"]
Offspring = Callable[[], list[str]]


def needs(item: pytest.Item) -> Iterator[str]:
    """The capabilities that a test declares."""
    for mark in item.iter_markers("needs"):
        yield from mark.args


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Nobody finds out by a skipped test that a name is wrong."""
    for item in items:
        if unknown := set(needs(item)) - set(CAPABILITIES):
            allowed = ", ".join(CAPABILITIES)
            raise pytest.UsageError(f"{item.nodeid} needs {', '.join(unknown)}; allowed: {allowed}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """The one way in which a test is skipped."""
    for name in needs(item):
        if lack := lacking(name):
            pytest.skip(f"needs {name}: {lack}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was skipped and why, in lines that `.ci/run` repeats at its end."""
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        terminalreporter.line(f"skipped: {report.nodeid}: {reason}")


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    """A small scenario of two flows."""
    path = tmp_path / "two-flows.toml"
    path.write_text(TWO_FLOWS)
    return path


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory with the controls of the tests and scenarios that name them."""
    from own_controls import BAD, MINE  # which are made of what is here

    shutil.copy(ROOT / "tests" / "controls" / "faulty.py", tmp_path)
    shutil.copy(ROOT / "examples" / "own-control-python" / "aimd.py", tmp_path)
    (tmp_path / "mine.toml").write_text(MINE)
    (tmp_path / "bad.toml").write_text(BAD)
    return tmp_path


@pytest.fixture
def offspring(monkeypatch: pytest.MonkeyPatch) -> Offspring:
    """The command lines of what this test has started, whoever by, and is still there."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv("SOJOURN_TEST", mark)

    def there() -> list[str]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it is gone, or somebody else's
                if f"SOJOURN_TEST={mark}".encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_text())
        return found

    return there


@pytest.fixture
def kernel_controls() -> Iterator[None]:
    """One test at a time changes, or compares, what controls the machine's kernel has."""
    # Of all checkouts: a file would have a name that a stranger may have given to a link.
    lock = os.open(tempfile.gettempdir(), os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


@pytest.fixture
def sojourn(tmp_path: Path) -> Command:
    """The command line as a user types it, in an empty directory."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sojourn", *map(str, arguments)]
        options = {"cwd": tmp_path, "timeout": 120} | options
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    return run


def call(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command line within this process, in the directory where it is: for what a command does,
    since most of them import for longer than they work.
    """
    from sojourn import interruption
    from sojourn.cli import main
    from sojourn.executors.processes import limits

    argv = ["sojourn", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    heard = {number: signal.getsignal(number) for number in interruption.SIGNALS}
    with (
        mock.patch.object(sys, "argv", argv),
        mock.patch.object(warnings, "showwarning", warnings.showwarning),  # which it replaces
        mock.patch.object(interruption._state, "came", 0),  # to an earlier test
        mock.patch.multiple(limits, seconds=limits.seconds, memory=limits.memory),  # options set
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    for number, handler in heard.items():  # one that was interrupted no longer listens
        signal.signal(number, handler)
    status = int(ended.value.code or 0)
    return subprocess.CompletedProcess(argv, status, out.getvalue(), err.getvalue())


@pytest.fixture
def called(tmp_path: Path) -> Command:
    """The same in an empty directory."""

    def run(*arguments: object, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        with contextlib.chdir(cwd):
            return call(*arguments)

    return run


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the fake backend has been asked for."""
    monkeypatch.setenv("FAKE_RUNS", str(tmp_path / "notes"))
    return tmp_path / "notes"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backend of `fake_backend.py`, in this process."""
    from sojourn import backends

    monkeypatch.setitem(backends.NAMES, "fake", "fake_backend")


@pytest.fixture
def faked(fake: None, called: Command) -> Command:
    """Commands with it."""
    return called


@pytest.fixture(scope="session", autouse=True)
def _unsynced() -> Iterator[None]:
    """No test loses power: to wait for the disk would prove nothing."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(os, "fsync", lambda _file: None)
        yield
