"""The wheel, installed into an empty environment elsewhere and used there as a user does.

With the versions of `requirements.lock`, and with the lowest that `pyproject.toml` allows.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import docs_commands as docs
from conftest import ROOT, Command

pytestmark = pytest.mark.wheel
LOCK = ROOT / "requirements.lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: The lowest versions are for the lowest Python.
LOWEST = pytest.param("lowest", marks=pytest.mark.needs("oldest-python"))
#: The tutorial's scenario and its sweep, from which a newcomer starts.
TOUR = [
    block.text
    for block in docs.page("docs/tutorial/first-run.md").blocks
    if block.language == "toml"
]


@pytest.fixture(scope="module")
def wheel() -> Path:
    """What `make dist` wrote."""
    [path] = (ROOT / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module", params=["locked", LOWEST])
def home(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory):
    """A directory with the wheel in an environment below it, and the tutorial's scenarios."""
    lowest = request.param == "lowest"
    home = tmp_path_factory.mktemp(request.param)
    constraints = home / "constraints.txt"
    constraints.write_text(_lowest() if lowest else LOCK.read_text())
    venv.create(home / "env", with_pip=True)
    # Not by pip, which downloads again what the checkout has, and takes 20 s of a core.
    install = [Path(sys.executable).with_name("uv"), "pip", "install", "--quiet"]
    install += ["--python", home / "env/bin/python", "--constraint", constraints]
    subprocess.run([*install, f"{wheel}[cluster]"], check=True, env=_environment())
    subprocess.run([home / "env/bin/pip", "check"], check=True, env=_environment())
    scenario, sweep, *_ = TOUR
    (home / "buffer.toml").write_text(scenario)
    (home / "sweep.toml").write_text(scenario.replace('"buffer"', '"grid"') + sweep)
    return home


@pytest.fixture
def installed(home: Path) -> Command:
    """The installed command."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [home / "env/bin/sojourn", *map(str, arguments)]
        env = _environment()
        done = subprocess.run(
            command, cwd=home, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done

    return run


def _lowest() -> str:
    extra = PROJECT["optional-dependencies"]["cluster"]
    named = [Requirement(text) for text in (*PROJECT["dependencies"], *extra)]
    bounds = [(r.name, s.version) for r in named for s in r.specifier if s.operator == ">="]
    assert len(bounds) == len(named)
    return "".join(f"{name}=={version}\n" for name, version in bounds)


def _environment() -> dict[str, str]:
    """Nothing of the checkout's."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}


def test_it_says_which_it_is(installed: Command, wheel: Path) -> None:
    version = wheel.name.split("-")[1]
    assert re.fullmatch(
        rf"sojourn {version} \(build [0-9a-f]{{16}}\)\n", installed("--version").stdout
    )


def test_run_and_report(installed: Command, home: Path) -> None:
    printed = json.loads(installed("run", "buffer.toml", "--format", "json").stdout)
    assert 17 < printed["net"]["metrics"]["mean_agg_throughput_l4"] < 20
    figures = home / "results/buffer/figures"
    assert {path.suffix for path in figures.iterdir()} == {".png", ".svg"}
    installed("report", "results/buffer")
    assert (home / "results/buffer/report.html").stat().st_size > 1_000_000


def test_sweep_and_report(installed: Command, home: Path) -> None:
    fewer = ("--set", 'duration="8 s"', "--set", "sweep.replications=2")
    installed("sweep", "sweep.toml", *fewer)
    with (home / "results/grid/summary.csv").open() as file:
        assert len({row["topology.bottleneck.queue.limit"] for row in csv.DictReader(file)}) == 6
    installed("report", "results/grid")
    assert (home / "results/grid/report.html").stat().st_size > 1_000_000


def test_sweep_on_two_workers(installed: Command, home: Path) -> None:
    fewer = ("--set", 'duration="6 s"', "--set", "sweep.replications=1")
    installed("sweep", "sweep.toml", *fewer, "--out", "threads")
    installed("sweep", "sweep.toml", *fewer, "--out", "cluster", "--cluster", "local:2")
    summaries = [(home / out / "summary.csv").read_text() for out in ("threads", "cluster")]
    assert summaries[0] == summaries[1]


