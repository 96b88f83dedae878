"""A release: what is published of a version, made in steps into ``dist/release``.

Each step is made once for a commit: ``make release`` again goes on where it failed. Tools that only
a release needs run in environments of their own, with the versions below.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = ROOT / "dist" / "release"
#: The oldest glibc that a wheel runs with, 2.28 of 2018: as the wheels that it depends on.
GLIBC = 28
TOOLS = {
    "auditwheel": "auditwheel==6.8.2",
    "cffconvert": "cffconvert==2.0.0",
    "cyclonedx-py": "cyclonedx-bom==7.5.0",
    "python": "ziglang==0.16.0",
    "wheel": "wheel==0.48.0",
}
_ZIG = "import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).with_name('zig'))"
#: Goes into a release as it is.
_COPIED = ("Containerfile", "CITATION.cff", "requirements.lock")
_MADE = ".made.json"


class ReleaseError(Exception):
    """What is wrong with a release, and the remedy."""


def run(*command: object, **environment: str) -> str:
    """Runs a command in the checkout; what it prints.

    Raises:
        ReleaseError: the command failed; what it said stands above.

    """
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseError(f"{done.stdout}{' '.join(words)}: failed; mend it, then: make release")
    return done.stdout


def tool(name: str, *arguments: object) -> str:
    """Runs one of :data:`TOOLS`."""
    uv = Path(sys.executable).with_name("uv")
    return run(uv, "tool", "run", "--quiet", "--from", TOOLS[name], name, *arguments)


def version() -> str:
    """The version of all crates, which is that of the package."""
    [found] = re.findall(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text("utf-8"), re.M)
    return str(found)


def wheel() -> None:
    """The wheel: for any Linux of this machine's kind, and without a path of this machine."""
    cargo = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    remap = f"--remap-path-prefix={cargo}=cargo --remap-path-prefix={ROOT}=sojourn"
    with tempfile.TemporaryDirectory() as place:
        tag = f"manylinux_2_{GLIBC}"
        made = ("--release", "--zig", "--compatibility", tag, "--out", place)
        zig = tool("python", "-c", _ZIG).strip()
        maturin = Path(sys.executable).with_name("maturin")
        run(maturin, "build", *made, CARGO_ZIGBUILD_ZIG_PATH=zig, RUSTFLAGS=remap)
        [built] = Path(place).glob("*.whl")
        _without_paths(built, Path(place))
    check_wheel(_one("*.whl"))


def _without_paths(built: Path, place: Path) -> None:
    """Packs a wheel again whose list of crates says nothing of where it was built."""
    tool("wheel", "unpack", "--dest", place, built)
    [content] = place.glob("sojourn-*/")
    for told in content.glob("*.dist-info/sboms/*.json"):
        text = told.read_text("utf-8").replace(f"file://{ROOT}/", "file:///")
        told.write_text(text, encoding="utf-8")
    tool("wheel", "pack", "--dest-dir", OUT, content)


def check_wheel(path: Path) -> None:
    """Looks into a wheel.

    Raises:
        ReleaseError: it needs a later glibc than :data:`GLIBC`, it lacks files or has others than
            those of the checkout, or tells where it was built.

    """
    told = tool("auditwheel", "show", path)
    needed = re.search(rf'tag: "manylinux_2_(\d+)_{platform.machine()}"', " ".join(told.split()))
    if not needed or int(needed[1]) > GLIBC:
        raise ReleaseError(f"{told}{path.name}: needs more than glibc 2.{GLIBC}; build it by zig")
    with zipfile.ZipFile(path) as held:
        names = held.namelist()
        local = [n for n in names if tells(held.read(n))]
    check_data((name.removeprefix("sojourn/data/") for name in names), path)
    if local:
        raise ReleaseError(f"{path.name}: a path of this machine is in {', '.join(local)}")


def tells(content: bytes) -> bool:
    """Whether a file says where it was made."""
    home = str(Path.home())
    return any(f"{place}/".encode() in content for place in {str(ROOT), home} - {"/"})


