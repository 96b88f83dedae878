"""Clocks that programs read by themselves, without a system call of the host, from 6.12 on.

Whenever a program runs it is lent the time until the next thing happens, in its page of data that
the kernel shares with it. The code that every program has for reading clocks takes of it what a
system call would have taken, so that times are the same as if each read had been a call; where the
next read would reach what happens next, it is one.
"""

from __future__ import annotations

from sojourn.kernel.change import Change, after, before, exactly

_SINCE = (6, 12)
_WHY = "programs read clocks by themselves"
_TIME, _PROCESSES = "arch/um/kernel/time.c", "arch/um/os-Linux/skas/process.c"
_PAGE, _CODE = "arch/um/include/shared/skas/stub-data.h", "arch/x86/um/vdso/um_vdso.c"
_MAP = "arch/x86/um/vdso/vma.c"

_LENT = """\
/* Where programs have this page, which their code for clocks knows. */
#define SOJOURN_STUB_DATA 0x7fc0000000UL

/* What CLOCK_REALTIME and CLOCK_MONOTONIC follow from; all times are in ns. */
struct sojourn_clocks {
	unsigned long long now; /* after what the program has read */
	unsigned long long limit; /* when something happens */
	unsigned long long cost; /* of a read */
	unsigned long long counter; /* of the time at which the rest holds */
	unsigned long long seconds[2], shifted[2];
	unsigned int factor, shift;
};
"""
_TOLD = r"""
#include <linux/timekeeper_internal.h>
#include <stub-data.h>

static struct sojourn_clocks sojourn_clocks;

void update_vsyscall(struct timekeeper *tk)
{
	struct tk_read_base *base = &tk->tkr_mono;
	struct sojourn_clocks *clocks = &sojourn_clocks;

	clocks->counter = base->cycle_last;
	clocks->factor = base->clock == &timer_clocksource ? base->mult : 0;
	clocks->shift = base->shift;
	clocks->seconds[CLOCK_REALTIME] = tk->xtime_sec;
	clocks->shifted[CLOCK_REALTIME] = base->xtime_nsec;
	clocks->seconds[CLOCK_MONOTONIC] = tk->xtime_sec + tk->wall_to_monotonic.tv_sec;
	clocks->shifted[CLOCK_MONOTONIC] = base->xtime_nsec +
		((u64)tk->wall_to_monotonic.tv_nsec << base->shift);
}

void update_vsyscall_tz(void)
{
}

/* A program is about to run: nothing happens until the first event, here or elsewhere. */
void sojourn_lend(struct mm_id *id)
{
	struct sojourn_clocks *lent = &((struct stub_data *)id->stack)->clocks;
	struct time_travel_event *first = time_travel_first_event();

	if (!sojourn_cost || !time_travel_shm || !sojourn_clocks.factor)
		return;
	*lent = sojourn_clocks;
	lent->now = time_travel_time;
	lent->cost = task_tgid_nr(current) != 1 ? sojourn_cost : 0;
	lent->limit = time_travel_shm->free_until - time_travel_shm_offset;
	if (first && first->time < lent->limit)
		lent->limit = first->time;
}

/* It has stopped: what it has read is part of the past. */
void sojourn_take_back(struct mm_id *id)
{
	struct sojourn_clocks *lent = &((struct stub_data *)id->stack)->clocks;

	if (lent->now > time_travel_time && lent->now < lent->limit)
		time_travel_set_time(lent->now);
	lent->limit = 0;
}
"""
_READ = r"""
#include <linux/time-internal.h>
#include <stub-data.h>

/* Takes of the time that is lent what a call would take; false if there is not as much. */
static __always_inline bool
sojourn_read(volatile struct sojourn_clocks *lent, unsigned long long *now)
{
	*now = lent->now;
	if (*now + lent->cost >= lent->limit)
		return false;
	lent->now = *now + lent->cost;
	return true;
}

static __always_inline bool
sojourn_tell(clockid_t clock, unsigned long long *seconds, unsigned long long *ns)
{
	volatile struct sojourn_clocks *lent =
		&((struct stub_data *)SOJOURN_STUB_DATA)->clocks;
	unsigned long long now;

	if (!sojourn_read(lent, &now))
		return false;
	now = (now / TIMER_MULTIPLIER - lent->counter) * lent->factor;
	now = (now + lent->shifted[clock]) >> lent->shift;
	*seconds = lent->seconds[clock] + now / NSEC_PER_SEC;
	*ns = now % NSEC_PER_SEC;
	return true;
}
"""
_CALLED = '\tlong ret;\n\n\tasm("syscall"\n\t\t: "=a" (ret)\n\t\t: "0" ({}'
_CLOCK = _CALLED.format('__NR_clock_gettime), "D" (clock), "S" (ts)')
_DAY = _CALLED.format('__NR_gettimeofday), "D" (tv), "S" (tz)')

