"""The application: a few routes, each answered from a table through one seat's view."""

from __future__ import annotations

import gzip
import re
import secrets
import sqlite3
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from crib_env.errors import EpisodeOverError
from crib_env.render.svg.cards import symbols
from crib_env.render.svg.document import style_sheet
from crib_play.preferences import Preferences
from crib_play.table import GAMES, NotYourTurnError, advice, table_game, why_unjudged
from crib_play.web.beside import (
    Beside,
    Finished,
    Preparation,
    PreparingError,
    WorkError,
    look_back,
    replay,
)
from crib_play.web.guard import BusyError, Guard
from crib_play.web.messages import (
    Act,
    MessageError,
    Open,
    Sit,
    Undo,
    advice_payload,
    decision_payload,
    read,
    table_payload,
)
from crib_play.web.tables import PERSON, NotNowError, StaleError, Table, Tables, TakenError

NO_STORE = {"Cache-Control": "no-store"}

STATUS: dict[type[Exception], int] = {
    MessageError: 400,
    NotYourTurnError: 409,
    StaleError: 409,
    EpisodeOverError: 409,
    TakenError: 403,
    NotNowError: 403,
    ValueError: 422,
    BusyError: 429,
    PreparingError: 503,
    WorkError: 503,
    sqlite3.Error: 503,
}


def answer(shown: Any, status: int = 200) -> JSONResponse:
    """Return an answer that nobody keeps."""
    return JSONResponse(shown, status, headers=NO_STORE)


