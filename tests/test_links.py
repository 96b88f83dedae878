"""Symbolic links in a directory that a stranger has prepared lead nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import TWO_FLOWS, call
from sojourn import ScenarioError, scaffold
from sojourn import sweep as run_sweep
from sojourn.figures import paper
from sojourn.kernel import build
from sojourn.store.location import is_remote, located
from sojourn.store.lock import exclusive

PRECIOUS = "not a result"


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file somewhere else."""
    file = tmp_path / "elsewhere" / "precious.png"
    file.parent.mkdir()
    file.write_text(PRECIOUS)
    return file


def nothing(*_: object) -> None:
    """Is told."""


def test_a_lock_is_no_link(precious: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(TWO_FLOWS)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / ".lock").symlink_to(precious)
    done = call("sweep", "tiny.toml", "--out", "d")
    assert done.returncode == 2
    assert "d/.lock: is a symbolic link, which no lock may be: remove it" in done.stderr
    assert precious.read_text() == PRECIOUS


def test_a_lock_of_a_kernel_is_no_link(precious: Path, tmp_path: Path) -> None:
    (tmp_path / "6.12.lock").symlink_to(precious)
    with (
        pytest.raises(ScenarioError, match="is a symbolic link"),
        build._alone(tmp_path / "6.12", nothing),
    ):
        pass
    assert precious.read_text() == PRECIOUS


def test_a_lock_does_not_empty_what_is_there(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text(PRECIOUS)
    with exclusive(tmp_path, nothing):
        assert (tmp_path / ".lock").read_text() == PRECIOUS


@pytest.mark.parametrize("name", ["figures", "runs", "quarantine", "sim-0", "files/a"])
def test_results_go_through_no_link(precious: Path, tmp_path: Path, name: str) -> None:
    place = tmp_path / "d"
    (place / name).parent.mkdir(parents=True)
    (place / name).symlink_to(precious.parent)
    with pytest.raises(ScenarioError, match=f"d: {name} is a symbolic link"):
        run_sweep(TWO_FLOWS, directory=place, force=True)
    assert precious.read_text() == PRECIOUS


def test_a_figure_takes_the_place_of_a_link(precious: Path, tmp_path: Path) -> None:
    (tmp_path / "rate.png").symlink_to(precious)
    paper.write({"png": b"a picture"}, tmp_path, "rate")
    assert (tmp_path / "rate.png").read_bytes() == b"a picture"
    assert precious.read_text() == PRECIOUS


def test_what_is_scaffolded_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(ScenarioError, match=r"mine\.toml exists"):
        scaffold.new("scenario", "mine", None, None, tmp_path)
    assert not (tmp_path / "elsewhere.toml").exists()


def test_files_by_another_name_have_links_and_locks_too(tmp_path: Path) -> None:
    """What is written to an object store, which has none, would follow a link."""
    place = located(f"file://{tmp_path}")
    assert place == tmp_path
    assert not is_remote(place)
