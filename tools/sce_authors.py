"""The SCE draft's cells with its authors' own files in the place of ours.

``python -m tools.sce_authors DIR --out DIRECTORY`` takes ``net/sched/sch_cake.c``,
``net/ipv4/tcp_dctcp_sce.c`` and ``net/ipv4/tcp_reno_sce.c`` from a tree of theirs (``DIR``, of
which nothing is kept), puts them into the draft's runs, and writes ``comparison.csv``: every cell
as it is run with ours and with each of theirs. ``steps.csv`` has the same runs in open loop: both
are called for the same events, and the first call at which they part is named.
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from sojourn import csv_table
from sojourn.campaign.cases import AnyCase, Attempted, Case
from sojourn.campaign.run import run
from sojourn.conformance import beside
from sojourn.errors import ScenarioError
from sojourn.interruption import deferred
from sojourn.reproduction import compare
from sojourn.reproduction.found import paper
from sojourn.reproduction.paper import Cell, Request
from sojourn.reproduction.reproduce import check
from sojourn.scenario import Document, validated
from tools.kernel_tables import command

#: What of theirs is put into a run.
PARTS: Mapping[str, frozenset[str]] = {
    "queue": frozenset({"queue"}),
    "controls": frozenset({"controls"}),
    "both": frozenset({"queue", "controls"}),
}
#: Those that are run if none is named, throughputs of pairs, and those that may be named.
TABLES = tuple(str(number) for number in range(22, 67))
_RAW = tuple(str(number) for number in range(12, 112))
_KEYS = ("cake_mode", "flow1", "flow2", "bandwidth_mbit", "delay_ms")
_CONTROLS = {"dctcp-sce": "tcp_dctcp_sce.c", "reno-sce": "tcp_reno_sce.c"}
_LINKS = ("bottleneck", "reverse")
#: ``sce-single`` of iproute2 is a divisor above all that ``sce-thresh`` takes.
_SCE = {"sce": 1, "sce-single": 65535}
_FLOW_MODES = {"flowblind": 0, "triple-isolate": 7}
_FAST = "100 Gbit/s"


@dataclass(frozen=True)
class Tree:
    """The authors' tree."""

    path: Path

    def file(self, folder: str, name: str) -> str:
        """One of its files.

        Raises:
            ScenarioError: if it has none of that name.

        """
        file = self.path / "net" / folder / name
        if not file.is_file():
            raise ScenarioError(f"{file}: is missing; name the top of a tree of chromi/sce")
        return str(file.resolve())

    def put(self, ours: Document, parts: frozenset[str]) -> Document:
        """A canonical scenario of :func:`alike` with these parts of theirs instead of ours."""
        document = copy.deepcopy(ours)
        if "queue" in parts:
            for link in _LINKS:
                table = document["topology"][link]
                table["queue"] = self._cake(table["queue"])
        if "controls" in parts:
            for flow in document["flows"]:
                if flow["cca"]["kind"] in _CONTROLS:
                    flow["cca"] = self._control(flow["cca"]["kind"])
        return document

    def _cake(self, ours: Document) -> Document:
        return {
            "kind": "linux",
            "source": self.file("sched", "sch_cake.c"),
            "base_rate64": round(float(ours["bandwidth"].removesuffix(" Mbit/s")) * 1e6 / 8),
            "flow_mode": _FLOW_MODES[ours["isolation"]],
            "sce": _SCE[ours["sce"]],
        }

    def _control(self, kind: str) -> Document:
        return {"kind": "linux", "source": self.file("ipv4", _CONTROLS[kind])}


def alike(canonical: Document, mbit: str) -> Document:
    """A run as theirs can have it: Cake shapes by itself, to ``mbit`` Mbit/s, on
    a link that takes no time, and the slow-start threshold is the files'.
    """
    document = copy.deepcopy(canonical)
    for link in _LINKS:
        table = document["topology"][link]
        table["queue"]["bandwidth"] = f"{mbit} Mbit/s"
        table["rate"] = _FAST
    for flow in document["flows"]:
        if flow["cca"]["kind"] in _CONTROLS:
            flow["cca"]["threshold"] = "ratchet"
    return document


