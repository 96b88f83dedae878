"""A test that fails now and then: questions over UDP, asked again where no answer comes."""

import socket
import sys

PORT, QUESTIONS, PATIENCE = 7000, 5, 0.5


def serve() -> None:
    """Answers each question by its number."""
    with socket.socket(type=socket.SOCK_DGRAM) as server:
        server.bind(("", PORT))
        while True:
            question, who = server.recvfrom(100)
            server.sendto(question, who)


def test() -> None:
    """Each question is answered with its own number."""
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.connect(("receiver", PORT))
        client.settimeout(PATIENCE)
        sent = 0
        for number in range(QUESTIONS):
            answer = None
            while answer is None:
                client.send(str(sent).encode())
                sent += 1
                try:
                    answer = int(client.recv(100))
                except TimeoutError:
                    print(f"question {number}: no answer, asked again")
            assert answer == number, f"question {number} was answered with {answer}"
    print("passed")


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else test()
