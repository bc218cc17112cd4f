"""Limits on the requests of one seat and one address: further ones are refused, or wait."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from ipaddress import IPv6Address, ip_address

SEAT = 4  # questions of a seat at once; its page asks one at a time
ADDRESS = 8  # questions of an address that are worked on at once; further ones wait
WAITING = 256  # of an address that may wait
HOUR = 3600.0


class BusyError(Exception):
    """More than is answered at once; it says when to try again."""


class Limits:
    """Counts what seats and addresses ask.

    Args:
        tables_per_hour: how many tables an address may open in an hour; 0 does not limit them.
    """

    def __init__(self, tables_per_hour: int = 0) -> None:
        self._tables_per_hour = tables_per_hour
        self._seats: Counter[Hashable] = Counter()
        self._working: dict[str, tuple[asyncio.Semaphore, list[int]]] = {}
        self._opened: dict[str, deque[float]] = {}

    @contextmanager
    def seat(self, key: Hashable) -> Iterator[None]:
        """Count a question of a seat while it is answered."""
        if self._seats[key] >= SEAT:
            raise BusyError(
                f"the server is working on {SEAT} requests from this seat: wait for an answer"
            )
        self._seats[key] += 1
        try:
            yield
        finally:
            self._seats[key] -= 1
            if not self._seats[key]:
                del self._seats[key]

    @asynccontextmanager
    async def address(self, host: str | None) -> AsyncIterator[None]:
        """Wait until an address has less than its share of the work, then count this."""
        name = network(host)
        gate, waiting = self._working.setdefault(name, (asyncio.Semaphore(ADDRESS), [0]))
        if waiting[0] >= ADDRESS + WAITING:
            raise BusyError(f"{waiting[0]} requests from your address wait: try again in a moment")
        waiting[0] += 1
        try:
            async with gate:
                yield
        finally:
            waiting[0] -= 1
            if not waiting[0]:
                self._working.pop(name, None)

    def open_table(self, host: str | None) -> None:
        """Count a table that an address opens."""
        if not self._tables_per_hour:
            return
        now = time.monotonic()
        for name, times in list(self._opened.items()):
            while times and times[0] <= now - HOUR:
                times.popleft()
            if not times:
                del self._opened[name]
        opened = self._opened.setdefault(network(host), deque())
        if len(opened) >= self._tables_per_hour:
            minutes = int((opened[0] + HOUR - now) / 60) + 1
            raise BusyError(
                f"{self._tables_per_hour} tables were opened from your address within an hour: "
                f"play on at one of them, or try again in {minutes} minutes"
            )
        opened.append(now)


def network(host: str | None) -> str:
    """Return whose address it is: of IPv6 the network, for one machine has many addresses."""
    try:
        address = ip_address((host or "").partition("%")[0])
    except ValueError:
        return host or ""
    if isinstance(address, IPv6Address):
        return address.exploded[:19]
    return str(address)
