"""Scenarios at random.

Each draw is named by seed, cell and what is drawn: cells are the same however many there are, and
paths the same over every queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, sqrt
from random import Random

from sojourn.fidelity.asked import ANY_AQM, AQMS, FIFO, Asked

CONTROLS = (
    *("reno", "cubic", "bic", "highspeed", "scalable", "hybla", "htcp", "westwood", "veno"),
    *("vegas", "yeah", "illinois", "bbr"),
)
#: The control that needs marks.
DCTCP = "dctcp"
RATE_MBIT, RTT_MS, BDP = (2.0, 60.0), (6.0, 200.0), (0.3, 4.0)
#: The smallest buffer, packets.
LEAST = 6
#: Of the queues that are drawn, so many are FIFOs.
FIFOS = 0.7
#: How often a cell is run where chance has a part, and where flows meet.
STARTS, STARTS_OF_MANY = 5, 10
#: A flow's start but for the first one's is within, us.
LATEST_US = 100_000
#: Segments of a transfer, and the share of packets that it loses, %.
SEGMENTS, LOSS = (10.0, 2000.0), (0.1, 2.0)
#: What a path does: packets overtaken, delay that varies, ACKs lost, a rate that changes.
TROUBLES = ("reorder", "jitter", "ack-loss", "rate-steps")
_PACKET, _SEGMENT = 1500, 1448
_SECONDS = 20


@dataclass(frozen=True)
class Cell:
    """A scenario that was drawn, and its repetitions."""

    #: SEED-NUMBER.
    name: str
    controls: Sequence[str]
    queue: str
    rate_mbit: float
    rtt_ms: float
    #: Packets; ``None`` where the discipline has its own limit.
    buffer: int | None
    #: Of a path, one of :data:`TROUBLES`; else empty.
    trouble: str
    #: A text in TOML for each repetition, which has its own starts and seed.
    starts: Sequence[str] = field(repr=False)


def cells(asked: Asked, times: int = 1) -> Iterator[Cell]:
    """All of them, seed by seed, with so many times the starts; the first ones are the same."""
    for seed in asked.seeds:
        for number in range(asked.cells):
            yield _cell(asked, f"{seed}-{number}", times)


@dataclass(frozen=True)
class _Draws:
    cell: str

    def share(self, what: str) -> float:
        """From 0 to 1."""
        return Random(f"{self.cell}/{what}").random()

    def one(self, what: str, among: Sequence[str]) -> str:
        """Each as likely."""
        return among[int(self.share(what) * len(among))]

    def between(self, what: str, low: float, high: float) -> float:
        """Each factor as likely; three significant digits."""
        return float(f"{low * (high / low) ** self.share(what):.3g}")


def _cell(asked: Asked, name: str, times: int) -> Cell:
    draws = _Draws(name)
    among = (*CONTROLS, DCTCP) if asked.ecn else CONTROLS
    controls = [draws.one(f"control {flow}", among) for flow in range(asked.flows)]
    queue = _queue(asked, draws)
    rate, rtt = draws.between("rate", *RATE_MBIT), draws.between("rtt", *RTT_MS)
    buffer = None
    if queue == FIFO:
        bdp = rate * rtt * 1e3 / 8 / _PACKET
        buffer = max(LEAST, ceil(draws.between("buffer", *BDP) * bdp))
    trouble = draws.one("path", TROUBLES) if asked.kind == "path" else ""
    limit = "" if buffer is None else f', limit = "{buffer} packets"'
    link = [f'rate = "{rate} Mbit/s"', f'queue = {{ kind = "{queue}"{limit} }}']
    more, seconds = "", _SECONDS
    if asked.kind == "transfer":
        more, loss, seconds = _transfer(draws, rate, rtt)
        link.append(loss)
    elif trouble:
        link.append(_trouble(trouble, draws, rate))
    flows = [_flow(control, rtt, more, asked.ecn) for control in controls]
    top = f'name = "fidelity-{name}"\nduration = "{seconds} s"\n'
    network = '[topology]\nkind = "dumbbell"\n\n[topology.bottleneck]\noverhead = "0 B"\n'
    network += "\n".join(link) + "\n"
    starts = [
        f"{top}seed = {number + 1}\n\n{network}{_started(flows, draws, number)}"
        for number in range(times * _repetitions(asked, queue, trouble))
    ]
    return Cell(name, controls, queue, rate, rtt, buffer, trouble, starts)


def _queue(asked: Asked, draws: _Draws) -> str:
    if asked.queue and asked.queue != ANY_AQM:
        return asked.queue
    is_fifo = asked.kind != "bulk" or (not asked.ecn and draws.share("fifo") < FIFOS)
    return FIFO if is_fifo and asked.queue != ANY_AQM else draws.one("aqm", AQMS)


def _repetitions(asked: Asked, queue: str, trouble: str) -> int:
    if asked.flows > 1:
        return STARTS_OF_MANY
    has_chance = queue != FIFO or asked.kind == "transfer" or trouble not in ("", "rate-steps")
    return STARTS if has_chance else 1


def _transfer(draws: _Draws, rate: float, rtt: float) -> tuple[str, str, int]:
    """The flow's traffic, the link's loss, and a duration that is long enough: four times what
    the link or the square-root law of losses allows, with time for timeouts.
    """
    size = int(draws.between("segments", *SEGMENTS)) * _SEGMENT
    loss = draws.between("loss", *LOSS)
    lossy = _SEGMENT * 8e-3 / rtt * 1.22 / sqrt(loss / 100)
    seconds = ceil(20 + 4 * size * 8e-6 / min(rate, lossy))
    return f'traffic = {{ kind = "sized", size = "{size} B" }}\n', f'loss = "{loss} %"', seconds


def _trouble(trouble: str, draws: _Draws, rate: float) -> str:
    """A line of the link."""
    if trouble == "reorder":
        share, delay = draws.between("share", 0.1, 3), draws.between("delay", 0.5, 30)
        return f'reorder = {{ probability = "{share} %", delay = "{delay} ms" }}'
    if trouble == "jitter":
        overtaking = "true" if draws.share("overtaking") < 0.5 else "false"
        spread = draws.between("spread", 0.2, 5)
        return f'jitter = {{ spread = "{spread} ms", reorder = {overtaking} }}'
    if trouble == "ack-loss":
        return f'reverse_loss = "{draws.between("acks", 1, 50)} %"'
    steps = ", ".join(
        f'{{ at = "{second} s", value = "{_rounded(rate * draws.between(name, 0.25, 2))} Mbit/s" }}'
        for name, second in (("first step", 7), ("second step", 14))
    )
    return f'rate_schedule = {{ kind = "steps", steps = [{steps}] }}'


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _flow(control: str, rtt: float, more: str, ecn: bool) -> str:
    own = "dctcp" if control == DCTCP else "classic"
    lines = f'\n[[flows]]\ncca = "{control}"\nrtt = "{rtt} ms"\n{more}'
    lines += 'send_buffer = "stack"\nreceive_buffer = "stack"\n'
    return lines + (f'ecn = "{own}"\n' if ecn else "")


def _started(flows: Sequence[str], draws: _Draws, number: int) -> str:
    """The flows with the starts of a repetition; the first flow of the first one begins at once."""
    texts = []
    for place, flow in enumerate(flows):
        share = draws.share(f"start {place} of {number}") if place or number else 0.0
        texts.append(f'{flow}start = "{int(share * LATEST_US)} us"\n')
    return "".join(texts)
