"""What comes with the package besides code: experiments and reference tables.

Those of a reproduction lie in its own folder. In a checkout ``experiments`` and ``reference`` are
links to its own directories; a wheel has copies.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from sojourn import installed
from sojourn.errors import SojournError

EXPERIMENTS = "experiments"
REFERENCE = "reference"
_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[2]


def path(name: str) -> Path:
    """The file or directory of a name such as ``reference/ccperf/SOURCE.md``, wherever it lies."""
    kind, *rest = PurePosixPath(name).parts
    if kind in (EXPERIMENTS, REFERENCE) and rest and not (_HERE / kind / rest[0]).exists():
        folder = installed.folder(rest[0])
        if folder:
            return folder.joinpath(kind, *rest[1:]).resolve()
    return (_HERE / name).resolve()


def checkout() -> Path:
    """The checkout that the package is used from, for what changes its sources.

    Raises:
        SojournError: if the package is installed without them.

    """
    if not (_ROOT / "crates" / "sojourn-python").is_dir():
        raise SojournError("this needs a checkout of Sojourn: the installed package has no sources")
    return _ROOT
