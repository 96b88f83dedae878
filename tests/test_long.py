"""``make test-long``: what passed is not run again, and what was interrupted goes on."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import long
from conftest import ROOT


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where rounds leave a line each; the checkout's files stay as they are."""
    monkeypatch.setattr(long, "TABLE", tmp_path / "long.toml")
    monkeypatch.setattr(long, "PLACE", tmp_path / "place")
    monkeypatch.setattr(long, "tree", lambda: "this")
    return tmp_path / "ran"


def table(ran: Path, **commands: str) -> None:
    """Parts of two rounds, each of which says its name and then runs its command."""
    text = ""
    for name, command in commands.items():
        line = f"echo {name} >>{ran}; {command}"
        text += f'[{name}]\nsays = ""\ntimes = 2\ncommands = ["""sh -c \'{line}\'"""]\n'
    long.TABLE.write_text(text)


def test_what_passed_is_run_again_when_a_file_has_changed(
    ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(ran, first="true", second="true")
    assert [long.main([]), long.main([])] == [0, 0]
    assert ran.read_text().split() == ["first"] * 2 + ["second"] * 2
    monkeypatch.setattr(long, "tree", lambda: "another")
    assert long.main(["second"]) == 0
    assert ran.read_text().split()[4:] == ["second"] * 2


def test_a_failure_is_told_stops_nothing_and_begins_anew(
    ran: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table(ran, first="test -e nowhere", second="true")
    assert long.main([]) == 1
    *_, first, second = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"first +2 of 2 +\d+\.\d s  failed: 2", first)
    assert re.fullmatch(r"second +2 of 2 +\d+\.\d s  passed", second)
    assert long.main([]) == 1
    assert ran.read_text().split() == ["first"] * 2 + ["second"] * 2 + ["first"] * 2


@pytest.mark.concurrent
def test_an_interrupted_part_goes_on(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A round that interrupts its runner as Ctrl-C does, and would go on for ever."""
    once = ran.with_name("once")
    hangs = f"test -e {once} || test $(wc -l <{ran}) = 1 || {{ touch {once}; "
    table(ran, first=f"{hangs} kill -INT $PPID; exec sleep 1000; }}")
    assert long.main([]) == 130
    assert "1 of 2" in capsys.readouterr().out.splitlines()[-1]
    assert long.main([]) == 0
    assert ran.read_text().split() == ["first"] * 3


def test_a_file_that_changes_meanwhile_ends_it(ran: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table(ran, first="true")
    trees = iter(["this", "another", "this", "this", "this"])
    monkeypatch.setattr(long, "tree", lambda: next(trees))
    with pytest.raises(SystemExit, match="has changed"):
        long.main([])
    assert long.main([]) == 0
    assert ran.read_text().split() == ["first"] * 3


def test_an_unknown_part_is_refused(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table(ran, first="true", second="true")
    assert long.main(["third"]) == 2
    assert capsys.readouterr().err == "PART: third given; allowed: first, second\n"


def test_the_tree_is_that_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = long.tree()
    assert long.tree() == before
    probe = ROOT / "tests" / f"probe-{tmp_path.name}.txt"
    probe.write_text("not committed")
    try:
        assert long.tree() != before
    finally:
        probe.unlink()


@pytest.mark.concurrent
def test_the_load_is_a_busy_process_per_core_and_ends() -> None:
    with long.load() as busy:
        assert len(busy) == (long.os.cpu_count() or 1)
        assert [process.poll() for process in busy] == [None] * len(busy)
    assert None not in [process.poll() for process in busy]


def test_what_the_table_names_is_there() -> None:
    markers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    known = {re.split(r"\W", line)[0] for line in markers["markers"]}
    sources = {path: path.read_text() for path in ROOT.glob("crates/**/*.rs")}
    for command in (command for part in long.parts() for command in part.commands):
        assert set(re.findall(r"pytest -m (\w+)", command)) <= known
        given = command.partition(" -- ")[2].split()
        for name in (word for word in given if not word.startswith("--")):
            last = name.rpartition("::")[2]
            there = any(path.stem == last or f"fn {last}(" in s for path, s in sources.items())
            assert there, f"no test is named {name}"
        for name in re.findall(r"--test (\w+)", command):
            ends = ("tests", f"{name}.rs"), ("tests", name, "main.rs")
            assert any(path.parts[-len(end) :] == end for path in sources for end in ends), name
