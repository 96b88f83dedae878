"""The crates, from their manifests: what each is, and what it rests on."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Any

import networkx

from sojourn import data

#: The file of the picture, in the folder of explanations.
PICTURE = "crates.svg"
_OURS = "sojourn-"
_INTRODUCTION = """\
# The crates

What a program in Rust may use of Sojourn: run scenarios, or add controls, queue disciplines and
topologies of its own ([how](../howto/own-control.md)). Each name leads to the documentation of what
the crate offers.

| crate | what it is |
| --- | --- |
"""
#: Of a crate's box and between two, in pixels.
_WIDTH, _HEIGHT, _GAP = 230, 108, 14
_STYLE = """\
text { font: 12px sans-serif; fill: #1a1a1a } .name { font-weight: bold; font-size: 14px }
rect { fill: #f6f6f6; stroke: #0072b2 } .needs { fill: #0054a6 }
"""


@dataclass(frozen=True)
class Crate:
    """A crate of the workspace, the ones of ours that it needs, and whether others may use it."""

    name: str
    description: str
    needs: Sequence[str]
    public: bool


def crates() -> list[Crate]:
    """All crates by name."""
    manifests = sorted(data.checkout().glob("crates/*/Cargo.toml"))
    return [_crate(tomllib.loads(path.read_text(encoding="utf-8"))) for path in manifests]


def _crate(manifest: Mapping[str, Any]) -> Crate:
    package = manifest["package"]
    given = [manifest, *manifest.get("target", {}).values()]
    needs = [
        name for part in given for name in part.get("dependencies", {}) if name.startswith(_OURS)
    ]
    public = package.get("publish", True) is not False
    return Crate(str(package["name"]), str(package["description"]), needs, public)


def page() -> str:
    """The page of the crates that others may use; rustdoc's lies beside the pages of the site."""
    rows = [
        f'| <a href="../rust/{crate.name.replace("-", "_")}/index.html">{crate.name}</a> '
        f"| {crate.description} |\n"
        for crate in crates()
        if crate.public
    ]
    return _INTRODUCTION + "".join(rows)


def picture() -> str:
    """The crates as an SVG: each stands above those that it needs, and names them."""
    listed = {crate.name: crate for crate in crates()}
    edges = [(crate.name, needed) for crate in listed.values() for needed in crate.needs]
    graph = networkx.transitive_reduction(networkx.DiGraph(edges))
    floors = list(networkx.topological_generations(graph.reverse()))[::-1]
    wide = max(len(floor) for floor in floors) * (_WIDTH + _GAP) - _GAP
    high = len(floors) * (_HEIGHT + _GAP) - _GAP
    boxes: list[str] = []
    for level, floor in enumerate(floors):
        left = (wide - len(floor) * (_WIDTH + _GAP) + _GAP) / 2
        for at, name in enumerate(sorted(floor)):
            place = (left + at * (_WIDTH + _GAP), level * (_HEIGHT + _GAP))
            boxes += _box(listed[name], sorted(graph.successors(name)), place)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {wide + 2} {high + 2}" '
    head += f'width="{wide + 2}" height="{high + 2}" role="img">'
    return "\n".join([head, f"<style>\n{_STYLE}</style>", *boxes, "</svg>\n"])


def _box(crate: Crate, needs: Sequence[str], place: tuple[float, float]) -> Iterator[str]:
    x, y = place
    yield f'<rect x="{x:g}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
    yield f'<text class="name" x="{x + 10:g}" y="{y + 20:g}">{escape(crate.name)}</text>'
    for number, line in enumerate(wrap(crate.description, 32)[:4]):
        yield f'<text x="{x + 10:g}" y="{y + 37 + 14 * number:g}">{escape(line)}</text>'
    if needs:
        named = "on " + ", ".join(name.removeprefix(_OURS) for name in needs)
        yield f'<text class="needs" x="{x + 10:g}" y="{y + _HEIGHT - 8:g}">{named}</text>'
