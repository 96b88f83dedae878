"""Cells of what the report plots over time: 3.1.3, 3.1.6, 3.1.8, 3.1.9 and 3.2.2 to 3.2.5."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from sojourn.campaign.cases import Sampled
from sojourn.metrics import RunData
from sojourn.reproduction.paper import Cell, Request
from sojourn_reproductions.gnat2021.published import published, value
from sojourn_reproductions.gnat2021.sliq import series
from sojourn_reproductions.gnat2021.sliq.scenarios import SLIQ, document, key, sampled, with_control
from sojourn_reproductions.gnat2021.sliq.series import Series
from sojourn_reproductions.gnat2021.sliq.steps import SETTLES, Phase, grows, phases

SHARING, SPEED, DELAY = "sliq_sharing", "sliq_speed_changes", "sliq_delay_changes"
CAPACITY, DUAL = "sliq_capacity", "sliq_dual_changes"
#: A link counts as full from this share of its rate on.
FULL = 0.9
#: The rows of 3.1.8 that tell of a growth of the delay begin so.
AFTER = "least_percent_after_s="

_Measure = Callable[[RunData], float | None]


def _cell(
    case: Sampled, keys: Mapping[str, str], measure: _Measure, published: float | None = None
) -> Cell:
    return Cell(keys, published, [(case,)], measure)


def _filled(phase: Phase, data: RunData) -> float:
    rate = series.received(data).mean(phase.begin + SETTLES, phase.end)
    return 100 * rate / (phase.rate * (1 - phase.loss))


def sharing(request: Request) -> Iterator[Cell]:
    """Two flows with the same control (3.1.3)."""
    for control in SLIQ:
        scenario = with_control(document("sharing", request), control)
        case = sampled(scenario)
        at = partial(key, "3.1.3", SHARING)
        until = unequal_until()
        for phase in phases(scenario):
            filled = partial(_filled, phase)
            apart = partial(_apart, phase.begin + SETTLES, phase.end)
            yield _cell(case, at(phase.name, f"{control}_filled_percent"), filled)
            yield _cell(case, at(phase.name, f"{control}_difference_percent"), apart)
        whole: Mapping[str, _Measure] = {
            "full_after_s": partial(_full_after, phases(scenario)[0].rate, 1.0),
            "dropped_percent": _dropped,
            f"difference_before_{until:g}_s_percent": partial(_apart, 1.0, until),
            f"difference_{until:g}_to_60_s_percent": partial(_apart, until, 60.0),
            "difference_percent": partial(_apart, 1.0, 70.0),
        }
        for row, measure in whole.items():
            yield _cell(case, at(row, control), measure)


def unequal_until() -> float:
    """When Cubic's flows begin to share equally in the report, s (3.1.3)."""
    [row] = published(SHARING)
    return float(row["sliq_cubic"])


def _apart(begin: float, end: float, data: RunData) -> float:
    """By how much the flows' goodputs differ, of their sum: mean over the seconds."""
    first, second = (
        series.delivered(data, flow).windows(1.0).between(begin, end).values for flow in (0, 1)
    )
    both = first + second
    return float(100 * np.mean(np.abs(first - second)[both > 0] / both[both > 0]))


def _full_after(rate: float, window: float, data: RunData) -> float | None:
    return series.received(data).windows(window).until(FULL * rate, 0.0)


def _dropped(data: RunData) -> float:
    links = data.link.samples
    drops, offered = links["drops_overflow"][:, 0].sum(), links["offered_packets"][:, 0].sum()
    return float(100 * drops / offered)


def speed(request: Request) -> Iterator[Cell]:
    """How far each rate is filled (3.1.6)."""
    for control in SLIQ:
        scenario = with_control(document("speed-changes", request), control)
        case = sampled(scenario)
        for phase in phases(scenario):
            measure = partial(_filled, phase)
            yield _cell(case, key("3.1.6", SPEED, phase.name, f"{control}_filled_percent"), measure)


def delay(request: Request) -> Iterator[Cell]:
    """What becomes of the rate as the delay changes (3.1.8)."""
    known = {row["row"]: row for row in published(DELAY)}
    for control in SLIQ:
        scenario = with_control(document("delay-changes", request), control)
        case, rate = sampled(scenario), phases(scenario)[0].rate
        at = partial(key, "3.1.8", DELAY)
        rows: dict[str, _Measure] = {"full_after_s": partial(_full_after, rate, 1.0)}
        for time in grows(scenario):
            rows[f"{AFTER}{time:g}"] = partial(_dip, time)
        rows["mean_percent_20_to_110_s"] = partial(_mean, rate, 20.0, 110.0)
        rows["mean_percent_110_to_160_s"] = partial(_mean, rate, 110.0, 160.0)
        rows["full_again_s_after_110_s"] = partial(_waits, rate, 110.0)
        for row, measure in rows.items():
            yield _cell(case, at(row, control), measure, value(known.get(row, {}), control))


