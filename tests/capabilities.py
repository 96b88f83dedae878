"""What a machine may lack that tests need, and how it is found out.

A test says what it needs with ``@pytest.mark.needs("site")``. Where that is lacking, and
nowhere else, `conftest.py` skips it, and says so. As a program this prints the names of what is
there, which tests in Rust get as ``SOJOURN_REQUIRE``: who needs it fails in place of being skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

#: What is lacking, in words; empty where nothing is.
Probe = Callable[[], str]

KERNEL_SOURCES = Path("/usr/src/linux-source-6.1.tar.xz")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
#: Daemons are not in everyone's PATH.
DAEMONS = f"{os.environ['PATH']}:/usr/sbin:/sbin"

#: Opens a TUN device of no particular name: ioctl TUNSETIFF with IFF_TUN | IFF_NO_PI.
_TUN = """
import fcntl, struct
with open("/dev/net/tun", "r+b", buffering=0) as device:
    fcntl.ioctl(device, 0x400454CA, struct.pack("16sH22x", b"", 0x1001))
"""


#: Two network namespaces that `ip` knows, joined by a link.
_JOINED = """
set -e
PATH=$PATH:/usr/sbin:/sbin
mount -t tmpfs tmpfs /var/run
ip netns add a
ip netns add b
ip -n a link add link0 type veth peer name link0 netns b
"""


def succeeds(*command: str) -> Probe:
    """A command that does here what tests do."""

    def probe() -> str:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError:
            return f"no {command[0]}"
        told = done.stderr.strip().splitlines() or [f"{command[0]} failed"]
        return told[-1] if done.returncode else ""

    return probe


def programs(*names: str, package: str) -> Probe:
    """Programs that have to be there, all of them."""

    def probe() -> str:
        missing = [name for name in names if not shutil.which(name, path=DAEMONS)]
        return f"no {', '.join(missing)} (Debian: {package})" if missing else ""

    return probe


def where(there: bool, lack: str) -> Probe:
    """What is known at once."""
    return lambda: "" if there else lack


def _bpf() -> str:
    """Controls that are BPF programs: libraries when the core is built, root, the kernel's part."""
    if lack := succeeds("pkg-config", "--exists", "--print-errors", "libelf", "zlib")():
        return lack
    types = Path("/sys/kernel/btf/vmlinux")
    whole = ["0", "0", str(2**32 - 1)]
    if os.geteuid() or Path("/proc/self/uid_map").read_text(encoding="utf-8").split() != whole:
        return "not root of the whole machine"
    if not types.exists() or b"bpf_struct_ops_tcp_congestion_ops" not in types.read_bytes():
        return "this kernel takes no congestion controls that are BPF programs"
    return ""


def _slurm() -> str:
    if os.geteuid():
        return "slurmd needs root"
    package = "slurmctld, slurmd, slurm-client, munge"
    return programs("munged", "slurmctld", "slurmd", "sbatch", "sinfo", package=package)()


def _site() -> str:
    """The documentation's site, and a browser to look at pages with."""
    missing = [
        name for name in ("sphinx", "playwright", "axe_playwright_python") if not find_spec(name)
    ]
    if missing:
        return f"no {', '.join(missing)} (make site)"
    return "" if BROWSER else "no chromium (Debian: chromium)"


def _virtual_kernel(wanted: str = "") -> str:
    from sojourn.backends.kernel import On
    from sojourn.errors import ScenarioError

    try:
        On(wanted)
    except ScenarioError as error:
        return str(error)
    return ""


def _wasm() -> str:
    asked = "from tools.playground import compilers as c; print('' if c.found() else c.LACK)"
    command = [sys.executable, "-c", asked]
    root = Path(__file__).parents[1]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


def overlay_nodes() -> Path | None:
    """The program ``sojourn-gnat``, as tests in Rust or ``make nodes`` have built it last."""
    target = Path(__file__).parents[1] / "target"
    built = [
        path for kind in ("debug", "release") if (path := target / kind / "sojourn-gnat").exists()
    ]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


CAPABILITIES: dict[str, Probe] = {
    "linux": where(sys.platform == "linux", "another system"),
    # A network namespace of its own and a TUN device in it.
    "live": succeeds("unshare", "--net", "--", sys.executable, "-c", _TUN),
    # Network namespaces that are joined, as a deployment of overlay nodes has them.
    "namespaces": succeeds("unshare", "-Urnm", "sh", "-c", _JOINED),
    "nodes": lambda: "" if overlay_nodes() else "no target/*/sojourn-gnat (make nodes)",
    "user-namespaces": succeeds("unshare", "--user", "--map-root-user", "--", "true"),
    "fewer-rights": succeeds("setpriv", "--bounding-set=-sys_admin", "--", "true"),
    "mount": succeeds("unshare", "--mount", "--", "mount", "-t", "tmpfs", "tmpfs", "/tmp"),
    "bpf": _bpf,
    "compiler": programs("gcc", package="gcc"),
    "bpf-compiler": succeeds("clang", "-target", "bpf", "-fsyntax-only", "-xc", "/dev/null"),
    "aioquic": where(find_spec("aioquic") is not None, "it is not installed"),
    # Pages in a browser that a test drives, and whether everybody can use them.
    "cargo": programs("cargo", package="cargo"),
    # Programs are built from it.
    "crates": succeeds("cargo", "info", "--quiet", "quinn"),
    "curl": programs("curl", package="curl"),
    "iperf3": programs("iperf3", package="iperf3"),
    "node": programs("node", package="nodejs"),
    "nginx": programs("nginx", package="nginx"),
    "openssl": programs("openssl", package="openssl"),
    "systemd-analyze": programs("systemd-analyze", package="systemd"),
    "tc": programs("tc", package="iproute2"),
    "tshark": programs("tshark", package="tshark"),
    "site": _site,
    "kernel-sources": where(
        KERNEL_SOURCES.exists(), f"no {KERNEL_SOURCES} (Debian: linux-source-6.1)"
    ),
    "virtual-kernel": _virtual_kernel,
    "older-kernel": partial(_virtual_kernel, "6.1"),
    "wasm": _wasm,
    "slurm": _slurm,
    "notebooks": where(
        all(find_spec(name) for name in ("nbclient", "ipykernel")),
        "the extra `site` is not installed",
    ),
    "graphillion": where(find_spec("graphillion") is not None, "it is not installed"),
    "oldest-python": where(sys.version_info[:2] == (3, 11), "this is a later Python"),
}


@cache
def lacking(name: str) -> str:
    """What this machine lacks for a capability, in words; empty where it is there."""
    return CAPABILITIES[name]()


def present() -> str:
    """The names of all capabilities that are there."""
    return " ".join(name for name in CAPABILITIES if not lacking(name))


if __name__ == "__main__":
    print(present())
