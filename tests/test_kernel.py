"""Runs on a kernel in virtual time, which CI does not build."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sojourn
from conftest import Command
from sojourn.backends import live
from sojourn.backends.kernel import On
from sojourn.errors import RunError, ScenarioError
from sojourn.kernel import cache
from sojourn.kernel.build import recipe
from sojourn.scenario import validated

SCENARIO = """
name = "kernel"
duration = "1 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "4 Mbit/s"
queue = { kind = "fifo", limit = "1 bdp" }
[[flows]]
cca = "cubic"
rtt = "20 ms"
"""

FIXED = """
from sojourn.cca import Decision
class Fixed:
    def __init__(self, params, init): ...
    def on_ack(self, now, ack): ...
    def on_congestion(self, now, event): ...
    def decision(self): return Decision(20, 20)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


@pytest.fixture
def kernel() -> On:
    return On()


def digest(result: sojourn.Result) -> str:
    samples = result.series.flows.write_csv()
    links = result.series.links.write_csv()
    return hashlib.sha256(f"{samples}{links}".encode()).hexdigest()


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_ten_runs_are_the_same(kernel: On, file: Path) -> None:
    scenario = sojourn.load(file)
    assert len({digest(kernel.run(scenario)) for _ in range(10)}) == 1


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_what_a_kernel_draws_is_the_same_in_each_process(
    kernel: On, file: Path, tmp_path: Path
) -> None:
    """BBR draws its phases, PIE its drops."""
    changes = ['flows.0.cca="bbr"', 'topology.bottleneck.queue={ kind = "kernel", name = "pie" }']
    digests = set()
    for place in (tmp_path / "a", tmp_path / "b/c"):
        line = [sys.executable, "-m", "sojourn", "run", str(file), "--backend", "kernel"]
        line += ["--out", str(place), *(word for change in changes for word in ("--set", change))]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        digests.add(hashlib.sha256((place / "flow_samples.parquet").read_bytes()).hexdigest())
    assert len(digests) == 1


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_simulator_and_kernel_are_compared(
    kernel: On, file: Path, sojourn: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = sojourn("run", file, "--backend", "sim,kernel", "--out", out)
    assert done.returncode == 0, done.stderr
    with (out / "backends.csv").open(encoding="utf-8") as table:
        rows = {row["metric"]: row for row in csv.DictReader(table) if row["scope"] == "flow"}
    goodput = rows["mean_throughput_l4"]
    assert float(goodput["kernel"]) == pytest.approx(float(goodput["sim"]), rel=0.1)
    assert float(goodput["kernel"]) < 4
    assert rows["mean_srtt_l4"]["kernel"]


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_a_sweep_on_a_kernel_is_stored_and_resumed(
    kernel: On, file: Path, sojourn: Command, tmp_path: Path
) -> None:
    grid = '[sweep]\nreplications = 2\n[sweep.grid]\n"flows.0.cca" = ["reno", "nv"]\n'
    file.write_text(SCENARIO + grid, encoding="utf-8")
    arguments = ("sweep", file, "--backend", "kernel", "--jobs", 2)
    first = sojourn(*arguments)
    assert first.returncode == 0, first.stderr
    assert "4 run now, 0 stored before, 0 failed" in first.stderr
    again = sojourn(*arguments)
    assert "0 run now, 4 stored before, 0 failed" in again.stderr
    assert again.stdout == first.stdout
    content = json.loads((tmp_path / "results" / "kernel-kernel" / "manifest.json").read_text())
    assert (content["backend"], content["origin"]) == (kernel.name, kernel.key())
    lacking = sojourn(*arguments, "--set", 'sweep.grid={ "flows.0.cca" = ["reno", "copa"] }')
    assert lacking.returncode == 2
    assert "'copa' given; a kernel in virtual time has" in lacking.stderr


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel", "tc")
def test_a_queue_of_the_kernel_is_like_ours(kernel: On, file: Path) -> None:
    scenario = sojourn.load(file).document
    bottleneck = scenario["topology"]["bottleneck"] | {"overhead": "0 B"}
    done = {}
    for name in ("codel", "cake"):
        for queue in (name, {"kind": "kernel", "name": name}):
            topology = scenario["topology"] | {"bottleneck": bottleneck | {"queue": queue}}
            result = kernel.run(validated({**scenario, "topology": topology, "duration": "2 s"}))
            done[name, isinstance(queue, dict)] = result.flows.to_dicts()[0]
        ours, theirs = done[name, False], done[name, True]
        for metric in ("mean_throughput_l4", "mean_srtt_l4"):
            assert theirs[metric] == pytest.approx(ours[metric], rel=0.05), (name, metric)


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_a_control_that_only_the_kernel_has(kernel: On, file: Path) -> None:
    scenario = sojourn.load(file).document
    flows = [{**scenario["flows"][0], "cca": "nv"}]
    result = kernel.run(validated({**scenario, "flows": flows}))
    assert result.flows.to_dicts()[0]["mean_throughput_l4"] > 1


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel", "tc")
def test_initial_windows_and_pacing_are_as_in_the_simulator(kernel: On) -> None:
    """Twenty segments: two flights, or one that is sent at once or at a rate."""
    ways: list[dict[str, object]] = [{}, {"initial_window": 20}]
    ways += [ways[1] | {"pacing": pacing} for pacing in ("off", "on", "2 Mbit/s")]
    flow = {"cca": "reno", "rtt": "100 ms", "traffic": {"kind": "sized", "size": "28960 B"}}
    scenario = {
        "duration": "1 s",
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "1 Gbit/s"}},
        "flows": [flow | way for way in ways],
    }
    [theirs, ours] = [
        run.flows["flow_completion_time_l4"].to_list()
        for run in (kernel.run(validated(scenario)), sojourn.run(scenario))
    ]
    assert theirs[:3] == pytest.approx(ours[:3], rel=0.03), (theirs, ours)
    # The kernel paces a burst earlier.
    assert theirs[3:] == pytest.approx(ours[3:], rel=0.08), (theirs, ours)
    assert theirs[0] - theirs[1] == pytest.approx(0.1, rel=0.1)
    assert theirs[1] == pytest.approx(theirs[2], rel=0.03)
    assert theirs[1] + 0.01 < theirs[3] < theirs[4] < theirs[0]


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_users_read_and_think_as_in_the_simulator(kernel: On) -> None:
    """Which depends on when transfers end."""
    fixed = {"kind": "fixed", "mean": "100 ms"}
    entry = {
        **{"label": "users", "process": "closed", "users": 3, "think": fixed, "stop": "1.5 s"},
        **{"session": {"transfers": 2, "reading": "50 ms"}, "size": "20 kB"},
        **{"mix": [{"cca": "cubic", "rtt": "20 ms"}, {"cca": "reno", "rtt": "30 ms"}]},
    }
    link = {"kind": "dumbbell", "bottleneck": {"rate": "100 Mbit/s"}}
    scenario = validated({"duration": "2 s", "topology": link, "arrivals": [entry]})
    theirs, ours = kernel.run(scenario), sojourn.run(scenario)
    same = ("size", "variant", "group", "cca", "outcome", "retransmissions", "timeouts")
    rows = [run.transfers.sort("group", "arrival") for run in (theirs, ours)]
    assert len(rows[0]) > 20
    assert rows[0].select(same).equals(rows[1].select(same))
    for name in ("arrival", "completed", "min_rtt"):
        assert rows[0][name].to_list() == pytest.approx(rows[1][name].to_list(), abs=5e-3), name
    assert theirs.to_json()["transfers"][0]["metrics"]["count"] == len(rows[0])


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_a_control_that_no_kernel_has_is_refused(kernel: On, file: Path) -> None:
    changed = file.read_text(encoding="utf-8").replace('"cubic"', '"copa"')
    file.write_text(changed, encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"flows\.0\.cca: 'copa' given.*bbr, bic, cdg"):
        kernel.run(sojourn.load(file))


