/* Types, attributes and small macros of the kernel's C. */
#ifndef SOJOURN_KERNEL_TYPES_H
#define SOJOURN_KERNEL_TYPES_H

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not the system's, which stand in a file that is itself called as one of the kernel's. */
enum { EPERM = 1, ENOENT = 2, EIO = 5, ENXIO = 6, EAGAIN = 11, ENOMEM = 12, EBUSY = 16, EEXIST = 17,
	ENODEV = 19, EINVAL = 22, ENOSPC = 28, ERANGE = 34, EMSGSIZE = 90, EOPNOTSUPP = 95, ENOBUFS = 105,
	ENOTSUPP = 524 };

#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE SOJOURN_LINUX
#define UTS_RELEASE "sojourn"
#define CONFIG_HZ HZ
#define CONFIG_INET 1
#define CONFIG_NET_CLS_ACT 1
#define CONFIG_NF_CONNTRACK 1
/* Whether an option is defined as 1: then its value, pasted, puts an argument before the others. */
#define SOJOURN_BEFORE_1 0,
#define SOJOURN_SECOND(first, second, ...) second
#define SOJOURN_PICK(before) SOJOURN_SECOND(before 1, 0)
#define SOJOURN_IS_ONE(value) SOJOURN_PICK(SOJOURN_BEFORE_##value)
#define IS_ENABLED(option) SOJOURN_IS_ONE(option)
#define IS_BUILTIN(option) 0
#define IS_MODULE(option) 0

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
/* As the kernel has them, so that its formats fit. */
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s8 __s8;
typedef s16 __s16;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16, __le16, __sum16;
typedef u32 __be32, __le32, __wsum;
typedef u64 __be64, __le64;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef u16 umode_t;
typedef unsigned int gfp_t;
typedef u64 netdev_features_t;
typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;
typedef struct { int unused; } spinlock_t;
typedef struct { int refs; } refcount_t;
typedef struct { u64 v; } u64_stats_t;
struct rcu_head { void *next; };
struct mutex { int unused; };
struct u64_stats_sync { int unused; };

#define U32_C(x) x##U
#define U64_C(x) x##ULL
#define U8_MAX ((u8)~0U)
#define S8_MAX ((s8)(U8_MAX >> 1))
#define U16_MAX ((u16)~0U)
#define S16_MAX ((s16)(U16_MAX >> 1))
#define S16_MIN ((s16)(-S16_MAX - 1))
#define U32_MAX ((u32)~0U)
#define U32_MIN ((u32)0)
#define S32_MAX ((s32)(U32_MAX >> 1))
#define S32_MIN ((s32)(-S32_MAX - 1))
#define U64_MAX ((u64)~0ULL)
#define S64_MAX ((s64)(U64_MAX >> 1))
#define S64_MIN ((s64)(-S64_MAX - 1))

#define SZ_8K 0x2000
#define SZ_32K 0x8000
#define SZ_64K 0x10000
#define SZ_1M 0x100000
#define SZ_32M 0x2000000
#define SZ_64M 0x4000000

#define __init
#define __exit
#define __initdata
#define __init_or_module
#define __read_mostly
#define __ro_after_init
#define __rcu
#define __user
#define __percpu
#define __force
#define __bitwise
#define typecheck(type, x) 1
#define __always_unused __attribute__((unused))
#define __maybe_unused __attribute__((unused))
#define __packed __attribute__((packed))
#define __aligned(x) __attribute__((aligned(x)))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define noinline __attribute__((noinline))
#define noinline_for_stack noinline
#define __must_check
#define __cold
#define __hot
#define __pure
#define __weak __attribute__((weak))
#define __bpf_kfunc __attribute__((unused))
#define __bpf_kfunc_start_defs() extern int sojourn_nothing
#define __bpf_kfunc_end_defs() extern int sojourn_nothing
#define asmlinkage
#define uninitialized_var(name) name = name
#define fallthrough __attribute__((fallthrough))
#define ____cacheline_aligned_in_smp
#define ____cacheline_aligned
#define SMP_CACHE_BYTES 64
#define L1_CACHE_BYTES 64
#define PAGE_SIZE 4096UL
#define __acquires(x)
#define __releases(x)
#define __printf(a, b)
#define __counted_by(member)
#define __cacheline_group_begin(group)
#define __cacheline_group_end(group)
#define struct_group(name, ...) union { struct { __VA_ARGS__ }; struct { __VA_ARGS__ } name; }

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define smp_load_acquire(p) (*(p))
#define smp_store_release(p, value) (*(p) = (value))
#define smp_mb() do { } while (0)
#define smp_rmb() do { } while (0)
#define smp_wmb() do { } while (0)
#define barrier() do { } while (0)
#define prefetch(x) ((void)(x))
#define prefetchw(x) ((void)(x))
#define cmpxchg(p, old, new) __sync_val_compare_and_swap(p, old, new)
#define xchg(p, new) __atomic_exchange_n(p, new, __ATOMIC_RELAXED)