def check_data(names: Iterable[str], path: Path) -> None:
    """What is in directories that are links holds what is tracked, and nothing else.

    Raises:
        ReleaseError: names the files that are missing or should not be there.

    """
    tracked = run("git", "ls-files", "experiments", "reference", "reproductions").splitlines()
    wanted = {re.sub("^reproductions/", "sojourn_reproductions/", name) for name in tracked}
    inside = re.compile("(experiments|reference|sojourn_reproductions)/")
    if wrong := {name for name in names if inside.match(name)} ^ wanted:
        raise ReleaseError(f"{path.name}: not as tracked: {', '.join(sorted(wrong)[:5])}, ...")


def sdist() -> None:
    """The sources, of which pip builds a wheel where there is none."""
    run(Path(sys.executable).with_name("maturin"), "sdist", "--out", OUT)
    path = _one("*.tar.gz")
    with tarfile.open(path) as held:
        names = [name.partition("/")[2].removeprefix("python/") for name in held.getnames()]
    check_data((name.removeprefix("sojourn/data/") for name in names), path)


def crates() -> None:
    """The crates that others may use, each compiled from what is packed."""
    run("make", "crates")
    for path in (ROOT / "target" / "package").glob(f"*-{version()}.crate"):
        shutil.copy(path, OUT)


def sbom() -> None:
    """What is in a wheel, and what is installed with it, as CycloneDX."""
    with zipfile.ZipFile(_one("*.whl")) as held:
        [name] = [n for n in held.namelist() if "/sboms/" in n]
        (OUT / f"sojourn-{version()}.rust.cdx.json").write_bytes(held.read(name))
    uv = Path(sys.executable).with_name("uv")
    with tempfile.TemporaryDirectory() as place:
        needed = Path(place) / "requirements.txt"
        pinned = ("--constraint", "requirements.lock", "--universal", "--python-version", "3.11")
        run(uv, "pip", "compile", "--quiet", *pinned, "--output-file", needed, "pyproject.toml")
        told = OUT / f"sojourn-{version()}.python.cdx.json"
        form = ("--output-reproducible", "--sv", "1.5", "-o", told)
        tool("cyclonedx-py", "requirements", *form, needed)


def papers() -> None:
    """How to make a container of it, how to cite it, and the versions that it was tested with."""
    tool("cffconvert", "--validate", "--infile", ROOT / "CITATION.cff")
    for name in _COPIED:
        shutil.copy(ROOT / name, OUT)


def checksums() -> None:
    """``SHA256SUMS`` of all files, for ``sha256sum --check``."""
    files = [path for path in sorted(OUT.iterdir()) if not path.name.startswith((".", "SHA256"))]
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (OUT / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def _one(pattern: str) -> Path:
    [path] = OUT.glob(pattern)
    return path


STEPS: dict[str, Callable[[], None]] = {
    "wheel": wheel,
    "sdist": sdist,
    "crates": crates,
    "sbom": sbom,
    "papers": papers,
    "checksums": checksums,
}


def release() -> None:
    """Makes the steps that have not been made of this commit.

    Raises:
        ReleaseError: files differ from the commit, or a step failed.

    """
    if changed := run("git", "status", "--porcelain", "--untracked-files=no"):
        raise ReleaseError(f"{changed}these files differ from the commit; commit or restore them")
    commit = run("git", "rev-parse", "HEAD").strip()
    told = OUT / _MADE
    made = json.loads(told.read_text("utf-8")) if told.exists() else {}
    if made.get("commit") != commit:
        shutil.rmtree(OUT, ignore_errors=True)
        OUT.mkdir(parents=True)
        made = {"commit": commit, "steps": []}
    for name, step in STEPS.items():
        if name not in made["steps"]:
            print(f"release: {name}", flush=True)
            step()
            made["steps"].append(name)
            told.write_text(json.dumps(made), encoding="utf-8")
    print(f"release {version()} of {commit[:12]}: {OUT}")


if __name__ == "__main__":
    try:
        release()
    except ReleaseError as error:
        sys.exit(str(error))
