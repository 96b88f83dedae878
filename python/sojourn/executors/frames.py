"""Messages of a process that may write anything anywhere, over a pipe.

Each is sealed with a key that only its request has, its number and its length, and has a digest of
its content: whatever else is written to the pipe is not taken for a message, nor waited for.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import struct
from collections.abc import Iterator

#: Bytes of a key, and of each digest.
SIZE = 16
#: Length and digest of what follows.
_HEAD = struct.Struct(f"=Q{SIZE}s")
_BEGIN = SIZE + _HEAD.size
#: Bytes that are read at a time.
_PIECE = 1 << 20


class GarbledError(Exception):
    """Something else than the messages was written to the pipe."""


class Sender:
    """The end of the pipe that messages go into."""

    def __init__(self, descriptor: int, key: bytes) -> None:
        self._descriptor = descriptor
        self._key = key
        self._number = 0

    def send(self, message: object) -> None:
        """Sends a message, and waits until the other end has taken all but what the pipe holds.

        Raises:
            OSError: if there is no pipe any more.

        """
        body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        head = _HEAD.pack(len(body), _digest(body))
        self._write(_seal(self._key, self._number, head) + head)
        self._write(body)
        self._number += 1

    def _write(self, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


class Receiver:
    """The end that they come out of, which does not wait for them."""

    def __init__(self, descriptor: int, key: bytes) -> None:
        self._descriptor = descriptor
        self._key = key
        self._number = 0
        self._waiting = bytearray()
        #: Whether nothing can come any more.
        self.ended = False

    def messages(self) -> Iterator[object]:
        """The messages that are whole by now.

        Raises:
            GarbledError: if what came is none.

        """
        self._read()
        while (message := self._next()) is not None:
            yield message

    def _read(self) -> None:
        try:
            piece = os.read(self._descriptor, _PIECE)
        except BlockingIOError:
            return
        self._waiting += piece
        self.ended = not piece

    def _next(self) -> object | None:
        """The first that waits, if it is whole: no message is ``None``."""
        if len(self._waiting) < _BEGIN:
            return None
        seal, head = bytes(self._waiting[:SIZE]), bytes(self._waiting[SIZE:_BEGIN])
        if seal != _seal(self._key, self._number, head):
            raise GarbledError
        length, digest = _HEAD.unpack(head)
        if len(self._waiting) < _BEGIN + length:
            return None
        body = bytes(self._waiting[_BEGIN : _BEGIN + length])
        if _digest(body) != digest:
            raise GarbledError
        del self._waiting[: _BEGIN + length]
        self._number += 1
        message: object = pickle.loads(body)
        return message


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=SIZE).digest()


def _seal(key: bytes, number: int, head: bytes) -> bytes:
    numbered = number.to_bytes(8, "little") + head
    return hashlib.blake2b(numbered, digest_size=SIZE, key=key).digest()
