"""A kernel module's source: the files that belong to it, and its private state."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sojourn import regular_file

#: Headers that hold algorithms, or what one discipline is configured by, and no interface of the
#: kernel: they are taken from the tree that the source stands in, as parts of it.
ALGORITHMS = {
    "net/codel.h": "net/codel.h",
    "net/codel_impl.h": "net/codel_impl.h",
    "net/codel_qdisc.h": "net/codel_qdisc.h",
    "net/pie.h": "net/pie.h",
    "net/red.h": "net/red.h",
    "sojourn/pkt_sched.h": "uapi/linux/pkt_sched.h",
}
_INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
_POLICY = re.compile(r"struct\s+nla_policy\s+(\w+)\s*\[[^\]]*\]\s*=\s*\{(.*?)\n\};", re.DOTALL)
_ATTRIBUTE = re.compile(r"\[\s*(\w+)\s*\]\s*=")
_STATE = re.compile(r"struct\s+(\w+)\s*\*\s*\w+\s*=\s*(?:inet_csk_ca|qdisc_priv)\s*\(")


@dataclass(frozen=True)
class Source:
    """A source file, at its absolute path."""

    path: Path

    @cached_property
    def files(self) -> list[Path]:
        """The file, those that it includes by place, and they in turn, and those of
        :data:`ALGORITHMS`.

        Raises:
            OSError: if one of them cannot be read, or is no regular file.

        """
        found = {self.path: _text(self.path)}
        waiting = [self.path]
        while waiting:
            including = waiting.pop()
            for file in self._included(including, found[including]):
                if file not in found and file.exists():
                    found[file] = _text(file)
                    waiting.append(file)
        return list(found)

    @property
    def modules(self) -> list[Path]:
        """Other modules that it needs: sources beside it that export what a header declares that it
        includes.
        """
        stems = [file.stem for file in self.files if file.suffix == ".h"]
        names = {f"{prefix}{stem}.c" for stem in stems for prefix in ("", "sch_")}
        beside = {self.path.parent / name for name in names} - {self.path}
        return sorted(file for file in beside if file.is_file() and _exports(file))

    @cached_property
    def policy(self) -> tuple[str, dict[str, str]] | None:
        """Of a queue discipline, the table of its attributes, and their constants by name: in small
        letters, without what all of them begin with.
        """
        found = _POLICY.search(_text(self.path))
        if not found:
            return None
        constants = _ATTRIBUTE.findall(found[2])
        common = _beginning(constants)
        return found[1], {name.removeprefix(common).lower(): name for name in constants}

    @property
    def algorithms(self) -> dict[str, Path]:
        """The files of :data:`ALGORITHMS` that it has, by the names that it includes them by."""
        include = self.tree / "include" if self.tree else self.path.parent / "include"
        named = {name: include / path for name, path in ALGORITHMS.items()}
        return {name: path for name, path in named.items() if path.is_file()}

    @cached_property
    def tree(self) -> Path | None:
        """The top of the kernel's tree that it stands in."""
        parents = self.path.parents
        return next((top for top in parents if (top / "include/net/tcp.h").is_file()), None)

    @property
    def state(self) -> str | None:
        """The type of its private state."""
        found = _STATE.search(_text(self.path))
        return f"struct {found[1]}" if found else None

    @property
    def needs_ecn(self) -> bool:
        """Whether it is a control that asks for ECN."""
        return "TCP_CONG_NEEDS_ECN" in _text(self.path)

    def _included(self, including: Path, text: str) -> Iterator[Path]:
        for beside, named in _INCLUDE.findall(text):
            if beside or named.startswith("/"):
                # Without "..", so that two that include each other are two.
                yield Path(os.path.normpath(including.parent / (beside or named)))
            elif named in self.algorithms:
                yield self.algorithms[named]


def _beginning(constants: list[str]) -> str:
    """The words that all of them begin with: ``TCA_FQ_CODEL_``."""
    words = [name.split("_") for name in constants]
    together = itertools.takewhile(lambda same: len(set(same)) == 1, zip(*words, strict=False))
    beginning = [same[0] for same in together] if len(constants) > 1 else ["TCA"]
    return "".join(f"{word}_" for word in beginning)


def _text(file: Path) -> str:
    return regular_file.text(file, errors="replace")


def _exports(file: Path) -> bool:
    return "EXPORT_SYMBOL" in _text(file)
