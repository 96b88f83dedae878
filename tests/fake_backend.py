"""A backend for tests: the simulator under another name, which notes what it is asked to do.

As a program it is the command line with this backend beside the others. ``FAKE_RUNS`` is the file
that has a line for each run; ``FAKE_BUILD`` names its build; with ``FAKE_SECONDS`` a run takes so
long, and with ``FAKE_ALONE`` its runs go on one at a time; after ``FAKE_MOST`` of them the machine
lacks what it needs.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from sojourn import backends
from sojourn.backends import sim
from sojourn.engine import Progress
from sojourn.errors import LackError, refused
from sojourn.executors.threads import go_on
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.metrics.samples import Alone
from sojourn.scenario import Document, Scenario

#: All that it has.
CONTROLS = ("reno", "cubic", "bbr")
name = "fake"
side_by_side = "FAKE_ALONE" not in os.environ
runs_of = sim.runs_of


def check(canonical: Document) -> None:
    """Refuses controls that it does not have."""
    for number, flow in enumerate(canonical["flows"]):
        kind = flow["cca"]["kind"] if "cca" in flow else "reno"
        if kind not in CONTROLS:
            has = ", ".join(CONTROLS)
            raise refused(f"flows.{number}.cca", f"'{kind}' given; the fake has: {has}")


def _note(what: str) -> None:
    if file := os.environ.get("FAKE_RUNS"):
        with Path(file).open("a", encoding="utf-8") as notes:
            notes.write(f"{what}\n")


def _lack(most: int) -> None:
    if Path(os.environ["FAKE_RUNS"]).read_text(encoding="utf-8").count("ends") >= most:
        raise LackError("backend: the fake needs what is missing")


def run(
    scenario: Scenario,
    progress: Progress | None = None,
    repetition: int = 0,
    spool: Path | None = None,
) -> Measured:
    """Simulates."""
    data, timing = measure(scenario.canonical, progress)
    return Measured(scenario, data, timing, origin=key(repetition))


def measure(
    canonical: Document, progress: Progress | None = None, spool: Path | None = None
) -> tuple[RunData, dict[str, float]]:
    """Simulates; takes as long as it was told to."""
    _note("begins")
    if "FAKE_MOST" in os.environ:
        _lack(int(os.environ["FAKE_MOST"]))
    until = time.monotonic() + float(os.environ.get("FAKE_SECONDS", "0"))
    while time.monotonic() < until:
        go_on()
        time.sleep(0.01)
    made = sim.measure(canonical, progress)
    _note("ends")
    return made


def alone(canonical: Document) -> Alone:
    """Notes that it is asked for flows by themselves."""
    _note("alone")
    return sim.alone(canonical)


def key(repetition: int = 0) -> dict[str, Any]:
    """Its build."""
    return {"backend": "fake", "build": os.environ.get("FAKE_BUILD", "1")}


if __name__ in ("__main__", "__mp_main__"):  # the latter in the workers of a cluster
    backends.NAMES["fake"] = "fake_backend"
if __name__ == "__main__":
    from sojourn.cli import main

    main()
