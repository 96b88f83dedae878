"""The compiled core. Private: use :mod:`sojourn`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, final

__all__ = [
    "CALLBACKS",
    "PROGRAM",
    "Ack",
    "Decision",
    "Event",
    "Init",
    "Lost",
    "RateSample",
    "ScenarioError",
    "Sent",
    "base_rtts",
    "catalogue",
    "conform",
    "conformance_suites",
    "describe_library",
    "end_with",
    "engine_build",
    "engine_parts",
    "error_control",
    "header_sizes",
    "import_capture",
    "keep_note_in",
    "kernel_agent",
    "quantity",
    "replay",
    "run",
    "run_command",
    "run_kernel",
    "run_live",
    "run_overlay",
    "run_programs",
    "run_slotted",
    "sample_columns",
    "schema",
    "toml_to_json",
    "validate",
]

class ScenarioError(ValueError):
    """Bad input: names the field, what was given and what is allowed."""

    #: Path of the field as the file writes it; empty where there is none.
    field: str
    #: What was given and what is allowed, without the field.
    message: str

#: The program whose own module this is, if it is one with members of its own.
PROGRAM: Path | None
#: The names of a control's callbacks by their numbers in a worker's note.
CALLBACKS: list[str]

@final
class Init:
    """Parameters of the connection that a control is created for."""

    #: Initial window in segments.
    initial_window: int
    #: Payload bytes of a full segment.
    mss: int
    #: IP packet size of a full segment in bytes.
    packet_size: int
    #: When the connection is created, in seconds.
    now: float
    #: Whether the sender paces all controls (host queue ``fq``).
    paced: bool
    #: For the control's random draws: ``random.Random(init.seed)``.
    seed: int

    def __new__(
        cls,
        *,
        initial_window: int = ...,
        mss: int = ...,
        packet_size: int = ...,
        now: float = ...,
        paced: bool = ...,
        seed: int = ...,
    ) -> Init: ...

@final
class RateSample:
    """A delivery-rate sample (Linux ``struct rate_sample``)."""

    #: Segments delivered over ``interval``; ``None`` when no valid sample could be taken.
    delivered: int | None
    #: Length of the interval in seconds: the longer of its send and its ACK phase.
    interval: float
    #: The sender's ``delivered`` count when the sampled segment was sent.
    prior_delivered: int
    #: The sender's ``delivered_ce`` count when the sampled segment was sent.
    prior_delivered_ce: int
    #: The sender's ``lost`` count when the sampled segment was sent.
    prior_lost: int
    #: Segments in flight when the sampled segment was sent (it included).
    tx_in_flight: int
    #: Whether the sample was limited by the application.
    app_limited: bool
    #: Whether the sampled segment had been retransmitted.
    retransmitted: bool

    def __new__(
        cls,
        *,
        delivered: int | None = ...,
        interval: float = ...,
        prior_delivered: int = ...,
        prior_delivered_ce: int = ...,
        prior_lost: int = ...,
        tx_in_flight: int = ...,
        app_limited: bool = ...,
        retransmitted: bool = ...,
    ) -> RateSample: ...

@final
class Ack:
    """All that the sender measured on one arriving ACK, after loss detection has run on it."""

    #: Recovery state after this ACK: open, disorder, cwr, recovery or loss.
    state: str
    #: Whether this ACK may raise the window: new data, and no window reduction under way.
    may_grow: bool
    #: Whether the window was what limited sending in the last round.
    cwnd_limited: bool
    #: Segments newly acknowledged or SACKed by this ACK.
    acked: int
    #: Segments that the cumulative acknowledgment covers newly (SACKed before or not).
    cum_acked: int
    #: Segments newly marked lost on this ACK.
    lost: int
    #: This ACK's RTT sample from a segment sent once, in seconds, if it gave one.
    rtt: float | None
    #: Smoothed RTT in seconds; zero before the first sample.
    srtt: float
    #: Minimum RTT over the sender's window (5 minutes); infinite before the first sample.
    min_rtt: float
    #: Segments in flight before this ACK.
    prior_in_flight: int
    #: Segments in flight after this ACK.
    in_flight: int
    #: First segment not yet cumulatively acknowledged.
    una: int
    #: Next segment that will be sent for the first time.
    next: int
    #: Segments delivered since the connection began.
    delivered: int
    #: Of those, segments known to have been CE-marked.
    delivered_ce: int
    #: Segments marked lost since the connection began.
    total_lost: int
    #: Whether the ACK carries ECN echo.
    ece: bool
    #: Whether the ACK carries SCE echo.
    esce: bool
    #: Whether the sender had nothing more to send at some point of the last round.
    app_limited: bool
    #: Whether the ACK answers a single segment late, as far as known.
    ack_delayed: bool
    #: The delivery-rate sample.
    rate: RateSample

    def __new__(
        cls,
        *,
        state: str = ...,
        may_grow: bool = ...,
        cwnd_limited: bool = ...,
        acked: int = ...,
        cum_acked: int = ...,
        lost: int = ...,
        rtt: float | None = ...,
        srtt: float = ...,
        min_rtt: float = ...,
        prior_in_flight: int = ...,
        in_flight: int = ...,
        una: int = ...,
        next: int = ...,  # noqa: A002
        delivered: int = ...,
        delivered_ce: int = ...,
        total_lost: int = ...,
        ece: bool = ...,
        esce: bool = ...,
        app_limited: bool = ...,
        ack_delayed: bool = ...,
        rate: RateSample = ...,
    ) -> Ack: ...

@final
class Event:
    """An event of the connection other than a plain ACK.

    Fields that a kind of event does not have are ``None``.
    """

    #: Its kind: ``loss``, ``ecn``, ``rto``, ``reduction_end``, ``recovered``, ``tx_start`` or
    #: ``restart``.
    kind: str
    #: Segments in flight (loss, ecn, rto).
    in_flight: int | None
    #: The window that the sender arrived at (``reduction_end``) or prescribes (rto, restart).
    cwnd: int | None
    #: The threshold that the stack prescribes (restart).
    ssthresh: int | None
    #: Whether to choose a new threshold: true for the first timeout of an episode (rto).
    reduce: bool | None
    #: Seconds since the last data was sent (``tx_start``).
    idle: float | None

    def __new__(
        cls,
        *,
        kind: str = ...,
        in_flight: int | None = ...,
        cwnd: int | None = ...,
        ssthresh: int | None = ...,
        reduce: bool | None = ...,
        idle: float | None = ...,
    ) -> Event: ...

@final
class Sent:
    """A segment at the time of its (re)transmission."""

    #: Segment number.
    seq: int
    #: Segments in flight, this one included.
    in_flight: int
    #: Whether it was sent before.
    retransmission: bool

    def __new__(
        cls,
        *,
        seq: int = ...,
        in_flight: int = ...,
        retransmission: bool = ...,
    ) -> Sent: ...

@final
class Lost:
    """A segment that has just been marked lost."""

    #: Segment number.
    seq: int
    #: Segments in flight when it was last sent (it included).
    tx_in_flight: int
    #: The sender's ``delivered`` count when it was last sent.
    prior_delivered: int
    #: The sender's ``lost`` count when it was last sent.
    prior_lost: int
    #: Segments marked lost since the connection began, this one included.
    total_lost: int
    #: Whether it was sent in an application-limited phase.
    app_limited: bool

    def __new__(
        cls,
        *,
        seq: int = ...,
        tx_in_flight: int = ...,
        prior_delivered: int = ...,
        prior_lost: int = ...,
        total_lost: int = ...,
        app_limited: bool = ...,
    ) -> Lost: ...

@final
class Decision:
    """A control's decision. Fractions of segments and of bits per second are cut off."""

    #: Congestion window in segments, at least 1.
    cwnd: float
    #: Slow-start threshold in segments; infinite for none.
    ssthresh: float
    #: Pacing rate in bits of payload per second; ``None`` leaves pacing to the sender.
    pacing_rate: float | None
    #: Segments to send back to back; ``None`` leaves it to the sender.
    burst: float | None
    #: Whether the control sets the window in recovery itself instead of the sender's
    #: proportional rate reduction.
    owns_recovery: bool

    def __new__(
        cls,
        cwnd: float,
        ssthresh: float,
        pacing_rate: float | None = None,
        burst: float | None = None,
        owns_recovery: bool = False,
    ) -> Decision: ...

