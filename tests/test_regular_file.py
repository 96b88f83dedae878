"""Files that people name are regular ones of a limited size: nothing else is waited for or read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from sojourn import ScenarioError, regular_file
from sojourn.scenario import load

SCENARIO = """
duration = "1 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s" }

[[flows]]
cca = "reno"
rtt = "20 ms"
"""


def _fifo(place: Path) -> None:
    os.mkfifo(place)


def _device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def _directory(place: Path) -> None:
    place.mkdir()


def _large(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(regular_file.CODE + 1)  # of no blocks


#: What takes a file's place, and what is said of it.
WRONG: list[tuple[Callable[[Path], None], str]] = [
    (_fifo, "it is a FIFO; expected a regular file"),
    (_device, "it is a device; expected a regular file"),
    (_directory, "it is a directory; expected a regular file"),
    (_large, "bytes; at most "),
]
wrong = pytest.mark.parametrize(
    ("make", "told"), WRONG, ids=["fifo", "device", "directory", "large"]
)


@wrong
def test_a_scenario_that_is_no_regular_file_is_refused_at_once(
    make: Callable[[Path], None], told: str, sojourn: Command, tmp_path: Path
) -> None:
    make(tmp_path / "scenario.toml")
    done = sojourn("run", "scenario.toml", timeout=30)
    assert done.returncode == 2
    assert "scenario.toml: cannot be read: " in done.stderr
    assert told in done.stderr


def _trace(place: Path) -> dict[str, Any]:
    return {"topology": {"bottleneck": {"trace": {"file": str(place)}}}}


def _control(kind: str, key: str, **more: Any) -> Callable[[Path], dict[str, Any]]:
    return lambda place: {"flows": [{"cca": {"kind": kind, key: str(place), **more}}]}


@wrong
@pytest.mark.parametrize(
    ("document", "field"),
    [
        (_trace, "topology.bottleneck.trace.file"),
        (_control("python", "path", **{"class": "Own"}), "flows.0.cca.path"),
        (_control("library", "path"), "flows.0.cca.path"),
        (_control("bpf", "object", name="own"), "flows.0.cca.object"),
        (_control("linux", "source"), "flows.0.cca.source"),
    ],
    ids=["trace", "python", "library", "bpf", "linux"],
)
def test_what_a_scenario_names_is_a_regular_file(
    make: Callable[[Path], None],
    told: str,
    document: Callable[[Path], dict[str, Any]],
    field: str,
    tmp_path: Path,
) -> None:
    make(place := tmp_path / "named")
    given = {"duration": "1 s", "topology": {"kind": "dumbbell"}, "flows": [{"rtt": "20 ms"}]}
    for key, value in document(place).items():
        if key == "topology":
            given[key] |= value
        else:
            given[key][0] |= value[0]
    with pytest.raises(ScenarioError) as refusal:
        load(given)
    where, said = str(refusal.value).split(": cannot be read: ")
    assert where in (f"{field}: {place}", f"{field}: {place.resolve()}")
    assert told in said


@pytest.mark.parametrize("name", ["fifo.h", "sub/fifo.h"])
@pytest.mark.parametrize("written", ['#include "{}"', "#include <{}>"])
def test_what_a_source_includes_is_a_regular_file(written: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / name)
    inner = str(tmp_path / name) if "<" in written else Path(name).name
    (tmp_path / name).with_name("outer.h").write_text(written.format(inner))
    source = tmp_path / "tcp_own.c"
    source.write_text(f'#include "{Path(name).with_name("outer.h")}"\n')
    with pytest.raises(ScenarioError) as refusal:
        load(SCENARIO, [f'flows.0.cca={{kind = "linux", source = "{source}"}}'])
    told = f"flows.0.cca.source: {tmp_path / name}: cannot be read: it is a FIFO"
    assert str(refusal.value).startswith(told)


def test_a_file_that_grows_while_it_is_read_is_read_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place := tmp_path / "file").write_bytes(b"12345")
    seen = os.fstat
    assert regular_file.content(place, 5) == b"12345"

    def grows(handle: int) -> os.stat_result:
        found = seen(handle)
        with place.open("ab") as file:
            file.write(b"6")
        return found

    monkeypatch.setattr(os, "fstat", grows)
    with pytest.raises(OSError, match="it has 6 bytes; at most 5 are read"):
        regular_file.content(place, 5)
