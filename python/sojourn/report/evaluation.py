"""The page of an evaluation: who starves and dominates, where a control is better and worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sojourn.evaluation.families import HOW, family
from sojourn.evaluation.suites.competition import ENOUGH, Part, Standing, standings
from sojourn.evaluation.suites.found import DEFAULT, suite
from sojourn.evaluation.suites.run import Place, Request, stored
from sojourn.evaluation.suites.scores import MARGIN, Score, notes, scores
from sojourn.figures.pareto import pareto
from sojourn.figures.plots import words
from sojourn.metrics.columns import Values
from sojourn.origin import Origin, elsewhere
from sojourn.report import evaluation_tables as tables
from sojourn.report.page import Page, Section, picture
from sojourn.store import manifest
from sojourn.store.batches import tell

#: More controls than this are not named in a sentence, nor more metrics.
_MOST_NAMED = 4
_ALONE = "Nothing here competes with other TCP."
_FAIR = (
    "Beside other TCP a control starves where its flows surely get less than "
    f"{100 * ENOUGH:g} % of a fair share, and dominates where the others do. Fair is an even "
    "division: by the flows under test of what all deliver, by the others of what they deliver "
    "alone. RFC 5348 calls a flow reasonably fair within a factor of two of what a TCP flow would "
    "send under the same conditions."
)
_TOLD = (
    "Mean over replications ± half of its 95 % confidence interval, and the other control's mean. "
    f"A verdict is by permutation tests paired by seed. {HOW} The same: within {100 * MARGIN:g} % "
    "by two one-sided tests; unsure: these runs do not tell; different: changed, but neither "
    "direction is better. Harm is what the others lose."
)


def of_directory(directory: Path) -> Page:
    """The page of an evaluation's directory."""
    content = manifest.read(directory)
    told = (content["controls"], content["against"], content["quick"], list(content["suite"]))
    request = Request(suite(DEFAULT), *told)
    places = stored(request, directory, tell)
    return page(request, places, scores(places, request), content.get("origin", {}))


def page(request: Request, places: Sequence[Place], found: Sequence[Score], origin: Origin) -> Page:
    """The whole page; ``origin`` tells what the controls ran on."""
    beside = standings(places, request)
    several = len(request.controls) > 1
    sections = []
    if several:
        overview = tables.of_controls(request.controls, beside, found)
        sections.append(Section("Controls", [_FAIR, _TOLD], tables=[overview]))
    sections += [_of_control(c, beside, found, folded=several) for c in request.controls]
    sections += _throughput_and_delay(places)
    counts = tables.counts(request.controls, request.against, found)
    sections.append(Section("Numbers of comparisons", tables=[counts], folded=several))
    sections.append(Section("Every comparison", tables=list(tables.every(found)), folded=True))
    title = f"Evaluation of {_named(request.controls)}"
    sentence = _sentence(request, beside, found, origin)
    return Page(title, sentence, sections, notes(places, request))


def _of_control(
    control: str, beside: Sequence[Standing], found: Sequence[Score], *, folded: bool
) -> Section:
    mine = [standing for standing in beside if standing.cca == control]
    shown = tables.of_control(mine, [score for score in found if score.cca == control])
    return Section(words.of_value(control), [_FAIR, _TOLD], tables=shown, folded=folded)


def _throughput_and_delay(places: Sequence[Place]) -> list[Section]:
    paths = {
        f"{place.point}": {
            control: (float(rates[control].mean()), float(delays[control].mean()))
            for control in rates
        }
        for place in places
        if place.experiment.drawn
        for rates, delays in [_rates_and_delays(place)]
    }
    pictures = [picture("pareto", pareto(paths))] if paths else []
    return [Section("Throughput and delay", pictures=pictures)] if pictures else []


def _rates_and_delays(place: Place) -> Sequence[Mapping[str, Values]]:
    return [place.values["flow", name] for name in ("mean_throughput_l4", "mean_est_qdelay_l4")]


def _named(controls: Sequence[str]) -> str:
    if len(controls) > _MOST_NAMED:
        return f"{len(controls)} controls"
    return words.listed([words.of_value(control) for control in controls])


def _sentence(
    request: Request, beside: Sequence[Standing], found: Sequence[Score], origin: Origin
) -> str:
    """What matters most first, and numbers of comparisons last."""
    count = Counter(score.finding.verdict for score in found)
    told = words.listed([f"{verdict} in {count[verdict]:,}" for verdict in tables.VERDICTS])
    who = f"{_named(request.controls)} against {_named(request.against)} in {request.suite.title}"
    one = len(request.controls) == 1
    return " ".join(
        [
            f"{who}{' (quick)' if request.quick else ''}{elsewhere(origin)}.",
            _fate(beside) if one else _fates(request.controls, beside),
            *([_key_metrics(found)] if one else []),
            f"Of {len(found):,} comparisons in all: {told}.",
        ]
    )


def _fate(beside: Sequence[Standing]) -> str:
    """Of one control."""
    if not beside:
        return _ALONE
    starved, dominant = (
        [one for one in beside if outcome in one.outcome] for outcome in ("starved", "dominant")
    )
    told = [
        f"starves in {len(starved) or 'none'}" + _worst(starved, "it gets", lambda one: one.own),
        f"dominates in {len(dominant) or 'none'}"
        + _worst(dominant, "the others get", lambda one: one.others),
    ]
    several = f"{len(beside)} competition{'s' * (len(beside) > 1)} with other TCP"
    return f"Of {several} it {' and '.join(told)}."


def _worst(cases: Sequence[Standing], who: str, part: Callable[[Standing], Part]) -> str:
    if not cases:
        return ""
    worst = min(cases, key=lambda one: part(one).mean)
    where = f"{worst.experiment}, {worst.point}"
    return f" (at worst {who} {100 * part(worst).mean:.2g} % of a fair share: {where})"


def _fates(controls: Sequence[str], beside: Sequence[Standing]) -> str:
    """Of several controls."""
    if not beside:
        return _ALONE
    told = []
    for verb, outcome in (("starving", "starved"), ("dominating", "dominant")):
        names = [c for c in controls if any(s.cca == c and outcome in s.outcome for s in beside)]
        told.append(f"{verb}: {_named(names) if names else 'none'}")
    return f"Beside other TCP {'; '.join(told)}."


def _key_metrics(found: Sequence[Score]) -> str:
    """The most important ones that are better or worse anywhere."""
    told = []
    for metric, scores_of in tables.by_importance(found).items():
        count = Counter(score.finding.verdict for score in scores_of)
        if family(metric) == "key" and (count["better"] or count["worse"]):
            name = words.of_metric(metric.name).partition(" (")[0]
            told.append(f"{name} worse in {count['worse']}, better in {count['better']}")
    return f"Key metrics: {'; '.join(told[:_MOST_NAMED]) or 'none better or worse'}."
