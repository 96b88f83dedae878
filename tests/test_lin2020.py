"""Table 19 of Lin et al. 2020, as `sojourn reproduce` prints it."""

from __future__ import annotations

import json

import pytest

from conftest import Command
from sojourn.papers.reproduce import Reproduction


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """The table with one seed."""
    from sojourn.papers.lin2020 import LIN2020
    from sojourn.papers.paper import Request
    from sojourn.papers.reproduce import reproduce

    out = tmp_path_factory.mktemp("lin2020")
    return reproduce(LIN2020, Request(tables=("19",), quick=True), out, 2, lambda done, total: None)


@pytest.fixture(scope="module")
def rtt(made: Reproduction) -> dict[str, tuple[float, float]]:
    """Published and measured RTT of each row."""
    column = "UDP Flow Deactivated RTT"
    rows = [row for row in made.rows if row["column"] == column]
    return {row["row"]: (row["published"], row["measured"]) for row in rows}


def test_the_queues_that_do_not_hang_on_slow_start_agree(
    rtt: dict[str, tuple[float, float]],
) -> None:
    for row in ("CUBIC", "H-TCP", "Westwood+"):
        published, measured = rtt[row]
        assert measured == pytest.approx(published, rel=0.07), row


def test_bbr_was_not_paced(rtt: dict[str, tuple[float, float]]) -> None:
    published = rtt["BBR"][0]
    assert abs(rtt["BBR"][1] - published) < 0.5 * abs(rtt["BBR (fq)"][1] - published)


def test_overrides_leave_nothing_published(sojourn: Command) -> None:
    arguments = ("--quick", "--where", "row=Vegas", "--set", "duration=2 s", "--format", "json")
    rows = json.loads(sojourn("reproduce", "lin2020", "--table", "19", *arguments).stdout)
    assert len(rows) == 6
    assert {row["published"] for row in rows} == {None}
