"""A release, tried by who downloads it: in an empty environment of each Python that there is.

`make test-release` runs it, after `make release`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from docs_commands import lengthened, page
from tools.release import OUT, version

pytestmark = pytest.mark.wheel
TUTORIAL = "docs/tutorial/first-run.md"
#: What pip makes itself.
MADE = re.compile(r"\.dist-info/(RECORD|WHEEL|sboms/.*|direct_url\.json)$")


def pythons() -> list[str]:
    """One of each version from 3.11 that starts."""
    others = Path.home() / ".pyenv" / "versions"
    found: dict[str, str] = {}
    for minor in range(11, 20):
        named = [shutil.which(f"python3.{minor}"), *others.glob(f"3.{minor}.*/bin/python")]
        for path in filter(None, named):
            told = [path, "-c", "import ensurepip, sys; print(sys.version_info.minor)"]
            done = subprocess.run(told, capture_output=True, text=True, check=False)
            if done.stdout.strip() == str(minor):
                found.setdefault(f"3.{minor}", str(path))
    return list(found.values())


def wheel() -> Path:
    """What `make release` made."""
    [path] = OUT.glob("*.whl")
    return path


@pytest.fixture(scope="module", params=pythons())
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the release alone."""
    home = tmp_path_factory.mktemp("env")
    subprocess.run([request.param, "-m", "venv", home], check=True)
    install = ["install", "--quiet", "--no-compile", "--constraint", OUT / "requirements.lock"]
    subprocess.run([home / "bin" / "pip", *install, wheel()], check=True)
    return home / "bin"


def do(commands: str, programs: Path, place: Path) -> str:
    """What commands print on a machine that has Python alone: no compiler, no git, no checkout."""
    done = subprocess.run(
        ["/bin/bash", "-ec", commands],
        cwd=place,
        env={"PATH": str(programs), "HOME": str(place)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tutorial_needs_python_alone(programs: Path, tmp_path: Path) -> None:
    for block in page(TUTORIAL).blocks:
        if block.mark in {"file", "adds"}:
            with (tmp_path / block.said).open("a") as file:
                file.write(block.text)
        elif block.mark == "run":
            do(lengthened(block), programs, tmp_path)
    assert [*tmp_path.glob("**/report.html")]


def test_it_says_which_it_is(programs: Path, tmp_path: Path) -> None:
    told = do("sojourn --version", programs, tmp_path)
    assert re.fullmatch(rf"sojourn {version()} \(build [0-9a-f]{{16}}\)\n", told)


def test_the_container_installs_it(tmp_path: Path) -> None:
    """Its command that does, in an empty environment; there need not be an engine."""
    text = (OUT / "Containerfile").read_text()
    [copied] = re.findall(r"^COPY (.+) \S+$", text, re.M)
    assert all([*OUT.glob(name)] for name in copied.split())
    [install] = re.findall(r"^RUN python (-m pip .+)$", text, re.M)
    subprocess.run([pythons()[0], "-m", "venv", tmp_path / "env"], check=True)
    command = f"{tmp_path}/env/bin/python {install.replace('/tmp/release', str(OUT))}"
    subprocess.run(command, shell=True, check=True)
    assert f"sojourn {version()} " in do("sojourn --version", tmp_path / "env" / "bin", tmp_path)


def test_the_sources_build_the_same_wheel(tmp_path: Path) -> None:
    """As pip does where there is no wheel: it needs Rust and a C compiler, and takes minutes."""
    [sources] = OUT.glob("*.tar.gz")
    build = [pythons()[0], "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path]
    subprocess.run([*build, sources], cwd=tmp_path, check=True)
    [built] = tmp_path.glob("*.whl")
    assert names(built) == names(wheel())


def names(path: Path) -> set[str]:
    """What a wheel holds."""
    return {name for name in zipfile.ZipFile(path).namelist() if not MADE.search(name)}


def test_nothing_has_changed_since() -> None:
    subprocess.run(["sha256sum", "--quiet", "--check", "SHA256SUMS"], cwd=OUT, check=True)
    assert {path.suffix for path in OUT.glob(f"*{version()}*")} >= {".crate", ".gz", ".json"}
