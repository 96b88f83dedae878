"""Bytes of headers that packets carry through the overlay, by the sizes that the core sends."""

from __future__ import annotations

from collections import Counter

from sojourn import _internal

#: A program without the wings has none of theirs, and runs nothing of this evaluation.
_SIZES = Counter(_internal.header_sizes())
#: Ethernet's, of a frame.
ETHERNET = _SIZES["ethernet"]
#: IP and UDP; IP and TCP with timestamps.
UDP = _SIZES["ip"] + _SIZES["udp"]
TCP = _SIZES["ip"] + _SIZES["tcp"]
_AROUND = _SIZES["sliq_data"] + UDP + ETHERNET
#: Of a packet between nodes beside the flow's own: its number, SLIQ, UDP, IP, Ethernet.
BETWEEN = _SIZES["gnat_data"] + _AROUND
#: ... of one with a time to go, and of one for several receivers, which it names.
BETWEEN_TIMED = _SIZES["gnat_timed"] + _AROUND
BETWEEN_MULTICAST = _SIZES["gnat_multicast"] + _AROUND
#: What SLIQ answers per packet on the link's other direction: an ACK of every two, with the times
#: of both, SLIQ, UDP, IP, Ethernet.
ACKNOWLEDGED = (_SIZES["sliq_ack"] + 2 * _SIZES["sliq_ack_time"] + UDP + ETHERNET) / 2
#: Three blocks of SACK in TCP's answer to packets that take several ways and come out of order.
SACK = _SIZES["tcp_sack"]
