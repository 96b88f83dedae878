"""The commands of docs/howto/short-flows.md, as a reader types them."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from conftest import Command
from guide_page import GuidePage
from sojourn import open as sojourn_open

GUIDE = GuidePage("short-flows.md")
#: What makes runs short enough for every change.
BRIEF = (
    *("--set", "duration=4 s", "--set", "arrivals.0.start=1 s", "--set", "arrivals.0.stop=3 s"),
    *("--set", "topology.bottleneck.rate=40 Mbit/s"),
    *("--set", 'arrivals.0.size={kind="lognormal", mean="6 kB", cv=2}'),
)


def brief() -> list[list[str]]:
    """The first one of each kind and directory, with short runs."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for arguments in GUIDE.commands():
        if arguments[0] in ("run", "sweep"):
            kinds.setdefault((arguments[0],), [*arguments, *BRIEF])
        elif arguments[0] == "plot":
            kinds.setdefault(tuple(arguments[:2]), arguments)
    kinds["run",].append("--no-figures")
    kinds["sweep",] += ["--set", "sweep.replications=2"]
    return list(kinds.values())


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (text,) = GUIDE.blocks("toml")
    path = tmp_path / "short-flows.toml"
    path.write_text(text)
    return path


def test_the_scenario_has_twenty_lines_or_so() -> None:
    (text,) = GUIDE.blocks("toml")
    assert len([line for line in text.splitlines() if line]) <= 23
    assert tomllib.loads(text)["arrivals"][0]["load"] == 0.6


def type_all(called: Command, typed: list[list[str]]) -> dict[str, str]:
    """What each command printed."""
    printed = {}
    for arguments in typed:
        done = called(*arguments)
        assert done.returncode == 0, (arguments, done.stderr)
        printed[shlex.join(arguments)] = done.stdout
    return printed


def test_one_of_each_command(called: Command, scenario: Path) -> None:
    printed = type_all(called, brief())
    place = scenario.parent
    for name in ("one/slowdown.pdf", "p99.pdf"):
        assert (place / name).stat().st_size > 0
    assert "web: load 0." in next(iter(printed.values()))
    run = sojourn_open(place / "one")
    told = run.to_json()["transfers"]
    everything = next(one for one in told if one["sizes"] is None)
    bins = [one for one in told if one["sizes"]]
    count = everything["metrics"]["count"]
    assert sum(one["metrics"]["count"] or 0 for one in bins) == count
    rows = run.transfers
    assert len(rows) == count
    assert rows["arrival"].is_between(1.0, 3.0, closed="left").all()
    assert (rows["slowdown"] >= 1.0).all()
    load = run.values("transfer", "offered_load")[0]
    assert load == pytest.approx(0.6, rel=0.2)


@pytest.mark.long
def test_the_commands(called: Command, scenario: Path) -> None:
    """The question that the page asks has an answer."""
    printed = type_all(called, GUIDE.commands())
    for name in ("one/slowdown.pdf", "one/tails.pdf", "p99.pdf", "pacing.pdf", "p50.pdf"):
        assert (scenario.parent / name).stat().st_size > 0
    compared = next(text for line, text in printed.items() if line.startswith("compare"))
    assert "transfer web" in compared
