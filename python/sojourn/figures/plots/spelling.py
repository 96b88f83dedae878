"""Members of the catalogue as their field spells them."""

from __future__ import annotations

import re

#: Names that are not here are written as they are.
SPELLINGS = {
    # Congestion controls.
    "reno": "Reno",
    "cubic": "Cubic",
    "bic": "BIC",
    "highspeed": "HighSpeed",
    "scalable": "Scalable",
    "hybla": "Hybla",
    "htcp": "H-TCP",
    "westwood": "Westwood",
    "veno": "Veno",
    "vegas": "Vegas",
    "yeah": "YeAH",
    "illinois": "Illinois",
    "bbr": "BBR",
    "bbr3": "BBRv3",
    "dctcp": "DCTCP",
    "reno-sce": "Reno-SCE",
    "dctcp-sce": "DCTCP-SCE",
    "cubic-sce": "Cubic-SCE",
    "copa": "Copa",
    "ledbat": "LEDBAT",
    "prague": "Prague",
    "fixed-window": "Fixed window",
    "fixed-rate": "Fixed rate",
    # Queue disciplines.
    "cake": "Cake",
    "cobalt": "COBALT",
    "fifo": "FIFO",
    "red": "RED",
    "codel": "CoDel",
    "fq_codel": "FQ-CoDel",
    "pie": "PIE",
    "fq_pie": "FQ-PIE",
    "dualpi2": "DualPI2",
    "fq": "FQ",
    # A unit that is one.
    "bdp": "BDP",
}
_WORD = re.compile(r"[\w.-]*\w")


def spelled(text: str) -> str:
    """A text whose words are written so, where they are names of the catalogue."""
    return _WORD.sub(lambda word: SPELLINGS.get(word[0], word[0]), text)
