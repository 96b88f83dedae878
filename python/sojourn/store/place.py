"""Where results go: a directory has one kind and one scenario.

Below ``results/`` another scenario is kept apart by name; in a directory that was named it is
refused, unless it is to replace what is there. What is about to be written is announced in the
manifest, so that two commands at once do not take the same directory.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import uuid
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sojourn.errors import ScenarioError, SojournError
from sojourn.programs import OUTPUT, WRITTEN
from sojourn.spool import clear_dead
from sojourn.store import manifest
from sojourn.store.location import is_remote, write
from sojourn.store.lock import exclusive
from sojourn.store.manifest import Manifest

RESULTS = Path("results")
#: Key of the manifest of what has been announced and not yet written.
UNFINISHED = "unfinished"
Say = Callable[[str], None]

#: What is made from results.
_DERIVED = (
    *("report.html", "pictures.json", "figures/*.png", "figures/*.svg", "figures/*.pdf"),
    *("tables/*.csv", "tables/*.md"),
)
_OURS = (
    *_DERIVED,
    *("flow_samples.parquet", "flows.parquet", "link_samples.parquet", "links.parquet"),
    *("node_samples.parquet", "transfers.parquet", "arrival_samples.parquet"),
    *("state.parquet", "packets.parquet", "packets.pcapng", OUTPUT, f"kernel-*/{OUTPUT}"),
    *("qlog/*.sqlog", "sim-*/qlog/*.sqlog"),
    *("metrics_*.parquet", "summary.csv", "comparison.csv", "deadlines.csv", "capacity.json"),
    *("replay.csv", "replay.md"),
    *("runs/*.parquet", "samples/*.parquet", "quarantine/*.parquet"),
    *("backends.csv", "sim-*/*.parquet", "live-*/*.parquet", "kernel-*/*.parquet"),
    *("sim-*/*.json", "live-*/*.json", "kernel-*/*.json"),
    *("sim-*/*.pcapng", "live-*/*.pcapng", "kernel-*/*.pcapng"),
    manifest.FILE,
)
#: Directories of files that programs wrote.
_TREES = (WRITTEN, f"kernel-*/{WRITTEN}")


class Terms(NamedTuple):
    """How the one who chooses a directory says so, and that it is to be replaced."""

    directory: str
    force: str


COMMAND = Terms("--out", "--force")
PYTHON = Terms("directory", "force=True")


@dataclass(frozen=True)
class Tenant:
    """What wants a directory."""

    kind: str
    #: Its directory below ``results/``, and what that is called where the first is taken.
    name: str
    apart: str
    #: What its manifest says from the start.
    identity: Manifest
    #: How a manifest of the same kind differs; empty if it is of the same.
    differs: Callable[[Manifest], str]

    def conflict(self, directory: Path) -> str:
        """What the directory holds, if that is something else; else empty."""
        if not (directory / manifest.FILE).exists():
            return ""
        try:
            found = manifest.read(directory)
        except SojournError as error:
            return f"holds results that cannot be read ({error})"
        if found["kind"] != self.kind:
            return f"holds a {found['kind']}"
        differs = self.differs(found)
        return f"holds another {self.kind}: {differs}" if differs else ""

    def candidates(self) -> Iterator[Path]:
        """Directories below ``results/``, the first choice first."""
        yield from (RESULTS / name for name in dict.fromkeys((self.name, self.apart)))
        yield from (RESULTS / f"{self.apart}-{number}" for number in itertools.count(2))


@contextmanager
def claimed(
    tenant: Tenant, out: Path | None, say: Say, *, force: bool = False, terms: Terms = COMMAND
) -> Iterator[Path]:
    """The tenant's directory, which can be written; released if nothing comes of it.

    Raises:
        ScenarioError: if ``out`` holds something else or cannot be written.

    """
    directory = choose(tenant, out, say, force, terms)
    check_writable(directory, f"{terms.directory} {directory}" if out else str(directory), terms)
    if force and tenant.conflict(directory):
        clear(directory)
    while not _announce(tenant, directory):
        directory = choose(tenant, out, say, False, terms)
    if not is_remote(directory):
        clear_dead(directory)
    try:
        yield directory
    except BaseException:
        _release(directory)
        raise


def choose(tenant: Tenant, out: Path | None, say: Say, force: bool, terms: Terms = COMMAND) -> Path:
    """The directory that the tenant would get; nothing is written.

    Raises:
        ScenarioError: if ``out`` holds something else.

    """
    if out is not None or force:
        directory = out or RESULTS / tenant.name
        if (conflict := tenant.conflict(directory)) and not force:
            raise ScenarioError(
                f"{terms.directory} {directory}: {conflict}; give another directory, or "
                f"{terms.force} to replace what it holds"
            )
        return directory
    first = ""
    for directory in tenant.candidates():
        conflict = tenant.conflict(directory)
        if not conflict:
            break
        first = first or f"{directory} {conflict}"
    if first:
        say(f"{first}; results go to {directory} ({terms.force} would replace what is there)")
    return directory


def check_writable(directory: Path, named: str, terms: Terms = COMMAND) -> None:
    """Makes the directory, or says that it cannot be written; ``named`` as the error names it.

    Raises:
        ScenarioError: that, or that a directory of its results is a symbolic link: whoever has
            prepared it may have had others' files in mind.

    """
    if is_remote(directory):
        _check_bucket(directory, named)
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise ScenarioError(
            f"{named}: cannot be written: {error.strerror}; give another directory with "
            f"{terms.directory}"
        ) from None
    _check_links(directory, named)


def _check_links(directory: Path, named: str) -> None:
    trees = (*_TREES, *(f"{tree}/**/*" for tree in _TREES))
    names = {"example", *trees, *(p.partition("/")[0] for p in _OURS if "/" in p)}
    for name in sorted(names):
        for path in directory.glob(name):
            if path.is_symlink():
                raise ScenarioError(
                    f"{named}: {path.relative_to(directory)} is a symbolic link, through which "
                    "nothing is written or removed: give the directory that it is in, or remove it"
                )


def _check_bucket(directory: Path, named: str) -> None:
    probe = directory / f".probe-{uuid.uuid4().hex}"
    try:
        write(probe, b"")
        probe.unlink()
    except Exception as error:  # whatever the store's client raises
        raise ScenarioError(f"{named}: cannot be written: {error}") from None


def _announce(tenant: Tenant, directory: Path) -> bool:
    """Says in the manifest whose the directory is; whether it is the tenant's."""
    with exclusive(directory, lambda: None):
        if (directory / manifest.FILE).exists():
            return not tenant.conflict(directory)
        manifest.write(directory, tenant.kind, {UNFINISHED: True, **tenant.identity})
        return True


