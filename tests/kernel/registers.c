/*
 * Whether a kernel keeps the registers of programs: each of several threads fills all registers of
 * the extended state with numbers of its own, lets something happen that may switch threads, take
 * a signal or a page, or make a process, and compares. A thread's registers are nobody else's.
 *
 * As the first process of a kernel it tells the kernel's log how many differed, and powers off;
 * as any other it tells standard output, and ends with status 1 if any did.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 1500, AREA = 16384, PAGE = 4096 };
/* x87, SSE, AVX, opmask, both parts of AVX-512. */
static const unsigned long WANTED = 0xe7;
static const unsigned FIRST_COMPONENT = 2, BEYOND_COMPONENTS = 8;

#define VECTORS                                                                                    \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",   \
		"xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

static unsigned long mask;
static unsigned offset[8], size[8];
static char *self;
static atomic_long checked, different;
static int futex_word;
static char *clobbering; /* a state of which nothing may be left after a signal */

struct state {
	_Alignas(64) unsigned char bytes[AREA];
};

/* What happens while the registers are full; read by the assembly below by its offsets. */
struct job {
	struct state *in, *out;
	unsigned long mask;
	long call, arguments[6];
	volatile char *touched;
	long result, spins;
	const char *program;
	char **words;
};

_Static_assert(offsetof(struct job, words) == 112, "the assembly knows the offsets");

static void happen(struct job *job)
{
	static const unsigned usual = 0x1f80;

	__asm__ volatile(
		"mov 16(%%rbx), %%rax\n\t"
		"xor %%edx, %%edx\n\t"
		"mov 0(%%rbx), %%rcx\n\t"
		"xrstor64 (%%rcx)\n\t"
		/* processor time, in which others may be given the processor */
		"mov 96(%%rbx), %%rcx\n"
		"1:\n\t"
		"dec %%rcx\n\tjns 1b\n\t"
		"mov 24(%%rbx), %%rax\n\t"
		"mov 32(%%rbx), %%rdi\n\t"
		"mov 40(%%rbx), %%rsi\n\t"
		"mov 48(%%rbx), %%rdx\n\t"
		"mov 56(%%rbx), %%r10\n\t"
		"mov 64(%%rbx), %%r8\n\t"
		"mov 72(%%rbx), %%r9\n\t"
		"syscall\n\t"
		/* the child of vfork may do nothing but become another program */
		"test %%rax, %%rax\n\t"
		"jnz 2f\n\t"
		"cmpq $58, 24(%%rbx)\n\t"
		"jne 2f\n\t"
		"mov $59, %%eax\n\t"
		"mov 104(%%rbx), %%rdi\n\t"
		"mov 112(%%rbx), %%rsi\n\t"
		"xor %%edx, %%edx\n\t"
		"syscall\n\t"
		"ud2\n"
		"2:\n\t"
		"mov 80(%%rbx), %%rcx\n\t"
		"incb (%%rcx)\n\t"
		"mov %%rax, 88(%%rbx)\n\t"
		"mov 16(%%rbx), %%rax\n\t"
		"xor %%edx, %%edx\n\t"
		"mov 8(%%rbx), %%rcx\n\t"
		"xsave64 (%%rcx)\n\t"
		"fninit\n\t"
		"ldmxcsr %[usual]\n\t"
		:
		: "b"(job), [usual] "m"(usual)
		: "rax", "rcx", "rdx", "rdi", "rsi", "r8", "r9", "r10", "r11", "memory", "cc",
		  VECTORS);
}

static void learn(void)
{
	unsigned a, b, c, d, low, high;

	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	mask = WANTED & low;
	for (unsigned i = FIRST_COMPONENT; i < BEYOND_COMPONENTS; i++)
		if (mask >> i & 1 && __get_cpuid_count(13, i, &a, &b, &c, &d)) {
			size[i] = a;
			offset[i] = b;
		}
}

static uint32_t next(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	return *seed ^= *seed << 5;
}

static void fill(struct state *state, uint32_t *seed)
{
	unsigned char *bytes = state->bytes;
	uint32_t mxcsr = 0x1f80 | (next(seed) & 3) << 13, limit = ~0u;

	memset(bytes, 0, AREA);
	for (int i = 32; i < 416; i++) /* x87's registers, in 10 bytes of 16 each; SSE's */
		if (i >= 160 || i % 16 < 10)
			bytes[i] = next(seed);
	memcpy(bytes, &(uint16_t){(0x37f & ~(3 << 10)) | (next(seed) & 3) << 10}, 2);
	bytes[4] = 0xff; /* all of x87's are in use */
	memcpy(bytes + 24, &mxcsr, 4);
	memcpy(bytes + 28, &limit, 4);
	memcpy(bytes + 512, &mask, 8);
	for (unsigned i = FIRST_COMPONENT; i < BEYOND_COMPONENTS; i++)
		for (unsigned k = 0; k < size[i]; k++)
			bytes[offset[i] + k] = next(seed);
}

static int differs(const struct state *in, const struct state *out)
{
	const unsigned char *a = in->bytes, *b = out->bytes;
	int found = memcmp(a, b, 2) || memcmp(a + 24, b + 24, 4) || memcmp(a + 160, b + 160, 256);

	for (int i = 0; i < 8; i++)
		found |= !!memcmp(a + 32 + 16 * i, b + 32 + 16 * i, 10);
	for (unsigned i = FIRST_COMPONENT; i < BEYOND_COMPONENTS; i++)
		found |= !!memcmp(a + offset[i], b + offset[i], size[i]);
	return found;
}

