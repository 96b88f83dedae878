"""What code from outside has raised, in a line that says where."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from traceback import FrameSummary

import sojourn

#: Characters of an exception's own words, which a control may make as long as it likes.
_MOST_WORDS = 1000
_PACKAGE = f"{Path(sojourn.__file__).parent}{os.sep}"


def told(error: BaseException) -> str:
    """The exception's own words, and the last line of the author's code on the way to it, which may
    go on through a library.
    """
    line = _line(error)
    words = cut(f"{type(error).__name__}: {error}", _MOST_WORDS)
    return f"{words}{f' ({line})' if line else ''}"


def cut(text: str, most: int) -> str:
    """Its first ``most`` characters, and how many more it has."""
    more = len(text) - most
    return f"{text[:most]}... and {more:,} characters more" if more > 0 else text


def _line(error: BaseException) -> str:
    if isinstance(error, SyntaxError):  # says itself where it is
        return ""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame)]
    folders = [Path(frame.filename).parent for frame in frames]
    own = [frame for frame, folder in zip(frames, folders, strict=True) if folder == folders[0]]
    return _written(own[-1]) if own else ""


def _is_own(frame: FrameSummary) -> bool:
    """Not of the package, nor what a dataclass makes of fields."""
    return not frame.filename.startswith((_PACKAGE, "<string>"))


def _written(frame: FrameSummary) -> str:
    code = f": {cut(frame.line, _MOST_WORDS)}" if frame.line else ""
    return f"{frame.filename}, line {frame.lineno}{code}"
