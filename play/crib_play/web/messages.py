"""Messages from a browser, guarded and checked; messages to it: its seat's view and the calls."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from starlette import types
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from crib_env.errors import printable
from crib_play.table import Review, Session, Turn, table_game
from crib_play.table.advice import advised
from crib_play.table.seats import names, side_names
from crib_play.web.tables import Table

M = TypeVar("M", bound="Message")
Payload = dict[str, Any]

Name = Annotated[str, Field(min_length=1, max_length=200)]
Number = Annotated[int, Field(ge=0, lt=1 << 31)]
Action = Annotated[int, Field(ge=0, le=51)]
# Of a player: without spaces around it, or characters that turn or hide the text beside it.
Called = Annotated[str, Field(max_length=20, pattern=r"^[^\x00-\x1f]*$"), AfterValidator(printable)]
# The phase of a review that gets an event's points, by reason; others are the pegging's.
PHASE_OF = {"hand": "hand", "crib": "crib", "line": "hand", "difference": "hand"}
BODY_SECONDS = 10.0  # for a message to arrive


class Message(BaseModel):
    """A message from a browser: these fields, of these types, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Open(Message):
    """Open a table: the game, the seat, the opponents and the partner."""

    game: Name
    opponent: Name
    partner: Name | None = None
    seat: Number = 0
    name: Called = ""


class Sit(Message):
    """Sit down with an invitation."""

    invitation: Name
    name: Called = ""


class Look(Message):
    """Look at the table; ``since`` is how many turns the browser knows of."""

    since: Number | None = None


class Act(Message):
    """Take a turn at a table of this revision; ``since`` as in `Look`."""

    revision: Number
    actions: Annotated[list[Action], Field(min_length=1, max_length=2)]
    since: Number
    coach: bool = False


class At(Message):
    """Take the last turn back, or resign, at a table of this revision."""

    revision: Number


async def read(request: Request, kind: type[M]) -> M:
    """Return a request's message: from its body, or from the query string of a GET."""
    try:
        if request.method != "POST":
            return kind.model_validate_strings(dict(request.query_params))
        async with asyncio.timeout(BODY_SECONDS):
            body = await request.body()
        return kind.model_validate_json(body)
    except TimeoutError:
        raise HTTPException(408, f"the message did not arrive within {BODY_SECONDS:g} s") from None
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
    where = " ".join(map(str, wrong["loc"]))[:60] or "the message"
    fields = ", ".join(kind.model_fields)
    raise HTTPException(400, f"{where}: {wrong['msg']} (fields: {fields})")


LOG = 12  # earlier turns whose calls come with a reopened table
ADVISED = 8
MOST_FRAMES = 60  # shown one by one; a browser that missed more gets the present table


def table_payload(table: Table, seat: int, since: int | None = None, key: str = "") -> Payload:
    """Return the table as a seat may see it; with the opener's key, its invitations."""
    session, stored = table.session, table.stored
    kind = table_game(stored.game)
    n = len(session.turns)
    known = since if since is not None and n - MOST_FRAMES <= since <= n else n
    frames = [{**heard(session.turns[i]), "sight": session.sight(seat, i + 1)} for i in range(known, n)]
    called = names(session, seat, stored.people)
    return {
        "table": table.id,
        "revision": table.revision,
        "turns": n,
        "undone": stored.undone,
        "next": stored.next,
        "game": {"name": kind.name, "title": kind.title},
        "family": session.family.name,
        "names": called,
        "owners": session.family.sides or called,
        "sides": side_names(session, seat, stored.people),
        "people": session.people,
        "practice": session.practice(seat),
        "judge": session.family.judge,
        "to_choose": session.to_choose if session.waits and session.seat == seat else 0,
        "cut": session.cut if n == 0 or known == 0 else None,
        "opening": [vars(call) for call in session.opening],
        "log": [heard(turn) for turn in session.turns[max(0, known - LOG) : known]],
        "frames": frames,
        "sight": frames[-1]["sight"] if frames else session.sight(seat),
        "winner": session.winner,
        "resigned": session.resigned,
        **({"invitations": table.invitations(key)} if key else {}),
    }


