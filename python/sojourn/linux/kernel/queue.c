/* A queue discipline of the kernel as one of Sojourn's: the module's source, unchanged, and what
 * calls it. SOJOURN_SOURCE is its file; SOJOURN_ATTRIBUTES the attributes that configure it, each as
 * X(constant, name), and SOJOURN_POLICY the table with their types; SOJOURN_MASQUERADE what a NAT
 * hides; the others as in control.c.
 */
#include SOJOURN_SOURCE

#include "conntrack.h"
#include "params.h"
#include "qdisc.h"
#include "sojourn_queue.h"

struct discipline {
	struct Qdisc *sch;
	struct sojourn_random random;
	struct net_device dev;
	struct netdev_queue dev_queue;
	struct timer_list *timers;
	struct hrtimer *hrtimers;
	u64 wake_at;
	const struct sojourn_queue_listener *listener;
	struct sk_buff *spare; /* packets that are used again */
	struct sojourn_options options;
};

static struct discipline *current_one;

static void forget(struct sk_buff *skb)
{
	skb->next = current_one->spare;
	current_one->spare = skb;
}

static void dropped(struct sk_buff *skb)
{
	const struct sojourn_queue_listener *listener = current_one->listener;

	if (listener)
		listener->dropped(listener->out, skb->packet, ip_hdr(skb)->tos & INET_ECN_MASK);
	forget(skb);
}

static void marked(struct sk_buff *skb)
{
	const struct sojourn_queue_listener *listener = current_one->listener;

	listener->marked(listener->out, skb->packet, ip_hdr(skb)->tos & INET_ECN_MASK);
}

static void enter(struct discipline *d, u64 now, const struct sojourn_queue_listener *listener)
{
	current_one = d;
	d->listener = listener;
	sojourn_now = now;
	sojourn_random = &d->random;
	sojourn_timers = d->timers;
	sojourn_hrtimers = d->hrtimers;
	sojourn_wake_at = d->wake_at;
	sojourn_dropped = dropped;
	sojourn_marked = marked;
}

static void leave(struct discipline *d)
{
	d->timers = sojourn_timers;
	d->hrtimers = sojourn_hrtimers;
	d->wake_at = sojourn_wake_at;
}

