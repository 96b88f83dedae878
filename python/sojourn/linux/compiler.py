"""Compiling a kernel module's source into a shared library, which is kept."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from sojourn import regular_file
from sojourn.errors import refused
from sojourn.json_types import Fields
from sojourn.linux.source import Source

Shim = Literal["control", "queue"]

KERNEL = Path(__file__).parent / "kernel"
#: The kernel's interface by the version that a scenario names.
VERSIONS: Mapping[str, int] = {"6.1": 0x60100, "6.12": 0x60C00}

# The kernel's own choices of C, and an end at the first thing that is not there.
_OPTIONS = (
    *("-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden"),
    *("-fno-strict-aliasing", "-fno-strict-overflow", "-fno-common"),
    *("-Werror=implicit-function-declaration", "-fmax-errors=1", "-fdiagnostics-color=never"),
)
_HELPER = re.compile(
    r"implicit declaration of function '(\w+)|'(\w+)' undeclared|unknown type name '(\w+)"
    r"|undefined reference to [`'](\w+)|has no member named '(\w+)"
)
_HEADER = re.compile(r"fatal error: ([\w/.]+\.h): No such file")


def digest(source: Source, options: Sequence[str]) -> str:
    """Of all that decides what comes out: sources, headers, options and the compiler."""
    told = hashlib.blake2b(digest_size=16)
    files = sorted({*source.files, *source.modules})
    for path in (*files, *_ours()):
        content = regular_file.content(path)
        told.update(f"{path.name}:{len(content)}:".encode())
        told.update(content)
    told.update("\0".join((*_OPTIONS, *options, _version(_compiler()))).encode())
    return told.hexdigest()


def options(source: Source, shim: Shim, table: Fields) -> tuple[str, ...]:
    """What is told to the compiler about a source, whose table has all of its keys."""
    version, observed = VERSIONS[table["version"]], table["observe"]
    given = [f"-DSOJOURN_LINUX={version:#x}", f"-DHZ={table['hz']}", f"-DSOJOURN_{shim.upper()}"]
    if shim == "queue":
        given.append(f"-DSOJOURN_MASQUERADE=MASQUERADE_{table['masquerade'].upper()}")
    if shim == "queue" and source.policy:
        policy, names = source.policy
        given.append(f"-DSOJOURN_POLICY={policy}")
        pairs = (f"X({constant}, {name})" for name, constant in names.items())
        given.append(f"-DSOJOURN_ATTRIBUTES={' '.join(pairs)}")
    if source.needs_ecn:
        given.append("-DSOJOURN_NEEDS_ECN")
    if observed:
        given.append(f"-DSOJOURN_STATE={source.state}")
        given.append(f"-DSOJOURN_OBSERVE={' '.join(f'X({field})' for field in observed)}")
    return tuple(given)


def library(source: Source, shim: Shim, options: Sequence[str]) -> Path:
    """The source as a shared library, compiled unless it is kept from before.

    Raises:
        ScenarioError: with the compiler's first error, or that there is no compiler.

    """
    told = digest(source, options)
    kept = directory() / f"{source.path.stem}-{told}.so"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as place:
            made = _compile(source, shim, options, Path(place))
            if digest(source, options) != told:  # what is kept is never compiled again
                raise refused("source", f"{source.path} has changed meanwhile; run it again")
            made.replace(kept)
    return kept


def directory() -> Path:
    """Where libraries are kept, which may be deleted."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sojourn" / "linux"


def _compile(source: Source, shim: Shim, options: Sequence[str], place: Path) -> Path:
    compiler = [_compiler(), *_OPTIONS, *options, *_include(source, place)]
    objects = []
    for number, module in enumerate(source.modules):
        objects.append(place / f"{number}.o")
        _call(source, [*compiler, "-c", str(module), "-o", str(objects[-1])])
    made = place / "module.so"
    whole = f'-DSOJOURN_SOURCE="{source.path}"'
    link = ("-shared", "-Wl,-z,defs", str(KERNEL / f"{shim}.c"), *map(str, objects))
    _call(source, [*compiler, whole, *link, "-o", str(made)])
    return made


def _include(source: Source, place: Path) -> list[str]:
    """Headers under the kernel's names, each of which is one of ours or of the source's own."""
    top = place / "include"
    names = {name: str(KERNEL / f"{ours}.h") for name, ours in forwarded().items()}
    for name, path in (names | source.algorithms).items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(f'#include "{path}"\n')
    return [f"-I{top}", f"-I{KERNEL}", f"-I{KERNEL.parent.parent / 'include'}"]


@cache
def forwarded() -> dict[str, str]:
    """The kernel's headers that ours stand for."""
    lines = (KERNEL / "forward.txt").read_text().splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def _ours() -> list[Path]:
    return [*sorted(KERNEL.iterdir()), KERNEL.parent.parent / "include" / "sojourn_cca.h"]


def _compiler() -> str:
    name = os.environ.get("CC", "cc")
    found = shutil.which(name)
    if found is None:
        message = f"no C compiler: {name} is not to be found; install one (Debian: gcc) or set CC"
        raise refused("source", message)
    return found


@cache
def _version(compiler: str) -> str:
    told = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return told.stdout.partition("\n")[0]


def _call(source: Source, command: list[str]) -> None:
    told = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )
    if told.returncode:
        raise refused("source", _first_error(source, told.stderr))


def _first_error(source: Source, told: str) -> str:
    """The compiler's first error with its line, and what of the kernel is missing."""
    lines = told.splitlines()
    wrong = [line for line in lines if "error:" in line or "undefined reference" in line]
    first = next((line for line in wrong if str(source.path) in line), wrong[0] if wrong else told)
    first = first.replace("[-Werror=implicit-function-declaration]", "").strip()
    if header := _HEADER.search(first):
        return f"{first}; Sojourn's kernel headers have no <{header[1]}>"
    helper = _HELPER.search(first)
    missing = next(filter(None, helper.groups()), None) if helper else None
    return f"{first}; Sojourn's kernel headers have no {missing}" if missing else first