def test_reproduce_and_report(installed: Command, home: Path) -> None:
    installed("reproduce", "ccperf", "--quick")
    with (home / "results/ccperf/comparison.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert sum(bool(row["published"] and row["measured"]) for row in rows) > 50
    installed("report", "results/ccperf")


def test_evaluate(installed: Command, home: Path) -> None:
    only = ("--against", "cubic", "--quick", "--experiment", "single-flow")
    installed("evaluate", "reno", *only, "--out", "suite")
    assert "Reno against Cubic" in (home / "suite/report.html").read_text()


def test_reproductions_are_whole(installed: Command, home: Path) -> None:
    installed("reproduce", "sce2019", "--quick", "--table", "12")
    with (home / "results/sce2019/comparison.csv").open() as file:
        assert any(row["published"] and row["measured"] for row in csv.DictReader(file))


def test_list_names_what_can_be_used(installed: Command, home: Path) -> None:
    listed = json.loads(installed("list", "--format", "json").stdout)
    assert {"ccperf", "lin2020"} <= {paper["name"] for paper in listed["papers"]}
    sources = [paper["source"] for paper in listed["papers"] if paper["source"]]
    assert len(sources) > 3
    assert all((home / source).is_file() for source in sources)
    names = [experiment["name"] for experiment in listed["experiments"]]
    inside = re.compile(r"reproductions/(\w+)/experiments/")
    tracked = (*_tracked("experiments/*.toml"), *_tracked("reproductions/*/experiments/*.toml"))
    assert names == sorted(inside.sub(r"experiments/\1/", name) for name in tracked)
    installed("run", "experiments/catalogue/dumbbell.toml", "--no-figures")


def test_from_python(home: Path) -> None:
    program = "import sojourn; print(sojourn.run('buffer.toml').flows.height)"
    command = [home / "env/bin/python", "-c", program]
    assert subprocess.check_output(command, cwd=home, env=_environment()) == b"2\n"


def test_new_scaffolds_what_is_not_compiled_in(installed: Command, home: Path) -> None:
    installed("new", "scenario", "first")
    installed("run", "first.toml", "--no-figures")
    command = [home / "env/bin/sojourn", "new", "cca", "my-control"]
    done = subprocess.run(
        command, cwd=home, env=_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "needs a checkout" in done.stderr


def test_it_holds_what_is_tracked_and_the_licences(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"sojourn/data/{p}" for p in _tracked("experiments", "reference")}
    wanted |= {f"sojourn_{p}" for p in _tracked("reproductions")}
    assert len(wanted) > 100
    assert {name for name in held if re.match("sojourn/data/.+/|sojourn_", name)} == wanted
    assert not any(name.startswith("tools/") for name in held)
    assert {name.rsplit("/", 1)[-1] for name in held if "licenses/" in name} == {
        "LICENSE-MIT",
        "LICENSE-APACHE",
    }
    assert "cp311-abi3" in wheel.name


def test_setup_is_silent_when_there_is_nothing_to_do() -> None:
    outside = {k: v for k, v in _environment().items() if not k.startswith(("MAKE", "MFLAGS"))}
    assert subprocess.check_output(["make", "setup"], cwd=ROOT, env=outside) == b""


def _tracked(*patterns: str) -> list[str]:
    listed = subprocess.check_output(["git", "ls-files", *patterns], cwd=ROOT, text=True)
    return listed.splitlines()


# The last one, because it adds to what is listed.
def test_a_reproduction_of_another_package_is_found(installed: Command, home: Path) -> None:
    installed("new", "reproduction", "my-paper")
    pip = [home / "env/bin/pip", "install", "--quiet", "--no-deps", home / "my-paper"]
    subprocess.run(pip, check=True, env=_environment())
    listed = json.loads(installed("list", "--format", "json").stdout)
    assert "my-paper" in {paper["name"] for paper in listed["papers"]}
    assert "experiments/my-paper/buffers.toml" in {e["name"] for e in listed["experiments"]}
    rows = json.loads(installed("reproduce", "my-paper", "--quick", "--format", "json").stdout)
    assert [(row["buffer"], row["published"]) for row in rows] == [
        ("1 bdp", 100),
        ("2 packets", 75),
    ]
    assert all(abs(row["measured"] - row["published"]) < 3 for row in rows)
    installed("report", "results/my-paper")
