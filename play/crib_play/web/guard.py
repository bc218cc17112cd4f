"""Refuses requests before they are answered: foreign, large or malformed ones, and too many."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


LARGEST = 4096  # bytes of a message; the longest a page sends has some 200
LARGEST_HEAD = 8192  # bytes of all headers together
BODY_SECONDS = 10.0  # for a message to come
SAFE = ("GET", "HEAD")
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Stands before the application.

    A message that changes something comes from the server's own page: its `Origin` is the host it
    is sent to, its body is JSON (which no form of another site can send), small, and soon here.

    Args:
        app: what answers.
        hosts: host names that requests may use. It may be by the address at which
            a connection comes in as well: a page of another site can make its own name lead
            here, but no address.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self.refuse(scope)
        body = b""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while refused is None and scope["method"] not in SAFE:
                    message = await receive()
                    if message["type"] != "http.request":  # the other side has gone
                        return
                    body += message.get("body", b"")
                    if len(body) > LARGEST:
                        refused = (413, f"a message has {LARGEST} bytes at most")
                    if not message.get("more_body"):
                        break
        except TimeoutError:
            refused = (408, f"the message did not arrive within {BODY_SECONDS:g} seconds")

        async def replay() -> Message:
            nonlocal body
            given, body = body, b""
            return {"type": "http.request", "body": given, "more_body": False}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if refused is not None:
            status, why = refused
            await JSONResponse({"error": why}, status)(scope, receive, with_headers)
            return
        await self.app(scope, receive if scope["method"] in SAFE else replay, with_headers)

    def refuse(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and reason if a request is to be refused by its head."""
        headers = Headers(scope=scope)
        if sum(len(name) + len(value) for name, value in scope["headers"]) > LARGEST_HEAD:
            return 431, f"the headers of a message have {LARGEST_HEAD} bytes at most"
        host = name_of(headers.get("host", ""))
        if host not in self.hosts and host != (scope.get("server") or ("",))[0]:
            return 400, (
                f"this server does not answer to the name {host[:100]!r}: --allow-host adds a name"
            )
        if scope["method"] in SAFE:
            return None
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
            return 403, f"this server refuses messages from {origin}"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "this server refuses messages from other sites"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "a message must be JSON"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST:
            return 413, f"a message has {LARGEST} bytes at most"
        return None


def name_of(host: str) -> str:
    """Return the name or the address in a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
