/* A discipline in the kernel's style, for tests: a FIFO of `limit` packets that marks, or else drops,
 * what has waited longer than `target` microseconds, at most once per `interval` microseconds.
 */
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/inet_ecn.h>
#include <net/netfilter/nf_conntrack_core.h>
#include <net/pkt_sched.h>

enum { TCA_BRIEF_UNSPEC, TCA_BRIEF_LIMIT, TCA_BRIEF_TARGET, TCA_BRIEF_INTERVAL, TCA_BRIEF_MAX };

struct brief_data {
	u64 target, interval, next;
	u32 signals;
	u32 source, destination, sender, receiver; /* of what came last: in its header, and in truth */
};
struct brief_cb { u64 since; };

static struct brief_cb *brief_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct brief_cb));
	return (struct brief_cb *)qdisc_skb_cb(skb)->data;
}

static void brief_look(struct brief_data *q, const struct sk_buff *skb)
{
	struct nf_conntrack_tuple tuple;

	q->source = ntohl(ip_hdr(skb)->saddr);
	q->destination = ntohl(ip_hdr(skb)->daddr);
	if (!nf_ct_get_tuple_skb(&tuple, skb))
		return;
	q->sender = ntohl(skb->_nfct ? tuple.src.u3.ip : tuple.dst.u3.ip);
	q->receiver = ntohl(skb->_nfct ? tuple.dst.u3.ip : tuple.src.u3.ip);
}

static int brief_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	brief_look(qdisc_priv(sch), skb);
	if (sch->q.qlen >= sch->limit)
		return qdisc_drop(skb, sch, to_free);
	brief_cb(skb)->since = ktime_get_ns();
	return qdisc_enqueue_tail(skb, sch);
}

static struct sk_buff *brief_dequeue(struct Qdisc *sch)
{
	struct brief_data *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct sk_buff *skb;

	while ((skb = qdisc_dequeue_head(sch)) != NULL) {
		if (now < q->next || now - brief_cb(skb)->since <= q->target)
			return skb;
		q->next = now + q->interval;
		q->signals++;
		if (INET_ECN_set_ce(skb))
			return skb;
		kfree_skb(skb);
		qdisc_qstats_drop(sch);
	}
	return NULL;
}

static const struct nla_policy brief_policy[TCA_BRIEF_MAX + 1] = {
	[TCA_BRIEF_LIMIT] = { .type = NLA_U32 },
	[TCA_BRIEF_TARGET] = { .type = NLA_U32 },
	[TCA_BRIEF_INTERVAL] = { .type = NLA_U32 },
};

static int brief_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct brief_data *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_BRIEF_MAX + 1];
	int wrong;

	sch->limit = 100;
	q->target = 5 * NSEC_PER_MSEC;
	q->interval = 100 * NSEC_PER_MSEC;
	if (!opt)
		return 0;
	wrong = nla_parse_nested(tb, TCA_BRIEF_MAX, opt, brief_policy, extack);
	if (wrong < 0)
		return wrong;
	if (tb[TCA_BRIEF_LIMIT])
		sch->limit = nla_get_u32(tb[TCA_BRIEF_LIMIT]);
	if (tb[TCA_BRIEF_TARGET])
		q->target = (u64)nla_get_u32(tb[TCA_BRIEF_TARGET]) * NSEC_PER_USEC;
	if (tb[TCA_BRIEF_INTERVAL])
		q->interval = (u64)nla_get_u32(tb[TCA_BRIEF_INTERVAL]) * NSEC_PER_USEC;
	return sch->limit ? 0 : -EINVAL;
}

static struct Qdisc_ops brief_ops __read_mostly = {
	.id = "brief",
	.priv_size = sizeof(struct brief_data),
	.enqueue = brief_enqueue,
	.dequeue = brief_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = brief_init,
	.reset = qdisc_reset_queue,
	.owner = THIS_MODULE,
};

static int __init brief_register(void)
{
	return register_qdisc(&brief_ops);
}

static void __exit brief_unregister(void)
{
	unregister_qdisc(&brief_ops);
}

module_init(brief_register)
module_exit(brief_unregister)
MODULE_LICENSE("GPL");
