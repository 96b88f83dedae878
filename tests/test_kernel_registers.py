"""Programs keep their registers inside a kernel in virtual time, whatever happens to them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from sojourn.backends.kernel import On

SOURCE = Path(__file__).parent / "kernel/registers.c"
#: As the backend starts it, but without a calendar and cards.
ARGUMENTS = (
    "mem=256M",
    "uml_dir=/proc/",
    "stderr=1",
    "root=/dev/root",
    "rootfstype=hostfs",
    "rootflags=/",
    "ro",
)
TOLD = re.compile(r"registers 0x[0-9a-f]+: (\d+) checks, (\d+) differences")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What checks them."""
    made = tmp_path_factory.mktemp("registers") / "registers"
    command = ["gcc", "-O2", "-Wall", "-Werror", "-static", "-pthread", SOURCE, "-o", made]
    subprocess.run(command, check=True)
    return made


@pytest.mark.needs("compiler")
def test_the_machine_itself_keeps_them(program: Path) -> None:
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    found = TOLD.search(done.stdout)
    assert found, done
    assert int(found[1]) > 1000
    assert int(found[2]) == 0


# Without virtual time a thread may lose the processor anywhere.
@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel", "compiler")
@pytest.mark.parametrize("time", ["", "time-travel=inf-cpu"])
def test_the_kernel_keeps_them(program: Path, time: str) -> None:
    options = [*ARGUMENTS, *time.split(), f"init={program}"]
    command = [On().program, *options]
    stream = subprocess.PIPE
    done = subprocess.run(
        command, stdout=stream, stderr=subprocess.STDOUT, text=True, timeout=120, check=False
    )
    found = TOLD.search(done.stdout)
    assert found, done.stdout
    assert int(found[1]) > 1000
    assert int(found[2]) == 0, done.stdout
