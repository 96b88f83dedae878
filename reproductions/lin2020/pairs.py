"""Section 5.3 and appendix A: two flows through one bottleneck (tables 5-10 and A.20-A.28)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sojourn.campaign.cases import Outcome
from sojourn.reproduction.paper import Cell, Request
from sojourn_reproductions.lin2020 import controls, order
from sojourn_reproductions.lin2020.controls import UNPACED
from sojourn_reproductions.lin2020.observations import OF_PAIRS
from sojourn_reproductions.lin2020.printed import printed
from sojourn_reproductions.lin2020.runs import Measure, of_flow, replications, scenario
from sojourn_reproductions.lin2020.section import INFERRED, PRINTED, Judged, Section

SUM, JAIN = "Sum", "Jain's Index"
#: Seconds.
_PRINTED_DURATION = 600.0
_THROUGHPUT = "mean_throughput_l4"
_WHOLE = "Mininet passes bursts on uncut, and gives the path the properties of the real one"
_LOSS = "0.010 is a share: with 0.010 % nothing would hold Cubic at 1 Mbit/s"
_FIRST = "in print Flow-1 beats Cubic by far, as who comes first does; the queue counts bursts"
_EITHER = "in print either flow is ahead, so that no order of starts is inferred"
_REASONS = {
    "lan": Judged(INFERRED, _WHOLE, "6c30b19b (2026-11-22), results known"),
    "wan-1": Judged(INFERRED, _FIRST, "fc5bed91 (2026-11-22), results known"),
    "wan-2": Judged(INFERRED, _LOSS, "4a87a7a1 (2026-11-22)"),
}


@dataclass(frozen=True)
class Table:
    """Two flows of each control, or one against another control."""

    path: str
    #: ``None``: fairness, two flows of the same control.
    against: str | None
    #: Whether it has all eleven controls.
    whole: bool

    @property
    def second(self) -> str:
        """The column of the second flow."""
        return self.against or "Flow-2"

    @property
    def scale(self) -> float:
        """From Mbit/s to the table's unit."""
        return 1000.0 if self.path == "wan-1" else 1.0

    def rows(self, number: str) -> Sequence[str]:
        """Its rows as printed; all controls but the other flow's where they are not at hand."""
        return tuple(printed(number)) or tuple(c for c in controls.WIRED if c != self.against)


def _tables() -> Iterator[tuple[str, Table]]:
    for index, path in enumerate(_REASONS):
        yield f"{5 + 2 * index}", Table(path, "CUBIC", whole=False)
        yield f"{6 + 2 * index}", Table(path, None, whole=False)
        for number, against in enumerate(("CUBIC", "NewReno", None), start=20 + 3 * index):
            yield f"A{number}", Table(path, against, whole=True)


TABLES = dict(_tables())


def _cells(number: str, request: Request) -> Iterator[Cell]:
    table, published = TABLES[number], printed(number)
    measures: dict[str, Measure] = {
        "Flow-1": partial(throughput, 0, table.scale),
        table.second: partial(throughput, 1, table.scale),
        SUM: partial(total, table.scale),
        JAIN: jain,
    }
    for form in (PRINTED, INFERRED):
        for row in (r for name in table.rows(number) for r in controls.readings(name, UNPACED)):
            against = table.against or row
            document = scenario(f"{table.path}-{form}", row, against, second=UNPACED)
            runs = replications(document, request, _PRINTED_DURATION)
            values = published.get(controls.printed_row(row), {})
            for column, measure in measures.items():
                known = None if request.overrides else values.get(column)
                keys = {"form": form, "table": number, "row": row, "column": column}
                yield Cell(keys, known, runs, measure)


def throughput(flow: int, scale: float, outcome: Outcome) -> float | None:
    """A flow's goodput in the table's unit."""
    value = of_flow(_THROUGHPUT, outcome, flow)
    return None if value is None else scale * value


def _both(outcome: Outcome) -> tuple[float, float]:
    return of_flow(_THROUGHPUT, outcome, 0) or 0.0, of_flow(_THROUGHPUT, outcome, 1) or 0.0


def total(scale: float, outcome: Outcome) -> float:
    """Both flows' goodput in the table's unit."""
    return scale * sum(_both(outcome))


def jain(outcome: Outcome) -> float | None:
    """Jain's index of both flows; ``None`` if nothing arrived."""
    first, second = _both(outcome)
    squares = 2 * (first**2 + second**2)
    return (first + second) ** 2 / squares if squares else None


def _judged(table: Table) -> Judged:
    if table.path == "wan-1" and table.against is None:
        return Judged(PRINTED, _EITHER, "4a87a7a1 (2026-11-22)")
    return _REASONS[table.path]


_JUDGED = {number: _judged(table) for number, table in TABLES.items()}
PAIRS = Section(
    tables=_JUDGED,
    cells=_cells,
    statements=(*OF_PAIRS, *order.goals(_JUDGED, ("Flow-1", SUM))),
)
