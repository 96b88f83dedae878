"""What a kernel in virtual time does for programs, seen by a calendar that is no more than that."""

from __future__ import annotations

import mmap
import os
import re
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sojourn.backends.kernel import On

SOURCE = Path(__file__).parent / "kernel/calls.c"
ARGUMENTS = ("mem=128M", "uml_dir=/proc/", "stderr=1", "root=/dev/root", "rootfstype=hostfs")
#: Messages of the calendar (Linux, include/uapi/linux/um_timetravel.h).
ACK, START, WAIT, RUN, TIME_OF_DAY = 0, 1, 3, 6, 8
#: In its page: places of the calendar and of the kernel; what the kernel says of who runs.
CALENDAR, KERNEL, RUNS = 4096, 4224, 4256
TOLD = re.compile(r"(\w+): took (\d+), (\d+) then (\d+), now (\d+)$", re.M)
#: What a call costs, in ns.
COST = 1000


class Calendar:
    """Lets a kernel run whenever it asks for it, or often before, with an interrupt."""

    def __init__(self, door: Path, *, hasty: bool) -> None:
        """Listens there; one that is hasty comes half-way of what is left each time."""
        self.hasty = hasty
        self.now = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(door))
        self.listener.listen()
        self.memory = os.memfd_create("page")
        os.ftruncate(self.memory, 8192)
        self.page = mmap.mmap(self.memory, 8192)
        struct.pack_into("=II", self.page, 0, 2, 8192)
        struct.pack_into("=HH", self.page, 24, 1, 2)
        struct.pack_into("=I", self.page, CALENDAR, 1)

    def attend(self, done: Callable[[], bool]) -> None:
        """Until the kernel is silent, and done."""
        kernel, _ = self.listener.accept()
        kernel.settimeout(0.2)
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            try:
                message = kernel.recv(16)
            except TimeoutError:
                if done():
                    return
            else:
                self.answer(kernel, *struct.unpack("=II8x", message))

    def answer(self, kernel: socket.socket, operation: int, number: int) -> None:
        if operation == START:
            files = [self.memory, os.open(os.devnull, os.O_RDONLY)]
            socket.send_fds(kernel, [struct.pack("=IIQ", ACK, number, 1)], files)
        elif operation == WAIT:
            _, wanted = struct.unpack_from("=IQ", self.page, KERNEL + 4)
            early = self.hasty and self.now + 1 < wanted
            self.now = (self.now + wanted) // 2 if early else wanted
            struct.pack_into("=QQ", self.page, 8, self.now + 1, self.now)
            kernel.sendall(struct.pack("=IIQ", RUN, early, self.now))
        else:
            kernel.sendall(struct.pack("=IIQ", ACK, number, 0))

    def running(self) -> tuple[int, bytes, bytes]:
        """Who runs: process, name, host."""
        process, name, host = struct.unpack_from("=I16s32s", self.page, RUNS)
        return process, name.partition(b"\0")[0], host.partition(b"\0")[0]


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel", "compiler")
@pytest.mark.parametrize("hasty", [False, True], ids=["alone", "interrupted"])
def test_calls_of_programs_take_time_and_the_calendar_knows_who_runs(
    tmp_path: Path, hasty: bool
) -> None:
    made = tmp_path / "calls"
    command = ["gcc", "-O2", "-Wall", "-Werror", "-static", SOURCE, "-o", made]
    subprocess.run(command, check=True)
    calendar = Calendar(tmp_path / "door", hasty=hasty)
    options = (f"time-travel=ext:1:{tmp_path / 'door'}", f"sojourn_cost={COST}", f"init={made}")
    said = tmp_path / "console"
    with said.open("w+b") as console:
        kernel = subprocess.Popen(
            [On("6.12").program, *ARGUMENTS, *options], stdout=console, stderr=console
        )
        try:
            calendar.attend(lambda: len(TOLD.findall(said.read_text())) == 2)
        finally:
            kernel.kill()
            kernel.wait()
    text = said.read_text()
    took = {who: [int(number) for number in numbers] for who, *numbers in TOLD.findall(text)}
    calls, first, second, now = took["program"]
    assert calls == pytest.approx(1000 * COST, rel=0.01)
    assert second - first == COST
    assert first < now < first + 10 * COST
    assert took["first"][0] == 0
    assert "sojourn: lacks 1000 calls" in text
    process, name, host = calendar.running()
    assert process > 1
    assert (name, host) == (b"calls", b"sender")
