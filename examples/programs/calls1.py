"""Twenty calls over a connection: version 1. Each call is a header and a body."""

import socket
import sys
import time

PORT, CALLS = 7000, 20


def serve() -> None:
    """Answers calls of the first who connects."""
    server = socket.create_server(("", PORT), family=socket.AF_INET6, dualstack_ipv6=True)
    connection, _ = server.accept()
    calls = connection.makefile("rb")
    while header := calls.read(4):
        calls.read(int.from_bytes(header))
        connection.sendall(b"done")


def call() -> None:
    """Makes the calls, one after the other, and says how long they took."""
    connection = socket.create_connection(("receiver", PORT))
    began = time.monotonic()
    for number in range(CALLS):
        body = bytes(100 + number)
        header = len(body).to_bytes(4)
        connection.sendall(header + body)
        connection.recv(4, socket.MSG_WAITALL)
    print(f"{CALLS} calls in {time.monotonic() - began:.3f} s")


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else call()
