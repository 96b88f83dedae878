/* Queue disciplines: their structure, what they are called for and what they may call. */
#ifndef SOJOURN_KERNEL_QDISC_H
#define SOJOURN_KERNEL_QDISC_H

#include "sk_buff.h"
#include "netlink.h"
#include "tcp.h"
#if __has_include(<sojourn/pkt_sched.h>)
#include <sojourn/pkt_sched.h> /* the discipline's own attributes, of its tree */
#endif

#ifndef TCA_DUALPI2_MAX /* of a tree that is older than the discipline */
enum { TCA_DUALPI2_UNSPEC, TCA_DUALPI2_LIMIT, TCA_DUALPI2_TARGET, TCA_DUALPI2_TUPDATE,
	TCA_DUALPI2_ALPHA, TCA_DUALPI2_BETA, TCA_DUALPI2_STEP_THRESH, TCA_DUALPI2_STEP_PACKETS,
	TCA_DUALPI2_COUPLING, TCA_DUALPI2_DROP_OVERLOAD, TCA_DUALPI2_DROP_EARLY,
	TCA_DUALPI2_C_PROTECTION, TCA_DUALPI2_ECN_MASK, TCA_DUALPI2_SPLIT_GSO, TCA_DUALPI2_PAD };
#define TCA_DUALPI2_MAX TCA_DUALPI2_PAD
struct tc_dualpi2_xstats {
	u32 prob, delay_c, delay_l, packets_in_c, packets_in_l, maxq, ecn_mark, step_marks;
	s32 credit;
};
#endif

#define NET_XMIT_SUCCESS 0
#define NET_XMIT_DROP 1
#define NET_XMIT_CN 2
#define NET_XMIT_MASK 15
#define __NET_XMIT_STOLEN 0x10000
#define __NET_XMIT_BYPASS 0x20000
#define net_xmit_drop_count(result) ((result) & __NET_XMIT_STOLEN ? 0 : 1)
#define TC_H_MAJ_MASK 0xFFFF0000U
#define TC_H_MIN_MASK 0x0000FFFFU
#undef TC_H_MAJ
#undef TC_H_MIN
#undef TC_H_MAKE
#define TC_H_MAJ(h) ((h) & TC_H_MAJ_MASK)
#define TC_H_MIN(h) ((h) & TC_H_MIN_MASK)
#define TC_H_MAKE(major, minor) (((major) & TC_H_MAJ_MASK) | ((minor) & TC_H_MIN_MASK))
#define TC_PRIO_MAX 15
#define TC_PRIO_CONTROL 7
enum { TC_ACT_OK = 0, TC_ACT_SHOT = 2, TC_ACT_STOLEN = 4, TC_ACT_QUEUED = 5, TC_ACT_TRAP = 8 };
/* The band of each priority (`pfifo_fast`). */
static const u8 sch_default_prio2band[TC_PRIO_MAX + 1] __maybe_unused = {
	1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1
};
#define IFNAMSIZ 16
#define QDISC_ALIGNTO 64
#define TCQ_F_BUILTIN 1
#define TCQ_F_CAN_BYPASS 4
#define TCQ_F_NOPARENT 0x40
#define TCQ_F_OFFLOADED 0x200
#define TCQ_F_DEQUEUE_DROPS 0x400

struct gnet_stats_basic_sync { u64 bytes, packets; };
struct gnet_stats_queue { u32 qlen, backlog, drops, requeues, overlimits; };
struct gnet_dump { int unused; };
struct tcf_proto { int unused; };
struct tcf_block { int unused; };
struct tcf_result { unsigned long class; u32 classid; };
struct tcf_qevent { int unused; };
struct tcf_block_ext_info { int unused; };
struct tcmsg { u32 tcm_handle, tcm_info; };
struct qdisc_walker { int stop, skip, count; int (*fn)(struct Qdisc *, unsigned long, struct qdisc_walker *); };

