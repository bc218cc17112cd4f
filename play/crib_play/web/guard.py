"""Refuses requests before they are answered: foreign, large or malformed ones."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    """Stands before the application.

    A message that changes something comes from the server's own page: its `Origin` is the host it
    is sent to, and its body is JSON (which no form of another site can send) and small. The host is
    one of ``hosts`` or the address at which the connection comes in: a page of another site can
    make its own name lead here, but no address.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        self.app, self.hosts = app, frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""

        async def with_headers(message: Message) -> None:
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

    def refuse(self, scope: Scope) -> tuple[int, str] | None:
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
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, f"this server refuses messages from {origin}"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "this server refuses messages from other sites"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "a message must be JSON"
        length = headers.get("content-length", "")  # only its message is used
        if not length.isdecimal() or int(length) > LARGEST:
            return 413, f"a message has {LARGEST} bytes at most, and says how many it has"
        return None
