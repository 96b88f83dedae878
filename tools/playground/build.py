"""Builds the playground: ``python -m tools.playground.build [DIRECTORY]`` (site/playground).

The page's sources are copied from `docs/_playground`, the plots' library comes from npm, and the
engine is `crates/sojourn-wasm`, compiled for wasm32. Nothing is installed for that: where the
compiler or npm is lacking, the directory has a page that says so, and the command succeeds.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.playground import compilers
from tools.playground.lessons import lessons

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/_playground"
#: Of what the page takes from others: its manifest and lock for npm.
OTHERS = Path(__file__).parent
WORK = ROOT / "target/playground"
#: Compressed bytes that the whole page may have.
BUDGET = 1_600_000
#: What npm brings, and its name here.
LIBRARY = {
    "dist/uPlot.iife.min.js": "uPlot.iife.min.js",
    "dist/uPlot.min.css": "uPlot.min.css",
    "LICENSE": "uPlot.LICENSE.txt",
}
#: What is taken of the page's folder: tests and their fakes lie in a folder of their own.
SUFFIXES = (".html", ".css", ".mjs", ".js", ".json")
_LEFT_OUT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sojourn playground</title>
<h1>The playground is not part of this build of the site</h1>
<p>It was left out: {lack}.</p>
<p><a href="../index.html">Sojourn</a></p>
</html>
"""


class LackingError(Exception):
    """Something that the machine has not, and how it would get it."""


def page() -> dict[str, bytes]:
    """The page's own files by name, with the lessons."""
    paths = sorted(path for path in PAGE.iterdir() if path.suffix in SUFFIXES)
    files = {path.name: path.read_bytes() for path in paths}
    # All modules at once: a browser would else find them one import after the other.
    ahead = "".join(f'<link rel="modulepreload" href="{n}">\n' for n in files if n.endswith(".mjs"))
    files["index.html"] = files["index.html"].replace(b"<!-- modules -->\n", ahead.encode())
    return {**files, "lessons.json": json.dumps(lessons(), ensure_ascii=False).encode()}


def library() -> dict[str, bytes]:
    """The plots' library by the names of its files."""
    if not shutil.which("npm"):
        raise LackingError("needs npm (Debian: npm) for uPlot, which draws the plots")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(OTHERS / name, WORK / name)
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--silent")
    subprocess.run(["npm", "ci", *quiet], cwd=WORK, check=True)
    folder = WORK / "node_modules/uplot"
    return {name: (folder / path).read_bytes() for path, name in LIBRARY.items()}


def engine() -> bytes:
    """The compiled engine, in which nothing tells where it was built."""
    way = compilers.found()
    if way is None:
        raise LackingError(compilers.LACK)
    print(f"the playground's engine: {way.name}")
    module = way.compiled(ROOT)
    refuse_paths(module, (f"{ROOT}/", f"{Path.home()}/"))
    return module


def refuse_paths(module: bytes, paths: Iterable[str]) -> None:
    """Ends the build if the module names a directory of this machine."""
    for path in paths:
        at = module.find(path.encode())
        if at >= 0:
            told = module[at : at + 120].split(b"\0")[0].decode(errors="replace")
            sys.exit(f"the playground's engine names a directory of this machine: {told}")


def packed(module: bytes) -> bytes:
    """Compressed as well as can be, the same each time."""
    return gzip.compress(module, compresslevel=9, mtime=0)


def listed(files: Mapping[str, bytes]) -> bytes:
    """The script that tells the service worker which version this is, and what it consists of."""
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name} {len(content)}\n".encode() + content)
    names = ["./", *sorted(name for name in files if name != "service.js")]
    version = digest.hexdigest()[:16]
    return f"self.VERSION = {json.dumps(version)};\nself.FILES = {json.dumps(names)};\n".encode()


def within_budget(files: Mapping[str, bytes]) -> str:
    """The sizes in a sentence; ends the build if the page has become too large."""
    sizes = {
        name: len(content if name.endswith(".gz") else packed(content))
        for name, content in files.items()
    }
    total = sum(sizes.values())
    largest = sorted(sizes, key=lambda name: -sizes[name])[:5]
    parts = ", ".join(f"{name} {sizes[name] / 1e3:.0f} kB" for name in largest)
    told = f"the playground has {total / 1e3:.0f} kB compressed ({parts}, ...)"
    if total > BUDGET:
        sys.exit(f"{told}; allowed: {BUDGET / 1e3:.0f} kB")
    return told


def written(files: Mapping[str, bytes], directory: Path) -> None:
    """Puts the files into the directory, which then has no others."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for name, content in files.items():
        (directory / name).write_bytes(content)


def main(directory: Path) -> None:
    """Builds the page into the directory, or says why it is left out."""
    WORK.mkdir(parents=True, exist_ok=True)
    try:
        files = {**page(), **library(), "sojourn.wasm.gz": packed(engine())}
    except LackingError as lack:
        print(f"the playground is left out: {lack}")
        written({"index.html": _LEFT_OUT.format(lack=lack).encode()}, directory)
        return
    files["files.js"] = listed(files)
    print(within_budget(files))
    written(files, directory)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site/playground")
