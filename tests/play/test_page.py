"""The page of `crib web` in a headless browser: whole games, the score checked at every step.

Needs Playwright, axe and Debian's Chromium; `make check-page` runs these alone.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from crib_agents.loading import load_agent
from crib_play.replay import write_replay
from crib_play.table import Counted
from crib_play.table.advice import choices
from crib_play.user_files import Preferences
from crib_play.web.app import make_app
from crib_play.web.store import Store
from crib_play.web.tables import Tables
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from crib_env.rules import Rules

CHROMIUM = Path("/usr/bin/chromium")
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
SETTLED = """() => document.querySelector("dialog[open], #show") ||
    Number(document.getElementById("table").dataset.turns ?? -1) === %d"""
PATIENCE = 90.0  # seconds; the machine may be busy
OPEN = ".cell.open, [data-key=crib]"
CHOSEN = "JSON.stringify({settings: {speed: 1}, opponent: 'greedy'})"
OFFER = f"localStorage.setItem('crib-offer', {CHOSEN})"
FAMILIES = {"four": "three", "cut-throat": "three", "partners": "table-top", "ship": "table-top"}

expect.set_options(timeout=1000 * PATIENCE)

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no {CHROMIUM}")]


class Served:
    """A server in a thread, whose tables the tests look into."""

    def __init__(self) -> None:
        self.tables = Tables(Store(None), ["greedy", "random", "rule_based"])
        app = make_app(self.tables, Preferences(), ["127.0.0.1"])
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([listening],))
        self.thread.start()

    def session(self, page: Page) -> Any:
        return self.tables.find(page.url.partition("#")[2]).session

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

    def __init__(
        self,
        browser: Browser,
        size: dict[str, int],
        theme: str = "light",
        motion: Literal["no-preference", "reduce"] = "reduce",
    ) -> None:
        context = browser.new_context(viewport=size, color_scheme=theme, has_touch=size is PHONE, reduced_motion=motion)
        context.add_init_script(f"if (!localStorage.getItem('crib-offer')) {OFFER}")
        self.page = context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.errors: list[str] = []
        self.page.on(
            "console",
            lambda message: self.errors.append(message.text) if message.type in ("error", "warning") else None,
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def sit_down(self, url: str, game: str) -> Page:
        page = self.page
        page.goto(url)
        self.choose_game(game)
        page.click("#deal")
        page.wait_for_selector("#table[data-turns]")
        return page

    def choose_game(self, game: str) -> None:
        self.page.check(f"input[value={FAMILIES.get(game, game)}]")
        if self.page.locator("#variant").count():
            self.page.select_option("#variant", game)

    def fits(self) -> None:
        """Nothing is taller or wider than the screen."""
        width, height = self.page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        size = self.page.viewport_size
        assert size is not None
        assert width <= size["width"], width
        assert height <= size["height"], height

    def accessible(self) -> None:
        found = Axe().run(self.page)
        assert found.violations_count == 0, found.generate_report()


@pytest.fixture(
    params=product((DESK, PHONE), ("light", "dark")), ids=("desk-light", "desk-dark", "phone-light", "phone-dark")
)
def visitor(request: pytest.FixtureRequest, browser: Browser) -> Visitor:
    """A window of either size, in either theme."""
    return Visitor(browser, *request.param)


def settle(page: Page, session: Any) -> None:
    """Wait until the page shows the game's last turn, or a dialog."""
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
    """Check the page's scores, gos, count, line values and hand against the engine."""
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
    """Check a count that is shown, then continue."""
    counted = next(turn.counted for turn in reversed(session.turns) if turn.counted)
    expect(page.locator("#go-on")).to_have_text("Continue")
    points = page.locator("#show .points").all_inner_texts()
    if session.family.sides:
        made = [sum(one.points for one in counted if one.seat == side) for side in range(2)]
        assert points == [str(one) for one in made]
        heads = page.locator(".layout th").all_inner_texts()
        assert heads == [str(one.points) for one in counted[:-1]]
    else:
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
            if name != names[-1]:  # a drop redraws the page
                expect(card).to_have_attribute("aria-pressed", "true")
    if laying and how < 2:
        page.click("[data-key=discard]")


def take_turn(page: Page, session: Any, rng: np.random.Generator, how: int = 0) -> None:
    """Take a turn through the page, and wait until the server has it."""
    before = len(session.turns)
    choose(page, session, rng, how)
    taken(page, session, before)