def test_a_control_from_outside_is_refused(file: Path) -> None:
    """Before anything is asked of the machine, which need not allow live runs."""
    (file.parent / "fixed.py").write_text(FIXED, encoding="utf-8")
    outside = '{ kind = "python", path = "fixed.py", class = "Fixed" }'
    changed = file.read_text(encoding="utf-8").replace('"cubic"', outside)
    file.write_text(changed, encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"flows\.0\.cca: .*'python' given.*--backend sim"):
        live.run(sojourn.load(file))


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_nothing_is_left_of_a_killed_run(kernel: On, file: Path, tmp_path: Path) -> None:
    line = [sys.executable, "-m", "sojourn", "run", str(file), "--backend", "kernel"]
    line += ["--set", 'duration="1000 s"']
    mine = shutil.copytree(kernel.program.parent, tmp_path / "sojourn/kernels/mine")
    program = str(mine / kernel.program.name)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    process = subprocess.Popen(line, cwd=tmp_path, env=environment)
    try:
        until = time.monotonic() + 60
        while not _running(program) and time.monotonic() < until:
            time.sleep(0.1)
        assert _running(program)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    until = time.monotonic() + 20
    while _running(program) and time.monotonic() < until:
        time.sleep(0.1)
    assert _running(program) == []


def _running(program: str) -> list[str]:
    """Numbers of the processes that run a program."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if str((place / "exe").readlink()) == program:
                found.append(place.name)
        except OSError:  # it has ended, or is none of ours
            continue
    return found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('topology.bottleneck.queue={ kind = "kernel" }', "need --backend kernel"),
        (
            'topology.bottleneck.queue={ kind = "kernel", name = "netem" }',
            "queue.name: netem given",
        ),
        ('flows.0.cca="nv"', "flows.0.cca: only a kernel has this control"),
    ],
)
def test_the_simulator_says_what_only_a_kernel_has(
    file: Path, sojourn: Command, change: str, message: str
) -> None:
    done = sojourn("run", file, "--set", change)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.concurrent
@pytest.mark.needs("linux")
def test_the_last_words_of_a_kernel_are_told(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "sojourn/kernels/9.9.9-hz250"
    place.mkdir(parents=True)
    facts = {"version": "9.9.9", "hz": 250, "recipe": "of old"}
    (place / cache.FACTS).write_text(json.dumps(facts))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ScenarioError, match=r"kernel 9\.9\.9-hz250 was built by another version"):
        On("9.9")
    (place / cache.FACTS).write_text(json.dumps(facts | {"recipe": recipe(250)}))
    program = place / cache.PROGRAM
    program.write_text("#!/bin/sh\necho Kernel panic - not syncing: it is broken\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(RunError, match="Kernel panic - not syncing: it is broken"):
        On("9.9").run(sojourn.load(file))
