"""HTTP with time limits, since uvicorn waits forever for slow requests and slow readers."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from crib_play.web.guard import network

HEAD_SECONDS = 10.0  # for the head of a request, from its first byte or from the connection's start
WRITE_SECONDS = 30.0  # for a reader to make room
CLOSE_SECONDS = 5.0  # for the last bytes before a connection is cut
MOST_CONNECTIONS = 256  # of one address
HEAD_BYTES = 8192

_connections: Counter[str] = Counter()


class PatientProtocol(H11Protocol):
    """A connection that is closed if the other side keeps it waiting."""

    _name: str
    _head: asyncio.TimerHandle | None = None
    _write: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a head; refuse a connection too many of an address."""
        super().connection_made(transport)
        self._name = network(self.client[0] if self.client else None)
        _connections[self._name] += 1
        if _connections[self._name] > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._head = self.loop.call_later(HEAD_SECONDS, self._close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        _connections[self._name] -= 1
        if not _connections[self._name]:
            del _connections[self._name]
        self._stop_head()
        self._stop_write()

    def data_received(self, data: bytes) -> None:
        """Take bytes; once a head has begun, it must end in time."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE or not self.conn.trailing_data[0]:
            self._stop_head()
        elif self._head is None:
            self._head = self.loop.call_later(HEAD_SECONDS, self._close)
        self._close_if_answered_early()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        super().on_response_complete()
        self._close_if_answered_early()

    def pause_writing(self) -> None:
        """Give a slow reader some time."""
        super().pause_writing()
        self._stop_write()
        self._write = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        self._stop_write()

    def timeout_keep_alive_handler(self) -> None:
        """Close, also if the other side does not read the last bytes."""
        super().timeout_keep_alive_handler()
        self._close()

    def _close(self) -> None:
        self.transport.close()
        self.loop.call_later(CLOSE_SECONDS, self.transport.abort)

    def _close_if_answered_early(self) -> None:
        """Close where a request has its answer and its body has not come: nobody reads that."""
        cycle: Any = self.cycle  # None before the first request
        if cycle and cycle.response_complete and self.conn.their_state is h11.SEND_BODY:
            self._close()

    def _stop_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _stop_write(self) -> None:
        if self._write is not None:
            self._write.cancel()
            self._write = None