def switch(page: Page, name: str) -> None:
    """Switch something on in the menu."""
    page.click("#more summary")
    page.click(name)
    page.click("#more summary")


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
def test_page_plays_a_whole_game(browser: Browser, served: Served, game: str, size: dict[str, int]) -> None:
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
        visitor.fits()
        take_turn(page, session, rng, int(rng.integers(3)))
        turns += 1
        settle(page, session)
        while page.locator("#show").count():
            shows += 1
            visitor.fits()
            go_on(page, session)
            settle(page, session)
    expect(page.locator("#end")).to_be_visible()
    check_score(page, session)
    won = "won" if session.winner == 0 else "lost"
    assert page.locator("#end-title").inner_text() == f"You have {won}, {session.result(0)}"
    judge = "learned" if game in ("three", "four", "cut-throat") else "expert"
    expect(page.locator("#review")).to_contain_text(f"{judge} is judging your decisions")
    reviews[0].continue_()
    # The first review of a game compiles the expert.
    expect(page.locator("#review")).to_contain_text("The cost of your decisions", timeout=300_000)
    if len(set(session.game.sides)) == 2:
        expect(page.locator("#luck")).to_have_text(re.compile(r"Luck: [−+]\d+\.\d % of a win"))
    assert turns > 10
    assert shows > 0
    lines = page.locator("#review li").all()
    assert lines or session.family.sides
    for line in lines:  # each opens its position in a new window
        with page.expect_popup() as opened:
            line.locator("a").click()
        did = line.inner_text().partition(": ")[2].partition(" cost ")[0]
        expect(opened.value.locator("#decision")).to_contain_text(did)
        opened.value.close()
    page.goto(served.url + str(page.locator("#replay").get_attribute("href")))
    page.wait_for_selector("svg:visible")
    assert not visitor.errors


def test_page_has_no_axe_violations(visitor: Visitor, served: Served) -> None:
    visitor.page.goto(served.url)
    visitor.page.wait_for_selector(".game")
    visitor.accessible()
    visitor.page.click("text=Rules")
    visitor.page.wait_for_selector("#rules[open] h2")
    visitor.accessible()
    for game in ("six", "five", "three", "four", "table-top"):
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
            if page.locator("#show").count():
                break
            take_turn(page, session, rng)
        visitor.accessible()
        page.click("#go-on")
        settle(page, session)
        visitor.accessible()
    assert not visitor.errors


def test_replay_has_no_axe_violations(visitor: Visitor, tmp_path: Path) -> None:
    path = tmp_path / "replay.html"
    agents = load_agent("greedy"), load_agent("learned")  # one gives values, one does not
    write_replay(path, Rules.preset("five_card", target=15), agents, seed=3)
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
    """Move the focus to an element with the Tab key."""
    for _ in range(80):
        if page.evaluate("what => document.activeElement.matches(what)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no way leads to {selector}")


@pytest.mark.parametrize("game", ["six", "three", "table-top"])
def test_page_plays_a_deal_by_keyboard(browser: Browser, served: Served, game: str) -> None:
    visitor = Visitor(browser, DESK)
    page = visitor.page
    page.goto(served.url)
    page.wait_for_selector(".game")
    tab_to(page, "input[name=family]")
    for _ in range(10):
        if page.evaluate("document.querySelector('input[name=family]:checked').value") == game:
            break
        page.keyboard.press("ArrowDown")
    tab_to(page, "#deal")
    page.keyboard.press("Enter")
    page.wait_for_selector("#table[data-turns]")
    session = served.session(page)
    for _ in range(40):
        settle(page, session)
        if page.locator("#show").count():
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
    expect(page.locator("#go-on")).to_have_text("Continue")
    tab_to(page, "#go-on")
    page.keyboard.press("Enter")
    expect(page.locator("#show")).to_have_count(0)
    assert session.game.deals == 2
    assert not visitor.errors


def test_page_undo_hint_coach_and_reload(browser: Browser, served: Served) -> None:
    visitor = Visitor(browser, DESK)
    page = visitor.sit_down(served.url, "six")
    session = served.session(page)
    settle(page, session)
    held = "all => all.map(e => e.dataset.card)"
    hand = page.locator(".hand .card").evaluate_all(held)
    page.keyboard.press("h")
    expect(page.locator("#advice")).to_contain_text("discard")
    advised = page.locator(".card.advised")
    assert advised.count() == 2
    switch(page, "#coach")
    names = [one.get_attribute("data-key") for one in advised.all()]
    for name in names:
        page.click(f'[data-key="{name}"]')
    page.click("[data-key=discard]")
    expect(page.locator("#advice")).to_contain_text("expert would have done the same.")
    settle(page, session)
    page.reload()
    page.wait_for_selector("#table[data-turns]")
    settle(page, session)
    check_score(page, session)
    page.keyboard.press("u")
    page.wait_for_selector("[data-key=discard]")
    assert page.locator(".hand .card").evaluate_all(held) == hand
    expect(page.locator("#log")).to_contain_text("took a turn back")
    assert not visitor.errors


