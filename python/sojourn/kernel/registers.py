"""All registers of a program that the host's kernel tells, with AVX, AVX-512 and protection keys:
User-Mode Linux otherwise loses some where the host has more than it expects, and in each signal.
"""

from __future__ import annotations

from sojourn.kernel.change import Change, after, before, exactly

_WHY = "all registers of programs"
_HOST, _FRAMES = "arch/x86/um/os-Linux/registers.c", "arch/x86/um/signal.c"

#: The host tells as much as is asked for, but takes back only registers of its own whole length,
#: which with AMX is beyond what a thread has room for. The rest is AMX's, which programs inside do
#: not get; it stays zero.
_LENGTH = r"""
static unsigned char sojourn_host_regs[16384] __attribute__((aligned(64)));
static size_t sojourn_host_length;

static void *sojourn_whole(unsigned long *fp_regs)
{
	if (sojourn_host_length <= FP_SIZE * sizeof(unsigned long))
		return fp_regs;
	memcpy(sojourn_host_regs, fp_regs, FP_SIZE * sizeof(unsigned long));
	return sojourn_host_regs;
}
"""
_RESTORED = """\
		iov.iov_base = fp_regs;
		iov.iov_len = FP_SIZE * sizeof(unsigned long);
		if (ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &iov) < 0)"""
_RESTORED_WHOLE = """\
		iov.iov_base = sojourn_whole(fp_regs);
		iov.iov_len = sojourn_host_length;
		if (ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &iov) < 0)"""
_ASKED = """\
	void * fp_regs;
	struct iovec iov;

	fp_regs = malloc(FP_SIZE * sizeof(unsigned long));
	if(fp_regs == NULL)
		return;

	iov.iov_base = fp_regs;
	iov.iov_len = FP_SIZE * sizeof(unsigned long);
	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov) == 0)
		have_xstate_support = 1;

	free(fp_regs);"""
_ASKED_LENGTH = """\
	struct iovec iov = {
		.iov_base = sojourn_host_regs,
		.iov_len = sizeof(sojourn_host_regs),
	};

	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov) == 0 &&
		iov.iov_len < sizeof(sojourn_host_regs)) {
		have_xstate_support = 1;
		sojourn_host_length = iov.iov_len;
	} else {
		os_warn("sojourn: registers of %d bytes: no room\\n", (int)iov.iov_len);
	}
	memset(sojourn_host_regs, 0, sizeof(sojourn_host_regs));"""

#: A frame of a signal: the registers above it, aligned as XSAVE has them, below the red zone.
_FRAME = """\
	frame = (struct rt_sigframe __user *)
		round_down(stack_top - sizeof(struct rt_sigframe), 16);
	/* Subtract 128 for a red zone and 8 for proper alignment */
	frame = (struct rt_sigframe __user *) ((unsigned long) frame - 128 - 8);

	if (!access_ok(frame, sizeof(*frame)))"""
_FRAME_WHOLE = """\
	fp_to = round_down(stack_top - 128 - FP_SIZE * sizeof(unsigned long), 64);
	frame = (struct rt_sigframe __user *)
		(round_down(fp_to - sizeof(struct rt_sigframe), 16) - 8);

	if (!access_ok(frame, stack_top - (unsigned long) frame))"""
_SAVED = (
    "\terr |= copy_sc_to_user(&frame->uc.uc_mcontext, &frame->fpstate, regs,\n"
    "\t\t\t       set->sig[0]);\n\n"
    "\tfp_to = (unsigned long)&frame->fpstate;"
)
_SAVED_WHOLE = (
    "\terr |= copy_sc_to_user(&frame->uc.uc_mcontext,\n"
    "\t\t\t       (struct _xstate __user *)fp_to, regs,\n"
    "\t\t\t       set->sig[0]);"
)

CHANGES = (
    after(_HOST, "#include <stdlib.h>", "#include <string.h>\n#include <os.h>", _WHY),
    before(
        _HOST,
        "int save_i387_registers(int pid, unsigned long *fp_regs)",
        _LENGTH.lstrip(),
        _WHY,
    ),
    Change(_HOST, exactly(_RESTORED), _RESTORED_WHOLE, _WHY),
    Change(_HOST, exactly(_ASKED), _ASKED_LENGTH, _WHY),
    Change(
        _FRAMES,
        exactly(
            "		err = copy_from_user(regs->regs.fp, (void *)sc.fpstate,\n"
            "				     sizeof(struct _xstate));"
        ),
        "		err = copy_from_user(regs->regs.fp, (void *)sc.fpstate,\n"
        "				     sizeof(regs->regs.fp));",
        _WHY,
    ),
    Change(
        _FRAMES,
        exactly("		if (copy_to_user(to_fp, regs->regs.fp, sizeof(struct _xstate)))"),
        "		if (copy_to_user(to_fp, regs->regs.fp, sizeof(regs->regs.fp)))",
        _WHY,
    ),
    Change(
        _FRAMES,
        exactly(
            "	struct ucontext uc;\n	struct siginfo info;\n	struct _xstate fpstate;\n};"
        ),
        "	struct ucontext uc;\n	struct siginfo info;\n};",
        _WHY,
    ),
    Change(_FRAMES, exactly(_FRAME), _FRAME_WHOLE, _WHY),
    Change(_FRAMES, exactly(_SAVED), _SAVED_WHOLE, _WHY),
)
