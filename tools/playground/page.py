"""The playground's page in a directory: its sources, what it takes from elsewhere, lessons, engine.

``python -m tools.playground.page OUT [ENGINE]``, where ENGINE is the core compiled for wasm32;
without one, a stand-in of the page's tests answers, which simulates next to nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

from tools.playground.lessons import ROOT, lessons

SOURCES = ROOT / "docs" / "_playground"
LOCKED = Path(__file__).parent
#: What of uPlot a page needs, and under which terms.
TAKEN = {
    "dist/uPlot.iife.min.js": "uPlot.iife.min.js",
    "dist/uPlot.min.css": "uPlot.min.css",
    "LICENSE": "uPlot.LICENSE",
}
#: The page compressed, in bytes; what takes longer to load nobody waits for.
MOST = 1_300_000


def assemble(out: Path, engine: Path | None, uplot: Path) -> None:
    """Writes the page to a directory, which is made.

    Raises:
        ValueError: The page is larger than its budget.
    """
    out.mkdir(parents=True, exist_ok=True)
    for source in SOURCES.glob("*.*"):
        shutil.copy(source, out)
    for source, name in TAKEN.items():
        shutil.copy(uplot / source, out / name)
    (out / "lessons.json").write_text(json.dumps(lessons(), ensure_ascii=False), encoding="utf-8")
    if engine is None:
        shutil.copy(SOURCES / "tests" / "fake-load.mjs", out / "load.mjs")
    else:
        (out / "sojourn.wasm.gz").write_bytes(gzip.compress(engine.read_bytes(), mtime=0))
    _list(out)
    if (size := compressed(out)) > MOST:
        raise ValueError(f"the playground has {size} bytes compressed, and may have {MOST}")


def _list(out: Path) -> None:
    """What the page consists of, and a version that differs whenever any of that does."""
    names = sorted(
        path.name for path in out.iterdir() if path.name not in {"files.js", "service.js"}
    )
    digest = hashlib.sha256(b"".join((out / name).read_bytes() for name in names)).hexdigest()[:16]
    listed = json.dumps(["./", *names])
    (out / "files.js").write_text(
        f'self.VERSION = "{digest}";\nself.FILES = {listed};\n', encoding="utf-8"
    )


def compressed(out: Path) -> int:
    """What a server sends of a page that it compresses, in bytes."""
    files = [path.read_bytes() for path in out.iterdir()]
    return sum(min(len(gzip.compress(data)), len(data)) for data in files)


def uplot(work: Path) -> Path:
    """The locked uPlot, which npm puts into a working directory unless it is there.

    Raises:
        FileNotFoundError: There is no npm.
        subprocess.CalledProcessError: npm failed.
    """
    work.mkdir(parents=True, exist_ok=True)
    lock = (LOCKED / "package-lock.json").read_bytes()
    there = work / "package-lock.json"
    if not (work / "node_modules" / "uplot").is_dir() or there.read_bytes() != lock:
        shutil.copy(LOCKED / "package.json", work)
        shutil.copy(LOCKED / "package-lock.json", work)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=work, check=True)
    return work / "node_modules" / "uplot"


if __name__ == "__main__":
    out, *engine = map(Path, sys.argv[1:])
    assemble(out, engine[0] if engine else None, uplot(ROOT / "target" / "playground"))
