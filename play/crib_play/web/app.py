"""The application: a few routes, each answered from a table through one seat's view."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import secrets
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from crib_env.errors import EpisodeOverError
from crib_env.render.svg.cards import symbols
from crib_env.render.svg.document import style_sheet
from crib_play.table import GAMES, NotYourTurnError, table_game
from crib_play.table.advice import look_back
from crib_play.table.seats import LEVELS
from crib_play.user_files import Preferences
from crib_play.web import beside, messages
from crib_play.web.beside import Beside, Finished, Preparation, WorkError
from crib_play.web.tables import PERSON, Table, Tables

STATUS: dict[type[Exception], int] = {
    NotYourTurnError: 409,
    EpisodeOverError: 409,
    ValueError: 422,
    WorkError: 503,
    sqlite3.Error: 503,
}
NO_STORE = {"Cache-Control": "no-store"}
OF_CARDS = {
    "Cache-Control": "public, max-age=86400",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
}
OF_REPLAYS = {  # one file with its style and program inside
    **NO_STORE,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
}
PAGE = Path(str(files("crib_play.web"))) / "page"
YEAR = 365 * 24 * 3600
SEAT = 4  # requests of a seat at once, and as many event streams; its page asks one at a time
HEARTBEAT = 15.0  # seconds without an event after which a stream sends a comment

T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]


def answer(shown: Any, status: int = 200) -> JSONResponse:
    """Return a response that is not cached."""
    return JSONResponse(shown, status, headers=NO_STORE)


async def refused(request: Request, error: Exception) -> Response:
    """Answer with the reason of a refusal."""
    if isinstance(error, HTTPException):
        headers = {**NO_STORE, **(error.headers or {})}
        return JSONResponse({"error": error.detail}, error.status_code, headers)
    why = str(error)
    if isinstance(error, sqlite3.Error):
        why = f"the games cannot be read or written now ({why}): try again in a moment"
    return answer({"error": why}, next(STATUS[kind] for kind in STATUS if isinstance(error, kind)))


@cache
def card_images() -> dict[str, str]:
    """Return an SVG for each face, by the text of its card, and one for the ``back``."""
    style = style_sheet("light")  # the same cards in the dark theme
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


def seated(shown: messages.Payload, key: str, status: int = 200) -> Response:
    """Answer with a table and its cookie for a seat: no script reads it, no other site sends it."""
    response, table = answer(shown, status), shown["table"]
    response.set_cookie(
        f"crib-{table}", key, max_age=YEAR, path=f"/api/tables/{table}", httponly=True, samesite="strict"
    )
    return response


# --- requests at a table, with its lock held ------------------------------------------------------


class Place(NamedTuple):
    """A seat at a table, and the key that opened it."""

    table: Table
    seat: int
    key: str


def look(at: Place, message: messages.Look) -> messages.Payload:
    """Show the table as the seat sees it."""
    return messages.table_payload(at.table, at.seat, message.since, at.key)


def act(at: Place, message: messages.Act) -> messages.Payload:
    """Take a turn."""
    session = at.table.session
    turns = at.table.act(at.seat, message.revision, message.actions)
    shown = messages.table_payload(at.table, at.seat, min(message.since, turns))
    if message.coach and session.practice(at.seat):
        decision = look_back(session, turns)
        shown["coach"] = decision and asdict(decision)
    return shown


def undo(at: Place, message: messages.At) -> messages.Payload:
    """Take a turn back."""
    at.table.undo(at.seat, message.revision)
    return messages.table_payload(at.table, at.seat)


def resign(at: Place, message: messages.At) -> messages.Payload:
    """Give the game up."""
    at.table.resign(at.seat, message.revision)
    return messages.table_payload(at.table, at.seat)


def again(at: Place, message: messages.Message) -> messages.Payload:
    """Give this seat's player the same seat at a new table."""
    return messages.table_payload(at.table.again(), at.seat)


def advise(at: Place, message: messages.Message) -> messages.Payload:
    """Send the expert's values of the seat's choices, if it is to move."""
    session = at.table.session
    if not session.practice(at.seat):
        raise HTTPException(403, "there is no advice while people play each other")
    if session.over or session.seat != at.seat:
        raise NotYourTurnError("there is nothing for you to choose now")
    return messages.advice_payload(at.table)