struct qdisc_skb_head { struct sk_buff *head, *tail; u32 qlen; spinlock_t lock; };
struct netdev_queue { struct net_device *dev; };
struct Qdisc {
	int (*enqueue)(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
	struct sk_buff *(*dequeue)(struct Qdisc *sch);
	unsigned int flags;
	u32 limit;
	const struct Qdisc_ops *ops;
	u32 handle, parent;
	struct netdev_queue *dev_queue;
	struct sk_buff_head gso_skb;
	struct qdisc_skb_head q;
	struct gnet_stats_basic_sync bstats;
	struct gnet_stats_queue qstats;
	unsigned long state;
	long privdata[] __aligned(64);
};
struct Qdisc_class_ops {
	unsigned int flags;
	struct netdev_queue *(*select_queue)(struct Qdisc *, struct tcmsg *);
	int (*graft)(struct Qdisc *, unsigned long, struct Qdisc *, struct Qdisc **,
		     struct netlink_ext_ack *);
	struct Qdisc *(*leaf)(struct Qdisc *, unsigned long);
	void (*qlen_notify)(struct Qdisc *, unsigned long);
	unsigned long (*find)(struct Qdisc *, u32);
	int (*change)(struct Qdisc *, u32, u32, struct nlattr **, unsigned long *,
		      struct netlink_ext_ack *);
	int (*delete)(struct Qdisc *, unsigned long, struct netlink_ext_ack *);
	void (*walk)(struct Qdisc *, struct qdisc_walker *);
	struct tcf_block *(*tcf_block)(struct Qdisc *, unsigned long, struct netlink_ext_ack *);
	unsigned long (*bind_tcf)(struct Qdisc *, unsigned long, u32);
	void (*unbind_tcf)(struct Qdisc *, unsigned long);
	int (*dump)(struct Qdisc *, unsigned long, struct sk_buff *, struct tcmsg *);
	int (*dump_stats)(struct Qdisc *, unsigned long, struct gnet_dump *);
};
struct Qdisc_ops {
	struct Qdisc_ops *next;
	const struct Qdisc_class_ops *cl_ops;
	char id[IFNAMSIZ];
	int priv_size;
	unsigned int static_flags;
	int (*enqueue)(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
	struct sk_buff *(*dequeue)(struct Qdisc *);
	struct sk_buff *(*peek)(struct Qdisc *);
	int (*init)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
	void (*reset)(struct Qdisc *);
	void (*destroy)(struct Qdisc *);
	int (*change)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
	void (*attach)(struct Qdisc *);
	int (*change_tx_queue_len)(struct Qdisc *, unsigned int);
	int (*dump)(struct Qdisc *, struct sk_buff *);
	int (*dump_stats)(struct Qdisc *, struct gnet_dump *);
	void (*ingress_block_set)(struct Qdisc *, u32);
	u32 (*ingress_block_get)(struct Qdisc *);
	struct module *owner;
};

/* What the module has registered. */
__weak struct Qdisc_ops *sojourn_discipline;
static inline int register_qdisc(struct Qdisc_ops *ops)
{
	if (!sojourn_discipline)
		sojourn_discipline = ops;
	return 0;
}
#define unregister_qdisc(ops) ((void)(ops))

#define qdisc_priv(sch) ((void *)(sch)->privdata)
#define qdisc_dev(sch) ((sch)->dev_queue->dev)
#define qdisc_lock(sch) ((spinlock_t *)(sch))
#define qdisc_root_sleeping(sch) (sch)
#define qdisc_root(sch) (sch)
#define qdisc_qlen(sch) ((sch)->q.qlen)
#define psched_mtu(dev) ((dev)->mtu + (dev)->hard_header_len)
#define sch_tree_lock(sch) ((void)(sch))
#define sch_tree_unlock(sch) ((void)(sch))
#define __netif_schedule(sch) ((void)(sch))
#define netif_is_multiqueue(dev) 0
#define rtnl_lock() do { } while (0)

/* The part of a packet's control block that is the kernel's own, then the discipline's. */
struct qdisc_skb_cb { struct { unsigned int pkt_len; u16 slave_dev_queue_mapping, tc_classid; };
	unsigned char data[20]; };
#define QDISC_CB_PRIV_LEN 20
#define qdisc_skb_cb(skb) ((struct qdisc_skb_cb *)(skb)->cb)
#define qdisc_cb_private_validate(skb, size) BUILD_BUG_ON((size) > QDISC_CB_PRIV_LEN)
#define qdisc_pkt_len_init(skb) (qdisc_skb_cb(skb)->pkt_len = (skb)->len)
static inline unsigned int qdisc_pkt_len(const struct sk_buff *skb)
{
	return qdisc_skb_cb(skb)->pkt_len;
}

static inline void qdisc_qstats_backlog_inc(struct Qdisc *sch, const struct sk_buff *skb)
{
	sch->qstats.backlog += qdisc_pkt_len(skb);
}
static inline void qdisc_qstats_backlog_dec(struct Qdisc *sch, const struct sk_buff *skb)
{
	sch->qstats.backlog -= qdisc_pkt_len(skb);
}
#define __qdisc_qstats_drop(sch, count) ((sch)->qstats.drops += (count))
#define qdisc_qstats_drop(sch) ((sch)->qstats.drops++)
#define qdisc_qstats_overlimit(sch) ((sch)->qstats.overlimits++)
#define qdisc_qstats_qlen_backlog(sch, count, bytes) \
	(*(count) = (sch)->q.qlen, *(bytes) = (sch)->qstats.backlog)
#define qdisc_bstats_update(sch, skb) bstats_update(&(sch)->bstats, skb)
static inline void bstats_update(struct gnet_stats_basic_sync *stats, const struct sk_buff *skb)
{
	stats->bytes += qdisc_pkt_len(skb);
	stats->packets++;
}

static inline void __qdisc_enqueue_tail(struct sk_buff *skb, struct qdisc_skb_head *q)
{
	skb->next = NULL;
	if (q->tail)
		q->tail->next = skb;
	else
		q->head = skb;
	q->tail = skb;
	q->qlen++;
}
static inline int qdisc_enqueue_tail(struct sk_buff *skb, struct Qdisc *sch)
{
	__qdisc_enqueue_tail(skb, &sch->q);
	qdisc_qstats_backlog_inc(sch, skb);
	return NET_XMIT_SUCCESS;
}
static inline struct sk_buff *__qdisc_dequeue_head(struct qdisc_skb_head *q)
{
	struct sk_buff *skb = q->head;

	if (skb) {
		q->head = skb->next;
		q->qlen--;
		if (!q->head)
			q->tail = NULL;
		skb->next = NULL;
	}
	return skb;
}
static inline struct sk_buff *qdisc_dequeue_head(struct Qdisc *sch)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);

