"""What travels with a control in a file: what it imports, whole, whoever unpacks it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sojourn import class_sources
from sojourn.external import sources
from sojourn.external.bundle import Bundle


def test_threads_that_lay_out_at_once_find_files_whole(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = here / "aimd.py"
    bundle = Bundle.packed({"flows.0.cca.path": [str(file)]})
    entered, laid_out, opened, read = (threading.Event() for _ in range(4))
    places: list[Path] = []
    write = Path.write_bytes

    def unpack() -> None:
        places.append(Path(bundle.unpacked().here[str(file)]))

    def pausing(path: Path, content: bytes) -> int:
        if threading.current_thread() is not slow:
            return write(path, content)
        entered.set()
        assert laid_out.wait(60)
        with path.open("wb") as opening:
            opened.set()
            assert read.wait(60)
            return opening.write(content)

    monkeypatch.setattr(Path, "write_bytes", pausing)
    slow = threading.Thread(target=unpack)
    slow.start()
    assert entered.wait(60)
    unpack()
    laid_out.set()
    assert opened.wait(60)
    found = sources.digest(places[0])
    read.set()
    slow.join()
    assert [found, *map(sources.digest, places)] == [sources.digest(file)] * 3


def test_bundle_needs_nothing_where_it_arrives(tmp_path: Path) -> None:
    text = "from beside import WINDOW\n"
    (tmp_path / "fixed.py").write_text(text)
    (tmp_path / "beside.py").write_text("WINDOW = 5.0\n")
    grid = {"flows.0.cca.path": [str(tmp_path / "fixed.py")]}
    bundle = Bundle.packed(grid)
    for file in tmp_path.glob("*.py"):
        file.unlink()
    places = bundle.unpacked()
    [moved] = places.move(grid)["flows.0.cca.path"]
    assert (Path(moved).read_text(), Path(moved).with_name("beside.py").read_text()) == (
        text,
        "WINDOW = 5.0\n",
    )
    assert places.back({"path": moved}) == {"path": str(tmp_path / "fixed.py")}


def test_classes_of_a_notebook_only_pass_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_sources, "_PACKED", {})
    classes = {"digest": b"what runs their code where it is unpacked"}
    Bundle(classes=classes).unpacked()
    assert class_sources.pickled(["digest"]) == classes
