"""The fidelity page: simulator beside kernel beside theory.

``python -m tools.pages.fidelity`` runs both comparisons and writes ``docs/fidelity.md``.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from sojourn import data
from sojourn.oracles.linux612.goals import CHAOTIC
from sojourn.oracles.linux618.goals import Verdict, cells_met, verdicts
from sojourn.oracles.linux618.kernel import METRICS
from sojourn.oracles.linux618.sheets import changes as _changes
from sojourn.reproduction.found import paper
from sojourn.reproduction.paper import Request
from sojourn.reproduction.reproduce import reproduce
from sojourn.reproduction.statements import Row
from tools.pages import fidelity_text as text

_VIRTUAL_METRICS = ("goodput", "mean_srtt", "retrans")
_DISPUTED = ("shallow", "ack-loss-half", "bbr-short", "long", "beside-bbr", "slow-start")
_REPEATS = set(CHAOTIC.values())


def page(
    kernel_rows: Sequence[Row], virtual_rows: Sequence[Row], theory_rows: Sequence[Row]
) -> str:
    """The page in Markdown."""
    judged = verdicts(kernel_rows)
    steady, chaotic = cells_met(judged, chaotic=False), cells_met(judged, chaotic=True)
    summary = (
        f"**{steady[0]} of {steady[1]}** lossless cells with one flow meet all their goals, and "
        f"**{chaotic[0]} of {chaotic[1]}** flows in cells with random loss or two flows.\n"
    )
    parts = [text.INTRODUCTION, summary, _kernel_table(judged), text.EXPLANATION]
    parts += [text.VIRTUAL, _virtual_table(virtual_rows), text.FOUND, text.QUEUES]
    return "\n".join([*parts, text.THEORY, _theory_table(theory_rows)])


def _virtual_table(rows: Sequence[Row]) -> str:
    """The cells that were in dispute, then what all of the table comes to."""
    heads = [f"{name} {side}" for name in _VIRTUAL_METRICS for side in ("sim", "kernel")]
    lines = [_line(("experiment", "cell", "cca", *heads)), _line(["---"] * (3 + len(heads)))]
    cells: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row["experiment"] in _DISPUTED:
            changes = {k: v for k, v in json.loads(row["changes"]).items() if k not in _REPEATS}
            key = (row["experiment"], _changes(json.dumps(changes)), row["cca"])
            cells.setdefault(key, []).append(row)
    for key, here in cells.items():
        values = [text for name in _VIRTUAL_METRICS for text in _repeated(here, name)]
        lines.append(_line((*key, *values)))
    judged = [(s.text, s.check(rows)) for s in paper("linux612").statements]
    told = [f"- {text}: {finding.word}, {finding.numbers}." for text, finding in judged]
    return "\n".join([*lines, "", "Of the whole table:", "", *told]) + "\n"


def _repeated(rows: Sequence[Row], metric: str) -> tuple[str, str]:
    ours = [row["measured"] for row in rows if row["metric"] == metric]
    kernel = [row["published"] for row in rows if row["metric"] == metric]
    known = f"{median(kernel):.4g}"
    if len(set(kernel)) > 1:
        known += f" ({min(kernel):.4g}-{max(kernel):.4g})"
    return f"{median(ours):.4g}", known


def _kernel_table(judged: Sequence[Verdict]) -> str:
    names = ("flows", "Mbit/s", "RTT ms", "buffer", "loss", "flow")
    heads = [f"{c} {side}" for c in METRICS for side in ("sim", "kernel")]
    lines = [_line((*names, *heads)), _line(["---"] * (len(names) + len(heads)))]
    for key in dict.fromkeys(verdict.key for verdict in judged):
        values = [cell for v in judged if v.key == key for cell in _pair(v)]
        lines.append(_line((*key[:5], key[6], *values)))
    return "\n".join(lines) + "\n"


def _pair(verdict: Verdict) -> tuple[str, str]:
    measured = f"{verdict.measured:.4g}"
    spread = verdict.kernel
    known = f"{spread.mean:.4g}"
    if spread.low < spread.high:
        known += f" ({spread.low:.4g}-{spread.high:.4g})"
    return (measured if verdict.met else f"**{measured}**", known)


def _theory_table(rows: Sequence[Row]) -> str:
    lines = [_line(("law", "parameter", "unit", "theory", "simulator")), _line(["---"] * 5)]
    for row in rows:
        values = (f"{row['published']:.4g}", f"{row['measured']:.4g}")
        lines.append(_line((row["law"], row["parameter"], row["unit"], *values)))
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _rows(name: str, *tables: str) -> list[Row]:
    with tempfile.TemporaryDirectory() as out:
        made = reproduce(paper(name), Request(tables), Path(out), 2, lambda done, total: None)
    return [dict(row) for row in made.rows]


def main() -> None:
    """Writes the page."""
    path = data.checkout() / "docs" / "fidelity.md"
    made = page(_rows("linux618", "grid"), _rows("linux612"), _rows("theory"))
    path.write_text(made, encoding="utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
