"""Pages in a browser: what goes wrong in them, what does not fit a screen, and what axe says."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from matplotlib.image import imread

from capabilities import BROWSER

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

#: It asks nobody for anything but pages, and is used without a screen and as root.
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: Elements that make a page wider than its screen: those that no other is within.
_BEYOND = """() => {
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  const wide = [...document.body.querySelectorAll("*")].filter((e) => {
    const right = Math.max(e.getBoundingClientRect().right, e.offsetLeft + e.scrollWidth);
    return right > innerWidth + 1 && getComputedStyle(e).overflowX === "visible";
  });
  const inner = wide.filter((e) => !wide.some((other) => other !== e && e.contains(other)));
  return ["it is " + document.documentElement.scrollWidth + " px wide",
          ...inner.slice(0, 5).map((e) => e.outerHTML.slice(0, 80))];
}"""
_GRAVE = ("serious", "critical")
#: It need not fetch styles once more.
_AXE = {"resultTypes": ["violations"], "preload": False}


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, as a fixture of a module: while one runs, there is an event loop."""
    from playwright.sync_api import sync_playwright

    assert BROWSER
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=_FLAGS)
        yield browser
        browser.close()


@dataclass(frozen=True)
class Looked:
    """A page that is looked at."""

    page: Page
    #: What has gone wrong until now: errors, what was not found, what was asked of others.
    wrong: list[str]

    def beyond(self, width: int) -> list[str]:
        """What is too wide on a screen of so many pixels."""
        self.page.set_viewport_size({"width": width, "height": 900})
        found: list[str] = self.page.evaluate(_BEYOND)
        return found

    def violations(self, **options: Any) -> list[str]:
        """What axe calls serious or critical, each rule with the first element."""
        from axe_playwright_python.sync_playwright import Axe

        response = Axe().run(self.page, options=_AXE | options).response
        return [
            f"{rule['id']}: {rule['nodes'][0]['html'][:120]}"
            for rule in response["violations"]
            if rule["impact"] in _GRAVE
        ]

    def pixels(self) -> np.ndarray:
        """What is in sight: red, green and blue from 0 to 1."""
        return np.asarray(imread(io.BytesIO(self.page.screenshot())))[:, :, :3]


def look_at(browser: Browser, url: str, width: int = 1400, height: int = 900) -> Looked:
    """Opens a page on a screen; what it asks of other places than its own is wrong."""
    page = browser.new_page(viewport={"width": width, "height": height})
    looked = Looked(page, [])
    own = urlsplit(url)[:2]

    def asked(url: str) -> None:
        to = urlsplit(url)
        if to.scheme not in ("data", "blob") and to[:2] != own:
            looked.wrong.append(f"asks {url}")

    page.on("request", lambda request: asked(request.url))
    page.on("response", lambda r: r.status >= 400 and looked.wrong.append(f"{r.status}: {r.url}"))
    page.on("console", lambda m: m.type == "error" and looked.wrong.append(m.text))
    page.on("pageerror", lambda error: looked.wrong.append(str(error)))
    page.goto(url)
    return looked
