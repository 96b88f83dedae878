"""The generated pages of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT
from sojourn.catalogue import KINDS, members
from tools.pages import crates
from tools.pages.at_work import FIGURES, figure_path, result
from tools.pages.links import led, stand_ins
from tools.pages.text import pages

DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.mark.parametrize("name", pages())
def test_the_page_is_up_to_date(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == pages()[name], "run `make docs`"


def test_no_page_is_of_a_member_that_has_gone() -> None:
    listed = {f"{kind}.md" for kind in KINDS} | set(pages())
    found = {
        str(p.relative_to(REFERENCE)) for kind in KINDS for p in (REFERENCE / kind).glob("*.md")
    }
    assert found <= listed


@pytest.mark.parametrize("kind", FIGURES)
def test_every_member_has_a_figure(kind: str) -> None:
    for member in members(kind):  # type: ignore[arg-type]
        assert (REFERENCE / figure_path(kind, member.name)).stat().st_size > 5_000  # type: ignore[arg-type]


@pytest.mark.parametrize("page", sorted(DOCS.glob("**/*.md")), ids=lambda p: p.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("kind", FIGURES)
def test_the_figure_is_of_the_member(kind: str) -> None:
    """The scenario runs with the member in its place, and data flows."""
    last = members(kind)[-1].name  # type: ignore[arg-type]
    run = result(kind, last)  # type: ignore[arg-type]
    assert f"'{last}'" in str(run.scenario.canonical)
    assert run.net["mean_agg_throughput_l4"][0] > 1


def test_the_picture_of_the_crates_is_up_to_date() -> None:
    stored = (DOCS / "explanation" / crates.PICTURE).read_text(encoding="utf-8")
    assert stored == crates.picture(), "run `make docs`"


@pytest.mark.parametrize(
    ("place", "page", "text", "there"),
    [
        ("docs/howto/a.md", "docs/howto/a.md", "[b](b.md#c)", "[b](b.md#c)"),
        (
            "docs/howto/a.md",
            "docs/howto/a.md",
            "[s](../../SECURITY.md#in-short)",
            "[s](../project/security.md#in-short)",
        ),
        (
            "reproductions/lin2020/README.md",
            "docs/explanation/reproductions/lin2020.md",
            "[s](reference/SOURCE.md), [t](TABLES.md), [w](../../docs/explanation/wifi.md)",
            "[s](path:../../../reproductions/lin2020/reference/SOURCE.md), [t](lin2020-tables.md), "
            "[w](../wifi.md)",
        ),
        ("README.md", "docs/a.md", "![p](docs/_static/still.png)", "![p](_static/still.png)"),
        (
            "README.md",
            "docs/a.md",
            "[`e`](examples), [`s`](SECURITY.md)",
            "`e`, [`s`](project/security.md)",
        ),
        ("README.md", "docs/a.md", "[w](https://x.org/y)", "[w](https://x.org/y)"),
        ("README.md", "docs/a.md", "```md\n[s](SECURITY.md)\n```", "```md\n[s](SECURITY.md)\n```"),
    ],
)
def test_links_lead_to_where_the_site_has_it(place: str, page: str, text: str, there: str) -> None:
    assert led(text, ROOT / place, ROOT / page, stand_ins(DOCS)) == there
