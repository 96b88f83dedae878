"""Published evaluations, reproduced: what a reproduction gives, and how it is run and compared.

A package that brings one names a :class:`Paper` in its entry points, in the group
``sojourn.reproductions``; `sojourn new reproduction` writes such a package.
"""

from __future__ import annotations

from sojourn.campaign.cases import AnyCase, Case, Computed, Outcome, Results, Sampled
from sojourn.reproduction.card import Card
from sojourn.reproduction.card import read as read_card
from sojourn.reproduction.paper import Cell, Paper, Request
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Finding, Row, Statement, row_of

__all__ = [
    "AnyCase",
    "Card",
    "Case",
    "Cell",
    "Computed",
    "Finding",
    "Outcome",
    "Paper",
    "Request",
    "Results",
    "Row",
    "Sampled",
    "Sheet",
    "Statement",
    "read_card",
    "row_of",
]
