"""The documentation's site, looked at in a browser: ``make test-site``.

Of every page all links are followed, to the anchor. A page of each kind is opened in the browser;
``SOJOURN_WHOLE=1`` opens all of them, and writes pictures into a directory, to be looked at.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

from browser import Looked, chromium, look_at
from conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.needs("site")
SITE = Path(os.environ.get("SOJOURN_SITE", ROOT / "site"))
#: Made where there is a compiler for it.
PLAYGROUND = SITE.resolve() / "playground"
WHOLE = "SOJOURN_WHOLE" in os.environ
SHOTS = ROOT / "target" / "site-pictures"
#: Of each kind of page one.
KINDS = (
    "index.html",
    "tutorial/first-run.html",
    "howto/which-aqm.html",
    "reference/queues/codel.html",
    "tutorial/notebooks/bufferbloat-and-aqms.html",
    "explanation/architecture.html",
    "playground/index.html",
    "search.html",
)
#: A telephone, a narrow window and a wide one.
WIDTHS = (360, 800, 1400) if WHOLE else (360,)
#: Once the colours have changed to those of a dark page.
DARKEN = """async () => {
    document.documentElement.dataset.theme = "dark";
    await new Promise(requestAnimationFrame);
    await Promise.all(document.getAnimations().map((change) => change.finished));
}"""
#: What other programs write has tests of its own, or none.
FOREIGN = ("rust/", "_static/", "_modules/")


class Links(HTMLParser):
    """What a page leads to, what it shows, and what may be led to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.to: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told = dict(attributes)
        self.anchors |= {name for key in ("id", "name") if (name := told.get(key))}
        named = [told.get("href"), told.get("src"), *(told.get("srcset") or "").split(",")]
        self.to += [link.split()[0] for link in named if link and link.strip()]


@cache
def links(page: Path) -> Links:
    return Links(page.read_text(encoding="utf-8"))


def pages() -> list[str]:
    """All pages, but those that other programs write."""
    every = sorted(SITE.resolve().glob("**/*.html"))
    return [str(path.relative_to(SITE.resolve())) for path in every if not is_foreign(path)]


def is_foreign(path: Path) -> bool:
    """No page, or one that another program writes."""
    name = str(path.relative_to(SITE.resolve()))
    return path.suffix != ".html" or name.startswith(FOREIGN)


def broken(page: Path) -> Iterator[str]:
    """Links of a page that lead nowhere."""
    for link in links(page).to:
        address, anchor = urldefrag(link)
        if urlsplit(link).scheme or link.startswith("//"):
            continue
        to = (page.parent / unquote(urlsplit(address).path)).resolve() if address else page
        if to.is_dir():
            to /= "index.html"
        if PLAYGROUND in to.parents and not PLAYGROUND.exists():
            continue
        if not to.is_file() or SITE.resolve() not in to.parents:
            yield f"{link}: there is no such file"
        elif anchor and not is_foreign(to) and unquote(anchor) not in links(to).anchors:
            yield f"{link}: there is no such place"


def test_every_link_leads_somewhere() -> None:
    every = pages()
    assert set(KINDS) - set(every) <= {f"{PLAYGROUND.name}/index.html"}
    wrong = [f"{name}: {told}" for name in every for told in broken(SITE.resolve() / name)]
    assert wrong == []


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the site is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.mark.parametrize("name", pages() if WHOLE else [n for n in KINDS if (SITE / n).exists()])
def test_a_page_is_sound(browser: Browser, address: str, name: str) -> None:
    looked = look_at(browser, f"{address}/{name}", WIDTHS[0])
    assert {width: looked.beyond(width) for width in WIDTHS} == {width: [] for width in WIDTHS}
    if WHOLE:
        picture(looked, name)
    assert looked.violations() == []
    looked.page.evaluate(DARKEN)
    assert looked.violations(runOnly=["color-contrast"]) == []
    assert looked.wrong == []
    looked.page.close()


def picture(looked: Looked, name: str) -> None:
    """Pictures of a page on screens of all widths."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    for width in WIDTHS:
        looked.page.set_viewport_size({"width": width, "height": 900})
        file = f"{name.removesuffix('.html').replace('/', '-')}-{width}.png"
        looked.page.screenshot(path=SHOTS / file, full_page=True)


def test_it_is_used_by_keys_alone(browser: Browser, address: str) -> None:
    page = look_at(browser, f"{address}/index.html").page
    for key in ("Tab", "Enter", "Tab"):  # the link over the menus
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.closest('main') !== null")
    page.keyboard.press("Control+k")
    page.keyboard.type("bufferbloat")
    page.locator("dialog #search-results li a").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=bufferbloat")
    page.locator("main #search-results li a").first.wait_for()


def test_who_prefers_dark_pages_gets_them(browser: Browser, address: str) -> None:
    page = look_at(browser, f"{address}/index.html").page
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, colour.removeprefix("rgb(").rstrip(")").split(","))) < 200
