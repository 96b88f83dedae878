"""Sweeps on other backends than the simulator, as a user types them: what is stored or refused."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from conftest import Command
from fake_commands import RUNS, SWEEP, line, made
from sojourn.backends import live, sim
from sojourn.backends.kernel import On
from sojourn.campaign.keys import run_key
from sojourn.errors import RunError, ScenarioError
from sojourn.kernel import cache
from sojourn.kernel.build import recipe
from sojourn.scenario import Document, load
from sojourn.store.batches import Batches
from sojourn.sweeps.expand import plan
from test_kernel import FIXED


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(SWEEP)
    return path


# What is stored


def test_a_sweep_on_another_backend_is_stored_and_not_run_again(
    file: Path, faked: Command, notes: Path
) -> None:
    first = faked("sweep", file, "--backend", "fake")
    assert first.returncode == 0, first.stderr
    assert f"{RUNS} run now, 0 stored before" in first.stderr
    assert "results/two-flows-fake" in first.stderr
    assert made(notes) == RUNS
    again = faked("sweep", file, "--backend", "fake")
    assert f"0 run now, {RUNS} stored before" in again.stderr
    assert again.stdout == first.stdout
    assert made(notes) == RUNS
    stored = sojourn.open(file.parent / "results" / "two-flows-fake")
    assert set(stored.runs["backend"]) == {"fake"}
    content = json.loads((stored.directory / "manifest.json").read_text())
    assert content["origin"] == {"backend": "fake", "build": "1"}


@pytest.mark.concurrent
def test_a_killed_sweep_goes_on_where_it_was(
    file: Path, notes: Path, faked: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SECONDS", "1.5")
    arguments = ("sweep", file, "--backend", "fake", "--jobs", 1)
    process = subprocess.Popen(line(*arguments), cwd=file.parent, stderr=subprocess.PIPE)
    directory = file.parent / "results" / "two-flows-fake"
    until = time.monotonic() + 60
    while not list(directory.glob("runs/*.parquet")) and time.monotonic() < until:
        time.sleep(0.05)
    process.kill()
    process.communicate()
    monkeypatch.setenv("FAKE_SECONDS", "0")
    stored = sojourn.open(directory).runs["key"].n_unique()
    assert 0 < stored < RUNS
    before = made(notes)
    done = faked(*arguments)
    assert f"{RUNS - stored} run now, {stored} stored before" in done.stderr
    assert made(notes) - before == RUNS - stored


@pytest.mark.concurrent
def test_an_interrupted_sweep_ends_what_is_under_way(
    file: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SECONDS", "600")
    process = subprocess.Popen(
        line("sweep", file, "--backend", "fake"), cwd=file.parent, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while not notes.exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"0 of {RUNS} runs are stored" in told
    assert made(notes) == 0


def test_what_the_machine_lacks_is_no_failure_of_a_run(
    file: Path, faked: Command, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_MOST", "1")
    arguments = ("sweep", file, "--backend", "fake", "--jobs", 1)
    ended = faked(*arguments)
    assert ended.returncode == 2
    assert ended.stderr.endswith("sojourn: backend: the fake needs what is missing\n")
    monkeypatch.delenv("FAKE_MOST")
    assert f"{RUNS - 1} run now, 1 stored before" in faked(*arguments).stderr
    assert made(notes) == RUNS


def test_flows_alone_in_a_live_run_that_is_invalid_give_no_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(canonical: Document, _progress: object) -> tuple[Any, ...]:
        return *sim.measure(canonical), {"valid": False, "reasons": ["the processor was busy"]}

    monkeypatch.setattr(live, "_run", run)
    with pytest.raises(RunError, match="invalid: the processor was busy"):
        live.alone(load(SWEEP).canonical)((0,))


def test_backends_do_not_share_a_directory(
    file: Path, faked: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = ("--out", "out")
    assert faked("sweep", file, *out).returncode == 0
    refused = faked("sweep", file, *out, "--backend", "fake")
    assert refused.returncode == 2
    message = "--out out: holds another sweep: of the simulator, not of fake (build 1)"
    assert message in refused.stderr
    replaced = faked("sweep", file, *out, "--backend", "fake", "--force")
    assert f"{RUNS} run now" in replaced.stderr
    assert set(sojourn.open(file.parent / "out").runs["backend"]) == {"fake"}
    monkeypatch.setenv("FAKE_BUILD", "2")
    other = faked("sweep", file, *out, "--backend", "fake")
    assert "of fake (build 1), not of fake (build 2)" in other.stderr
    assert "of fake (build 1), not of the simulator" in faked("sweep", file, *out).stderr


def test_the_simulators_runs_keep_their_keys(fake: None) -> None:
    planned = plan(load(SWEEP))
    assert (planned.backend, planned.origin) == ("sim", None)
    canonical = next(iter(planned)).canonical
    other = plan(load(SWEEP), "fake")
    assert run_key(canonical, planned.origin) == run_key(canonical)
    assert run_key(canonical, other.origin) != run_key(canonical)


def test_what_was_stored_before_backends_were_named_stays_valid(
    file: Path, called: Command
) -> None:
    assert called("sweep", file, "--out", "out").returncode == 0
    Batches(file.parent / "out").rewrite(lambda rows: rows.drop("backend"))
    # Two spellings of the same rates: each is a point, and the same run.
    file.write_text(SWEEP.replace('"4 Mbit/s"]', '"4 Mbit/s", "4000 kbit/s"]'))
    again = called("sweep", file, "--out", "out")
    assert again.returncode == 0, again.stderr
    assert f"0 run now, {RUNS + 2} stored before" in again.stderr
    file.write_text(file.read_text().replace("[sweep]", '[sweep]\nmetrics = ["harm_delay_l4"]'))
    renewed = called("sweep", file, "--out", "out")
    assert "anew from their samples" in renewed.stderr
    assert f"0 run now, {RUNS + 2} stored before" in renewed.stderr


@pytest.mark.long
def test_stored_sweeps_of_two_backends_are_compared_and_shown(file: Path, faked: Command) -> None:
    for name in ("sim", "fake"):
        assert faked("sweep", file, "--backend", name, "--out", name).returncode == 0
    compared = faked("compare", "sim", "fake", "--format", "csv", "--out", "compared")
    assert compared.returncode == 0, compared.stderr
    verdicts = pl.read_csv(compared.stdout.encode())["verdict"]
    assert not {"better", "worse", "different"} & set(verdicts)
    assert faked("report", "fake").returncode == 0
    assert (file.parent / "fake" / "report.html").exists()
    drawn = ("--x", "topology.bottleneck.rate", "--y", "utilization_l1", "--out", "a.svg")
    assert faked("plot", "fake", *drawn).returncode == 0


def test_parts_of_a_sweep_are_merged_unless_of_different_backends(
    file: Path, faked: Command
) -> None:
    for part, name in (("1/2", "fake"), ("2/2", "fake"), ("2/2", "sim")):
        out = f"{name}-{part[0]}"
        done = faked("sweep", file, "--backend", name, "--shard", part, "--out", out)
        assert done.returncode == 0, done.stderr
    merged = faked("merge", "fake-1", "fake-2", "--out", "whole")
    assert merged.returncode == 0, merged.stderr
    resumed = faked("sweep", file, "--backend", "fake", "--out", "whole")
    assert f"0 run now, {RUNS} stored before" in resumed.stderr
    mixed = faked("merge", "fake-1", "sim-2", "--out", "mixed")
    assert mixed.returncode == 2
    assert "run on another backend; keep them apart" in mixed.stderr


# What is refused


@pytest.mark.parametrize("name", ["simulator", "sim:6.12", "kernel:"])
@pytest.mark.parametrize("arguments", [("sweep", "grid.toml"), ("evaluate", "reno", "--quick")])
def test_a_wrong_name_is_refused_with_the_list(
    file: Path, called: Command, name: str, arguments: tuple[str, ...]
) -> None:
    done = called(*arguments, "--backend", name)
    assert done.returncode == 2
    has = "sim, live, kernel, overlay, kernel:VERSION"
    assert f"--backend: '{name}' given; allowed: {has}" in done.stderr


def test_several_backends_are_for_single_runs(file: Path, called: Command) -> None:
    done = called("sweep", file, "--backend", "both")
    assert done.returncode == 2
    assert "--backend: both given; allowed is one here" in done.stderr


@pytest.mark.parametrize("arguments", [("sweep", "grid.toml"), ("evaluate", "reno", "--quick")])
def test_without_a_kernel_it_is_said_how_to_build_one(
    file: Path, called: Command, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(file.parent / "nothing"))
    done = called(*arguments, "--backend", "kernel")
    assert done.returncode == 2
    assert "no kernel is built; to build one: sojourn kernel build" in done.stderr
    assert not (file.parent / "results").exists()


def test_what_a_backend_lacks_is_refused_before_the_first_run(
    file: Path, faked: Command, notes: Path
) -> None:
    unknown = faked("sweep", file, "--backend", "fake", "--set", "flows.0.cca=copa")
    assert unknown.returncode == 2
    assert "flows.0.cca: 'copa' given; the fake has: reno, cubic, bbr" in unknown.stderr
    file.write_text(SWEEP + '"flows.*.cca" = ["reno", "copa"]\n')
    among = faked("sweep", file, "--backend", "fake")
    assert among.returncode == 2
    assert "sweep.grid.\"flows.*.cca\"[1] = 'copa': 'copa' given" in among.stderr
    evaluated = faked("evaluate", "copa", "--backend", "fake", "--quick")
    assert evaluated.returncode == 2
    assert "CCA copa: experiment single-flow" in evaluated.stderr
    assert made(notes) == 0


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that panics as it starts."""
    place = tmp_path / "sojourn/kernels/9.9.9-hz250"
    place.mkdir(parents=True)
    facts = {"version": "9.9.9", "hz": 250, "recipe": recipe(250)}
    (place / cache.FACTS).write_text(json.dumps(facts))
    program = place / cache.PROGRAM
    program.write_text("#!/bin/sh\necho Kernel panic - not syncing: it is broken\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.concurrent
@pytest.mark.needs("linux")
def test_a_kernel_is_asked_for_all_that_it_may_refuse(kernels: None) -> None:
    on = On("9.9")

    def check(**changes: object) -> None:
        overrides = [f"{path.replace('__', '.')}={value}" for path, value in changes.items()]
        on.check(load(SWEEP, overrides).canonical)

    check()
    queue = '{ kind = "kernel", name = "codel" }'
    check(topology__bottleneck__queue=queue)
    schedule = '{ kind = "square", high = "4 Mbit/s", low = "2 Mbit/s", period = "1 s" }'
    with pytest.raises(ScenarioError, match="its rate varies"):
        check(topology__bottleneck__queue=queue, topology__bottleneck__rate_schedule=schedule)
    with pytest.raises(ScenarioError, match="flows given; a live run allows up to"):
        check(flows__0__count=60_000)
    with pytest.raises(ScenarioError, match=r"cca\.beta: a live run has the kernel's own"):
        check(flows__0__cca__beta=0.6)


@pytest.mark.concurrent
@pytest.mark.needs("linux")
def test_a_kernel_lacks_a_control_and_its_failures_are_stored(
    file: Path, kernels: None, called: Command
) -> None:
    on = ("sweep", file, "--backend", "kernel:9.9")
    lacking = called(*on, "--set", "flows.0.cca=copa")
    assert lacking.returncode == 2
    assert "'copa' given; a kernel in virtual time has: bbr, bic" in lacking.stderr
    external = 'flows.0.cca={ kind = "python", path = "fixed.py", class = "Fixed" }'
    (file.parent / "fixed.py").write_text(FIXED)
    assert "--backend sim" in called(*on, "--set", external).stderr
    failing = called(*on)
    assert failing.returncode == 1
    assert f"{RUNS} runs failed" in failing.stderr
    assert "Kernel panic - not syncing: it is broken" in failing.stderr
    content = json.loads((file.parent / "results/two-flows-kernel/manifest.json").read_text())
    assert content["backend"] == "kernel:9.9.9-hz250"
    assert content["origin"]["build"] == cache.kernels()[0].digest