	if (skb) {
		qdisc_qstats_backlog_dec(sch, skb);
		qdisc_bstats_update(sch, skb);
	}
	return skb;
}
#define qdisc_peek_head(sch) ((sch)->q.head)

/* Dropped packets end when the discipline has returned. */
static inline void __qdisc_drop(struct sk_buff *skb, struct sk_buff **to_free)
{
	skb->next = *to_free;
	*to_free = skb;
}
static inline int qdisc_drop(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	__qdisc_drop(skb, to_free);
	qdisc_qstats_drop(sch);
	return NET_XMIT_DROP;
}
#define qdisc_drop_reason(skb, sch, to_free, reason) qdisc_drop(skb, sch, to_free)
#define qdisc_dequeue_drop(sch, skb, reason) kfree_skb(skb)
#define tcf_set_drop_reason(skb, reason) ((void)(skb))
#define tcf_set_qdisc_drop_reason(skb, reason) ((void)(skb))
#define rtnl_qdisc_drop(skb, sch) (kfree_skb(skb), qdisc_qstats_drop(sch))
#define qdisc_tree_reduce_backlog(sch, packets, bytes) ((void)(sch), (void)(packets), (void)(bytes))
static inline void qdisc_reset_queue(struct Qdisc *sch)
{
	kfree_skb_list(sch->q.head);
	sch->q = (struct qdisc_skb_head){ };
	sch->qstats.backlog = 0;
}

/* A packet that somebody has peeked at waits in front. */
static inline struct sk_buff *qdisc_peek_dequeued(struct Qdisc *sch)
{
	struct sk_buff *skb = skb_peek(&sch->gso_skb);

	if (!skb && (skb = sch->dequeue(sch))) {
		__skb_queue_head(&sch->gso_skb, skb);
		qdisc_qstats_backlog_inc(sch, skb);
		sch->q.qlen++;
	}
	return skb;
}
static inline struct sk_buff *qdisc_dequeue_peeked(struct Qdisc *sch)
{
	struct sk_buff *skb = __skb_dequeue(&sch->gso_skb);

	if (!skb)
		return sch->dequeue(sch);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	return skb;
}
static inline struct sk_buff *qdisc_dequeue_internal(struct Qdisc *sch, bool direct)
{
	return direct ? __qdisc_dequeue_head(&sch->q) : sch->dequeue(sch);
}
static inline int qdisc_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return sch->enqueue(skb, sch, to_free);
}

