"""Pages in a browser: what they become there, and whether they fit the screen."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from capabilities import BROWSER

#: Measures once all is open and all figures are drawn.
_MEASURE = """<script>
document.querySelectorAll("details").forEach((part) => { part.open = true; });
const measured = setInterval(() => {
  const plots = [...document.querySelectorAll(".plot")];
  if (!plots.every((plot) => plot.querySelector("text"))) return;
  clearInterval(measured);
  const boxes = [...document.querySelectorAll(".scroll")];
  const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth).length;
  const texts = [...document.querySelectorAll(".plot text")].map((t) => t.getBoundingClientRect());
  const out = texts.filter((t) => t.left < 0 || t.right > innerWidth - 16).length;
  const stacked = document.querySelectorAll(".stacked").length;
  document.title = `${innerWidth} ${boxes.length} ${wide} ${stacked} ${texts.length} ${out}`;
}, 100);
</script>"""


@dataclass(frozen=True)
class Fit:
    """How a page fits a screen."""

    width: int
    tables: int
    #: Tables that are wider than the screen, and those whose rows are lists.
    wide: int
    stacked: int
    #: Texts in figures, and those beyond the screen.
    texts: int
    out: int


def browse(page: Path, *options: str) -> str:
    """What the browser prints."""
    assert BROWSER
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000"]
    command = [BROWSER, *flags, *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


def fit(page: Path, width: int) -> Fit:
    """How it fits a screen of this width (Chromium's have 500 pixels at least)."""
    measuring = page.with_name("measuring.html")
    measuring.write_text(page.read_text().replace("</body>", f"{_MEASURE}</body>"))
    dumped = browse(measuring, "--dump-dom", f"--window-size={width},2000")
    found = re.search("<title>(.*?)</title>", dumped)
    assert found
    return Fit(*map(int, found[1].split()))
