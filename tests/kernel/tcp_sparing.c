/* A control in the kernel's style, for tests: Reno that leaves slow start at `ceiling` segments, cuts
 * to `keep` percent, and counts what it is called for.
 */
#include <linux/module.h>
#include <net/tcp.h>

static int ceiling __read_mostly = 64;
module_param(ceiling, int, 0644);
MODULE_PARM_DESC(ceiling, "segments at which slow start ends");
static unsigned int keep __read_mostly = 70;
module_param(keep, uint, 0644);
MODULE_PARM_DESC(keep, "percent of the window that a loss leaves");

static u32 percent_scale __read_mostly;

struct sparing {
	u32 acked;
	u32 marks;
	u32 states;
	u32 lowest_rtt;
	u8 flags : 4;
};

static void sparing_init(struct sock *sk)
{
	struct sparing *ca = inet_csk_ca(sk);

	memset(ca, 0, sizeof(*ca));
	ca->lowest_rtt = ~0U;
	tcp_sk(sk)->snd_ssthresh = ceiling;
}

static u32 sparing_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)) * keep / percent_scale, 2U);
}

static void sparing_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct sparing *ca = inet_csk_ca(sk);

	ca->acked += sample->pkts_acked;
	if (sample->rtt_us > 0)
		ca->lowest_rtt = min(ca->lowest_rtt, (u32)sample->rtt_us);
}

static void sparing_ack_event(struct sock *sk, u32 flags)
{
	struct sparing *ca = inet_csk_ca(sk);

	ca->marks += !!(flags & CA_ACK_ECE);
}

static void sparing_state(struct sock *sk, u8 state)
{
	struct sparing *ca = inet_csk_ca(sk);

	ca->states |= 1 << state;
}

static struct tcp_congestion_ops sparing __read_mostly = {
	.init = sparing_init,
	.ssthresh = sparing_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.pkts_acked = sparing_acked,
	.in_ack_event = sparing_ack_event,
	.set_state = sparing_state,
	.owner = THIS_MODULE,
	.name = "sparing",
};

static int __init sparing_register(void)
{
	BUILD_BUG_ON(sizeof(struct sparing) > ICSK_CA_PRIV_SIZE);
	percent_scale = 100;
	return tcp_register_congestion_control(&sparing);
}

static void __exit sparing_unregister(void)
{
	tcp_unregister_congestion_control(&sparing);
}

module_init(sparing_register);
module_exit(sparing_unregister);
MODULE_LICENSE("GPL");
