"""What is changed in the copy of a kernel's sources: nothing but User-Mode Linux's own files, below
``arch``. The network stack is left as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import SojournError

#: Random numbers that follow from a seed (SplitMix64), in the place of the host's.
_SEEDED = r"""
#include <stdlib.h>
static ssize_t sojourn_random(unsigned char *bytes, size_t length)
{
	static unsigned long long state;
	static int seeded;
	const char *seed = getenv("SOJOURN_SEED");
	size_t i;

	if (!seeded++)
		state = seed ? strtoull(seed, NULL, 10) : 0;
	for (i = 0; i < length; i++) {
		unsigned long long z = (state += 0x9e3779b97f4a7c15ULL);

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
		bytes[i] = z ^ (z >> 31);
	}
	return length;
}
"""


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
        changed, count = re.subn(self.pattern, lambda _: self.replacement, text, flags=re.M)
        if count == 1 and changed != text:
            path.write_text(changed, encoding="utf-8")
        elif self.replacement not in text and not self.optional:
            raise SojournError(
                f"{path}: not as expected ({self.why}): this series is not known; 6.1 and 6.12 are"
            )


def changes(hz: int) -> tuple[Change, ...]:
    """All of them, for a kernel whose clock ticks so often."""
    return (
        Change(
            "arch/um/Kconfig",
            r"^config HZ\n\tint\n\tdefault \d+$",
            f"config HZ\n\tint\n\tdefault {hz}",
            "ticks per second, which distributions have and User-Mode Linux has not",
        ),
        Change(
            "arch/um/os-Linux/util.c",
            r"^ssize_t os_getrandom\(void \*buf, size_t len, unsigned int flags\)\n"
            r"\{\n\treturn getrandom\(buf, len, flags\);\n\}$",
            f"{_SEEDED.strip()}\n\n"
            "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)\n"
            "{\n\treturn sojourn_random(buf, len);\n}",
            "random numbers from the seed",
        ),
        Change(
            "arch/um/kernel/time.c",
            r"^\t\tif \(!irqs_disabled\(\) && !in_interrupt\(\) && !in_softirq\(\) &&\n",
            "\t\tif (time_travel_mode != TT_MODE_EXTERNAL &&\n"
            "\t\t    !irqs_disabled() && !in_interrupt() && !in_softirq() &&\n",
            "reading the clock takes no time",
        ),
        Change(
            "arch/x86/um/os-Linux/registers.c",
            r"^\t\thave_xstate_support = 1;$",
            "\t\thave_xstate_support = 0;",
            "the registers of processors with AMX are more than there is room for: up to SSE",
            optional=True,
        ),
    )
