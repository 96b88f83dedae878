/* A congestion control of the kernel as one of Sojourn's: the module's source, unchanged, and what
 * calls it in the kernel's order. SOJOURN_SOURCE is its file, SOJOURN_LINUX the version of the
 * interface, HZ the ticks of its clock; SOJOURN_STATE the structure of its private state, and
 * SOJOURN_OBSERVE the fields of it that are shown, each as X(field).
 */
#include SOJOURN_SOURCE

#include "tcp.h"
#include "params.h"
#include "sojourn_cca.h"

struct connection {
	struct tcp_sock tp; /* first: a socket's address is the connection's */
	struct sojourn_random random;
	u32 mss;
	bool reduces; /* the module wants a reduction, whose threshold it has chosen */
	bool ack_first; /* at a receiver: the module has sent an ACK of what came before */
};

#define SEQUENCE(c, segment) ((u32)((segment) * (c)->mss + 1))
#define MICROSECONDS(ns) ((u32)((ns) / NSEC_PER_USEC))

static const struct tcp_congestion_ops *ops_of(const struct connection *c)
{
	return c->tp.inet_conn.icsk_ca_ops;
}

static void enter(struct connection *c, u64 now)
{
	sojourn_now = now;
	sojourn_random = &c->random;
	c->tp.tcp_mstamp = now / NSEC_PER_USEC;
	c->tp.tcp_clock_cache = now;
}

static void tell(struct connection *c, enum tcp_ca_event event)
{
	if (ops_of(c)->cwnd_event)
		ops_of(c)->cwnd_event((struct sock *)&c->tp, event);
}

/* The rate that a socket would be paced at if somebody did (`tcp_update_pacing_rate`). */
static void update_pacing_rate(struct connection *c)
{
	const struct netns_ipv4 *settings = &init_net.ipv4;
	struct sock *sk = (struct sock *)&c->tp;
	struct tcp_sock *tp = &c->tp;
	u64 rate = (u64)tp->mss_cache * (USEC_PER_SEC / 100 << 3);

	rate *= tp->snd_cwnd < tp->snd_ssthresh / 2 ? settings->sysctl_tcp_pacing_ss_ratio
						    : settings->sysctl_tcp_pacing_ca_ratio;
	rate *= max(tp->snd_cwnd, tp->packets_out);
	if (tp->srtt_us)
		rate /= tp->srtt_us;
	sk->sk_pacing_rate = min_t(u64, rate, sk->sk_max_pacing_rate);
}

static void *create(const struct sojourn_init *init, const double *values)
{
	struct connection *c;
	struct tcp_sock *tp;
	struct sock *sk;

	sojourn_now = init->now;
	if (!sojourn_params_set(values))
		return NULL;
	c = calloc(1, sizeof(*c));
	sojourn_random_seed(&c->random, init->seed);
	c->mss = init->mss;
	tp = &c->tp;
	sk = (struct sock *)tp;
	sk->sk_state = TCP_ESTABLISHED;
	sk->sk_pacing_status = init->paced ? SK_PACING_FQ : SK_PACING_NONE;
	sk->sk_pacing_rate = sk->sk_max_pacing_rate = ~0UL;
	sk->sk_pacing_shift = 10;
	/* 64 KiB less the room for headers (`sk_setup_caps`). */
	sk->sk_gso_max_size = GSO_MAX_SIZE - (MAX_TCP_HEADER + 1);
	sk->sk_gso_max_segs = 65535;
	INET_ECN_xmit(sk);
	tp->mss_cache = tp->advmss = init->mss;
	tp->snd_cwnd = init->initial_window;
	tp->snd_cwnd_clamp = ~0;
	tp->snd_ssthresh = init->initial_ssthresh;
	tp->snd_una = tp->snd_nxt = SEQUENCE(c, 0);
	tp->ecn_flags = TCP_ECN_OK;
	tp->reordering = init_net.ipv4.sysctl_tcp_reordering;
	tp->app_limited = ~0U;
	minmax_reset(&tp->rtt_min, 0, ~0U);
	tp->rx_opt.tstamp_ok = tp->rx_opt.sack_ok = 1;
	tp->inet_conn.icsk_ca_ops = sojourn_registered;
	tp->inet_conn.icsk_rto = TCP_TIMEOUT_INIT;
	/* The other end sends no data, from which its size would be learnt (`tcp_initialize_rcv_mss`). */
	tp->inet_conn.icsk_ack.rcv_mss = min_t(u32, init->mss, TCP_MSS_DEFAULT);
	enter(c, init->now);
	return c;
}