def _release(directory: Path) -> None:
    """Withdraws what was only announced."""
    with suppress(ScenarioError, SojournError, OSError):
        if manifest.read(directory).get(UNFINISHED):
            (directory / manifest.FILE).unlink()


def clear(directory: Path) -> None:
    """Removes the results in a directory, and nothing else."""
    if (directory / "example" / manifest.FILE).exists():
        clear(directory / "example")
    for tree in [tree for pattern in _TREES for tree in directory.glob(pattern)]:
        clear_tree(tree)
    _remove(directory, _OURS)


def clear_tree(tree: Path, kept: Container[Path] = ()) -> None:
    """Removes the files below a directory but for those ``kept``, and directories without any."""
    if is_remote(tree):
        for path in [path for path in tree.rglob("*") if path.is_file() and path not in kept]:
            path.unlink()
        return
    for name, _, files in os.walk(tree, topdown=False):
        for path in (Path(name) / file for file in files):
            if path not in kept:
                path.unlink()
        with suppress(OSError):  # something is kept in it
            Path(name).rmdir()


def clear_derived(directory: Path) -> None:
    """Removes what was made from earlier results: report, tables and figures."""
    _remove(directory, _DERIVED)


def _remove(directory: Path, patterns: tuple[str, ...]) -> None:
    for path in [path for pattern in patterns for path in directory.glob(pattern)]:
        remove(path, directory)


def remove(path: Path, directory: Path) -> None:
    """Removes a file of a directory of results, and what it was alone in below that."""
    path.unlink(missing_ok=True)
    if path.parent != directory:
        with suppress(OSError):  # something else is in it
            path.parent.rmdir()