#define BUILD_BUG_ON(condition) _Static_assert(!(condition), "BUILD_BUG_ON: " #condition)
#define BUILD_BUG_ON_MSG(condition, message) _Static_assert(!(condition), message)
#define static_assert(...) _Static_assert(__VA_ARGS__, "static_assert")
#define BUG() abort()
#define BUG_ON(condition) do { if (condition) abort(); } while (0)
#define WARN_ON(condition) (!!(condition))
#define WARN_ON_ONCE(condition) (!!(condition))
#define WARN_ONCE(condition, ...) (!!(condition))
#define WARN(condition, ...) (!!(condition))
#define DEBUG_NET_WARN_ON_ONCE(condition) ((void)(condition))

#define sojourn_quiet(...) do { if (0) printf(__VA_ARGS__); } while (0)
#define printk(...) sojourn_quiet(__VA_ARGS__)
#define pr_debug(...) sojourn_quiet(__VA_ARGS__)
#define pr_info(...) sojourn_quiet(__VA_ARGS__)
#define pr_notice(...) sojourn_quiet(__VA_ARGS__)
#define pr_warn(...) sojourn_quiet(__VA_ARGS__)
#define pr_warn_once(...) sojourn_quiet(__VA_ARGS__)
#define pr_warn_ratelimited(...) sojourn_quiet(__VA_ARGS__)
#define pr_err(...) sojourn_quiet(__VA_ARGS__)
#define pr_err_once(...) sojourn_quiet(__VA_ARGS__)
#define pr_info_once(...) sojourn_quiet(__VA_ARGS__)
#define pr_info_ratelimited(...) sojourn_quiet(__VA_ARGS__)
#define net_warn_ratelimited(...) sojourn_quiet(__VA_ARGS__)
#define net_info_ratelimited(...) sojourn_quiet(__VA_ARGS__)
#define trace_printk(...) sojourn_quiet(__VA_ARGS__)
#define KERN_EMERG ""
#define KERN_ALERT ""
#define KERN_CRIT ""
#define KERN_ERR ""
#define KERN_WARNING ""
#define KERN_NOTICE ""
#define KERN_INFO ""
#define KERN_DEBUG ""

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define sizeof_field(type, member) sizeof(((type *)0)->member)
#define FIELD_SIZEOF(type, member) sizeof_field(type, member)
#define offsetofend(type, member) (offsetof(type, member) + sizeof_field(type, member))
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define BITS_PER_BYTE 8
#define BITS_PER_LONG 64
#define BITS_PER_TYPE(type) (sizeof(type) * BITS_PER_BYTE)
#define GENMASK(high, low) (((~0UL) << (low)) & (~0UL >> (63 - (high))))
#define ALIGN(x, to) (((x) + (to) - 1) & ~((typeof(x))(to) - 1))
#define L1_CACHE_ALIGN(x) ALIGN(x, L1_CACHE_BYTES)
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define DIV_ROUND_CLOSEST(n, d) (((n) + (d) / 2) / (d))
#define DIV_ROUND_UP_ULL(n, d) DIV_ROUND_UP((u64)(n), (u64)(d))
#define roundup(x, y) ((((x) + (y) - 1) / (y)) * (y))
#define rounddown(x, y) ((x) - (x) % (y))
#define __stringify_1(x...) #x
#define __stringify(x...) __stringify_1(x)

#define min(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(type, a, b) ({ type _c = (a); type _d = (b); _c < _d ? _c : _d; })
#define max_t(type, a, b) ({ type _c = (a); type _d = (b); _c > _d ? _c : _d; })
#define min3(a, b, c) min(min(a, b), c)
#define max3(a, b, c) max(max(a, b), c)
#define min_not_zero(a, b) \
	({ typeof(a) _e = (a); typeof(b) _f = (b); _e == 0 ? _f : (_f == 0 ? _e : min(_e, _f)); })
#define clamp(value, low, high) min((typeof(value))max(value, low), high)
#define clamp_t(type, value, low, high) min_t(type, max_t(type, value, low), high)
#define clamp_val(value, low, high) clamp_t(typeof(value), value, low, high)
#define swap(a, b) do { typeof(a) _g = (a); (a) = (b); (b) = _g; } while (0)
#define abs(x) ({ typeof(x) _h = (x); _h < 0 ? -_h : _h; })
#define abs_diff(a, b) ({ typeof(a) _i = (a); typeof(b) _j = (b); _i > _j ? _i - _j : _j - _i; })

