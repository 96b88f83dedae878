"""Scenarios that name the controls that the tests bring along, and what refuses them."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import TWO_FLOWS
from sojourn import ScenarioError
from sojourn.scenario import load

AIMD = '{ kind = "python", path = "aimd.py", class = "Aimd" }'
FAULTY = '{ kind = "python", path = "faulty.py", class = "Faulty" }'
MINE = TWO_FLOWS.replace('cca = "reno"', f"cca = {AIMD}")
BAD = TWO_FLOWS.replace('cca = "reno"', f"cca = {FAULTY}")


def refusal(source: Any) -> str:
    """Why a scenario is refused."""
    with pytest.raises(ScenarioError) as caught:
        load(source)
    return str(caught.value)
