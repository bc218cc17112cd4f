"""The application: a few addresses, each answered from a table through one seat's view."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from crib_env.errors import EpisodeOverError
from crib_play.kept import Choices
from crib_play.replay import replay_page
from crib_play.table import GAMES, NotYourTurnError, find_game, review
from crib_play.table.advice import look_back
from crib_play.web.cards import card_images
from crib_play.web.guard import Guard
from crib_play.web.messages import Act, MessageError, Open, Sit, Undo, read
from crib_play.web.payload import (
    advice_payload,
    decision_payload,
    review_payload,
    table_payload,
)
from crib_play.web.tables import PERSON, StaleError, Table, Tables, TakenError

PAGE = Path(str(files("crib_play.web"))) / "page"
YEAR = 365 * 24 * 3600
OF_CARDS = {
    "Cache-Control": "public, max-age=86400",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
}
OF_REPLAYS = {  # one file, which brings its style and program with it
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
}

Answer = Callable[[Table, int], Any]


class App:
    """The answers of a server.

    Args:
        tables: its tables.
        choices: what its page offers first.
    """

    def __init__(self, tables: Tables, choices: Choices) -> None:
        self.tables = tables
        self.choices = choices

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
        games = [{**asdict(game), "sides": game.family.sides} for game in GAMES.values()]
        return answer({
            "games": games, "agents": [*self.tables.agents, PERSON], "game": self.choices.game,
            "opponent": self.choices.opponent, "speed": self.choices.speed,
            "coach": self.choices.coach,
        })  # fmt: skip

    async def open(self, request: Request) -> Response:
        """Open a table and give its seat to who asks."""
        message = await read(request, Open)
        seats = seats_of(message)
        table, key, invitations = await run_in_threadpool(
            self.tables.open, message.game, seats, message.seat
        )
        shown = table_payload(table, message.seat)
        response = answer({**shown, "invitations": invitations}, 201)
        give_seat(response, table.id, key)
        return response

    async def sit(self, request: Request) -> Response:
        """Give a seat to who brings an invitation."""
        message = await read(request, Sit)
        table, key = self._table(request), secrets.token_urlsafe(24)
        seat = await run_in_threadpool(
            self.tables.store.take_seat, table.id, message.invitation, key
        )
        if seat is None:
            raise TakenError("this invitation is not good, or no longer")
        response = answer(table_payload(table, seat))
        give_seat(response, table.id, key)
        return response

    async def look(self, request: Request) -> Response:
        """Answer with the table as the seat sees it."""
        asked = request.query_params.get("since", "")
        if asked and not (asked.isdigit() and len(asked) < 10):
            raise MessageError("since must be a whole number from 0 up")
        since = int(asked) if asked else None
        return await self._at_table(request, lambda table, seat: table_payload(table, seat, since))

    async def act(self, request: Request) -> Response:
        """Take a turn."""
        message = await read(request, Act)

        def take(table: Table, seat: int) -> Any:
            at = self.tables.act(table, seat, message.revision, message.actions)
            shown = table_payload(table, seat, min(message.since, at))
            if message.coach:
                shown["coach"] = decision_payload(look_back(table.session, at))
            return shown

        return await self._at_table(request, take)

    async def undo(self, request: Request) -> Response:
        """Take a turn back."""
        message = await read(request, Undo)

        def take_back(table: Table, seat: int) -> Any:
            self.tables.undo(table, seat, message.revision)
            return table_payload(table, seat)

        return await self._at_table(request, take_back)

    async def advice(self, request: Request) -> Response:
        """Answer with what the expert thinks of the choices of the seat, if it is to move."""

        def advise(table: Table, seat: int) -> Any:
            if table.session.over or table.session.seat != seat:
                raise NotYourTurnError("there is nothing for you to choose now")
            return {"revision": table.revision, "choices": advice_payload(table.session)}

        return await self._at_table(request, advise)

    async def review(self, request: Request) -> Response:
        """Answer with what the seat's decisions were worth."""
        return await self._at_table(
            request, lambda table, seat: review_payload(review(table.session, seat))
        )

    async def replay(self, request: Request) -> Response:
        """Answer with the game to look at again, every card open, once it is over."""

        def again(table: Table, seat: int) -> str:
            if not table.session.over:
                raise NotYourTurnError("the game is to be looked at again when it is over")
            return replay_page(table.session, find_game(table.game).title)

        return HTMLResponse(await self._asked(request, again), headers=OF_REPLAYS)

    # --- tables and seats -----------------------------------------------------------------------

    def _table(self, request: Request) -> Table:
        table = self.tables.find(request.path_params["table"])
        if table is None:
            raise HTTPException(404, "there is no such table")
        return table

    async def _at_table(self, request: Request, ask: Answer) -> Response:
        return answer(await self._asked(request, ask))

    async def _asked(self, request: Request, ask: Answer) -> Any:
        """Return what one is told of a table who holds the key to a seat of it."""

        def asked() -> Any:
            table = self._table(request)
            key = request.cookies.get(cookie_name(table.id), "")
            seat = self.tables.store.seat_of(table.id, key) if key else None
            if seat is None:
                raise HTTPException(403, "you do not sit at this table")
            with table.lock:
                return ask(table, seat)

        return await run_in_threadpool(asked)


def seats_of(message: Open) -> list[str | None]:
    """Return who is to sit where: an agent's name, None for a person.

    Raises:
        MessageError: there is no such seat.
    """
    players = find_game(message.game).players
    if message.seat >= players:
        raise MessageError(f"seat must be from 0 to {players - 1} in this game")
    sides = {0: message.partner or message.opponent, 1: message.opponent}
    named = [sides[(each - message.seat) % 2] for each in range(players)]
    return [
        None if each == message.seat or name == PERSON else name for each, name in enumerate(named)
    ]


def cookie_name(table: str) -> str:
    """Return the cookie that guards a seat of a table."""
    return f"crib-{table}"


def give_seat(response: Response, table: str, key: str) -> None:
    """Set the cookie that guards a seat: no script reads it, no other site sends it."""
    response.set_cookie(
        cookie_name(table), key, max_age=YEAR, path=f"/api/tables/{table}", httponly=True,
        samesite="strict",
    )  # fmt: skip


def answer(shown: Any, status: int = 200) -> JSONResponse:
    """Return an answer that nobody keeps."""
    return JSONResponse(shown, status, headers={"Cache-Control": "no-store"})


STATUS: dict[type[Exception], int] = {
    MessageError: 400,
    NotYourTurnError: 409,
    StaleError: 409,
    EpisodeOverError: 409,
    TakenError: 403,
    ValueError: 422,
    sqlite3.Error: 503,
}


async def refused(request: Request, error: Exception) -> Response:
    """Answer with why something was refused."""
    if isinstance(error, HTTPException):
        return answer({"error": error.detail}, error.status_code)
    return answer({"error": str(error)}, next(STATUS[t] for t in STATUS if isinstance(error, t)))


def make_app(tables: Tables, choices: Choices, hosts: Sequence[str]) -> Starlette:
    """Return the application.

    Args:
        hosts: the names by which it may be asked for; ``"*"`` for any.
    """
    app = App(tables, choices)
    table = "/api/tables/{table}"
    routes = [
        Route("/", app.page),
        Route("/cards/{name}.svg", app.card),
        Route("/api/offers", app.offers),
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
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
        Middleware(Guard),
    ]
    return Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)
