"""The application: a few routes, each answered from a table through one seat's view."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import secrets
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Sequence
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
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from crib_env.errors import EpisodeOverError
from crib_env.render.svg.cards import symbols
from crib_env.render.svg.document import style_sheet
from crib_play.preferences import Preferences
from crib_play.table import GAMES, NotYourTurnError, advice, table_game, why_unjudged
from crib_play.table.levels import LEVELS
from crib_play.web import messages
from crib_play.web.beside import (
    Beside,
    BusyError,
    Finished,
    Preparation,
    PreparingError,
    WorkError,
    look_back,
    replay,
)
from crib_play.web.guard import Guard
from crib_play.web.messages import MessageError, read, table_payload
from crib_play.web.store import StoredTable
from crib_play.web.tables import PERSON, NotNowError, StaleError, Table, Tables, TakenError

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
NO_STORE = {"Cache-Control": "no-store"}
OF_CARDS = {
    "Cache-Control": "public, max-age=86400",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
}
OF_REPLAYS = {  # one file, which brings its style and program with it
    **NO_STORE,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
}
PAGE = Path(str(files("crib_play.web"))) / "page"
YEAR = 365 * 24 * 3600
SEAT = 4  # requests of a seat at once, and as many event streams; its page asks one at a time
HEARTBEAT = 15.0  # seconds after which a stream of events shows that it lives

T = TypeVar("T")


def answer(shown: Any, status: int = 200) -> JSONResponse:
    """Return an answer that nobody keeps."""
    return JSONResponse(shown, status, headers=NO_STORE)


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


@cache
def card_images() -> dict[str, str]:
    """Return an SVG for each face, by the text of its card, and one for the ``back``."""
    style = style_sheet("light")  # a card is a card by night as well
    return {
        name.removeprefix("crib-"): (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 140" class="crib-light">'
            f"<style>{style}</style>{re.sub('</?symbol[^>]*>', '', symbol)}</svg>"
        )
        for name, symbol in symbols().items()
    }


@cache
def rules_text() -> str:
    """Return the rules in one page as HTML: of a wheel beside this module, else of the checkout."""
    from markdown_it import MarkdownIt

    places = PAGE / "cribbage.md", PAGE.parents[3] / "docs" / "cribbage.md"
    text = next(place for place in places if place.exists()).read_text("utf-8")
    text = re.sub(r"```.*?```|!\[.*?\]\(.*?\)|\[(.*?)\]\(.*?\)", r"\1", text, flags=re.DOTALL)
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def name_of(request: Request) -> str:
    """Return the name of the table in the address."""
    return str(request.path_params["table"])


def key_of(request: Request) -> str:
    """Return the key to a seat that a browser brings, or an empty text."""
    return request.cookies.get(f"crib-{name_of(request)}", "")


def give_seat(response: Response, table: str, key: str) -> None:
    """Set the cookie that guards a seat: no script reads it, no other site sends it."""
    response.set_cookie(
        f"crib-{table}", key, max_age=YEAR, path=f"/api/tables/{table}", httponly=True,
        samesite="strict",
    )  # fmt: skip


class Listeners:
    """The pages that hear when a table has changed, by table, and the seats they are of."""

    def __init__(self) -> None:
        self._queues: dict[str, dict[asyncio.Queue[bool], int]] = {}

    def present(self, table: str) -> list[int]:
        """Return the seats whose pages listen."""
        return sorted(set(self._queues.get(table, {}).values()))

    def tell(self, table: str, more: bool = True) -> None:
        """Tell all pages at a table that it has changed, or that there is no more to hear."""
        for queue in self._queues.get(table, {}):
            queue.put_nowait(more)

    def close(self) -> None:
        """End every stream."""
        for table in self._queues:
            self.tell(table, more=False)

    async def stream(
        self, table: str, seat: int, state: Callable[[], dict[str, Any]]
    ) -> AsyncIterator[str]:
        """Yield a server-sent event now, and whenever the table changes."""
        queue: asyncio.Queue[bool] = asyncio.Queue()
        listening = self._queues.setdefault(table, {})
        if list(listening.values()).count(seat) >= SEAT:
            return
        listening[queue] = seat
        self.tell(table)
        try:
            more = True
            while more:
                try:
                    more = await asyncio.wait_for(queue.get(), HEARTBEAT)
                    yield f"data: {json.dumps({**state(), 'present': self.present(table)})}\n\n"
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            del listening[queue]
            self.tell(table)


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
        self.tables, self.preferences, self.addresses = tables, preferences, list(addresses)
        self.preparation, self.finished = preparation, finished
        self.listeners = Listeners()
        self._asking: Counter[Hashable] = Counter()

    # --- access to a table ------------------------------------------------------------------------

    async def seated(
        self, request: Request, ask: Callable[[Table, int], T], *, advice: bool = False
    ) -> T:
        """Return what ``ask`` makes of a table and a seat, whose key the request holds."""
        name, key = name_of(request), key_of(request)

        def at_seat() -> T:
            table = self._table(name)
            with table.lock:
                seat = table.stored.seat_of(key)
                if seat is None:
                    raise HTTPException(403, "you do not sit at this table")
                return ask(table, seat)

        with self.counted((name, key)):
            if advice or not self.tables.is_awake(name):
                stored = await run_in_threadpool(self._stored, name)
                if stored.seat_of(key) is not None:
                    await self.ready(stored.game, stored.seats, advice=advice)
            return await run_in_threadpool(at_seat)

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
        await self.preparation.ready(game, self._offered(seats), advice)

    def _offered(self, names: Sequence[str | None]) -> list[str]:
        return [name for name in self.tables.agents if name in names]

    def _stored(self, name: str) -> StoredTable:
        return found_or_404(self.tables.stored(name))

    def _table(self, name: str) -> Table:
        return found_or_404(self.tables.find(name))

    async def changed(
        self, request: Request, change: Callable[[Table, int], Any], *, advice: bool = False
    ) -> Response:
        """Answer with a table that a seat has changed, and tell those who wait for it."""
        shown = await self.seated(request, change, advice=advice)
        self.listeners.tell(name_of(request))
        return answer(shown)

    # --- the page ---------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """Answer with the page."""
        return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})

    async def card(self, request: Request) -> Response:
        """Answer with the image of a card."""
        image = card_images().get(request.path_params["name"])
        if image is None:
            raise HTTPException(404, "there is no such card")
        return Response(image, media_type="image/svg+xml", headers=OF_CARDS)

    async def rules(self, request: Request) -> Response:
        """Answer with the rules of all games, which are a page of the documentation."""
        return HTMLResponse(rules_text())

    async def offers(self, request: Request) -> Response:
        """Answer with what can be played, and against whom."""
        games = await run_in_threadpool(self._games)
        return answer({
            "games": games, "game": self.preferences.game, "opponent": self.preferences.opponent,
            "speed": self.preferences.speed, "coach": self.preferences.coach,
            "muggins": self.preferences.muggins,
            "addresses": self.addresses,
            "levels": [asdict(one) for one in LEVELS if one.agent in self.tables.agents],
        })  # fmt: skip

    def _games(self) -> list[dict[str, Any]]:
        """Return the games, each with those who play it; the first time this imports them all."""
        plays = self.preparation.agents_for
        return [
            {**asdict(game), "family": game.family.name, "sides": game.family.sides,
             "has_partners": game.has_partners,
             "agents": [*plays(game, self.tables.agents), PERSON]}
            for game in GAMES.values()
        ]  # fmt: skip

    async def prepared(self, request: Request) -> Response:
        """Answer with how much is compiled, and about how long until a game is ready."""
        asked = request.query_params
        done, of = self.preparation.progress
        agents = self._offered(asked.getlist("agent"))
        seconds = self.preparation.seconds(asked.get("game", ""), agents, "advice" in asked)
        return answer({"done": done, "of": of, "seconds": round(seconds)})

    # --- at a table -------------------------------------------------------------------------------

    async def open(self, request: Request) -> Response:
        """Open a table and give its seat to who asks."""
        message = await read(request, messages.Open)
        seats = seats_of(message)
        await self.ready(message.game, seats)
        table, key = await run_in_threadpool(
            self.tables.open, message.game, seats, message.seat, message.name
        )
        shown = table_payload(table, message.seat)
        response = answer({**shown, "invitations": table.invitations(key)}, 201)
        give_seat(response, table.id, key)
        return response

    async def sit(self, request: Request) -> Response:
        """Give a seat to who brings an invitation."""
        message = await read(request, messages.Sit)
        name, key = name_of(request), secrets.token_urlsafe(24)

        def take() -> Any:
            table = self._table(name)
            with table.lock:
                if table.stored.seat_of(key_of(request)) is not None:
                    raise TakenError("you already sit at this table: the link is for another")
                seat = self.tables.sit(table, message.invitation, key, message.name)
                return table_payload(table, seat)

        stored = await run_in_threadpool(self._stored, name)
        await self.ready(stored.game, stored.seats)
        response = answer(await run_in_threadpool(take))
        give_seat(response, name, key)
        self.listeners.tell(name)
        return response

    async def again(self, request: Request) -> Response:
        """Give who sat here the same seat at a new table."""
        await read(request, messages.Again)

        def deal(table: Table, seat: int) -> Any:
            return table_payload(self.tables.again(table), seat)

        shown = await self.seated(request, deal)
        response = answer(shown)
        give_seat(response, shown["table"], key_of(request))
        self.listeners.tell(name_of(request))
        return response

    async def look(self, request: Request) -> Response:
        """Answer with the table as the seat sees it."""
        given = request.query_params.get("since", "")
        if given and not (given.isdecimal() and len(given) < 10):
            raise MessageError("since must be a whole number from 0 up")
        since = int(given) if given else None

        def see(table: Table, seat: int) -> Any:
            invited = table.invitations(key_of(request))
            return {**table_payload(table, seat, since), "invitations": invited}

        return answer(await self.seated(request, see))

    async def events(self, request: Request) -> Response:
        """Stream an event whenever the table changes, or somebody comes or goes."""
        name = name_of(request)
        table, seat = await self.seated(request, lambda table, seat: (table, seat))

        def state() -> dict[str, Any]:
            taken = [its for its, kind, _ in table.stored.keys if kind == "seat"]
            return {"revision": table.revision, "next": table.stored.next, "taken": len(taken)}

        stream = self.listeners.stream(name, seat, state)
        return StreamingResponse(stream, media_type="text/event-stream", headers=NO_STORE)

    async def act(self, request: Request) -> Response:
        """Take a turn."""
        message = await read(request, messages.Act)

        def take(table: Table, seat: int) -> Any:
            at = self.tables.act(table, seat, message.revision, message.actions)
            shown = table_payload(table, seat, min(message.since, at))
            session = table.session
            if message.coach and session.practice(seat) and not why_unjudged(session):
                shown["coach"] = messages.decision_payload(advice.look_back(session, at))
            return shown

        return await self.changed(request, take, advice=message.coach)

    async def undo(self, request: Request) -> Response:
        """Take a turn back."""
        return await self._at_revision(request, self.tables.undo)

    async def resign(self, request: Request) -> Response:
        """Give the game up."""
        return await self._at_revision(request, self.tables.resign)

    async def _at_revision(
        self, request: Request, do: Callable[[Table, int, int], None]
    ) -> Response:
        message = await read(request, messages.At)

        def change(table: Table, seat: int) -> Any:
            do(table, seat, message.revision)
            return table_payload(table, seat)

        return await self.changed(request, change)

    async def advice(self, request: Request) -> Response:
        """Answer with what the expert thinks of the choices of the seat, if it is to move."""

        def advise(table: Table, seat: int) -> Any:
            if not table.session.practice(seat):
                raise NotNowError("there is no advice while people play each other")
            if table.session.over or table.session.seat != seat:
                raise NotYourTurnError("there is nothing for you to choose now")
            choices = messages.advice_payload(table.session)
            return {"revision": table.revision, "choices": choices}

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
            return f"{table.id} {table.revision} {whose}", table.stored, *whose

        with self.counted((name_of(request), key_of(request), task.__name__)):
            given = await self.seated(request, over, advice=True)
            data = await self.finished.get(task, *given)
        headers = {**headers, "Vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
        else:
            data = gzip.decompress(data)
        return Response(data, media_type=kind, headers=headers)


def found_or_404(found: T | None) -> T:
    """Return a table that was looked for."""
    if found is None:
        raise HTTPException(404, "there is no such table")
    return found


def seats_of(message: messages.Open) -> list[str | None]:
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
    """Return the application; its ``state.close`` ends what it streams."""
    preparation = preparation or Preparation((), preferences)
    app = App(tables, preferences, addresses, preparation, finished or Finished(Beside()))
    table = "/api/tables/{table}"
    routes = [
        Route("/", app.page),
        Route("/cards/{name}.svg", app.card),
        Route("/api/offers", app.offers),
        Route("/api/rules", app.rules),
        Route("/api/prepared", app.prepared),
        Route("/api/tables", app.open, methods=["POST"]),
        Route(table, app.look),
        *(Route(f"{table}/{name}", getattr(app, name), methods=["POST"])
          for name in ("sit", "act", "undo", "resign", "again")),
        *(Route(f"{table}/{name}", getattr(app, name))
          for name in ("advice", "review", "replay", "events")),
        Mount("/page", StaticFiles(directory=PAGE)),
    ]  # fmt: skip
    handlers: dict[Any, Any] = dict.fromkeys((HTTPException, *STATUS), refused)
    middleware = [Middleware(Guard, hosts=hosts)]
    made = Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)
    made.state.close = app.listeners.close
    return made
