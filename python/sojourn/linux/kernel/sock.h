/* Sockets, as far as congestion controls look at them. */
#ifndef SOJOURN_KERNEL_SOCK_H
#define SOJOURN_KERNEL_SOCK_H

#include "list.h"
#include "math.h"
#include "module.h"

/* What a network namespace sets, at its defaults. */
struct netns_ipv4 {
	u8 sysctl_tcp_pacing_ss_ratio, sysctl_tcp_pacing_ca_ratio, sysctl_tcp_min_tso_segs;
	u8 sysctl_tcp_tso_rtt_log, sysctl_tcp_ecn, sysctl_tcp_plb_enabled, sysctl_tcp_reordering;
	u8 sysctl_tcp_no_ssthresh_metrics_save, sysctl_tcp_slow_start_after_idle, sysctl_tcp_sack;
	u32 sysctl_tcp_min_rtt_wlen, sysctl_tcp_limit_output_bytes;
};
struct net { struct netns_ipv4 ipv4; };
__weak struct net init_net = { .ipv4 = {
	.sysctl_tcp_pacing_ss_ratio = 200, .sysctl_tcp_pacing_ca_ratio = 120,
	.sysctl_tcp_min_tso_segs = 2, .sysctl_tcp_tso_rtt_log = 9, .sysctl_tcp_ecn = 1,
	.sysctl_tcp_reordering = 3, .sysctl_tcp_slow_start_after_idle = 1, .sysctl_tcp_sack = 1,
	.sysctl_tcp_min_rtt_wlen = 300, .sysctl_tcp_limit_output_bytes = 1048576,
} };

enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT, TCP_SYN_RECV, TCP_FIN_WAIT1, TCP_FIN_WAIT2,
	TCP_TIME_WAIT, TCP_CLOSE, TCP_CLOSE_WAIT, TCP_LAST_ACK, TCP_LISTEN, TCP_CLOSING };
enum sk_pacing { SK_PACING_NONE = 0, SK_PACING_NEEDED = 1, SK_PACING_FQ = 2 };

struct sock {
	unsigned char sk_state;
	u32 sk_pacing_status;
	unsigned long sk_pacing_rate; /* bytes per second */
	unsigned long sk_max_pacing_rate;
	u8 sk_pacing_shift;
	unsigned int sk_gso_max_size;
	u16 sk_gso_max_segs;
	int sk_sndbuf, sk_wmem_queued;
	u32 sk_mark, sk_priority, sk_hash, sk_txhash;
	u16 sk_family, sk_type, sk_protocol;
};
#define sock_net(sk) (&init_net)
#define sk_pacing_shift_update(sk, value) ((sk)->sk_pacing_shift = (value))
#define sk_fullsock(sk) ((sk)->sk_state != TCP_TIME_WAIT)
#define sk_rethink_txhash(sk) false

struct inet_sock {
	struct sock sk;
	u32 inet_daddr, inet_saddr, inet_rcv_saddr;
	u16 inet_dport, inet_sport;
	u8 tos;
};
#define inet_sk(socket) ((struct inet_sock *)(socket))

#define NET_INC_STATS(net, field) ((void)(net))
#define NET_ADD_STATS(net, field, value) ((void)(net), (void)(value))
#define __NET_INC_STATS(net, field) ((void)(net))

#define INET_ECN_NOT_ECT 0
#define INET_ECN_ECT_1 1
#define INET_ECN_ECT_0 2
#define INET_ECN_CE 3
#define INET_ECN_MASK 3
static inline void INET_ECN_xmit(struct sock *sk) { inet_sk(sk)->tos |= INET_ECN_ECT_0; }
static inline void INET_ECN_dontxmit(struct sock *sk) { inet_sk(sk)->tos &= ~INET_ECN_MASK; }

#define GSO_MAX_SIZE 65536u
#define GSO_LEGACY_MAX_SIZE 65536u
#define MAX_HEADER 192

#endif
