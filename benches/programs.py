"""What programs in virtual time take: virtual seconds, and packets that cross the network, per
second of the processor. Of ``sojourn kernel run`` as a whole, with what it starts; best of some.

Run: ``.venv/bin/python benches/programs.py``, with a kernel built, curl, iperf3, openssl and nginx.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

REPETITIONS = 3
LINK = """
name = "programs"
duration = "30 s"
record = ["packets"]
topology = { kind = "dumbbell", bottleneck = { rate = "20 Mbit/s", queue = { limit = "1 bdp" } } }
[[flows]]
cca = "cubic"
rtt = "40 ms"
direction = "DIRECTION"
"""
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
EXAMPLES = Path(__file__).parents[1] / "examples" / "programs"
SERVE = "exec python3 -m http.server 80 2>/dev/null"
CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=receiver "
    "-keyout key.pem -out cert.pem 2>/dev/null"
)
FETCH = "-s -o /dev/null"
#: Which way the data goes, what the receiver runs, what the sender does.
LINES = {
    "http.server and curl, 10 MB": ("reverse", SERVE, f"sleep 1; curl {FETCH} receiver/data"),
    "iperf3, 10 s": ("forward", "exec iperf3 -s -1 >/dev/null", "iperf3 -c receiver -t 10"),
    "iperf3 -R, 10 s": ("reverse", "exec iperf3 -s -1 >/dev/null", "iperf3 -c receiver -R -t 10"),
    "nginx and curl, TLS, 10 MB": (
        "reverse",
        f"{CERTIFICATE}; exec nginx -c $PWD/nginx.conf -g 'daemon off;'",
        f"sleep 1; curl --http2 -k {FETCH} https://receiver/data",
    ),
    "aioquic, 2 MB": (
        "reverse",
        f"{CERTIFICATE}; exec {sys.executable} quic_server.py",
        f"sleep 2; {sys.executable} quic_client.py 2000000",
    ),
    "nothing": ("forward", "true", "true"),
}


def processor() -> float:
    """Seconds that processes which have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def once(there: Path, line: tuple[str, str, str]) -> tuple[float, float, int]:
    """Processor seconds, virtual seconds and packets of a run."""
    direction, server, client = line
    (there / "link.toml").write_text(LINK.replace("DIRECTION", direction), encoding="utf-8")
    command = [sys.executable, "-m", "sojourn", "kernel", "run", "link.toml", "--out", "out"]
    command += ["--force", "--on", "receiver", server, "--", "sh", "-c", client]
    began = processor()
    subprocess.run(command, cwd=there, check=True, capture_output=True)
    took = processor() - began
    manifest = json.loads((there / "out" / "manifest.json").read_text(encoding="utf-8"))
    ends = [one["ended"] for one in manifest["programs"] if "ended" in one]
    events = pl.scan_parquet(there / "out" / "packets.parquet")
    delivered = events.filter(pl.col("event") == "deliver").select(pl.len()).collect().item()
    return took, max(ends), int(delivered)


def main() -> None:
    """Prints a line of each."""
    with tempfile.TemporaryDirectory() as directory:
        there = Path(directory)
        shutil.copytree(EXAMPLES, there, dirs_exist_ok=True)
        (there / "data").write_bytes(bytes(10_000_000))
        (there / "nginx.conf").write_text(NGINX.replace("DIRECTORY", directory), encoding="utf-8")
        for name, line in LINES.items():
            took, seconds, packets = min(once(there, line) for _ in range(REPETITIONS))
            print(
                f"{name}: {took:.2f} s of the processor, {seconds / took:.2f} virtual seconds and "
                f"{packets / took:,.0f} packets of each"
            )


if __name__ == "__main__":
    main()
