"""The report, looked at in a browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from conftest import Command
from test_sweep import SWEEP

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A directory of each kind with its report."""
    import sys

    home = tmp_path_factory.mktemp("reports")
    (home / "sweep.toml").write_text(SWEEP)

    def sojourn(*arguments: str) -> None:
        subprocess.run([sys.executable, "-m", "sojourn", *arguments], cwd=home, check=True)

    sojourn("run", "sweep.toml", "--out", "run", "--no-figures")
    sojourn("sweep", "sweep.toml", "--out", "sweep")
    sojourn("reproduce", "ccperf", "--quick", "--out", "reproduction")
    made = {kind: home / kind for kind in ("run", "sweep", "reproduction")}
    for directory in made.values():
        sojourn("report", str(directory))
    return made


def browse(page: Path, *options: str) -> str:
    assert BROWSER
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000"]
    command = [BROWSER, *flags, *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


@needs_browser
@pytest.mark.parametrize(("kind", "figures"), [("run", 3), ("reproduction", 3), ("sweep", 6)])
def test_figures_are_drawn(directories: dict[str, Path], kind: str, figures: int) -> None:
    page = browse(directories[kind] / "report.html", "--dump-dom")
    assert len(re.findall(r'<div class="plot[^"]*js-plotly-plot', page)) >= figures
    assert page.count('class="main-svg"') >= figures
    assert page.count('download="') >= 2 * figures


@needs_browser
@pytest.mark.parametrize("kind", ["run", "reproduction", "sweep"])
def test_the_page_is_not_blank(directories: dict[str, Path], kind: str, tmp_path: Path) -> None:
    shot = tmp_path / "shot.png"
    size = "--window-size=1100,2600"
    browse(directories[kind] / "report.html", f"--screenshot={shot}", size)
    pixels = np.asarray(imread(shot))[:, :, :3]
    ink = (pixels < 0.95).any(axis=2)
    bands = np.array_split(ink, 5)
    assert all(band.mean() > 0.005 for band in bands), [band.mean() for band in bands]
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50


@pytest.mark.parametrize("kind", ["run", "reproduction", "sweep"])
def test_the_page_stands_alone(directories: dict[str, Path], kind: str) -> None:
    page = (directories[kind] / "report.html").read_text()
    without_library = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="(?!data:)', without_library)


def test_tables_hold_the_metrics_and_bold_the_best(directories: dict[str, Path]) -> None:
    page = (directories["run"] / "report.html").read_text()
    [row] = re.findall(r"<tr>\s*<td>mean_throughput_l4</td>.*?</tr>", page, flags=re.DOTALL)
    cells = re.findall(r'<td class="n">(.*?)</td>', row)
    values = [float(re.sub("<.*?>", "", cell)) for cell in cells]
    best = [cell.startswith("<b>") for cell in cells]
    assert best == [value == max(values) for value in values]
    assert "bottleneck" in page


def test_a_reproduction_shows_published_values(directories: dict[str, Path]) -> None:
    page = (directories["reproduction"] / "report.html").read_text()
    assert "30.79" in page
    assert "mean_agg_throughput_l4" in page


def test_report_goes_where_it_is_told(
    sojourn: Command, directories: dict[str, Path], tmp_path: Path
) -> None:
    done = sojourn("report", directories["run"], "--out", tmp_path / "elsewhere")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "elsewhere" / "report.html").exists()
