"""What ``sojourn new`` writes: for each kind, files from templates and lines of registries."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from sojourn.errors import ScenarioError

_TEMPLATES = Path(__file__).parent / "templates"
#: The folders of kinds whose members are compiled in.
_CCAS = "crates/sojourn-tcp/src/cc"
_QUEUES = "crates/sojourn-net/src/queue"
_NODES = "crates/sojourn-net/src/node"
_MEDIA = "crates/sojourn-net/src/edge/medium"
_TRAFFIC = "crates/sojourn-sim/src/traffic"
_TOPOLOGIES = "crates/sojourn-sim/src/topology"
_TRANSPORTS = "crates/sojourn-sim/src/transport"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Line:
    """Text that goes into a file: before the first ``end`` that follows ``begin``."""

    path: str
    begin: str
    end: str
    text: str


@dataclass(frozen=True)
class Kind:
    """What a new member of a kind needs.

    In paths, lines and templates ``NAME``, ``MODULE`` and ``KIND`` stand for its name: with
    hyphens, with underscores, and as a type's.
    """

    #: Templates by the path of the file that each one becomes.
    files: Mapping[str, str]
    lines: Sequence[Line]
    #: What to do next; ``{name}`` and ``{module}`` are filled in.
    after: str
    language: str = "rust"
    #: Where it goes outside a checkout, by template; empty if it has to be compiled in.
    outside: Mapping[str, str] | None = None
    after_outside: str = ""


def _member(folder: str) -> Line:
    line = '    "NAME" MODULE::KIND,\n'
    return Line(f"{folder}/mod.rs", "\nmembers! {\n", "}\n", line)


def _section(heading: str, following: str) -> Line:
    text = (_TEMPLATES / "section.md").read_text(encoding="utf-8")
    return Line("docs/reference/scenario.md", f"\n## {heading}\n", f"## {following}\n", text)


_SUITE = "put it through the suite: cargo test -p sojourn-catalogue --test all conforms, "
_PAGE = "then its page: make page NAME={name}"
_PACKAGE = "NAME/src/MODULE"
#: A package of its own, as anybody publishes one.
_REPRODUCTION = {
    "NAME/pyproject.toml": "reproduction/pyproject.toml.in",
    "NAME/README.md": "reproduction/readme.md.in",
    "NAME/tests/test_MODULE.py": "reproduction/test.py.in",
    f"{_PACKAGE}/__init__.py": "reproduction/init.py.in",
    f"{_PACKAGE}/card.toml": "reproduction/card.toml.in",
    f"{_PACKAGE}/experiments/buffers.toml": "reproduction/experiment.toml.in",
    f"{_PACKAGE}/reference/table_1.csv": "reproduction/table.csv.in",
    f"{_PACKAGE}/reference/SOURCE.md": "reproduction/source.md.in",
}
_INSTALL = "pip install -e {name}, then sojourn reproduce {name}, and its tests: pytest {name}"
#: Kinds that go to the working directory, in a checkout too.
_HERE = ("scenario", "reproduction")
KINDS: Mapping[str, Kind] = {
    "scenario": Kind(
        {"NAME.toml": "scenario.toml"},
        (),
        "sojourn run {name}.toml",
        language="toml",
        outside={"NAME.toml": "scenario.toml"},
        after_outside="sojourn run {name}.toml",
    ),
    "reproduction": Kind(
        _REPRODUCTION,
        (),
        _INSTALL,
        language="python",
        outside=_REPRODUCTION,
        after_outside=_INSTALL,
    ),
    "cca": Kind(
        {f"{_CCAS}/MODULE.rs": "cca.rs"},
        (_member(_CCAS),),
        "write its header and its law, test it with make test-cca NAME={name}, " + _PAGE,
    ),
    "queue": Kind(
        {f"{_QUEUES}/MODULE.rs": "queue.rs"},
        (_member(_QUEUES),),
        "write its header and its law, test it with make test-queue NAME={name}, " + _PAGE,
    ),
    "traffic": Kind(
        {f"{_TRAFFIC}/MODULE.rs": "traffic.rs"},
        (_member(_TRAFFIC), _section("Traffic", "Overrides")),
        "write its header and its section of docs/reference/scenario.md, " + _PAGE,
    ),
    "topology": Kind(
        {
            f"{_TOPOLOGIES}/MODULE.rs": "topology.rs",
            "experiments/catalogue/NAME.toml": "topology.toml",
        },
        (_member(_TOPOLOGIES), _section("Topologies", "Traffic")),
        "write its header, its section of docs/reference/scenario.md and its experiment, " + _PAGE,
    ),
    "transport": Kind(
        {f"{_TRANSPORTS}/MODULE.rs": "transport.rs"},
        (_member(_TRANSPORTS),),
        "write its header and its endpoints, " + _SUITE + _PAGE,
    ),
    "node": Kind(
        {f"{_NODES}/MODULE.rs": "node.rs"},
        (_member(_NODES),),
        "write its header and what it does, " + _SUITE + _PAGE,
    ),
    "medium": Kind(
        {f"{_MEDIA}/MODULE.rs": "medium.rs"},
        (_member(_MEDIA),),
        "write its header and who may send when, " + _SUITE + _PAGE,
    ),
    "metric": Kind(
        {"python/sojourn/metrics/MODULE.py": "metric.py.in"},
        (
            Line(
                "python/sojourn/metrics/__init__.py",
                "\nFAMILIES = (\n",
                ")\n",
                '    "MODULE",\n',
            ),
        ),
        "write what it measures; sojourn list metrics shows it",
        language="python",
        outside={"MODULE.py": "metric_outside.py.in"},
        after_outside="write what it measures, and import {module} before sojourn.run(...)",
    ),
}


#: Kinds that go to the working directory, not into Sojourn; a crate of one's own outside it.
OTHERS: Mapping[tuple[str, str], Kind] = {
    ("cca", "python"): Kind(
        {
            "MODULE.py": "cca.py.in",
            "test_MODULE.py": "cca_test.py.in",
            "NAME.toml": "cca_python.toml.in",
        },
        (),
        "sojourn run {name}.toml, and its tests: pytest test_{module}.py",
    ),
    ("cca", "c"): Kind(
        {
            "MODULE.c": "cca.c.in",
            "sojourn_cca.h": "../include/sojourn_cca.h",
            "Makefile": "cca_makefile.in",
            "test_MODULE.py": "cca_c_test.py.in",
            "NAME.toml": "cca_c.toml.in",
        },
        (),
        "make, sojourn run {name}.toml, and its tests: pytest test_{module}.py",
    ),
    ("cca", "rust"): Kind(
        {
            "NAME/Cargo.toml": "crate_cargo.toml.in",
            # The versions that Sojourn is tested with; Cargo adds the crate's own line.
            "NAME/Cargo.lock": "CHECKOUT/Cargo.lock",
            "NAME/.cargo/config.toml": "crate_config.toml.in",
            "NAME/build.rs": "crate_build.rs.in",
            "NAME/src/main.rs": "crate_main.rs.in",
            "NAME/src/MODULE.rs": "crate_cca.rs.in",
            "NAME/NAME.toml": "crate_scenario.toml.in",
        },
        (),
        "cd {name}, cargo build, target/debug/{name} run {name}.toml, and its tests: cargo test",
    ),
}


@dataclass(frozen=True)
class Made:
    """What was written, and what to do next."""

    written: Sequence[Path]
    changed: Sequence[Path]
    after: str


def new(kind: str, name: str, language: str | None, root: Path | None, here: Path) -> Made:
    """Adds ``name`` to the checkout at ``root`` (none: outside one), scenarios to ``here``.

    A control in a language that is named goes to ``here``, one in Rust if that is not in ``root``.

    Raises:
        ScenarioError: if the name, its language or its place will not do.

    """
    known = KINDS[kind]
    if not _NAME.fullmatch(name):
        raise ScenarioError(
            f"NAME: {name!r} given; expected lower case with hyphens, such as my-own"
        )
    inside = root is not None and here.resolve().is_relative_to(root)
    if language and (kind, language) in OTHERS and not (language == known.language and inside):
        if language == known.language and root is None:
            raise ScenarioError("--language: rust given; needs a checkout of Sojourn to build with")
        other = OTHERS[kind, language]
        return _write(here, name, other.files, (), other.after, root)
    if language not in (None, known.language):
        raise ScenarioError(f"--language: {language} given; {kind} is written in {known.language}")
    files, lines, after = known.files, known.lines, known.after
    if root is None:
        if known.outside is None:
            others = (other for of, other in OTHERS if of == kind and other != known.language)
            languages = [f"--language {other}" for other in others]
            instead = f"; otherwise: {' or '.join(languages)}" if languages else ""
            raise ScenarioError(
                f"{kind}: needs a checkout of Sojourn, because it is compiled in{instead}"
            )
        files, lines, after = known.outside, (), known.after_outside
    base = here if kind in _HERE or root is None else root
    return _write(base, name, files, lines, after)


def _write(
    base: Path,
    name: str,
    files: Mapping[str, str],
    lines: Sequence[Line],
    after: str,
    root: Path | None = None,
) -> Made:
    """All or nothing: every text is made before the first is written."""
    written = {base / _filled(path, name): _template(t, name, root) for path, t in files.items()}
    for path in written:
        if path.is_symlink() or path.exists():  # one that leads nowhere would be followed
            raise ScenarioError(f"NAME: {name!r} given, but {path} exists")
    changed = {base / line.path: _with(base / line.path, line, name) for line in lines}
    for path, text in {**written, **changed}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    after = after.format(name=name, module=name.replace("-", "_"))
    return Made(list(written), list(changed), after)


def _template(template: str, name: str, root: Path | None) -> str:
    path = _TEMPLATES / template.replace("CHECKOUT", str(root))
    text = _filled(path.read_text(encoding="utf-8"), name)
    text = text.replace("CHECKOUT", str(root)).replace('"PYTHON"', f'"{sys.executable}"')
    return text.replace("date = TODAY", f"date = {date.today()}")


def _filled(text: str, name: str) -> str:
    words = name.split("-")
    forms = {"NAME": name, "MODULE": "_".join(words), "KIND": "".join(map(str.capitalize, words))}
    return re.sub("|".join(forms), lambda match: forms[match[0]], text)


def _with(path: Path, line: Line, name: str) -> str:
    """The file's text with the line in it."""
    text = path.read_text(encoding="utf-8")
    begin = text.find(line.begin)
    end = text.find(line.end, begin + len(line.begin))
    if begin < 0 or end < 0:
        raise ScenarioError(f"{path}: there is no {line.begin.strip()!r} to add {name} to")
    return text[:end] + _filled(line.text, name) + text[end:]
