/* A control in the kernel's style, for tests: Reno that needs ECN and whose receiver echoes what each
 * packet carries; an ACK that is held back goes out before the echo changes.
 */
#include <linux/module.h>
#include <net/tcp.h>

struct mirroring {
	u32 marked;
};

static void mirroring_event(struct sock *sk, enum tcp_ca_event event)
{
	struct mirroring *ca = inet_csk_ca(sk);
	u32 marked = event == CA_EVENT_ECN_IS_CE;

	if (event != CA_EVENT_ECN_IS_CE && event != CA_EVENT_ECN_NO_CE)
		return;
	if (marked != ca->marked) {
		if (inet_csk(sk)->icsk_ack.pending & ICSK_ACK_TIMER)
			__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt);
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	ca->marked = marked;
	if (marked)
		tcp_sk(sk)->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tcp_sk(sk)->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

static u32 mirroring_windows(struct sock *sk)
{
	return 3;
}

static struct tcp_congestion_ops mirroring __read_mostly = {
	.ssthresh = tcp_reno_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.cwnd_event = mirroring_event,
	.sndbuf_expand = mirroring_windows,
	.flags = TCP_CONG_NEEDS_ECN,
	.owner = THIS_MODULE,
	.name = "mirroring",
};

static int __init mirroring_register(void)
{
	BUILD_BUG_ON(sizeof(struct mirroring) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&mirroring);
}

module_init(mirroring_register);
MODULE_LICENSE("GPL");
