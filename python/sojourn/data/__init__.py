"""What comes with the package besides code: experiments, reference tables, documentation.

In a checkout ``experiments``, ``reference`` and ``docs`` are links to its own directories; a wheel
has copies.
"""

from __future__ import annotations

from pathlib import Path

from sojourn.errors import SojournError

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[2]


def path(name: str) -> Path:
    """The file or directory of a name such as ``reference/ccperf/SOURCE.md``."""
    return (_HERE / name).resolve()


def checkout() -> Path:
    """The checkout that the package is used from, for what changes its sources.

    Raises:
        SojournError: if the package is installed without them.

    """
    if not (_ROOT / "crates" / "sojourn-python").is_dir():
        raise SojournError("this needs a checkout of Sojourn: the installed package has no sources")
    return _ROOT
