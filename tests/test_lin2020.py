"""Table 19 of Lin et al. 2020, as `sojourn reproduce` prints it."""

from __future__ import annotations

import json

import pytest

from conftest import Command


@pytest.fixture(scope="module")
def rtt(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[float, float]]:
    """Published and measured RTT of each row."""
    from sojourn.papers.lin2020 import LIN2020
    from sojourn.papers.paper import Request
    from sojourn.papers.reproduce import reproduce

    where = {"column": ["UDP Flow Deactivated RTT"]}
    out = tmp_path_factory.mktemp("lin2020")
    made = reproduce(LIN2020, Request(quick=True, where=where), out, 2, lambda done, total: None)
    return {row["row"]: (row["published"], row["measured"]) for row in made.rows}


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
    rows = json.loads(sojourn("reproduce", "lin2020", *arguments).stdout)
    assert len(rows) == 3
    assert {row["published"] for row in rows} == {None}
