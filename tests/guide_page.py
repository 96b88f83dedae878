"""Guides whose commands tests type."""

from __future__ import annotations

import re
import shlex

from conftest import ROOT


class GuidePage:
    """A page of ``docs/howto/``."""

    def __init__(self, name: str) -> None:
        self.text = (ROOT / "docs/howto" / name).read_text(encoding="utf-8")

    def blocks(self, kind: str) -> list[str]:
        """The contents of its blocks of code of this kind, such as ``toml``."""
        return re.findall(rf"```{kind}\n(.*?)```", self.text, re.DOTALL)

    def commands(self) -> list[list[str]]:
        """The arguments of each of its commands."""
        typed = [shlex.split(line) for line in "".join(self.blocks("sh")).splitlines()]
        assert {program for program, *_ in typed} == {"sojourn"}
        return [arguments for _, *arguments in typed]
