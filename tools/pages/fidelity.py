"""The page of fidelity: the simulator beside kernels and beside theory.

``python -m tools.pages.fidelity`` writes ``docs/explanation/fidelity.md`` from its text and tables
in ``fidelity/`` beside it and from what the oracles measured last; it runs nothing. ``make renew``
measures, by the parts that have it as their page in ``tools/renew.toml``.
"""

from __future__ import annotations

from functools import partial

from sojourn.reproduction.found import paper
from tools.pages import (
    fidelity_live,
    fidelity_older,
    fidelity_queues,
    fidelity_random,
    fidelity_virtual,
    kept,
)
from tools.pages.reproduction import Measured, card, home, markdown

_NAME = "fidelity"


def page() -> str:
    """The page in Markdown."""
    live, virtual, theory = (
        Measured(paper(name), home(name)) for name in ("linux618", "linux612", "theory")
    )
    shares, missed = (kept.rows(fidelity_random.PLACE, name) for name in ("shares", "misses"))
    again, older = _table("linux618-virtual"), _table("linux61-virtual")
    return kept.render(
        _NAME,
        live=live,
        virtual=virtual,
        theory=theory,
        stamp=lambda name: kept.stamp(f"{_NAME}/{name}"),
        card=lambda measured: card(measured.paper.card),
        grid=partial(fidelity_live.grid, live.rows),
        live_by_experiment=partial(fidelity_live.by_experiment, live.rows),
        by_control=partial(fidelity_live.by_control, live.rows),
        far=partial(fidelity_live.far, live.rows),
        three=partial(fidelity_live.three, live.rows, again),
        many=partial(fidelity_live.many, live.rows, _table("many-flows")),
        within=partial(fidelity_live.within, live.rows, again),
        virtual_by_experiment=partial(fidelity_virtual.by_experiment, virtual.rows),
        misses=partial(fidelity_virtual.misses, virtual.rows),
        cells=partial(fidelity_virtual.cells, virtual.rows),
        older_by_experiment=partial(fidelity_older.by_experiment, virtual.rows, older),
        differing=partial(fidelity_older.differing, virtual.rows, older),
        shares=fidelity_random.goals_met(shares),
        random_by_control=fidelity_random.by_control(shares),
        random_misses=fidelity_random.misses(missed),
        causes=fidelity_random.written(),
        disciplines=partial(fidelity_queues.disciplines, virtual.rows, _table("linux-queues")),
        prague=partial(fidelity_queues.prague, _table("dualpi2-prague")),
        codel=partial(fidelity_queues.codel, _table("codel-median")),
        laws=partial(_laws, theory),
    )


def _table(name: str) -> list[kept.Row]:
    return kept.rows(f"{_NAME}/{name}", kept.TABLE)


def _laws(theory: Measured) -> str:
    header = ("law", "parameter", "unit", "theory", "sim")
    names = (*header[:3], "published", "measured")
    return markdown(header, [[row[name] for name in names] for row in theory.rows], 3)


if __name__ == "__main__":
    kept.put(_NAME, page())
