"""Texts from outside, shown as they are: what a notation would act on is escaped for it.

Labels, ids, error messages and names of files come from people, their files and their code. Each
notation has its function here, which is applied where texts are handed to it.
"""

from __future__ import annotations

import re

#: What acts on a terminal or is no character of XML: control characters but tab and line feed,
#: embeddings and isolates of writing direction, halves of pairs (undecodable bytes of file names).
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
#: Of Markdown and GitHub's: marks within a line, then what begins a block.
_MARKS = re.compile(r"[\\`*~<&$|\[\]]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
_BLOCK = re.compile(r"^(>|#+(?=\s)|[-+](?=\s)|\d+(?=[.)]\s))")
#: An error quotes so many characters of what was given.
_QUOTED = 200


def printable(text: str) -> str:
    r"""For terminals, XML and pages: characters that act are escapes such as ``\x1b``; tabs and
    ends of lines stay.
    """
    return _ACTING.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def drawn(text: str) -> str:
    """For matplotlib, which takes text between dollars as mathematics, and leaves labels that
    begin with an underscore out of legends: a space without width goes before those.
    """
    shown = printable(text).replace("$", r"\$")
    return f"\u200b{shown}" if shown.startswith("_") else shown


def markdown(text: str) -> str:
    """For a line or a cell of a table in GitHub's Markdown."""
    line = " ".join(printable(text).splitlines())
    return _BLOCK.sub(_guarded, _MARKS.sub(r"\\\g<0>", line))


def _guarded(found: re.Match[str]) -> str:
    """A number is guarded by its full stop, which may be escaped as a digit may not."""
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def beginning(text: str, longest: int = _QUOTED) -> str:
    """A text as a message quotes it: of one with more characters than the ``longest`` the
    beginning, and how long it is.
    """
    if len(text) <= longest:
        return text
    return f"{text[:_QUOTED]}... ({len(text):,} characters)"


def given(value: object) -> str:
    """The same of a value, as Python writes it."""
    if isinstance(value, str):
        quoted = repr(value[:_QUOTED])
        return quoted if len(value) <= _QUOTED else f"{quoted}... ({len(value):,} characters)"
    return beginning(repr(value))
