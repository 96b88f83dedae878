"""A control that goes wrong in the way, and at the time, that its parameters say."""

import ctypes
from dataclasses import dataclass
from typing import Literal

from aimd import Aimd


class Faulty(Aimd):
    @dataclass
    class Params:
        mode: Literal["init", "raise", "nan", "zero", "huge", "text", "hang", "crash", "leak"] = (
            "raise"
        )
        at: float = 0.2

    def __init__(self, params: Params, init) -> None:
        super().__init__(None, init)
        self.params = params
        if params.mode == "init":
            _ = 1 / 0

    def on_ack(self, now, ack) -> None:
        super().on_ack(now, ack)
        if now >= self.params.at:
            self.go_wrong()

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
            case "text":
                self.decision = None
            case "hang":
                while True:
                    pass
            case "crash":
                ctypes.string_at(0)
            case "leak":
                self.kept = [bytearray(10_000_000) for _ in range(100_000)]
