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

#: What the calendar's RUN says of the cards: a bit for each ring that has something for the kernel.
_RINGS = r"""
void (*sojourn_cards)(unsigned int rings);
static unsigned int sojourn_rings;
static void __time_travel_add_event(struct time_travel_event *e, unsigned long long time);

static void sojourn_interrupt(struct time_travel_event *e)
{
	unsigned int rings = sojourn_rings;

	sojourn_rings = 0;
	if (sojourn_cards)
		sojourn_cards(rings);
}

static struct time_travel_event sojourn_event = { .fn = sojourn_interrupt };

bool sojourn_stop(void);

#ifdef UM_TIMETRAVEL_SCHEDSHM_VERSION
static struct um_timetravel_schedshm *time_travel_shm;

static void sojourn_tell_time(void)
{
	if (time_travel_shm)
		time_travel_shm->current_time = time_travel_time + time_travel_shm_offset;
}

bool sojourn_stop(void)
{
	if (!time_travel_shm)
		return false;
	time_travel_shm->free_until = time_travel_time + time_travel_shm_offset + 1;
	return true;
}
#else
static void sojourn_tell_time(void)
{
}

bool sojourn_stop(void)
{
	return false;
}
#endif
"""

#: A kernel that may run on alone until the network's next event does so until it sends something:
#: it tells nobody, but goes no further than that instant.
_STOP = """
	if (sojourn_stop())
		return true;

	time_travel_propagate_time();

	if (info->kick_fd < 0) {"""

#: Two bits for each card: its receiving ring, its sending ring.
_CARDS = r"""
static struct virtio_uml_device *sojourn_card[16];

static void sojourn_interrupt_cards(unsigned int rings)
{
	struct virtqueue *vq;
	int i;

	for (i = 0; i < 16; i++)
		if ((rings >> (2 * i) & 3) && sojourn_card[i])
			virtio_device_for_each_vq(&sojourn_card[i]->vdev, vq)
				if (rings >> (2 * i + vq->index) & 1)
					vring_interrupt(0, vq);
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
        if self.replacement in text:
            return
        changed, count = re.subn(self.pattern, lambda _: self.replacement, text, flags=re.M)
        if count == 1:
            path.write_text(changed, encoding="utf-8")
        elif not self.optional:
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
            "arch/um/kernel/skas/syscall.c",
            r"^\t\t\tum_udelay\(1\);\n\t\t\tschedule\(\);$",
            "\t\t\tschedule(); /* it takes no time */",
            "a system call takes no time, whether it succeeds or not",
            optional=True,
        ),
        *_interrupts(),
        Change(
            "arch/x86/um/os-Linux/registers.c",
            r"^\t\thave_xstate_support = 1;$",
            "\t\thave_xstate_support = 0;",
            "the registers of processors with AMX are more than there is room for: up to SSE",
            optional=True,
        ),
    )


def _interrupts() -> tuple[Change, ...]:
    """Interrupts of the cards come with the message that lets the kernel run, not by a signal and
    two messages each; the kernel runs on by itself until it has sent something.
    """
    time, cards = "arch/um/kernel/time.c", "arch/um/drivers/virtio_uml.c"
    why = "interrupts come with the calendar's message"
    return (
        Change(
            time,
            r"^static LIST_HEAD\(time_travel_irqs\);$",
            f"static LIST_HEAD(time_travel_irqs);\n{_RINGS.rstrip()}",
            why,
        ),
        Change(
            time,
            r"^\tcase UM_TIMETRAVEL_RUN:\n\t\ttime_travel_set_time\(msg->time\);$",
            "\tcase UM_TIMETRAVEL_RUN:\n\t\tsojourn_rings |= msg->seq;\n"
            "\t\ttime_travel_set_time(msg->time);",
            why,
        ),
        Change(
            time,
            r"^\ttime_travel_ext_waiting--;\n$",
            "\ttime_travel_ext_waiting--;\n"
            "\tif (sojourn_rings)\n"
            "\t\t__time_travel_add_event(&sojourn_event, time_travel_time);\n",
            why,
        ),
        Change(
            time,
            r"^\ttime_travel_ext_waiting\+\+;$",
            "\ttime_travel_ext_waiting++;\n\tsojourn_tell_time();",
            why,
        ),
        Change(
            cards,
            r"^struct virtio_uml_vq_info \{$",
            "extern void (*sojourn_cards)(unsigned int rings);\nbool sojourn_stop(void);\n\n"
            "struct virtio_uml_vq_info {",
            why,
        ),
        Change(
            cards,
            r"^\n\ttime_travel_propagate_time\(\);\n\n\tif \(info->kick_fd < 0\) \{$",
            _STOP,
            why,
        ),
        Change(
            cards,
            r"^static int virtio_uml_probe\(struct platform_device \*pdev\)$",
            f"{_CARDS.strip()}\n\nstatic int virtio_uml_probe(struct platform_device *pdev)",
            why,
        ),
        Change(
            cards,
            r"^\tvu_dev->registered = 1;$",
            "\tvu_dev->registered = 1;\n"
            "\tif (pdev->id >= 0 && pdev->id < 16)\n"
            "\t\tsojourn_card[pdev->id] = vu_dev;\n"
            "\tsojourn_cards = sojourn_interrupt_cards;",
            why,
        ),
    )
