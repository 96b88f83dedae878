"""Pages whose commands are run as a reader types them: the README, the tutorial, the how-to pages.

A comment before each fenced block says what becomes of it:

- ``<!-- file: NAME -->``: the block is that file's content; ``<!-- adds: NAME -->``: the end of it;
- ``<!-- run -->``: it is run, by the shell or, of Python, by Python. ``<!-- run: whole -->``: only
  where pages are run whole, which takes longer than CI has; ``<!-- run: needs NAME -->``: only
  where the machine has that capability (``capabilities.py``);
- ``<!-- prints -->``: the block is what the one before printed, but for blanks and for numbers;
  ``<!-- prints: lines -->``: these lines of it, numbers included, in this order;
- ``<!-- shown: WHY -->``: none of these, for a reason.

``<!-- briefly: OPTIONS -->`` before the comment of a block that is run has these appended to each
``sojourn run`` and ``sojourn sweep`` of it where pages are not run whole. ``<!-- files: DIRECTORY
-->`` anywhere lays the files of a directory of the checkout beside those of the page. Pictures
that are beside the page are those that its commands make.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt

from capabilities import overlay_nodes
from conftest import ROOT, call

PLACES = ("docs/tutorial", "docs/howto")
FILES = [ROOT / "README.md", *sorted(path for p in PLACES for path in (ROOT / p).glob("**/*.md"))]
PAGES = [str(path.relative_to(ROOT)) for path in FILES]
MARK = re.compile(r"<!-- (file|adds|files|run|prints|shown|briefly)(?:: (.+?))? -->", re.DOTALL)
#: Seconds that a block may take.
LONGEST = 3_600
#: Where it is set, pages get the pictures that their commands have made.
KEEP = "SOJOURN_KEEP_PICTURES"
#: A run's hash, in the place of which pages have dots.
HASH = (re.escape("0123..."), "[0-9a-f]{32}")


@dataclass
class Block:
    """A fenced block, and what is said of it."""

    language: str
    text: str
    line: int
    mark: str = ""
    said: str = ""
    briefly: list[str] = field(default_factory=list)

    @property
    def needs(self) -> list[str]:
        """Capabilities."""
        return self.said.split()[1:] if self.said.startswith("needs ") else []

    @property
    def whole(self) -> bool:
        """It is run only where pages are run whole."""
        return self.said.startswith("whole")


@dataclass
class Page:
    """A page and its blocks, in order."""

    name: str
    blocks: list[Block] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)

    def needs(self, *, whole: bool) -> list[str]:
        """What the machine has to have for it."""
        run = [block for block in self.blocks if whole or not block.whole]
        return sorted({name for block in run for name in block.needs})


def read(name: str, text: str) -> Page:
    """What a page has."""
    page, said = Page(name), Block("", "", 0)
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "html_block":
            for mark, more in MARK.findall(token.content):
                match mark:
                    case "files":
                        page.files.append(more)
                    case "briefly":
                        said.briefly = shlex.split(more)
                    case _:
                        said.mark, said.said = mark, more
        elif token.type == "inline":
            shown = [str(of.attrGet("src")) for of in token.children or [] if of.type == "image"]
            page.pictures += [picture for picture in shown if "/" not in picture]
        elif token.type == "fence" and not token.info.startswith("{"):  # the site's own
            line = (token.map or [0])[0] + 1
            page.blocks.append(
                Block(token.info, token.content, line, said.mark, said.said, said.briefly)
            )
            said = Block("", "", 0)
    return page


def page(name: str) -> Page:
    """A page of the checkout."""
    return read(name, (ROOT / name).read_text(encoding="utf-8"))


def check(page: Page) -> None:
    """Nothing is shown that nobody runs, and nothing has a reason that is none."""
    for block in page.blocks:
        where = f"{page.name}:{block.line}"
        assert block.mark, (
            f"{where}: say what becomes of this block: file, adds, run, prints or shown"
        )
        if block.mark == "run":
            assert re.fullmatch(r"|whole|(whole )?needs .+", block.said), where
            assert block.language in {"sh", "python"}, where
        elif block.mark == "prints":
            assert block.said in {"", "lines"}, where
        else:
            assert block.said, where


def follow(page: Page, place: Path, *, whole: bool) -> None:
    """Does what a page says, in a directory.

    Raises:
        AssertionError: a block has no mark, a command fails, or prints something else.

    """
    check(page)
    place.mkdir()
    for directory in page.files:
        shutil.copytree(ROOT / directory, place, dirs_exist_ok=True)
    environment = shims(place.with_name(f"{place.name}-bin"))
    with contextlib.ExitStack() as left:
        obey(page, place, environment, left, whole=whole)
    for picture in page.pictures if whole else ():
        assert (place / picture).stat().st_size > 0, picture
        if os.environ.get(KEEP):
            shutil.copy(place / picture, (ROOT / page.name).parent)


def obey(
    page: Page,
    place: Path,
    environment: dict[str, str],
    left: contextlib.ExitStack,
    *,
    whole: bool,
) -> None:
    """Does it block by block; `left` ends what commands have left in the background."""
    printed = ""
    for block in page.blocks:
        where = f"{page.name}:{block.line}"
        if block.mark in {"file", "adds"}:
            (place / block.said).parent.mkdir(parents=True, exist_ok=True)
            with (place / block.said).open("w" if block.mark == "file" else "a") as file:
                file.write(block.text)
        elif block.mark == "run":
            if whole or not block.whole:
                printed = run(block, place, environment, left, where, whole=whole)
            else:
                printed = ""
        elif block.mark == "prints" and printed:
            compare(block, printed, where)


def shims(directory: Path) -> dict[str, str]:
    """An environment in which ``sojourn`` and ``python`` are those of the tests, and
    ``sojourn-gnat`` what has been built.
    """
    directory.mkdir()
    if nodes := overlay_nodes():
        (directory / nodes.name).symlink_to(nodes)
    for name, command in (("sojourn", "-m sojourn"), ("python", "")):
        script = directory / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        script.chmod(0o755)
    return os.environ | {"PATH": f"{directory}:{os.environ['PATH']}"}


def run(
    block: Block,
    place: Path,
    environment: dict[str, str],
    left: contextlib.ExitStack,
    where: str,
    *,
    whole: bool,
) -> str:
    """What it prints. Within this process where that can be: most commands import for longer than
    they work.
    """
    text = block.text if whole else lengthened(block)
    if block.language == "sh" and not whole and not block.needs and (commands := plain(text)):
        with contextlib.chdir(place):
            return "".join(told(call(*arguments), where) for arguments in commands)
    command = [sys.executable, "-c", text] if block.language == "python" else ["bash", "-ec", text]
    process = subprocess.Popen(
        command,
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    left.callback(end, process.pid)
    out, err = process.communicate(timeout=LONGEST)
    return told(subprocess.CompletedProcess(command, process.returncode, out, err), where)


def end(group: int) -> None:
    """Ends what a block has left in the background."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGTERM)


