"""Refuses requests before they are answered: foreign, large or malformed ones."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST = 4096  # bytes of a message; the longest a page sends has some 200
LARGEST_HEAD = 8192  # bytes of all headers together
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
    is sent to, and its body is JSON (which no form of another site can send) and small.

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

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self.refuse(scope) if scope["type"] == "http" else None
        if refused is not None:
            status, why = refused
            await JSONResponse({"error": why}, status)(scope, receive, with_headers)
        else:
            await self.app(scope, receive, with_headers)

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
        length = headers.get("content-length", "")  # what it says is all that is read
        if not length.isdecimal() or int(length) > LARGEST:
            return 413, f"a message has {LARGEST} bytes at most, and says how many it has"
        return None


def name_of(host: str) -> str:
    """Return the name or the address in a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
