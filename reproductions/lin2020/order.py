"""Whether the controls come in the paper's order, table by table and column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sojourn.reproduction.card import Card
from sojourn.reproduction.rank import CONFIDENCE, RankCorrelation, rank_correlation
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import GOALS, Finding, Row, Statement
from sojourn_reproductions.lin2020.controls import is_second
from sojourn_reproductions.lin2020.section import Judged

#: The goal: Kendall's tau of the goodputs of a table in its judged form.
GOAL = 0.6


def order(rows: Sequence[Row], form: str, table: str, column: str) -> RankCorrelation:
    """The rank correlation of a column over the printed rows, second readings left out."""
    pairs = [
        (row["published"], row["measured"])
        for row in rows
        if (row["form"], row["table"], row["column"]) == (form, table, column)
        and not is_second(row["row"])
        and None not in (row["published"], row["measured"])
    ]
    return rank_correlation(tuple(p for p, _ in pairs), tuple(m for _, m in pairs))


def sheet(rows: Sequence[Row], forms: Mapping[str, Judged], card: Card) -> Iterator[Sheet]:
    """The rank correlations of all columns as a table; nothing if too few rows were run."""
    places = dict.fromkeys((row["table"], row["form"], row["column"]) for row in rows)
    lines = []
    for table, form, column in places:
        try:
            found = order(rows, form, table, column)
        except KeyError:
            continue
        calibrated = card.is_calibrated(_name(table, column))
        judged = "" if forms[table].form != form else "calibrated" if calibrated else "judged"
        lines.append((table, form, judged, column, found.count, found.tau, found.low, found.high))
    if lines:
        title = f"Order of the controls: Kendall's tau with its {CONFIDENCE:.0%} bootstrap interval"
        header = ("table", "form", "", "column", "controls", "tau", "low", "high")
        yield Sheet("rank-correlation", title, header, lines, words=4)


def goals(
    tables: Mapping[str, Judged], columns: Sequence[str], section: str = GOALS
) -> Iterator[Statement]:
    """One per table and column of goodput: that its order is near the paper's."""
    for table, judged in tables.items():
        for column in columns:
            yield Statement(
                _name(table, column),
                section,
                f"Table {table}, {column}: the controls come in the paper's order",
                f"Kendall's tau in the {judged.form} form is at least {GOAL}",
                _at_least(judged.form, table, column),
            )


def _name(table: str, column: str) -> str:
    return f"order-{table}-{column.lower().replace(' ', '-').rstrip('.')}"


def _at_least(form: str, table: str, column: str) -> Callable[[Sequence[Row]], Finding]:
    def check(rows: Sequence[Row]) -> Finding:
        found = order(rows, form, table, column)
        told = f"tau {found.tau:.2f} ({found.low:.2f} to {found.high:.2f}), {found.count} controls"
        return Finding(found.tau >= GOAL, told)

    return check