def toml_to_json(text: str) -> str: ...
def validate(scenario: str) -> tuple[str, list[str]]: ...
def quantity(text: str) -> tuple[float, str] | None: ...
def base_rtts(scenario: str) -> list[float]: ...
def error_control(
    share: float, deadline: float, per: float, round_trip: float, delay: float, rate: float
) -> tuple[str, int, int, float]: ...
def schema() -> str: ...
def catalogue(outside: bool = False) -> str: ...
def engine_build() -> str: ...
def engine_parts() -> list[tuple[str, str]]:
    """What simulates: crates with the hashes of their sources, and ``Cargo.lock`` with the versions
    of what these draw and compute with.
    """

def header_sizes() -> dict[str, int]:
    """Bytes of headers: ``ip``, ``udp``, ``tcp`` (with timestamps), ``tcp_sack`` (of three blocks,
    beside), ``ethernet``, ``sliq_data``, ``sliq_ack`` (without times), ``sliq_ack_time`` (of each),
    and what a packet between nodes of GNAT's has beside: ``gnat_data``, ``gnat_timed``,
    ``gnat_multicast``.
    """

def run_slotted(model: str) -> str: ...
def run(
    scenario: str,
    progress: Callable[[float], object] | None = None,
    record: Callable[[str, dict[str, Any], list[str | None]], object] | None = None,
    threads: int = 1,
    tables: Callable[[str, dict[str, Any]], object] | None = None,
) -> dict[str, Any]: ...
def conformance_suites() -> str:
    """In JSON: by kind the checks (``name``, ``legend``, ``least``, ``most``; null: unbounded), and
    ``exceptions`` (``check``, ``name``, ``reason``).
    """

