"""What a browser sends, checked; and what it is sent: its seat's view, the calls, nothing else."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from crib_play.table import (
    Call,
    Review,
    Session,
    Turn,
    actions_of,
    in_words,
    table_game,
    why_unjudged,
)
from crib_play.table.advice import Decision, choices
from crib_play.table.seats import names, side_names
from crib_play.web.tables import Table

M = TypeVar("M", bound="Message")

Name = Annotated[str, Field(min_length=1, max_length=200)]
Number = Annotated[int, Field(ge=0, lt=1 << 31)]
Action = Annotated[int, Field(ge=0, le=51)]


class MessageError(ValueError):
    """A message that is malformed; it says what is wrong with it."""


class Message(BaseModel):
    """What a browser sends: these fields, of these types, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Open(Message):
    """Open a table: the game, where to sit, who plays against and with one."""

    game: Name
    opponent: Name
    partner: Name | None = None
    seat: Number = 0


class Sit(Message):
    """Sit down with an invitation."""

    invitation: Name


class Act(Message):
    """Take a turn at a table of this revision; ``since`` is how many turns the browser knows of."""

    revision: Number
    actions: Annotated[list[Action], Field(min_length=1, max_length=2)]
    since: Number
    coach: bool = False


class Undo(Message):
    """Take the last turn back at a table of this revision."""

    revision: Number


async def read(request: Request, kind: type[M]) -> M:
    """Return a request's message."""
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
    where = " ".join(map(str, wrong["loc"]))[:60] or "the message"
    raise MessageError(f"{where}: {wrong['msg']} (fields: {', '.join(kind.model_fields)})")


Payload = dict[str, Any]

LOG = 12  # turns whose calls come with the table when it is opened again
ADVISED = 8
MOST_FRAMES = 60  # shown one by one; who has missed more is shown the table as it is


def table_payload(table: Table, seat: int, since: int | None = None) -> Payload:
    """Return the table as a seat may see it."""
    session = table.session
    kind = table_game(table.game)
    n = len(session.turns)
    known = since if since is not None and n - MOST_FRAMES <= since <= n else n
    frames = [frame(session, session.turns[i], seat, i + 1) for i in range(known, n)]
    return {
        "table": table.id,
        "revision": table.revision,
        "turns": n,
        "game": {"name": kind.name, "title": kind.title, "rules": session.rules},
        "family": session.family.name,
        "names": names(session, seat),
        "owners": session.family.sides or names(session, seat),
        "sides": side_names(session, seat),
        "practice": session.practice(seat),
        "unjudged": why_unjudged(session),
        "to_choose": session.to_choose if session.waits and session.seat == seat else 0,
        "opening": [vars(call) for call in session.opening],
        "log": [_calls(turn.calls) for turn in session.turns[max(0, known - LOG) : known]],
        "frames": frames,
        "sight": frames[-1]["sight"] if frames else session.sight(seat),
        "winner": session.winner,
    }  # fmt: skip


def frame(session: Session, turn: Turn, seat: int, after: int) -> Payload:
    """Return a turn as a seat hears it, and what it sees then."""
    return {
        "seat": turn.seat,
        "calls": _calls(turn.calls),
        "counted": [vars(counted) for counted in turn.counted],
        "sight": session.sight(seat, after),
    }


def _calls(calls: tuple[Call, ...]) -> list[Payload]:
    return [vars(call) for call in calls]  # `asdict` copies deeply


def advice_payload(session: Session) -> list[Payload]:
    """Return the value of the choices of the seat to move, the best first."""
    view = session.game.view(session.seat)
    return [
        {
            "actions": sorted(actions_of(choice), reverse=True),
            "text": session.family.spoken(view, sorted(actions_of(choice), reverse=True)),
            "why": in_words(choice),
            "win": round(choice.win, 5),
        }
        for choice in choices(view)[:ADVISED]
    ]


def decision_payload(decision: Decision | None) -> Payload | None:
    """Return the value of a decision."""
    return None if decision is None else {**asdict(decision), "loss": round(decision.loss, 5)}


def review_payload(review: Review) -> Payload:
    """Return the value of a seat's decisions."""
    return {
        "phases": [
            {"phase": phase, "decisions": n, "loss": round(loss, 5)}
            for phase, (n, loss) in review.by_phase.items()
        ],
        "worst": [decision_payload(one) for one in review.worst],
        "losses": [[one.turn, round(one.loss, 5)] for one in review.decisions],
    }
