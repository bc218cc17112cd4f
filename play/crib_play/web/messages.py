"""The messages of a browser: JSON with a few known fields, checked one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from starlette.requests import Request

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