def conform(kind: str, table: str, check: str) -> float:
    """Measures one check of a kind's suite for a member, a table in JSON."""

def describe_library(table: str) -> str: ...
def keep_note_in(path: Path) -> None: ...
def end_with(parent: int) -> None: ...
def run_live(
    scenario: str,
    progress: Callable[[float], object] | None = None,
    record: Callable[[str, dict[str, Any], list[str | None]], object] | None = None,
) -> dict[str, Any]: ...
def run_overlay(
    scenario: str,
    progress: Callable[[float], object] | None = None,
    record: Callable[[str, dict[str, Any], list[str | None]], object] | None = None,
) -> dict[str, Any]: ...
def run_kernel(
    scenario: str,
    kernel: str,
    init: list[str],
    progress: Callable[[float], object] | None = None,
    record: Callable[[str, dict[str, Any], list[str | None]], object] | None = None,
) -> dict[str, Any]: ...
def kernel_agent() -> None: ...
def run_programs(
    scenario: str,
    kernel: str,
    init: list[str],
    place: str,
    watchdog: float,
    progress: Callable[[float], object] | None = None,
    record: Callable[[str, dict[str, Any], list[str | None]], object] | None = None,
    heard: Callable[[int, int, float, bytes], object] | None = None,
) -> dict[str, Any]:
    """A run of a scenario's programs, which ends when those have ended that are waited for.

    ``place`` is JSON: ``cwd``, ``env``, ``files``, ``keep``, ``hidden``. Returns what
    :func:`run_kernel` does, and ``labels`` (for each flow the declared one whose way it took, and
    its name if a program opened it), ``connections`` (numbers that packets have, numbers of flows),
    ``hash``, ``started`` (program, time), ``output`` (program, stream, time, bytes), ``cut``
    (programs of whose output only the beginning is there), ``ended`` (program, status, time),
    ``unrouted`` (packets by pairs of hosts), ``lacks`` (number of a system call, process),
    ``killed`` (processes), ``left_out`` (bytes of files), ``uncopied`` (the first file that could
    not be copied, and why). Times are in virtual seconds.
    """

def run_command(scenario: str, command: list[str], download: bool) -> dict[str, Any]: ...
def sample_columns() -> tuple[list[str], list[str]]:
    """The names of the columns of ``flow_samples``, and of ``link_samples``."""

def import_capture(
    path: Path, interval: float, tables: Callable[[str, dict[str, Any]], object]
) -> dict[str, Any]:
    """Columns by table, as :func:`run`'s, of the flows in a capture; and ``capture``, in JSON: what
    is known of them, and what was left out. ``tables`` takes rows of ``passages``, its packets.
    """

def replay(scenario: str) -> tuple[int, int, tuple[int, float, str] | None]: ...