def told(done: subprocess.CompletedProcess[str], where: str) -> str:
    """What a command that did its work has printed."""
    assert done.returncode == 0, f"{where}\n{done.args}\n{done.stdout}{done.stderr}"
    return done.stdout


def plain(text: str) -> list[list[str]]:
    """The arguments of each command; none unless all are ``sojourn``, and need no shell."""
    words = shlex.shlex(text, posix=True, punctuation_chars=True)
    if "$" in text or any(set(word) <= set("();<>|&") for word in words):
        return []
    lines = text.replace("\\\n", " ").splitlines()
    commands = [typed for line in lines if (typed := shlex.split(line, comments=True))]
    return [rest for _, *rest in commands] if all(c[0] == "sojourn" for c in commands) else []


def lengthened(block: Block) -> str:
    """Its commands with what makes runs short."""
    text = block.text.replace("\\\n", " ")
    if not block.briefly:
        return text
    command = r"""\bsojourn (?:run|sweep)\b(?:'[^']*'|"[^"]*"|[^;&|#\n'"])*"""
    return re.sub(command, lambda found: f"{found[0]} {shlex.join(block.briefly)} ", text)


def compare(block: Block, printed: str, where: str) -> None:
    """What is shown is what was printed."""
    if block.said == "lines":
        at = 0
        for line in block.text.splitlines():
            shown = re.escape(spaced(line)).replace(*HASH)
            found = re.compile(shown).search(spaced(printed), at)
            assert found, f"{where}: {line!r} is not in\n{printed}"
            at = found.start()
    else:
        assert without_numbers(block.text) == without_numbers(printed), where


def spaced(text: str) -> str:
    """The same whatever blanks it is laid out with."""
    return " ".join(text.split())


def without_numbers(text: str) -> str:
    """What a change of the simulator's results leaves as it is."""
    return re.sub(r"\d[\d.,]*", "0", spaced(text))