static void destroy(void *self)
{
	struct connection *c = self;

	sojourn_random = &c->random;
	if (c->tp.inet_conn.icsk_ca_initialized && ops_of(c)->release)
		ops_of(c)->release(self);
	free(c);
}

static void on_established(void *self, uint64_t now, uint64_t rtt)
{
	struct connection *c = self;

	enter(c, now);
	c->tp.snd_cwnd_stamp = tcp_jiffies32;
	if (ops_of(c)->init)
		ops_of(c)->init(self);
	c->tp.inet_conn.icsk_ca_initialized = 1;
}

/* Takes over what the sender shows. */
static void mirror(struct connection *c, const struct sojourn_view *view)
{
	struct tcp_sock *tp = &c->tp;

	tp->inet_conn.icsk_ca_state = view->state;
	/* During a reduction the window is proportional rate reduction's. */
	if (tcp_in_cwnd_reduction((struct sock *)tp) && !ops_of(c)->cong_control)
		tp->snd_cwnd = view->cwnd;
	tp->snd_una = SEQUENCE(c, view->una);
	tp->snd_nxt = tp->write_seq = SEQUENCE(c, view->next);
	tp->bytes_acked = (u64)view->una * c->mss;
	tp->packets_out = view->packets_out;
	tp->sacked_out = view->sacked_out;
	tp->lost_out = view->lost_out;
	tp->retrans_out = view->retrans_out;
	tp->reordering = view->reordering;
	tp->max_packets_out = view->max_packets_out;
	tp->is_cwnd_limited = view->cwnd_limited;
	tp->delivered = view->delivered;
	tp->delivered_ce = view->delivered_ce;
	tp->lost = view->lost;
	tp->app_limited = view->app_limited;
	tp->delivered_mstamp = view->delivered_at / NSEC_PER_USEC;
	tp->first_tx_mstamp = view->first_sent_at / NSEC_PER_USEC;
	tp->srtt_us = (view->srtt << 3) / NSEC_PER_USEC;
	tp->mdev_us = (view->mdev << 2) / NSEC_PER_USEC;
	tp->rttvar_us = MICROSECONDS(view->rttvar);
	if (view->min_rtt != SOJOURN_NEVER)
		minmax_reset(&tp->rtt_min, tcp_jiffies32, max(MICROSECONDS(view->min_rtt), 1U));
	tp->inet_conn.icsk_rto = nsecs_to_jiffies(view->rto);
	tp->lsndtime = nsecs_to_jiffies(view->last_sent_at) + INITIAL_JIFFIES;
	tp->tcp_wstamp_ns = view->departs_at;
	tp->rx_opt.rcv_tsecr = view->echo / NSEC_PER_MSEC;
	tp->rx_opt.rcv_tsval = view->peer_sent_at / NSEC_PER_MSEC;
}

static void measured(struct connection *c, const struct sojourn_view *view)
{
	const struct tcp_congestion_ops *ops = ops_of(c);
	struct ack_sample sample = {
		.pkts_acked = view->cum_acked,
		.rtt_us = view->rtt == SOJOURN_NEVER ? -1 : max(MICROSECONDS(view->rtt), 1U),
		.in_flight = view->ack_in_flight * c->mss,
	};
	u32 flags = (view->slow_path ? CA_ACK_SLOWPATH : 0) | (view->ece ? CA_ACK_ECE : 0) |
		    (view->esce ? CA_ACK_ESCE : 0) | (view->window_update ? CA_ACK_WIN_UPDATE : 0);

	if (ops->pkts_acked)
		ops->pkts_acked((struct sock *)&c->tp, &sample);
	if (ops->in_ack_event)
		ops->in_ack_event((struct sock *)&c->tp, flags);
}

static void set_state(struct connection *c, u8 state)
{
	if (ops_of(c)->set_state)
		ops_of(c)->set_state((struct sock *)&c->tp, state);
	c->tp.inet_conn.icsk_ca_state = state;
}

