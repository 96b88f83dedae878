/* The first process of a kernel: has a program tell the kernel's log what its calls cost. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { CALLS = 1000, UNKNOWN = 1000 };

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void tell(const char *who)
{
	char text[128];
	unsigned number;
	long long began = now();

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	long long took = now() - began;
	unsigned long long first = __rdtsc(), second = __rdtscp(&number);
	int length = snprintf(text, sizeof(text), "%s: took %lld, %llu then %llu, now %lld\n", who, took,
			      first, second, now());
	int log = open("/dev/kmsg", O_WRONLY);

	if (write(log, text, length) != length)
		_exit(1);
}

int main(void)
{
	mount("devtmpfs", "/dev", "devtmpfs", 0, "");
	if (fork() == 0) {
		sethostname("sender", 6);
		syscall(UNKNOWN);
		tell("program");
		usleep(1);
		for (;;)
			; /* for ever, as programs that wait for memory to change */
	}
	tell("first");
	wait(NULL);
}
