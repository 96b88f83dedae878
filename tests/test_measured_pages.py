"""No measured number is typed into a page: it follows from a stored file, or says by what command
and when it was measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from conftest import ROOT
from tools.pages import kept
from tools.pages.rendered import RENDERED
from tools.pages.text import pages

#: A row whose goodput is another.
OTHER = {"goodput": "1.0"}
NUMBER = r"[-+\u2212±]?\d(?:[\d,.]*\d)?"
UNIT = (
    r"(?:%|(?:times|[nmuµ]?s|min|h|seconds?|minutes?|hours?|[kMG]?bit/s|[kMG]?B"
    r"|packets(?:/s| per second)|instructions|million|billion)(?![\w-]))"
)
QUANTITY = re.compile(rf"(?<![\w.-]){NUMBER}(?:(?: to | and | or ){NUMBER})? ?{UNIT}")
FENCED = re.compile(r"^```.*?^```\s*?$", re.S | re.M)
#: What is code, a comment or the place of a link.
SPAN = re.compile(r"`[^`]*`|<!--.*?-->|\]\([^)]*\)", re.S)
#: "(`COMMAND`, 2026-11-22)", with more about the command between the two.
STAMP = re.compile(r"\(`[^`]+`[^()]*?,\s+\d{4}-\d\d-\d\d\)")
FILE = re.compile(r"\]\([^)]+\.(?:csv|toml|json)\)")

#: Quantities that nobody measured (settings, limits, conventions) outside of code spans.
SETTINGS: Mapping[str, str] = {
    "CHANGELOG.md": "100 million, 4 ms, 1 s, 10 s, 16 MB, 8 MB, 2 s, 32 MB, 500 ms, 4 MB, 4 us",
    "docs/howto/cluster.md": "2 GB, 30 seconds",
    "docs/howto/compare.md": "95 %, 80 %, 2 %, 5 %, 10 %",
    "docs/howto/evaluate.md": "95 %, 5 %",
    "docs/howto/virtual-kernel.md": "10 ms, 95 %",
    "docs/howto/overlay-applications.md": "1 Gbit/s, 10 s, 3 s, 6 s",
    "docs/howto/random-scenarios.md": "95 %",
    "docs/howto/real-kernel.md": "1 ms, 95 %",
    "docs/howto/which-aqm.md": "10 Mbit/s",
    "docs/reference/backends.md": "10 ms, 256 ns, 32 MB, 4 MB",
    "docs/reference/metrics.md": "0.1 %, 5 %, 100 ms",
    "docs/explanation/packet-scripts.md": "0 to 100 ms, 40 ms",
    "docs/howto/figures.md": "95 %",
    "docs/howto/any-program.md": "15 s, 4 MB",
    "docs/reference/programs.md": "1 GB, 64 MB",
    "docs/reference/results.md": "95 %, 128 MB",
    "docs/reference/scenario.md": "100 million, 1,000,000 s, 0 ms, 50 us, 4 MB, 32 MB, 6 and 6 MB, "
    "131,072 B, 1 GB, 6 MB, 100 Mbit/s, 260 ms, 28 B, 52 B, 44 B, 14 B, 95 %, 5 %, 10 ms",
    "docs/howto/short-flows.md": "60 %, 95 %",
    "docs/reference/sliq.md": "16 MB",
    "docs/reference/slotted.md": "100 Mbit/s, 0.2 to 5 s, 0.3 s",
    "docs/howto/own-control.md": "60 s",
    "docs/tutorial/first-run.md": "20 Mbit/s, 95 %",
}
#: Pages that follow from stored files or from the sources, which have tests of their own.
RENDERED_ELSEWHERE = {f"docs/reference/{name}" for name in pages()}
TYPED = sorted(
    {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md"))
    }
    - RENDERED_ELSEWHERE
    - {f"docs/explanation/{name}.md" for name in RENDERED}
)


@pytest.mark.parametrize("name", RENDERED)
def test_a_page_is_what_its_stored_tables_make_it(name: str) -> None:
    assert (ROOT / "docs/explanation" / f"{name}.md").read_text(encoding="utf-8") == RENDERED[
        name
    ]()


@pytest.mark.parametrize("name", TYPED)
def test_a_typed_number_names_its_command_and_day_or_its_file(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert sorted(set(typed(text))) == sorted(filter(None, SETTINGS.get(name, "").split(", ")))


def typed(text: str) -> list[str]:
    """The quantities of a page that look measured, in sections that tell neither by what command
    and when nor in which file. In a table a number needs no unit for that.
    """
    return [
        quantity
        for section in re.split(r"^(?=#+ )", FENCED.sub("", text), flags=re.M)
        if not STAMP.search(section) and not FILE.search(section)
        for quantity in _quantities(SPAN.sub("", section))
    ]


def _quantities(text: str) -> Iterator[str]:
    for match in QUANTITY.finditer(re.sub(r"\s+", " ", text)):
        yield match[0]
    for line in text.splitlines():
        if line.startswith("|"):
            cells = (cell.strip(" *") for cell in line.split("|"))
            yield from (cell for cell in cells if re.fullmatch(NUMBER, cell))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Cubic has 9.37 Mbit/s.", ["9.37 Mbit/s"]),
        (
            "It takes a fifth\nless: 1.2 to 1.5\nus per ACK, 20% of the time.",
            ["1.2 to 1.5 us", "20%"],
        ),
        ("- fast: **5.1 million** packets/s", ["5.1 million"]),
        ("| flows | drops |\n| --- | ---: |\n| 1 Cubic | **24** |", ["24"]),
        ("13 ms (`make bench`, 2026-11-21).\n\n## Another\n\n14 ms", ["14 ms"]),
        ("13 ms (`make bench`) on 2026-11-21", ["13 ms"]),
        ("13 ms ([told](elsewhere.md))", ["13 ms"]),
        ("```sh\n# a comment: 5 s\n```\n\n13 ms", ["13 ms"]),
        ("13 ms (`make bench` with\n`e.toml`,\n2026-11-21).", []),
        ("13 ms, of [a table](wifi/home.csv)", []),
        ("`13 ms`, in a [section](#a-13-ms) of Linux 6.12 with 13 flows", []),
        ('```toml\nrtt = "13 ms"\n```', []),
    ],
)
def test_numbers_without_a_source_are_found(text: str, found: list[str]) -> None:
    assert typed(text) == found


def test_a_stored_number_that_is_not_the_pages_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that was not rendered since its tables changed differs."""
    rows = kept.rows
    monkeypatch.setattr(kept, "rows", lambda *table: [row | OTHER for row in rows(*table)])
    assert (ROOT / "docs/explanation/wifi.md").read_text(encoding="utf-8") != RENDERED["wifi"]()
