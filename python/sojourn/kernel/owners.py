"""Registers of the extended state stay in the host's process until another thread needs it: asking
for them and giving them back at each system call would be most of what a call takes.

Whose they are is known for each process of the host. What reads or writes those of a thread while
it is in the kernel says so: copies of a thread, signals, debuggers, and the end of a thread's use
of its memory. From 6.12 on.
"""

from __future__ import annotations

from sojourn.kernel.change import Change, after, before, exactly

_SINCE = (6, 12)
_WHY = "registers are asked for only when threads change"
_PROCESSES, _FRAMES = "arch/um/os-Linux/skas/process.c", "arch/x86/um/signal.c"
_DEBUGGERS = "arch/x86/um/ptrace_64.c"

#: The owner is put last, since what fails on the way ends the thread.
_OWNED = r"""
/* Brings up to date what is known of a thread's registers, wherever they are. */
void sojourn_fetch(struct mm_id *id, struct uml_pt_regs *regs)
{
	if (id->fp_of == regs && get_fp_registers(id->pid, regs->fp))
		printk(UM_KERN_ERR "%s - ptrace get fp regs failed\n", __func__);
}

/* What is known of a thread's registers is from now on all there is. */
void sojourn_drop(struct mm_id *id, struct uml_pt_regs *regs)
{
	if (id->fp_of == regs)
		id->fp_of = NULL;
}

static int sojourn_own(struct mm_id *id, struct uml_pt_regs *regs)
{
	if (id->fp_of == regs)
		return 0;
	if (id->fp_of)
		sojourn_fetch(id, id->fp_of);
	id->fp_of = NULL;
	if (put_fp_registers(id->pid, regs->fp))
		return -1;
	id->fp_of = regs;
	return 0;
}
"""
_GOT = (
    "\t\tif (get_fp_registers(pid, regs->fp)) {\n"
    '\t\t\tprintk(UM_KERN_ERR "%s -  get_fp_registers failed, errno = %d\\n",\n'
    "\t\t\t       __func__, errno);\n"
    "\t\t\tfatal_sigsegv();\n"
    "\t\t}"
)
#: Those of the thread that is looked at; User-Mode Linux looked into its own debugger's process.
_LOOKED_AT = (
    "\tint err, n, cpu = ((struct thread_info *) child->stack)->cpu;\n"
    "\tstruct user_i387_struct fpregs;\n"
    "\n"
    "\terr = save_i387_registers(userspace_pid[cpu],\n"
    "\t\t\t\t  (unsigned long *) &fpregs);\n"
    "\tif (err)\n"
    "\t\treturn err;\n"
    "\n"
    "\tn = copy_to_user(buf, &fpregs, sizeof(fpregs));"
)
_LOOKED_AT_THOSE = """\
	int n;

	if (child->mm)
		sojourn_fetch(&child->mm->context.id, &child->thread.regs.regs);
	n = copy_to_user(buf, child->thread.regs.regs.fp, sizeof(*buf));"""
_WRITTEN = (
    "\tint n, cpu = ((struct thread_info *) child->stack)->cpu;\n"
    "\tstruct user_i387_struct fpregs;\n"
    "\n"
    "\tn = copy_from_user(&fpregs, buf, sizeof(fpregs));\n"
    "\tif (n > 0)\n"
    "\t\treturn -EFAULT;\n"
    "\n"
    "\treturn restore_i387_registers(userspace_pid[cpu],\n"
    "\t\t\t\t      (unsigned long *) &fpregs);"
)
_WRITTEN_THOSE = """\
	struct uml_pt_regs *regs = &child->thread.regs.regs;
	struct user_i387_struct fpregs;

	if (copy_from_user(&fpregs, buf, sizeof(fpregs)))
		return -EFAULT;
	if (child->mm) {
		sojourn_fetch(&child->mm->context.id, regs);
		sojourn_drop(&child->mm->context.id, regs);
	}
	memcpy(regs->fp, &fpregs, sizeof(fpregs));
	regs->fp[sizeof(fpregs) / sizeof(regs->fp[0])] |= 3; /* XSAVE's: x87's, SSE's */
	return 0;"""

