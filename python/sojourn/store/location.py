"""Where results are: a directory here, or one of an object store such as ``s3://bucket/name``.

Both are used as a :class:`pathlib.Path` is. An object is whole or not there, so that nothing is
renamed into its place; it cannot be locked (:mod:`sojourn.store.lease`). The files of a store never
change, so what is read of them is copied here once.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sojourn import scratch
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem
    from upath import UPath


def located(text: str) -> Path:
    """The place that a text names.

    Raises:
        ScenarioError: if it is on an object store and what that takes is not installed.

    """
    if "://" not in text:
        return Path(text)
    try:
        from fsspec.implementations.local import LocalFileSystem
        from upath import UPath

        place = UPath(text.rstrip("/"), use_listings_cache=False)
        if isinstance(place.fs, LocalFileSystem):  # it has links and locks, which stores have not
            return Path(place.path)
    except (ImportError, ValueError) as error:
        raise ScenarioError(
            f"{text}: object stores need the optional packages: pip install 'sojourn[cluster]'; "
            f"others than S3, those of fsspec ({error})"
        ) from None
    return cast("Path", place)


def is_remote(place: Path) -> bool:
    """Whether it is on an object store."""
    return not isinstance(place, Path)


def write(place: Path, content: bytes) -> None:
    """Writes an object at once."""
    filesystem, path = _object(place)
    filesystem.pipe_file(path, content)


def create(place: Path, content: bytes) -> bool:
    """Writes an object that is not there; whether it was not."""
    filesystem, path = _object(place)
    try:
        filesystem.pipe_file(path, content, mode="create")
    except FileExistsError:
        return False
    return True


def local(place: Path) -> Path:
    """A file here that has the content of one that never changes.

    Raises:
        FileNotFoundError: if it is not there any more.

    """
    if not is_remote(place):
        return place
    digest = hashlib.blake2b(str(place.parent).encode(), digest_size=8).hexdigest()
    return scratch.kept(f"{digest}-{place.name}", lambda copy: copy.write_bytes(place.read_bytes()))


def _object(place: Path) -> tuple[AbstractFileSystem, str]:
    remote = cast("UPath", place)
    return remote.fs, remote.path
