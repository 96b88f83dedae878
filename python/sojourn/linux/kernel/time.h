/* The kernel's clocks, which stand at the simulated time. */
#ifndef SOJOURN_KERNEL_TIME_H
#define SOJOURN_KERNEL_TIME_H

#include "types.h"

#define NSEC_PER_SEC 1000000000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_USEC 1000L
#define USEC_PER_SEC 1000000L
#define USEC_PER_MSEC 1000L
#define MSEC_PER_SEC 1000L

/* Nanoseconds of simulated time. */
__weak u64 sojourn_now;

typedef s64 ktime_t;

/* Not 0 when a run begins: modules take 0 for a time that is not set. */
#define INITIAL_JIFFIES (300UL * HZ)
#define jiffies ((unsigned long)((s64)sojourn_now / (NSEC_PER_SEC / HZ) + (s64)INITIAL_JIFFIES))
#define jiffies_64 ((u64)jiffies)
#define get_jiffies_64() jiffies_64
#define MAX_JIFFY_OFFSET ((LONG_MAX >> 1) - 1)

#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)
#define time_after32(a, b) ((s32)((u32)(b) - (u32)(a)) < 0)
#define time_before32(b, a) time_after32(a, b)
#define time_in_range(a, b, c) (time_after_eq(a, b) && time_before_eq(a, c))
#define time_after64(a, b) ((s64)((b) - (a)) < 0)
#define time_before64(a, b) time_after64(b, a)
#define time_after_eq64(a, b) ((s64)((a) - (b)) >= 0)

static inline unsigned long msecs_to_jiffies(unsigned int ms)
{
	return ((u64)ms * HZ + 999) / 1000;
}

static inline unsigned long usecs_to_jiffies(unsigned int us)
{
	return ((u64)us * HZ + 999999) / 1000000;
}

static inline unsigned long nsecs_to_jiffies(u64 ns) { return ns / (NSEC_PER_SEC / HZ); }
static inline unsigned int jiffies_to_msecs(unsigned long j) { return j * (1000 / HZ); }
static inline unsigned int jiffies_to_usecs(unsigned long j) { return j * (1000000 / HZ); }
static inline u64 jiffies_to_nsecs(unsigned long j) { return (u64)j * (NSEC_PER_SEC / HZ); }

#define ktime_get() ((ktime_t)sojourn_now)
#define ktime_get_ns() (sojourn_now)
#define ktime_get_real() ((ktime_t)sojourn_now)
#define ktime_get_real_ns() (sojourn_now)
#define ktime_get_boottime_ns() (sojourn_now)
#define local_clock() (sojourn_now)
#define sched_clock() (sojourn_now)
#define ktime_to_ns(t) ((s64)(t))
#define ktime_to_us(t) ((s64)(t) / NSEC_PER_USEC)
#define ktime_to_ms(t) ((s64)(t) / NSEC_PER_MSEC)
#define ns_to_ktime(ns) ((ktime_t)(ns))
#define ms_to_ktime(ms) ((ktime_t)(ms) * NSEC_PER_MSEC)
#define us_to_ktime(us) ((ktime_t)(us) * NSEC_PER_USEC)
#define ktime_set(s, ns) ((ktime_t)(s) * NSEC_PER_SEC + (ns))
#define ktime_add(a, b) ((a) + (b))
#define ktime_sub(a, b) ((a) - (b))
#define ktime_add_ns(t, ns) ((t) + (ns))
#define ktime_add_us(t, us) ((t) + (us) * NSEC_PER_USEC)
#define ktime_add_ms(t, ms) ((t) + (ms) * NSEC_PER_MSEC)
#define ktime_sub_ns(t, ns) ((t) - (ns))
#define ktime_after(a, b) ((a) > (b))
#define ktime_before(a, b) ((a) < (b))
#define ktime_compare(a, b) ((a) < (b) ? -1 : (a) > (b))
#define ktime_us_delta(a, b) (((a) - (b)) / NSEC_PER_USEC)
#define ktime_ms_delta(a, b) (((a) - (b)) / NSEC_PER_MSEC)
#define KTIME_MAX S64_MAX