static inline struct Qdisc *sojourn_qdisc_alloc(const struct Qdisc_ops *ops,
						struct netdev_queue *dev_queue)
{
	struct Qdisc *sch = aligned_alloc(64, ALIGN(sizeof(*sch) + ops->priv_size, 64UL));

	memset(sch, 0, sizeof(*sch) + ops->priv_size);
	sch->ops = ops;
	sch->enqueue = ops->enqueue;
	sch->dequeue = ops->dequeue;
	sch->dev_queue = dev_queue;
	__skb_queue_head_init(&sch->gso_skb);
	return sch;
}
/* What a discipline has for a child before it is told of one. */
__weak struct Qdisc noop_qdisc;
static inline void qdisc_put(struct Qdisc *sch)
{
	if (sch == &noop_qdisc)
		return;
	if (sch->ops->reset)
		sch->ops->reset(sch);
	if (sch->ops->destroy)
		sch->ops->destroy(sch);
	free(sch);
}
#define qdisc_destroy(sch) qdisc_put(sch)
#define qdisc_hash_add(sch, invisible) ((void)(sch))
static inline void qdisc_reset(struct Qdisc *sch)
{
	if (sch->ops && sch->ops->reset)
		sch->ops->reset(sch);
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}
#define qdisc_purge_queue(sch) qdisc_reset(sch)
static inline struct Qdisc *qdisc_replace(struct Qdisc *sch, struct Qdisc *new, struct Qdisc **place)
{
	struct Qdisc *old = *place;

	*place = new;
	return old;
}

/* A FIFO with a limit in bytes, which disciplines have for a child. */
static int sojourn_bfifo_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return sch->qstats.backlog + qdisc_pkt_len(skb) <= sch->limit
		? qdisc_enqueue_tail(skb, sch) : qdisc_drop(skb, sch, to_free);
}
static int sojourn_pfifo_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return sch->q.qlen < sch->limit ? qdisc_enqueue_tail(skb, sch) : qdisc_drop(skb, sch, to_free);
}
static struct sk_buff *sojourn_fifo_peek(struct Qdisc *sch) { return sch->q.head; }
static struct Qdisc_ops bfifo_qdisc_ops __maybe_unused = {
	.id = "bfifo", .enqueue = sojourn_bfifo_enqueue, .dequeue = qdisc_dequeue_head,
	.peek = sojourn_fifo_peek, .reset = qdisc_reset_queue,
};
static struct Qdisc_ops pfifo_qdisc_ops __maybe_unused = {
	.id = "pfifo", .enqueue = sojourn_pfifo_enqueue, .dequeue = qdisc_dequeue_head,
	.peek = sojourn_fifo_peek, .reset = qdisc_reset_queue,
};
static struct Qdisc_ops noop_qdisc_ops __maybe_unused = {
	.id = "noop", .enqueue = sojourn_pfifo_enqueue, .dequeue = qdisc_dequeue_head,
	.peek = sojourn_fifo_peek, .reset = qdisc_reset_queue,
};
static inline struct Qdisc *fifo_create_dflt(struct Qdisc *sch, struct Qdisc_ops *ops,
					     unsigned int limit, struct netlink_ext_ack *extack)
{
	struct Qdisc *child = sojourn_qdisc_alloc(ops, sch->dev_queue);

	child->limit = limit;
	return child;
}
static inline int fifo_set_limit(struct Qdisc *sch, unsigned int limit)
{
	sch->limit = limit;
	return 0;
}
#define qdisc_create_dflt(queue, ops, parent, extack) sojourn_qdisc_alloc(ops, queue)

