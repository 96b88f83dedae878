"""Whether the engine was built from the Rust sources beside the package; a wheel has none."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from sojourn import _internal

CHECKOUT = Path(__file__).resolve().parents[2]
LOCK = "Cargo.lock"
#: As in ``crates/sojourn-stamp``: whose versions decide the numbers of a run.
DRAWN = ("libm", "rand", "rand_core", "rand_xoshiro", "reed-solomon-erasure")
_ROOT = "sojourn-python"


def is_stale(root: Path = CHECKOUT) -> bool:
    """Whether what simulates has changed since the engine was built."""
    if _internal.PROGRAM:  # which is older than its own sources or not
        return False
    if not (root / "crates").is_dir():
        return False
    return any(current(root, name) != built for name, built in _internal.engine_parts())


def current(root: Path, part: str) -> str:
    """What a part of the engine would be if it were built now; empty if it has gone."""
    path = root / LOCK if part == LOCK else root / "crates" / part
    if not path.exists():
        return ""
    return locked(path.read_text(encoding="utf-8")) if part == LOCK else source_hash(path)


def source_hash(crate: Path) -> str:
    """Names a crate's sources as ``sources`` of ``crates/sojourn-stamp`` does."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted([crate / "Cargo.toml", *(crate / "src").glob("**/*.rs")]):
        for part in (path.relative_to(crate).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.hexdigest()


def locked(lock: str) -> str:
    """The versions of what crates that simulate draw and compute with, as ``locked`` there."""
    packages = [_package(text) for text in lock.split("[[") if text.startswith("package]]")]
    found: set[int] = set()
    waiting = [_ROOT]
    while waiting:
        name, *version = waiting.pop().split()[:2]
        named = {at for at, package in enumerate(packages) if package.name == name}
        new = {at for at in named - found if version in ([], [packages[at].version])}
        found |= new
        waiting += [name for at in new for name in packages[at].dependencies if _decides(name)]
    drawn = (packages[at] for at in sorted(found) if packages[at].name in DRAWN)
    return ", ".join(f"{p.name} {p.version} {p.content}" for p in drawn)


@dataclass
class _Package:
    name: str
    version: str
    #: Its checksum, or the commit that it is from; empty for what lies in a directory.
    content: str
    #: Names; with the version where the lock has several.
    dependencies: list[str]


def _package(text: str) -> _Package:
    """Without a parser of TOML, which would take longer than the rest: each command asks."""
    values: dict[str, str] = dict(re.findall(r'^(\w+) = "(.*)"$', text, re.MULTILINE))
    content = values.get("checksum") or values.get("source", "")
    dependencies = re.findall(r'^ "(.*)",$', text, re.MULTILINE)
    return _Package(values["name"], values["version"], content, dependencies)


def _decides(dependency: str) -> bool:
    name = dependency.split(maxsplit=1)[0]
    return name.startswith("sojourn-") or name in DRAWN
