"""The application: a few routes, each answered from a table through one seat's view."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from crib_play.preferences import Preferences
from crib_play.table import GAMES, NotYourTurnError, table_game, why_unjudged
from crib_play.table.advice import look_back
from crib_play.web.answers import NO_STORE, STATUS, answer, packed, refused
from crib_play.web.cards import card_images
from crib_play.web.door import Door, address_of, give_seat, key_of, table_of
from crib_play.web.finished import Finished
from crib_play.web.guard import Guard
from crib_play.web.limits import Limits
from crib_play.web.messages import Act, MessageError, Open, Sit, Undo, read
from crib_play.web.payload import advice_payload, decision_payload, table_payload
from crib_play.web.preparing import Preparation
from crib_play.web.tables import PERSON, NotNowError, Table, Tables, TakenError
from crib_play.web.worker import Worker

PAGE = Path(str(files("crib_play.web"))) / "page"
OF_CARDS = {
    "Cache-Control": "public, max-age=86400",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
}
OF_REPLAYS = {  # one file, which brings its style and program with it
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
}


class App:
    """The answers of a server.

    Args:
        door: what lets questions in to the tables.
        preferences: what its page offers first.
        addresses: where browsers on other machines find the server.
        finished: what is made of games that are over.
    """

    def __init__(
        self, door: Door, preferences: Preferences, addresses: Sequence[str], finished: Finished
    ) -> None:
        self.door = door
        self.tables = door.tables
        self.preferences = preferences
        self.addresses = list(addresses)
        self.finished = finished

    async def page(self, request: Request) -> Response:
        """Answer with the page."""
        return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})

    async def card(self, request: Request) -> Response:
        """Answer with the image of a card."""
        image = card_images().get(request.path_params["name"])
        if image is None:
            raise HTTPException(404, "there is no such card")
        return Response(image, media_type="image/svg+xml", headers=OF_CARDS)

    async def offers(self, request: Request) -> Response:
        """Answer with what can be played, and against whom."""
        games = await self.door.in_turn(request, self._games)
        return answer({
            "games": games, "game": self.preferences.game, "opponent": self.preferences.opponent,
            "speed": self.preferences.speed, "coach": self.preferences.coach,
            "addresses": self.addresses,
        })  # fmt: skip

    def _games(self) -> list[dict[str, Any]]:
        """Return the games, each with those who play it; the first time this imports them all."""
        plays = self.door.preparation.agents_for
        return [
            {**asdict(game), "sides": game.family.sides, "has_partners": game.has_partners,
             "agents": [*plays(game, self.tables.agents), PERSON]}
            for game in GAMES.values()
        ]  # fmt: skip

    async def prepared(self, request: Request) -> Response:
        """Answer with how much of what games need is compiled."""
        done, of = self.door.preparation.progress
        return answer({"done": done, "of": of})

    async def open(self, request: Request) -> Response:
        """Open a table and give its seat to who asks."""
        message = await read(request, Open)
        seats = seats_of(message)
        await self.door.ready(message.game, seats)
        self.door.limits.open_table(address_of(request))
        table, key, invitations = await self.door.in_turn(
            request, self.tables.open, message.game, seats, message.seat
        )
        shown = table_payload(table, message.seat)
        response = answer({**shown, "invitations": invitations}, 201)
        give_seat(response, table.id, key)
        return response

    async def sit(self, request: Request) -> Response:
        """Give a seat to who brings an invitation."""
        message = await read(request, Sit)
        key = secrets.token_urlsafe(24)

        def take(table: Table) -> Any:
            if self.tables.seat_of(table.id, key_of(request)) is not None:
                raise TakenError("you already sit at this table: the link is for somebody else")
            seat = self.tables.store.take_seat(table.id, message.invitation, key)
            if seat is None:
                raise TakenError("this invitation is wrong or no longer valid")
            return table_payload(table, seat)

        response = answer(await self.door.at(request, take))
        give_seat(response, table_of(request), key)
        return response

    async def look(self, request: Request) -> Response:
        """Answer with the table as the seat sees it."""
        given = request.query_params.get("since", "")
        if given and not (given.isdecimal() and len(given) < 10):
            raise MessageError("since must be a whole number from 0 up")
        since = int(given) if given else None

        def see(table: Table, seat: int) -> Any:
            shown = table_payload(table, seat, since)
            if since is None:  # for a page that is loaded, perhaps again
                shown["invitations"] = self.tables.invitations(table, key_of(request))
            return shown

        return answer(await self.door.seated(request, see))

    async def act(self, request: Request) -> Response:
        """Take a turn."""
        message = await read(request, Act)

        def take(table: Table, seat: int) -> Any:
            at = self.tables.act(table, seat, message.revision, message.actions)
            shown = table_payload(table, seat, min(message.since, at))
            if message.coach and table.session.practice(seat) and not why_unjudged(table.session):
                shown["coach"] = decision_payload(look_back(table.session, at))
            return shown

        return answer(await self.door.seated(request, take, advice=message.coach))

    async def undo(self, request: Request) -> Response:
        """Take a turn back."""
        message = await read(request, Undo)

        def take_back(table: Table, seat: int) -> Any:
            self.tables.undo(table, seat, message.revision)
            return table_payload(table, seat)

        return answer(await self.door.seated(request, take_back))

    async def advice(self, request: Request) -> Response:
        """Answer with what the expert thinks of the choices of the seat, if it is to move."""

        def advise(table: Table, seat: int) -> Any:
            if not table.session.practice(seat):
                raise NotNowError("there is no advice while people play each other")
            if table.session.over or table.session.seat != seat:
                raise NotYourTurnError("there is nothing for you to choose now")
            return {"revision": table.revision, "choices": advice_payload(table.session)}

        return answer(await self.door.seated(request, advise, advice=True))

    async def review(self, request: Request) -> Response:
        """Answer with the value of the seat's decisions, once the game is over."""
        return await self._afterwards(request, "look_back", "application/json", NO_STORE)

    async def replay(self, request: Request) -> Response:
        """Answer with the game to look at again, every card open, once it is over."""
        return await self._afterwards(request, "replay", "text/html", OF_REPLAYS)

    async def _afterwards(
        self, request: Request, task: str, kind: str, headers: dict[str, str]
    ) -> Response:
        """Answer with what is made of a game that is over, once for all who ask."""

        def over(table: Table, seat: int) -> Any:
            if not table.session.over:
                raise NotYourTurnError("the review comes when the game is over")
            if task == "look_back" and (why := why_unjudged(table.session)):
                raise ValueError(why)
            more = {} if task == "replay" else {"seat": seat}
            return {"key": f"{table.id} {table.revision} {more}",
                    "stored": asdict(table.to_store()), **more}  # fmt: skip

        with self.door.limits.seat((table_of(request), key_of(request), task)):
            given = await self.door.seated(request, over, advice=True)
            data = await self.finished.get(task, **given)
        return packed(request, data, kind, headers)


