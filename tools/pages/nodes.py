"""The page on overlay nodes as programs: experiments of the GNAT report beside the simulator's.

``python -m tools.pages.nodes`` runs both, five times each, in about an hour of real time, and
writes ``nodes/runs.csv`` and ``nodes.md`` in ``docs/explanation/``; ``--repetitions N`` runs them N
times. The machine should be idle: a run that cannot be trusted is made again, twice at most.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sojourn.backends import backend
from sojourn.errors import RunError
from sojourn.metrics import RunData
from sojourn.reproduction.paper import Request
from sojourn.scenario import Document, validated
from sojourn_reproductions.gnat2021.multicast import experiments as multicast
from sojourn_reproductions.gnat2021.multicast.cells import flows, rates
from sojourn_reproductions.gnat2021.overlay import experiments as overlay
from sojourn_reproductions.gnat2021.overlay.experiments import Phase
from sojourn_reproductions.gnat2021.overlay.runs import document
from tools.pages import kept

#: Per cent by which programs may differ from the simulator, by quantity with its unit.
ALLOWED = {"goodput (Mbit/s)": 5.0, "delay (ms)": 15.0}
SIDES = ("sim", "overlay")
_KEYS = ("section", "run", "phase", "flow", "quantity")
#: The sections, and how many of the runs of each: 4.18 without the mesh, 3.4 with six flows.
_RUNS = {"4.7": 1, "4.8": 2, "4.9": 1, "4.17": 1, "4.18": 2, "3.4": 1}
_MULTICAST = "4.2"
#: How often a run is made that cannot be trusted.
_TRIES = 3

#: A run: what it measured, by side.
Run = Callable[[str, Document], RunData]


@dataclass(frozen=True)
class Case:
    """A run of the report."""

    section: str
    run: str
    phases: Sequence[Phase]
    canonical: Document


def cases() -> Iterator[Case]:
    """The runs that are compared."""
    whole = Request()
    for of in overlay.EXPERIMENTS:
        for run in of.runs[: _RUNS.get(of.section, 0)]:
            yield Case(of.section, run.name, run.phases, document(of, run, whole))
    for group in multicast.EXPERIMENTS:
        if group.section == _MULTICAST:
            for one in group.runs[:1]:
                made = multicast.document(one, whole)
                yield Case(group.section, one.name, one.phases, made)


def measured(run: Run, repetitions: int) -> Iterator[kept.Measured]:
    """A row for each quantity: mean, least and most of the repetitions, of either side."""
    for case in cases():
        found: dict[tuple[str, ...], dict[str, list[float]]] = {}
        for number in range(repetitions):
            for side in SIDES:
                _tell(case, side, number)
                for key, value in _quantities(case, run(side, _seeded(case.canonical, number))):
                    found.setdefault(key, {}).setdefault(side, []).append(value)
        for key, sides in found.items():
            row: dict[str, str | float | None] = dict(zip(_KEYS, key, strict=True))
            for side, values in sides.items():
                row |= {side: statistics.fmean(values)}
                row |= {f"{side} least": min(values), f"{side} most": max(values)}
            yield row


def _tell(case: Case, side: str, number: int) -> None:
    print(f"{case.section} {case.run}: {side}, repetition {number}", file=sys.stderr)


def _seeded(canonical: Document, number: int) -> Document:
    """The scenario with another seed; programs get it as well, and differ by more."""
    return validated({**canonical, "seed": canonical["seed"] + number}).canonical


def _quantities(case: Case, data: RunData) -> Iterator[tuple[tuple[str, ...], float]]:
    samples = data.flow.samples
    for phase in case.phases:
        got = rates(phase, data)
        inside = (samples.begins >= phase.begin - 1e-9) & (samples.ends <= phase.end + 1e-9)
        for flow, numbers in flows(case.canonical).items():
            total, count = (
                float(samples[f"one_way_delay_{of}"][inside][:, numbers].sum())
                for of in ("sum", "count")
            )
            goodput, delay = ALLOWED
            key = (case.section, case.run, phase.name, flow)
            yield (*key, goodput), float(got[numbers].mean())
            # A TCP connection ends at the node: its delay is none of the overlay's.
            if total:
                yield (*key, delay), 1e3 * total / count


def difference(row: Mapping[str, str]) -> float:
    """By how much programs differ from the simulator, per cent."""
    sim, programs = (float(row[side]) for side in SIDES)
    return 100 * (programs / sim - 1) if sim else 100 * float(programs != 0)


def is_near(row: Mapping[str, str]) -> bool:
    """Whether that is allowed."""
    return abs(difference(row)) <= ALLOWED[row["quantity"]]


def page() -> str:
    """The page of what is stored."""
    rows = kept.rows("nodes", "runs")

    def apart(quantity: str) -> str:
        """The greatest difference, per cent."""
        of = [abs(difference(row)) for row in rows if row["quantity"].startswith(quantity)]
        return f"{max(of):.1f}"

    near = [row for row in rows if is_near(row)]
    return kept.render(
        "nodes",
        stamp=kept.stamp("nodes"),
        table="\n".join(_table(rows)),
        apart=apart,
        near=len(near),
        allowed={quantity.partition(" ")[0]: percent for quantity, percent in ALLOWED.items()},
        all=len(rows),
    )


def _table(rows: Sequence[kept.Row]) -> Iterator[str]:
    yield "| section | run | interval | flows | quantity | simulated | programs | difference |"
    yield "| --- | --- | --- | --- | --- | ---: | ---: | ---: |"
    for row in rows:
        cell = [_shown(row, side) for side in SIDES]
        told = f"{difference(row):+.1f} %"
        keys = [row[key] for key in _KEYS]
        yield f"| {' | '.join([*keys, *cell, told if is_near(row) else f'**{told}**'])} |"


def _shown(row: kept.Row, side: str) -> str:
    """A mean with its range."""
    mean, low, high = (
        f"{float(row[name]):.3g}" for name in (side, f"{side} least", f"{side} most")
    )
    return mean + (f" ({low} to {high})" if low != high else "")


def _run(side: str, canonical: Document) -> RunData:
    for again in reversed(range(_TRIES)):
        try:
            return backend(side).measure(canonical)[0]
        except RunError as error:
            if not again:
                raise
            print(error, file=sys.stderr)
    raise AssertionError


def main() -> None:
    """Runs both sides, and writes the table and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    repetitions = parser.parse_args().repetitions
    command = f"python -m tools.pages.nodes --repetitions {repetitions}"
    kept.store("nodes", command, {"runs": list(measured(_run, repetitions))})
    kept.put("nodes", page())


if __name__ == "__main__":
    main()
