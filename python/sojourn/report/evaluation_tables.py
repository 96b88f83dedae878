"""The tables of an evaluation, what matters most first: who starves and who dominates, then metric
by metric in the order of their importance, at last how many comparisons came to which verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from sojourn.evaluation import families
from sojourn.evaluation.suites.competition import Part, Standing
from sojourn.evaluation.suites.scores import Score
from sojourn.figures.plots import words
from sojourn.metrics import Metric
from sojourn.numbers import number, with_uncertainty
from sojourn.statistics import Verdict
from sojourn.table import Table

VERDICTS: tuple[Verdict, ...] = ("better", "worse", "different", "same", "unsure")
_CHANGED: tuple[Verdict, ...] = ("worse", "better", "different")
_TOLD_AS_FACTOR = 10
_HEADER = ["experiment", "point", "metric", "against", "value", "other", "difference", "verdict"]


def of_control(standings: Sequence[Standing], found: Sequence[Score]) -> list[Table]:
    """What there is to say of one control, its standings and scores given."""
    tables = [_competition(standings), *(_changes(found, verdict) for verdict in _CHANGED)]
    return [table for table in tables if table.rows]


def of_controls(
    controls: Sequence[str], standings: Sequence[Standing], found: Sequence[Score]
) -> Table:
    """Several controls, each in a line."""
    rows = []
    for control in controls:
        outcomes = [one.outcome for one in standings if one.cca == control]
        beside = [_share_of(outcomes, outcome) for outcome in ("starved", "dominant")]
        mine = [score for score in found if score.cca == control]
        key = Counter(s.finding.verdict for s in mine if families.family(s.metric) == "key")
        every = Counter(score.finding.verdict for score in mine)
        counts = [key["better"], key["worse"], *(every[verdict] for verdict in VERDICTS)]
        rows.append([words.of_value(control), *beside, *counts])
    header = ["control", "starved", "dominant", "key metrics better", "key metrics worse"]
    return Table("Beside other TCP, and numbers of comparisons", [*header, *VERDICTS], rows)


def counts(controls: Sequence[str], against: Sequence[str], found: Sequence[Score]) -> Table:
    """How many comparisons of each experiment came to which verdict."""
    rows = []
    for control in controls:
        for experiment in dict.fromkeys(score.experiment for score in found):
            for other in against:
                where = (control, experiment, other)
                these = [s for s in found if (s.cca, s.experiment, s.against) == where]
                count = Counter(score.finding.verdict for score in these)
                if these:
                    named = [words.of_value(control), experiment, words.of_value(other)]
                    rows.append([*named, *(count[verdict] for verdict in VERDICTS)])
    return Table("", ["control", "experiment", "against", *VERDICTS], rows, words=3)


def every(found: Sequence[Score]) -> Iterator[Table]:
    """Every comparison."""
    for control in dict.fromkeys(score.cca for score in found):
        for experiment in dict.fromkeys(score.experiment for score in found):
            rows = [_line(s) for s in found if (s.cca, s.experiment) == (control, experiment)]
            title = f"{words.of_value(control)}: {experiment}"
            yield Table(title, _HEADER[1:], [row[1:] for row in rows], words=3)


def by_importance(found: Sequence[Score]) -> dict[Metric, list[Score]]:
    """The scores of each metric, the most important metric first."""
    metrics = sorted({score.metric for score in found}, key=lambda m: (m.scope, m.name))
    metrics.sort(key=families.importance)
    return {metric: [s for s in found if s.metric == metric] for metric in metrics}


def percent(part: Part) -> str:
    """What a side gets of its fair share."""
    half = None if part.interval is None else (part.interval.high - part.interval.low) / 2
    return with_uncertainty(100 * part.mean, None if half is None else 100 * half)


def _share_of(outcomes: Sequence[str], outcome: str) -> str:
    return f"{sum(outcome in o for o in outcomes)} of {len(outcomes)}" if outcomes else "-"


def _competition(standings: Sequence[Standing]) -> Table:
    rows = [
        [f"{one.experiment}, {one.point}", one.outcome, percent(one.own), percent(one.others)]
        for one in standings
    ]
    header = ["where", "outcome", "gets (%)", "leaves others (%)"]
    return Table("Beside other TCP, in per cent of a fair share", header, rows, words=2)


def _changes(found: Sequence[Score], verdict: Verdict) -> Table:
    """Of each metric how often the verdict is this one, and where the difference is largest."""
    rows = []
    for metric, scores in by_importance(found).items():
        these = [score for score in scores if score.finding.verdict == verdict]
        if these:
            experiment, point, _, against, *values, _ = _line(
                max(these, key=lambda score: score.relative)
            )
            called = words.of_metric(metric.name)
            often = f"{len(these)} of {len(scores)}"
            rows.append([called, often, f"{experiment}, {point}", against, *values])
    title = f"Where it is {verdict}, by importance, and where most"
    header = ["metric", "comparisons", "where most", "against", "value", "other", "difference"]
    return Table(title, header, rows, words=4)


def _line(score: Score) -> list[str]:
    other = score.finding.b
    difference = score.finding.difference or 0.0
    told = f"{'-' if difference < 0 else '+'}{100 * score.relative:.3g} %" if difference else "none"
    if score.relative == np.inf:
        told = "from 0"
    elif score.relative > _TOLD_AS_FACTOR and score.value is not None and other is not None:
        told = f"{number(score.value / other)} times"
    half = None if score.low is None or score.value is None else score.value - score.low
    where = (score.experiment, score.point, words.of_metric(score.metric.name))
    value = with_uncertainty(score.value, half)
    return [*where, words.of_value(score.against), value, number(other), told, _verdict(score)]


def _verdict(score: Score) -> str:
    more = score.finding.more
    unsure = score.finding.verdict == "unsure" and more
    return score.finding.verdict + (f" ({more:,} more runs)" if unsure else "")