def seats_of(message: Open) -> list[str | None]:
    """Return who is to sit where: an agent's name, None for a person."""
    sides = table_game(message.game).sides
    if message.seat >= len(sides):
        raise MessageError(f"seat must be from 0 to {len(sides) - 1} in this game")
    partner, mine = message.partner or message.opponent, sides[message.seat]
    named = [partner if side == mine else message.opponent for side in sides]
    return [
        None if each == message.seat or name == PERSON else name for each, name in enumerate(named)
    ]


def make_app(
    tables: Tables,
    preferences: Preferences,
    hosts: Sequence[str],
    addresses: Sequence[str] = (),
    preparation: Preparation | None = None,
    limits: Limits | None = None,
    finished: Finished | None = None,
) -> Starlette:
    """Return the application."""
    door = Door(tables, preparation or Preparation((), preferences), limits or Limits())
    app = App(door, preferences, addresses, finished or Finished(Worker()))
    table = "/api/tables/{table}"
    routes = [
        Route("/", app.page),
        Route("/cards/{name}.svg", app.card),
        Route("/api/offers", app.offers),
        Route("/api/prepared", app.prepared),
        Route("/api/tables", app.open, methods=["POST"]),
        Route(table, app.look),
        Route(f"{table}/sit", app.sit, methods=["POST"]),
        Route(f"{table}/act", app.act, methods=["POST"]),
        Route(f"{table}/undo", app.undo, methods=["POST"]),
        Route(f"{table}/advice", app.advice),
        Route(f"{table}/review", app.review),
        Route(f"{table}/replay", app.replay),
        Mount("/page", StaticFiles(directory=PAGE)),
    ]
    handlers: dict[Any, Any] = dict.fromkeys((HTTPException, *STATUS), refused)
    middleware = [Middleware(Guard, hosts=hosts)]
    return Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)
