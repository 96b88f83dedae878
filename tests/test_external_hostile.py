"""Code from outside that is not meant well: loaded, printing, writing anywhere."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

import sojourn as package
from conftest import TWO_FLOWS, Command
from own_controls import MINE, refusal
from sojourn.errors import RunError
from sojourn.executors import output
from sojourn.executors.frames import SIZE, GarbledError, Receiver, Sender
from sojourn.executors.processes import limits

#: Long enough for what is meant well, s.
LIMIT = 2.0
pytestmark = pytest.mark.concurrent


@pytest.fixture(autouse=True)
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "seconds", LIMIT)


def written(here: Path, code: str) -> Path:
    """A scenario whose control begins with this code."""
    control = "from aimd import Aimd\n\n\nclass Mine(Aimd):\n    pass\n"
    (here / "mine.py").write_text(code + control if "class" not in code else code)
    path = here / "mine.toml"
    path.write_text(MINE.replace("aimd.py", "mine.py").replace("Aimd", "Mine"))
    return path


WRITING = """
import contextlib, os
for descriptor in 100 * list(range(3, 256)):
    with contextlib.suppress(OSError):
        os.write(descriptor, b"x")
while True:
    pass
"""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import os\nos._exit(0)\n", "has ended its process (status 0)"),
        ("import os, time\nif os.fork():\n    os._exit(3)\ntime.sleep(60)\n", "(status 3)"),
        ("while True:\n    pass\n", "has not returned for 2 s: stopped"),
        ("import os\nos.kill(os.getpid(), 19)\n", "has not returned for 2 s: stopped"),
        ("import os\nos.closerange(3, 256)\n", "has ended its process (status 1)"),
        (WRITING, "has used descriptors that are not its own: stopped"),
    ],
)
def test_a_control_that_cannot_be_loaded_is_refused(here: Path, code: str, told: str) -> None:
    path, began = written(here, code), time.monotonic()
    error = refusal(path)
    assert error.startswith(f"flows.0.cca.path: loading {here / 'mine.py'} has")
    assert told in error
    assert time.monotonic() - began < 3 * LIMIT


def test_one_that_exits_by_an_exception_is_refused(here: Path) -> None:
    assert "mine.py raised SystemExit: 3" in refusal(written(here, "import sys\nsys.exit(3)\n"))


@pytest.mark.parametrize(
    ("code", "told"),
    [("_exit(0)", "has ended its process (status 0)"), ("for (;;);", "has not returned for 2 s")],
)
def test_so_is_a_library(tmp_path: Path, code: str, told: str) -> None:
    text = "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { CODE; }\n"
    (tmp_path / "bad.c").write_text(text.replace("CODE", code))
    library = tmp_path / "bad.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "bad.c"], check=True)
    table = f'{{ kind = "library", path = "{library}" }}'
    error = refusal(TWO_FLOWS.replace('"reno"', table, 1))
    assert f"flows.0.cca.path: loading {library} {told}" in error


@pytest.mark.parametrize(
    "command", ["sweep mine.toml --out out", "conformance", "evaluate --quick"]
)
def test_every_command_gives_it_the_same_time(here: Path, called: Command, command: str) -> None:
    written(here, "while True:\n    pass\n")
    name, *options = command.split()
    given = [] if name == "sweep" else ["mine.py"]
    run = called(name, *given, *options, "--control-timeout", 0.5)
    assert run.returncode == 2
    assert f"loading {here / 'mine.py'} has not returned for 0.5 s: stopped" in run.stderr


def test_one_that_blocks_where_it_runs_is_lost_there(here: Path) -> None:
    once = f"from pathlib import Path\nplace = Path({str(here / 'seen')!r})\n"
    path = written(here, f"{once}while place.exists():\n    pass\nplace.touch()\n")
    with pytest.raises(RunError, match=r"^loading .*mine.py has not returned for 2 s: stopped$"):
        package.run(path)


PRINTING = """
import ctypes
from aimd import Aimd