/* At a receiver: ECN-capable data has come. */
static void arrived(struct connection *c, const struct sojourn_view *view)
{
	struct inet_connection_sock *icsk = &c->tp.inet_conn;

	c->tp.rcv_nxt = SEQUENCE(c, view->next);
	icsk->icsk_ack.pending = view->ack_held ? ICSK_ACK_SCHED | ICSK_ACK_TIMER : 0;
	c->tp.ecn_flags &= ~TCP_ECN_DEMAND_CWR;
	if (view->echoes)
		c->tp.ecn_flags |= TCP_ECN_DEMAND_CWR;
	sojourn_acknowledges = false;
	tell(c, view->ce ? CA_EVENT_ECN_IS_CE : CA_EVENT_ECN_NO_CE);
	c->ack_first = sojourn_acknowledges;
}

static void on_step(void *self, uint64_t now, const struct sojourn_view *view)
{
	enter(self, now);
	if (view->step == SOJOURN_STEP_ARRIVAL) {
		arrived(self, view);
		return;
	}
	mirror(self, view);
	if (view->step == SOJOURN_STEP_MEASURED)
		measured(self, view);
	else if (view->step == SOJOURN_STEP_STATE)
		set_state(self, view->next_state);
}

static void on_ack(void *self, uint64_t now, const struct sojourn_ack *ack)
{
	struct connection *c = self;
	struct rate_sample rs = {
		.prior_mstamp = ack->rate_valid ? (now - ack->rate_interval) / NSEC_PER_USEC : 0,
		.prior_delivered = ack->prior_delivered,
		.prior_delivered_ce = ack->prior_delivered_ce,
		.delivered = ack->rate_valid ? (s32)ack->rate_delivered : -1,
		.delivered_ce = ack->rate_valid ? (s32)(ack->delivered_ce - ack->prior_delivered_ce) : -1,
		.interval_us = ack->rate_valid ? (long)MICROSECONDS(ack->rate_interval) : -1,
		.snd_interval_us = ack->rate_valid ? MICROSECONDS(ack->rate_interval) : 0,
		.rcv_interval_us = ack->rate_valid ? MICROSECONDS(ack->rate_interval) : 0,
		.rtt_us = ack->rtt == SOJOURN_NEVER ? -1 : max(MICROSECONDS(ack->rtt), 1U),
		.losses = ack->lost,
		.acked_sacked = ack->acked,
		.prior_in_flight = ack->prior_in_flight,
		.last_end_seq = c->tp.snd_una,
		.is_app_limited = ack->rate_app_limited,
		.is_retrans = ack->rate_retransmitted,
		.is_ack_delayed = ack->ack_delayed,
	};

	if (ops_of(c)->cong_control) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
		int flag = (ack->cum_acked ? 0x404 : 0) | (ack->acked > ack->cum_acked ? 0x20 : 0) |
			   (ack->ece ? 0x40 : 0); /* as in tcp_input.c */

		ops_of(c)->cong_control(self, c->tp.snd_una, flag, &rs);
#else
		ops_of(c)->cong_control(self, &rs);
#endif
		return;
	}
	if (!tcp_in_cwnd_reduction(self) && ack->may_grow) {
		sojourn_reduces = false;
		ops_of(c)->cong_avoid(self, c->tp.snd_una, ack->acked);
		c->reduces = sojourn_reduces;
		c->tp.snd_cwnd_stamp = tcp_jiffies32;
	}
	update_pacing_rate(c);
}

static void on_congestion(void *self, uint64_t now, const struct sojourn_event *event)
{
	struct connection *c = self;
	struct tcp_sock *tp = &c->tp;

	enter(c, now);
	switch (event->kind) {
	case SOJOURN_EVENT_LOSS:
	case SOJOURN_EVENT_ECN:
		tp->snd_cwnd_cnt = 0;
		if (!c->reduces)
			tp->snd_ssthresh = ops_of(c)->ssthresh(self);
		c->reduces = false;
		break;
	case SOJOURN_EVENT_RTO:
		if (event->reduce) {
			tp->snd_ssthresh = ops_of(c)->ssthresh(self);
			tell(c, CA_EVENT_LOSS);
		}
		tp->snd_cwnd = event->cwnd;
		tp->snd_cwnd_cnt = 0;
		tp->snd_cwnd_stamp = tcp_jiffies32;
		set_state(c, TCP_CA_Loss);
		break;
	case SOJOURN_EVENT_REDUCTION_END:
		tp->snd_cwnd = event->cwnd;
		tp->snd_cwnd_stamp = tcp_jiffies32;
		tell(c, CA_EVENT_COMPLETE_CWR);
		break;
	case SOJOURN_EVENT_TX_START:
		tell(c, CA_EVENT_TX_START);
		break;
	case SOJOURN_EVENT_RESTART:
		tell(c, CA_EVENT_CWND_RESTART);
		tp->snd_ssthresh = event->ssthresh;
		tp->snd_cwnd = event->cwnd;
		tp->snd_cwnd_stamp = tcp_jiffies32;
		break;
	}
}

