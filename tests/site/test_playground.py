"""The playground in a browser, with the engine that the page has: `make test-docs`."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import sojourn
from capabilities import BROWSER

pytestmark = [pytest.mark.needs("site", "node", "wasm"), pytest.mark.long]

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
WIDTHS = (360, 800, 1400)
SETTLED = """[...document.querySelectorAll(".setting")]
    .every((one) => one.getAttribute("aria-busy") === "false")"""
Open = Callable[..., Any]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the playground is served: of the site that `SOJOURN_SITE` names, or built for this."""
    from tools.playground import build

    built = os.environ.get("SOJOURN_SITE")
    site = Path(built) if built else tmp_path_factory.mktemp("site")
    if not built:
        build.main(site / "playground")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/playground/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Open]:
    """Opens the page. At the end nothing has gone wrong in it, and it has asked nobody else."""
    wrong, contexts = [], []

    def go(hash_: str = "", width: int = 1400, **options: Any) -> Any:
        viewport = {"width": width, "height": 900}
        context = browser.new_context(viewport=viewport, accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda told: told.type == "error" and wrong.append(told.text))
        page.on("request", lambda asked: address in asked.url or wrong.append(asked.url))
        page.goto(address + hash_)
        settled(page)
        return page

    yield go
    for context in contexts:
        context.close()
    assert [told for told in wrong if not told.startswith(("blob:", "data:"))] == []


def until(page: Any, expression: str) -> None:
    """Waits for something to be true: Playwright's own way would need the page to allow `eval`."""
    end = time.monotonic() + 15
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(10)


def settled(page: Any) -> None:
    """Waits until all that was asked for is shown."""
    until(page, SETTLED)


def metrics(page: Any, setting: str = "A") -> dict[str, list[float | None]]:
    """The tables of a setting."""
    rows = page.locator(f"[aria-label='Setting {setting}'] tr[data-metric]")
    return rows.evaluate_all(
        """(rows) => Object.fromEntries(rows.map((row) => [row.dataset.metric,
            [...row.querySelectorAll("td")].map((cell) => JSON.parse(cell.dataset.value))]))"""
    )


def set_slider(page: Any, name: str, index: int) -> None:
    page.locator(f"input[name={name}]").fill(str(index))
    settled(page)


def edit(page: Any, text: str) -> None:
    page.locator("#text").evaluate("(part) => { part.open = true; }")
    page.locator("textarea").fill(text)
    settled(page)


def test_cubic_starves_in_two_clicks(opened: Open) -> None:
    page = opened()
    page.click("text=Lessons")
    page.click("text=BBR beside Cubic")
    until(page, "document.querySelector('.sentence').textContent.includes('8')")
    settled(page)
    assert metrics(page)["bottleneck_share_l4"][1] < 0.2
    share = re.search(r"Cubic has \S+ \((\d+) %\)", page.inner_text(".sentence"))
    assert share
    assert int(share[1]) < 20


def test_the_numbers_are_those_of_the_downloaded_scenario(opened: Open, tmp_path: Path) -> None:
    page = opened()
    set_slider(page, "rate", 6)
    with page.expect_download() as begun:
        page.click("#download")
    file = tmp_path / begun.value.suggested_filename
    begun.value.save_as(file)
    assert file.name == "playground.toml"
    run = sojourn.run(file)
    tables = (run.flows, run.links, run.net)
    shown = metrics(page)
    assert len(shown) == 15
    for name, values in shown.items():
        (expected,) = (table[name].to_list() for table in tables if name in table.columns)
        assert values == [None if v is None else pytest.approx(v, rel=1e-9) for v in expected]


def test_an_error_stands_beside_its_line(opened: Open) -> None:
    page = opened()
    text = page.locator("textarea").input_value()
    edit(page, text.replace('cca = "cubic"', 'cca = "cubik"'))
    line = text.split("\n").index('cca = "cubic"') + 1
    assert page.inner_text(".gutter .at").strip() == str(line)
    assert page.inner_text("#said").startswith(f"Line {line}: unknown congestion control")
    assert "did you mean 'cubic'" in page.inner_text("#said")
    assert page.locator("[name=rate]").is_disabled(), "a slider would undo what was typed"
    edit(page, text)
    assert page.inner_text("#said") == ""
    assert page.locator("[name=rate]").is_enabled()


def test_a_file_with_more_than_sliders_show_turns_them_off(opened: Open) -> None:
    page = opened()
    text = page.locator("textarea").input_value()
    edit(page, text.replace('rtt = "40 ms"', 'rtt = "40 ms"\nmss = 1000'))
    assert page.locator("[name=rate]").is_disabled()
    page.click("text=Back to the sliders")
    settled(page)
    assert page.locator("textarea").input_value() == text
    edit(page, text.replace("20 Mbit/s", "12500 kbit/s"))
    assert page.inner_text("label:has([name=rate]) output") == "12.5 Mbit/s"


