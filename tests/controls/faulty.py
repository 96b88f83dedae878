"""A control that goes wrong in the way, and at the time, that its parameters say."""

import contextlib
import ctypes
import os
from dataclasses import dataclass
from typing import Literal

from aimd import Aimd

Mode = Literal[
    *("init", "raise", "nan", "zero", "huge", "negative", "text", "past"),
    *("hang", "crash", "exit", "leak", "write", "close"),
]


class Faulty(Aimd):
    @dataclass
    class Params:
        mode: Mode = "raise"
        at: float = 0.2

    def __init__(self, params: Params, init) -> None:
        super().__init__(None, init)
        self.params = params
        self.timer = None
        if params.mode == "init":
            _ = 1 / 0

    def on_ack(self, now, ack) -> None:
        super().on_ack(now, ack)
        if now >= self.params.at:
            self.go_wrong()

    def next_timer(self) -> float | None:
        return self.timer

    def on_timer(self, now) -> None:
        pass

    def go_wrong(self) -> None:
        match self.params.mode:
            case "raise":
                _ = 1 / 0
            case "nan":
                self.cwnd = float("nan")
            case "zero":
                self.cwnd = 0
            case "huge":
                self.cwnd = 10**12
            case "negative":
                self.cwnd = -1
            case "past":
                self.timer = 0.1
            case "text":
                self.decision = None
            case _:
                self.go_wrong_as_a_process()

    def go_wrong_as_a_process(self) -> None:
        match self.params.mode:
            case "hang":
                while True:
                    pass
            case "crash":
                ctypes.string_at(0)
            case "exit":
                os._exit(3)
            case "write":
                for descriptor in range(3, 256):
                    with contextlib.suppress(OSError):
                        os.write(descriptor, b"x" * 1000)
            case "close":
                os.closerange(3, 256)
            case "leak":
                self.kept = [bytearray(10_000_000) for _ in range(100_000)]