CHANGES = (
    after(
        "arch/um/Kconfig",
        "	select GENERIC_CPU_DEVICES",
        "	select GENERIC_TIME_VSYSCALL # its own, in time.c",
        _WHY,
        _SINCE,
    ),
    before(_PAGE, "struct stub_data {", _LENT, _WHY, _SINCE),
    before(
        _PAGE,
        "	/* Stack for our signal handlers and for calling into . */",
        "	struct sojourn_clocks clocks;\n",
        _WHY,
        _SINCE,
    ),
    before(_TIME, "static void __init um_timer_setup(void)", _TOLD.lstrip(), _WHY, _SINCE),
    after(
        "arch/um/include/shared/skas/skas.h",
        "extern struct mm_id *current_mm_id(void);",
        "struct mm_id;\n"
        "extern void sojourn_lend(struct mm_id *id);\n"
        "extern void sojourn_take_back(struct mm_id *id);",
        _WHY,
        _SINCE,
    ),
    before(
        _PROCESSES,
        "		if (singlestepping())",
        "		sojourn_lend(current_mm_id());\n",
        _WHY,
        _SINCE,
    ),
    before(
        _PROCESSES,
        "		regs->is_user = 1;",
        "		sojourn_take_back(current_mm_id());\n",
        _WHY,
        _SINCE,
    ),
    after(_CODE, "#include <asm/unistd.h>", _READ.rstrip(), _WHY, _SINCE),
    Change(
        _CODE,
        exactly(_CLOCK),
        _CLOCK.replace(
            "long ret;\n",
            "unsigned long long seconds, ns;\n	long ret;\n\n"
            "	if ((clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) &&\n"
            "	    sojourn_tell(clock, &seconds, &ns)) {\n"
            "		ts->tv_sec = seconds;\n"
            "		ts->tv_nsec = ns;\n"
            "		return 0;\n"
            "	}\n",
        ),
        _WHY,
        since=_SINCE,
    ),
    Change(
        _CODE,
        exactly(_DAY),
        _DAY.replace(
            "long ret;\n",
            "unsigned long long seconds, ns;\n	long ret;\n\n"
            "	if (tv && !tz && sojourn_tell(CLOCK_REALTIME, &seconds, &ns)) {\n"
            "		tv->tv_sec = seconds;\n"
            "		tv->tv_usec = ns / NSEC_PER_USEC;\n"
            "		return 0;\n"
            "	}\n",
        ),
        _WHY,
        since=_SINCE,
    ),
    after(
        _MAP,
        "#include <linux/init.h>",
        "#include <as-layout.h>\n#include <stub-data.h>",
        _WHY,
        _SINCE,
    ),
    before(
        _MAP,
        "	um_vdso_addr = task_size - PAGE_SIZE;",
        "	BUG_ON(STUB_DATA != SOJOURN_STUB_DATA);",
        _WHY,
        _SINCE,
    ),
)
