"""Where a kernel's sources are: a tree, a tarball, or a package of Debian's."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from sojourn import regular_file
from sojourn.errors import ScenarioError, SojournError

_PACKAGE = re.compile(r"linux-source-\d+\.\d+")
_SYSTEM = Path("/usr/src")
#: Bytes of a tarball at most.
_LARGEST = 4 << 30


def located(source: str, cache: Path) -> Path:
    """The tree or the tarball that ``source`` means; a package that is not installed is downloaded.

    Raises:
        ScenarioError: if there is none.

    """
    given = Path(source).expanduser()
    if given.exists():
        return given.resolve()
    if not _PACKAGE.fullmatch(source):
        raise ScenarioError(
            f"SOURCE: no such file, and no package such as linux-source-6.12: {source}"
        )
    installed = _SYSTEM / f"{source}.tar.xz"
    return installed if installed.exists() else _downloaded(source, cache / "packages")


def _downloaded(package: str, place: Path) -> Path:
    """The package's tarball below ``place``, where it is put when it is whole."""
    tarball = place / "usr" / "src" / f"{package}.tar.xz"
    if tarball.exists():
        return tarball
    if not shutil.which("apt-get"):
        raise ScenarioError(
            f"SOURCE: {package} is not installed, and there is no apt-get; give the path of a "
            "kernel's sources, a tree or a tarball (https://www.kernel.org)"
        )
    tarball.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=place) as beside:
            subprocess.run(["apt-get", "download", package], cwd=beside, check=True)
            (found,) = Path(beside).glob(f"{package}_*.deb")
            subprocess.run(["dpkg-deb", "-x", found.name, "."], cwd=beside, check=True)
            (Path(beside) / tarball.relative_to(place)).replace(tarball)
    except (subprocess.CalledProcessError, ValueError) as error:
        raise SojournError(f"downloading {package}: {error}; or: apt install {package}") from None
    return tarball


def unpacked(found: Path, place: Path) -> Path:
    """A copy of the sources below ``place``, of which only a whole one counts."""
    tree = place / "linux"
    if (tree / "Makefile").exists():
        return tree
    partial = place / "unpacking"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    if found.is_dir():
        shutil.copytree(found, partial / "linux", symlinks=True)
    else:
        try:
            file = regular_file.opened(found, _LARGEST)
        except OSError as error:
            raise ScenarioError(f"SOURCE: {found}: cannot be read: {error.strerror}") from None
        try:
            with file, tarfile.open(fileobj=file) as tarball:
                # An attribute, because the argument is newer than the oldest Python that runs this.
                tarball.extraction_filter = lambda member, path: member
                tarball.extractall(partial)
        except tarfile.TarError as error:
            raise ScenarioError(f"SOURCE: {found}: {error}") from None
    roots = list(partial.iterdir())
    if len(roots) != 1 or not (roots[0] / "Makefile").exists():
        raise ScenarioError(f"SOURCE: {found}: not a kernel's sources")
    roots[0].rename(tree)
    partial.rmdir()
    return tree


def version(tree: Path) -> str:
    """Such as 6.12.117, of the Makefile."""
    text = (tree / "Makefile").read_text(encoding="utf-8")
    parts = [re.search(rf"^{name} = (\d+)$", text, re.M) for name in _PARTS]
    if not all(parts):
        raise ScenarioError(f"SOURCE: {tree}: not a kernel's sources")
    return ".".join(part[1] for part in parts if part)


_PARTS = ("VERSION", "PATCHLEVEL", "SUBLEVEL")
