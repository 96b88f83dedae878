"""The text of the generated pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sojourn.catalogue import Kind, Member, members, title
from sojourn.described import cell, describe
from tools.pages import crates
from tools.pages.at_work import FIGURES, caption, figure_path
from tools.pages.registries import experiment_list, metric_list

_NOTE = "<!-- Written by `make docs` from the headers of the source files. -->"
_CCAS = """\
Which congestion controls there are, where each comes from, and all of its parameters. Written as
`cca` of a flow; [conformance](../explanation/conformance.md) has them in the same runs."""
_QUEUES = """\
Which queue disciplines (FIFO and AQMs) there are, where each comes from, and all of its parameters.
Written as `queue` of a [link](scenario.md#links)."""
_TRAFFIC = """\
What an application may send over a flow, and when. Written as `traffic` of a flow; for many short
transfers see [`arrivals`](scenario.md#arrivals)."""
_TOPOLOGIES = """\
Networks to choose from: ready ones with a few keys, and a graph of your own nodes and links.
Written as `kind` of the table `topology`."""
_TRANSPORTS = "What may carry a flow, and its parameters. Written as `transport` of a flow."
_NODES = """\
What a node of a network may do with packets besides passing them on. Written as `kind` of an entry
of `nodes` of a [graph](scenario.md#graph)."""
_MEDIA = """\
Channels that several links share, such as Wi-Fi's. Written as an entry of
[`media`](scenario.md#shared-media), or as `medium` of a link."""
#: Introduction and folder of the source files of each kind.
_KINDS: dict[Kind, tuple[str, str]] = {
    "ccas": (_CCAS, "sojourn-tcp/src/cc"),
    "queues": (_QUEUES, "sojourn-net/src/queue"),
    "traffic": (_TRAFFIC, "sojourn-sim/src/traffic"),
    "topologies": (_TOPOLOGIES, "sojourn-sim/src/topology"),
    "transports": (_TRANSPORTS, "sojourn-sim/src/transport"),
    "nodes": (_NODES, "sojourn-net/src/node"),
    "media": (_MEDIA, "sojourn-net/src/edge/medium"),
}
#: Kinds with a page per member; the members of the others are sections of one page.
_LARGE: tuple[Kind, ...] = ("ccas", "queues")


def pages() -> dict[str, str]:
    """Every page by its path below the directory of the reference."""
    registries = {"metric-list.md": metric_list(), "experiments.md": experiment_list()}
    return {**dict(_pages()), **registries, "rust.md": crates.page()}


def _pages() -> Iterator[tuple[str, str]]:
    for kind, (introduction, folder) in _KINDS.items():
        listed = members(kind)
        begin = [_NOTE, f"# {title(kind)}", _introduction(introduction, folder)]
        if kind not in _LARGE:
            sections = [part for member in listed for part in _member(kind, member, "##")]
            yield f"{kind}.md", _join(*begin, *sections)
            continue
        yield f"{kind}.md", _join(*begin, _overview(kind, listed), _toctree(kind, listed))
        for member in listed:
            back = f"One of the [{title(kind).lower()}](../{kind}.md)."
            yield f"{kind}/{member.name}.md", _join(_NOTE, *_member(kind, member, "#"), back)


def _introduction(text: str, folder: str) -> str:
    where = f"`crates/{folder}/` or a wing"
    return f"{text}\n\nEach is one file of {where}, whose header is its documentation here."


def _member(kind: Kind, member: Member, heading: str) -> Iterator[str]:
    yield from describe(member, heading)
    if kind in FIGURES:
        yield f"{heading}# At work"
        path = figure_path(kind, member.name)
        yield f"![{member.name} at work]({path.name if kind in _LARGE else path})"
        yield caption(kind, member.name)


def _overview(kind: Kind, listed: Sequence[Member]) -> str:
    rows = [
        f"| [{m.name}]({kind}/{m.name}.md) | {cell(m.summary)} | {cell(m.source or '')} |"
        for m in listed
    ]
    return "\n".join(["| name | summary | source |", "| --- | --- | --- |", *rows])


def _toctree(kind: Kind, listed: Sequence[Member]) -> str:
    """For the site: that these pages are below this one."""
    return "\n".join(["```{toctree}", ":hidden:\n", *(f"{kind}/{m.name}" for m in listed), "```"])


def _join(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"
