"""Builds a kernel in virtual time: unpacked, changed, configured, made, kept."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sojourn.errors import ScenarioError, SojournError
from sojourn.kernel import cache
from sojourn.kernel.changes import changes
from sojourn.kernel.options import fragment
from sojourn.kernel.same import STAMPS
from sojourn.kernel.source import located, unpacked, version
from sojourn.store.lock import opened

#: What a build needs, and the packages of Debian that have it.
TOOLS = {
    "make": "make",
    "gcc": "gcc",
    "ld": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
}
#: Files that a kernel of this configuration compiles, about.
_FILES = 760
#: What compiling them takes, about.
_MINUTES = 10
_LAST_LINES = 30
#: Is told what is being done, and which share of it.
Tell = Callable[[str, float], None]


def build(source: str, hz: int, tell: Tell) -> cache.Kernel:
    """The kernel of these sources: that of the cache, or a new one. What an earlier attempt has
    done is not done again.

    Raises:
        ScenarioError: if the sources or a tool are missing.
        SojournError: if it fails.

    """
    _check_machine()
    root = cache.root()
    found = located(source, root)
    identity = _identity(found)
    place = root / "building" / f"{identity}-hz{hz}"
    with _alone(place, tell):
        if built := _built(identity, hz):
            return built
        tell("unpacking the sources", 0.0)
        tree = unpacked(found, place)
        kernel = cache.Kernel(version(tree), hz, root / f"{version(tree)}-hz{hz}")
        for change in changes(hz):
            if change.concerns(kernel.version):
                change.apply(tree)
        _configure(tree, place, tell)
        _make(tree, place, tell)
        _keep(kernel, tree, place, identity)
        shutil.rmtree(place)
    return kernel


@contextmanager
def _alone(place: Path, tell: Tell) -> Iterator[None]:
    """Waits for whoever else builds in a place: another command, or what one that was killed has
    left running, since the compilers inherit the lock.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    with opened(place.parent / f"{place.name}.lock") as lock:
        os.set_inheritable(lock.fileno(), True)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("waiting for another build of the same sources", 0.0)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _check_machine() -> None:
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        machine = f"{platform.system()} on {platform.machine()}"
        raise ScenarioError(f"kernel build: needs Linux on x86_64, and this is {machine}")
    missing = {tool: package for tool, package in TOOLS.items() if not shutil.which(tool)}
    if missing:
        names, packages = ", ".join(missing), " ".join(missing.values())
        raise ScenarioError(f"kernel build: {names} missing; to get them: apt install {packages}")


def _identity(found: Path) -> str:
    """Tells sources from others, by where they are and when they were written."""
    status = found.stat()
    text = f"{found} {status.st_size} {status.st_mtime_ns}"
    return f"{found.name.split('.tar')[0]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _built(identity: str, hz: int) -> cache.Kernel | None:
    """The kernel of these sources, if there is one that would not be built otherwise."""
    wanted = {"source": identity, "hz": hz, "recipe": recipe(hz)}
    for kernel in cache.kernels():
        facts = json.loads((kernel.place / cache.FACTS).read_text(encoding="utf-8"))
        if wanted.items() <= facts.items():
            return kernel
    return None


def recipe(hz: int) -> str:
    """Changes whenever a kernel would be built otherwise."""
    text = fragment() + repr(STAMPS) + "".join(repr(change) for change in changes(hz))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _configure(tree: Path, place: Path, tell: Tell) -> None:
    tell("configuring", 0.02)
    options = place / "options"
    options.write_text(fragment(), encoding="utf-8")
    _run(tree, [f"KCONFIG_ALLCONFIG={options}", "allnoconfig"])
    config = (tree / ".config").read_text(encoding="utf-8").splitlines()
    if missing := [line for line in fragment().splitlines() if line not in config]:
        raise SojournError(f"configuring the kernel: not known to it: {', '.join(missing)}")


def _make(tree: Path, place: Path, tell: Tell) -> None:
    done = 0

    def count(line: str) -> None:
        nonlocal done
        done += line.startswith("  CC ")
        tell(what, 0.03 + 0.96 * min(1.0, done / _FILES))

    done = sum(1 for _ in tree.rglob("*.o"))
    processors = os.cpu_count() or 1
    what = f"compiling: {_MINUTES} minutes of one processor, and there are {processors}"
    _run(tree, [f"-j{processors}", "linux"], count)


def _run(tree: Path, targets: list[str], each: Callable[[str], None] = lambda _: None) -> None:
    """Runs make, and says its last lines if it fails."""
    last: deque[str] = deque(maxlen=_LAST_LINES)
    command = ["make", "-C", str(tree), "ARCH=um", "SUBARCH=x86_64", *STAMPS, *targets]
    stream = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=stream, stderr=subprocess.STDOUT, text=True, close_fds=False
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            last.append(line)
            each(line)
    if process.returncode:
        raise SojournError(f"{' '.join(command)} failed:\n{''.join(last)}")


def _keep(kernel: cache.Kernel, tree: Path, place: Path, identity: str) -> None:
    """Into the cache, whole or not at all."""
    ready = place / "ready"
    shutil.rmtree(ready, ignore_errors=True)
    ready.mkdir()
    subprocess.run(["strip", "-o", ready / cache.PROGRAM, tree / "linux"], check=True)
    shutil.copy(tree / ".config", ready / cache.CONFIGURATION)
    facts = {
        "version": kernel.version,
        "hz": kernel.hz,
        "recipe": recipe(kernel.hz),
        "source": identity,
    }
    (ready / cache.FACTS).write_text(json.dumps(facts) + "\n", encoding="utf-8")
    shutil.rmtree(kernel.place, ignore_errors=True)
    ready.rename(kernel.place)
