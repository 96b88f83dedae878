"""What comes with the package, and what says which one it is."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from unittest import mock

import pytest
from packaging.requirements import Requirement

from conftest import ROOT, Command
from sojourn import ScenarioError, SojournError, data, load
from sojourn.evaluation.suites import found
from sojourn.experiments import experiments
from sojourn.installed import SUITES, points


def test_the_version_names_the_build(sojourn: Command) -> None:
    from sojourn import _internal

    printed = sojourn("--version").stdout
    found = re.fullmatch(r"sojourn (\d+\.\d+\.\d+\S*) \(build ([0-9a-f]{16})\)\n", printed)
    assert found, printed
    assert "-".join(found.groups()) == _internal.engine_build()


@pytest.mark.parametrize("name", ["experiments", "reference"])
def test_a_checkout_uses_its_own_directories(name: str) -> None:
    assert data.path(name) == ROOT / name
    assert data.path(name).is_dir()
    assert data.checkout() == ROOT


def test_sources_are_refused_where_there_are_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(data, "_ROOT", tmp_path)
    with pytest.raises(SojournError, match="needs a checkout"):
        data.checkout()


def test_experiments_are_found_by_name_anywhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "experiments/catalogue/dumbbell.toml"
    assert name in [entry["name"] for entry in experiments()]
    assert load(name).document == load(ROOT / name).document
    with pytest.raises(ScenarioError, match=r"^experiments/nothing\.toml: cannot be read"):
        load("experiments/nothing.toml")


def test_a_file_of_that_name_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = Path("experiments/catalogue/dumbbell.toml")
    own = (ROOT / name).read_text().replace("dumbbell-at-work", "mine")
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(own)
    monkeypatch.chdir(tmp_path)
    assert load(name).name == "mine"


def test_sources_of_papers_can_be_opened(sojourn: Command, tmp_path: Path) -> None:
    printed = sojourn("list", "papers", "--format", "csv").stdout
    sources = re.findall(r"[^,\n]*SOURCE\.md", printed)
    assert len(sources) > 3
    assert all((tmp_path / source).is_file() for source in sources)
    assert (
        ",reproductions/ccperf/reference/SOURCE.md"
        in sojourn("list", "papers", "--format", "csv", cwd=ROOT).stdout
    )


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("sojourn_reproductions.ccperf.suite:SUITE", "is the suite ccperf; sojourn.suites wants"),
        ("sojourn_reproductions.ccperf:CCPERF", "is Paper; sojourn.suites wants a Suite called x"),
        ("sojourn_reproductions.nowhere:SUITE", "of sojourn_reproductions.nowhere cannot be load"),
    ],
)
def test_what_a_package_brings_is_what_it_is_called(value: str, told: str) -> None:
    with mock.patch.dict(points(SUITES), {"x": EntryPoint("x", value, SUITES)}):
        with pytest.raises(SojournError, match=f"^x: {value} {told}"):
            found.suite("x")
        with pytest.raises(ScenarioError, match=r"^unknown suite 'y'; allowed: .*x"):
            found.suite("y")


@pytest.mark.parametrize(
    ("name", "extras"),
    [("requirements.lock", ("dev", "cluster")), ("requirements-site.lock", ("site",))],
)
def test_the_lock_has_every_requirement(name: str, extras: tuple[str, ...]) -> None:
    lock = (ROOT / name).read_text()
    pins = dict(re.findall(r"^(\S+)==(\S+)", lock, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [more for extra in extras for more in project["optional-dependencies"][extra]]
    for requirement in map(Requirement, [*project["dependencies"], *wanted]):
        if requirement.name == project["name"]:
            continue  # the extra itself
        assert requirement.name in pins, "run `make lock`"
        assert requirement.specifier.contains(pins[requirement.name]), "run `make lock`"
