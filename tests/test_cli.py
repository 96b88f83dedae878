"""The command line: as a user types it, and what it does (``called``)."""

from __future__ import annotations

import csv
import io
import json
import resource
from pathlib import Path

import pytest

from conftest import TWO_FLOWS, Command


def test_run_prints_the_documented_object(sojourn: Command, scenario_file: Path) -> None:
    done = sojourn("run", scenario_file, "--format", "json", "--no-figures")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert list(printed) == ["scenario", "flows", "links", "net", "groups"]
    assert [(flow["id"], flow["cca"]) for flow in printed["flows"]] == [(0, "reno"), (1, "cubic")]
    assert printed["links"][0]["id"] == "bottleneck"
    assert 6 < printed["net"]["metrics"]["mean_agg_throughput_l4"] < 8
    assert printed["flows"][0]["metrics"]["convergence_time_l4"] is None
    assert printed["scenario"]["topology"]["bottleneck"]["rate"] == "8 Mbit/s"
    assert "simulated seconds per second" in done.stderr
    assert "packets per second" in done.stderr


def test_same_seed_gives_the_same_output(sojourn: Command, scenario_file: Path) -> None:
    arguments = ("run", scenario_file, "--format", "json", "--no-figures", "--seed", 3)
    assert sojourn(*arguments).stdout == sojourn(*arguments).stdout


def test_run_writes_results_and_figures(
    called: Command, scenario_file: Path, tmp_path: Path
) -> None:
    assert called("run", scenario_file).returncode == 0
    results = tmp_path / "results" / "two-flows"
    assert (results / "manifest.json").exists()
    assert (results / "flow_samples.parquet").exists()
    for name in ("operating_point", "ecdf", "throughput_delay"):
        assert (results / "figures" / f"{name}.png").stat().st_size > 10_000
        assert (results / "figures" / f"{name}.svg").exists()


def test_csv_has_one_value_per_line(called: Command, scenario_file: Path) -> None:
    done = called("run", scenario_file, "--format", "csv", "--no-figures")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["scope"] for row in rows} == {"flow", "link", "net", "group"}
    [value] = [r["value"] for r in rows if r["metric"] == "mean_throughput_l4" and r["id"] == "1"]
    assert float(value) > 1


def test_harm_is_computed_when_named(called: Command, scenario_file: Path) -> None:
    arguments = ("run", scenario_file, "--format", "json", "--no-figures", "--metrics")
    printed = json.loads(called(*arguments, "harm_throughput_l4,mean_srtt_l4").stdout)
    metrics = printed["flows"][0]["metrics"]
    assert list(metrics) == ["mean_srtt_l4", "harm_throughput_l4"]
    # Alone, a flow has the link to itself; together they share it.
    assert 0.1 < metrics["harm_throughput_l4"] < 0.9


def edited(old: str, new: str) -> str:
    assert old in TWO_FLOWS
    return TWO_FLOWS.replace(old, new, 1)


