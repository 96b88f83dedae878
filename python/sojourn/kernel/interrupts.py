"""Interrupts of the cards come with the message that lets the kernel run, not by a signal and two
messages each; the kernel runs on by itself until it has sent something.
"""

from __future__ import annotations

from sojourn.kernel.change import Change, exactly

_WHY = "interrupts come with the calendar's message"
_WAITING = "the calendar's message is waited for by one call of the host"
_TIME, _DRIVER = "arch/um/kernel/time.c", "arch/um/drivers/virtio_uml.c"
#: What the calendar's RUN says of the cards: a bit for each ring that has something for the kernel.
#: The message has room for 16 cards; those of others are in the calendar's place of the page.
_RINGS = r"""
void (*sojourn_cards)(unsigned long long rings);
static unsigned long long sojourn_rings;
static void __time_travel_add_event(struct time_travel_event *e, unsigned long long time);

static void sojourn_interrupt(struct time_travel_event *e)
{
	unsigned long long rings = sojourn_rings;

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

static unsigned long long sojourn_told(unsigned int first)
{
	unsigned int *others;

	if (!time_travel_shm)
		return first;
	others = (void *)(time_travel_shm->clients[0].reserve + 32);
	return first | (unsigned long long)*others << 32;
}
#else
static void sojourn_tell_time(void)
{
}

bool sojourn_stop(void)
{
	return false;
}

static unsigned long long sojourn_told(unsigned int first)
{
	return first;
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
static struct virtio_uml_device *sojourn_card[32];

static void sojourn_interrupt_cards(unsigned long long rings)
{
	struct virtqueue *vq;
	int i;

	for (i = 0; rings; i++, rings >>= 2)
		if ((rings & 3) && sojourn_card[i])
			virtio_device_for_each_vq(&sojourn_card[i]->vdev, vq)
				if ((rings & 3) >> vq->index & 1)
					vring_interrupt(0, vq);
}
"""

CHANGES = (
    Change(
        _TIME,
        r"^static LIST_HEAD\(time_travel_irqs\);$",
        f"static LIST_HEAD(time_travel_irqs);\n{_RINGS.rstrip()}",
        _WHY,
    ),
    Change(
        _TIME,
        r"^\tcase UM_TIMETRAVEL_RUN:\n\t\ttime_travel_set_time\(msg->time\);$",
        "\tcase UM_TIMETRAVEL_RUN:\n\t\tsojourn_rings |= sojourn_told(msg->seq);\n"
        "\t\ttime_travel_set_time(msg->time);",
        _WHY,
    ),
    Change(
        _TIME,
        r"^\ttime_travel_ext_waiting--;\n$",
        "\ttime_travel_ext_waiting--;\n"
        "\tif (sojourn_rings)\n"
        "\t\t__time_travel_add_event(&sojourn_event, time_travel_time);\n",
        _WHY,
    ),
    # A second one may come while the first waits for interrupts to be on again: there is no new
    # event then, and time has not come as far as the next one.
    Change(
        _TIME,
        exactly("\t\tif (e == time_travel_first_event()) {"),
        "\t\tif (e == time_travel_first_event() && time_travel_time == e->time) {",
        _WHY,
    ),
    Change(
        _TIME,
        r"^\ttime_travel_ext_waiting\+\+;$",
        "\ttime_travel_ext_waiting++;\n\tsojourn_tell_time();",
        _WHY,
    ),
    Change(
        _TIME,
        exactly("\t\twhile (os_poll(1, &time_travel_ext_fd) != 0) {"),
        "\t\twhile (!time_travel_shm && os_poll(1, &time_travel_ext_fd) != 0) {",
        _WAITING,
        since=(6, 12),
    ),
    Change(
        _TIME,
        exactly("\t\tret = os_read_file(time_travel_ext_fd, msg, sizeof(*msg));"),
        "\t\tdo\n"
        "\t\t\tret = os_read_file(time_travel_ext_fd, msg, sizeof(*msg));\n"
        "\t\twhile (ret == -EINTR);",
        _WAITING,
        since=(6, 12),
    ),
    Change(
        _DRIVER,
        r"^struct virtio_uml_vq_info \{$",
        "extern void (*sojourn_cards)(unsigned long long rings);\nbool sojourn_stop(void);\n\n"
        "struct virtio_uml_vq_info {",
        _WHY,
    ),
    Change(
        _DRIVER,
        r"^\n\ttime_travel_propagate_time\(\);\n\n\tif \(info->kick_fd < 0\) \{$",
        _STOP,
        _WHY,
    ),
    Change(
        _DRIVER,
        r"^static int virtio_uml_probe\(struct platform_device \*pdev\)$",
        f"{_CARDS.strip()}\n\nstatic int virtio_uml_probe(struct platform_device *pdev)",
        _WHY,
    ),
    Change(
        _DRIVER,
        r"^\tvu_dev->registered = 1;$",
        "\tvu_dev->registered = 1;\n"
        "\tif (pdev->id >= 0 && pdev->id < 32)\n"
        "\t\tsojourn_card[pdev->id] = vu_dev;\n"
        "\tsojourn_cards = sojourn_interrupt_cards;",
        _WHY,
    ),
)