static void on_sent(void *self, uint64_t now, const struct sojourn_sent *sent)
{
	struct connection *c = self;

	c->tp.segs_out++;
	c->tp.data_segs_out++;
	c->tp.bytes_sent += c->mss;
	c->tp.total_retrans += sent->retransmission;
	c->tp.bytes_retrans += sent->retransmission ? c->mss : 0;
}

static void save(void *self)
{
	struct connection *c = self;

	sojourn_random = &c->random;
	c->tp.prior_cwnd = c->tp.snd_cwnd;
	c->tp.prior_ssthresh = tcp_current_ssthresh(self);
}

static void undo(void *self, uint64_t now)
{
	struct connection *c = self;

	enter(c, now);
	c->tp.snd_cwnd = ops_of(c)->undo_cwnd(self);
	c->tp.snd_ssthresh = max(c->tp.snd_ssthresh, c->tp.prior_ssthresh);
	c->tp.snd_cwnd_stamp = tcp_jiffies32;
}

/* Segments that leave as one, where the module says the fewest (`tcp_tso_autosize`). */
static u32 burst(struct connection *c)
{
	const struct netns_ipv4 *settings = &init_net.ipv4;
	struct sock *sk = (struct sock *)&c->tp;
	u64 bytes = sk->sk_pacing_rate >> sk->sk_pacing_shift;
	u32 near = tcp_min_rtt(&c->tp) >> settings->sysctl_tcp_tso_rtt_log;

	if (near < 32)
		bytes += sk->sk_gso_max_size >> near;
	bytes = min_t(u64, bytes, sk->sk_gso_max_size);
	return max_t(u32, bytes / c->mss, ops_of(c)->min_tso_segs(sk));
}

static void decide(const void *self, struct sojourn_decision *decision)
{
	struct connection *c = (struct connection *)self;
	const struct sock *sk = self;

	decision->cwnd = max(c->tp.snd_cwnd, 1U);
	decision->ssthresh = max(c->tp.snd_ssthresh, 1U);
	decision->reduces = c->reduces;
	decision->owns_recovery = ops_of(c)->cong_control != NULL;
	if (sk->sk_pacing_rate != ~0UL &&
	    (decision->owns_recovery || tcp_needs_internal_pacing(sk)))
		decision->pacing_rate = max(sk->sk_pacing_rate, 1UL) * 8;
	if (ops_of(c)->min_tso_segs && sk->sk_pacing_rate != ~0UL)
		decision->burst = burst(c);
	if (ops_of(c)->sndbuf_expand)
		decision->send_windows = ops_of(c)->sndbuf_expand((struct sock *)sk);
	decision->follows_arrivals = (ops_of(c)->flags & TCP_CONG_NEEDS_ECN) && ops_of(c)->cwnd_event;
	decision->echoes = !!(c->tp.ecn_flags & TCP_ECN_DEMAND_CWR);
	decision->ack_first = c->ack_first;
	decision->ack_now = !!(c->tp.inet_conn.icsk_ack.pending & ICSK_ACK_NOW);
}

static void observe(const void *self, void *out, sojourn_tell tell)
{
#ifdef SOJOURN_OBSERVE
	const SOJOURN_STATE *state = inet_csk_ca(self);
#define X(field) tell(out, #field, (double)state->field);
	SOJOURN_OBSERVE
#undef X
#endif
}

__attribute__((visibility("default"))) const struct sojourn_control *sojourn_cca(void)
{
	static struct sojourn_control control = {
		.abi = SOJOURN_CCA_ABI, .size = sizeof control,
		.create = create, .destroy = destroy, .on_ack = on_ack,
		.on_congestion = on_congestion, .decide = decide, .on_established = on_established, .on_sent = on_sent,
		.save = save, .undo = undo, .observe = observe, .on_step = on_step,
	};

#ifdef SOJOURN_NEEDS_ECN
	control.ecn = SOJOURN_ECN_CLASSIC;
#endif
	control.params = sojourn_params_described(&control.param_count);
	return &control;
}
