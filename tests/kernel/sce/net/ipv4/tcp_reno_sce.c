/* Stands for the control of the same name in tests, in the kernel's style: Reno that gives up one
 * segment for every ACK with SCE echo.
 */
#include <linux/module.h>
#include <net/tcp.h>

struct yielding { u32 echoes, peer_mss, remembered; };

static void yielding_init(struct sock *sk)
{
	struct yielding *ca = inet_csk_ca(sk);

	ca->echoes = 0;
	ca->peer_mss = inet_csk(sk)->icsk_ack.rcv_mss;
	ca->remembered = tcp_sk(sk)->snd_ssthresh;
}

static void yielding_ack(struct sock *sk, u32 flags)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct yielding *ca = inet_csk_ca(sk);

	if (!(flags & CA_ACK_ESCE))
		return;
	ca->echoes++;
	tp->snd_cwnd = max(tp->snd_cwnd - 1, 2U);
}

static struct tcp_congestion_ops yielding __read_mostly = {
	.init = yielding_init,
	.in_ack_event = yielding_ack,
	.ssthresh = tcp_reno_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.owner = THIS_MODULE,
	.name = "yielding",
};

static int __init yielding_register(void)
{
	return tcp_register_congestion_control(&yielding);
}
module_init(yielding_register);