/* Timers: one fires when the simulator asks with the time it is due. */
struct timer_list {
	void (*function)(struct timer_list *);
	unsigned long expires; /* jiffies */
	bool pending;
	struct timer_list *following;
};

__weak struct timer_list *sojourn_timers;

static inline void sojourn_timer_add(struct timer_list *timer)
{
	struct timer_list **at = &sojourn_timers;

	while (*at && *at != timer)
		at = &(*at)->following;
	if (!*at) {
		timer->following = NULL;
		*at = timer;
	}
}

static inline void sojourn_timer_forget(struct timer_list *timer)
{
	struct timer_list **at = &sojourn_timers;

	while (*at && *at != timer)
		at = &(*at)->following;
	if (*at)
		*at = timer->following;
}

#define timer_setup(timer, callback, flags) \
	do { (timer)->function = (callback); (timer)->pending = false; } while (0)
#define from_timer(variable, timer, field) container_of(timer, typeof(*variable), field)
#define timer_container_of(variable, timer, field) from_timer(variable, timer, field)

static inline int mod_timer(struct timer_list *timer, unsigned long expires)
{
	bool was = timer->pending;

	timer->expires = expires;
	timer->pending = true;
	sojourn_timer_add(timer);
	return was;
}

static inline int del_timer(struct timer_list *timer)
{
	bool was = timer->pending;

	timer->pending = false;
	sojourn_timer_forget(timer);
	return was;
}

#define add_timer(timer) mod_timer(timer, (timer)->expires)
#define del_timer_sync(timer) del_timer(timer)
#define timer_delete(timer) del_timer(timer)
#define timer_delete_sync(timer) del_timer(timer)
#define timer_shutdown_sync(timer) del_timer(timer)
#define timer_pending(timer) ((timer)->pending)

/* The same in nanoseconds. */
enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum { HRTIMER_MODE_ABS, HRTIMER_MODE_REL, HRTIMER_MODE_ABS_PINNED, HRTIMER_MODE_REL_PINNED,
	HRTIMER_MODE_ABS_SOFT, HRTIMER_MODE_ABS_PINNED_SOFT };
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 1
#endif
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *);
	u64 expires;
	struct hrtimer *following;
};
__weak struct hrtimer *sojourn_hrtimers;

static inline int hrtimer_cancel(struct hrtimer *timer)
{
	struct hrtimer **at = &sojourn_hrtimers;

	while (*at && *at != timer)
		at = &(*at)->following;
	if (!*at)
		return 0;
	*at = timer->following;
	return 1;
}
static inline void hrtimer_start(struct hrtimer *timer, ktime_t at, int mode)
{
	hrtimer_cancel(timer);
	timer->expires = at + (mode == HRTIMER_MODE_REL || mode == HRTIMER_MODE_REL_PINNED 
			      ? sojourn_now : 0);
	timer->following = sojourn_hrtimers;
	sojourn_hrtimers = timer;
}
#define hrtimer_init(timer, clock, mode) ((void)((timer)->function = NULL))
#define hrtimer_setup(timer, callback, clock, mode) ((timer)->function = (callback))
#define hrtimer_set_expires(timer, at) ((timer)->expires = (at))
#define hrtimer_get_expires(timer) ((timer)->expires)
#define hrtimer_start_range_ns(timer, at, slack, mode) hrtimer_start(timer, at, mode)
#define hrtimer_try_to_cancel(timer) hrtimer_cancel(timer)
static inline u64 hrtimer_forward_now(struct hrtimer *timer, ktime_t interval)
{
	while (timer->expires <= sojourn_now)
		timer->expires += interval;
	return 1;
}

#endif
