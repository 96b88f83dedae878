"""A control that is a class in a Python file, or that the program itself has defined."""

from __future__ import annotations

import json
import platform
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from sojourn import class_sources, regular_file
from sojourn._internal import Init
from sojourn.errors import ScenarioError, refused
from sojourn.executors import processes
from sojourn.external import params, raised, sources
from sojourn.external.control import Control
from sojourn.json_types import Fields
from sojourn.names import unknown

_REQUIRED = ("on_ack", "on_congestion", "decision")
#: Keys of a control's table that are not its parameters.
KEYS = ("path", "class", "digest", "interpreter", "needs_ecn")
_ECN = ("off", "classic", "accurate", "dctcp", "dctcp-sce", "sce", "l4s")


def interpreter() -> str:
    """Names the interpreter, which a run's results may depend on."""
    return f"{platform.python_implementation().lower()}-{platform.python_version()}"


def described(table: Fields) -> dict[str, object]:
    """The table with every parameter filled in.

    Raises:
        ScenarioError: naming the key, what was given and what is allowed.

    """
    control = _class(table)
    values = params.plain(_read_params(table, control))
    for name in values:
        if name in KEYS:
            raise refused("class", f"its Params has a field {name!r}, which the table needs itself")
    own = {key: table[key] for key in KEYS[:3] if key in table}
    needed = getattr(control, "ECN", "off")
    if needed not in _ECN:
        raise refused("class", f"its ECN: {unknown('ECN feedback', str(needed), _ECN)}")
    needs = {} if needed == "off" else {"needs_ecn": needed}
    return own | values | {"interpreter": interpreter()} | needs


def controls(path: str, digest: str) -> list[str]:
    """The names of the classes of a file that could be a control."""
    with processes.phase(f"loading {path}"):
        module = _module(path, digest)
    own = (c for c in vars(module).values() if isinstance(c, type) and issubclass(c, Control))
    return [control.__name__ for control in own if control.__module__ == module.__name__]


def make(text: str, init: Init) -> object:
    """A new control, of a table in JSON."""
    table = json.loads(text)
    control = _class(table)
    values = _read_params(table, control)
    try:
        return control(values, init)
    except BaseException as error:
        raise refused("", f"{control.__name__}.__init__ raised {raised.told(error)}") from None


def _read_params(table: Fields, control: type) -> object:
    own = {key: value for key, value in table.items() if key not in KEYS}
    return params.read(getattr(control, "Params", None), own)


def _class(table: Fields) -> type:
    if "path" in table:
        control = _named(table["class"], _module(table["path"], table["digest"]))
    else:
        control = class_sources.CLASSES[table["digest"]]
    for callback in _REQUIRED:
        own = getattr(control, callback, None)
        if own is None or own is getattr(Control, callback):
            raise refused("class", f"{control.__name__} has no method {callback}")
    return control


def _named(name: str, module: ModuleType) -> type:
    control = getattr(module, name, None)
    if isinstance(control, type):
        return control
    own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__]
    raise refused("class", unknown(f"class of {module.__file__}", name, own))


@cache
def _module(path: str, digest: str) -> ModuleType:
    """The file as a module, loaded once per process: worker processes live for one run."""
    if sources.digest(Path(path)) != digest:
        raise refused("path", f"{path} has changed since the scenario was read; read it again")
    module = ModuleType(Path(path).stem)
    module.__file__ = path
    sys.path.insert(0, str(Path(path).parent))
    sys.modules[module.__name__] = module  # dataclasses look themselves up
    try:
        exec(compile(regular_file.content(Path(path)), path, "exec"), module.__dict__)
    except ScenarioError:
        raise
    except BaseException as error:  # it may exit
        raise refused("path", f"{path} raised {raised.told(error)}") from None
    return module
