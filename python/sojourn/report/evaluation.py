"""The page of an evaluation: where a control is better, and where it is worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from sojourn.evaluation.ccperf.run import Place, Request, stored
from sojourn.evaluation.ccperf.scores import MARGIN, Score, scores
from sojourn.figures.pareto import pareto
from sojourn.figures.plots import words
from sojourn.metrics.registry import Values
from sojourn.numbers import number
from sojourn.report.page import Page, Section, picture
from sojourn.statistics import Verdict
from sojourn.store import manifest
from sojourn.store.batches import tell
from sojourn.table import Table

_VERDICTS: tuple[Verdict, ...] = ("better", "worse", "different", "same", "unsure")
_MOST_TOLD = 25
#: More controls than this are not named in a sentence.
_MOST_NAMED = 4
_PARETO = ("single-flow", "replayed-trace")


def of_directory(directory: Path) -> Page:
    """The page of an evaluation's directory."""
    content = manifest.read(directory)
    told = (content["controls"], content["against"], content["quick"], list(content["suite"]))
    request = Request(*told)
    places = stored(request, directory, tell)
    return page(request, places, scores(places, request))


def page(request: Request, places: Sequence[Place], found: Sequence[Score]) -> Page:
    """The whole page."""
    sections = _overview(request, found)
    sections += [s for control in request.controls for s in _of_control(control, request, found)]
    paths = {
        f"{place.point}": {
            control: (float(rates[control].mean()), float(delays[control].mean()))
            for control in rates
        }
        for place in places
        if place.experiment.name in _PARETO
        for rates, delays in [_rates_and_delays(place)]
    }
    if paths:
        sections.append(
            Section("Throughput and delay", pictures=[picture("pareto", pareto(paths))])
        )
    sections.append(Section("Every comparison", [_TOLD], tables=list(_every(found)), folded=True))
    return Page(f"Evaluation of {_named(request.controls)}", _sentence(request, found), sections)


_TOLD = (
    "Mean over replications with its 95 % confidence interval, and the other control's mean. A "
    "verdict is by permutation tests paired by seed, with Holm's correction over all comparisons "
    f"of a control; same: within {100 * MARGIN:g} % by two one-sided tests; unsure: these runs do "
    "not tell; different: changed, but neither direction is better. Harm is what the others lose."
)


def _rates_and_delays(place: Place) -> Sequence[Mapping[str, Values]]:
    return [place.values["flow", name] for name in ("mean_throughput_l4", "mean_est_qdelay_l4")]


def _named(controls: Sequence[str]) -> str:
    if len(controls) > _MOST_NAMED:
        return f"{len(controls)} controls"
    return words.listed([words.of_value(control) for control in controls])


def _sentence(request: Request, found: Sequence[Score]) -> str:
    count = Counter(score.finding.verdict for score in found)
    told = words.listed([f"{verdict} in {count[verdict]:,}" for verdict in _VERDICTS])
    return (
        f"{_named(request.controls)} against {_named(request.against)} in CCPerf's experiments"
        f"{' (quick)' if request.quick else ''}: of {len(found):,} comparisons {told}."
    )


def _overview(request: Request, found: Sequence[Score]) -> list[Section]:
    """Of several controls, each in a line."""
    if len(request.controls) == 1:
        return []
    rows = [
        [words.of_value(control), *(counts[verdict] for verdict in _VERDICTS)]
        for control in request.controls
        for counts in [Counter(s.finding.verdict for s in found if s.cca == control)]
    ]
    table = Table("Number of comparisons", ["control", *_VERDICTS], rows)
    return [Section("Controls", tables=[table])]


def _of_control(control: str, request: Request, found: Sequence[Score]) -> Iterator[Section]:
    mine = [score for score in found if score.cca == control]
    if not mine:
        return
    name = words.of_value(control)
    rows = []
    for experiment in dict.fromkeys(score.experiment for score in mine):
        for other in request.against:
            these = [s for s in mine if (s.experiment, s.against) == (experiment, other)]
            count = Counter(score.finding.verdict for score in these)
            if these:
                rows.append([experiment, words.of_value(other), *(count[v] for v in _VERDICTS)])
    header = ["experiment", "against", *_VERDICTS]
    tables = [Table("Number of comparisons", header, rows, words=2)]
    tables += [_most(mine, verdict) for verdict in ("worse", "better", "different")]
    filled = [table for table in tables if table.rows]
    yield Section(name, [_TOLD], tables=filled, folded=len(request.controls) > 1)


def _most(mine: Sequence[Score], verdict: str) -> Table:
    these = sorted((s for s in mine if s.finding.verdict == verdict), key=lambda s: -s.relative)
    title = f"Where it is {verdict}, the largest differences first"
    if len(these) > _MOST_TOLD:
        title += f" ({_MOST_TOLD} of {len(these)})"
    rows = [_line(score)[:-1] for score in these[:_MOST_TOLD]]
    return Table(title, _HEADER[:-1], rows, words=4)


_TOLD_AS_FACTOR = 10
_HEADER = ["experiment", "point", "metric", "against", "value", "other", "difference", "verdict"]


def _line(score: Score) -> list[str]:
    other = score.finding.b
    difference = score.finding.difference or 0.0
    told = f"{'-' if difference < 0 else '+'}{100 * score.relative:.3g} %" if difference else "none"
    if score.relative == np.inf:
        told = "from 0"
    elif score.relative > _TOLD_AS_FACTOR and score.value is not None and other is not None:
        told = f"{number(score.value / other)} times"
    half = None if score.low is None or score.value is None else score.value - score.low
    value = number(score.value) + (f" ± {number(half)}" if half is not None else "")
    where = (score.experiment, score.point, words.of_metric(score.metric.name))
    return [*where, words.of_value(score.against), value, number(other), told, _verdict(score)]


def _verdict(score: Score) -> str:
    more = score.finding.more
    unsure = score.finding.verdict == "unsure" and more
    return score.finding.verdict + (f" ({more:,} more runs)" if unsure else "")


def _every(found: Sequence[Score]) -> Iterator[Table]:
    for control in dict.fromkeys(score.cca for score in found):
        for experiment in dict.fromkeys(score.experiment for score in found):
            rows = [_line(s) for s in found if (s.cca, s.experiment) == (control, experiment)]
            title = f"{words.of_value(control)}: {experiment}"
            yield Table(title, _HEADER[1:], [row[1:] for row in rows], words=3)
