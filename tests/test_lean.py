"""Libraries as commands import them: in a process of its own, since they are imported once."""

from __future__ import annotations

import subprocess
import sys

NUMPY = """
import os
from sojourn.cli.lean import import_numpy
before = {**os.environ}
import_numpy()
assert {**os.environ} == before, "what is started would have no threads"
assert len(os.listdir("/proc/self/task")) == 1
"""
MATPLOTLIB = """
from sojourn.cli.lean import undocument_matplotlib
undocument_matplotlib()
from matplotlib.lines import Line2D
assert Line2D.set.__doc__.strip().endswith("Supported properties are")
assert Line2D([0], [0], linewidth=3).get_linewidth() == 3
"""


def done(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


def test_numpy_starts_no_threads_and_the_environment_is_as_before() -> None:
    done(NUMPY)


def test_properties_of_artists_are_not_described() -> None:
    done(MATPLOTLIB)
