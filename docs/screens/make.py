"""Take the screenshots of docs/play.md: the page of `crib web`, on a desk and a phone, both themes.

    python docs/screens/make.py
    python docs/screens/make.py show three     these alone

Needs the extras web and dev, and Debian's Chromium. Deals and agents are those of a seed.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import uvicorn
from crib_play.preferences import Preferences
from crib_play.web.app import make_app
from crib_play.web.store import Store
from crib_play.web.tables import Tables
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
HERE = Path(__file__).parent
SEED = 12
PATIENCE = 600_000  # milliseconds; the machine may be busy
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
OFFER = "JSON.stringify({settings: {speed: 1}, opponent: 'expert'})"
FAST = f"localStorage.setItem('crib-offer', {OFFER})"
FAMILIES = {"four": "three", "partners": "table-top"}


def sit_down(page: Page, game: str, opponent: str = "expert") -> None:
    """Open a table."""
    page.check(f"input[value={FAMILIES.get(game, game)}]")
    if page.locator("#variant").count():
        page.select_option("#variant", game)
    for who in ("#opponent", "#partner"):
        if page.locator(who).count():
            page.select_option(who, opponent)
    page.click("#deal")
    page.wait_for_selector("#table[data-turns]")


def advised(page: Page, turns: int = 1) -> None:
    """Do what the expert advises, so many times."""
    for _ in range(turns):
        page.wait_for_selector("#show, dialog[open], #hint:enabled")
        if page.locator("#show, dialog[open]").count():
            return
        before = page.locator("#table").get_attribute("data-turns")
        page.click("#hint")
        page.wait_for_selector(".advised")
        names = page.locator(".hand .advised, .cell.advised").evaluate_all(
            "all => all.map(e => e.dataset.key)"
        )
        for name in names or ["crib"]:
            page.click(f'[data-key="{name}"]')
        if page.locator("[data-key=discard]").count():
            page.click("[data-key=discard]")
        page.wait_for_function(
            "before => document.querySelector('#show, dialog[open]') "
            "|| document.getElementById('table').dataset.turns !== before",
            arg=before,
        )


def highest(page: Page, turns: int) -> None:
    """Discard or play the highest card that one may, so many times; until a dialog shows."""
    for _ in range(turns):
        page.wait_for_selector("#show, .hand button.card:enabled")
        if page.locator("#show, dialog[open]").count():
            return
        before = page.locator("#table").get_attribute("data-turns")
        page.locator(".hand button.card:enabled").last.click()
        if page.locator("[data-key=discard]").count():
            page.click("[data-key=discard]")
        page.wait_for_function(
            "before => document.querySelector('#show, dialog[open]') "
            "|| document.getElementById('table').dataset.turns !== before",
            arg=before,
        )


def discarding(page: Page) -> None:
    """Two cards chosen to be discarded."""
    sit_down(page, "six")
    page.click("#hint")
    page.wait_for_selector(".advised")
    for name in page.locator(".advised").evaluate_all("all => all.map(e => e.dataset.key)"):
        page.click(f'[data-key="{name}"]')
    page.click("#advice button")


def six(page: Page) -> None:
    """In the middle of the play, with what the expert thinks."""
    sit_down(page, "six")
    advised(page, 3)
    page.click("#best")
    page.wait_for_selector(".advised")


def show(page: Page) -> None:
    """The show of a deal."""
    sit_down(page, "six")
    while not page.locator("#show").count():
        advised(page)
    page.wait_for_function("() => document.querySelectorAll('.counted').length === 3")


def table_top(page: Page) -> None:
    """A layout half full."""
    sit_down(page, "table-top")
    advised(page, 8)


def three(page: Page) -> None:
    """Three at the table."""
    sit_down(page, "three", "rule_based")
    highest(page, 4)


def four(page: Page) -> None:
    """Four at the table, in partnership."""
    sit_down(page, "four", "rule_based")
    highest(page, 4)


def four_show(page: Page) -> None:
    """The show of four hands and the crib."""
    sit_down(page, "four", "rule_based")
    highest(page, 6)
    page.wait_for_function("() => document.querySelectorAll('.counted').length === 5")


def partners(page: Page) -> None:
    """Four at the table."""
    sit_down(page, "partners")
    advised(page, 4)


Scene = Callable[[Page], None]
SCREENS: tuple[tuple[Scene, dict[str, int], str], ...] = (
    (discarding, PHONE, "light"),
    (six, DESK, "light"),
    (show, PHONE, "light"),
    (table_top, DESK, "dark"),
    (three, DESK, "light"),
    (three, PHONE, "light"),
    (four, PHONE, "dark"),
    (four_show, PHONE, "light"),
    (partners, PHONE, "dark"),
)


def take(browser: Browser, url: str, scene: Scene, size: dict[str, int], theme: str) -> Path:
    """Take one screenshot."""
    context = browser.new_context(viewport=size, color_scheme=theme, reduced_motion="reduce")
    context.add_init_script(FAST)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    page.wait_for_selector(".game")
    scene(page)
    page.wait_for_load_state("networkidle")
    page.mouse.move(0, 0)
    device = "phone" if size is PHONE else "desk"
    path = HERE / f"{scene.__name__}_{device}_{theme}.png"
    page.screenshot(path=path)
    context.close()
    return path


def main() -> None:
    """Serve, and take them all, or those named."""
    wanted = sys.argv[1:] or [scene.__name__ for scene, _, _ in SCREENS]
    app = make_app(
        Tables(Store(None), ["expert", "rule_based"], SEED), Preferences(), ["127.0.0.1"]
    )
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM)
            for scene, size, theme in SCREENS:
                if scene.__name__ not in wanted:
                    continue
                print(take(browser, url, scene, size, theme))
            browser.close()
    finally:
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
