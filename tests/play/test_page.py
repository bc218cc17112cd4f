"""The page of `crib web` in a headless browser: whole games, the score checked at every step.

Needs Playwright, axe and Debian's Chromium; `make check-page` runs these alone.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from crib_agents.loading import load_agent
from crib_play.preferences import Preferences
from crib_play.replay import write_replay
from crib_play.web.app import make_app
from crib_play.web.store import Store
from crib_play.web.tables import Tables
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from crib_env.rules import Rules

CHROMIUM = Path("/usr/bin/chromium")
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
SETTLED = """() => document.querySelector("dialog[open]") ||
    Number(document.getElementById("table").dataset.turns ?? -1) === %d"""
PATIENCE = 90.0  # seconds; the machine may be busy
OPEN = ".cell.open, [data-key=crib]"
OFFER = "localStorage.setItem('crib-offer', JSON.stringify({speed: 1, opponent: 'greedy'}))"

expect.set_options(timeout=1000 * PATIENCE)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no {CHROMIUM}"),
]


class Served:
    """A server in a thread, whose tables the tests look into."""

    def __init__(self) -> None:
        self.tables = Tables(Store(None), ["greedy", "random", "rule_based"])
        app = make_app(self.tables, Preferences(), ["127.0.0.1"])
        config = uvicorn.Config(app, log_level="warning")
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([listening],))
        self.thread.start()

    def session(self, page: Page) -> Any:
        table = self.tables.find(page.url.partition("#")[2])
        assert table is not None
        return table.session

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--disable-gpu", "--disable-software-rasterizer"]
        )
        yield browser
        browser.close()


class Visitor:
    """A browser window whose errors are kept."""

    def __init__(self, browser: Browser, size: dict[str, int], theme: str = "light") -> None:
        context = browser.new_context(
            viewport=size, color_scheme=theme, has_touch=size is PHONE, reduced_motion="reduce"
        )
        context.add_init_script(f"if (!localStorage.getItem('crib-offer')) {OFFER}")
        self.page = context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.errors: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text)
                     if message.type in ("error", "warning") else None)  # fmt: skip
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def sit_down(self, url: str, game: str) -> Page:
        page = self.page
        page.goto(url)
        page.check(f"input[value={game}]")
        page.click("text=Deal")
        page.wait_for_selector("#table:not([hidden])")
        page.wait_for_function("() => document.getElementById('table').dataset.turns")
        return page

    def accessible(self) -> None:
        found = Axe().run(self.page)
        assert found.violations_count == 0, found.generate_report()


def settle(page: Page, session: Any) -> None:
    """Wait until the page has come to where the game is, or shows a dialog."""
    deadline = time.monotonic() + PATIENCE
    while not page.evaluate(SETTLED % len(session.turns)):  # agents may still be answering
        assert time.monotonic() < deadline, "the page has not come to where the game is"
        page.wait_for_timeout(20)


def taken(page: Page, session: Any, before: int) -> None:
    """Wait until a turn has been taken at the server."""
    deadline = time.monotonic() + PATIENCE
    while len(session.turns) == before:
        assert time.monotonic() < deadline, "the page has not taken the turn"
        page.wait_for_timeout(10)


def check_score(page: Page, session: Any) -> None:
    """Check every number on the page against the engine."""
    for side, score in enumerate(session.game.scores):
        shown = page.locator(f'[data-score="{side}"]').all_inner_texts()
        assert shown == [str(score)], f"turn {len(session.turns)}"
    sight = session.sight(0)
    if "passed" in sight:
        marks = page.locator(".player:has(.mark:text-is('go'))").count()
        assert marks == len(sight["passed"])
    if "count" in sight and sight["phase"] == "pegging":
        assert page.locator("[data-count]").inner_text() == str(sight["count"])
    if "rows" in sight:
        heads = page.locator(".layout th").all_inner_texts()
        assert heads == [str(n) for n in sight["rows"] + sight["columns"]]
    if "hand" in sight:
        cards = page.locator(".hand .card").evaluate_all("all => all.map(e => +e.dataset.card)")
        assert sorted(cards) == sorted(one["card"] for one in sight["hand"])


def go_on(page: Page, session: Any) -> None:
    """Check a count that is shown, and go on."""
    expect(page.locator("#show .counted").last).to_be_visible()
    counted = next(turn.counted for turn in reversed(session.turns) if turn.counted)
    page.wait_for_function(f"() => document.querySelectorAll('#show .counted').length === "
                           f"{len(counted)}")  # fmt: skip
    points = page.locator("#show .points").all_inner_texts()
    assert points == [str(one.points) for one in counted]
    assert page.locator("#show .call").all_inner_texts() == [one.call for one in counted]
    page.click("#go-on")


def drag(page: Page, card: Any, target: Any) -> None:
    """Drag a card to a place."""
    at, to = card.bounding_box(), target.bounding_box()
    page.mouse.move(at["x"] + at["width"] / 4, at["y"] + at["height"] / 2)
    page.mouse.down()
    page.mouse.move(at["x"] + at["width"] / 2, at["y"] - 20, steps=3)
    page.mouse.move(to["x"] + to["width"] / 2, to["y"] + to["height"] / 2, steps=4)
    page.mouse.up()


def choose(page: Page, session: Any, rng: np.random.Generator, how: int) -> None:
    """Take a turn through the page: by click, by key or by dragging."""
    if session.family.sides:
        places = page.locator(".cell.open, [data-key=crib]")
        place = places.nth(int(rng.integers(places.count())))
        if how == 0:
            place.click()
        elif how == 1:
            place.focus()
            page.keyboard.press("Enter")
        else:
            drag(page, page.locator(".turncard .card"), place)
        return
    cards = page.locator(".hand button.card:not([disabled])")
    wanted, laying = session.to_choose, session.sight(0)["phase"] == "discard"
    order = rng.permutation(cards.count())[:wanted].tolist()
    hand = page.locator(".hand button.card")
    names = [cards.nth(i).get_attribute("data-key") for i in order]
    for name in names:
        card = page.locator(f'[data-key="{name}"]')
        if how == 0:
            card.click()
        elif how == 1:
            keys = hand.evaluate_all("all => all.map(e => e.dataset.key)")
            page.keyboard.press(str(1 + keys.index(name)))
        else:
            drag(page, card, page.locator(f'[data-drop="{"crib" if laying else "pile"}"]'))
            if name != names[-1]:  # the page is drawn anew when it has been dropped
                expect(card).to_have_attribute("aria-pressed", "true")
    if laying and how < 2:
        page.click("[data-key=discard]")


@pytest.mark.parametrize(
    ("game", "size"),
    [
        ("six", DESK),
        ("five", PHONE),
        ("three", DESK),
        ("three", PHONE),
        ("four", DESK),
        ("four", PHONE),
        ("cut-throat", PHONE),
        ("table-top", DESK),
        ("partners", PHONE),
        ("ship", DESK),
    ],
)
def test_a_whole_game_through_the_page(
    browser: Browser, served: Served, game: str, size: dict[str, int]
) -> None:
    visitor = Visitor(browser, size, "dark" if size is PHONE else "light")
    page = visitor.sit_down(served.url, game)
    session = served.session(page)
    reviews: list[Route] = []
    page.route("**/review", lambda route: reviews.append(route))  # they wait: the end must not
    rng = np.random.default_rng(1)
    turns = shows = 0
    while not session.over:
        settle(page, session)
        check_score(page, session)
        before = len(session.turns)
        choose(page, session, rng, int(rng.integers(3)))
        taken(page, session, before)
        turns += 1
        settle(page, session)
        while page.locator("#show[open]").count():
            shows += 1
            go_on(page, session)
            settle(page, session)
    expect(page.locator("#end")).to_be_visible()
    check_score(page, session)
    won = "won" if session.winner == 0 else "lost"
    assert page.locator("#end-title").inner_text() == f"You have {won}, {session.result(0)}"
    expect(page.locator("#review")).to_contain_text("The expert is judging your decisions")
    reviews[0].continue_()
    # The first review of a game compiles the expert.
    expect(page.locator("#review")).to_contain_text("The cost of your decisions", timeout=300_000)
    assert turns > 10
    assert shows > 0
    page.goto(served.url + str(page.locator("#replay").get_attribute("href")))
    page.wait_for_selector("svg:visible")
    assert not visitor.errors


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing(
    browser: Browser, served: Served, size: dict[str, int], theme: str
) -> None:
    visitor = Visitor(browser, size, theme)
    visitor.page.goto(served.url)
    visitor.page.wait_for_selector(".game")
    visitor.accessible()
    for game in ("six", "three", "four", "table-top"):
        page = visitor.sit_down(served.url, game)
        session = served.session(page)
        rng = np.random.default_rng(2)
        visitor.accessible()
        page.click("#best")
        page.wait_for_selector("#advice:not([hidden])")
        visitor.accessible()
        page.click("#advice button")
        for _ in range(40):
            settle(page, session)
            if page.locator("#show[open]").count():
                break
            before = len(session.turns)
            choose(page, session, rng, 0)
            taken(page, session, before)
        visitor.accessible()
        page.click("#go-on")
        settle(page, session)
        visitor.accessible()
    assert not visitor.errors


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing_in_a_replay(
    browser: Browser, tmp_path: Path, size: dict[str, int], theme: str
) -> None:
    path = tmp_path / "replay.html"
    agents = load_agent("greedy"), load_agent("learned")  # one says what it thinks, one does not
    write_replay(path, Rules.preset("five_card", target=15), agents, seed=3)
    visitor = Visitor(browser, size, theme)
    page = visitor.page
    page.goto(path.as_uri())
    seen: set[str] = set()
    for _ in range(20):
        shown = page.locator("#decision").inner_text().partition(":")[0]
        if shown not in seen:
            visitor.accessible()
        seen.add(shown)
        page.keyboard.press("ArrowRight")
    assert {"greedy", "learned", "Counting"} <= seen
    page.keyboard.press("End")
    visitor.accessible()
    assert not visitor.errors


def tab_to(page: Page, selector: str) -> None:
    """Go on to an element as one does who has no mouse."""
    for _ in range(80):
        if page.evaluate("what => document.activeElement.matches(what)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no way leads to {selector}")


@pytest.mark.parametrize("game", ["six", "three", "table-top"])
def test_a_deal_is_played_by_the_keyboard_alone(
    browser: Browser, served: Served, game: str
) -> None:
    visitor = Visitor(browser, DESK)
    page = visitor.page
    page.goto(served.url)
    page.wait_for_selector(".game")
    tab_to(page, "input[name=game]")
    for _ in range(10):
        if page.evaluate("document.querySelector('input[name=game]:checked').value") == game:
            break
        page.keyboard.press("ArrowDown")
    tab_to(page, "#offer button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#table[data-turns]")
    session = served.session(page)
    for _ in range(40):
        settle(page, session)
        if page.locator("#show[open]").count():
            break
        check_score(page, session)
        before = len(session.turns)
        if session.family.sides:
            for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"):
                if not page.evaluate("document.activeElement.matches('.cell.open')"):
                    page.keyboard.press(key)
            page.keyboard.press("Enter" if page.locator(".cell.open:focus").count() else "k")
        else:
            hand = page.locator(".hand button.card")
            closed = hand.evaluate_all("all => all.map(e => e.disabled)")
            wanted = session.to_choose
            discards = session.sight(0)["phase"] == "discard"  # a key may end the deal
            for place in [i for i, shut in enumerate(closed, 1) if not shut][:wanted]:
                page.keyboard.press(str(place))
            if discards:
                page.keyboard.press("Enter")
        taken(page, session, before)
    tab_to(page, "#go-on")
    page.keyboard.press("Enter")
    settle(page, session)
    assert session.game.deals == 2
    assert not page.locator("#show[open]").count()
    assert not visitor.errors


def test_nothing_lies_beside_the_screen_of_a_phone(browser: Browser, served: Served) -> None:
    visitor = Visitor(browser, PHONE)
    for game in ("six", "three", "four", "partners"):
        page = visitor.sit_down(served.url, game)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= PHONE["width"]
        page.goto("about:blank")


def test_undo_hint_coach_and_reload(browser: Browser, served: Served) -> None:
    visitor = Visitor(browser, DESK)
    page = visitor.sit_down(served.url, "six")
    session = served.session(page)
    settle(page, session)
    hand = page.locator(".hand").inner_html()
    page.keyboard.press("h")
    expect(page.locator("#advice")).to_contain_text("discard")
    advised = page.locator(".card.advised")
    assert advised.count() == 2
    page.click("#coach")
    names = [one.get_attribute("data-key") for one in advised.all()]
    for name in names:
        page.click(f'[data-key="{name}"]')
    page.click("[data-key=discard]")
    expect(page.locator("#advice")).to_contain_text("The expert would have done the same")
    settle(page, session)
    page.reload()
    page.wait_for_selector("#table:not([hidden])")
    settle(page, session)
    check_score(page, session)
    page.keyboard.press("u")
    page.wait_for_selector("[data-key=discard]")
    assert page.locator(".hand").inner_html() == hand
    assert not visitor.errors


def start(games: Path, port: int) -> subprocess.Popen[str]:
    """Start `crib web` in a process of its own and wait until it listens."""
    server = subprocess.Popen(
        [sys.executable, "-m", "crib_training.command_line", "web", "--games", str(games),
         "--port", str(port), "--agents", "greedy"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    assert "the table is open" in server.stdout.readline()
    return server


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def test_a_server_killed_in_the_middle_loses_nothing(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    server = start(tmp_path / "tables.sqlite3", port)
    visitor = Visitor(browser, DESK)
    page = visitor.sit_down(f"http://127.0.0.1:{port}", "table-top")
    try:
        for kill in range(4):
            for _ in range(3):
                page.wait_for_selector(OPEN)
                turns = page.locator("#table").get_attribute("data-turns")
                page.locator(OPEN).first.click()
                page.wait_for_function(
                    f"() => document.getElementById('table').dataset.turns !== '{turns}'"
                )
            page.wait_for_selector(OPEN)
            before = page.locator("#felt").inner_html()
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
            if kill % 2:  # the page asks while nobody answers, and says so
                page.locator(OPEN).first.click()
                expect(page.locator("#problem")).to_contain_text("does not answer")
            server = start(tmp_path / "tables.sqlite3", port)
            if kill % 2 == 0:
                page.reload()
                page.wait_for_selector(OPEN)
            assert page.locator("#felt").inner_html() == before
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == 0
    finally:
        server.kill()
        server.communicate()
    cut = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET")  # it asks how far the games are
    assert not [error for error in visitor.errors if not any(word in error for word in cut)]


def test_the_page_says_how_far_the_games_are_prepared(browser: Browser, served: Served) -> None:
    visitor = Visitor(browser, PHONE)
    page, done = visitor.page, 3

    def prepared(route: Route) -> None:
        route.fulfill(json={"done": done, "of": 20})

    page.route("**/api/prepared", prepared)
    page.goto(served.url)
    expect(page.locator("#preparing")).to_have_text("Preparing the games: 3 of 20")
    visitor.accessible()
    done = 20
    expect(page.locator("#preparing")).to_be_hidden()
    page.check("input[value=table-top]")
    offered = page.locator("#opponent option").all_inner_texts()
    assert offered == ["greedy", "random", "rule_based", "a person, by invitation"]
    assert not visitor.errors


def test_two_people_play_over_the_wire(browser: Browser, served: Served) -> None:
    first, second = Visitor(browser, DESK), Visitor(browser, PHONE)
    first.page.goto(served.url)
    first.page.check("input[value=five]")
    first.page.select_option("#opponent", "person")
    first.page.click("text=Deal")
    link = first.page.locator("#advice a").inner_text()
    assert link.startswith(served.url)
    first.page.reload()
    expect(first.page.locator("#advice a")).to_have_text(link)
    expect(first.page.locator("#advice")).to_contain_text("only on this machine")
    for advice in ("#hint", "#best", "#coach", "#undo"):  # people play with each other
        expect(first.page.locator(advice)).to_be_disabled()
    second.page.goto(link)
    second.page.wait_for_selector("#table:not([hidden])")
    session = served.session(first.page)
    pages = [first.page, second.page]
    rng = np.random.default_rng(3)
    deadline = time.monotonic() + 5 * PATIENCE
    while session.game.deals < 2 and time.monotonic() < deadline:
        page = pages[session.seat]
        before = len(session.turns)
        page.wait_for_function(SETTLED % before)  # not while it shows the turn before
        page.wait_for_function("() => document.querySelector('.hand button.card:not([disabled])') "
                               "|| document.querySelector('dialog[open]')")  # fmt: skip
        choose(page, session, rng, 0)
        taken(page, session, before)
    assert session.game.deals == 2
    for page in pages:
        page.wait_for_selector("#show[open]")
        go_on(page, session)
    assert not first.errors + second.errors
