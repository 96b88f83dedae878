"""The page on overlay nodes as programs: experiments of the GNAT report beside the simulator's.

``python -m tools.pages.nodes`` runs both, five times each, in about an hour of real time, and
writes ``nodes/runs.csv``, ``nodes/gains.csv`` and ``nodes.md`` in ``docs/explanation/``;
``--repetitions N`` runs them N times. The machine should be idle: a run that cannot be trusted is
made again, twice at most.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sojourn.backends import backend
from sojourn.errors import RunError
from sojourn.metrics import RunData
from sojourn.quantity import number
from sojourn.reproduction.paper import Request
from sojourn.scenario import Document, validated
from sojourn_reproductions.gnat2021.multicast import experiments as multicast
from sojourn_reproductions.gnat2021.multicast.cells import flows, rates
from sojourn_reproductions.gnat2021.overlay import experiments as overlay
from sojourn_reproductions.gnat2021.overlay.experiments import Phase
from sojourn_reproductions.gnat2021.overlay.runs import document, goodput, plain
from sojourn_reproductions.gnat2021.published import published
from tools.pages import kept

#: Per cent by which programs may differ from the simulator, by quantity with its unit.
ALLOWED = {"goodput (Mbit/s)": 5.0, "delay (ms)": 15.0}
SIDES = ("sim", "overlay")
_KEYS = ("section", "run", "phase", "flow", "quantity")
#: The sections, and how many of the runs of each: 4.18 without the mesh, 3.4 with six flows.
_RUNS = {"4.7": 1, "4.8": 2, "4.9": 1, "4.17": 1, "4.18": 2, "3.4": 1}
_MULTICAST = "4.2"
#: The section that holds the overlay beside plain routing, and its flow.
_BESIDE = "4.1"
_TEST = "test"
#: Seconds for which a run in which nothing changes is measured.
_STEADY = 15.0
#: By side: what runs the overlay's nodes, and what runs the same flows without it.
_WITHOUT = {"sim": ("sim", "sim"), "overlay": ("overlay", "live")}
#: How often a run is made that cannot be trusted.
_TRIES = 3
#: Seconds by which flows start later in each repetition: a simulation without random draws would
#: otherwise be the same again, and what depends on single packets would be one case of several.
_LATER = 0.001

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
            yield _short(Case(of.section, run.name, run.phases, document(of, run, whole)))
    for group in multicast.EXPERIMENTS:
        if group.section == _MULTICAST:
            for one in group.runs[:1]:
                made = multicast.document(one, whole)
                yield _short(Case(group.section, one.name, one.phases, made))


def _short(case: Case) -> Case:
    """The same until its last interval ends, which is short if it is the only one."""
    phases = case.phases
    if len(phases) == 1:
        phases = [replace(phases[0], end=min(phases[0].end, phases[0].begin + _STEADY))]
    end = max(phase.end for phase in phases)
    flows = [
        {key: value for key, value in flow.items() if key != "stop" or number(value) <= end}
        for flow in case.canonical["flows"]
    ]
    shorter = {**case.canonical, "duration": f"{end} s", "flows": flows}
    canonical = validated(shorter).canonical
    return replace(case, phases=phases, canonical=canonical)


def gains(run: Run, repetitions: int) -> Iterator[kept.Measured]:
    """A row for each interval of 4.1: goodput over the overlay and without it, of either side."""
    [of] = [of for of in overlay.EXPERIMENTS if of.section == _BESIDE]
    case = Case(of.section, "", of.runs[0].phases, document(of, of.runs[0], Request()))
    rows: dict[str, dict[str, list[float]]] = {phase.name: {} for phase in case.phases}
    for repetition in range(repetitions):
        canonical = _seeded(case.canonical, repetition)
        for side, (nodes, without) in _WITHOUT.items():
            for name, backend_name, made in (
                ("overlay", nodes, canonical),
                ("plain", without, plain(canonical)),
            ):
                _tell(replace(case, run=name), backend_name, repetition)
                data = run(backend_name, made)
                for phase in case.phases:
                    got = rows[phase.name].setdefault(f"{side} {name}", [])
                    got.append(goodput(_TEST, phase, data))
    for phase_name, found in rows.items():
        means = {name: statistics.fmean(values) for name, values in found.items()}
        yield {"phase": phase_name, **means}


def measured(run: Run, repetitions: int) -> Iterator[kept.Measured]:
    """A row for each quantity: mean, least and most of the repetitions, of either side."""
    for case in cases():
        found: dict[tuple[str, ...], dict[str, list[float]]] = {}
        for repetition in range(repetitions):
            for side in SIDES:
                _tell(case, side, repetition)
                for key, value in _quantities(case, run(side, _seeded(case.canonical, repetition))):
                    found.setdefault(key, {}).setdefault(side, []).append(value)
        for key, sides in found.items():
            row: dict[str, str | float | None] = dict(zip(_KEYS, key, strict=True))
            for side, values in sides.items():
                row |= {side: statistics.fmean(values)}
                row |= {f"{side} least": min(values), f"{side} most": max(values)}
            yield row


def _tell(case: Case, side: str, repetition: int) -> None:
    print(f"{case.section} {case.run}: {side}, repetition {repetition}", file=sys.stderr)


def _seeded(canonical: Document, repetition: int) -> Document:
    """The scenario with another seed and later flows; programs get these, and differ by more."""
    flows = [
        {**flow, "start": f"{round(number(flow['start']) + repetition * _LATER, 6)} s"}
        for flow in canonical["flows"]
    ]
    seed = canonical["seed"] + repetition
    return validated({**canonical, "seed": seed, "flows": flows}).canonical


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
        gains="\n".join(_gains(kept.rows("nodes", "gains"))),
        steady=_STEADY,
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


def _gains(rows: Sequence[kept.Row]) -> Iterator[str]:
    printed = {row["phase"]: row["times"] for row in published("overlay_gains")}
    yield (
        "| interval | simulated: plain (Mbit/s) | overlay | multiple "
        "| programs: plain (Mbit/s) | overlay | multiple | printed, at least |"
    )
    yield f"| --- |{' ---: |' * 7}"
    for row in rows:
        cells = [row["phase"]]
        for side in _WITHOUT:
            without, over = (float(row[f"{side} {name}"]) for name in ("plain", "overlay"))
            cells += [f"{without:.3g}", f"{over:.3g}", f"{over / without:.3g}" if without else "-"]
        yield f"| {' | '.join([*cells, printed[row['phase']]])} |"


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
    # Each as soon as it is there: a run that fails later takes none of it along.
    for table, of in {"runs": measured, "gains": gains}.items():
        kept.store("nodes", command, {table: list(of(_run, repetitions))})
    kept.put("nodes", page())


if __name__ == "__main__":
    main()
