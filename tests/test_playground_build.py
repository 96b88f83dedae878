"""The playground's build: what it refuses, and what it says where it cannot be made."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.playground import build, compilers


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of one file, whose library and engine are a byte each."""
    page = tmp_path / "sources"
    page.mkdir()
    (page / "index.html").write_text("<title>the page</title>", encoding="utf-8")
    (page / "service.js").write_text("", encoding="utf-8")
    (page / "tests").mkdir()
    monkeypatch.setattr(build, "PAGE", page)
    monkeypatch.setattr(build, "WORK", tmp_path / "work")
    monkeypatch.setattr(build, "library", lambda: {"uPlot.min.css": b"u"})


def test_without_a_compiler_the_page_says_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compilers, "found", lambda: None)
    build.main(tmp_path / "site")
    assert capsys.readouterr().out.startswith("the playground is left out: needs `rustup target")
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["index.html"]
    assert "rustc-web" in (tmp_path / "site/index.html").read_text(encoding="utf-8")


def test_what_a_service_worker_is_to_keep_is_listed_with_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(module: bytes) -> str:
        monkeypatch.setattr(build, "engine", lambda: module)
        build.main(tmp_path / "site")
        return (tmp_path / "site/files.js").read_text(encoding="utf-8")

    first = built(b"w")
    assert '["./", "index.html", "lessons.json", "sojourn.wasm.gz", "uPlot.min.css"]' in first
    assert built(b"w") == first != built(b"v")


def test_a_module_that_names_a_directory_of_the_machine_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"/home/me/sojourn/crates/a\.rs"):
        build.refuse_paths(b"...\0/home/me/sojourn/crates/a.rs\0...", ["/home/me/"])
    build.refuse_paths(b"/sojourn/crates/a.rs", ["/home/me/"])


def test_a_page_beyond_its_budget_is_refused() -> None:
    assert "x.gz 1000 kB" in build.within_budget({"x.gz": bytes(1_000_000)})
    with pytest.raises(SystemExit, match="allowed: 1600 kB"):
        build.within_budget({"x.gz": bytes(1_600_001)})


@pytest.mark.needs("cargo")
def test_the_engine_rests_on_nothing_that_a_browser_lacks() -> None:
    """A feature that a native build asks for would be found by a build for wasm32 alone, which few
    machines make.
    """
    what = ["--package", compilers.CRATE, "--target", compilers.TARGET, "--edges", "normal"]
    command = ["cargo", "tree", "--locked", "--prefix", "none", *what]
    done = subprocess.run(command, cwd=build.ROOT, capture_output=True, text=True, check=True)
    crates = {line.split()[0] for line in done.stdout.splitlines() if line}
    assert "sojourn-sim" in crates
    assert not crates & {"getrandom", "mio", "libc", "pyo3"}
