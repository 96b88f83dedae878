/* TCP: a connection's state, what its congestion control is called for, and what that may call. */
#ifndef SOJOURN_KERNEL_TCP_H
#define SOJOURN_KERNEL_TCP_H

#include "sock.h"
#include "sk_buff.h"

enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };
#define TCPF_CA_Open (1 << TCP_CA_Open)
#define TCPF_CA_Disorder (1 << TCP_CA_Disorder)
#define TCPF_CA_CWR (1 << TCP_CA_CWR)
#define TCPF_CA_Recovery (1 << TCP_CA_Recovery)
#define TCPF_CA_Loss (1 << TCP_CA_Loss)

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
};
enum tcp_ca_ack_event_flags {
	CA_ACK_SLOWPATH = 1,
	CA_ACK_WIN_UPDATE = 2,
	CA_ACK_ECE = 4,
	CA_ACK_ESCE = 8, /* of `chromi/sce` */
};

#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_INIT_CWND 10
#define TCP_MIN_MSS 88U
#define TCP_MSS_DEFAULT 536U
#define MAX_TCP_HEADER L1_CACHE_ALIGN(128 + MAX_HEADER)
#define TCP_RTO_MAX ((unsigned int)(120 * HZ))
#define TCP_RTO_MIN ((unsigned int)(HZ / 5))
#define TCP_TIMEOUT_INIT ((unsigned int)(1 * HZ))
#define TCP_TS_HZ 1000
#define TCP_ECN_OK 1
#define TCP_ECN_QUEUE_CWR 2
#define TCP_ECN_DEMAND_CWR 4
#define TCP_ECN_SEEN 8
#define TCP_NUM_SACKS 4
#define TCP_CA_NAME_MAX 16
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_NEEDS_ECN 2
enum { INET_DIAG_NONE, INET_DIAG_MEMINFO, INET_DIAG_INFO, INET_DIAG_VEGASINFO, INET_DIAG_CONG,
	INET_DIAG_DCTCPINFO = 9, INET_DIAG_BBRINFO = 16 };
enum { ICSK_ACK_SCHED = 1, ICSK_ACK_TIMER = 2, ICSK_ACK_PUSHED = 4, ICSK_ACK_PUSHED2 = 8,
	ICSK_ACK_NOW = 16, ICSK_ACK_NOMEM = 32 };

struct tcpvegas_info { u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt; };
struct tcp_dctcp_info {
	u16 dctcp_enabled, dctcp_ce_state;
	u32 dctcp_alpha, dctcp_ab_ecn, dctcp_ab_tot;
};
struct tcp_bbr_info {
	u32 bbr_bw_lo, bbr_bw_hi, bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain;
};
union tcp_cc_info {
	struct tcpvegas_info vegas;
	struct tcp_dctcp_info dctcp;
	struct tcp_bbr_info bbr;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight; /* bytes */
};

struct rate_sample {
	u64 prior_mstamp;
	u32 prior_delivered, prior_delivered_ce;
	s32 delivered, delivered_ce;
	long interval_us;
	u32 snd_interval_us, rcv_interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked, prior_in_flight, last_end_seq;
	bool is_app_limited, is_retrans, is_ack_delayed;
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*min_tso_segs)(struct sock *sk);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
#else
	void (*cong_control)(struct sock *sk, const struct rate_sample *rs);
#endif
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	size_t (*get_info)(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info);
	char name[TCP_CA_NAME_MAX];
	struct module *owner;
	struct list_head list;
	u32 key, flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	u8 icsk_ca_state;
	u8 icsk_ca_initialized : 1, icsk_ca_setsockopt : 1, icsk_ca_dst_locked : 1;
	u8 icsk_retransmits, icsk_backoff;
	u32 icsk_rto, icsk_rto_min;
	struct { u8 pending, quick, pingpong, retry; u32 ato; u16 rcv_mss; } icsk_ack;
	u64 icsk_ca_priv[104 / sizeof(u64)];
};
#define ICSK_CA_PRIV_SIZE sizeof_field(struct inet_connection_sock, icsk_ca_priv)