CHANGES = (
    Change(
        "arch/um/include/shared/skas/mm_id.h",
        exactly("struct mm_id {\n	int pid;"),
        "struct uml_pt_regs;\n\nstruct mm_id {\n"
        "	struct uml_pt_regs *fp_of; /* whose registers the process has */\n	int pid;",
        _WHY,
        since=_SINCE,
    ),
    after(
        "arch/um/include/shared/skas/skas.h",
        "extern void current_mm_sync(void);",
        "struct mm_id;\n"
        "extern void sojourn_fetch(struct mm_id *id, struct uml_pt_regs *regs);\n"
        "extern void sojourn_drop(struct mm_id *id, struct uml_pt_regs *regs);",
        _WHY,
        _SINCE,
    ),
    after(
        "arch/um/kernel/skas/mmu.c",
        "	new_id->stack = stack;",
        "	new_id->fp_of = NULL; /* it is a copy of the parent's */",
        _WHY,
        _SINCE,
    ),
    Change(
        "arch/um/kernel/skas/Makefile",
        r"^CFLAGS_stub\.o := \$\(CFLAGS_NO_HARDENING\)$",
        "CFLAGS_stub.o := $(CFLAGS_NO_HARDENING) -mgeneral-regs-only",
        _WHY,
        since=_SINCE,
    ),
    before(
        _PROCESSES,
        "void userspace(struct uml_pt_regs *regs, unsigned long *aux_fp_regs)",
        _OWNED.lstrip(),
        _WHY,
        _SINCE,
    ),
    Change(
        _PROCESSES,
        exactly("		if (put_fp_registers(pid, regs->fp)) {"),
        "		if (sojourn_own(current_mm_id(), regs)) {",
        _WHY,
        since=_SINCE,
    ),
    Change(
        _PROCESSES,
        exactly(_GOT),
        "		/* Registers of the extended state stay where they are. */",
        _WHY,
        since=_SINCE,
    ),
    # A handler may write them; who else runs while they are copied takes them for nobody's.
    before(
        _FRAMES,
        "		err = copy_from_user(regs->regs.fp, (void *)sc.fpstate,",
        "		sojourn_drop(&current->mm->context.id, &regs->regs);",
        _WHY,
        _SINCE,
    ),
    before(
        _FRAMES,
        "		if (copy_to_user(to_fp, regs->regs.fp, sizeof(regs->regs.fp)))",
        "		sojourn_fetch(&current->mm->context.id, &regs->regs);",
        _WHY,
        _SINCE,
    ),
    before(
        "arch/um/kernel/process.c",
        "	  	memcpy(&p->thread.regs.regs, current_pt_regs(),",
        "		if (current->mm)\n"
        "			sojourn_fetch(&current->mm->context.id,\n"
        "				      &current->thread.regs.regs);",
        _WHY,
        _SINCE,
    ),
    before(
        "arch/um/include/asm/mmu_context.h",
        "#define init_new_context init_new_context",
        "#define deactivate_mm deactivate_mm\n"
        "static inline void deactivate_mm(struct task_struct *tsk, struct mm_struct *mm)\n"
        "{\n"
        "	if (mm && mm->context.id.fp_of == &tsk->thread.regs.regs)\n"
        "		mm->context.id.fp_of = NULL;\n"
        "}\n",
        _WHY,
        _SINCE,
    ),
    after(_DEBUGGERS, "#include <registers.h>", "#include <skas.h>", _WHY, _SINCE),
    Change(_DEBUGGERS, exactly(_LOOKED_AT), _LOOKED_AT_THOSE, _WHY, since=_SINCE),
    Change(_DEBUGGERS, exactly(_WRITTEN), _WRITTEN_THOSE, _WHY, since=_SINCE),
)
