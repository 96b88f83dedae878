"""``make renew``: measures again what pages tell, writes them, and lists what moved.

The parts are in ``tools/renew.toml``. What moved by more than its noise is printed, and written to
``results/renew/moved.md``.
"""

from __future__ import annotations

import difflib
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn import data
from sojourn.build import engine
from sojourn.reproduction import statements
from sojourn.reproduction.found import paper
from sojourn.reproduction.paper import Request
from sojourn.reproduction.reproduce import COMPARISON, needed
from sojourn.store.files import write_atomically
from tools import ablations
from tools.pages import kept
from tools.pages import reproduction as page
from tools.pages.rendered import RENDERED

ROOT = data.checkout()
PARTS = Path(__file__).with_suffix(".toml")
OUT = Path("results/renew")
#: A cell of one replication has no spread; it moved if it changed by more than this share.
UNSPREAD = 0.01
_BIN = Path(sys.executable).parent

Part = Mapping[str, Any]


def renew(name: str, part: Part) -> list[str]:
    """Measures a part and writes its pages; what moved, a line each."""
    if part.get("reproduction"):
        return _reproduction(name)
    if "ablations" in part:
        return _ablations(name, part["ablations"])
    if "table" in part:
        return _table(name, part)
    before = {path: _text(path) for path in _pages(part)}
    _spent(name, part["commands"])
    after = {path: _text(path) for path in _pages(part)}
    return [
        f"{path}: {line}"
        for path in sorted({*before, *after})
        for line in _changed(before.get(path, ""), after.get(path, ""))
    ]


def _reproduction(name: str) -> list[str]:
    folder, out = page.home(name), OUT / name
    stored = folder / page.MEASURED
    before = _judged(name) if stored.exists() else {}
    old = kept.read(stored / COMPARISON) if stored.exists() else []
    command = f"sojourn reproduce {name}"
    seconds = _spent(name, [f"{command} --out {out}"])
    stored.mkdir(exist_ok=True)
    shutil.copyfile(out / COMPARISON, stored / COMPARISON)
    whole = Request()
    cases = len(needed(paper(name), list(paper(name).cells(whole)), whole))
    kept.tell(stored, command, cases=cases, seconds=seconds)
    _figures(out / "figures", folder / "figures")
    if (folder / page.SOURCE).exists():
        page.write(name)
    after = _judged(name)
    turned = [
        f"{told}: {then} before, {after.get(told)}"
        for told, then in before.items()
        if then != after.get(told)
    ]
    return [*turned, *moved(old, kept.read(stored / COMPARISON), paper(name).keys)]


def _ablations(name: str, of: str) -> list[str]:
    """Keeps what the tables of a reproduction are with choices taken back."""
    stored = page.home(of) / page.MEASURED / page.ABLATED
    old = kept.read(stored / COMPARISON) if stored.exists() else []
    command = f"python -m tools.ablations {of}"
    seconds = _spent(name, [f"{command} --out {OUT / name}"])
    stored.mkdir(exist_ok=True)
    shutil.copyfile(OUT / name / COMPARISON, stored / COMPARISON)
    kept.tell(stored, command, seconds=seconds)
    page.write(of)
    return list(moved(old, kept.read(stored / COMPARISON), (ablations.KEY, *paper(of).keys)))


def _table(name: str, part: Part) -> list[str]:
    """Keeps the table that a command writes; of a sweep's summary, the metrics that pages show."""
    place, command = f"{part['page']}/{name}", part["command"]
    path = kept.explanation() / place / f"{kept.TABLE}.csv"
    before, old = _text(path), kept.read(path) if path.exists() else []
    _spent(name, [command])
    rows: Sequence[kept.Measured] = kept.read(ROOT / part["table"])
    if "metrics" in part:
        rows = [_swept(row) for row in rows if row["metric"] in part["metrics"]]
    kept.store(place, command.partition(" --out ")[0], {kept.TABLE: rows})
    if "metrics" not in part:
        return _changed(before, _text(path)) if before else []
    columns = list(rows[0])
    return [*moved(_cells(old), _cells(kept.read(path)), columns[: columns.index("mean")])]


def _swept(row: kept.Measured) -> kept.Measured:
    """Of a row of a summary, what tells it from others, its mean and its range."""
    keys = list(row)[: list(row).index("mean")]
    values = {name: float(row[name] or "nan") for name in ("mean", "min", "max")}
    return {**{key: row[key] for key in keys}, **values, "n": row["n"]}


