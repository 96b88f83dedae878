"""The commands of docs/short-flows.md, as a reader types them."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import polars as pl
import pytest

from conftest import ROOT, Command

GUIDE = (ROOT / "docs" / "short-flows.md").read_text(encoding="utf-8")
#: What makes them short enough for every change.
BRIEF = (
    *("--set", "duration=8 s", "--set", "arrivals.0.start=1 s", "--set", "arrivals.0.stop=7 s"),
    *("--set", "topology.bottleneck.rate=20 Mbit/s", "--set", "arrivals.0.size=hadoop"),
)


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL)


def type_all(sojourn: Command, brief: bool) -> dict[str, str]:
    """Types every command; what each printed."""
    printed = {}
    for line in "".join(blocks("sh")).splitlines():
        program, *arguments = shlex.split(line)
        assert program == "sojourn"
        short = brief and arguments[0] in ("run", "sweep")
        done = sojourn(*arguments, *(BRIEF if short else ()))
        assert done.returncode == 0, (line, done.stderr)
        printed[line] = done.stdout
    return printed


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (text,) = blocks("toml")
    path = tmp_path / "short-flows.toml"
    path.write_text(text)
    return path


def test_the_scenario_has_twenty_lines_or_so() -> None:
    (text,) = blocks("toml")
    assert len([line for line in text.splitlines() if line]) <= 23
    assert tomllib.loads(text)["arrivals"][0]["load"] == 0.6


def test_the_commands(sojourn: Command, scenario: Path) -> None:
    printed = type_all(sojourn, brief=True)
    place = scenario.parent
    for name in ("one/slowdown.pdf", "one/tails.pdf", "p99.pdf", "pacing.pdf", "p50.pdf"):
        assert (place / name).stat().st_size > 0
    first = next(iter(printed.values()))
    assert "web: load 0." in first
    done = sojourn("run", scenario, *BRIEF, "--format", "json", "--out", "one")
    told = json.loads(done.stdout)["transfers"]
    everything = next(one for one in told if one["sizes"] is None)
    bins = [one for one in told if one["sizes"]]
    assert sum(one["metrics"]["count"] for one in bins) == everything["metrics"]["count"] > 20
    rows = pl.read_parquet(place / "one" / "transfers.parquet")
    assert len(rows) == everything["metrics"]["count"]
    assert (rows["arrival"] >= 1.0).all()
    assert (rows["slowdown"].drop_nulls() >= 1.0).all()


@pytest.mark.long
def test_the_commands_as_they_are(sojourn: Command, scenario: Path) -> None:
    """The question that the page asks has an answer."""
    printed = type_all(sojourn, brief=False)
    compared = next(text for line, text in printed.items() if line.startswith("sojourn compare"))
    assert "transfer web" in compared