/* Wakes a discipline that has held everything back. */
struct qdisc_watchdog { struct Qdisc *qdisc; u64 due; };
__weak u64 sojourn_wake_at; /* nanoseconds; 0 for never */
#define qdisc_watchdog_init(watchdog, sch) ((watchdog)->qdisc = (sch))
#define qdisc_watchdog_init_clockid(watchdog, sch, clock) ((watchdog)->qdisc = (sch))
#define qdisc_watchdog_schedule_range_ns(watchdog, at, slack) \
	((watchdog)->due = (at), sojourn_wake_at = (at))
#define qdisc_watchdog_schedule_ns(watchdog, at) qdisc_watchdog_schedule_range_ns(watchdog, at, 0)
#define qdisc_watchdog_cancel(watchdog) ((watchdog)->due = 0)

#define PSCHED_SHIFT 6
#define PSCHED_TICKS2NS(x) ((s64)(x) << PSCHED_SHIFT)
#define PSCHED_NS2TICKS(x) ((x) >> PSCHED_SHIFT)
#define PSCHED_TICKS_PER_SEC PSCHED_NS2TICKS(NSEC_PER_SEC)
#define PSCHED_PASTPERFECT 0
typedef u64 psched_time_t;
typedef long psched_tdiff_t;
#define psched_get_time() ((psched_time_t)PSCHED_NS2TICKS(ktime_get_ns()))
#define psched_tdiff_bounded(later, earlier, bound) min((u64)((later) - (earlier)), (u64)(bound))

/* Filters, actions and offloads: there are none. */
#define tcf_classify(...) (-1)
#define tcf_classify_qdisc(...) (-1)
#define tcf_block_get(...) 0
#define tcf_block_put(...) ((void)0)
#define tcf_qevent_init(...) 0
#define tcf_qevent_destroy(...) ((void)0)
#define tcf_qevent_validate_change(...) 0
#define tcf_qevent_handle(event, sch, skb, ...) (skb)
#define tcf_qevent_dump(...) 0
#define tc_can_offload(dev) false
#define qdisc_offload_dump_helper(...) 0
#define qdisc_offload_graft_helper(...) ((void)0)
#define tc_qdisc_stats_dump(...) true
#define gnet_stats_copy_app(...) 0
#define gnet_stats_copy_queue(...) 0
#define gnet_stats_copy_basic(...) 0
#define gnet_stats_add_queue(...) ((void)0)
#define _bstats_update(...) ((void)0)
enum { FLOW_BLOCK_BINDER_TYPE_RED_EARLY_DROP, FLOW_BLOCK_BINDER_TYPE_RED_MARK };
enum { TC_SETUP_QDISC_RED = 1, TC_RED_REPLACE, TC_RED_DESTROY, TC_RED_STATS, TC_RED_XSTATS,
	TC_RED_GRAFT };
struct tc_red_qopt_offload_params {
	u32 min, max, probability, limit;
	bool is_ecn, is_harddrop, is_nodrop;
	struct gnet_stats_queue *qstats;
};
struct tc_red_qopt_offload {
	int command;
	u32 handle, parent;
	union {
		struct tc_red_qopt_offload_params set;
		struct { struct gnet_stats_basic_sync *bstats; struct gnet_stats_queue *qstats; } stats;
		void *xstats;
		u32 child_handle;
	};
};
struct red_stats;

struct kmem_cache { size_t size; };
static inline struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align,
						   unsigned long flags, void *ctor)
{
	struct kmem_cache *cache = calloc(1, sizeof(*cache));

	cache->size = size;
	return cache;
}
#define kmem_cache_destroy(cache) free(cache)
#define kmem_cache_zalloc(cache, flags) sojourn_kmem(cache)
#define kmem_cache_alloc(cache, flags) sojourn_kmem(cache)
static inline void *sojourn_kmem(struct kmem_cache *cache)
{
	void *made = aligned_alloc(64, ALIGN(cache->size, 64UL));

	memset(made, 0, cache->size);
	return made;
}
#define kmem_cache_free(cache, pointer) free(pointer)
static inline void kmem_cache_free_bulk(struct kmem_cache *cache, size_t count, void **pointers)
{
	for (size_t i = 0; i < count; i++)
		free(pointers[i]);
}
#define netdev_queue_numa_node_read(queue) NUMA_NO_NODE
#define KMEM_CACHE(type, flags) kmem_cache_create(#type, sizeof(struct type), 0, flags, NULL)

#endif
