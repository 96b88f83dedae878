"""Ten runs each of programs that use what makes runs of programs differ, on a machine that may be
busy (`make test-long PART=programs`).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Command

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
direction = "DIRECTION"
"""
#: As those want it that check it.
CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=receiver "
    "-addext subjectAltName=DNS:receiver -addext basicConstraints=critical,CA:FALSE "
    "-keyout key.pem -out cert.pem 2>/dev/null"
)
#: Its examples are a server of files and a client.
QUINN = "quinn@0.11.12"
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
#: What the server does, and the client, to whom data comes back if the name says so.
LINES = {
    "iperf3": IPERF,
    "iperf3 back": (IPERF[0], f"{IPERF[1]} --reverse"),
    "iperf3 udp": (IPERF[0], f"{IPERF[1]} --udp --bitrate 15M"),
    "nginx back": (
        f"{CERTIFICATE}; exec nginx -c $PWD/nginx.conf -g 'daemon off;'",
        "sleep 1; curl --http2 -sk https://receiver/data -o got -w '%{time_total} %{http_version}'",
    ),
    "aioquic back": (
        f"{CERTIFICATE}; exec {sys.executable} quic_server.py",
        f"sleep 1; exec {sys.executable} quic_client.py 2000000",
    ),
    "quinn back": (
        f"{CERTIFICATE}; openssl x509 -in cert.pem -outform DER -out cert.der; "
        "exec ./server --cert cert.pem --key key.pem --listen [::]:4433 .",
        "sleep 1; ./client --ca cert.der https://receiver/data | cmp - data",
    ),
    "threads": ("exec sleep 9", "python3 threads.py"),
    "forks": ("exec sleep 9", FORKS),
}
NEEDS = {
    "iperf3": ("iperf3",),
    "nginx": ("nginx", "curl", "openssl"),
    "aioquic": ("aioquic", "openssl"),
    "quinn": ("crates", "openssl"),
}


@pytest.fixture
def there(tmp_path: Path, name: str) -> Path:
    """The directory of both, with the scenario and what is not installed."""
    direction = "reverse" if name.endswith("back") else "forward"
    text = SCENARIO.replace("DIRECTION", direction)
    (tmp_path / "link.toml").write_text(text, encoding="utf-8")
    (tmp_path / "threads.py").write_text(THREADS, encoding="utf-8")
    (tmp_path / "data").write_bytes(bytes(2_000_000))
    text = NGINX.replace("DIRECTORY", str(tmp_path))
    (tmp_path / "nginx.conf").write_text(text, encoding="utf-8")
    copied = [ROOT / "examples/programs" / f"quic_{end}.py" for end in ("server", "client")]
    if name == "quinn back":
        copied += [built() / end for end in ("server", "client")]
    for file in copied:
        shutil.copy(file, tmp_path)
    return tmp_path


def built() -> Path:
    """quinn's examples, which take minutes the first time."""
    root = ROOT / "target" / "quinn"
    examples = ("--example", "server", "--example", "client")
    places = ("--root", str(root), "--target-dir", str(root / "target"))
    line = ["cargo", "install", QUINN, "--locked", "--quiet", *examples, *places]
    subprocess.run(line, check=True)
    return root / "bin"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.needs(*NEEDS.get(name.split()[0], ())))
        for name in LINES
    ],
)
def test_ten_runs_are_the_same(sojourn: Command, there: Path, name: str) -> None:
    server, client = LINES[name]
    found = set()
    for _ in range(RUNS):
        line = ("--on", "receiver", server, "--out", "out", "--", "sh", "-c", client)
        done = sojourn("kernel", "run", "link.toml", *line, timeout=600)
        assert done.returncode == 0, done.stderr
        manifest = json.loads((there / "out" / "manifest.json").read_text(encoding="utf-8"))
        found.add((manifest["hash"], done.stdout))
    assert len(found) == 1
