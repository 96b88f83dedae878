"""What a sweep keeps: samples, from which changed metrics are computed without simulating."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import ROOT, TWO_FLOWS
from sojourn import build
from sojourn.backends import sim
from sojourn.campaign import finished
from sojourn.campaign.cases import Case
from sojourn.campaign.finished import Finished, Simulate
from sojourn.metrics import registry
from sojourn.scenario import load
from sojourn.store import manifest, renew
from sojourn.store.batches import Batches
from sojourn.store.samples import Samples
from sojourn.sweeps import directory as own_directory
from sojourn.sweeps import known, run, table, work
from sojourn.sweeps.expand import plan

SWEEP = (
    TWO_FLOWS
    + """
[sweep]
replications = 3

[sweep.grid]
"topology.bottleneck.rate" = ["2 Mbit/s", "4 Mbit/s"]
"""
)
RUNS = 6
METRIC = "mean_agg_throughput_l4"
IDENTITY = ["point", "scope", "id"]


def sweep(directory: Path, text: str = SWEEP, **options: Any) -> tuple[run.Summary, list[str]]:
    told: list[str] = []
    summary = run.sweep(
        plan(load(text)), directory, 2, progress=lambda *_: None, warn=told.append, **options
    )
    return summary, told


def stored(directory: Path) -> pl.DataFrame:
    whole = Batches(directory).ask(lambda rows: rows.collect())
    assert whole is not None
    return whole.sort(IDENTITY)


def redefine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doubles a metric."""
    old = registry._METRICS["net", METRIC]
    new = replace(old, compute=lambda data: 2 * old.compute(data))
    monkeypatch.setitem(registry._METRICS, ("net", METRIC), new)
    for module in (renew, run, work, known, own_directory, finished):
        monkeypatch.setattr(module, "definitions", lambda *_requested: "new")


# Definitions


def test_only_code_defines_a_metric() -> None:
    code = 'def f(x):\n    """Twice."""\n    return 2 * x\n'
    commented = '"""New."""\n\ndef f(x):\n    # why\n    """Double."""\n\n    return 2 * x  # so\n'
    assert build.without_docstrings(code) == build.without_docstrings(commented)
    changed = code.replace("2 * x", "3 * x")
    assert build.without_docstrings(code) != build.without_docstrings(changed)


def test_definitions_cover_what_metrics_use() -> None:
    used = build._used_by(m.compute.__module__ for m in registry.metrics())
    assert {"sojourn.metrics.samples", "sojourn.metrics.fairness", "sojourn.quantity"} <= set(used)


def test_an_edit_of_the_metrics_as_a_user_makes_it(tmp_path: Path) -> None:
    package = tmp_path / "sojourn"
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "python" / "sojourn", package, ignore=ignored)
    for library in (ROOT / "python" / "sojourn").glob("*.so"):
        (package / library.name).symlink_to(library)
    (tmp_path / "sweep.toml").write_text(SWEEP)

    def told() -> str:
        command = [sys.executable, "-m", "sojourn", "sweep", "sweep.toml", "--format", "csv"]
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stderr

    family = package / "metrics" / "throughput.py"
    assert f"{RUNS} run now, 0 stored before" in told()
    source = family.read_text()
    family.write_text(source.replace('"""', '"""In other words: ', 1) + "\n# A comment.\n")
    commented = told()
    assert f"0 run now, {RUNS} stored before" in commented
    assert "anew" not in commented
    family.write_text(source + "\n_ANOTHER = 1\n")
    changed = told()
    assert f"those of {RUNS} runs anew from their samples" in changed
    assert f"0 run now, {RUNS} stored before" in changed


# Metrics anew


def test_changed_metrics_are_computed_from_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep(tmp_path)
    before = stored(tmp_path)
    redefine(monkeypatch)
    monkeypatch.setattr(sim, "measure", None)  # running anything would fail
    summary, told = sweep(tmp_path)
    assert (summary.run, summary.stored_before, summary.failed) == (0, RUNS, 0)
    assert told == ["metrics have changed: computing those of 6 runs anew from their samples"]
    after = stored(tmp_path)
    assert set(after["metrics"]) == {"new"}
    assert after.drop("metrics", METRIC).equals(before.drop("metrics", METRIC))
    assert after[METRIC].equals(2 * before[METRIC])
    assert set(table.summary(tmp_path, [METRIC])["n"]) == {3}
    assert sweep(tmp_path)[1] == []


