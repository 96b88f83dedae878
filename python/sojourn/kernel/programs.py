"""What programs of any kind need of a kernel in virtual time, from 6.12 on: that their calls take
time, that the processor's counter tells it, that the calendar knows who runs, and what is lacked.
"""

from __future__ import annotations

from sojourn.kernel.change import Change, after, before, exactly

_SINCE = (6, 12)
_TIME, _CALLS = "arch/um/kernel/time.c", "arch/um/kernel/skas/syscall.c"
_TRAPS, _PROCESSES = "arch/um/kernel/trap.c", "arch/um/os-Linux/skas/process.c"

_COSTS = "a system call of a program takes time"
#: Without a cost, a program that waits by asking again and again would stop all time.
_COST = r"""
#include <linux/nsproxy.h>
#include <linux/utsname.h>

/* What a system call of a program costs, in ns; with 0 nothing is done for programs. */
unsigned long sojourn_cost;

static int __init sojourn_cost_setup(char *text)
{
	return kstrtoul(text, 10, &sojourn_cost) == 0;
}
__setup("sojourn_cost=", sojourn_cost_setup);

/* The first process is the laboratory's own. */
void sojourn_charge(void)
{
	if (sojourn_cost && time_travel_mode == TT_MODE_EXTERNAL &&
		task_tgid_nr(current) != 1)
		time_travel_update_time_rel(sojourn_cost);
}

unsigned long long sojourn_now(void)
{
	return time_travel_time;
}

/* Who runs, in what the calendar's page has reserved: it names who never stops. */
struct sojourn_running {
	u32 process;
	char name[TASK_COMM_LEN];
	char host[32];
};

void sojourn_runs(struct task_struct *task)
{
	struct sojourn_running *running;

	if (!time_travel_shm)
		return;
	running = (void *)(time_travel_shm_client->reserve + 32);
	running->process = task_tgid_nr(task);
	memcpy(running->name, task->comm, sizeof(running->name));
	strscpy(running->host,
		task->nsproxy ? task->nsproxy->uts_ns->name.nodename : "",
		sizeof(running->host));
}
"""
_DECLARED = """
struct task_struct;
extern unsigned long sojourn_cost;
extern void sojourn_charge(void);
extern unsigned long long sojourn_now(void);
extern void sojourn_runs(struct task_struct *task);"""

#: Told once for each number; a program that ended in failure may have needed it. The C library asks
#: for restartable sequences whenever a program starts, and does without.
_LACKED = r"""
static void sojourn_called(struct pt_regs *regs)
{
	static DECLARE_BITMAP(told, 1024);
	long number = PT_REGS_SYSCALL_NR(regs);

	if (PT_REGS_SYSCALL_RET(regs) == -ENOSYS && sojourn_cost &&
		number >= 0 && number < 1024 && number != __NR_rseq &&
		!test_and_set_bit(number, told))
		printk(KERN_NOTICE "sojourn: lacks %ld %s\n", number, current->comm);
	sojourn_charge();
}
"""
_COUNTER = "the processor's counter of cycles tells virtual time"
_EMULATED = r"""
/* RDTSC and RDTSCP trap, and tell virtual ns. */
static bool sojourn_counter(struct faultinfo *fi, struct uml_pt_regs *regs)
{
	unsigned long long now;
	unsigned char code[3];
	void __user *ip = (void __user *)UPT_IP(regs);

	if (!sojourn_cost || fi->trap_no != 13 || copy_from_user(code, ip, 2) ||
		code[0] != 0x0f)
		return false;
	if (code[1] == 0x31) {
		UPT_IP(regs) += 2;
	} else {
		if (code[1] != 0x01 || copy_from_user(code + 2, ip + 2, 1) ||
			code[2] != 0xf9)
			return false;
		UPT_IP(regs) += 3;
		regs->gp[HOST_CX] = 0; /* the processor's number */
	}
	sojourn_charge();
	now = sojourn_now();
	regs->gp[HOST_AX] = now & 0xffffffff;
	regs->gp[HOST_DX] = now >> 32;
	return true;
}
"""
_KNOWN = "the calendar knows who runs"

CHANGES = (
    after(
        "arch/um/include/shared/kern_util.h",
        "void kasan_map_memory(void *start, size_t len);",
        _DECLARED,
        _COSTS,
        _SINCE,
    ),
    before(_TIME, "void time_travel_ndelay(unsigned long nsec)", _COST.lstrip(), _COSTS, _SINCE),
    before(_CALLS, "void handle_syscall(struct uml_pt_regs *r)", _LACKED.lstrip(), _COSTS, _SINCE),
    Change(
        _CALLS,
        exactly("out:\n	syscall_trace_leave(regs);"),
        "out:\n	sojourn_called(regs);\n	syscall_trace_leave(regs);",
        _COSTS,
        since=_SINCE,
    ),
    before(
        _TRAPS,
        "/**\n * segv_handler() - the SIGSEGV handler",
        _EMULATED.lstrip(),
        _COUNTER,
        _SINCE,
    ),
    before(
        _TRAPS,
        "	if (UPT_IS_USER(regs) && !SEGV_IS_FIXABLE(fi)) {",
        "	if (UPT_IS_USER(regs) && sojourn_counter(fi, regs))\n		return;",
        _COUNTER,
        _SINCE,
    ),
    after(_PROCESSES, "#include <sys/mman.h>", "#include <sys/prctl.h>", _COUNTER, _SINCE),
    # Of the kernel, too, from which a program's process has it: where only one of two traps, each
    # change between them has to set the processor, which takes longer than all else of a call.
    before(
        _PROCESSES,
        "	/* clone into new userspace process */",
        "	if (sojourn_cost)\n		prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);\n",
        _COUNTER,
        _SINCE,
    ),
    after(
        "arch/um/kernel/process.c",
        "	to->thread.prev_sched = from;\n	set_current(to);",
        "	sojourn_runs(to);",
        _KNOWN,
        _SINCE,
    ),
    after(
        "arch/um/kernel/exec.c", "#include <mem_user.h>", "#include <kern_util.h>", _KNOWN, _SINCE
    ),
    after(
        "arch/um/kernel/exec.c",
        "	PT_REGS_SP(regs) = esp;",
        "	sojourn_runs(current);",
        _KNOWN,
        _SINCE,
    ),
)
