"""Ways to compile for wasm32: rustup's target, or Debian's packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TARGET = "wasm32-unknown-unknown"
CRATE = "sojourn-wasm"
LACK = (
    f"needs `rustup target add {TARGET}`, or Debian's packages "
    "rustc-web, cargo-web, rust-web-src and lld"
)
#: Where Debian's packages put things; another cargo may come first in the path.
_BIN, _SOURCES, _LINKERS = Path("/usr/bin"), Path("/usr/lib/rustlib/src"), Path("/usr/lib")


@dataclass(frozen=True)
class Way:
    """A compiler, and how it is called."""

    name: str
    cargo: str
    options: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Directories that messages of panics would name, and what they name in their place.
    renamed: Mapping[str, str] = field(default_factory=dict)

    def compiled(self, root: Path) -> bytes:
        """The module of the checkout at ``root``; cargo compiles what has changed."""
        target = root / "target/wasm"
        cargo_home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
        renamed = {str(root): "/sojourn", cargo_home: "/cargo", **self.renamed}
        flags = [f"--remap-path-prefix={path}={name}" for path, name in renamed.items()]
        environment = {
            **os.environ,
            **self.environment,
            "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
        }
        what = ("--package", CRATE, "--lib", "--crate-type", "cdylib", "--profile", "wasm")
        where = ("--target", TARGET, "--target-dir", str(target), "--locked", "--quiet")
        command = [self.cargo, "rustc", *what, *where, *self.options]
        subprocess.run(command, cwd=root, env=environment, check=True)
        return (target / TARGET / "wasm" / f"{CRATE.replace('-', '_')}.wasm").read_bytes()


def found() -> Way | None:
    """The first way that there is on this machine."""
    return _rustup() or _debian()


def _rustup() -> Way | None:
    rustup, cargo = shutil.which("rustup"), shutil.which("cargo")
    if not rustup or not cargo:
        return None
    listed = subprocess.run(
        [rustup, "target", "list", "--installed"], capture_output=True, text=True, check=False
    )
    return Way("rustup's target", cargo) if TARGET in listed.stdout.split() else None


def _debian() -> Way | None:
    """A recent compiler without a standard library for wasm32, which is compiled as well."""
    rustc, cargo = _BIN / "rustc", _BIN / "cargo"
    linkers = sorted(_LINKERS.glob("llvm-*/bin/wasm-ld"), key=_number)
    there = all(path.exists() for path in (rustc, cargo, _SOURCES / "rust/library/std"))
    if not there or not linkers or _version(rustc) < _needed():
        return None
    linker = linkers[-1].parent
    return Way(
        f"Debian's compiler, {linker}",
        str(cargo),
        ("-Z", "build-std=std,panic_abort"),
        {
            "PATH": f"{linker}:{os.environ['PATH']}",
            "RUSTC": str(rustc),
            # The standard library can be compiled by a compiler that allows what is not settled.
            "RUSTC_BOOTSTRAP": "1",
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": "wasm-ld",
        },
        {str(_SOURCES): "/std"},
    )


def _number(linker: Path) -> int:
    return int(linker.parts[3].removeprefix("llvm-"))


def _version(rustc: Path) -> tuple[int, ...]:
    said = subprocess.run([rustc, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"(\d+)\.(\d+)", said.stdout)
    return tuple(map(int, found.groups())) if found else ()


def _needed() -> tuple[int, ...]:
    manifest = tomllib.loads((Path(__file__).parents[2] / "Cargo.toml").read_text("utf-8"))
    return tuple(map(int, str(manifest["workspace"]["package"]["rust-version"]).split(".")))