def start(games: Path, port: int) -> subprocess.Popen[str]:
    """Start `crib web` in a separate process and wait until it listens."""
    server = subprocess.Popen(
        [sys.executable, "-m", "crib_training.command_line", "web", "--games", str(games),
         "--port", str(port), "--agents", "greedy"],
        stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's job ignores it
    )  # fmt: skip
    assert server.stdout is not None
    assert "the table is open" in server.stdout.readline()
    return server


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def test_page_survives_a_killed_server(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    server = start(tmp_path / "tables.sqlite3", port)
    visitor = Visitor(browser, DESK)
    page = visitor.sit_down(f"http://127.0.0.1:{port}", "table-top")
    try:
        for kill in range(10):  # at another moment of the game each time
            for _ in range(1 + (kill % 5 == 4)):
                page.wait_for_selector(OPEN)
                turns = page.locator("#table").get_attribute("data-turns")
                page.locator(OPEN).first.click()
                page.wait_for_function(f"() => document.getElementById('table').dataset.turns !== '{turns}'")
            page.wait_for_selector(OPEN)
            # A picture that the kill cuts off fails in one of several ways, by how far it came.
            page.wait_for_function("() => [...document.images].every((one) => one.complete && one.naturalWidth)")
            before = page.locator("#felt").inner_html()
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
            if kill % 2:  # the page reports that the server does not answer
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
    cut = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET")
    assert not [error for error in visitor.errors if not any(word in error for word in cut)]


def test_page_button_shows_the_preparation_time(browser: Browser, served: Served) -> None:
    visitor = Visitor(browser, PHONE)
    page, seconds = visitor.page, 20

    def prepared(route: Route) -> None:
        route.fulfill(json={"done": 3, "of": 20, "seconds": seconds})

    page.route("**/api/prepared*", prepared)
    page.goto(served.url)
    expect(page.locator("#deal")).to_have_text("Preparing, about 20 s")
    expect(page.locator("#deal")).to_be_disabled()
    visitor.accessible()
    visitor.fits()
    page.select_option("#opponent", "person")
    page.locator("#name").press_sequentially("Ann")
    seconds = 10
    expect(page.locator("#deal")).to_have_text("Preparing, about 10 s")
    expect(page.locator("#name")).to_have_value("Ann")  # although the page was redrawn
    seconds = 0
    expect(page.locator("#deal")).to_have_text("Deal")
    expect(page.locator("#deal")).to_be_enabled()
    visitor.choose_game("table-top")
    offered = page.locator("#opponent option").all_inner_texts()
    assert offered == ["Regular", "a person, by invitation", "greedy", "random"]
    assert not visitor.errors


def test_page_win_bar_setting_is_kept(visitor: Visitor, served: Served) -> None:
    page = visitor.sit_down(served.url, "six")
    session = served.session(page)
    bar = page.locator(".winbar")
    assert bar.count() == 0
    switch(page, "#winbar")
    for _ in range(2):
        found = choices(session.game.view(0))
        expect(bar).to_have_attribute("aria-label", f"Your chance of winning: {100 * found[0].win:.1f} %")
        visitor.accessible()
        visitor.fits()
        take_turn(page, session, np.random.default_rng(1))
        settle(page, session)
    page.reload()
    expect(bar).to_have_attribute("aria-label", re.compile(r"winning: [0-9.]+ %$"))
    assert not visitor.errors


def test_page_slow_hint_locks_no_card(browser: Browser, served: Served) -> None:
    visitor = Visitor(browser, DESK)
    page = visitor.sit_down(served.url, "six")
    session = served.session(page)
    held: list[Route] = []
    page.route("**/advice", lambda route: held.append(route))
    page.click("#hint")
    expect(page.locator("#hint")).not_to_have_text("Hint")
    take_turn(page, session, np.random.default_rng(1))
    settle(page, session)
    held[0].continue_()
    expect(page.locator("#hint")).to_have_text("Hint")
    assert not visitor.errors


def test_page_takes_a_click_after_a_drop_elsewhere(browser: Browser, served: Served) -> None:
    page = Visitor(browser, DESK).sit_down(served.url, "six")
    settle(page, served.session(page))
    card = page.locator(".hand button.card").first
    drag(page, card, page.locator("#more summary"))
    page.wait_for_timeout(200)  # a click of the drag itself takes no card
    expect(card).to_have_attribute("aria-pressed", "false")
    card.click()
    expect(card).to_have_attribute("aria-pressed", "true")


def test_page_animation_follows_reduced_motion(browser: Browser, served: Served) -> None:
    for wanted in ("no-preference", "reduce"):
        visitor = Visitor(browser, DESK, motion=wanted)
        page = visitor.page
        page.add_init_script(
            "const animate = Element.prototype.animate; window.moved = 0;"
            "Element.prototype.animate = function (...given) {"
            " window.moved++; return animate.apply(this, given); };"
        )
        page.add_init_script(OFFER.replace("speed: 1", "speed: 2"))
        visitor.sit_down(served.url, "six")
        session = served.session(page)
        take_turn(page, session, np.random.default_rng(1))
        settle(page, session)
        assert (page.evaluate("window.moved") > 0) == (wanted == "no-preference")


@pytest.mark.parametrize("game", ["six", "five", "three", "four", "table-top"])
def test_page_manual_count_and_muggins(browser: Browser, served: Served, game: str) -> None:
    visitor = Visitor(browser, PHONE)
    page = visitor.sit_down(served.url, game)
    session, rng = served.session(page), np.random.default_rng(4)
    switch(page, "#muggins")

    def shown() -> list[Counted]:
        return [one for turn in session.turns for one in turn.counted]

    while not shown():
        settle(page, session)
        take_turn(page, session, rng)
        settle(page, session)
    counts = claimed = 0
    for done, one in enumerate(shown()):
        if not session.counts(0, one):
            continue
        page.wait_for_selector(f'#show[data-done="{done}"] .claim input')
        if game == "table-top" and one.name == "crib":  # the dealer's, which is no line
            expect(page.locator(".layout th.lit")).to_have_count(0)
        elif game == "table-top":
            expect(page.locator(".layout th.mine.lit")).to_have_text("?")
        if counts == 0:
            visitor.accessible()
            visitor.fits()
        counts += 1
        page.fill(".claim input", str(max(0, one.points - 1)))
        page.click(".claim button")
        claimed += one.points > 0
        expect(page.locator("#log li", has_text="muggins for 1")).to_have_count(claimed)
    expect(page.locator("#go-on")).to_have_text("Continue", timeout=30_000)
    go_on(page, session)
    settle(page, session)
    expect(page.locator("#counted")).to_have_count(0)
    page.click("#more summary")
    page.once("dialog", lambda dialog: dialog.accept())
    page.click("#resign")
    expect(page.locator("#counted")).to_contain_text(f"{counts - claimed} of {counts} right; {claimed} claimed")
    assert not visitor.errors


def test_page_two_people_play(browser: Browser, served: Served) -> None:
    first, second = Visitor(browser, DESK), Visitor(browser, PHONE)
    first.page.goto(served.url)
    first.choose_game("five")
    first.page.select_option("#opponent", "person")
    first.page.fill("#name", "Ann")
    first.page.click("#deal")
    link = first.page.locator("#invite a").inner_text()
    assert link.startswith(served.url)
    first.page.reload()
    expect(first.page.locator("#invite a")).to_have_text(link)
    expect(first.page.locator("#invite")).to_contain_text("only on this machine")
    for advice in ("#hint", "#best", "#coach", "#undo"):  # people play with each other
        expect(first.page.locator(advice)).to_be_disabled()
    second.page.goto(link)
    expect(first.page.locator("#invite")).to_have_count(0)  # the seat is taken
    expect(first.page.locator(".player .mark:text-is('here')")).to_have_count(1)
    expect(second.page.locator(".player .name", has_text="Ann")).to_have_count(1)
    second.page.wait_for_selector("#table[data-turns]")
    session = served.session(first.page)
    pages = [first.page, second.page]
    rng = np.random.default_rng(3)
    deadline = time.monotonic() + 5 * PATIENCE
    while session.game.deals < 2 and time.monotonic() < deadline:
        page = pages[session.seat]
        before = len(session.turns)
        page.wait_for_function(SETTLED % before)  # not while it shows the turn before
        page.wait_for_function(
            "() => document.querySelector('.hand button.card:not([disabled])') || document.querySelector('#show')"
        )
        choose(page, session, rng, 0)
        taken(page, session, before)
    assert session.game.deals == 2
    mover, other = pages[session.seat], pages[1 - session.seat]
    for page in pages:
        page.wait_for_selector("#show")
    go_on(mover, session)
    mover.wait_for_selector(".hand button.card:not([disabled])")
    take_turn(mover, session, rng)
    go_on(other, session)  # the page shows the turns taken during its show
    other.wait_for_function(SETTLED % len(session.turns))
    second.page.on("dialog", lambda dialog: dialog.accept())
    second.page.click("#more summary")
    second.page.click("#resign")
    expect(second.page.locator("#end-title")).to_contain_text("You have lost")
    expect(first.page.locator("#end-title")).to_contain_text("You have won")
    second.page.click("#once-more")  # the guest may ask for it
    second.page.wait_for_selector("#table[data-turns]")
    first.page.click("#once-more")
    first.page.wait_for_function("() => !document.querySelector('#end')")
    assert first.page.url == second.page.url
    assert not first.errors + second.errors