/* Leaves nothing of the registers. */
static void on_signal(int number)
{
	(void)number;
	__asm__ volatile("xrstor64 (%2)\n\tfninit" ::"a"((unsigned)mask), "d"(0), "r"(clobbering)
			 : "memory", VECTORS);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	mprotect((void *)((uintptr_t)info->si_addr & -PAGE), PAGE, PROT_READ | PROT_WRITE);
	on_signal(number);
}

/* One of what may happen; returns the process that has to be waited for. */
static void choose(struct job *job, uint32_t *seed, const int pipes[2], char *page, char *byte)
{
	static const struct timespec moment = {.tv_nsec = 1000};

	job->call = SYS_sched_yield;
	job->touched = byte;
	job->spins = next(seed) % 4 ? 0 : next(seed) % 200000;
	memset(job->arguments, 0, sizeof(job->arguments));
#define CALL(number, ...)                                                                          \
	job->call = number, memcpy(job->arguments, (long[]){__VA_ARGS__}, sizeof((long[]){__VA_ARGS__}))
	switch (next(seed) % 24) {
	case 0 ... 1: CALL(SYS_futex, (long)&futex_word, FUTEX_WAIT, 0, (long)&moment); break;
	case 2 ... 3: CALL(SYS_futex, (long)&futex_word, FUTEX_WAKE, THREADS); break;
	case 4 ... 5: CALL(SYS_write, pipes[1], (long)byte, 1); break;
	case 6 ... 7: CALL(SYS_read, pipes[0], (long)byte, 1); break;
	case 8: CALL(SYS_nanosleep, (long)&moment, 0); break;
	case 9 ... 10: /* a page that is not there yet */
		madvise(page, PAGE, MADV_DONTNEED);
		job->touched = page;
		break;
	case 11: /* a page that may not be written, until its signal is handled */
		mprotect(page, PAGE, PROT_READ);
		job->touched = page;
		break;
	case 12 ... 13: CALL(SYS_tgkill, getpid(), gettid(), SIGUSR1); break;
	case 14: CALL(next(seed) % 8 ? SYS_getpid : SYS_fork, 0); break;
	case 15: CALL(next(seed) % 8 ? SYS_getpid : SYS_vfork, 0); break;
	case 16: CALL(1023, 0); break; /* which the kernel has not */
	}
}

static void round_of(struct job *job, uint32_t *seed, const int pipes[2], char *page, int number)
{
	static char byte[THREADS + 1];
	int status, process = getpid();

	fill(job->in, seed);
	memset(job->out, 0, sizeof(*job->out));
	choose(job, seed, pipes, page, byte + number);
	happen(job);
	int differed = differs(job->in, job->out);
	if (job->call == SYS_fork && getpid() != process)
		_exit(differed);
	checked++;
	different += differed;
	if ((job->call == SYS_fork || job->call == SYS_vfork) && job->result > 0)
		if (waitpid(job->result, &status, 0) != job->result || status != 0)
			different++;
}

static void *thread(void *number)
{
	struct state *states = aligned_alloc(64, 2 * sizeof(*states));
	char *words[] = {self, "again", NULL};
	uint32_t seed = 2463534242u + 7919 * (int)(intptr_t)number;
	struct job job = {states, states + 1, mask, .program = self, .words = words};
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int pipes[2];

	sigaltstack(&stack, NULL);
	if (pipe2(pipes, O_NONBLOCK))
		abort();
	for (int i = 0; i < ROUNDS; i++)
		round_of(&job, &seed, pipes, page, (int)(intptr_t)number);
	return NULL;
}

static int again(void)
{
	static struct state states[2];
	uint32_t seed = getpid();
	struct job job = {.in = states, .out = states + 1, .mask = mask, .call = SYS_sched_yield};
	int found = 0;

	job.touched = (char *)&job.spins; /* one more */
	for (int i = 0; i < 10; i++) {
		fill(job.in, &seed);
		happen(&job);
		found += differs(job.in, job.out);
	}
	return found != 0;
}

static int tell(void)
{
	char text[96];
	int length = snprintf(text, sizeof(text), "registers %#lx: %ld checks, %ld differences\n", mask,
			      atomic_load(&checked), atomic_load(&different));
	int log = STDOUT_FILENO;

	if (getpid() == 1 && !mount("devtmpfs", "/dev", "devtmpfs", 0, ""))
		log = open("/dev/kmsg", O_WRONLY);
	return write(log, text, length) != length || different != 0;
}

int main(int count, char **words)
{
	struct sigaction handled = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct itimerval often = {{0, 1000}, {0, 1000}};
	static struct state state;
	pthread_t threads[THREADS];
	uint32_t seed = 1;

	self = words[0];
	learn();
	if (count > 1 && !strcmp(words[1], "again"))
		return again();
	fill(&state, &seed);
	clobbering = (char *)state.bytes;
	sigaction(SIGUSR1, &handled, NULL);
	sigaction(SIGALRM, &handled, NULL);
	sigaction(SIGSEGV, &fault, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	int status = tell();
	if (getpid() == 1)
		reboot(RB_POWER_OFF);
	return status;
}
