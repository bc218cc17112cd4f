"""`crib web` as a referee: its answers, its rejections, and persistence."""

from __future__ import annotations

import json
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from crib_play.table import GAMES
from crib_play.table.advice import choices
from crib_play.user_files import Preferences
from crib_play.web import serve
from crib_play.web.app import make_app
from crib_play.web.messages import LARGEST
from crib_play.web.serve import open_store
from crib_play.web.store import BUSY_SECONDS, Store, StoredTable
from crib_play.web.tables import Tables
from starlette.testclient import TestClient

from hidden import redraw
from served import AGENTS, Site, choice, sit_down


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "tables.sqlite3")


def act(browser: TestClient, shown: dict[str, Any], actions: list[int], **more: Any) -> Any:
    message = {"revision": shown["revision"], "actions": actions, "since": shown["turns"], **more}
    return browser.post(f"/api/tables/{shown['table']}/act", json=message)


def look(browser: TestClient, shown: dict[str, Any]) -> Any:
    return browser.get(f"/api/tables/{shown['table']}")


def played(browser: TestClient, shown: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the state shown after each of the person's turns, to the end."""
    while not shown["sight"]["over"]:
        answer = act(browser, shown, choice(shown))
        assert answer.status_code == 200, answer.text
        shown = answer.json()
        yield shown


QUICK = ("five", "three", "partners")
GAMES_BY_TIME = [game if game in QUICK else pytest.param(game, marks=pytest.mark.slow) for game in GAMES]


@pytest.mark.parametrize("game", GAMES_BY_TIME)
def test_web_game_is_playable_from_the_answers(site: Site, game: str) -> None:
    browser = site.browser()
    begun = sit_down(browser, game, seat=1)
    turns = begun["turns"]
    for shown in played(browser, begun):
        session = site.session(shown)
        assert shown["sight"]["scores"] == list(session.game.scores)
        assert [f["seat"] for f in shown["frames"]] == [t.seat for t in session.turns[turns:]]
        assert shown["frames"][-1]["sight"] == shown["sight"]
        turns = shown["turns"]
    assert shown["winner"] == session.winner
    if game == "five":  # `test_terminal.py` reviews one of each family
        review = browser.get(f"/api/tables/{shown['table']}/review").json()
        assert sum(one["decisions"] for one in review["phases"]) == len(review["losses"])


def test_web_finished_game_can_be_opened_again(site: Site) -> None:
    browser = site.browser()
    shown = sit_down(browser, "five")
    path = f"/api/tables/{shown['table']}/replay"
    assert browser.get(path).status_code == 409
    for _ in played(browser, shown):
        pass
    answer = browser.get(path)
    assert answer.status_code == 200
    assert "Five-card cribbage" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert site.browser().get(path).status_code == 403


@pytest.mark.parametrize("game", ["six", "five", "three", "four", "table-top", "partners"])
def test_web_answers_are_independent_of_hidden_cards(site: Site, game: str) -> None:
    rng = np.random.default_rng(9)
    browser = site.browser()
    shown = sit_down(browser, game)
    changed = 0

    def answers() -> list[bytes]:
        table = f"/api/tables/{shown['table']}"
        calls = [table, f"{table}?since=0", f"{table}/advice"]
        return [browser.get(path).content for path in calls]

    for _ in range(4):
        session = site.session(shown)
        before, now = answers(), session.game.snapshot()
        taken = [turn.before for turn in session.turns]
        changed += redraw(session.game, rng, 0)
        assert answers() == before
        assert [turn.before for turn in session.turns] == taken
        session.game.restore(now)
        shown = act(browser, shown, choice(shown)).json()
        if shown["sight"]["over"]:
            break
    assert changed > 12


def test_web_answers_contain_no_other_state(site: Site) -> None:
    browser = site.browser()
    shown = sit_down(browser)
    session = site.session(shown)
    words = session.start.split()
    rng = next(word for word in words if word.startswith("rng="))
    secrets = rng.removeprefix("rng="), str(session.chance), *dict(browser.cookies).values()
    assert len(secrets) == 3
    for _ in range(30):
        sent = json.dumps(shown)
        assert not [secret for secret in secrets if secret in sent]
        if shown["sight"]["over"]:
            break
        shown = act(browser, shown, choice(shown)).json()


@pytest.mark.parametrize("game", ["six", "four"])
def test_web_coach_and_undo(site: Site, game: str) -> None:
    browser = site.browser()
    shown = sit_down(browser, game)
    advised = browser.get(f"/api/tables/{shown['table']}/advice").json()["choices"]
    worst = act(browser, shown, choice(shown), coach=True).json()
    wins = {frozenset(advice["actions"]): advice["win"] for advice in advised}
    # Only the best choices come with advice; another is at most the last of them.
    taken = wins.get(frozenset(choice(shown)), min(wins.values()))
    behind = max(wins.values()) - taken
    assert worst["coach"]["loss"] >= behind - 1e-12
    if frozenset(choice(shown)) in wins:
        assert worst["coach"]["loss"] == pytest.approx(behind, abs=1e-12)
    undone = browser.post(f"/api/tables/{shown['table']}/undo", json={"revision": worst["revision"]}).json()
    assert undone["sight"] == shown["sight"]
    assert undone["revision"] == worst["revision"] + 1
    best = act(browser, undone, advised[0]["actions"], coach=True).json()
    assert best["coach"]["loss"] == 0


def test_web_advice_has_unrounded_values(site: Site) -> None:
    """The page rounds displayed values: 34.3496 % rounded twice becomes 34.4 %."""
    browser = site.browser()
    shown = sit_down(browser)
    advised = browser.get(f"/api/tables/{shown['table']}/advice").json()["choices"]
    found = choices(site.session(shown).game.view(0))
    assert [one["win"] for one in advised] == [one.win for one in found[: len(advised)]]


# --- rejections ------------------------------------------------------------------------------

BAD_MESSAGES: dict[str, tuple[Any, int]] = {
    "no JSON": ("{", 400),
    "a list": ([1], 400),
    "deep": ("[" * 3000, 400),
    "nothing": ({}, 400),
    "an unknown field": ({"revision": 0, "actions": [0], "since": 0, "seat": 1}, 400),
    "a text for a number": ({"revision": "0", "actions": [0], "since": 0}, 400),
    "true for a number": ({"revision": True, "actions": [0], "since": 0}, 400),
    "no actions": ({"revision": 0, "actions": [], "since": 0}, 400),
    "many actions": ({"revision": 0, "actions": [0, 1, 2], "since": 0}, 400),
    "no card": ({"revision": 0, "actions": [52, 0], "since": 0}, 400),
    "a large number": ({"revision": 10**30, "actions": [0], "since": 0}, 400),
    "NaN": ('{"revision": NaN, "actions": [0], "since": 0}', 400),
    "of another time": ({"revision": 7, "actions": [0, 1], "since": 0}, 409),
    "one card of two": ({"revision": 0, "actions": [0], "since": 0}, 422),
}


Asked = Callable[[TestClient, str, dict[str, Any]], Any]


def headed(name: str, value: str) -> Asked:
    """Return a function that posts a message with this header."""
    return lambda browser, path, message: browser.post(path, json=message, headers={name: value})


JSON = {"Content-Type": "application/json"}


def sending(message: Any) -> Asked:
    """Return a function that posts a message as JSON, or a text unchanged."""
    text = message if isinstance(message, str) else json.dumps(message)
    return lambda browser, path, _: browser.post(path, content=text, headers=JSON)


REFUSED: dict[str, tuple[Asked, int]] = {
    **{name: (sending(message), status) for name, (message, status) in BAD_MESSAGES.items()},
    "a foreign origin": (headed("Origin", "https://example.org"), 403),
    "an origin of no one": (headed("Origin", "null"), 403),
    "a malformed origin": (headed("Origin", "http://["), 403),
    "another port": (headed("Origin", "http://testserver:99"), 403),
    "another site": (headed("Sec-Fetch-Site", "cross-site"), 403),
    "another host": (headed("Host", "example.org"), 400),
    "a form": (headed("Content-Type", "text/plain"), 415),
    "a large message": (lambda b, path, m: b.post(path, json={**m, "more": "x" * LARGEST}), 413),
    "a message that does not say how large it is": (
        lambda b, path, m: b.post(path, content=(b" " * 999 for _ in range(9)), headers=JSON),
        413,
    ),
    "a message in chunks that says how large it is": (
        lambda b, path, m: b.post(
            path, json=m, headers={**JSON, "Content-Length": "10", "Transfer-Encoding": "chunked"}
        ),
        413,
    ),
    "no cookie": (lambda b, path, m: (b.cookies.clear(), b.post(path, json=m))[1], 403),
    "another method": (lambda b, path, m: b.put(path, json=m), 405),
    "no such table": (lambda b, path, m: b.post("/api/tables/none/act", json=m), 404),
}


@pytest.mark.parametrize("name", REFUSED)
def test_web_refuses_invalid_and_foreign_messages(site: Site, name: str) -> None:
    ask, status = REFUSED[name]
    browser = site.browser()
    shown = sit_down(browser)
    before = look(browser, shown).content
    cookies = dict(browser.cookies)
    message = {"revision": 0, "actions": choice(shown), "since": shown["turns"]}
    answer = ask(browser, f"/api/tables/{shown['table']}/act", message)
    assert answer.status_code == status, answer.text
    assert name not in BAD_MESSAGES or answer.json()["error"]
    again = site.browser()
    for key, value in cookies.items():
        again.cookies.set(key, value)
    assert look(again, shown).content == before
    assert act(again, shown, message["actions"]).status_code == 200


def test_web_refuses_a_repeated_message_after_undo_too(site: Site) -> None:
    browser = site.browser()
    shown = sit_down(browser)
    first = {"revision": 0, "actions": choice(shown), "since": shown["turns"]}
    path = f"/api/tables/{shown['table']}"
    assert browser.post(f"{path}/act", json=first).status_code == 200
    assert browser.post(f"{path}/act", json=first).status_code == 409
    assert browser.post(f"{path}/undo", json={"revision": 1}).status_code == 200
    assert browser.post(f"{path}/act", json=first).status_code == 409
    assert browser.post(f"{path}/undo", json={"revision": 1}).status_code == 409


def test_web_key_opens_one_seat_of_one_table(site: Site) -> None:
    mine, theirs = site.browser(), site.browser()
    shown, other = sit_down(mine), sit_down(theirs)
    key = mine.cookies.get(f"crib-{shown['table']}")
    theirs.cookies.set(f"crib-{shown['table']}", theirs.cookies[f"crib-{other['table']}"])
    assert look(theirs, shown).status_code == 403
    assert key is not None
    answer = mine.post("/api/tables", json={"game": "six", "opponent": "greedy"})
    set_cookie = answer.headers["set-cookie"]
    for word in ("HttpOnly", "SameSite=strict", f"Path=/api/tables/{answer.json()['table']}"):
        assert word in set_cookie


def test_web_people_get_distinct_keys(site: Site) -> None:
    first, second, third = site.browser(), site.browser(), site.browser()
    shown = sit_down(first, "partners", opponent="person", partner="greedy")
    assert shown["to_choose"] in (0, 1)
    path = f"/api/tables/{shown['table']}"
    keys = shown["invitations"]
    assert len(keys) == 2
    seats = [
        b.post(f"{path}/sit", json={"invitation": k}).json()["sight"]["seat"]
        for b, k in zip((second, third), keys, strict=True)
    ]
    assert sorted(seats) == [1, 3]
    assert second.post(f"{path}/sit", json={"invitation": keys[0]}).status_code == 403
    at = {0: first, seats[0]: second, seats[1]: third}
    for _ in range(20):
        now = {seat: look(browser, shown).json() for seat, browser in at.items()}
        mover = now[0]["sight"]["mover"]
        for seat, seen in now.items():
            assert (seen["sight"]["card"] is not None) == (seat % 2 == mover % 2)
            if seat != mover:
                refused = act(at[seat], seen, [0])
                assert refused.status_code == 409
        assert act(at[mover], now[mover], choice(now[mover])).status_code == 200
    undo = first.post(f"{path}/undo", json={"revision": look(first, shown).json()["revision"]})
    assert undo.status_code == 422


@pytest.mark.parametrize(
    ("message", "status", "reason"),
    [
        ({"game": "bridge", "opponent": "greedy"}, 422, "no game is called 'bridge'"),
        ({"game": "six", "opponent": "os:system"}, 422, "no agent is called 'os:system'"),
        ({"game": "six", "opponent": "/etc/passwd.safetensors"}, 422, "no agent is called"),
        ({"game": "six", "opponent": "greedy", "seat": 2}, 400, "seat must be from 0 to 1"),
    ],
)
def test_web_opens_only_offered_tables(site: Site, message: Any, status: int, reason: str) -> None:
    answer = site.browser().post("/api/tables", json=message)
    assert answer.status_code == status
    assert reason in answer.json()["error"]


def test_web_answers_have_a_content_security_policy(site: Site) -> None:
    browser = site.browser()
    for path in ("/", "/page/app.js", "/api/offers", "/nowhere"):
        headers = browser.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"
    assert browser.get("/page/../app.py").status_code == 404
    assert browser.get("/page/%2e%2e/app.py").status_code == 404


# --- what outlives the server ---------------------------------------------------------------------


@pytest.mark.parametrize("game", ["six", "partners"])
def test_web_tables_continue_after_a_restart(tmp_path: Path, game: str) -> None:
    first = Site(tmp_path / "first/tables.sqlite3")
    browser = first.browser()
    shown = sit_down(browser, game)
    for _ in range(9):
        shown = act(browser, shown, choice(shown)).json()
    before = look(browser, shown).content
    copytree(tmp_path / "first", tmp_path / "second")  # nothing was closed, as if it were killed
    second = Site(tmp_path / "second/tables.sqlite3")
    again = second.browser(browser)
    assert look(again, shown).content == before
    mine, theirs = act(browser, shown, choice(shown)), act(again, shown, choice(shown))
    assert mine.json()["sight"] == theirs.json()["sight"], "agents draw the same again"


def test_web_turn_that_cannot_be_stored_is_refused(site: Site) -> None:
    browser = site.browser()
    shown = sit_down(browser)
    before = look(browser, shown).content
    tables = Tables(site.tables.store, AGENTS)  # a second server over the same store
    second = TestClient(make_app(tables, Preferences(), ["testserver"]))
    second.cookies.update(browser.cookies)
    assert look(second, shown).content == before
    assert act(second, shown, choice(shown)).status_code == 200
    assert act(browser, shown, choice(shown)).status_code == 409
    assert look(browser, shown).content == look(second, shown).content
    shown = look(browser, shown).json()
    site.tables.store.close()
    assert act(browser, shown, choice(shown)).status_code == 503
    assert len(site.session(shown).turns) == shown["turns"]


class Faulty:
    """An agent that fails once it has moved twice."""

    name = "faulty"
    calls = 0

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        self.calls += 1
        if self.calls > 2:
            raise RuntimeError("out of order")
        return np.array([int(view["hand"][0]) for view in views])


def test_web_agent_failure_leaves_the_table_unchanged(tmp_path: Path) -> None:
    site = Site(tmp_path / "tables.sqlite3")
    site.tables = Tables(site.tables.store, ["test_web:Faulty"])
    app = make_app(site.tables, Preferences(), ["testserver"])
    browser = TestClient(app, raise_server_exceptions=False)
    shown = sit_down(browser, opponent="test_web:Faulty")
    before = look(browser, shown).content
    failed = act(browser, shown, choice(shown))
    for _ in range(3):
        if failed.status_code == 200:
            shown = failed.json()
            before = look(browser, shown).content
            failed = act(browser, shown, choice(shown))
    assert failed.status_code == 500
    now = json.loads(look(browser, shown).content)
    assert now["sight"] == json.loads(before)["sight"]
    assert now["revision"] == shown["revision"]


DAY = 24 * 3600.0


def rows(path: Path) -> tuple[int, int]:
    """Return how many tables a store's file has, and how many turns they have together."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("games",)]
        found = [json.loads(data) for (data,) in db.execute("SELECT data FROM games")]
    return len(found), sum(len(one["turns"]) for one in found)


def test_web_untouched_tables_expire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now)
    site = Site(tmp_path / "tables.sqlite3", keep_days=3)
    browser = site.browser()
    over, left, played_on = (sit_down(browser, "five") for _ in range(3))
    *_, over = played(browser, over)
    now += 2 * DAY
    played_on = act(browser, played_on, choice(played_on)).json()
    assert site.tables.clear_away() == 0
    now += 1.5 * DAY
    assert look(browser, over).status_code == 200
    fresh = sit_down(browser, "six")  # a new table removes expired ones
    assert [look(browser, one).status_code for one in (over, left, played_on, fresh)] == [404, 404, 200, 200]
    turns = len(site.session(played_on).turns) + len(site.session(fresh).turns)
    assert rows(tmp_path / "tables.sqlite3") == (2, turns)
    assert Site(tmp_path / "tables.sqlite3").tables.clear_away() == 0  # 0 days keep all
    now += 100 * DAY
    assert Site(tmp_path / "tables.sqlite3", keep_days=30).tables.clear_away() == 2
    assert rows(tmp_path / "tables.sqlite3") == (0, 0)


def test_web_names_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"127.0.0.1:{port}: .*--port 0 takes a free port"):
            serve.run(serve.Settings(port=port, games=tmp_path / "games", agents=("greedy",)))


def test_open_store_without_a_place_keeps_tables_in_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("no store")
    for path in (tmp_path / "file", tmp_path / "file/below"):
        store = open_store(path)
        assert "games are not saved" in capsys.readouterr().out
        assert store.find("none") is None
        assert not store.lasts


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("text", "file is not a database"),
        ("another program's", "it is no store of games"),
        ("a table of this name", "it is no store of games"),
    ],
)
def test_web_leaves_a_foreign_file_unchanged(tmp_path: Path, kind: str, says: str) -> None:
    path = tmp_path / "file"
    if kind == "text":
        path.write_text("no store, but more than a head of SQLite has " * 9)
    else:
        with closing(sqlite3.connect(path)) as db:
            name = "games" if kind == "a table of this name" else "notes"
            db.execute(f"CREATE TABLE {name} (id TEXT, words TEXT)")
    path.chmod(0o644)
    before = path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns
    with pytest.raises(sqlite3.DatabaseError, match=says):
        Store(path)
    assert (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns) == before
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_web_names_a_full_disk_until_there_is_room(tmp_path: Path) -> None:
    store = Store(tmp_path / "tables.sqlite3")
    assert store.lasts
    few = StoredTable(game="six", seats=(None, None), start="", chance=1)
    store.add("few", few)
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count={pages}")  # as on a disk that is full
    many = few.model_copy(update={"turns": [(0, (1, 2))] * 2000})
    for _ in range(2):  # the second fails at once, for the same reason
        with pytest.raises(sqlite3.OperationalError, match="disk is full"):
            store.change("few", 0, many)
    time.sleep(BUSY_SECONDS)
    assert store.find("few") == (0, few)
    store._db.execute(f"PRAGMA max_page_count={100 + pages}")
    assert store.change("few", 0, many)
    assert store.find("few") == (1, many)
