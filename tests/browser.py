"""Pages in a browser: what they become there, and whether they fit the screen."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from capabilities import BROWSER

#: Measures once all is open and all figures are drawn, and tells the page that this one is in.
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
  parent.postMessage([innerWidth, boxes.length, wide, stacked, texts.length, out].join(" "), "*");
}, 100);
</script>"""
#: Shows pages beside each other, all within sight: what is not is not laid out.
_BESIDE = """<!doctype html><title></title><body style="display: flex; margin: 0">
<script>
const told = new Map();
addEventListener("message", ({ source, data }) => {
  told.set(source, data);
  const all = [...document.querySelectorAll("iframe")].map((f) => told.get(f.contentWindow));
  if (!all.includes(undefined)) document.title = all.join();
});
</script>
"""
_HEIGHT = 2000


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


def fits(*shown: tuple[Path, int], within: Path) -> list[Fit]:
    """How pages fit screens of these widths, each in a frame; ``within`` a directory for files."""
    frames = []
    for number, (page, width) in enumerate(shown):
        measuring = within / f"measuring-{number}.html"
        measuring.write_text(page.read_text().replace("</body>", f"{_MEASURE}</body>"))
        size = f"flex: none; width: {width}px; height: {_HEIGHT}px; border: 0"
        frames.append(f'<iframe src="{measuring.name}" style="{size}"></iframe>')
    beside = within / "beside.html"
    beside.write_text(_BESIDE + "\n".join(frames))
    total = sum(width for _, width in shown)
    dumped = browse(beside, "--dump-dom", f"--window-size={total},{_HEIGHT}")
    found = re.search("<title>(.+?)</title>", dumped)
    assert found, "not all pages are drawn"
    return [Fit(*map(int, told.split())) for told in found[1].split(",")]
