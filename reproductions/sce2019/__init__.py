"""The SCE draft's one- and two-flow tests (2019), tables 1-111."""

from __future__ import annotations

from pathlib import Path

from sojourn.reproduction.card import read as read_card
from sojourn.reproduction.paper import Paper
from sojourn_reproductions.sce2019 import observations, show, summary
from sojourn_reproductions.sce2019.cells import cells
from sojourn_reproductions.sce2019.tables import KEYS, TABLES

SCE2019 = Paper(
    name="sce2019",
    title="SCE draft, one and two flows through Cake: published beside measured",
    keys=KEYS,
    labels=("flow", "bandwidth_mbit", "delay_ms"),
    tables=tuple(TABLES),
    card=read_card(Path(__file__).with_name("card.toml")),
    cells=cells,
    statements=(*observations.STATEMENTS, *summary.STATEMENTS),
    sheets=show.sheets,
    charts=show.charts,
)
