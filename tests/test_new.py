"""``sojourn new``, without building what it writes (see ``guides.py``)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT, Command
from sojourn import ScenarioError, data
from sojourn.scaffold import KINDS, Kind, new


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files of the checkout that the kinds change."""
    for kind in KINDS.values():
        for path in (*kind.files, *(line.path for line in kind.lines)):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        for line in kind.lines:
            (tmp_path / line.path).write_text((ROOT / line.path).read_text())
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_files_and_lines_carry_the_name(checkout: Path, kind: str) -> None:
    made = new(kind, "my-own", None, checkout, checkout)
    assert len(made.written) == len(KINDS[kind].files)
    for path in made.written:
        text = path.read_text()
        assert not any(token in text for token in ("NAME", "MODULE", "KIND"))
        assert {"my-own", "my_own"} & {path.stem, *path.parts}
    for path in made.changed:
        before, after = (root / path.relative_to(checkout) for root in (ROOT, checkout))
        added = set(after.read_text().splitlines()) - set(before.read_text().splitlines())
        assert added
        assert any("my-own" in line or "my_own" in line for line in added)
    assert "{" not in made.after
    with pytest.raises(ScenarioError, match="exists"):
        new(kind, "my-own", None, checkout, checkout)


def test_a_line_is_the_last_of_its_registry(checkout: Path) -> None:
    new("cca", "my-control", None, checkout, checkout)
    registry = (checkout / "crates/sojourn-tcp/src/cc/mod.rs").read_text()
    assert '    "my-control" my_control::MyControl,\n}' in registry


@pytest.mark.parametrize("name", ["", "My", "my_control", "-x", "a b", "../x"])
def test_other_names_are_refused(checkout: Path, name: str) -> None:
    with pytest.raises(ScenarioError, match="lower case"):
        new("cca", name, None, checkout, checkout)


def test_other_languages_are_refused(checkout: Path) -> None:
    with pytest.raises(ScenarioError, match="--language: c given; queue is written in rust"):
        new("queue", "x", "c", checkout, checkout)


def test_nothing_is_written_if_a_registry_is_not_there(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = checkout / "crates/sojourn-tcp/src/cc/mod.rs"
    registry.write_text("")
    with pytest.raises(ScenarioError, match="there is no"):
        new("cca", "my-control", None, checkout, checkout)
    assert not (checkout / "crates/sojourn-tcp/src/cc/my_control.rs").exists()


def test_external_a_checkout_only_what_needs_no_compiler(tmp_path: Path) -> None:
    def outside(kind: Kind) -> bool:
        return kind.outside is not None

    assert {name for name, kind in KINDS.items() if outside(kind)} == {
        "scenario",
        "metric",
        "reproduction",
    }
    made = new("metric", "my-metric", None, None, tmp_path)
    assert [path.name for path in made.written] == ["my_metric.py"]
    with pytest.raises(ScenarioError, match="needs a checkout"):
        new("cca", "my-control", None, None, tmp_path)


def test_a_new_scenario_runs(called: Command, tmp_path: Path) -> None:
    written = called("new", "scenario", "my-paths")
    assert written.returncode == 0, written.stderr
    assert written.stdout == "wrote my-paths.toml\nnext: sojourn run my-paths.toml\n"
    assert tomllib.loads((tmp_path / "my-paths.toml").read_text())["name"] == "my-paths"
    ran = called("run", "my-paths.toml", "--set", "duration=6 s", "--no-figures")
    assert (ran.returncode, "warning" in ran.stderr) == (0, False), ran.stderr
    again = called("new", "scenario", "my-paths")
    assert again.returncode == 2
    assert "my-paths.toml exists" in again.stderr


def test_the_command_names_the_kinds(called: Command) -> None:
    refused = called("new", "kontrol", "x")
    assert refused.returncode == 2
    assert all(kind in refused.stderr for kind in KINDS)


def test_a_metric_outside_a_checkout_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sojourn.metrics import registry

    monkeypatch.setattr(registry, "_METRICS", dict(registry._METRICS))
    monkeypatch.syspath_prepend(str(tmp_path))
    new("metric", "my-size", None, None, tmp_path)
    import my_size  # noqa: F401  # type: ignore[import-not-found]

    assert data.checkout() == ROOT
    assert [m.scope for m in registry.metrics() if m.name == "my_size_l4"] == ["flow"]


def test_a_crate_of_ones_own_outside_the_checkout(tmp_path: Path) -> None:
    made = new("cca", "my-own", "rust", ROOT, tmp_path)
    texts = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in made.written}
    manifest = tomllib.loads(texts["my-own/Cargo.toml"])
    theirs = tomllib.loads((ROOT / "Cargo.toml").read_text())
    dev = theirs["profile"]["dev"]
    del dev["package"]  # of tests, and of SLIQ's programs
    assert manifest["profile"]["dev"] == dev  # so that builds can be shared
    assert texts["my-own/Cargo.lock"] == (ROOT / "Cargo.lock").read_text()
    for path in re.findall(r'path = "(.*)"', texts["my-own/Cargo.toml"]):
        assert (Path(path) / "Cargo.toml").exists()
    assert '"my-own", include_str!("my_own.rs")' in texts["my-own/src/main.rs"]
    assert not any(word in text for word in ("NAME", "KIND", "CHECKOUT") for text in texts.values())
    with pytest.raises(ScenarioError, match="needs a checkout"):
        new("cca", "my-own", "rust", None, tmp_path)
