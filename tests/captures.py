"""Captures that tests make: frames by hand, and files of other kinds from one of Sojourn's."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

_PACKET = 6
_ETHERNET, _RAW = 1, 101
_HEAD = {"us": (0xA1B2C3D4, 1_000), "ns": (0xA1B23C4D, 1)}


def blocks(file: Path) -> Iterator[tuple[int, bytes]]:
    """Kinds and bodies of a pcapng file's blocks."""
    content, at = file.read_bytes(), 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        assert struct.unpack_from("<I", content, at + length - 4) == (length,)
        yield kind, content[at + 8 : at + length - 4]
        at += length


def packets(file: Path, interface: int) -> Iterator[tuple[int, bytes, int]]:
    """Of one interface times in nanoseconds, the bytes that are there, and sizes."""
    for kind, body in blocks(file):
        if kind == _PACKET and struct.unpack_from("<I", body) == (interface,):
            high, low, captured, size = struct.unpack_from("<IIII", body, 4)
            yield (high << 32) + low, body[20 : 20 + captured], size


def pcap(
    file: Path, frames: Iterable[tuple[int, bytes, int]], unit: str = "us", link: int = _RAW
) -> Path:
    """Writes a pcap file of them, in microseconds (``us``) or nanoseconds (``ns``)."""
    magic, nanoseconds = _HEAD[unit]
    out = [struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 1 << 18, link)]
    for time, content, size in frames:
        seconds, rest = divmod(time, 10**9)
        out.append(struct.pack("<IIII", seconds, rest // nanoseconds, len(content), size))
        out.append(content)
    file.write_bytes(b"".join(out))
    return file


def foreign(file: Path) -> Path:
    """A capture of a card: datagrams over IPv4 and IPv6 for a second, ARP and a fragment."""
    udp = struct.pack(">HHHH", 5000, 6000, 1008, 0)
    old = struct.pack(">BBHHHBBH", 0x45, 0, 1028, 0, 0, 64, 17, 0) + bytes(range(1, 9)) + udp
    new = struct.pack(">IHBB", 6 << 28, 1008, 17, 64) + bytes(31) + b"\1" + udp
    broken = old[:6] + b"\x20\x00" + old[8:]
    start = 1_700_000_000 * 10**9
    frames = [
        (start + 10_000_000 * step, bytes(12) + kind + content, 14 + size)
        for step in range(101)
        for kind, content, size in [(b"\x08\x00", old, 1028), (b"\x86\xdd", new, 1048)]
    ]
    frames += [(start, bytes(12) + b"\x08\x06" + bytes(28), 60)]
    frames += [(start, bytes(12) + b"\x08\x00" + broken, 1042)]
    return pcap(file, frames, "us", _ETHERNET)
