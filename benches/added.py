"""What ``sojourn run`` does with its processor time, piece by piece: a table of the page on speed.

    python -m benches.added

Runs the command on workloads b and e in turns. Within it, a timer of the processor's time looks
every millisecond at what Python is doing, and gives the time since it last looked to that; so the
pieces are all that the process takes, its threads included.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from types import FrameType

ROOT = Path(__file__).parent.parent
COMMAND = "python -m benches.added"
WORKLOADS = ("b", "e")
TURNS = 7
EVERY = 1e-3
#: Pieces by the function that is at work, or whose call is.
FUNCTIONS = {
    ("sojourn/engine.py", "_core"): "the core",
    ("sojourn/engine.py", "simulate"): "its columns, handed over",
    ("sojourn/measured.py", "complete"): "metrics",
    ("sojourn/store/files.py", "write_together"): "the store: Parquet, manifest",
    ("sojourn/cli/show_run.py", "show_runs"): "the summary on the screen",
    ("sojourn/figures/__init__.py", "save_all"): "figures: drawn, PNG and SVG",
    ("sojourn/checkout.py", "is_stale"): "whether the engine is up to date (a checkout alone asks)",
}
#: ... or by the package that is being imported, with all that it imports.
PACKAGES = {
    "numpy": "import of NumPy",
    "polars": "import of Polars",
    "rich": "import of Rich",
    "click": "import of Click",
    "matplotlib": "import of matplotlib",
}
MODULES = "import of Sojourn's modules, and of Python's"
START, OTHER = "Python itself", "else"
PIECES = [START, *PACKAGES.values(), MODULES, *FUNCTIONS.values(), OTHER]


def piece(frame: FrameType | None) -> str:
    """What the innermost call is a part of: of imports the outermost of a package counts."""
    found, importing = OTHER, False
    while frame is not None:
        code = frame.f_code
        if code.co_name == "_find_and_load" and "importlib" in code.co_filename:
            package = str(frame.f_locals.get("name", "")).partition(".")[0]
            found = PACKAGES.get(package, found if importing else MODULES)
            importing = True
        elif not importing:
            place = "/".join(Path(code.co_filename).parts[-3:])
            for (file, name), called in FUNCTIONS.items():
                if name == code.co_name and place.endswith(file):
                    return called
        frame = frame.f_back
    return found


def watched(arguments: list[str]) -> None:
    """Runs the command in this process; its pieces, in seconds, are the last line it prints."""
    last = time.process_time()
    seconds = defaultdict[str, float](float, {START: last})

    def look(_: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.process_time()
        seconds[piece(frame)] += now - last
        last = now

    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    sys.argv = ["sojourn", *arguments]
    try:
        runpy.run_module("sojourn", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if ended.code:
            raise
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(json.dumps(seconds))


def compiled() -> dict[str, str]:
    """The environment of a command whose modules are compiled, as those of an installed package."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def once(workload: str) -> dict[str, float]:
    """The pieces of one run of the command."""
    file = ROOT / "experiments" / "speed" / f"{workload}.toml"
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, __file__, "run", str(file), "--out", directory]
        done = subprocess.run(command, env=compiled(), check=True, capture_output=True, text=True)
    seconds: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return seconds


def main() -> None:
    """Prints the medians of all turns, stores them and writes the page."""
    from tools.pages import kept
    from tools.pages import performance as page

    os.chdir(ROOT)
    once(WORKLOADS[0])  # after which modules are compiled
    runs = [{workload: once(workload) for workload in WORKLOADS} for _ in range(TURNS)]
    rows: list[kept.Measured] = [
        {"piece": name, **{w: median(run[w].get(name, 0.0) for run in runs) for w in WORKLOADS}}
        for name in PIECES
    ]
    kept.store(page.ADDED, COMMAND, {kept.TABLE: rows})
    kept.put(page.NAME, page.page())
    print(page.added())


if __name__ == "__main__":
    if sys.argv[1:]:
        watched(sys.argv[1:])
    else:
        main()
