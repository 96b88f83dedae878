"""Bytes of headers that packets carry through the overlay, by the sizes that the core sends."""

from __future__ import annotations

from sojourn import _internal

_SIZES = _internal.header_sizes()
#: Of an arrival's time in an acknowledgment of SLIQ's.
_TIME = 8
#: Of the time that a packet between nodes has left.
_TO_GO = 20
#: Ethernet's, of a frame.
ETHERNET = _SIZES["ethernet_overhead"]
#: IP and UDP; IP and TCP with timestamps.
UDP = _SIZES["ip"] + _SIZES["udp"]
TCP = _SIZES["ip"] + _SIZES["tcp"]
#: Of a packet between nodes beside the flow's own: its number, SLIQ, UDP, IP, Ethernet.
BETWEEN = _SIZES["gnat_data"] + _SIZES["sliq_data"] + UDP + ETHERNET
#: ... of one with a time to go, and of one for several receivers, which it names.
BETWEEN_TIMED = BETWEEN + _TO_GO
BETWEEN_MULTICAST = BETWEEN + _SIZES["gnat_multicast"]
#: What SLIQ answers per packet on the link's other direction: an ACK of every two, with the times
#: of both, SLIQ, UDP, IP, Ethernet.
ACKNOWLEDGED = (_SIZES["sliq_ack"] + 2 * _TIME + UDP + ETHERNET) / 2
#: Three blocks of SACK in TCP's answer to packets that take several ways and come out of order.
SACK = 28
