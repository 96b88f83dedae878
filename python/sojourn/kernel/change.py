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
