/* Stands for the discipline of the same name in tests, in the kernel's style: a FIFO shaped to
 * `base_rate64` B/s that marks with SCE what has waited more than 2 ms, if `sce` is not 0.
 */
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>

enum { TCA_CAKE_UNSPEC, TCA_CAKE_BASE_RATE64, TCA_CAKE_FLOW_MODE, TCA_CAKE_SCE, TCA_CAKE_MAX };

struct shaping_data {
	struct qdisc_watchdog watchdog;
	u64 rate, next;
	u32 sce;
};
struct shaping_cb { u64 since; };

static struct shaping_cb *shaping_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct shaping_cb));
	return (struct shaping_cb *)qdisc_skb_cb(skb)->data;
}

static int shaping_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	shaping_cb(skb)->since = ktime_get_ns();
	return sch->q.qlen < 100 ? qdisc_enqueue_tail(skb, sch) : qdisc_drop(skb, sch, to_free);
}

static struct sk_buff *shaping_dequeue(struct Qdisc *sch)
{
	struct shaping_data *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct sk_buff *skb;

	if (!sch->q.qlen)
		return NULL;
	if (now < q->next) {
		qdisc_watchdog_schedule_ns(&q->watchdog, q->next);
		return NULL;
	}
	skb = qdisc_dequeue_head(sch);
	q->next = now + div64_u64(qdisc_pkt_len(skb) * NSEC_PER_SEC, q->rate);
	if (sch->q.qlen)
		qdisc_watchdog_schedule_ns(&q->watchdog, q->next);
	if (q->sce && now - shaping_cb(skb)->since > 2 * NSEC_PER_MSEC)
		INET_ECN_set_sce(skb);
	return skb;
}

static const struct nla_policy shaping_policy[TCA_CAKE_MAX + 1] = {
	[TCA_CAKE_BASE_RATE64] = { .type = NLA_U64 },
	[TCA_CAKE_FLOW_MODE] = { .type = NLA_U32 },
	[TCA_CAKE_SCE] = { .type = NLA_U32 },
};

static int shaping_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct shaping_data *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_CAKE_MAX + 1];

	qdisc_watchdog_init(&q->watchdog, sch);
	if (!opt || nla_parse_nested(tb, TCA_CAKE_MAX, opt, shaping_policy, extack) < 0)
		return -EINVAL;
	q->rate = nla_get_u64(tb[TCA_CAKE_BASE_RATE64]);
	q->sce = nla_get_u32(tb[TCA_CAKE_SCE]);
	return 0;
}

static struct Qdisc_ops shaping_ops __read_mostly = {
	.id = "shaping",
	.priv_size = sizeof(struct shaping_data),
	.enqueue = shaping_enqueue,
	.dequeue = shaping_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = shaping_init,
	.reset = qdisc_reset_queue,
	.owner = THIS_MODULE,
};

static int __init shaping_register(void)
{
	return register_qdisc(&shaping_ops);
}
module_init(shaping_register)
