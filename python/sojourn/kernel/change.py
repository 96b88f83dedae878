"""One change in the copy of a kernel's sources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import SojournError


@dataclass(frozen=True)
class Change:
    """Replaces the only place of a file that ``pattern`` fits."""

    file: str
    pattern: str
    replacement: str
    why: str
    #: Whether a kernel without that place needs no change.
    optional: bool = False
    #: The first version, such as ``(6, 12)``, that is changed; all if it is empty.
    since: tuple[int, ...] = ()

    def concerns(self, version: str) -> bool:
        """Whether a kernel of this version, such as 6.12.117, is changed."""
        return tuple(int(part) for part in version.split(".")) >= self.since

    def apply(self, tree: Path) -> None:
        """Makes the change, unless it has been made.

        Raises:
            SojournError: if the place is not there.

        """
        path = tree / self.file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if self.replacement in text:
            return
        changed, count = re.subn(self.pattern, lambda _: self.replacement, text, flags=re.M)
        if count == 1:
            path.write_text(changed, encoding="utf-8")
        elif not self.optional:
            raise SojournError(
                f"{path}: not as expected ({self.why}): this series is not known; 6.1 and 6.12 are"
            )


def exactly(text: str) -> str:
    """A pattern for whole lines that are just so."""
    return f"^{re.escape(text)}$"


def after(file: str, place: str, added: str, why: str, since: tuple[int, ...] = ()) -> Change:
    """Adds lines after those of a place."""
    return Change(file, exactly(place), f"{place}\n{added}", why, since=since)


def before(file: str, place: str, added: str, why: str, since: tuple[int, ...] = ()) -> Change:
    """Adds lines before those of a place."""
    return Change(file, exactly(place), f"{added}\n{place}", why, since=since)