def _mean(rate: float, begin: float, end: float, data: RunData) -> float:
    return 100 * series.received(data).mean(begin, end) / rate


def _dip(time: float, data: RunData) -> float:
    """The least rate of half a second within 5 s after a change, of that in the 5 s before."""
    sent = series.sent(data)
    return 100 * sent.windows(0.5).least(time, time + 5) / sent.mean(time - 5, time)


def _waits(rate: float, time: float, data: RunData) -> float | None:
    """Until the link is full for three seconds in a row, from the first second that it is not."""
    return full_again(series.received(data).windows(1.0), FULL * rate, time)


def full_again(rates: Series, level: float, time: float) -> float | None:
    """Seconds from ``time`` to the beginning of three stretches at ``level`` after one below it;
    0 if none is below, ``None`` if it does not come back.
    """
    later = rates.between(time, np.inf)
    low = np.flatnonzero(later.values < level)
    if not len(low):
        return 0.0
    high = later.values >= level
    for place in range(int(low[0]), len(high) - 2):
        if high[place : place + 3].all():
            return float(later.begins[place] - time)
    return None


def estimates(request: Request) -> Iterator[Cell]:
    """Estimates of the capacity (3.1.9)."""
    known = {f"from_s={row['from_s']}": row for row in published(CAPACITY)}
    for control in SLIQ:
        scenario = with_control(document("capacity", request), control)
        case = sampled(scenario)
        for phase in phases(scenario):
            told = known.get(phase.name, {})
            for name, measure in _ESTIMATES.items():
                column = f"{control}_{name}"
                keys = key("3.1.9", CAPACITY, phase.name, column)
                yield _cell(case, keys, partial(measure, phase), value(told, column))


def _middle(phase: Phase, data: RunData) -> float:
    known = series.capacity(data).between(phase.end - 5, phase.end)
    return float(np.median(known.values))


def _least(phase: Phase, data: RunData) -> float:
    return series.capacity(data).least(phase.begin + SETTLES, phase.end)


def _most(phase: Phase, data: RunData) -> float:
    return series.capacity(data).most(phase.begin + SETTLES, phase.end)


_ESTIMATES: Mapping[str, Callable[[Phase, RunData], float]] = {
    "median": _middle,
    "least": _least,
    "most": _most,
}


def dual(section: str, experiment: str, request: Request) -> Iterator[Cell]:
    """Cubic and Copa in parallel while something changes (3.2.2 to 3.2.5)."""
    scenario = document(experiment, request)
    case = sampled(scenario)
    at = partial(key, section, DUAL)
    for phase in phases(scenario):
        yield _cell(case, at(phase.name, "filled_percent"), partial(_filled, phase))
        yield _cell(case, at(phase.name, "cubic_share_percent"), partial(_share, phase))
        yield _cell(case, at(phase.name, "least_percent"), partial(_least_second, phase))
    half = phases(scenario)[0].rate / 2
    known = {row["after_s"]: row for row in published(DUAL)}
    if section == "3.2.5":
        for time, span in ((20, 3.0), (40, 20.0), (60, 10.0), (80, 10.0)):
            told = known.get(f"{time}", {})
            measures: Mapping[str, _Measure] = {
                "least_sent_mbit": partial(_least_sent, time, span),
                "below_half_s": partial(_below_half, half, time, span),
            }
            for column, measure in measures.items():
                yield _cell(case, at(f"after_s={time}", column), measure, value(told, column))


def _share(phase: Phase, data: RunData) -> float:
    samples = data.flow.samples
    inside = (samples.begins >= phase.begin - 1e-9) & (samples.ends <= phase.end + 1e-9)
    first, all_ = (
        samples[name][inside, 0].sum() for name in ("first_control_packets", "controlled_packets")
    )
    return float(100 * first / all_)


def _least_second(phase: Phase, data: RunData) -> float:
    rates = series.received(data).windows(1.0)
    share = rates.least(phase.begin + SETTLES, phase.end) / (phase.rate * (1 - phase.loss))
    return 100 * share


def _least_sent(time: float, span: float, data: RunData) -> float:
    return series.sent(data).windows(0.5).least(time, time + span)


def _below_half(half: float, time: float, span: float, data: RunData) -> float:
    return series.sent(data).windows(0.5).below(half, time, time + span)
