"""Make `docs/pictures` and `docs/screens`: deals, drawings, replays, and the page of `crib web`.

    python -m research.make_pictures
    python -m research.make_pictures six_card_v0 replay_count show    # these alone

Needs the extras `play`, `web`, `render` and `dev`, and Debian's Chromium. Fixed seeds determine the
deals and the agents' draws.
"""

from __future__ import annotations

import argparse
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import uvicorn
from crib_agents.loading import load_agent
from crib_play.replay import write_replay
from crib_play.user_files import Preferences
from crib_play.web.app import make_app
from crib_play.web.store import Store
from crib_play.web.tables import Tables
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from crib_env import ENVIRONMENTS, Game, find_agent
from crib_env.registration import env_module

PICTURES, SCREENS = (Path(__file__).parents[1] / "docs" / name for name in ("pictures", "screens"))
CHROMIUM = "/usr/bin/chromium"
PATIENCE = 600_000  # milliseconds; the machine may be busy

# --- deals of the environments ------------------------------------------------------------------

AGENT, SEED = "rule_based", 11
PAUSE, LAST = 900, 3000  # milliseconds
MOST = 28  # frames of an episode, at most
EPISODES = {"table_top_v0": "round", "discard_v0": "game"}  # the others: a deal


def frames(name: str) -> list[Any]:
    """Return the pictures before each decision of an episode, and at its end; `MOST` at most."""
    env = env_module(name).raw_env(render_mode="rgb_array", viewer="all", episode=EPISODES.get(name, "deal"))
    env.reset(seed=SEED)
    plays = env.game.family.name in find_agent(AGENT).acts  # type: ignore[attr-defined]
    agent, rng = find_agent(AGENT if plays else "random"), np.random.default_rng(SEED)
    shown = [env.render()]
    while not any(env.terminations.values()) and len(shown) < MOST:
        env.step(int(agent.act(env.view(int(env.agent_selection[-1])), rng)))
        shown.append(env.render())
    return [Image.fromarray(frame) for frame in shown]


def animate(name: str) -> None:
    """Make the moving picture that opens an environment's page."""
    first, *others = frames(name)
    path = PICTURES / f"{name}.webp"
    first.save(
        path,
        save_all=True,
        append_images=others,
        loop=0,
        lossless=True,
        quality=100,
        method=6,
        duration=[PAUSE] * len(others) + [LAST],
    )
    print(f"{path}: {1 + len(others)} frames, {path.stat().st_size / 1000:.0f} kB")


# --- drawings and replays -----------------------------------------------------------------------

DRAWINGS = {  # rules, players, episode, moves, theme
    "six_card": ("hoyle", 2, "match", 30, "light"),
    "partners": ("table_top", 4, "game", 17, "dark"),
}
REPLAYS = {  # rules, players, the moment, on a phone, theme
    "replay_six_card": ("hoyle", 2, 31, False, "light"),
    "replay_count": ("hoyle", 2, 27, False, "dark"),
    "replay_table_top": ("table_top", 2, 23, False, "dark"),
    "replay_phone": ("hoyle", 2, 31, True, "light"),
    "replay_phone_dark": ("table_top", 4, 23, True, "dark"),
}
PHONE: ViewportSize = {"width": 390, "height": 844}


@contextmanager
def opened(browser: Browser, url: str, size: ViewportSize, path: Path, **context: Any) -> Iterator[Page]:
    """Show a page for the block, then write its picture."""
    window = browser.new_context(viewport=size, **context)
    window.set_default_timeout(PATIENCE)
    page = window.new_page()
    page.goto(url)
    yield page
    page.screenshot(path=path)
    window.close()
    print(path)