def packed(request: Request, data: bytes, kind: str, headers: dict[str, str]) -> Response:
    """Return an answer that is compressed by gzip, as it is to those who can read that."""
    headers = {**headers, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        data = gzip.decompress(data)
    return Response(data, media_type=kind, headers=headers)


async def refused(request: Request, error: Exception) -> Response:
    """Answer with why something was refused."""
    if isinstance(error, HTTPException):
        return answer({"error": error.detail}, error.status_code)
    status = next(STATUS[kind] for kind in STATUS if isinstance(error, kind))
    why = str(error)
    if isinstance(error, sqlite3.Error):
        why = f"the games cannot be read or written now ({error}): try again in a moment"
    shown = answer({"error": why}, status)
    if isinstance(error, PreparingError):
        shown.headers["Retry-After"] = "1"
    return shown


THEME = "light"  # a card is a card by night as well
SYMBOL = re.compile("</?symbol[^>]*>")


@cache
def card_images() -> dict[str, str]:
    """Return an SVG for each face, by the text of its card, and one for the ``back``."""
    style = style_sheet(THEME)
    return {
        name.removeprefix("crib-"): (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 140" '
            f'class="crib-{THEME}"><style>{style}</style>{SYMBOL.sub("", symbol)}</svg>'
        )
        for name, symbol in symbols().items()
    }


YEAR = 365 * 24 * 3600
SEAT = 4  # requests of a seat at once; its page asks one at a time

T = TypeVar("T")


def table_of(request: Request) -> str:
    """Return the name of the table in the address."""
    return str(request.path_params["table"])


def key_of(request: Request) -> str:
    """Return the key to a seat that a browser brings, or an empty text."""
    return request.cookies.get(cookie_name(table_of(request)), "")


def cookie_name(table: str) -> str:
    """Return the cookie that guards a seat of a table."""
    return f"crib-{table}"


def give_seat(response: Response, table: str, key: str) -> None:
    """Set the cookie that guards a seat: no script reads it, no other site sends it."""
    response.set_cookie(
        cookie_name(table), key, max_age=YEAR, path=f"/api/tables/{table}", httponly=True,
        samesite="strict",
    )  # fmt: skip


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
        tables: the tables.
        preferences: what its page offers first.
        addresses: where browsers on other machines find the server.
        preparation: what games wait for.
        finished: what is made of games that are over.
    """

    def __init__(
        self,
        tables: Tables,
        preferences: Preferences,
        addresses: Sequence[str],
        preparation: Preparation,
        finished: Finished,
    ) -> None:
        self.tables = tables
        self.preferences = preferences
        self.addresses = list(addresses)
        self.preparation = preparation
        self.finished = finished
        self._asking: Counter[Hashable] = Counter()

    # --- access to a table ------------------------------------------------------------------------

    async def seated(
        self, request: Request, ask: Callable[[Table, int], T], *, advice: bool = False
    ) -> T:
        """Return what ``ask`` makes of a table and a seat, whose key the request holds."""
        name, key = table_of(request), key_of(request)
        with self.counted((name, key)):
            if advice or not self.tables.is_awake(name, key):
                game, seats = await run_in_threadpool(self._find, name, key)
                await self.ready(game, seats, advice=advice)
            return await run_in_threadpool(self._at_seat, name, key, ask)

    @contextmanager
    def counted(self, seat: Hashable) -> Iterator[None]:
        """Count a request of a seat while it is answered; refuse one too many."""
        if self._asking[seat] >= SEAT:
            raise BusyError(
                f"the server is working on {SEAT} requests from this seat: wait for an answer"
            )
        self._asking[seat] += 1
        try:
            yield
        finally:
            self._asking[seat] -= 1
            if not self._asking[seat]:
                del self._asking[seat]

    async def ready(self, game: str, seats: Sequence[str | None], *, advice: bool = False) -> None:
        """Wait until a game can be played with those of these agents that are offered."""
        known = [name for name in seats if name in self.tables.agents]
        await self.preparation.ready(game, known, advice)

    def _known(self, name: str) -> tuple[str, Sequence[str | None]]:
        """Return a table's game and agents, without waking it."""
        who = self.tables.who(name)
        if who is None:
            raise HTTPException(404, "there is no such table")
        return who

    def _seat(self, name: str, key: str) -> int:
        seat = self.tables.seat_of(name, key)
        if seat is None:
            raise HTTPException(403, "you do not sit at this table")
        return seat

    def _find(self, name: str, key: str) -> tuple[str, Sequence[str | None]]:
        who = self._known(name)
        self._seat(name, key)
        return who

    def _table(self, name: str) -> Table:
        table = self.tables.find(name)
        if table is None:
            raise HTTPException(404, "there is no such table")
        return table

    def _at_seat(self, name: str, key: str, ask: Callable[[Table, int], T]) -> T:
        table, seat = self._table(name), self._seat(name, key)
        with table.lock:
            return ask(table, seat)

    # --- the routes -------------------------------------------------------------------------------

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
        games = await run_in_threadpool(self._games)
        return answer({
            "games": games, "game": self.preferences.game, "opponent": self.preferences.opponent,
            "speed": self.preferences.speed, "coach": self.preferences.coach,
            "addresses": self.addresses,
        })  # fmt: skip

    def _games(self) -> list[dict[str, Any]]:
        """Return the games, each with those who play it; the first time this imports them all."""
        plays = self.preparation.agents_for
        return [
            {**asdict(game), "sides": game.family.sides, "has_partners": game.has_partners,
             "agents": [*plays(game, self.tables.agents), PERSON]}
            for game in GAMES.values()
        ]  # fmt: skip

    async def prepared(self, request: Request) -> Response:
        """Answer with how much of what games need is compiled."""
        done, of = self.preparation.progress
        return answer({"done": done, "of": of})

    async def open(self, request: Request) -> Response:
        """Open a table and give its seat to who asks."""
        message = await read(request, Open)
        seats = seats_of(message)
        await self.ready(message.game, seats)
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
        name = table_of(request)
        key = secrets.token_urlsafe(24)

        def take() -> Any:
            table = self._table(name)
            if self.tables.seat_of(table.id, key_of(request)) is not None:
                raise TakenError("you already sit at this table: the link is for somebody else")
            seat = self.tables.store.take_seat(table.id, message.invitation, key)
            if seat is None:
                raise TakenError("this invitation is wrong or no longer valid")
            return table_payload(table, seat)

        game, seats = await run_in_threadpool(self._known, name)
        await self.ready(game, seats)
        response = answer(await run_in_threadpool(take))
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

        return answer(await self.seated(request, see))

    async def act(self, request: Request) -> Response:
        """Take a turn."""
        message = await read(request, Act)

        def take(table: Table, seat: int) -> Any:
            at = self.tables.act(table, seat, message.revision, message.actions)
            shown = table_payload(table, seat, min(message.since, at))
            if message.coach and table.session.practice(seat) and not why_unjudged(table.session):
                shown["coach"] = decision_payload(advice.look_back(table.session, at))
            return shown

        return answer(await self.seated(request, take, advice=message.coach))

    async def undo(self, request: Request) -> Response:
        """Take a turn back."""
        message = await read(request, Undo)

        def take_back(table: Table, seat: int) -> Any:
            self.tables.undo(table, seat, message.revision)
            return table_payload(table, seat)

        return answer(await self.seated(request, take_back))

    async def advice(self, request: Request) -> Response:
        """Answer with what the expert thinks of the choices of the seat, if it is to move."""

        def advise(table: Table, seat: int) -> Any:
            if not table.session.practice(seat):
                raise NotNowError("there is no advice while people play each other")
            if table.session.over or table.session.seat != seat:
                raise NotYourTurnError("there is nothing for you to choose now")
            return {"revision": table.revision, "choices": advice_payload(table.session)}

        return answer(await self.seated(request, advise, advice=True))

    async def review(self, request: Request) -> Response:
        """Answer with the value of the seat's decisions, once the game is over."""
        return await self._afterwards(request, look_back, "application/json", NO_STORE)

    async def replay(self, request: Request) -> Response:
        """Answer with the game to look at again, every card open, once it is over."""
        return await self._afterwards(request, replay, "text/html", OF_REPLAYS)

    async def _afterwards(
        self, request: Request, task: Callable[..., str], kind: str, headers: dict[str, str]
    ) -> Response:
        """Answer with what is made of a game that is over, once for all who ask."""

        def over(table: Table, seat: int) -> Any:
            if not table.session.over:
                raise NotYourTurnError("the review comes when the game is over")
            if task is look_back and (why := why_unjudged(table.session)):
                raise ValueError(why)
            whose = (seat,) if task is look_back else ()
            return f"{table.id} {table.revision} {whose}", table.to_store(), *whose

        with self.counted((table_of(request), key_of(request), task.__name__)):
            given = await self.seated(request, over, advice=True)
            data = await self.finished.get(task, *given)
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
    finished: Finished | None = None,
) -> Starlette:
    """Return the application."""
    preparation = preparation or Preparation((), preferences)
    app = App(tables, preferences, addresses, preparation, finished or Finished(Beside()))
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