struct tcp_options_received {
	int ts_recent_stamp;
	u32 ts_recent, rcv_tsval, rcv_tsecr;
	u16 saw_tstamp : 1, tstamp_ok : 1, dsack : 1, wscale_ok : 1, sack_ok : 3;
	u8 snd_wscale, rcv_wscale, num_sacks;
	u16 user_mss, mss_clamp;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u16 tcp_header_len, gso_segs, advmss;
	u64 bytes_received, bytes_sent, bytes_acked, bytes_retrans;
	u32 segs_in, data_segs_in, segs_out, data_segs_out, total_retrans;
	u32 rcv_nxt, copied_seq, rcv_wup, rcv_wnd, rcv_tstamp;
	u32 snd_nxt, snd_una, snd_sml, snd_wnd, max_window, write_seq, pushed_seq;
	u32 lsndtime, mss_cache;
	u8 rate_app_limited : 1, is_sack_reneg : 1, frto : 1, is_cwnd_limited : 1, syn_data : 1,
		syn_data_acked : 1, ecn_flags_unused : 2;
	u32 tlp_high_seq;
	u64 tcp_wstamp_ns, tcp_clock_cache, tcp_mstamp;
	u32 srtt_us, mdev_us, mdev_max_us, rttvar_us, rtt_seq;
	struct minmax rtt_min;
	u32 packets_out, retrans_out, lost_out, sacked_out, max_packets_out, cwnd_usage_seq;
	u8 ecn_flags;
	u32 reordering, reord_seen;
	struct tcp_options_received rx_opt;
	u32 snd_ssthresh, snd_cwnd, snd_cwnd_cnt, snd_cwnd_clamp, snd_cwnd_used, snd_cwnd_stamp;
	u32 prior_cwnd, prior_ssthresh, prr_delivered, prr_out;
	u32 delivered, delivered_ce, lost, app_limited;
	u64 first_tx_mstamp, delivered_mstamp;
	u32 rate_delivered, rate_interval_us;
	u32 high_seq, retrans_stamp, undo_marker;
	int undo_retrans;
};

#define tcp_sk(socket) ((struct tcp_sock *)(socket))
#define inet_csk(socket) ((struct inet_connection_sock *)(socket))
static inline void *inet_csk_ca(const struct sock *sk) { return (void *)inet_csk(sk)->icsk_ca_priv; }

#define before(a, b) ((s32)((u32)(a) - (u32)(b)) < 0)
#define after(a, b) before(b, a)
#define between(a, low, high) ((u32)(high) - (u32)(low) >= (u32)(a) - (u32)(low))

#define tcp_jiffies32 ((u32)jiffies)
#define tcp_clock_ns() ktime_get_ns()
#define tcp_clock_us() (tcp_clock_ns() / NSEC_PER_USEC)
#define tcp_clock_ms() (tcp_clock_ns() / NSEC_PER_MSEC)
#define tcp_time_stamp(tp) ((u32)((tp)->tcp_mstamp / (USEC_PER_SEC / TCP_TS_HZ)))
#define tcp_time_stamp_ts(tp) tcp_time_stamp(tp)
#define tcp_time_stamp_ms(tp) tcp_time_stamp(tp)
#define tcp_time_stamp_raw() ((u32)tcp_clock_ms())
#define tcp_mstamp_refresh(tp) ((void)(tp))
static inline u32 tcp_stamp_us_delta(u64 later, u64 earlier)
{
	return (s64)(later - earlier) > 0 ? (s64)(later - earlier) : 0;
}