def places(document: Document) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """What of a run has a file of theirs: the part, and where it stands."""
    yield "queue", ("topology", "bottleneck", "queue")
    for number, flow in enumerate(document["flows"]):
        if flow["cca"]["kind"] in _CONTROLS:
            yield "controls", ("flows", number, "cca")


@dataclass(frozen=True)
class Substituted:
    """The runs of a case with each of :data:`PARTS`, and those in open loop by part and place."""

    runs: Mapping[str, Case]
    steps: Mapping[str, Attempted]


@cache
def substituted(case: Case, mbit: str, tree: Tree) -> Substituted:
    """A case of so many Mbit/s with the authors' files in it."""
    ours = alike(case.canonical, mbit)
    own = validated(ours).canonical
    runs, steps = {"ours": Case.of(own)}, {}
    for name, parts in PARTS.items():
        theirs = validated(tree.put(ours, parts)).canonical
        runs[name] = Case.of(theirs)
        for part, place in places(ours):
            if {part} == parts:
                told = f"flow {place[1]}" if part == "controls" else part
                steps[told] = Attempted.of(beside.opened, ours=own, theirs=theirs, place=place)
    return Substituted(runs, steps)


def rows(
    found: Sequence[Cell], tree: Tree, out: Path, jobs: int
) -> tuple[list[Document], list[Document]]:
    """The lines of both files; runs that the directory has are not made anew."""
    alone = [
        (cell, substituted(case, cell.keys["bandwidth_mbit"], tree))
        for cell in found
        for case in chain.from_iterable(cell.replications)
    ]
    cases: list[AnyCase] = []
    for _, one in alone:
        cases += [*one.runs.values(), *one.steps.values()]
    with deferred():
        results = run(list(dict.fromkeys(cases)), out, jobs, _tell)
    compared, stepped = [], {}
    for cell, one in alone:
        measured = {
            part: compare.compare(replace(cell, replications=[(case,)]), results)["measured"]
            for part, case in one.runs.items()
        }
        compared.append({**cell.keys, "published": cell.published, **measured})
        keys = {key: cell.keys[key] for key in _KEYS}
        for part, tried in one.steps.items():
            stepped[tried] = {**keys, "part": part, **_told(results[tried])}
    return compared, list(stepped.values())


def _told(result: Mapping[str, Any]) -> Document:
    if "error" in result:
        return {"steps": 0, "differ": 0, "first": result["error"]}
    steps, differ, first = result["value"]
    told = f"step {first[0]}, at {first[1]:.6f} s, {first[2]}" if first else ""
    return {"steps": steps, "differ": differ, "first": told}


def _tell(done: int, total: int) -> None:
    print(f"{done}/{total}", file=sys.stderr, flush=True)


def _write(path: Path, lines: Sequence[Document]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv_table.write(file, tuple(lines[0]), lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the cells and writes both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--table", action="append", metavar="ID", help="only this table")
    parser.add_argument("--bandwidth", action="append", metavar="MBIT", help="only this one")
    jobs = os.cpu_count() or 1
    parser.add_argument("--jobs", type=int, default=jobs, metavar="N", help="runs at once")
    parser.add_argument("--out", type=Path, required=True, metavar="DIRECTORY")
    given = parser.parse_args(arguments)
    chosen, request = paper("sce2019"), Request(tuple(given.table or TABLES))
    check(chosen, request)
    if mixed := {*request.tables} - {*_RAW}:
        raise ScenarioError(f"--table {min(mixed)}: is computed of others; name one of 12 to 111")
    wanted = (
        cell
        for cell in chosen.cells(request)
        if not given.bandwidth or cell.keys["bandwidth_mbit"] in given.bandwidth
    )
    found = list(wanted)
    if not found:
        raise ScenarioError(f"--bandwidth {given.bandwidth[0]}: the tables have none of these")
    given.out.mkdir(parents=True, exist_ok=True)
    compared, stepped = rows(found, Tree(given.tree), given.out, given.jobs)
    _write(given.out / "comparison.csv", compared)
    _write(given.out / "steps.csv", stepped)
    return 0


if __name__ == "__main__":
    command(main)
