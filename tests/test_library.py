"""Congestion controls in shared libraries, from the scenario file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import sojourn as package
from conftest import ROOT, TWO_FLOWS, Command
from sojourn.campaign.keys import run_key
from sojourn.scenario import load

FLAGS = ("-O2", "-shared", "-fPIC", f"-I{ROOT}/python/sojourn/include")
#: Marks, random loss, and an outage with timeouts.
HARD = """
duration = "30 s"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "20 Mbit/s"
queue = { kind = "codel" }

[topology.bottleneck.loss_schedule]
kind = "steps"
steps = [
    { at = "0 s", value = "0.1 %" },
    { at = "10 s", value = "100 %" },
    { at = "12 s", value = "0.1 %" },
]

[[flows]]
cca = CONTROL
rtt = "40 ms"

[[flows]]
cca = CONTROL
rtt = "60 ms"
ecn = "classic"

[[flows]]
cca = "cubic"
rtt = "40 ms"
"""
CRASHING = """
#include "sojourn_cca.h"
static int state;
static void *create(const struct sojourn_init *i, const double *p) {
    (void)i; (void)p; return &state;
}
static void destroy(void *self) { (void)self; }
static void on_ack(void *self, uint64_t now, const struct sojourn_ack *ack) {
    (void)self; (void)ack;
    if (now > 200000000) *(volatile int *)0 = 1;
}
static void on_congestion(void *s, uint64_t n, const struct sojourn_event *e) {
    (void)s; (void)n; (void)e;
}
static void decide(const void *self, struct sojourn_decision *d) {
    (void)self; d->cwnd = WINDOW; d->ssthresh = 10;
}
static const struct sojourn_param params[] = {{"beta", "share kept", 0.7, 0.1, 0.9, 0}};
static const struct sojourn_control control = {
    .abi = SOJOURN_CCA_ABI, .size = sizeof control, .param_count = 1, .params = params,
    .create = create, .destroy = destroy, .on_ack = on_ack, .on_congestion = on_congestion,
    .decide = decide,
};
const struct sojourn_control *sojourn_cca(void) { return &control; }
"""


def build(source: Path, library: Path, *flags: str) -> Path:
    compiler = "c++" if source.suffix == ".cpp" else "cc"
    subprocess.run([compiler, *FLAGS, *flags, "-o", library, source], check=True)
    return library


@pytest.fixture
def crashing(tmp_path: Path) -> Path:
    """A scenario whose control crashes after 0.2 s."""
    (tmp_path / "bad.c").write_text(CRASHING)
    build(tmp_path / "bad.c", tmp_path / "libbad.so", "-DWINDOW=10")
    scenario = tmp_path / "bad.toml"
    table = '{ kind = "library", path = "libbad.so" }'
    scenario.write_text(TWO_FLOWS.replace('"reno"', table, 1))
    return scenario


def test_the_same_law_in_python_c_and_cpp_makes_the_same_run(tmp_path: Path) -> None:
    examples = ROOT / "examples"
    c = build(examples / "own-control-c" / "aimd.c", tmp_path / "c.so")
    cpp = build(examples / "own-control-cpp" / "aimd.cpp", tmp_path / "cpp.so")
    python = ROOT / "examples" / "own-control-python" / "aimd.py"
    tables = [f'{{ kind = "library", path = "{library}" }}' for library in (c, cpp)]
    tables.append(f'{{ kind = "python", path = "{python}", class = "Aimd" }}')
    first, *others = [package.run(HARD.replace("CONTROL", t)).data.tables for t in tables]
    assert first["flow_samples"]["rtos"].sum() > 0
    assert first["flow_samples"]["recoveries"].sum() > 10
    for other in others:
        for table, columns in first.items():
            for name, column in columns.items():
                np.testing.assert_array_equal(column, other[table][name], f"{table}.{name}")


def test_one_that_refuses_to_begin_says_so(crashing: Path, called: Command) -> None:
    text = CRASHING.replace("return &state;", "return 0;")
    (crashing.parent / "bad.c").write_text(text)
    build(crashing.parent / "bad.c", crashing.parent / "libbad.so", "-DWINDOW=10")
    run = called("run", crashing, "--no-figures")
    told = "flows.0.cca: the library's create() returned null"
    assert (run.returncode, told in run.stderr) == (1, True), run.stderr
    assert called("sweep", crashing, "--out", "out").returncode == 1
    failed = package.open(crashing.parent / "out").runs
    assert (failed["scope"].item(), failed["failed_at"].item()) == ("run", 0.0)
    assert told in failed["error"].item()


@pytest.mark.concurrent
def test_a_crash_is_one_runs_own(crashing: Path, called: Command) -> None:
    run = called("run", crashing, "--no-figures")
    assert run.returncode == 1
    assert "control of flow 0: on_ack has ended its process (SIGSEGV)" in run.stderr
    with crashing.open("a") as file:
        file.write(
            '\n[sweep.grid]\n"flows.0.cca.beta" = [0.5]\n"flows.1.rtt" = ["10 ms", "20 ms"]\n'
        )
    sweep = called("sweep", crashing, "--out", "out")
    assert "2 runs: 2 run now, 0 stored before, 2 failed" in sweep.stderr


def test_its_parameters_and_decisions_are_checked(crashing: Path, called: Command) -> None:
    wrong = called("run", crashing, "--set", "flows.0.cca.beta=2.0")
    assert wrong.returncode == 2
    assert "flows.0.cca.beta: 2 given; allowed: a number from 0.1 to 0.9" in wrong.stderr
    assert load(crashing).canonical["flows"][0]["cca"]["beta"] == 0.7
    build(crashing.with_name("bad.c"), crashing.with_name("libbad.so"), "-DWINDOW=0")
    run = called("run", crashing, "--no-figures")
    assert run.returncode != 0
    assert "decide: cwnd is 0; allowed: 1 to 50000000 segments" in run.stderr


def test_a_library_built_anew_is_another_run(crashing: Path) -> None:
    before = run_key(load(crashing).canonical)
    assert run_key(load(crashing).canonical) == before
    build(crashing.with_name("bad.c"), crashing.with_name("libbad.so"), "-DWINDOW=20")
    assert run_key(load(crashing).canonical) != before


def test_it_says_what_feedback_it_needs(crashing: Path) -> None:
    source = crashing.with_name("bad.c")
    source.write_text(CRASHING.replace("    .create", "    .ecn = SOJOURN_ECN_L4S, .create"))
    build(source, crashing.with_name("libbad.so"), "-DWINDOW=10")
    assert load(crashing).canonical["flows"][0]["ecn"] == "l4s"
