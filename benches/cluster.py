"""Sweeps on a cluster: what it costs, what kills cost, and what a million points cost.

    python benches/cluster.py overhead   # processor time of threads and of four local workers
    python benches/cluster.py kills      # kill -9 ten workers and the coordinator twice
    python benches/cluster.py grid       # expand and validate a grid of a million points
    python benches/cluster.py million    # a million runs of experiment 82 on 1,000 cores, computed

``--runs`` makes them smaller. Needs ``sojourn[cluster]``. Processor time is that of the coordinator
and all its workers, user and system, from start to end.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
import psutil

import sojourn
from sojourn.scenario import load
from sojourn.store.samples import Samples
from sojourn.sweeps.expand import plan
from sojourn.sweeps.work import Identify, Run

WORKERS = 4
ONE_FLOW = """
name = "one-flow"
duration = "4 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
queue = { kind = "fifo", limit = "1 bdp" }
[[flows]]
cca = "cubic"
rtt = "20 ms"
"""
SHORT = f"""{ONE_FLOW}
[sweep]
replications = %d
[sweep.grid]
"flows.0.cca" = ["reno", "cubic"]
"topology.bottleneck.rate" = ["5 Mbit/s", "10 Mbit/s"]
"""
MILLION = f"""{ONE_FLOW}
[sweep.grid]
"topology.bottleneck.rate" = [%s]
"flows.0.rtt" = [%s]
"""
EXPERIMENT_82 = "experiments/ccperf/cubic-friendliness.toml"


def main() -> None:
    """What the arguments ask for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["overhead", "kills", "grid", "million"])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = options.out or Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        globals()[options.what](options.runs, out)


def overhead(runs: int, out: Path) -> None:
    """The same sweep in threads and in worker processes."""
    file = _short(runs, out)
    threads = _processor_time(file, out / "threads", "--jobs", str(WORKERS))
    cluster = _processor_time(file, out / "cluster", "--cluster", f"local:{WORKERS}")
    print(f"{runs:,} runs: threads {threads:.1f} s, local:{WORKERS} {cluster:.1f} s of processor")
    print(f"{cluster / threads - 1:+.1%}; equal rows: {_equal(out / 'threads', out / 'cluster')}")


def kills(runs: int, out: Path) -> None:
    """A sweep whose workers and coordinator are killed, beside one left alone."""
    file = _short(runs, out)
    if not (out / "threads").exists():
        _processor_time(file, out / "threads", "--jobs", str(WORKERS))
    chance, killed, coordinators = random.Random(26), 0, 0
    process = _start(file, out / "killed")
    while process.poll() is None:
        time.sleep(chance.uniform(1, 3))
        done = _stored(out / "killed")
        if killed < 10 and done > runs * killed / 12:
            workers = _workers(process.pid)
            if workers:
                os.kill(chance.choice(workers), signal.SIGKILL)
                killed += 1
                print(f"worker {killed} killed after {done} stored runs", flush=True)
        if coordinators < 2 and done > runs * (coordinators + 1) / 3:
            process.kill()
            process.wait()
            coordinators += 1
            print(f"coordinator killed after {done} stored runs", flush=True)
            process = _start(file, out / "killed")
    found = sojourn.open(out / "killed").runs.filter(scope="net")
    print(f"{killed} workers and {coordinators} coordinators killed; status {process.returncode}")
    print(f"{len(found)} rows of runs, {found['point'].n_unique()} different; ", end="")
    print(f"equal to the undisturbed sweep: {_equal(out / 'threads', out / 'killed')}")


def grid(runs: int, out: Path) -> None:
    """A grid of a million points, expanded and validated."""
    del runs
    rates = ", ".join(f'"{1 + place / 100:.2f} Mbit/s"' for place in range(1000))
    rtts = ", ".join(f'"{1 + place / 10:.1f} ms"' for place in range(1000))
    file = out / "million.toml"
    file.write_text(MILLION % (rates, rtts))
    command = [sys.executable, "-m", "sojourn", "sweep", str(file), "--dry-run"]
    program = (
        "import sys; from sojourn.scenario import load; from sojourn.sweeps.expand import plan; "
        "print(sum(1 for _ in plan(load(sys.argv[1])).places()), 'places')"
    )
    for name, told in (
        ("sojourn sweep --dry-run", command),
        ("plan, all places", [sys.executable, "-c", program, str(file)]),
    ):
        seconds, memory, text = _measured(told)
        print(f"{name}: {seconds:.1f} s of processor, {memory:.0f} MB at most\n  {text}")