def test_what_a_page_does_not_run_is_for_the_command_line(opened: Open) -> None:
    page = opened()
    text = page.locator("textarea").input_value()
    edit(page, text.replace("10 s", "5000 s"))
    assert "sojourn run playground.toml" in page.inner_text("#said")


def test_the_address_brings_the_scenario_back(opened: Open) -> None:
    page = opened()
    set_slider(page, "buffer", 9)
    until(page, "location.hash.startsWith('#v1')")
    text = page.locator("textarea").input_value()
    again = opened(page.evaluate("location.hash"))
    assert again.locator("textarea").input_value() == text
    assert metrics(again) == metrics(page)
    changed = opened("#lesson=bbr-beside-cubic&buffer=8")
    assert metrics(changed)["bottleneck_share_l4"][0] < 0.4


@pytest.mark.parametrize("hash_", ["#v1&a=AAAA", "#lesson=none", "#lesson=ecn&rate=x", "#v2"])
def test_a_bad_address_says_so_and_opens_the_first_lesson(opened: Open, hash_: str) -> None:
    page = opened(hash_)
    until(page, "document.getElementById('notice').textContent")
    assert not page.locator("#lesson").is_hidden()


def test_two_settings_have_the_same_axes(opened: Open) -> None:
    page = opened()
    page.click("#compare")
    settled(page)
    set_slider(page, "buffer", 10)
    assert metrics(page, "A") != metrics(page, "B")
    assert 'limit = "8 bdp"' in page.inner_text("#differences")
    address = page.evaluate("new Promise((done) => setTimeout(() => done(location.hash), 500))")
    again = opened(address)
    assert metrics(again, "B") == metrics(page, "B")
    page.click("#compare")
    assert page.locator(".setting").count() == 1


def test_all_works_by_keyboard(opened: Open) -> None:
    page = opened()
    page.focus("#scrub")
    page.keyboard.press("Home")
    assert page.inner_text("#time") == "0.0 s"
    page.keyboard.press("Space")
    until(page, "parseFloat(document.getElementById('time').textContent) > 0.3")
    page.keyboard.press("Space")
    assert page.inner_text("#play") == "Play"
    page.keyboard.press("+")
    page.keyboard.press("0")
    page.focus("[name=rate]")
    page.keyboard.press("ArrowRight")
    settled(page)
    assert "25 Mbit/s" in page.locator("textarea").input_value()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('#text summary')"):
            return
    raise AssertionError("the keyboard does not get as far as the file")


def test_it_works_without_a_network_once_loaded(opened: Open) -> None:
    page = opened()
    page.evaluate("navigator.serviceWorker.ready")
    until(page, "caches.keys().then((names) => names.length > 0)")
    page.reload()
    until(page, "navigator.serviceWorker.controller !== null")
    page.context.set_offline(True)
    page.reload()
    settled(page)
    set_slider(page, "rate", 5)
    assert metrics(page)["utilization_l1"][0] > 0.8


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_everybody_can_use_it(opened: Open, width: int, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = opened("#lesson=bbr-beside-cubic", width, color_scheme=theme)
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.click("#compare")
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [rule["id"] for rule in found if rule["impact"] in {"serious", "critical"}] == []


#: Moves a slider so many times; the milliseconds to each picture, or how many there were.
REDRAWN = """async () => {
    const slider = document.querySelector("[name=rate]");
    const setting = document.querySelector(".setting");
    const times = [];
    for (let k = 0; k < 20; k++) {
        slider.value = String(8 + (k % 2) * 2);
        const began = performance.now();
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        while (setting.getAttribute("aria-busy") === "true") {
            await new Promise(requestAnimationFrame);
        }
        times.push(performance.now() - began);
    }
    return times;
}"""
DRAGGED = """async () => {
    const slider = document.querySelector("[name=buffer]");
    let pictures = 0;
    const watch = new MutationObserver(() => { pictures += 1; });
    watch.observe(document.querySelector(".tables").parentNode, { childList: true });
    for (let k = 0; k < 30; k++) {
        slider.value = String(k % 12);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((done) => setTimeout(done, 33));
    }
    return pictures;
}"""


@pytest.mark.alone
@pytest.mark.concurrent
def test_it_is_fast(opened: Open) -> None:
    page = opened()
    assert page.evaluate("performance.now()") < 2000
    assert median(page.evaluate(REDRAWN)) < 150
    assert page.evaluate(DRAGGED) >= 5