/* Sets one attribute; says whether there is such a one. */
static bool set(struct discipline *d, const struct sojourn_attribute *given)
{
#ifdef SOJOURN_POLICY
	struct nlattr *to = &d->options.given[d->options.count++];
	const struct nla_policy *policy = NULL;

#define X(constant, label) \
	if (!strcmp(given->name, #label)) { \
		policy = &SOJOURN_POLICY[constant]; \
		to->nla_type = constant; \
	}
	SOJOURN_ATTRIBUTES
#undef X
	if (!policy)
		return false;
	if (given->bytes) {
		to->nla_len = min_t(u32, given->count, sizeof(to->data));
		memcpy(to->data, given->bytes, to->nla_len);
		return true;
	}
	to->nla_len = 8;
	switch (policy->type) {
	case NLA_U8: *(u8 *)to->data = given->value; break;
	case NLA_U16: *(u16 *)to->data = given->value; break;
	case NLA_U64: *(u64 *)to->data = given->value; break;
	case NLA_S32: *(s32 *)to->data = given->value; break;
	case NLA_S64: *(s64 *)to->data = given->value; break;
	case NLA_FLAG: d->options.count -= !given->value; break;
	case NLA_BITFIELD32:
		*(struct nla_bitfield32 *)to->data =
			(struct nla_bitfield32){ given->value, policy->bitfield32_valid };
		break;
	default: *(u32 *)to->data = given->value; break;
	}
	return true;
#else
	return false;
#endif
}

static void destroy(void *self)
{
	struct discipline *d = self;

	enter(d, sojourn_now, NULL);
	qdisc_put(d->sch);
	while (d->spare) {
		struct sk_buff *next = d->spare->next;

		free(d->spare);
		d->spare = next;
	}
	free(d);
}

static void *create(const struct sojourn_queue_init *init, const struct sojourn_attribute *given,
		    uint32_t count, char *error)
{
	static bool begun;
	struct discipline *d = calloc(1, sizeof(*d));
	struct nlattr *options = count ? &d->options.outer : NULL;
	int wrong = 0;

	sojourn_random_seed(&d->random, init->seed);
	/* Half a second before the run, after which PIE's first update is due. */
	enter(d, init->now - NSEC_PER_SEC / 2, NULL);
	if (!begun)
		wrong = sojourn_module_init();
	begun = true;
	d->dev = (struct net_device){ .mtu = init->mtu, .hard_header_len = init->overhead,
				      .tx_queue_len = 1000, .name = "sim0" };
	d->dev_queue.dev = &d->dev;
	for (uint32_t i = 0; i < count; i++)
		if (!set(d, &given[i])) {
			snprintf(error, 256, "has no attribute %s", given[i].name);
			free(d);
			return NULL;
		}
	d->sch = sojourn_qdisc_alloc(sojourn_discipline, &d->dev_queue);
	d->sch->handle = 0x10000;
	d->sch->parent = 0xFFFFFFFF;
	d->sch->flags |= TCQ_F_NOPARENT;
	if (!wrong && d->sch->ops->init)
		wrong = d->sch->ops->init(d->sch, options, NULL);
	for (struct hrtimer *timer = sojourn_hrtimers; timer; timer = timer->following)
		if ((s64)timer->expires < (s64)init->now) /* due before the run */
			timer->expires = init->now;
	leave(d);
	if (wrong) {
		snprintf(error, 256, "%s refuses its attributes: error %d", d->sch->ops->id, -wrong);
		return NULL;
	}
	return d;
}

/* Memory that the kernel needs for a packet of this size with Ethernet's header: data, headroom and
 * what it shares in a power of two, and the structure (`truesize`).
 */
static unsigned int memory_of(unsigned int size)
{
	return roundup_pow_of_two(size + 14 + 64 + 320) + 256;
}

static unsigned char *append(unsigned char *to, u32 number)
{
	u32 wire = htonl(number);

	memcpy(to, &wire, sizeof(wire));
	return to + sizeof(wire);
}

/* The header, with options as Linux writes them. */
static void write_tcp(struct tcphdr *tcp, const struct sojourn_packet *packet)
{
	const struct sojourn_tcp *from = &packet->tcp;
	unsigned char *option = (unsigned char *)(tcp + 1);

	tcp->source = htons(packet->ports >> 16);
	tcp->dest = htons(packet->ports);
	tcp->ack_seq = htonl(from->ack);
	if (from->options) {
		option = append(option, 0x01010000 | TCPOPT_TIMESTAMP << 8 | TCPOLEN_TIMESTAMP);
		option = append(append(option, from->sent), from->echoed);
	}
	if (from->options && from->blocks)
		option = append(option, 0x01010000 | TCPOPT_SACK << 8 |
				     (TCPOLEN_SACK_BASE + from->blocks * TCPOLEN_SACK_PERBLOCK));
	for (u32 i = 0; from->options && i < from->blocks; i++)
		option = append(append(option, from->sack[i][0]), from->sack[i][1]);
	tcp->doff = (option - (unsigned char *)tcp) / 4;
	tcp->res1 = from->flags >> 8;
	((unsigned char *)tcp)[13] = from->flags;
}

/* As a NAT of the same router leaves a packet: on its way out the source is the router, and the packet
 * knows its connection; on its way in the destination still is, and it will be known later.
 */
static void masquerade(struct sk_buff *skb)
{
	struct iphdr *ip = ip_hdr(skb);
	u32 *address = SOJOURN_MASQUERADE == MASQUERADE_SOURCE ? &ip->saddr : &ip->daddr;

	if (SOJOURN_MASQUERADE == MASQUERADE_NONE)
		return;
	skb->hidden = *address;
	*address = htonl(SOJOURN_ROUTER);
	skb->_nfct = SOJOURN_MASQUERADE == MASQUERADE_SOURCE;
}

static struct sk_buff *packet_of(struct discipline *d, const struct sojourn_packet *packet)
{
	struct sk_buff *skb = d->spare;
	struct iphdr *ip;

	if (skb)
		d->spare = skb->next;
	else
		skb = malloc(sizeof(*skb));
	memset(skb, 0, sizeof(*skb));
	skb->packet = packet->packet;
	skb->len = packet->size + d->dev.hard_header_len;
	skb->truesize = memory_of(packet->size);
	skb->dev = &d->dev;
	skb->protocol = htons(ETH_P_IP);
	skb->head = skb->data = skb->headers;
	/* Headers of Ethernet, IP and TCP; what the link counts beyond them is not there. */
	skb->network_header = min_t(u32, d->dev.hard_header_len, ETH_HLEN);
	skb->transport_header = skb->network_header + sizeof(*ip);
	skb->hash = jhash_3words(packet->ports, packet->source, packet->destination, 0);
	qdisc_pkt_len_init(skb);
	ip = ip_hdr(skb);
	ip->version = 4;
	ip->ihl = 5;
	ip->tos = packet->tos;
	ip->ttl = 64;
	ip->protocol = packet->protocol;
	ip->tot_len = htons(packet->size);
	ip->saddr = htonl(0x0a000000 | packet->source);
	ip->daddr = htonl(0x0a000000 | packet->destination);
	masquerade(skb);
	write_tcp(tcp_hdr(skb), packet);
	return skb;
}

static void enqueue(void *self, uint64_t now, const struct sojourn_packet *packet,
		    const struct sojourn_queue_listener *listener)
{
	struct discipline *d = self;
	struct sk_buff *to_free = NULL;

	enter(d, now, listener);
	d->sch->enqueue(packet_of(d, packet), d->sch, &to_free);
	kfree_skb_list(to_free);
	leave(d);
}

static uint32_t dequeue(void *self, uint64_t now, uint32_t *tos,
			const struct sojourn_queue_listener *listener)
{
	struct discipline *d = self;
	struct sk_buff *skb;
	uint32_t packet;

	enter(d, now, listener);
	d->wake_at = sojourn_wake_at = 0;
	skb = qdisc_dequeue_peeked(d->sch);
	leave(d);
	if (!skb)
		return UINT32_MAX;
	packet = skb->packet;
	*tos = ip_hdr(skb)->tos;
	forget(skb);
	return packet;
}

static u64 due(const struct timer_list *timer)
{
	u64 ticks = timer->expires - INITIAL_JIFFIES;

	return ticks * (NSEC_PER_SEC / HZ);
}

static uint64_t next_timer(const void *self)
{
	const struct discipline *d = self;
	u64 next = d->wake_at ? d->wake_at : U64_MAX;

	for (struct timer_list *timer = d->timers; timer; timer = timer->following)
		next = min(next, due(timer));
	for (struct hrtimer *timer = d->hrtimers; timer; timer = timer->following)
		next = min(next, timer->expires);
	return next;
}

static void on_timer(void *self, uint64_t now, const struct sojourn_queue_listener *listener)
{
	struct discipline *d = self;
	struct timer_list *timer, *following;
	struct hrtimer *fine, *after;

	enter(d, now, listener);
	if (sojourn_wake_at && sojourn_wake_at <= now)
		sojourn_wake_at = 0;
	for (timer = sojourn_timers; timer; timer = following) {
		following = timer->following;
		if (due(timer) <= now) {
			del_timer(timer);
			timer->function(timer);
		}
	}
	for (fine = sojourn_hrtimers; fine; fine = after) {
		after = fine->following;
		if (fine->expires <= now && fine->function(fine) == HRTIMER_NORESTART)
			hrtimer_cancel(fine);
	}
	leave(d);
}

static uint32_t full(const void *self)
{
	const struct discipline *d = self;

	return d->sch->limit && d->sch->q.qlen >= d->sch->limit;
}

static uint32_t can_bypass(const void *self)
{
	const struct discipline *d = self;

	return d->sch->flags & TCQ_F_CAN_BYPASS;
}

static void observe(const void *self, void *out, void (*tell)(void *, const char *, double))
{
	const struct discipline *d = self;

	tell(out, "qlen", d->sch->q.qlen);
	tell(out, "drops", d->sch->qstats.drops);
#ifdef SOJOURN_OBSERVE
	const SOJOURN_STATE *state = qdisc_priv(d->sch);
#define X(field) tell(out, #field, (double)state->field);
	SOJOURN_OBSERVE
#undef X
#endif
}

__attribute__((visibility("default"))) const struct sojourn_queue *sojourn_queue(void)
{
	static const struct sojourn_queue queue = {
		.abi = SOJOURN_QUEUE_ABI, .size = sizeof queue, .create = create,
		.destroy = destroy, .enqueue = enqueue, .dequeue = dequeue,
		.next_timer = next_timer, .on_timer = on_timer, .full = full,
		.can_bypass = can_bypass, .observe = observe,
	};

	return &queue;
}