class Listeners:
    """The event streams of pages, by table, each with its seat."""

    def __init__(self) -> None:
        self._queues: dict[str, dict[asyncio.Queue[bool], int]] = {}

    def tell(self, table: str, more: bool = True) -> None:
        """Tell all pages at a table that it has changed; end their streams if ``more`` is false."""
        for queue in self._queues.get(table, {}):
            queue.put_nowait(more)

    def close(self) -> None:
        """End every stream."""
        for table in self._queues:
            self.tell(table, more=False)

    async def stream(self, table: str, seat: int) -> AsyncIterator[str]:
        """Yield the people present as a server-sent event now, and after each change."""
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
                    yield f"data: {json.dumps({'present': sorted(set(listening.values()))})}\n\n"
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            del listening[queue]
            if not listening and self._queues.get(table) is listening:
                del self._queues[table]
            self.tell(table)


class App:
    """The endpoints of a server; ``addresses`` are its URLs for other machines."""

    def __init__(
        self, tables: Tables, preferences: Preferences, addresses: Sequence[str], agents: Sequence[str]
    ) -> None:
        self.tables, self.preferences, self.addresses = tables, preferences, list(addresses)
        self.preparation, self.finished = Preparation(agents, preferences), Finished(Beside())
        self.listeners = Listeners()
        self._asking: Counter[Hashable] = Counter()

    def close(self) -> None:
        """Release all waiting requests."""
        for one in (self.preparation, self.finished, self.listeners):
            one.close()

    async def _table(self, name: str) -> Table:
        if (held := self.tables.held(name)) is not None:
            return held
        return await run_in_threadpool(self.tables.find, name)

    async def at_table(self, request: Request, ask: Callable[[Place], T], *, advice: bool = False) -> T:
        """Return the result of ``ask`` for the place whose key the request holds."""
        name, key = name_of(request), key_of(request)

        def locked() -> T:
            with table.lock:
                seat = table.stored.seat_of(key)
                if seat is None:
                    raise HTTPException(403, "you do not sit at this table")
                return ask(Place(table, seat, key))

        with self.counted((name, key)):
            table = await self._table(name)
            if (advice or not table.awake) and table.stored.seat_of(key) is not None:
                await self.ready(table.stored.game, table.stored.seats, advice=advice)
            return await run_in_threadpool(locked)

    @contextmanager
    def counted(self, seat: Hashable) -> Iterator[None]:
        """Count a request of a seat while it is answered; refuse one too many."""
        if self._asking[seat] >= SEAT:
            why = f"the server is working on {SEAT} requests from this seat: wait for an answer"
            raise HTTPException(429, why)
        self._asking[seat] += 1
        try:
            yield
        finally:
            self._asking[seat] -= 1
            if not self._asking[seat]:
                del self._asking[seat]

    async def ready(self, game: str, seats: Sequence[str | None], *, advice: bool = False) -> None:
        """Wait until a game is prepared with those of these agents that are offered."""
        await self.preparation.ready(game, self._offered(seats), advice)

    def _offered(self, names: Sequence[str | None]) -> list[str]:
        return [name for name in self.tables.agents if name in names]

    def answers(
        self, kind: type[messages.M], ask: Callable[[Place, messages.M], messages.Payload], *, advice: bool = False
    ) -> Endpoint:
        """Return an endpoint for messages of this kind; after a POST it tells the table's pages."""

        async def endpoint(request: Request) -> Response:
            message, name = await messages.read(request, kind), name_of(request)
            judges = advice or getattr(message, "coach", False)
            shown = await self.at_table(request, lambda at: ask(at, message), advice=judges)
            if request.method == "POST":
                self.listeners.tell(name)
            another = shown.get("table", name) != name
            return seated(shown, key_of(request)) if another else answer(shown)

        return endpoint

    # --- before a table ---------------------------------------------------------------------------

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
        """Answer with the games and the agents."""
        levels = [asdict(one) for one in LEVELS if one.agent in self.tables.agents]
        games = await run_in_threadpool(self._games)  # the first time this imports all agents
        shown = {"games": games, "levels": levels, "addresses": self.addresses}
        return answer({**shown, **asdict(self.preferences)})

    def _games(self) -> list[messages.Payload]:
        plays = self.preparation.agents_for
        return [
            {
                **asdict(game),
                "family": game.family.name,
                "sides": game.family.sides,
                "has_partners": game.has_partners,
                "agents": [*plays(game, self.tables.agents), PERSON],
            }
            for game in GAMES.values()
        ]

    async def prepared(self, request: Request) -> Response:
        """Answer with how much is compiled, and about how long until a game is ready."""
        asked = request.query_params
        done, of = self.preparation.progress
        agents = self._offered(asked.getlist("agent"))
        seconds = self.preparation.seconds(asked.get("game", ""), agents, "advice" in asked)
        return answer({"done": done, "of": of, "seconds": round(seconds)})

    async def open(self, request: Request) -> Response:
        """Open a table and give its seat to the caller."""
        message = await messages.read(request, messages.Open)
        seats, me = seats_of(message), message.seat
        await self.ready(message.game, seats)
        table, key = await run_in_threadpool(self.tables.open, message.game, seats, me, message.name)
        return seated(messages.table_payload(table, me, key=key), key, 201)

    # --- at a table -------------------------------------------------------------------------------

    async def sit(self, request: Request) -> Response:
        """Give a seat to the bearer of an invitation."""
        message = await messages.read(request, messages.Sit)
        table = await self._table(name_of(request))
        key = secrets.token_urlsafe(24)

        def take() -> messages.Payload:
            with table.lock:
                if table.stored.seat_of(key_of(request)) is not None:
                    why = "you already sit at this table: the link is for another"
                    raise HTTPException(403, why)
                return messages.table_payload(table, table.sit(message.invitation, key, message.name))

        await self.ready(table.stored.game, table.stored.seats)
        response = seated(await run_in_threadpool(take), key)
        self.listeners.tell(table.id)
        return response

    async def events(self, request: Request) -> Response:
        """Stream an event after each change of the table or of the people present."""
        seat = await self.at_table(request, lambda at: at.seat)
        stream = self.listeners.stream(name_of(request), seat)
        return StreamingResponse(stream, media_type="text/event-stream", headers=NO_STORE)

    async def review(self, request: Request) -> Response:
        """Answer with the value of the seat's decisions, once the game is over."""
        return await self._afterwards(request, beside.look_back, "application/json", NO_STORE)

    async def replay(self, request: Request) -> Response:
        """Answer with the replay of the game, every card open, once it is over."""
        return await self._afterwards(request, beside.replay, "text/html", OF_REPLAYS)

    async def _afterwards(
        self, request: Request, task: Callable[..., bytes], kind: str, headers: dict[str, str]
    ) -> Response:
        """Answer with the replay or review of a finished game, made once for all callers."""

        def over(at: Place) -> Any:
            table, judged = at.table, task is beside.look_back
            if not table.session.over:
                raise NotYourTurnError("the review comes when the game is over")
            whose = (at.seat,) if judged else ()
            return f"{table.id} {table.revision} {whose}", table.stored, *whose

        with self.counted((name_of(request), key_of(request), task.__name__)):
            given = await self.at_table(request, over, advice=True)
            data = await self.finished.get(task, *given)
        headers = {**headers, "Vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
        else:
            data = gzip.decompress(data)
        return Response(data, media_type=kind, headers=headers)


def seats_of(message: messages.Open) -> list[str | None]:
    """Return the player of each seat: an agent's name, None for a person."""
    sides = table_game(message.game).sides
    if message.seat >= len(sides):
        raise HTTPException(400, f"seat must be from 0 to {len(sides) - 1} in this game")
    partner, mine = message.partner or message.opponent, sides[message.seat]
    named = [partner if side == mine else message.opponent for side in sides]
    return [None if each == message.seat or name == PERSON else name for each, name in enumerate(named)]


def make_app(
    tables: Tables,
    preferences: Preferences,
    hosts: Sequence[str],
    addresses: Sequence[str] = (),
    agents: Sequence[str] = (),
) -> Starlette:
    """Return the application: ``state.start`` starts compiling, ``state.close`` ends requests."""
    app = App(tables, preferences, addresses, agents)
    table = "/api/tables/{table}"
    gets = {
        "/": app.page,
        "/cards/{name}.svg": app.card,
        "/api/rules": app.rules,
        "/api/offers": app.offers,
        "/api/prepared": app.prepared,
        table: app.answers(messages.Look, look),
        f"{table}/events": app.events,
        f"{table}/advice": app.answers(messages.Message, advise, advice=True),
        f"{table}/review": app.review,
        f"{table}/replay": app.replay,
    }
    posts = {
        "/api/tables": app.open,
        f"{table}/sit": app.sit,
        f"{table}/act": app.answers(messages.Act, act),
        f"{table}/undo": app.answers(messages.At, undo),
        f"{table}/resign": app.answers(messages.At, resign),
        f"{table}/again": app.answers(messages.Message, again),
    }
    routes = [
        *(Route(path, endpoint) for path, endpoint in gets.items()),
        *(Route(path, endpoint, methods=["POST"]) for path, endpoint in posts.items()),
        Mount("/page", StaticFiles(directory=PAGE)),
    ]
    handlers: dict[Any, Any] = dict.fromkeys((HTTPException, *STATUS), refused)
    middleware = [Middleware(messages.Guard, hosts=hosts)]
    made = Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)
    made.state.start, made.state.close = app.preparation.start, app.close
    return made