def million(runs: int, out: Path) -> None:
    """Each part of what is done for a run, measured on some, with samples and without."""
    del runs
    for keep_samples in (True, False):
        print("with samples" if keep_samples else "--no-samples")
        _million(out / str(keep_samples), keep_samples)


def _million(out: Path, keep_samples: bool) -> None:
    count, cores = 100, 1000
    text = f"sweep.replications={count}"
    planned = plan(load(EXPERIMENT_82, [text, "sweep.grid={}"]))
    identify, run = Identify.of(planned), Run(keep_samples=keep_samples)
    places = list(planned.places())
    found = _timed("identify", lambda: [one for p in places for one in identify(p)], count)
    done = _timed("run and its metrics", lambda: [run(one) for one in found[0]], count)
    joined = _timed("join", lambda: run.join(done[0]), count)
    sent = _timed("pickle", lambda: pickle.dumps(joined[0]), count)
    here = _timed("unpickle", lambda: pickle.loads(sent[0]), count)
    stored = _timed("store", lambda: _store(here[0], out), count)
    worker = sum(part[1] for part in (found, done, joined, sent))
    coordinator = here[1] + stored[1]
    print(f"worker {worker * 1e3:.1f} ms, coordinator {coordinator * 1e3:.2f} ms per run")
    print(f"{1e6 * worker / 3600:.0f} core hours: {1e6 * worker / cores / 60:.1f} min on {cores}")
    print(f"coordinator: {1e6 * coordinator / 60:.1f} min; keeps {worker / coordinator:.0f} cores")
    size = sum(path.stat().st_size for path in out.glob("**/*.parquet")) / count
    print(f"{len(sent[0]) / count / 1e3:.1f} kB per run on the wire, {size / 1e3:.1f} kB stored")
    rate = cores / worker
    print(f"{rate:.0f} runs/s: {rate * len(sent[0]) / count / 1e6:.0f} MB/s to the coordinator")


def _store(finished, out: Path) -> None:
    from sojourn.store.batches import Batches

    samples = Samples(out, print)
    if finished.samples is not None:
        samples.add(finished.samples)
        samples.flush()
    Batches(out).append(finished.table)


def _timed(name, work, count):
    began = time.process_time()
    value = work()
    each = (time.process_time() - began) / count
    print(f"  {name}: {each * 1e3:.2f} ms")
    return value, each


def _short(runs: int, out: Path) -> Path:
    file = out / "short.toml"
    file.write_text(SHORT % (runs // 4))
    return file


def _command(file: Path, out: Path) -> list[str]:
    command = [sys.executable, "-m", "sojourn", "sweep", str(file), "--out", str(out)]
    return [*command, "--format", "csv", "--metrics", "mean_agg_throughput_l4"]


def _measured(command: list[str]) -> tuple[float, float, str]:
    """Processor time, s, and the largest process's memory, MB, of a command and all below it,
    looked at four times a second: workers are no children, so that the system does not add them up.
    """
    seconds: dict[int, float] = {}
    memory = 0
    with tempfile.TemporaryFile("w+") as told:
        process = psutil.Popen(command, stdout=told, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            for one in _family(process):
                with contextlib.suppress(psutil.Error):
                    times = one.cpu_times()
                    seconds[one.pid] = times.user + times.system
                    memory = max(memory, one.memory_info().rss)
            time.sleep(0.25)
        told.seek(0)
        text = told.read()
    return sum(seconds.values()), memory / 1e6, text.strip().replace("\n", "\n  ")


def _family(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


def _processor_time(file: Path, out: Path, *options: str) -> float:
    return _measured([*_command(file, out), *options])[0]


def _start(file: Path, out: Path) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    command = [*_command(file, out), "--cluster", f"local:{WORKERS}"]
    return subprocess.Popen(command, stdout=quiet, stderr=quiet)


def _workers(coordinator: int) -> list[int]:
    """The worker processes: they have no children, and their parent is the server of forks."""
    with contextlib.suppress(psutil.Error):
        children = psutil.Process(coordinator).children()
        return [worker.pid for server in children for worker in server.children()]
    return []


def _stored(out: Path) -> int:
    try:
        return sojourn.open(out).runs.filter(scope="net").height
    except (sojourn.SojournError, sojourn.ScenarioError, OSError, pl.exceptions.PolarsError):
        return 0


def _equal(one: Path, other: Path) -> bool:
    tables = [sojourn.open(path).runs.drop("wall_seconds") for path in (one, other)]
    columns = sorted(set(tables[0].columns) | set(tables[1].columns))
    a, b = (table.select(columns).sort("point", "scope", "id") for table in tables)
    return a.equals(b)


if __name__ == "__main__":
    main()
