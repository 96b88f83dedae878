"""What is changed in the copy of a kernel's sources: nothing but User-Mode Linux's own files, below
``arch``. The network stack is left as it is.
"""

from __future__ import annotations

from sojourn.kernel import clocks, interrupts, owners, programs, registers, same
from sojourn.kernel.change import Change

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

#: What depends on the host, or takes time, and is to do neither.
_VIRTUAL = (
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
        "arch/um/kernel/skas/syscall.c",
        r"^\t\t\tum_udelay\(1\);\n\t\t\tschedule\(\);$",
        "\t\t\tschedule(); /* it takes no time */",
        "a system call takes no time, whether it succeeds or not",
        optional=True,
    ),
    Change(
        "arch/um/kernel/time.c",
        r"^\tif \(get_current\(\)->mm != NULL\)$",
        "\tif (time_travel_mode != TT_MODE_EXTERNAL && get_current()->mm != NULL)",
        "a timer need not stop a program: the kernel runs already",
        since=(6, 12),
    ),
)


def changes(hz: int) -> tuple[Change, ...]:
    """All of them, for a kernel whose clock ticks so often."""
    ticks = Change(
        "arch/um/Kconfig",
        r"^config HZ\n\tint\n\tdefault \d+$",
        f"config HZ\n\tint\n\tdefault {hz}",
        "ticks per second, which distributions have and User-Mode Linux has not",
    )
    return (
        ticks,
        *_VIRTUAL,
        *interrupts.CHANGES,
        *registers.CHANGES,
        *owners.CHANGES,
        *programs.CHANGES,
        *clocks.CHANGES,
        *same.CHANGES,
    )
