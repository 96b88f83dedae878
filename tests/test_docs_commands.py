"""What the README, the tutorial and the how-to pages say to type works, in its order."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

import docs_commands as docs
from sojourn.catalogue import members
from tools.pages.moving import FRAMES, SIZE

LINES = 64
#: Pages that are followed whole by tests of their own, which ask for more: `test_study.py`.
ELSEWHERE = {"docs/howto/study.md"}


def pages(*, whole: bool) -> list[object]:
    """Each page, with what it needs of the machine."""
    made = []
    for name in docs.PAGES:
        if not (page := docs.page(name)).blocks or (whole and name in ELSEWHERE):
            continue
        needs = page.needs(whole=whole)
        made.append(pytest.param(name, marks=[pytest.mark.needs(*needs)] if needs else []))
    return made


@pytest.mark.parametrize("name", pages(whole=False))
def test_a_page_works(name: str, tmp_path: Path) -> None:
    docs.follow(docs.page(name), tmp_path / "here", whole=False)


@pytest.mark.long
@pytest.mark.parametrize("name", pages(whole=True))
def test_a_page_works_whole(name: str, tmp_path: Path) -> None:
    docs.follow(docs.page(name), tmp_path / "here", whole=True)


def test_the_readme_is_one_screen_and_counts_what_there_is() -> None:
    text = (docs.ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES
    for kind, name in (("ccas", "controls"), ("queues", "queue disciplines")):
        assert f"{len(members(kind))} [{name}]" in text  # type: ignore[arg-type]


def test_the_first_page_moves_and_is_small() -> None:
    path = docs.ROOT / "docs" / "_static" / "moving.webp"
    with Image.open(path) as picture:
        assert (picture.size, picture.n_frames) == (SIZE, FRAMES)  # type: ignore[attr-defined]
    assert path.stat().st_size < 500_000


PAGE = """
<!-- file: words.txt -->
```toml
a word
```

<!-- adds: words.txt -->
```toml
and another
```

<!-- briefly: --set duration='"2 s"' -->
<!-- run -->
```sh
cat words.txt    # and
sojourn --version | cut -c 1-7; test -d ../here
```

<!-- prints -->
```text
a word
and another
sojourn
```

<!-- run: needs tshark -->
```sh
echo "hash 00112233445566778899aabbccddeeff of 3"
```

<!-- prints: lines -->
```text
hash 0123... of 3
```
"""


def test_blocks_are_written_run_and_compared(tmp_path: Path) -> None:
    made = docs.read("page", PAGE)
    assert (made.needs(whole=False), made.blocks[2].briefly) == (
        ["tshark"],
        ["--set", 'duration="2 s"'],
    )
    docs.follow(made, tmp_path / "here", whole=False)
    assert (tmp_path / "here" / "words.txt").read_text() == "a word\nand another\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<!-- adds: words.txt -->", "<!-- file: words.txt -->"),
        ("cat words.txt", "cat sentences.txt"),
        ("another\nsojourn", "another\nsomething"),
        ("of 3\n```\n", "of 4\n```\n"),
        ("<!-- prints -->\n", ""),
        ("<!-- run: needs tshark -->", "<!-- run: tshark -->"),
    ],
)
def test_a_page_that_is_wrong_fails(old: str, new: str, tmp_path: Path) -> None:
    head, _, tail = PAGE.rpartition(old)
    made = docs.read("page", f"{head}{new}{tail}")
    with pytest.raises(AssertionError, match=r"page:\d+"):
        docs.follow(made, tmp_path / "here", whole=False)


def test_runs_are_shortened_wherever_they_stand() -> None:
    text = "sojourn run a.toml --set 'b=\"c # d\"'  # why\nsojourn run e && sojourn explain e\n"
    block = docs.Block("sh", text, 1, briefly=["--set", "f=1 s"])
    short = "--set 'f=1 s'"
    assert (
        docs.lengthened(block).split()
        == (
            f"sojourn run a.toml --set 'b=\"c # d\"' {short} # why "
            f"sojourn run e {short} && sojourn explain e"
        ).split()
    )
    assert docs.plain(docs.lengthened(block)) == []
    assert docs.plain("sojourn run a --set 'b=(c)'  # d\n\nsojourn list") == [
        ["run", "a", "--set", "b=(c)"],
        ["list"],
    ]
