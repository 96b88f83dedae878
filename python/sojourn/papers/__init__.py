"""Published evaluations: one file and one line each."""

from __future__ import annotations

from sojourn.papers.abe import ABE
from sojourn.papers.ccperf import CCPERF
from sojourn.papers.gnat2021 import GNAT2021
from sojourn.papers.lin2020 import LIN2020
from sojourn.papers.linux612 import LINUX612
from sojourn.papers.linux618 import LINUX618
from sojourn.papers.paper import Paper
from sojourn.papers.sce2019 import SCE2019
from sojourn.papers.theory import THEORY

PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (CCPERF, LINUX618, LINUX612, SCE2019, THEORY, LIN2020, ABE, GNAT2021)
}