/* One thread runs all of it. */
#define spin_lock(lock) ((void)(lock))
#define spin_unlock(lock) ((void)(lock))
#define spin_lock_bh(lock) ((void)(lock))
#define spin_unlock_bh(lock) ((void)(lock))
#define spin_lock_init(lock) ((void)(lock))
#define DEFINE_SPINLOCK(name) spinlock_t name
#define DEFINE_MUTEX(name) struct mutex name
#define mutex_lock(lock) ((void)(lock))
#define mutex_unlock(lock) ((void)(lock))
#define rcu_read_lock() do { } while (0)
#define rcu_read_unlock() do { } while (0)
#define rcu_dereference(p) (p)
#define rcu_dereference_bh(p) (p)
#define rcu_dereference_protected(p, condition) (p)
#define rcu_assign_pointer(p, value) ((p) = (value))
#define rtnl_dereference(p) (p)
#define local_bh_disable() do { } while (0)
#define local_bh_enable() do { } while (0)
#define preempt_disable() do { } while (0)
#define preempt_enable() do { } while (0)
#define in_softirq() 1
#define lockdep_is_held(lock) 1
#define cond_resched() do { } while (0)
#define raw_smp_processor_id() 0
#define smp_processor_id() 0
#define num_online_cpus() 1

#define ATOMIC_INIT(value) { (value) }
#define atomic_read(a) ((a)->counter)
#define atomic_set(a, value) ((a)->counter = (value))
#define atomic_inc(a) ((void)++(a)->counter)
#define atomic_dec(a) ((void)--(a)->counter)
#define atomic_add(value, a) ((void)((a)->counter += (value)))
#define atomic_sub(value, a) ((void)((a)->counter -= (value)))
#define atomic64_read(a) ((a)->counter)
#define atomic64_set(a, value) ((a)->counter = (value))
#define atomic64_inc(a) ((void)++(a)->counter)
#define atomic64_add(value, a) ((void)((a)->counter += (value)))

#define GFP_KERNEL 0
#define GFP_ATOMIC 0
#define GFP_NOWAIT 0
#define __GFP_NOWARN 0
#define __GFP_ZERO 0
#define kmalloc(size, flags) calloc(1, size)
#define kzalloc(size, flags) calloc(1, size)
#define kcalloc(count, size, flags) calloc(count, size)
#define kmalloc_array(count, size, flags) calloc(count, size)
#define kmalloc_node(size, flags, node) calloc(1, size)
#define kvmalloc(size, flags) calloc(1, size)
#define kvzalloc(size, flags) calloc(1, size)
#define kvcalloc(count, size, flags) calloc(count, size)
#define kvmalloc_array(count, size, flags) calloc(count, size)
#define kvmalloc_node(size, flags, node) calloc(1, size)
#define vmalloc(size) calloc(1, size)
#define vzalloc(size) calloc(1, size)
#define kfree(pointer) free((void *)(pointer))
#define kvfree(pointer) free((void *)(pointer))
#define vfree(pointer) free((void *)(pointer))
#define NUMA_NO_NODE (-1)
#define SLAB_HWCACHE_ALIGN 0
#define SLAB_PANIC 0
#define kfree_rcu(pointer, head) free(pointer)

static inline int test_bit(long n, const unsigned long *bits) { return *bits >> n & 1; }
static inline void set_bit(long n, unsigned long *bits) { *bits |= 1UL << n; }
static inline void clear_bit(long n, unsigned long *bits) { *bits &= ~(1UL << n); }

#define ERR_PTR(error) ((void *)(long)(error))
#define PTR_ERR(pointer) ((long)(pointer))
#define IS_ERR(pointer) ((unsigned long)(pointer) >= (unsigned long)-4095)
#define IS_ERR_OR_NULL(pointer) (!(pointer) || IS_ERR(pointer))

#define htons(x) __builtin_bswap16(x)
#define ntohs(x) __builtin_bswap16(x)
#define htonl(x) __builtin_bswap32(x)
#define ntohl(x) __builtin_bswap32(x)
#define cpu_to_be16(x) __builtin_bswap16(x)
#define cpu_to_be32(x) __builtin_bswap32(x)
#define be16_to_cpu(x) __builtin_bswap16(x)
#define be32_to_cpu(x) __builtin_bswap32(x)
#define get_unaligned_be16(p) be16_to_cpu(*(const u16 *)(p))
#define get_unaligned_be32(p) be32_to_cpu(*(const u32 *)(p))

#endif
