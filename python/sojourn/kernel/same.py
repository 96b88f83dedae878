"""The same kernel wherever it is built and installed: what else would enter its random numbers, or
tell programs of the machine; and memory that does not depend on how much a container allows.
"""

from __future__ import annotations

from sojourn.kernel.change import Change, before, exactly

#: Who built a kernel, when and how often is part of its name, which is in its random numbers.
STAMPS = (
    "KBUILD_BUILD_TIMESTAMP=Thu Jan 1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER=sojourn",
    "KBUILD_BUILD_HOST=sojourn",
    "KBUILD_BUILD_VERSION=1",
    "LOCALVERSION=",
)

_ARCH, _MEMORY = "arch/um/kernel/um_arch.c", "arch/um/os-Linux/mem.c"
#: The kernel mixes its command line, where the paths of an installation are, into its random
#: numbers; it has been copied when options are read, and every command line has a root.
_UNMIXED = r"""
static int __init sojourn_unmixed(char *root)
{
	memset(command_line, 0, sizeof(command_line));
	return 0;
}
early_param("root", sojourn_unmixed);
"""
_UNNAMED_FILE = """\
	fd = syscall(__NR_memfd_create, "sojourn-memory", 1 /* MFD_CLOEXEC */);
	if (fd >= 0)
		return fd;
"""
_TOLD = '	os_info("Checking PROT_EXEC mmap in %s...", tempdir);'

CHANGES = (
    before(
        _ARCH,
        "static void __init add_arg(char *arg)",
        _UNMIXED.lstrip(),
        "random numbers do not depend on where the kernel and its first process are",
    ),
    Change(
        _ARCH,
        exactly(r'	seq_printf(m, "host\t\t: %s\n", host_info);'),
        r'	seq_printf(m, "host\t\t: sojourn\n");',
        "the machine's name is not told",
    ),
    before(
        _MEMORY,
        "	if (tempdir == NULL) {\n		tempdir = choose_tempdir();",
        _UNNAMED_FILE,
        "memory is not in /dev/shm, which containers keep small",
    ),
    before(
        _MEMORY,
        "#include <init.h>",
        "#include <sys/syscall.h>",
        "memory is not in /dev/shm, which containers keep small",
    ),
    Change(
        _MEMORY,
        exactly(_TOLD),
        _TOLD.replace("tempdir", 'tempdir ? tempdir : "memory"'),
        "memory is not in /dev/shm, which containers keep small",
    ),
)