def draw(browser: Browser, name: str, folder: Path) -> None:
    """Make the picture of a position."""
    rules, players, episode, moves, theme = DRAWINGS[name]
    game = Game(rules, players=players, episode=episode, seed=5)
    for _ in range(moves):
        game.step(game.legal_actions[len(game.legal_actions) // 2])
    page = folder / f"{name}.html"
    page.write_text(f"<body style='margin:0'>{game.svg(theme=theme)}</body>", "utf-8")
    size = ViewportSize(width=800, height=600)
    with opened(browser, page.as_uri(), size, PICTURES / f"{name}.png", color_scheme="light"):
        pass


def replay(browser: Browser, name: str, folder: Path) -> None:
    """Make the picture of a moment of a replay."""
    rules, players, at, phone, theme = REPLAYS[name]
    page = folder / f"{rules}_{players}.html"
    if not page.exists():
        agents = load_agent("learned"), load_agent("rule_based")
        write_replay(page, rules, agents, seed=3, players=players)
    size = PHONE if phone else {"width": 1400, "height": 930}
    with opened(
        browser, page.as_uri(), size, PICTURES / f"{name}.png", color_scheme=theme, device_scale_factor=1 + phone
    ) as shown:
        shown.evaluate(f"show({at})")


# --- the page of `crib web` ---------------------------------------------------------------------

TABLES_SEED = 12
DESK: ViewportSize = {"width": 1280, "height": 800}
OFFER = "JSON.stringify({settings: {speed: 1}, opponent: 'expert'})"
FAST = f"localStorage.setItem('crib-offer', {OFFER})"
FAMILIES = {"four": "three", "partners": "table-top"}
KEYS = "all => all.map(e => e.dataset.key)"
SHOWN = "#show, dialog[open]"


def advice(page: Page) -> list[str]:
    """Ask for the expert's advice; return its choice."""
    page.click("#hint")
    page.wait_for_selector(".advised")
    found: list[str] = page.locator(".hand .advised, .cell.advised").evaluate_all(KEYS)
    return found


def advised(page: Page) -> None:
    """Choose as the expert advises."""
    for name in advice(page) or ["crib"]:
        page.click(f'[data-key="{name}"]')


def highest(page: Page) -> None:
    """Choose the highest legal card."""
    page.locator(".hand button.card:enabled").last.click()


def take_turns(page: Page, choose: Callable[[Page], object], turns: int) -> None:
    """Take ``turns`` turns, or fewer if a dialog or the show comes first."""
    for _ in range(turns):
        page.wait_for_selector(f"{SHOWN}, #hint:enabled, .hand button.card:enabled")
        if page.locator(SHOWN).count():
            return
        before = page.locator("#table").get_attribute("data-turns")
        choose(page)
        if page.locator("[data-key=discard]").count():
            page.click("[data-key=discard]")
        page.wait_for_function(
            f"before => document.querySelector('{SHOWN}') || document.getElementById('table').dataset.turns !== before",
            arg=before,
        )


def choose_two(page: Page) -> None:
    """Choose two cards to discard, and close the advice."""
    advised(page)
    page.click("#advice button")


def ask_for_best(page: Page) -> None:
    """Show the expert's values."""
    page.click("#best")
    page.wait_for_selector(".advised")


def counted(hands: int) -> Callable[[Page], object]:
    """Return a function that waits until the show has counted ``hands`` hands."""
    found = f"() => document.querySelectorAll('.counted').length === {hands}"
    return lambda page: page.wait_for_function(found)


class Scene(NamedTuple):
    """A picture's game, the number of turns to take, the player's choices, and a last action."""

    name: str
    game: str
    size: ViewportSize
    theme: str
    turns: int = 0
    choose: Callable[[Page], object] = advised
    then: Callable[[Page], object] = lambda page: None


SCENES = (
    Scene("discarding", "six", PHONE, "light", then=choose_two),
    Scene("six", "six", DESK, "light", 3, then=ask_for_best),
    Scene("show", "six", PHONE, "light", 100, then=counted(3)),
    Scene("table_top", "table-top", DESK, "dark", 8),
    Scene("three", "three", DESK, "light", 4, highest),
    Scene("three", "three", PHONE, "light", 4, highest),
    Scene("four", "four", PHONE, "dark", 4, highest),
    Scene("four_show", "four", PHONE, "light", 6, highest, counted(5)),
    Scene("partners", "partners", PHONE, "dark", 4),
)


@contextmanager
def serving() -> Iterator[str]:
    """Serve tables for the block; yield the address."""
    tables = Tables(Store(None), ["expert", "rule_based"], TABLES_SEED)
    app = make_app(tables, Preferences(), ["127.0.0.1"])
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def take(browser: Browser, url: str, scene: Scene) -> None:
    """Sit down at a table of `crib web`, play, and make the picture."""
    device = "phone" if scene.size is PHONE else "desk"
    path = SCREENS / f"{scene.name}_{device}_{scene.theme}.png"
    with opened(browser, url, scene.size, path, color_scheme=scene.theme, reduced_motion="reduce") as page:
        page.evaluate(FAST)
        page.reload()
        page.wait_for_selector(".game")
        page.check(f"input[value={FAMILIES.get(scene.game, scene.game)}]")
        if page.locator("#variant").count():
            page.select_option("#variant", scene.game)
        for who in ("#opponent", "#partner"):
            if page.locator(who).count():
                opponent = "rule_based" if scene.choose is highest else "expert"
                page.select_option(who, opponent)
        page.click("#deal")
        page.wait_for_selector("#table[data-turns]")
        take_turns(page, scene.choose, scene.turns)
        scene.then(page)
        page.wait_for_load_state("networkidle")
        page.mouse.move(0, 0)


def main() -> None:
    """Make all pictures, or those named."""
    every = [*ENVIRONMENTS, *DRAWINGS, *REPLAYS, *(scene.name for scene in SCENES)]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(dict.fromkeys(every)))
    names = parser.parse_args().names or every
    for name in set(names) - set(every):
        parser.error(f"no picture is called {name!r}: see --help")
    others = set(names) - set(ENVIRONMENTS)
    if others and not Path(CHROMIUM).exists():
        parser.error(f"{', '.join(sorted(others))}: there is no {CHROMIUM} to draw with; apt-get install chromium")
    for name in filter(names.__contains__, ENVIRONMENTS):
        animate(name)
    if not others:
        return
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder, serving() as url:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name in filter(names.__contains__, DRAWINGS):
            draw(browser, name, Path(folder))
        for name in filter(names.__contains__, REPLAYS):
            replay(browser, name, Path(folder))
        for scene in SCENES:
            if scene.name in names:
                take(browser, url, scene)
        browser.close()


if __name__ == "__main__":
    main()
