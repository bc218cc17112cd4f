"""What a browser sends, checked; and what it is sent: its seat's view, the calls, nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, TypeVar

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

MOST_ACTIONS = 2
LARGEST_ACTION = 51
LONGEST_NAME = 200

M = TypeVar("M")


class MessageError(ValueError):
    """A message that is malformed; it says what is wrong with it."""


@dataclass(frozen=True)
class Open:
    """Open a table: the game, where to sit, who plays against and with one."""

    game: str
    opponent: str
    partner: str | None = None
    seat: int = 0


@dataclass(frozen=True)
class Sit:
    """Sit down with an invitation."""

    invitation: str


@dataclass(frozen=True)
class Act:
    """Take a turn at a table of this revision; ``since`` is how many turns the browser knows of."""

    revision: int
    actions: tuple[int, ...]
    since: int
    coach: bool = False


@dataclass(frozen=True)
class Undo:
    """Take the last turn back at a table of this revision."""

    revision: int


def _name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def _actions(value: Any) -> bool:
    return (
        isinstance(value, list)
        and 0 < len(value) <= MOST_ACTIONS
        and all(_number(each) and each <= LARGEST_ACTION for each in value)
    )


CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "str": (_name, "a text"),
    "str | None": (lambda value: value is None or _name(value), "a text or null"),
    "int": (_number, "a whole number from 0 up"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "tuple[int, ...]": (_actions, "one or two actions"),
}


async def read(request: Request, kind: type[M]) -> M:
    """Return a request's message."""
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise MessageError("the message is not JSON") from None
    if not isinstance(found, dict):
        raise MessageError("a message is a JSON object")
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    for name in found:
        if name not in known:
            raise MessageError(f"a message has no field {name[:40]!r}: {', '.join(known)}")
    for name, field in known.items():
        check, what = CHECKS[str(field.type)]
        if name not in found and field.default is MISSING:
            raise MessageError(f"the message lacks its {name}")
        if name in found and not check(found[name]):
            raise MessageError(f"{name} must be {what}")
    return kind(**found)


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
