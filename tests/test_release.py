"""What a release is made of, and that it is made in steps; `make test-release` tries one."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT
from tools import release
from tools.release import ReleaseError


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where releases are made, of a clean commit."""
    monkeypatch.setattr(release, "OUT", tmp_path / "release")
    said = {"status": "", "rev-parse": "a" * 40}
    monkeypatch.setattr(release, "run", lambda _git, command, *_: said[command])
    return tmp_path / "release"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps that were made; the second one fails at first."""
    made: list[str] = []

    def second() -> None:
        made.append("second")
        if made.count("second") == 1:
            raise ReleaseError("no wheel")

    steps = {"first": lambda: made.append("first"), "second": second}
    monkeypatch.setattr(release, "STEPS", steps)
    return made


def test_a_release_goes_on_where_it_failed(out: Path, made: list[str]) -> None:
    with pytest.raises(ReleaseError, match="no wheel"):
        release.release()
    (out / "kept").touch()
    for _ in range(2):
        release.release()
    assert made == ["first", "second", "second"]
    assert (out / "kept").exists()


def test_another_commit_is_another_release(
    out: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made.append("second")
    release.release()
    (out / "old").touch()
    monkeypatch.setattr(
        release, "run", lambda _git, command, *_: "" if command == "status" else "b" * 40
    )
    release.release()
    assert made[1:] == ["first", "second"] * 2
    assert not (out / "old").exists()


def test_what_is_not_committed_is_not_released(
    out: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "run", lambda *_: " M README.md\n")
    with pytest.raises(ReleaseError, match=r"README\.md\nthese files differ from the commit"):
        release.release()
    assert made == []


@pytest.mark.parametrize(
    ("glibc", "content", "wrong"),
    [
        (release.GLIBC, b"", None),
        (release.GLIBC - 1, b"", None),
        (release.GLIBC + 6, b"", "needs more than glibc"),
        (release.GLIBC, f"{ROOT}/crates".encode(), "a path of this machine is in sojourn/x"),
    ],
)
def test_a_wheel_is_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, glibc: int, content: bytes, wrong: str | None
) -> None:
    told = f'a\nfollowing platform\ntag:\n"manylinux_2_{glibc}_x86_64".'
    monkeypatch.setattr(release, "tool", lambda *_: told)
    monkeypatch.setattr(release.platform, "machine", lambda: "x86_64")
    path = tmp_path / "a.whl"
    with zipfile.ZipFile(path, "w") as held:
        for name in tracked():
            held.writestr(name, b"")
        held.writestr("sojourn/x", content)
    if wrong is None:
        release.check_wheel(path)
    else:
        with pytest.raises(ReleaseError, match=wrong):
            release.check_wheel(path)


@pytest.mark.parametrize("wrong", ["missing", "foreign"])
def test_directories_that_are_links_are_whole(tmp_path: Path, wrong: str) -> None:
    names = [name.removeprefix("sojourn/data/") for name in tracked()]
    release.check_data(names, tmp_path)
    changed = names[1:] if wrong == "missing" else [*names, "experiments/own.toml"]
    with pytest.raises(ReleaseError, match="not as tracked: "):
        release.check_data(changed, tmp_path)


def tracked() -> list[str]:
    """What a wheel has of them."""
    named = ["git", "ls-files", "experiments", "reference", "reproductions"]
    listed = subprocess.check_output(named, cwd=ROOT, text=True).splitlines()
    inside = re.compile("^reproductions/")
    return [f"sojourn_{name}" if inside.match(name) else f"sojourn/data/{name}" for name in listed]


def test_checksums_are_those_of_all_files(out: Path) -> None:
    out.mkdir()
    for name in ("a.whl", "b.tar.gz", ".made.json"):
        (out / name).write_text(name)
    for _ in range(2):
        release.checksums()
    told = subprocess.check_output(["sha256sum", "--check", "SHA256SUMS"], cwd=out, text=True)
    assert told == "a.whl: OK\nb.tar.gz: OK\n"


def test_the_citation_is_of_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    told = dict(re.findall(r"^([\w-]+): (\S+)$", citation, re.M))
    assert told["version"] == release.version()
    # The form of Keep a Changelog: the date of the release, once there is one.
    latest = re.findall(r"^## (\S+) (?:- )?\(?([\w-]+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    version, date = latest[0]
    assert version == release.version()
    assert told.get("date-released", "unreleased") == date
