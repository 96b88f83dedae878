"""Libraries imported without what a command that runs once has no use for."""

from __future__ import annotations

import os

#: Read once, when NumPy is imported.
_THREADS = "OPENBLAS_NUM_THREADS"


def import_numpy() -> None:
    """NumPy without threads for large matrices, of which there are none: they take a third of the
    import to start. What the command starts in turn may have some.
    """
    given = os.environ.get(_THREADS)
    os.environ.setdefault(_THREADS, "1")
    import numpy as _numpy  # noqa: F401

    if given is None:
        del os.environ[_THREADS]


def undocument_matplotlib() -> None:
    """Has matplotlib, which is about to be imported, describe no artist's properties: a fifth of
    the import, for nobody to read.
    """
    from matplotlib import artist

    vars(artist)["kwdoc"] = lambda _: ""
