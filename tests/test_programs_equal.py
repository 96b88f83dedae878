"""Ten runs each of programs that use what makes runs of programs differ, on a machine that may be
busy (`make test-long PART=programs`).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Command

pytestmark = [
    pytest.mark.concurrent,
    pytest.mark.long,
    pytest.mark.needs("virtual-kernel"),
]
RUNS = 10
SCENARIO = """
name = "programs"
duration = "20 s"
topology = { kind = "dumbbell", bottleneck = { rate = "20 Mbit/s" } }
[[flows]]
cca = "cubic"
rtt = "40 ms"
"""
CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=receiver "
    "-keyout key.pem -out cert.pem 2>/dev/null"
)
NGINX = """
user root;
worker_processes 2;
error_log /tmp/error.log;
pid /tmp/nginx.pid;
events {}
http {
  access_log off;
  server {
    listen 443 ssl http2;
    ssl_certificate DIRECTORY/cert.pem;
    ssl_certificate_key DIRECTORY/key.pem;
    root DIRECTORY;
  }
}
"""
#: Sixteen threads that take turns by locks, and say in which order.
THREADS = """
import queue, random, threading
done, lock, turn = [], threading.Lock(), queue.Queue()
def work(number):
    for _ in range(200):
        with lock:
            done.append(number)
        turn.put(random.random())
        turn.get()
threads = [threading.Thread(target=work, args=[n]) for n in range(16)]
for one in threads: one.start()
for one in threads: one.join()
print(hash(tuple(done)), random.random())
"""
FORKS = (
    "i=0; while [ $i -lt 500 ]; do /bin/echo $i; i=$((i+1)); done | tail -1; "
    "cat /proc/sys/kernel/random/uuid"
)
IPERF = ("exec iperf3 --server --one-off", "iperf3 --client receiver --time 3")
LINES = {
    "iperf3": IPERF,
    "iperf3 back": (IPERF[0], f"{IPERF[1]} --reverse"),
    "iperf3 udp": (IPERF[0], f"{IPERF[1]} --udp --bitrate 15M"),
    "nginx": (
        f"{CERTIFICATE}; exec nginx -c $PWD/nginx.conf -g 'daemon off;'",
        "sleep 1; curl --http2 -sk https://receiver/data -o got -w '%{time_total} %{http_version}'",
    ),
    "threads": ("exec sleep 9", "python3 threads.py"),
    "forks": ("exec sleep 9", FORKS),
}
NEEDS = {"iperf3": ("iperf3",), "nginx": ("nginx", "curl", "openssl")}


@pytest.mark.parametrize(
    ("server", "client"),
    [
        pytest.param(*line, id=name, marks=pytest.mark.needs(*NEEDS.get(name.split()[0], ())))
        for name, line in LINES.items()
    ],
)
def test_ten_runs_are_the_same(sojourn: Command, tmp_path: Path, server: str, client: str) -> None:
    (tmp_path / "link.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "threads.py").write_text(THREADS, encoding="utf-8")
    (tmp_path / "data").write_bytes(bytes(2_000_000))
    text = NGINX.replace("DIRECTORY", str(tmp_path))
    (tmp_path / "nginx.conf").write_text(text, encoding="utf-8")
    found = set()
    for _ in range(RUNS):
        line = ("--on", "receiver", server, "--out", "out", "--", "sh", "-c", client)
        done = sojourn("kernel", "run", "link.toml", *line, timeout=600)
        assert done.returncode == 0, done.stderr
        manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
        found.add((manifest["hash"], done.stdout))
    assert len(found) == 1