static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp) { return tp->snd_cwnd; }
static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 cwnd) { tp->snd_cwnd = cwnd; }
static inline u32 tcp_min_rtt(const struct tcp_sock *tp) { return minmax_get(&tp->rtt_min); }
static inline bool tcp_in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}
static inline bool tcp_in_initial_slowstart(const struct tcp_sock *tp)
{
	return tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH;
}
static inline unsigned int tcp_left_out(const struct tcp_sock *tp)
{
	return tp->sacked_out + tp->lost_out;
}
static inline unsigned int tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tcp_left_out(tp) + tp->retrans_out;
}
static inline bool tcp_in_cwnd_reduction(const struct sock *sk)
{
	return (TCPF_CA_CWR | TCPF_CA_Recovery) & (1 << inet_csk(sk)->icsk_ca_state);
}
static inline u32 tcp_current_ssthresh(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tcp_in_cwnd_reduction(sk)
		? tp->snd_ssthresh
		: max(tp->snd_ssthresh, (tp->snd_cwnd >> 1) + (tp->snd_cwnd >> 2));
}
static inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->is_cwnd_limited ||
	       (tcp_in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out);
}
static inline u32 tcp_init_cwnd(const struct tcp_sock *tp, const void *route) { return TCP_INIT_CWND; }
#define tcp_is_sack(tp) true
#define tcp_is_reno(tp) false
#define tcp_ca_needs_ecn(sk) (inet_csk(sk)->icsk_ca_ops->flags & TCP_CONG_NEEDS_ECN)
#define tcp_needs_internal_pacing(sk) ((sk)->sk_pacing_status == SK_PACING_NEEDED)
#define tcp_reserve_header 0
#define tcp_skb_pcount(skb) 1
#define tcp_wnd_end(tp) ((tp)->snd_una + (tp)->snd_wnd)

/* Grows by one segment per delivered one up to the threshold; gives those left over. */
static inline u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 grown = min(tp->snd_cwnd + acked, tp->snd_ssthresh);
	u32 left = acked - (grown - tp->snd_cwnd);

	tp->snd_cwnd = min(grown, tp->snd_cwnd_clamp);
	return left;
}

/* Grows by one segment per `per` delivered ones. */
static inline void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 per, u32 acked)
{
	u32 cwnd = tp->snd_cwnd;

	if (tp->snd_cwnd_cnt >= per) { /* credit of a larger `per` */
		tp->snd_cwnd_cnt = 0;
		cwnd++;
	}
	tp->snd_cwnd_cnt += acked;
	if (tp->snd_cwnd_cnt >= per) {
		cwnd += tp->snd_cwnd_cnt / per;
		tp->snd_cwnd_cnt %= per;
	}
	tp->snd_cwnd = min(cwnd, tp->snd_cwnd_clamp);
}

static inline u32 tcp_reno_ssthresh(struct sock *sk) { return max(tcp_sk(sk)->snd_cwnd / 2, 2U); }
static inline u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}
static inline void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

/* What the module has registered; the first is the one that runs. */
__weak struct tcp_congestion_ops *sojourn_registered;
static inline int tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	if (!sojourn_registered)
		sojourn_registered = ops;
	return 0;
}
#define tcp_unregister_congestion_control(ops) ((void)(ops))

/* Begins a reduction as an ECN echo does; the sender follows after the ACK. */
__weak bool sojourn_reduces;
static inline void tcp_enter_cwr(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->prior_ssthresh = 0;
	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR)
		return;
	tp->snd_cwnd_cnt = 0;
	tp->prior_cwnd = tp->snd_cwnd;
	tp->snd_ssthresh = inet_csk(sk)->icsk_ca_ops->ssthresh(sk);
	sojourn_reduces = true;
}

/* Of receivers, only the echo of marks is the module's. */
__weak bool sojourn_acknowledges;
#define __tcp_send_ack(sk, ...) ((void)(sk), sojourn_acknowledges = true)
static inline void tcp_send_ack(struct sock *sk) { }
static inline void tcp_enter_quickack_mode(struct sock *sk, unsigned int max) { }
static inline void inet_csk_enter_pingpong_mode(struct sock *sk) { }

/* Questions to BPF programs, of which there are none. */
enum { BPF_SOCK_OPS_BASE_RTT = 7 };
static inline int tcp_call_bpf(struct sock *sk, int op, u32 count, u32 *args) { return -1; }
static inline int tcp_bpf_rtt(struct sock *sk) { return 0; }

/* Path changes on congestion, which are off unless a host switches them on. */
#define TCP_PLB_SCALE 8
struct tcp_plb_state { u8 consec_cong_rounds : 5, unused : 3; u32 pause_until; };
static inline void tcp_plb_init(const struct sock *sk, struct tcp_plb_state *plb) { }
static inline void tcp_plb_update_state(const struct sock *sk, struct tcp_plb_state *plb, int ratio) { }
static inline void tcp_plb_check_rehash(struct sock *sk, struct tcp_plb_state *plb) { }
static inline void tcp_plb_update_state_upon_rto(struct sock *sk, struct tcp_plb_state *plb) { }

#endif
