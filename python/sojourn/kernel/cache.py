"""Kernels that have been built, a directory each: the program, its configuration, what it is."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sojourn.errors import ScenarioError

PROGRAM = "linux"
CONFIGURATION = "config"
FACTS = "kernel.json"
_HOW = "to build one: sojourn kernel build linux-source-6.12"


@dataclass(frozen=True)
class Kernel:
    """One of them."""

    version: str
    hz: int
    place: Path
    #: How it was built (:func:`sojourn.kernel.build.recipe`); empty if that is not known.
    recipe: str = ""

    @property
    def program(self) -> Path:
        """What is run."""
        return self.place / PROGRAM

    @cached_property
    def digest(self) -> str:
        """Tells the program from one that is built of other sources of the same version."""
        return hashlib.blake2b(self.program.read_bytes(), digest_size=8).hexdigest()

    @property
    def name(self) -> str:
        """Such as 6.12.117-hz250."""
        return f"{self.version}-hz{self.hz}"


def root() -> Path:
    """The cache's directory, of the XDG base directories."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "sojourn" / "kernels"


def kernels() -> list[Kernel]:
    """All that are there, the latest version first, and of one version that with 250 Hz."""
    found = []
    for facts in root().glob(f"*/{FACTS}"):
        said = json.loads(facts.read_text(encoding="utf-8"))
        recipe = str(said.get("recipe", ""))
        found.append(Kernel(str(said["version"]), int(said["hz"]), facts.parent, recipe))
    return sorted(found, key=lambda k: (_numbers(k.version), k.hz == 250, k.hz), reverse=True)


def kernel(wanted: str = "") -> Kernel:
    """The latest one whose version, or whole name, begins as wanted.

    Raises:
        ScenarioError: if there is none.

    """
    there = kernels()
    for one in there:
        if one.name == wanted or _begins(one.version, wanted):
            return one
    names = ", ".join(one.name for one in there)
    has = f"built: {names}; {_HOW}" if there else f"no kernel is built; {_HOW}"
    raise ScenarioError(f"backend: kernel{':' * bool(wanted)}{wanted} given; {has}")


def _begins(version: str, wanted: str) -> bool:
    return not wanted or f"{version}.".startswith(f"{wanted}.")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
