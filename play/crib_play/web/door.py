"""Access to a table: the key to a seat, the turn, and whether the game is ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from crib_play.web.limits import Limits
from crib_play.web.preparing import Preparation
from crib_play.web.tables import Table, Tables

YEAR = 365 * 24 * 3600

T = TypeVar("T")


class Door:
    """Lets questions in to the tables.

    Args:
        tables: the tables.
        preparation: what games wait for.
        limits: how many requests at once.
    """

    def __init__(self, tables: Tables, preparation: Preparation, limits: Limits) -> None:
        self.tables = tables
        self.preparation = preparation
        self.limits = limits

    async def seated(
        self, request: Request, ask: Callable[[Table, int], T], *, advice: bool = False
    ) -> T:
        """Return what ``ask`` makes of a table and a seat, whose key the request holds."""
        name, key = table_of(request), key_of(request)
        with self.limits.seat((name, key)):
            if advice or not self.tables.is_awake(name, key):
                game, seats = await self.in_turn(request, self._find, name, key)
                await self.ready(game, seats, advice=advice)
            return await self.in_turn(request, self._at_seat, name, key, ask)

    async def at(self, request: Request, ask: Callable[[Table], T]) -> T:
        """Return what ``ask`` makes of a table; the request needs no key."""
        name = table_of(request)
        game, seats = await self.in_turn(request, self._known, name)
        await self.ready(game, seats)
        return await self.in_turn(request, lambda: ask(self._table(name)))

    async def ready(self, game: str, seats: Sequence[str | None], *, advice: bool = False) -> None:
        """Wait until a game can be played with those of these agents that are offered."""
        known = [name for name in seats if name in self.tables.agents]
        await self.preparation.ready(game, known, advice)

    async def in_turn(self, request: Request, function: Callable[..., T], *args: Any) -> T:
        """Return what a function returns, called in a thread when it is the address's turn."""
        async with self.limits.address(address_of(request)):
            return await run_in_threadpool(function, *args)

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


def table_of(request: Request) -> str:
    """Return the name of the table in the address."""
    return str(request.path_params["table"])


def key_of(request: Request) -> str:
    """Return the key to a seat that a browser brings, or an empty text."""
    return request.cookies.get(cookie_name(table_of(request)), "")


def address_of(request: Request) -> str | None:
    """Return the address that a question comes from."""
    return request.client.host if request.client else None


def cookie_name(table: str) -> str:
    """Return the cookie that guards a seat of a table."""
    return f"crib-{table}"


def give_seat(response: Response, table: str, key: str) -> None:
    """Set the cookie that guards a seat: no script reads it, no other site sends it."""
    response.set_cookie(
        cookie_name(table), key, max_age=YEAR, path=f"/api/tables/{table}", httponly=True,
        samesite="strict",
    )  # fmt: skip
