"""Clusters by name: a scheduler's address, ``local:N``, ``slurm``."""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import forkserver, resource_tracker
from typing import TYPE_CHECKING

from sojourn.errors import ScenarioError, SojournError
from sojourn.executors import Executor, threads
from sojourn.interruption import entire

if TYPE_CHECKING:
    from distributed import Client

EXPECTED = "the address of a Dask scheduler such as tcp://host:8786, or local:N, or slurm"
#: Of an address that takes certificates.
_TLS = "tls://"
_EXTRA = "needs the optional packages: pip install 'sojourn[cluster]'"
#: For a scheduler's answer, s.
_PATIENCE = 10
#: Jobs of a batch system, unless told how many.
_MOST_JOBS = 100
#: Of such a job, unless dask-jobqueue's configuration says otherwise.
_JOB: dict[str, int | str] = {"cores": 1, "processes": 1, "memory": "2 GB"}
#: A thread each is what a run takes.
_THREADS = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
_WORKER: dict[str, object] = {
    "distributed.nanny.pre-spawn-environ": _THREADS,
    # What Dask looks at all the time would cost a few percent.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "30s",
    "distributed.admin.system-monitor.interval": "10s",
    # Workers are forked from a process that has imported everything, instead of each importing it.
    "distributed.worker.multiprocessing-method": "forkserver",
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.target": False,
    # By HTTP they would tell whoever asks what they do: it knows no certificates.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
#: Where Dask has its files: in a directory for all users unless it is told.
_PLACE = "temporary-directory"
#: The same where a job runs.
_PROLOGUE = ("export TMPDIR=$(mktemp -d)", "trap 'rm -rf \"$TMPDIR\"' EXIT")
#: Where jobs of Slurm read their certificates, unless dask-jobqueue's configuration says otherwise:
#: the home directory is there wherever they run.
_SHARED = "~"
#: Of the scheduler of jobs of Slurm, likewise; dask-jobqueue would have a dashboard for everybody.
_SCHEDULER: dict[str, object] = {"dashboard": False, "dashboard_address": None}


@contextmanager
def connected(address: str | None, jobs: int | None) -> Iterator[Executor]:
    """The workers that ``address`` names, while they are needed: threads if it is ``None``.

    Raises:
        ScenarioError: if it names none, if no scheduler answers, or the optional packages are not
            installed.

    """
    if address is None:
        yield threads.execute
        return
    opened = _opened(address, jobs)
    try:
        import cryptography  # noqa: F401  (makes certificates)
        import distributed  # noqa: F401
    except ImportError as error:
        raise ScenarioError(f"--cluster: {_EXTRA} ({error})") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is told by us
    with opened as execute:
        yield execute


def of_client(client: Client | None) -> Executor:
    """The workers of a client that the caller has connected; threads if it is ``None``."""
    if client is None:
        return threads.execute
    from sojourn.executors.cluster import Cluster

    return Cluster(client)


def _opened(address: str, jobs: int | None) -> AbstractContextManager[Executor]:
    local = re.fullmatch(r"local:(\d+)", address)
    if local and int(local[1]):
        return entire(_local(int(local[1])))
    if address == "slurm":
        return entire(_slurm(jobs))
    if "://" in address:
        return _running(address)
    raise ScenarioError(f"--cluster {address}: expected {EXPECTED}")


@contextmanager
def _local(workers: int) -> Iterator[Executor]:
    """Worker processes here, which know each other and this process by certificates that nobody
    else has. Dask's end without clearing up, so that their files lie where this does it.
    """
    import dask
    from distributed import Client, LocalCluster, Security

    from sojourn.executors.cluster import Cluster

    _start_forkserver()
    with (
        tempfile.TemporaryDirectory(prefix="sojourn-") as place,
        dask.config.set({**_WORKER, _PLACE: place}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=None,
            security=Security.temporary(),
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield Cluster(client, place)


def _start_forkserver() -> None:
    """Of local workers, which are not interrupted themselves: what interrupts a command in a
    terminal is sent to all that it has started, and it is for the command to end them.
    """
    multiprocessing.set_forkserver_preload(["sojourn.sweeps.ready"])
    resource_tracker.ensure_running()  # which unblocks the signal
    os.environ.update(_THREADS)  # as Dask does it: it is no good to fork what has threads
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGHUP])
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _running(address: str) -> Iterator[Executor]:
    """A scheduler that somebody else has started."""
    from distributed import Client

    from sojourn.executors.cluster import Cluster

    try:
        client = Client(address, timeout=_PATIENCE)
    # The last two are Dask's of certificates that are missing, and of an address that takes none.
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise ScenarioError(f"--cluster {address}: {_unanswered(address, error)}") from None
    with client:
        yield Cluster(client)


def _unanswered(address: str, error: Exception) -> str:
    from sojourn.executors import certificates

    if address.startswith(_TLS):
        return certificates.defect() or (
            f"no Dask scheduler answers there that has certificates of {certificates.AREA}.ca-file "
            f"and takes that of client.cert ({error})"
        )
    return (
        f"no Dask scheduler answers there ({error}); one is started with dask scheduler, its "
        f"workers with dask worker ADDRESS; where it has certificates, ADDRESS begins with {_TLS}"
    )


@contextmanager
def _slurm(jobs: int | None) -> Iterator[Executor]:
    """Jobs of Slurm, each with a worker or as many as dask-jobqueue's configuration says. They have
    certificates as workers here have, in files that only their user reads and that end with this.
    """
    import dask
    from dask_jobqueue import SLURMCluster
    from distributed import Client, Security

    from sojourn.executors.cluster import Cluster

    if not shutil.which("sbatch"):
        raise ScenarioError("--cluster slurm: there is no sbatch here: this is no host of Slurm's")
    told = dask.config.get("jobqueue.slurm", {})
    given = {key: value for key, value in _JOB.items() if told.get(key) is None}
    with (
        tempfile.TemporaryDirectory(prefix="sojourn-") as place,
        dask.config.set({**_WORKER, _PLACE: place}),
        SLURMCluster(
            **given,
            job_script_prologue=[*_PROLOGUE, *(told.get("job-script-prologue") or ())],
            scheduler_options={**_SCHEDULER, **(told.get("scheduler-options") or {})},
            security=Security.temporary(),
            shared_temp_directory=told.get("shared-temp-directory") or _SHARED,
        ) as cluster,
        Client(cluster) as client,
    ):
        cluster.scale(jobs=jobs or _processors())
        yield Cluster(client)


def _processors() -> int:
    """So many jobs as Slurm has processors, within reason."""
    try:
        told = subprocess.check_output(["sinfo", "--noheader", "--format=%C"], text=True)
        total = sum(int(line.split("/")[-1]) for line in told.split())
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise SojournError(f"--cluster slurm: sinfo does not answer: {error}") from None
    return max(min(total, _MOST_JOBS), 1)
