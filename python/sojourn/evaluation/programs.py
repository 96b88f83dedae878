"""Which programs of a scenario are others on the two sides of a comparison."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sojourn.literal import beginning
from sojourn.programs import Named

#: By each place of a scenario's programs, those that the runs of a side have there, in words.
Told = Mapping[str, Collection[str]]
#: So many are named of a place, and so many characters of what one is called with.
_MOST, _LONGEST = 2, 100


def programs_of(places: Sequence[Iterable[Named]]) -> Told:
    """What a side has at these places, each place's programs in their order."""
    return {
        f"programs.{number}": list(dict.fromkeys(map(_words, programs)))
        for number, programs in enumerate(places)
    }


def others(a: Told, b: Told) -> Iterator[str]:
    """For each place that has other programs in A than in B what they are; nothing where one side
    tells of none: what its manifest does not say is not known.
    """
    for place in dict.fromkeys((*a, *b)) if a and b else ():
        mine, theirs = a.get(place, ()), b.get(place, ())
        if set(mine) != set(theirs):
            parts = (
                _some([one for one in side if one not in other])
                for side, other in ((mine, theirs), (theirs, mine))
            )
            yield f"{place} differs: {' against '.join(parts)}"


def _words(program: Named) -> str:
    command = program["command"]
    text = command if isinstance(command, str) else shlex.join(command)
    file = f"{program['executable']} {program['digest']}" if "digest" in program else "no file"
    return f"{beginning(' '.join(text.split()), _LONGEST)} on {program['host']} ({file})"


def _some(programs: Sequence[str]) -> str:
    more = [f"{len(programs) - _MOST} more"] * (len(programs) > _MOST)
    return " and ".join([*programs[:_MOST], *more]) or "none besides"
