// Reno that keeps four fifths of its window when packets are lost, as a BPF program of Linux.
//
//     clang -O2 -g -target bpf -c gentle.bpf.c -o gentle.bpf.o
//
// The structures name only what is used: the loader finds the fields in the running kernel by name.

typedef unsigned int u32;
typedef unsigned long long u64;

#define SECTION(name) __attribute__((section(name), used))
#define OF_KERNEL __attribute__((preserve_access_index))
#define KERNEL_FUNCTION __attribute__((section(".ksyms")))

struct sock {
} OF_KERNEL;

struct tcp_sock {
	u32 snd_cwnd;
} OF_KERNEL;

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
};

extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) KERNEL_FUNCTION;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) KERNEL_FUNCTION;

SECTION("struct_ops/gentle_ssthresh")
u32 gentle_ssthresh(u64 *arguments)
{
	struct tcp_sock *tp = (struct tcp_sock *)arguments[0];
	u32 kept = tp->snd_cwnd * 4 / 5;

	return kept > 2 ? kept : 2;
}

SECTION("struct_ops/gentle_cong_avoid")
void gentle_cong_avoid(u64 *arguments)
{
	tcp_reno_cong_avoid((struct sock *)arguments[0], arguments[1], arguments[2]);
}

SECTION("struct_ops/gentle_undo_cwnd")
u32 gentle_undo_cwnd(u64 *arguments)
{
	return tcp_reno_undo_cwnd((struct sock *)arguments[0]);
}

// With .link the registration ends with the process that made it.
SECTION(".struct_ops.link")
struct tcp_congestion_ops gentle = {
	.ssthresh = (void *)gentle_ssthresh,
	.cong_avoid = (void *)gentle_cong_avoid,
	.undo_cwnd = (void *)gentle_undo_cwnd,
	.name = "gentle",
};

char _license[] SECTION("license") = "GPL";