library = ctypes.CDLL(None)

class Mine(Aimd):
    def on_ack(self, now, ack):
        super().on_ack(now, ack)
        print("p" * 9_999)
        library.printf(b"%s", b"c" * 10_000)
"""


def test_what_it_prints_is_shown_up_to_a_limit(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    package.run(written(here, PRINTING), overrides=["duration='1 s'"])
    told = capfd.readouterr().err
    assert told.count("p") > output.MOST / 3
    assert told.count("c") > output.MOST / 3
    assert output.MOST < len(told) < output.MOST + 200
    assert told.count("bytes more") == 1


def test_the_last_it_printed_is_seen(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = 'import ctypes, os\nctypes.CDLL(None).printf(b"in C\\n")\nprint("here")\nos._exit(1)\n'
    assert "status 1" in refusal(written(here, code))
    assert sorted(capfd.readouterr().err.splitlines()) == ["here", "in C"]


def test_a_long_exception_is_told_in_short(here: Path) -> None:
    raising = "    def on_ack(self, now, ack):\n        raise ValueError('x' * 3_000_000)\n"
    path = written(here, f"from aimd import Aimd\n\n\nclass Mine(Aimd):\n{raising}")
    with pytest.raises(RunError) as caught:
        package.run(path)
    assert len(str(caught.value)) < 2000
    assert "xx... and 2,999,012 characters more (" in str(caught.value)
    assert str(caught.value).endswith("mine.py, line 6: raise ValueError('x' * 3_000_000))")


def test_one_that_writes_anywhere_is_one_failed_run(here: Path, called: Command) -> None:
    with (here / "bad.toml").open("a") as file:
        file.write('\n[sweep.grid]\n"flows.0.cca.mode" = ["write", "close"]\n')
        file.write('"flows.0.cca.at" = [0.2, 99.0]\n')
    run = called("sweep", "bad.toml", "--set", "duration='1 s'", "--out", "out")
    assert "4 runs: 4 run now, 0 stored before, 2 failed" in run.stderr
    rows = package.open(here / "out").runs
    errors = rows.filter(pl.col("scope") == "run")["error"].sort().to_list()
    assert "on_ack has used descriptors that are not its own: stopped" in errors[0]
    assert errors[1] == "the simulation has ended its process (status 1)"
    assert rows.filter(pl.col("scope") == "net")["key"].n_unique() == 2


@pytest.fixture
def pipe() -> tuple[int, int]:
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    return ours, theirs


def test_messages_come_whole_and_in_their_order(pipe: tuple[int, int]) -> None:
    ours, theirs = pipe
    receiver, sender = Receiver(ours, bytes(SIZE)), Sender(theirs, bytes(SIZE))
    assert list(receiver.messages()) == []
    sender.send("first")
    sender.send(["second"])
    assert list(receiver.messages()) == ["first", ["second"]]
    sender.send(b"third")
    content = os.read(ours, 1000)
    os.write(theirs, content[:-1])
    assert list(receiver.messages()) == []
    os.write(theirs, content[-1:])
    assert list(receiver.messages()) == [b"third"]
    os.close(theirs)
    assert (list(receiver.messages()), receiver.ended) == ([], True)


@pytest.mark.parametrize("place", ["again", "key", "head", "body"])
def test_nothing_else_is_taken_for_a_message(pipe: tuple[int, int], place: str) -> None:
    ours, theirs = pipe
    receiver = Receiver(ours, bytes(SIZE))
    Sender(theirs, b"k" * SIZE if place == "key" else bytes(SIZE)).send("message")
    content = bytearray(os.read(ours, 1000))
    if place in ("head", "body"):
        content[SIZE if place == "head" else -2] ^= 1
    os.write(theirs, content * (2 if place == "again" else 1))
    with pytest.raises(GarbledError):
        list(receiver.messages())