def heard(turn: Turn) -> Payload:
    """Return the public part of a turn: its seat, calls and counts."""
    calls, counted = ([vars(one) for one in ones] for ones in (turn.calls, turn.counted))
    return {"seat": turn.seat, "calls": calls, "counted": counted}  # `asdict` copies deeply


def advice_payload(table: Table) -> Payload:
    """Return the value of the choices of the seat to move, the best first."""
    found = advised(table.session.family, table.session.game.view(table.session.seat))[:ADVISED]
    choices = [one._asdict() for one in found]  # not rounded: the page rounds the numbers it shows
    return {"revision": table.revision, "choices": choices}


def review_payload(session: Session, seat: int, review: Review) -> Payload:
    """Return the value of a seat's decisions, and the points of the sides by phase."""
    side_of, mine = session.game.sides, session.game.sides[seat]
    points = {"pegging": [0, 0], "hand": [0, 0], "crib": [0, 0]}
    for call in session.opening:
        points["pegging"][side_of[call.seat] != mine] += call.points
    hand_points = getattr(session.game.rules, "score_difference", False)  # all but one (T13)
    for event in (one for turn in session.turns for one in turn.events):
        if event.reason == "difference" or not hand_points:
            points[PHASE_OF.get(event.reason, "pegging")][event.seat != mine] += event.points
    return {
        "won": session.winner == mine,
        "deals": session.game.deals,
        "points": points,
        "phases": [{"phase": phase, "decisions": n, "loss": loss} for phase, (n, loss) in review.by_phase.items()],
        "worst": [asdict(one) for one in review.worst],
        "losses": [[one.turn, one.loss] for one in review.decisions],
        "luck": review.luck,
    }


# --- requests refused by their head: foreign, large or malformed ones -----------------------------

LARGEST = 4096  # bytes of a message; the longest a page sends has some 200
LARGEST_HEAD = 8192  # bytes of all headers together
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Middleware that refuses foreign, large or malformed requests by their head.

    A message that changes something must come from the server's own page: its `Origin` is the host
    it is sent to, and its body is JSON (which no form of another site can send) and small. The host
    must be one of ``hosts`` or the address at which the connection comes in: another site can point
    its own name to this server, but not an address.
    """

    def __init__(self, app: types.ASGIApp, hosts: Sequence[str]) -> None:
        self.app, self.hosts = app, frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: types.Scope, receive: types.Receive, send: types.Send) -> None:
        """Refuse a request, or pass it on."""

        async def with_headers(message: types.Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        app = self.app
        if scope["type"] == "http" and (refused := self.refuse(scope)):
            status, why = refused
            app = JSONResponse({"error": why}, status)
        await app(scope, receive, with_headers)

    def refuse(self, scope: types.Scope) -> tuple[int, str] | None:
        """Return status and reason if a request is to be refused by its head."""
        headers = Headers(scope=scope)
        if sum(len(name) + len(value) for name, value in scope["headers"]) > LARGEST_HEAD:
            return 431, f"the headers of a message have {LARGEST_HEAD} bytes at most"
        host, origin = headers.get("host", ""), headers.get("origin")
        try:
            name = urlsplit(f"//{host}").hostname or ""  # without its port
        except ValueError:
            name = ""
        if name not in self.hosts and name != (scope.get("server") or ("",))[0]:
            why = "this server does not answer to the name"
            return 400, f"{why} {name[:100]!r}: --allow-host adds a name"
        if scope["method"] in ("GET", "HEAD"):
            return None
        if origin is not None and origin.partition("://")[2] != host:
            return 403, f"this server refuses messages from {origin}"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "this server refuses messages from other sites"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "a message must be JSON"
        length = "" if "transfer-encoding" in headers else headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LARGEST:
            return 413, f"a message has {LARGEST} bytes at most, and says how many it has"
        return None