def _cells(rows: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Rows of a sweep's summary as those of a comparison."""
    return [{**row, "measured": row["mean"], "replications": row["n"]} for row in rows]


def moved(
    old: Sequence[Mapping[str, str]], new: Sequence[Mapping[str, str]], keys: Sequence[str]
) -> Iterator[str]:
    """The cells whose medians are outside each other's ranges over the replications."""
    former = {tuple(row[key] for key in keys): row for row in old}
    for row in new:
        place = tuple(row[key] for key in keys)
        then = former.pop(place, None)
        if then is None:
            if old:
                yield f"{' '.join(place)}: is new"
        elif _apart(then, row):
            yield f"{' '.join(place)}: {then['measured'] or '-'} -> {row['measured'] or '-'}"
    yield from (f"{' '.join(place)}: is gone" for place in former)


def _apart(then: Mapping[str, str], now: Mapping[str, str]) -> bool:
    if not then["measured"] or not now["measured"]:
        return then["measured"] != now["measured"]
    a, b = float(then["measured"]), float(now["measured"])
    if int(then["replications"]) == int(now["replications"]) == 1:
        return abs(a - b) > UNSPREAD * max(abs(a), abs(b))
    outside = [
        not float(row["min"]) <= value <= float(row["max"]) for row, value in ((then, b), (now, a))
    ]
    return all(outside)


def _judged(name: str) -> dict[str, str]:
    """What the statements of a page came to, by id."""
    measured = page.Measured(paper(name), page.home(name))
    at = statements.HEADER.index("finding")
    return {str(row[0]): str(row[at]) for row in measured.sheets[statements.NAME].rows}


def _figures(made: Path, kept: Path) -> None:
    """Those that the page shows, as they are now."""
    for picture in kept.glob("*.png"):
        shutil.copyfile(made / picture.name, picture)


def _spent(name: str, commands: Sequence[str]) -> int:
    """Runs commands; the seconds of processor time that they took, with those of former calls that
    were interrupted; of one that ended with this engine, its own: the runs are not made again.

    Raises:
        subprocess.CalledProcessError: if one fails.

    """
    note = OUT / f"{name}.json"
    former = json.loads(note.read_text(encoding="utf-8")) if note.exists() else {}
    if former.get("build") != engine():
        former = {}
    spent, ended = former.get("seconds", 0.0), former.get("ended", False)
    path = f"{_BIN}{os.pathsep}{os.environ['PATH']}"
    began, whole = _processor(), False
    try:
        for command in commands:
            words = shlex.split(command)
            subprocess.run(words, cwd=ROOT, env=os.environ | {"PATH": path}, check=True)
        whole = True
    finally:
        spent += 0.0 if ended else _processor() - began
        told = json.dumps({"build": engine(), "seconds": spent, "ended": ended or whole})
        write_atomically(note, lambda path: path.write_text(told, encoding="utf-8"))
    return round(spent)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _pages(part: Part) -> list[Path]:
    return [file for pattern in part["pages"] for file in ROOT.glob(pattern)]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _changed(before: str, after: str) -> list[str]:
    """The lines that went and came."""
    told = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in told if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def main(names: Sequence[str]) -> int:
    """Renews these parts, or all; as many as succeed."""
    parts = tomllib.loads(PARTS.read_text(encoding="utf-8"))
    for name in names:
        if name not in parts:
            sys.exit(f"renew: no part {name!r}; there are: {', '.join(parts)}")
    os.chdir(ROOT)
    OUT.mkdir(parents=True, exist_ok=True)
    told, failed, pages = [], [], set()
    for name in names or parts:
        print(f"renew: {name}", flush=True)
        try:
            lines = renew(name, parts[name])
        except subprocess.CalledProcessError as error:
            failed.append(f"{name}: {error}")
            continue
        if "page" in parts[name]:
            pages.add(parts[name]["page"])
        told += [f"## {name}\n", *(f"- {line}" for line in lines or ["nothing"]), ""]
    for page_name in sorted(pages):
        kept.put(page_name, RENDERED[page_name]())
    text = "\n".join(["# What moved by more than its noise\n", *told])
    write_atomically(OUT / "moved.md", lambda path: path.write_text(text, encoding="utf-8"))
    print(text)
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
