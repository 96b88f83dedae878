"""Where results go: a directory has one kind and one scenario.

Below ``results/`` another scenario is kept apart by name; in a directory that was named it is
refused, unless it is to replace what is there, which stays until the new results are whole. What is
about to be written is announced in the manifest, so that two commands at once do not take the same
directory.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sojourn.disk import told
from sojourn.errors import ScenarioError, SojournError
from sojourn.spool import clear_dead
from sojourn.store import manifest
from sojourn.store.files import PARTIAL, clear_partial
from sojourn.store.held import holding, is_held, shared
from sojourn.store.layout import OURS, TREES, clear, clear_tree, has_results
from sojourn.store.location import is_remote, write
from sojourn.store.lock import exclusive
from sojourn.store.manifest import Manifest
from sojourn.store.replacement import replace, settle

RESULTS = Path("results")
#: Key of the manifest of what has been announced and not yet written.
UNFINISHED = "unfinished"
#: Where results are written that are added to in place, while they are to replace others.
_REPLACEMENT = ".replacement"
Say = Callable[[str], None]


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
    #: Whether its results are added to in place, so that what was interrupted is gone on with.
    grows: bool = True

    def conflict(self, directory: Path) -> str:
        """What the directory holds, if that is something else; else empty."""
        try:
            settle(directory)
            if not (directory / manifest.FILE).exists():
                return ""
            found = manifest.read(directory)
            if is_abandoned(directory, found):
                return ""
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


@dataclass(frozen=True)
class Claim:
    """A directory that a tenant has."""

    #: Where its results will be.
    directory: Path
    #: Where they are written: the same, or until they are whole a directory of their own below it.
    work: Path


@contextmanager
def claimed(
    tenant: Tenant, out: Path | None, say: Say, *, force: bool = False, terms: Terms = COMMAND
) -> Iterator[Claim]:
    """The tenant's directory, which can be written; released if nothing comes of it. What it holds
    stays as it is until this ends without an error, unless the tenant adds to it.

    Raises:
        ScenarioError: if ``out`` holds something else or cannot be written.

    """
    directory = choose(tenant, out, say, force, terms)
    check_writable(directory, f"{terms.directory} {directory}" if out else str(directory), terms)
    if is_remote(directory) and force and tenant.conflict(directory):
        clear(directory)
    while True:
        with _announced(tenant, directory, force=force) as mine:
            if mine:
                yield from _claim(tenant, directory, say)
                return
        directory = choose(tenant, out, say, False, terms)


def _claim(tenant: Tenant, directory: Path, say: Say) -> Iterator[Claim]:
    try:
        if is_remote(directory):
            yield Claim(directory, directory)
            return
        clear_dead(directory)
        with _work(tenant, directory, say) as work:
            clear_dead(work)
            yield Claim(directory, work)
            if work != directory:
                replace(directory, work)
    except BaseException:
        _release(directory)
        raise


@contextmanager
def _work(tenant: Tenant, directory: Path, say: Say) -> Iterator[Path]:
    """Where the tenant writes."""
    if tenant.grows and not tenant.conflict(directory):
        yield directory
    elif tenant.grows:
        yield from _growing(tenant, directory, say)
    else:
        new = Path(tempfile.mkdtemp(prefix=".new-", suffix=PARTIAL, dir=directory))
        try:
            with holding(new):
                yield new
        finally:
            shutil.rmtree(new, ignore_errors=True)


def _growing(tenant: Tenant, directory: Path, say: Say) -> Iterator[Path]:
    """Where results are written that are to replace others, and gone on with however it ends."""
    new = directory / _REPLACEMENT
    while True:
        new.mkdir(exist_ok=True)
        with holding(new, lambda: say(f"{new}: another command is at work: waiting")) as same:
            if not tenant.conflict(directory):  # that one has replaced it
                yield directory
                return
            if not same:
                continue
            if tenant.conflict(new):
                clear_tree(new)
                new.mkdir(exist_ok=True)
                continue
            clear_partial(new)
            if not (new / manifest.FILE).exists():
                manifest.write(new, tenant.kind, {UNFINISHED: True, **tenant.identity})
            yield new
            return


def choose(tenant: Tenant, out: Path | None, say: Say, force: bool, terms: Terms = COMMAND) -> Path:
    """The directory that the tenant would get; nothing is written.

    Raises:
        ScenarioError: if ``out`` holds something else.

    """
    if out is not None or force:
        directory = out or RESULTS / tenant.name
        _check_name(directory, terms)
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


def _check_name(directory: Path, terms: Terms) -> None:
    """Refuses a path that the system or the library of tables cannot take."""
    named = f"{terms.directory} {directory}"
    try:
        str(directory).encode()
        directory.exists()
    except UnicodeEncodeError:
        raise ScenarioError(f"{named}: is no UTF-8, in which tables are named; rename it") from None
    except OSError as error:
        raise ScenarioError(f"{terms.directory} {told(error)}") from None


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
        why = told(OSError(error.errno, error.strerror))
        remedy = "" if "(--out)" in why else f"; give another directory with {terms.directory}"
        raise ScenarioError(f"{named}: cannot be written: {why}{remedy}") from None
    _check_links(directory, named)


def _check_links(directory: Path, named: str) -> None:
    trees = (*TREES, *(f"{tree}/**/*" for tree in TREES))
    names = {"example", *trees, *(p.partition("/")[0] for p in OURS if "/" in p)}
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


@contextmanager
def _announced(tenant: Tenant, directory: Path, *, force: bool) -> Iterator[bool]:
    """Says in the manifest whose the directory is, unless it has results; whether it is the
    tenant's, who holds it meanwhile.
    """
    with ExitStack() as stack:
        with exclusive(directory, lambda: None):
            mine = force or not tenant.conflict(directory)
            if not is_remote(directory) and not is_held(directory):
                clear_partial(directory)
            there = (directory / manifest.FILE).exists()
            if mine and (not there or is_abandoned(directory, _read(directory))):
                manifest.write(directory, tenant.kind, {UNFINISHED: True, **tenant.identity})
            if mine and not is_remote(directory):
                stack.callback(os.close, shared(directory))
        yield mine


def is_abandoned(directory: Path, found: Manifest) -> bool:
    """Whether its manifest only announces, and nobody is there any more who would go on: a process
    that was killed. Of an object store nobody can tell.
    """
    if is_remote(directory) or not found.get(UNFINISHED) or is_held(directory):
        return False
    return not has_results(directory)


def _read(directory: Path) -> Manifest:
    """Its manifest, of which nothing is known if it is damaged."""
    try:
        return manifest.read(directory)
    except SojournError:
        return {}


def _release(directory: Path) -> None:
    """Withdraws what was only announced."""
    with suppress(ScenarioError, SojournError, OSError):
        if manifest.read(directory).get(UNFINISHED) and not has_results(directory):
            (directory / manifest.FILE).unlink()
