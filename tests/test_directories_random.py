"""Random commands on a few directories, beside a model of what is to be in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conftest import call
from sojourn.campaign.cases import Case
from sojourn.installed import REPRODUCTIONS, points
from sojourn.reproduction.card import Card
from sojourn.reproduction.paper import Cell, Paper, Request
from sojourn.scenario import load
from sojourn.store import manifest, run_directory
from sojourn.store.batches import Batches
from test_directories import TINY, empty_directory


def _cells(request: Request) -> Iterator[Cell]:
    for row in request.tables or ("1", "2"):
        case = Case.of(load(TINY, request.overrides, int(row)).canonical)

        def measure(outcome: Mapping[str, Any]) -> float:
            return float(outcome["flows"][0]["metrics"]["mean_throughput_l4"])

        yield Cell({"row": row}, 1.0, [(case,)], measure)


CARD = Card(date(2026, 11, 25))
PAPER = Paper("paper", "A paper", ("row",), ("row",), ("1", "2"), CARD, _cells, ())


@dataclass(frozen=True)
class Step:
    """A command, without where its results go."""

    kind: str
    cca: str | None
    seed: int | None
    table: str | None

    def arguments(self) -> list[str]:
        arguments = [self.kind, "paper" if self.kind == "reproduce" else "tiny.toml"]
        if self.cca:
            arguments += ["--set", f"flows.0.cca={self.cca}"]
        if self.kind == "run":
            arguments += ["--no-figures", *(["--seed", str(self.seed)] if self.seed else [])]
        elif self.seed and self.kind == "sweep":
            arguments += ["--set", f"seed={self.seed}"]
        if self.kind == "reproduce" and self.table:
            arguments += ["--table", self.table]
        return arguments


@dataclass
class Model:
    """What should be found, by directory."""

    held: dict[str, Step] = field(default_factory=dict)

    def take(self, step: Step, out: str | None, force: bool) -> None:
        place = ["--out", out] if out else []
        done = call(*step.arguments(), *place, *(["--force"] if force else []))
        if done.returncode:
            assert done.returncode == 2, done.stderr
            assert out in self.held
            assert not force
            assert not same(self.held[out], step)
            assert "--force" in done.stderr
            return
        found = re.search(r"(?:results|comparison): (\S+)$", done.stderr, re.MULTILINE)
        assert found, done.stderr
        directory = found[1].removesuffix("/comparison.csv")
        assert out in (None, directory)
        before = self.held.get(directory)
        assert before is None or force or same(before, step)
        self.held[directory] = step

    def check(self) -> None:
        for directory, step in self.held.items():
            FINDERS[step.kind](Path(directory), step)


def same(before: Step, step: Step) -> bool:
    """Whether the results of ``step`` belong where those of ``before`` are."""
    if step.kind == "reproduce" == before.kind:
        return step.cca == before.cca and step.table in (None, before.table)
    return (before.kind, before.cca, before.seed or 1) == (step.kind, step.cca, step.seed or 1)


def find_run(directory: Path, step: Step) -> None:
    result = run_directory.load(directory)
    overrides = [f"flows.0.cca={step.cca}"] if step.cca else []
    assert result.scenario.canonical == load(TINY, overrides, step.seed).canonical
    stored = pl.read_parquet(directory / "metrics_flows.parquet")
    assert stored.equals(result.flows)


def find_sweep(directory: Path, step: Step) -> None:
    content = manifest.read(directory)
    assert content["kind"] == "sweep"
    rows = Batches(directory).read(["scope", "cca", "seed", "topology.bottleneck.rate"])
    flows = rows.filter(pl.col("scope") == "flow")
    assert sorted(flows["topology.bottleneck.rate"]) == ["4 Mbit/s", "8 Mbit/s"]
    assert set(flows["cca"]) == {step.cca or "reno"}
    assert set(flows["seed"]) == {step.seed or 1}
    assert (directory / "summary.csv").exists()


def find_reproduction(directory: Path, step: Step) -> None:
    content = manifest.read(directory)
    assert content["kind"] == "reproduction"
    assert content["request"]["overrides"] == ([f"flows.0.cca={step.cca}"] if step.cca else [])
    rows = pl.read_csv(directory / "comparison.csv")
    assert rows["row"].to_list() == ([int(step.table)] if step.table else [1, 2])


FINDERS = {"run": find_run, "sweep": find_sweep, "reproduce": find_reproduction}


STEPS = st.builds(
    Step,
    st.sampled_from(list(FINDERS)),
    st.sampled_from([None, "cubic"]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([None, "1", "2"]),
)


PLACES = st.tuples(STEPS, st.sampled_from([None, None, "results/tiny", "elsewhere"]), st.booleans())


PLAIN = [Step(kind, None, None, None) for kind in FINDERS]


OTHER = [Step(kind, "cubic", 2, "1") for kind in FINDERS]


class Found:
    """In the place of an entry point."""

    def load(self) -> Paper:
        return PAPER


@pytest.mark.long
@settings(max_examples=20, deadline=None)
@example([(step, None, False) for step in (*PLAIN, *OTHER, *PLAIN)])
@example([(step, "elsewhere", False) for step in (*PLAIN, *OTHER)])
@given(st.lists(PLACES, min_size=3, max_size=7))
def test_random_commands_lose_and_mix_nothing(steps: list[tuple[Step, str | None, bool]]) -> None:
    with empty_directory(), mock.patch.dict(points(REPRODUCTIONS), {"paper": Found()}):
        model = Model()
        for step, out, force in steps:
            model.take(step, out, force)
            model.check()
        for directory in model.held:
            assert call("report", directory).returncode == 0
            assert (Path(directory) / "report.html").exists()
        model.check()
