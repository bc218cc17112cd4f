"""What is refused before anybody reads it: foreign origins, other hosts, large or odd messages."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST = 4096  # bytes of a message; the longest a page sends has some 200
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
    is sent to, its body is JSON (which no form of another site can send) and small.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self.refuse(scope)
        body = b""
        while refused is None and scope["method"] not in SAFE:
            message = await receive()
            if message["type"] != "http.request":  # the other side has gone
                return
            body += message.get("body", b"")
            if len(body) > LARGEST:
                refused = (413, f"a message has {LARGEST} bytes at most")
            if not message.get("more_body"):
                break

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
        if scope["method"] in SAFE:
            return None
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
            return 403, f"messages from {origin} are not taken here"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "messages from other sites are not taken here"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "a message is JSON"
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > LARGEST:
            return 413, f"a message has {LARGEST} bytes at most"
        return None