BAD_FILES = {
    "wrong unit": (edited('"8 Mbit/s"', '"8 Mbit"'), ["topology.bottleneck.rate", "Mbit/s"]),
    "no unit": (edited('"8 Mbit/s"', "8"), ["topology.bottleneck.rate", "rate"]),
    "negative rate": (edited('"8 Mbit/s"', '"-8 Mbit/s"'), ["topology.bottleneck.rate"]),
    "zero rate": (edited('"8 Mbit/s"', '"0 Mbit/s"'), ["topology.bottleneck.rate"]),
    "unknown control": (edited('"cubic"', '"cubik"'), ["flows.1.cca", "cubik", "'cubic'"]),
    "no flows": (TWO_FLOWS.split("[[flows]]")[0], ["flows"]),
    "empty flows": (f"flows = []\n{TWO_FLOWS.split('[[flows]]')[0]}", ["flows"]),
    "start after stop": (
        edited('cca = "reno"', 'cca = "reno"\nstart = "2 s"\nstop = "1 s"'),
        ["flows.0"],
    ),
    "duration zero": (edited('"3 s"', '"0 s"'), ["duration"]),
    "number for a time": (edited('rtt = "20 ms"', "rtt = 20"), ["flows.0.rtt", "ms"]),
    "unknown key": (edited("duration", "durasion"), ["durasion"]),
    "malformed": ("name = [", ["TOML", "line 1"]),
    "a million flows": (edited('cca = "reno"', 'cca = "reno"\ncount = 1000000'), ["flows"]),
    "no initial window": (
        edited('cca = "reno"', 'cca = "reno"\ninitial_window = 0'),
        ["flows.0.initial_window", "0 given", "1 to 10000 segments"],
    ),
    "vague pacing": (
        edited('cca = "reno"', 'cca = "reno"\npacing = "fast"'),
        ["flows.0.pacing", "'fast'", '"32 Mbit/s", "on" or "off"'],
    ),
    "pacing off under fq": (
        edited('cca = "reno"', 'cca = "reno"\nhost_queue = "fq"\npacing = "off"'),
        ["flows.0.pacing", "off given", "on or a rate"],
    ),
    "absurd queue": (edited('"20 packets"', '"1000000 GB"'), ["topology.bottleneck.queue"]),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_explained(called: Command, tmp_path: Path, case: str) -> None:
    text, told = BAD_FILES[case]
    path = tmp_path / "bad.toml"
    path.write_text(text)
    explained(called("run", path), told)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "missing.toml"], ["missing.toml", "cannot be read"]),
        (["run", "."], ["cannot be read"]),
        (["run", "{file}", "--set", "flows.7.cca=reno"], ["flows.7", "0 to 1"]),
        (["run", "{file}", "--set", "flow.0.cca=reno"], ["flow: ", "did you mean 'flows'"]),
        (["run", "{file}", "--set", "flows.0.ccaa=reno"], ["flows.0", "did you mean 'cca'"]),
        (["run", "{file}", "--set", "flows"], ["path=value"]),
        (["run", "{file}", "--seed", "-1"], ["seed"]),
        (["run", "{file}", "--seed", "x"], ["--seed"]),
        (["run", "{file}", "--metrics", "harm"], ["unknown metric 'harm'"]),
        (["run", "{file}", "--format", "xml"], ["xml"]),
        (["run", "{file}", "--metric", "mean_througput_l4"], ["did you mean 'mean_throughput_l4'"]),
        (["reproduce", "ccpref"], ["did you mean 'ccperf'"]),
        (["reproduce", "ccperf", "--table", "5"], ["unknown table '5'", "82"]),
        (["reproduce", "ccperf", "--where", "x=1"], ["'x'", "metric"]),
        (["reproduce", "ccperf", "--where", "metric"], ["key=value"]),
        (["reproduce", "ccperf", "--set", "k=none"], ["k"]),
        (["reproduce", "ccperf", "--set", "cca=cubik"], ["cubik", "cubic"]),
        (["report", "nowhere"], ["nowhere", "manifest.json; give one that sojourn run or sweep"]),
        (["list", "things"], ["things", "topologies"]),
        (["list", "topology"], ["did you mean 'topologies'"]),
        (["sweep", "{file}", "--columns", "duration"], ["duration", "grid"]),
        (["sweep", "{file}", "--metrics", "utilization"], ["did you mean 'utilization_l1'"]),
        (["reproduce", "ccperf", "--where", "metrics=x"], ["did you mean 'metric'"]),
        (["fly"], ["fly", "reproduce"]),
        (["rum"], ["did you mean 'run'"]),
    ],
)
def test_bad_arguments_are_explained(
    called: Command, scenario_file: Path, arguments: list[str], told: list[str]
) -> None:
    filled = [argument.format(file=scenario_file) for argument in arguments]
    explained(called(*filled), told)


def test_binary_files_are_explained(sojourn: Command, tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(bytes(range(256)))
    explained(sojourn("run", path), ["binary.toml"])


def explained(done: object, told: list[str]) -> None:
    assert done.returncode == 2, (done.returncode, done.stderr)  # type: ignore[attr-defined]
    assert done.stdout == ""  # type: ignore[attr-defined]
    message: str = done.stderr  # type: ignore[attr-defined]
    assert "Traceback" not in message
    for part in told:
        assert part in message, message


@pytest.mark.parametrize("out", ["occupied", "occupied/below", "/proc/x"])
@pytest.mark.parametrize(
    "arguments", [("run", "{file}"), ("sweep", "{file}"), ("reproduce", "ccperf")]
)
def test_a_directory_that_cannot_be_written_is_found_before_the_run(
    called: Command, scenario_file: Path, tmp_path: Path, arguments: tuple[str, ...], out: str
) -> None:
    (tmp_path / "occupied").write_text("a file")
    filled = [argument.format(file=scenario_file) for argument in arguments]
    explained(called(*filled, "--out", out), [f"--out {out}: cannot be written"])


def test_list_prints_every_kind(called: Command) -> None:
    listed = json.loads(called("list", "--format", "json").stdout)
    names = {kind: {entry["name"] for entry in entries} for kind, entries in listed.items()}
    assert {"reno", "cubic"} <= names["ccas"]
    assert "fifo" in names["queues"]
    assert "greedy" in names["traffic"]
    assert "dumbbell" in names["topologies"]
    assert "mean_jains_fairness_throughput_l4" in names["metrics"]
    assert "experiments/ccperf/cubic-friendliness.toml" in names["experiments"]
    assert "ccperf" in names["papers"]
    assert "mean_jains_fairness_throughput_l4" in called("list", "metrics").stdout


def test_a_closed_pipe_is_no_crash(scenario_file: Path) -> None:
    import subprocess
    import sys

    shell = f"{sys.executable} -m sojourn list --format json | head -c 1"
    done = subprocess.run(shell, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_it_starts_fast(sojourn: Command) -> None:
    """A second of the processor is far more than it takes without importing what is slow."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert sojourn("--help").returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0
