"""Live runs with a control that is a BPF program."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.concurrent,
    pytest.mark.needs("bpf-compiler"),
    pytest.mark.usefixtures("kernel_controls"),
]
ROOT = Path(__file__).resolve().parents[1]
CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
SHORT = ("--set", 'duration="2 s"')


def command(*arguments: object, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    line = [*before, sys.executable, "-m", "sojourn", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built."""
    folder = tmp_path_factory.mktemp("bpf")
    shutil.copytree(ROOT / "examples" / "bpf-control", folder, dirs_exist_ok=True)
    build = ["clang", "-O2", "-g", "-target", "bpf", "-c", "gentle.bpf.c", "-o", "gentle.bpf.o"]
    subprocess.run(build, cwd=folder, check=True)
    return folder


@pytest.mark.alone
@pytest.mark.needs("live", "bpf")
def test_a_bpf_control_runs_and_is_gone_afterwards(folder: Path, tmp_path: Path) -> None:
    before = CONTROLS.read_text(encoding="utf-8")
    live = ("run", folder / "gentle.toml", "--backend", "live", *SHORT, "--out", tmp_path / "out")
    done = command(*live, "--format", "json")
    assert done.returncode == 0, done.stderr
    flows = json.loads(done.stdout)["flows"]
    assert [flow["cca"] for flow in flows] == ["gentle", "reno"]
    assert all(flow["metrics"]["mean_throughput_l4"] > 1 for flow in flows)
    assert CONTROLS.read_text(encoding="utf-8") == before


@pytest.mark.needs("live", "bpf")
def test_a_killed_run_unregisters_its_control(folder: Path, tmp_path: Path) -> None:
    line = [sys.executable, "-m", "sojourn", "run", str(folder / "gentle.toml")]
    line += ["--backend", "live", "--out", str(tmp_path / "out")]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and "gentle" not in CONTROLS.read_text(encoding="utf-8"):
            time.sleep(0.05)
        assert process.poll() is None, process.communicate()
        again = command("run", folder / "gentle.toml", "--backend", "live", "--out", tmp_path / "b")
        process.kill()
    assert again.returncode == 2
    assert "flows.0.cca.name: this kernel has a control 'gentle' already" in again.stderr
    until = time.monotonic() + 10
    while "gentle" in CONTROLS.read_text(encoding="utf-8") and time.monotonic() < until:
        time.sleep(0.05)
    assert "gentle" not in CONTROLS.read_text(encoding="utf-8")


@pytest.mark.needs("bpf", "user-namespaces")
def test_a_user_namespace_loads_none(folder: Path, tmp_path: Path) -> None:
    inside = ("unshare", "--user", "--map-root-user")
    live = ("run", folder / "gentle.toml", "--backend", "live", *SHORT, "--out", tmp_path / "out")
    done = command(*live, before=inside)
    assert done.returncode == 2
    assert "a user namespace cannot" in done.stderr


def test_the_simulator_says_where_it_runs(folder: Path, tmp_path: Path) -> None:
    done = command("run", folder / "gentle.toml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "--backend live" in done.stderr


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ('flows.0.cca.object="nothing.o"', "cca.object"),
        ('flows.0.cca.name="a-name-of-twenty-bytes"', "cca.name"),
        ("flows.0.cca.beta=1", "a BPF program has no parameters"),
        ('flows.0.cca={ kind = "bpf", object = "gentle.toml" }', "cca.name: is missing"),
    ],
)
def test_a_wrong_table_is_refused(folder: Path, change: str, told: str) -> None:
    done = command("run", folder / "gentle.toml", "--backend", "live", "--set", change)
    assert done.returncode == 2
    assert told in done.stderr


@pytest.mark.needs("bpf")
def test_what_is_no_such_object_is_refused(folder: Path, tmp_path: Path) -> None:
    change = ("--set", f'flows.0.cca.object="{folder / "gentle.toml"}"', "--out", tmp_path / "out")
    done = command("run", folder / "gentle.toml", "--backend", "live", *change)
    assert done.returncode == 2
    assert "flows.0.cca.object" in done.stderr
