"""`crib web` between people: invitations, advice, offered games, and names."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from crib_agents.loading import load_agent
from crib_play.table import GAMES, table_game
from crib_play.table.seats import plays, refusal
from crib_play.user_files import Preferences
from crib_play.web import beside, serve
from crib_play.web.app import Listeners
from crib_play.web.beside import Preparation, Prepared
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

import served
from served import ASKED, choice, serving

AGENTS = ("greedy", "rule_based", "equilibrium")


class Site(served.Site):
    """A server in this process, with an agent that does not play every game."""

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path, AGENTS)


def sit_down(browser: TestClient, **offer: Any) -> dict[str, Any]:
    return served.sit_down(browser, **{"opponent": "person", **offer})


def test_invitation_is_shown_to_the_host_until_accepted(tmp_path: Path) -> None:
    site = Site(tmp_path / "tables.sqlite3")
    host, guest, other = site.browser(), site.browser(), site.browser()
    shown = sit_down(host, game="partners", partner="person")
    path = f"/api/tables/{shown['table']}"
    assert len(shown["invitations"]) == 3
    assert host.get(path).json()["invitations"] == shown["invitations"]
    after = Site(tmp_path / "tables.sqlite3").browser(host)  # the server has been started again
    assert after.get(path).json()["invitations"] == shown["invitations"]
    first, *rest = shown["invitations"]
    assert guest.post(f"{path}/sit", json={"invitation": first}).status_code == 200
    assert host.get(path).json()["invitations"] == rest
    assert guest.get(path).json()["invitations"] == []
    assert other.post(f"{path}/sit", json={"invitation": first}).status_code == 403


def test_invitation_opened_by_the_host_keeps_the_seat() -> None:
    host = Site().browser()
    shown = sit_down(host)
    path = f"/api/tables/{shown['table']}"
    refused = host.post(f"{path}/sit", json={"invitation": shown["invitations"][0]})
    assert refused.status_code == 403
    assert "you already sit at this table" in refused.json()["error"]
    now = host.get(path).json()
    assert (now["sight"]["seat"], now["invitations"]) == (shown["sight"]["seat"], shown["invitations"])


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (" Zoë  Ö. ", "Zoë Ö."),
        ("\u202elA", "lA"),
        ("李小龍", "李小龍"),
        ("   ", "person"),
        ("\u200b", "person"),
        ("\x85\u2028", "person"),
    ],
)
def test_sit_shows_the_printable_part_of_a_name(given: str, shown: str) -> None:
    site = Site()
    host, guest = site.browser(), site.browser()
    opened = sit_down(host, opponent="person", name=given)
    path = f"/api/tables/{opened['table']}"
    sat = guest.post(f"{path}/sit", json={"invitation": opened["invitations"][0], "name": given}).json()
    assert sat["names"] == [shown, "you"]
    assert host.get(path).json()["names"] == ["you", shown]


def test_again_needs_every_invited_player() -> None:
    host = Site().browser()
    shown = sit_down(host, game="five")
    path = f"/api/tables/{shown['table']}"
    assert host.post(f"{path}/resign", json={"revision": 0}).status_code == 200
    refused = host.post(f"{path}/again", json={})
    assert refused.status_code == 403
    assert "an invited player did not come" in refused.json()["error"]


def test_listeners_forget_tables_without_pages() -> None:
    async def listen() -> int:
        listeners = Listeners()
        for table in ("a", "b"):
            stream = listeners.stream(table, 0)
            await anext(stream)
            await stream.aclose()
        return len(listeners._queues)

    assert asyncio.run(listen()) == 0


def test_advice_is_refused_between_people_before_the_end() -> None:
    site = Site()
    browsers = {0: site.browser(), 1: site.browser()}
    shown = sit_down(browsers[0], game="five")
    path = f"/api/tables/{shown['table']}"
    browsers[1].post(f"{path}/sit", json={"invitation": shown["invitations"][0]})
    for _ in range(6):
        seen = {seat: browser.get(path).json() for seat, browser in browsers.items()}
        mover = seen[0]["sight"]["mover"]
        assert not seen[mover]["practice"]
        for browser in browsers.values():
            advice = browser.get(f"{path}/advice")
            assert advice.status_code == 403
            assert "while people play each other" in advice.json()["error"]
            for looking_back in ("review", "replay"):
                assert browser.get(f"{path}/{looking_back}").status_code == 409
        now = seen[mover]
        message = {"revision": now["revision"], "actions": choice(now), "since": now["turns"]}
        answer = browsers[mover].post(f"{path}/act", json={**message, "coach": True})
        assert answer.status_code == 200, answer.text
        assert "coach" not in answer.json()
    assert browsers[0].post(f"{path}/resign", json={"revision": 6}).status_code == 200
    assert all(browser.get(f"{path}/review").json()["losses"] for browser in browsers.values())


def test_advice_is_given_against_agents_and_review_at_the_end() -> None:
    browser = Site().browser()
    shown = sit_down(browser, opponent="greedy")
    path = f"/api/tables/{shown['table']}"
    assert shown["practice"]
    assert browser.get(f"{path}/advice").json()["choices"]
    assert browser.get(f"{path}/review").status_code == 409


# --- agents and their games -----------------------------------------------------------------------


@pytest.mark.parametrize("game", ["six", "match", "table-top", "ship-partners"])
def test_web_offers_agents_for_their_games_only(game: str) -> None:
    browser = Site().browser()
    offered = {one["name"]: one["agents"] for one in browser.get("/api/offers").json()["games"]}
    two_hand = GAMES[game].family.sides is None
    assert ("equilibrium" in offered[game]) == two_hand
    assert {"greedy", "rule_based", "person"} <= set(offered[game])
    answer = browser.post("/api/tables", json={"game": game, "opponent": "equilibrium"})
    assert answer.status_code == (201 if two_hand else 422)
    if not two_hand:
        assert "equilibrium does not play" in answer.json()["error"]
        assert "it plays five_card, hoyle" in answer.json()["error"]


def test_web_offers_no_agent_that_refuses_the_rules() -> None:
    games = served.Site(agents=("learned", "rule_based")).browser().get("/api/offers").json()["games"]
    offered = {one["name"]: one["agents"] for one in games}
    assert offered["four"] == ["learned", "rule_based", "person"]
    assert offered["cut-throat"] == ["rule_based", "person"]


class SixAlone:
    """An agent without declared games, which rejects unsupported views when called."""

    name = "six_alone"

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        if "dealt" not in (views.dtype.names or ()) or views["dealt"][0] != 6:
            raise ValueError("six cards alone")
        return load_agent("greedy").act(views, rng)


def test_agent_without_declaration_is_called() -> None:
    assert plays("test_web_people:SixAlone", table_game("table-top"))
    assert refusal(SixAlone(), table_game("six")) is None
    for game in ("five", "table-top", "partners"):
        why = refusal(SixAlone(), table_game(game))
        assert why is not None
        assert "six_alone does not play" in why
        assert "six cards alone" in why
    assert refusal(load_agent("expert"), table_game("partners")) is None


# --- preparing ------------------------------------------------------------------------------------


class Slow:
    """A worker that answers when the test releases it."""

    made: ClassVar[list[Slow]] = []

    def __init__(self) -> None:
        self.calls: list[tuple[str, Future[Any]]] = []
        self.rests = 0
        Slow.made.append(self)

    async def do(self, task: Any, what: str, games: list[str]) -> Any:
        self.calls.append((f"{what} {games[0]}", Future()))
        return await asyncio.wrap_future(self.calls[-1][1])

    def rest(self) -> None:
        self.rests += 1

    def close(self) -> None:
        for _, future in self.calls:
            if not future.done():
                future.set_result(Prepared(1.0, {}))


async def soon(true: Callable[[], bool]) -> None:
    for _ in range(500):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to pass")


def test_web_prepares_games_at_start_and_the_requested_one_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crib_play.web.beside.Beside", Slow)
    monkeypatch.setattr(beside, "cache_folder", lambda: Path())
    monkeypatch.setattr(beside, "PATIENCE", 0.2)
    preparation = Preparation(("greedy",), Preferences(opponent="greedy"))
    assert preparation.progress == (0, 0)

    async def ask() -> None:
        preparation.start()
        (slow,) = Slow.made
        await soon(lambda: len(slow.calls) == 1)
        assert preparation.progress == (0, 9)
        with pytest.raises(HTTPException, match=r"503: preparing the game: 0 of 10"):
            await preparation.ready("table-top", ["rule_based"])
        dealt = asyncio.create_task(preparation.ready("table-top", ["rule_based"]))
        for n in range(10):
            await soon(lambda n=n: len(slow.calls) > n)  # type: ignore[misc]
            what, future = slow.calls[n]
            future.set_result(Prepared(2.0, {"partners": "no"} if what == "rule_based table-top" else {}))
        order = [what for what, _ in slow.calls]
        assert order[:3] == ["the rules six", "the rules table-top", "rule_based table-top"]
        rest = {f"{what} {game}" for what in ("greedy", "the advice") for game in ("six", "table-top", "three")}
        assert sorted(order[3:]) == sorted({*rest, "the rules three"})
        await dealt
        await soon(lambda: slow.rests > 0)
        assert preparation.progress == (10, 10)
        with pytest.raises(ValueError, match="no"):
            await preparation.ready("partners", ["rule_based"])
        partners = preparation.agents_for(table_game("partners"), ["greedy", "rule_based"])
        assert partners == ["greedy"]
        preparation.close()

    try:
        asyncio.run(ask())
    finally:
        Slow.made.clear()


# --- names and addresses --------------------------------------------------------------------------


def test_web_on_every_network_warns_and_checks_the_host_name(tmp_path: Path) -> None:
    words = ("--host", "0.0.0.0", "--allow-host", "crib.example", "--agents", "greedy")
    with serving(tmp_path, *words, lines=4, before=ASKED) as server:
        assert re.search(r"http://127\.0\.0\.1:\d+ ", server.printed)
        for words in ("anyone on this network can reach it", "not encrypted", "reverse proxy"):
            assert words in server.printed
        assert "0.0.0.0" not in server.printed
        offers = server.ask("/api/offers").body
        for one in offers["addresses"]:
            assert one in server.printed
            assert "127." not in one
        for host in ("localhost", "crib.example", "127.0.0.1", "CRIB.example:80"):
            assert server.ask("/", host=host).status == 200, host
        for host in ("evil.example", "10.1.2.3", "", "[", "127.0.0.1.evil.example", "0.0.0.0"):
            refused = server.ask("/api/offers", host=host or " ")
            assert refused.status == 400, host
        assert "--allow-host" in server.ask("/", host="evil.example").body["error"]


@pytest.mark.parametrize(("host", "address"), [("crib.example", "crib.example"), ("::", "[::1]")])
def test_web_answers_at_the_address_it_prints(tmp_path: Path, host: str, address: str) -> None:
    here = "import socket; make = socket.create_server; socket.create_server = lambda *_, **__: make(('127.0.0.1', 0))"
    words = ("--host", host, "--agents", "greedy")
    with serving(tmp_path, *words, lines=2, before=f"{ASKED}\n{here}") as server:
        assert f"the table is open at http://{address}:{server.port} " in server.printed
        assert server.ask("/", host=f"{address}:{server.port}").status == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_others_reach_lists_this_machines_addresses(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Probe(socket.socket):
        def connect(self, address: Any) -> None:
            assert self.type == socket.SOCK_DGRAM, "nothing is sent"
            self.v6 = ":" in address[0]

        def getsockname(self) -> Any:
            return ("2001:db8::7" if self.v6 else "192.168.1.5", 0)

    monkeypatch.setattr(socket, "socket", Probe)
    assert serve.others_reach(host) == ["2001:db8::7" if host == "::" else "192.168.1.5"]
    assert serve.others_reach("127.0.0.1") == serve.others_reach("localhost") == []
    assert serve.others_reach("192.168.1.9") == ["192.168.1.9"]
    assert serve.url("2001:db8::7", 80) == "http://[2001:db8::7]:80"