def test_dying_while_metrics_are_computed_anew_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rate in ("2 Mbit/s", "4 Mbit/s"):
        sweep(tmp_path, SWEEP.replace('["2 Mbit/s", "4 Mbit/s"]', f'["{rate}"]'))
    before, old = stored(tmp_path), build.definitions()
    redefine(monkeypatch)
    write, written = Batches._write, []

    def dies(self: Batches, *arguments: Any) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(True)
        write(self, *arguments)

    with monkeypatch.context() as dying:
        dying.setattr(Batches, "_write", dies)
        with pytest.raises(KeyboardInterrupt):
            sweep(tmp_path)
    assert set(stored(tmp_path)["metrics"]) == {"new", old}
    monkeypatch.setattr(sim, "measure", None)
    assert sweep(tmp_path)[0].run == 0
    assert stored(tmp_path).drop("metrics", METRIC).equals(before.drop("metrics", METRIC))


def test_without_samples_they_are_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep(tmp_path, keep_samples=False)
    assert not (tmp_path / "samples").exists()
    redefine(monkeypatch)
    summary, _ = sweep(tmp_path)
    assert (summary.run, summary.other_builds) == (RUNS, RUNS)
    assert sweep(tmp_path)[0].other_builds == 0
    assert not stored(tmp_path).select(IDENTITY).is_duplicated().any()


def test_damaged_samples_are_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep(tmp_path)
    for path in (tmp_path / "samples").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    redefine(monkeypatch)
    summary, told = sweep(tmp_path)
    assert summary.run == RUNS
    assert "damaged" in told[0]
    assert list((tmp_path / "quarantine").iterdir())


def test_a_failure_of_metrics_is_tried_again_when_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(work, "outcome", lambda data: 1 / 0)
        assert sweep(tmp_path)[0].failed == RUNS
        assert sweep(tmp_path)[0].run == 0
    redefine(monkeypatch)
    summary, _ = sweep(tmp_path)
    assert (summary.run, summary.failed) == (RUNS, 0)


def test_samples_are_read_by_others(tmp_path: Path) -> None:
    sweep(tmp_path)
    frame = pl.read_parquet(tmp_path / "samples" / "*.parquet")
    assert frame.height == RUNS
    delivered = frame["flow_samples.delivered_bytes"].list.sum().to_list()
    assert min(delivered) > 0
    assert Samples(tmp_path, print).keys() == set(stored(tmp_path)["key"])


# Older directories


def test_a_directory_of_format_1_is_migrated(tmp_path: Path) -> None:
    sweep(tmp_path)
    before = table.summary(tmp_path)
    joint = pl.col("engine") + "+metrics." + pl.col("metrics")
    Batches(tmp_path).rewrite(lambda rows: rows.with_columns(engine=joint).drop("metrics"))
    content = manifest.read(tmp_path)
    joined = f"{content.pop('engine')}+metrics.{content.pop('metrics')}"
    content |= {"build": joined, "format": 1, "kind": "sweep"}
    (tmp_path / manifest.FILE).write_text(json.dumps(content))
    assert table.summary(tmp_path).equals(before)
    assert manifest.read(tmp_path)["format"] == manifest.FORMAT
    assert sweep(tmp_path)[0].stored_before == RUNS


def test_a_reproduction_renews_its_metrics_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Case.of(load(TWO_FLOWS).canonical)
    store = Finished(tmp_path, pytest.fail)
    [first] = Simulate.of([case])(case)
    store.add(first)
    store.flush()
    assert Finished(tmp_path, pytest.fail).of([case]) == {case: first.outcome}
    redefine(monkeypatch)
    told: list[str] = []
    [again] = Finished(tmp_path, told.append).of([case]).values()
    assert told == ["metrics have changed: computing those of 1 runs anew from their samples"]
    assert again["net"]["metrics"][METRIC] == 2 * first.outcome["net"]["metrics"][METRIC]
    assert again["flows"] == first.outcome["flows"]
