"""From a scenario with a sweep table to its runs: grid x replications."""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sojourn import _internal, literal
from sojourn.backends import Backend, backend
from sojourn.backends.programs import named
from sojourn.errors import ScenarioError
from sojourn.json_types import Json
from sojourn.located import files
from sojourn.metrics import metrics
from sojourn.names import unknown
from sojourn.origin import Origin
from sojourn.programs import Named
from sojourn.quantity import number
from sojourn.scenario import Document, Scenario, set_path, validated
from sojourn.statistics import Until
from sojourn.store.rows import Coordinates, Grid
from sojourn.sweeps.axes import axes, field_of, settings
from sojourn.sweeps.jitter import jittered, jittered_by_rtt
from sojourn.sweeps.replications import parse, place

_KEYS = ("replications", "start_jitter", "metrics", "grid", "cases")
#: More runs than this are a mistake in the file.
MOST_RUNS = 10_000_000


#: So many values are tried on their own before the first run, evenly spread over each axis's;
#: others turn out to be wrong when their runs fail.
MOST_TRIED = 10_000
#: A run as the sweep names it: the value of each axis, and which replication.
Place = tuple[Coordinates, int]


@dataclass(frozen=True)
class Point:
    """One run of a sweep."""

    coordinates: Coordinates
    replication: int
    canonical: Document
    #: Why the values do not go together, if they do not.
    error: str | None = None


@dataclass(frozen=True)
class Plan:
    """What a sweep table asks for, checked."""

    document: Document
    grid: Grid
    replications: int
    #: ``None`` for the default: a base RTT if there is more than one replication.
    start_jitter: str | None
    #: Which of how many parts of the runs, from 1.
    shard: tuple[int, int] = (1, 1)
    #: How the number of replications follows from the first ``replications``.
    until: Until | None = None
    #: Metrics that need further runs, and are computed all the same.
    requested: tuple[str, ...] = ()
    #: Files of code from outside, with digests of what they are.
    sources: Mapping[str, str] = field(default_factory=dict)
    #: For each place of the scenario's programs, those that the grid has there, each once.
    programs: Sequence[Sequence[Named]] = ()
    #: What runs it, by the name that stands for this very one.
    backend: str = "sim"
    #: What tells its runs from those of other backends; nothing of the simulator's.
    origin: Origin | None = None

    def part(self, shard: tuple[int, int]) -> Plan:
        """Every Nth run from the Ith.

        Raises:
            ScenarioError: if which runs there are follows from the results of others.

        """
        if self.until and shard != (1, 1):
            raise ScenarioError(
                "--shard: how many replications a point needs follows from the results of its "
                "first ones, which other parts run; give sweep.replications as a whole number"
            )
        return replace(self, shard=shard)

    def __len__(self) -> int:
        size = self.replications * math.prod(len(values) for values in self.grid.values())
        first, step = self.shard
        return len(range(first - 1, size, step))

    def __iter__(self) -> Iterator[Point]:
        """The runs in the order of :meth:`places`, made canonical one by one."""
        return itertools.starmap(self.point, self.places())

    def places(self) -> Iterator[Place]:
        """The runs by name, made as they are asked for; all points once before any second
        replication of a point begins.
        """
        first, step = self.shard
        runs = (
            (replication, values)
            for replication in range(self.replications)
            for values in itertools.product(*self.grid.values())
        )
        for replication, values in itertools.islice(runs, first - 1, None, step):
            yield dict(zip(self.grid, values, strict=True)), replication

    def further(self, counts: Mapping[str, int]) -> Iterator[Place]:
        """The runs beyond the first replications, of points that need so many."""
        for replication in range(self.replications, max(counts.values(), default=0)):
            for values in itertools.product(*self.grid.values()):
                coordinates = dict(zip(self.grid, values, strict=True))
                if replication < counts.get(place(coordinates), 0):
                    yield coordinates, replication

    def point(self, coordinates: Coordinates, replication: int) -> Point:
        """One run, jittered; one that is refused has an error."""
        try:
            canonical = self.canonical(coordinates)
            canonical["seed"] += replication
            canonical = json.loads(_internal.validate(json.dumps(self._jittered(canonical)))[0])
        except ScenarioError as error:
            return Point(coordinates, replication, {"refused": coordinates}, str(error))
        return Point(coordinates, replication, canonical)

    def _jittered(self, canonical: Document) -> Document:
        if self.start_jitter is None:
            return jittered_by_rtt(canonical) if self.replications > 1 else canonical
        return jittered(canonical, self.start_jitter) if number(self.start_jitter) else canonical

    def canonical(self, coordinates: Coordinates) -> Document:
        """The canonical scenario at one point of the grid."""
        document = copy.deepcopy(self.document)
        for path, value in settings(coordinates):
            set_path(document, path, copy.deepcopy(value))
        return validated(document).canonical


