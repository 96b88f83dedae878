/* Integer arithmetic, random numbers, filters and hashes. */
#ifndef SOJOURN_KERNEL_MATH_H
#define SOJOURN_KERNEL_MATH_H

#include "time.h"

#define div_u64(a, b) ((u64)(a) / (u32)(b))
#define div_s64(a, b) ((s64)(a) / (s32)(b))
#define div64_u64(a, b) ((u64)(a) / (u64)(b))
#define div64_s64(a, b) ((s64)(a) / (s64)(b))
#define div64_ul(a, b) ((u64)(a) / (unsigned long)(b))
#define div64_long(a, b) ((s64)(a) / (long)(b))
#define mul_u32_u32(a, b) ((u64)(u32)(a) * (u32)(b))
#define mul_u64_u32_shr(a, b, shift) ((u64)(((unsigned __int128)(a) * (u32)(b)) >> (shift)))
#define mul_u64_u64_shr(a, b, shift) ((u64)(((unsigned __int128)(a) * (u64)(b)) >> (shift)))
#define mul_u64_u64_div_u64(a, b, c) ((u64)((unsigned __int128)(a) * (b) / (c)))
/* Divides in place and gives the remainder. */
#define do_div(n, base) ({ u32 _base = (base); u32 _rest = (u64)(n) % _base; (n) = (u64)(n) / _base; _rest; })
#define sector_div do_div
#define reciprocal_scale(value, range) ((u32)(((u64)(u32)(value) * (range)) >> 32))

struct reciprocal_value { u32 divisor; };
static inline struct reciprocal_value reciprocal_value(u32 d)
{
	return (struct reciprocal_value){ d };
}
static inline u32 reciprocal_divide(u32 a, struct reciprocal_value r) { return a / r.divisor; }

static inline int fls(unsigned int x) { return x ? 32 - __builtin_clz(x) : 0; }
static inline int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
static inline unsigned long __fls(unsigned long x) { return 63 - __builtin_clzl(x); }
static inline int ffs_(int x) { return __builtin_ffs(x); }
#define __ffs(x) ((unsigned long)__builtin_ctzl(x))
#define ilog2(x) (fls64(x) - 1)
#define order_base_2(x) ((x) > 1 ? fls64((x) - 1) : 0)
#define is_power_of_2(x) ((x) != 0 && (((x) & ((x) - 1)) == 0))
#define roundup_pow_of_two(x) (1UL << order_base_2(x))
#define hweight32(x) __builtin_popcount(x)
#define hweight64(x) __builtin_popcountll(x)

static inline unsigned long int_sqrt(unsigned long x)
{
	unsigned long low = 0, high = 0xffffffffUL;

	while (low < high) { /* the largest whose square is not above x */
		unsigned long middle = low + (high - low + 1) / 2;

		if (middle <= x / middle)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}
#define int_sqrt64(x) ((u32)int_sqrt(x))

/* Random numbers: xoshiro256++ (Blackman, Vigna 2019) on the seed of whoever draws. */
struct sojourn_random { u64 state[4]; };
__weak struct sojourn_random *sojourn_random;

static inline void sojourn_random_seed(struct sojourn_random *random, u64 seed)
{
	for (int i = 0; i < 4; i++) { /* SplitMix64 */
		u64 z = seed += 0x9e3779b97f4a7c15ULL;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
		random->state[i] = z ^ (z >> 31);
	}
}

static inline u64 sojourn_rotated(u64 x, int by) { return x << by | x >> (64 - by); }

static inline u64 get_random_u64(void)
{
	u64 *s = sojourn_random->state, shifted = s[1] << 17;
	u64 drawn = sojourn_rotated(s[0] + s[3], 23) + s[0];

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = sojourn_rotated(s[3], 45);
	return drawn;
}

static inline u32 get_random_u32(void) { return get_random_u64() >> 32; }
static inline u32 get_random_u32_below(u32 end) { return (u64)get_random_u32() * end >> 32; }
static inline u32 get_random_u32_inclusive(u32 low, u32 high)
{
	return low + get_random_u32_below(high - low + 1);
}
static inline void get_random_bytes(void *to, size_t size)
{
	for (size_t done = 0; done < size; done += 8) {
		u64 drawn = get_random_u64();

		memcpy((char *)to + done, &drawn, size - done < 8 ? size - done : 8);
	}
}
#define prandom_u32() get_random_u32()
#define prandom_u32_max(end) get_random_u32_below(end)
#define prandom_bytes(to, size) get_random_bytes(to, size)
#define get_random_u16() ((u16)get_random_u32())
#define get_random_u8() ((u8)get_random_u32())
#define get_random_long() ((unsigned long)get_random_u64())
#define net_get_random_once(to, size) get_random_bytes(to, size)

/* Extremes over a window, by the three best candidates (Kathleen Nichols' filter). */
struct minmax_sample { u32 t; u32 v; };
struct minmax { struct minmax_sample s[3]; };

static inline u32 minmax_get(const struct minmax *m) { return m->s[0].v; }
static inline u32 minmax_reset(struct minmax *m, u32 t, u32 value)
{
	struct minmax_sample sample = { .t = t, .v = value };

	m->s[0] = m->s[1] = m->s[2] = sample;
	return value;
}

static inline u32 sojourn_minmax(struct minmax *m, u32 window, struct minmax_sample new, bool most)
{
	bool beats[3];
	u32 age;

	for (int i = 0; i < 3; i++)
		beats[i] = most ? new.v >= m->s[i].v : new.v <= m->s[i].v;
	if (beats[0] || new.t - m->s[2].t > window)
		return minmax_reset(m, new.t, new.v);
	if (beats[1])
		m->s[1] = m->s[2] = new;
	else if (beats[2])
		m->s[2] = new;
	age = new.t - m->s[0].t;
	if (age > window) { /* the best is too old: the others move up, perhaps twice */
		m->s[0] = m->s[1];
		m->s[1] = m->s[2];
		m->s[2] = new;
		if (new.t - m->s[0].t > window) {
			m->s[0] = m->s[1];
			m->s[1] = m->s[2];
		}
	} else if (m->s[1].t == m->s[0].t && age > window / 4) {
		m->s[1] = m->s[2] = new;
	} else if (m->s[2].t == m->s[1].t && age > window / 2) {
		m->s[2] = new;
	}
	return m->s[0].v;
}

static inline u32 minmax_running_max(struct minmax *m, u32 window, u32 t, u32 value)
{
	return sojourn_minmax(m, window, (struct minmax_sample){ t, value }, true);
}

static inline u32 minmax_running_min(struct minmax *m, u32 window, u32 t, u32 value)
{
	return sojourn_minmax(m, window, (struct minmax_sample){ t, value }, false);
}

/* Hashes need no more than to scatter. */
static inline u32 sojourn_scatter(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (u32)(x >> 32);
}
#define GOLDEN_RATIO_32 0x61c88647
#define GOLDEN_RATIO_64 0x61c8864680b583ebULL
#define hash_32(value, bits) (((u32)(value) * GOLDEN_RATIO_32) >> (32 - (bits)))
#define hash_64(value, bits) ((u32)(((u64)(value) * GOLDEN_RATIO_64) >> (64 - (bits))))
#define hash_ptr(pointer, bits) hash_64((unsigned long)(pointer), bits)
#define jhash_1word(a, initial) sojourn_scatter((u64)(a) << 32 | (u32)(initial))
#define jhash_2words(a, b, initial) sojourn_scatter(((u64)(a) << 32 | (u32)(b)) + (initial))
#define jhash_3words(a, b, c, initial) jhash_2words(jhash_2words(a, b, initial), c, initial)

#endif
