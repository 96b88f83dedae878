"""Sweeps on Slurm: one node, which the test starts, where Debian's packages are installed."""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from capabilities import DAEMONS
from conftest import TWO_FLOWS, Command
from sojourn.executors import addresses
from sojourn.store.batches import Batches
from test_cluster_doors import client_of, refuse_strangers, shared_places

SWEEP = TWO_FLOWS + '[sweep]\n[sweep.grid]\n"flows.0.cca" = ["reno", "vegas", "cubic"]\n'
CONFIGURATION = """
ClusterName=sojourn
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} RealMemory=4000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment in which commands see the node."""
    place = tmp_path_factory.mktemp("slurm")
    place.chmod(0o755)
    for name in ("state", "spool"):
        (place / name).mkdir()
    ports = [free_port() for _ in range(2)]
    settings = {"place": place, "host": socket.gethostname(), "user": getpass.getuser()}
    settings |= {"controller": ports[0], "daemon": ports[1], "processors": os.cpu_count()}
    (place / "slurm.conf").write_text(CONFIGURATION.format(**settings), encoding="utf-8")
    (place / "munge.key").write_bytes(secrets.token_bytes(1024))
    (place / "munge.key").chmod(0o600)
    files = {"socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    munge = ["munged", "--foreground", "--force", f"--key-file={place}/munge.key"]
    munge += [f"--{option}={place}/munge.{ending}" for option, ending in files.items()]
    environment = os.environ | {"PATH": DAEMONS, "SLURM_CONF": str(place / "slurm.conf")}
    with contextlib.ExitStack() as stack:
        for command in (munge, ["slurmctld", "-D"], ["slurmd", "-D"]):
            stack.enter_context(running(command, environment))
            time.sleep(0.5)
        wait_until_idle(environment)
        yield environment


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


@contextlib.contextmanager
def running(command: list[str], environment: dict[str, str]) -> Iterator[None]:
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def wait_until_idle(environment: dict[str, str]) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        asked = ["sinfo", "--noheader", "--format=%t"]
        told = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
        if told.stdout.strip() == "idle":
            return
        time.sleep(0.2)
    pytest.fail(f"Slurm does not start here: {told.stdout}{told.stderr}")


@pytest.mark.concurrent
@pytest.mark.needs("slurm")
def test_a_sweep_runs_in_jobs(slurm: dict[str, str], sojourn: Command, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    options = ("sweep", "sweep.toml", "--format", "csv")
    there = sojourn(*options, "--cluster", "slurm", "--out", "there", env=slurm)
    assert there.returncode == 0, there.stderr
    here = sojourn(*options, "--out", "here")
    assert here.returncode == 0, here.stderr
    assert rows(tmp_path / "there").equals(rows(tmp_path / "here"))


@pytest.mark.concurrent
@pytest.mark.needs("slurm")
def test_jobs_have_certificates(
    slurm: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where a job writes its output
    for name in ("PATH", "SLURM_CONF"):
        monkeypatch.setenv(name, slurm[name])
    with addresses.connected("slurm", 1) as cluster:
        refuse_strangers(cluster)
        client = client_of(cluster)
        client.wait_for_workers(1, timeout=60)
        assert not shared_places(client)


def rows(directory: Path) -> pl.DataFrame:
    whole = Batches(directory, pytest.fail).ask(lambda rows: rows.drop("wall_seconds").collect())
    assert whole is not None
    return whole.sort("point", "scope", "id")