def plan(scenario: Scenario, on: str = "sim") -> Plan:
    """Reads and checks the sweep table for the backend called ``on``; values of the grid are tried
    on their own.

    Raises:
        ScenarioError: if the table is wrong, there is no such backend, or that refuses a value.

    """
    table = scenario.sweep if scenario.sweep is not None else {}
    if not isinstance(table, dict):
        raise ScenarioError(f"sweep: {literal.given(table)} given; expected a table")
    for key in table:
        if key not in _KEYS:
            raise ScenarioError(f"sweep.{key}: {unknown('key', key, _KEYS)}")
    chosen = backend(on)
    requested = _requested(table.get("metrics", []))
    replications, until = parse(table.get("replications", 1), requested)
    made = Plan(
        scenario.document,
        axes(table),
        replications,
        _jitter(table.get("start_jitter")),
        until=until,
        requested=requested,
        backend=chosen.name,
        origin=chosen.key(),
    )
    if len(made) > MOST_RUNS:
        raise ScenarioError(f"sweep: {len(made):,} runs; allowed: at most {MOST_RUNS:,}")
    tried = [(dict(files(one)), named(one)) for one in _try_values(made, chosen)]
    sources = {f: d for found, _ in tried for f, d in found.items()}
    return replace(made, sources=sources, programs=_by_place(one for _, one in tried))


def _try_values(made: Plan, on: Backend) -> Iterator[Document]:
    """Refuses wrong values of the grid before the first run; combinations may still fail. Gives
    the canonical form with each value.
    """
    first = {axis: values[0] for axis, values in made.grid.items()}
    try:
        canonical = made.canonical(first)
    except ScenarioError as error:
        raise _refusal(_culprit(made, first, error), 0, made.grid, error) from None
    try:
        on.check(canonical)
    except ScenarioError as error:
        blamed = (axis for axis, value in first.items() if _blamed(axis, value, error))
        if axis := next(blamed, None):
            raise _refusal(axis, 0, made.grid, error) from None
        raise
    yield canonical
    most = max(MOST_TRIED // max(len(made.grid), 1), 1)
    for axis, values in made.grid.items():
        for index in _spread(len(values), most):
            try:
                canonical = made.canonical({**first, axis: values[index]})
                on.check(canonical)
            except ScenarioError as error:
                raise _refusal(axis, index, made.grid, error) from None
            yield canonical


def _by_place(tried: Iterable[Sequence[Named]]) -> list[list[Named]]:
    """The programs of several scenarios by their places, each once."""
    columns = itertools.zip_longest(*{json.dumps(one): one for one in tried}.values())
    whole = ({json.dumps(one): one for one in column if one is not None} for column in columns)
    return [list(one.values()) for one in whole]


def _spread(count: int, most: int) -> list[int]:
    """Indices from 1, the last one among them, evenly spread if there are more than ``most``."""
    tried = min(count - 1, most)
    return [round(place * (count - 1) / tried) for place in range(1, tried + 1)]


def _culprit(made: Plan, first: Coordinates, error: ScenarioError) -> str:
    """The axis whose first value an error is about; empty if these do not go together."""
    for axis, value in first.items():
        if _blamed(axis, value, error):
            return axis
    for axis, value in first.items():
        try:
            made.canonical({axis: value})
        except ScenarioError:
            return axis
    return ""


def _blamed(axis: str, value: Json, error: ScenarioError) -> tuple[str, Json] | None:
    """The field among those that a value of an axis sets that an error is about, and what it is
    given.
    """
    within = (entry for entry in settings({axis: value}) if _is_within(error.field, entry[0]))
    return next(within, None)


def _is_within(field: str, path: str) -> bool:
    """Whether a field is at or below a path of the grid, whose ``*`` is any number."""
    return bool(re.fullmatch(re.escape(path).replace(r"\*", r"\d+") + r"(\..*)?", field))


def _refusal(axis: str, place: int, grid: Grid, error: ScenarioError) -> ScenarioError:
    if not axis:
        return ScenarioError(f"sweep.grid: the first values do not go together: {error}")
    path, value = _blamed(axis, grid[axis][place], error) or ("", grid[axis][place])
    field = field_of(axis, place, path)
    same = path != "" and error.field.count(".") == path.count(".")
    refusal = ScenarioError(f"{field} = {literal.given(value)}: {error.message if same else error}")
    refusal.field = field
    return refusal


def _requested(given: object) -> tuple[str, ...]:
    """Names of metrics that are computed only if named."""
    known = sorted({m.name for m in metrics() if m.on_request})
    if not isinstance(given, list):
        raise ScenarioError(
            f"sweep.metrics: {literal.given(given)} given; expected a list of {known}"
        )
    for name in given:
        if name not in known:
            told = unknown("metric that needs further runs", str(name), known)
            raise ScenarioError(
                f"sweep.metrics: {told}; all others are computed without being named"
            )
    return tuple(sorted(set(given)))


def _jitter(jitter: object) -> str | None:
    """The jitter as a canonical quantity: the core reads it as it reads any flow's start."""
    if jitter is None:
        return None
    probe = {
        "duration": "1 s",
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "1 Mbit/s"}},
        "flows": [{"cca": "reno", "rtt": jitter}],
    }
    try:
        return str(json.loads(_internal.validate(json.dumps(probe))[0])["flows"][0]["rtt"])
    except ScenarioError as error:
        reason = str(error).removeprefix("flows.0.rtt: ")
        raise ScenarioError(f"sweep.start_jitter: {reason}") from None
