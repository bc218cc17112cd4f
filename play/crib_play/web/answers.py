"""Responses: JSON that is never cached, and refusals in one sentence."""

from __future__ import annotations

import gzip
import sqlite3
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from crib_env.errors import EpisodeOverError
from crib_play.table import NotYourTurnError
from crib_play.web.limits import BusyError
from crib_play.web.messages import MessageError
from crib_play.web.preparing import PreparingError
from crib_play.web.tables import NotNowError, StaleError, TakenError
from crib_play.web.worker import WorkerError

NO_STORE = {"Cache-Control": "no-store"}

STATUS: dict[type[Exception], int] = {
    MessageError: 400,
    NotYourTurnError: 409,
    StaleError: 409,
    EpisodeOverError: 409,
    TakenError: 403,
    NotNowError: 403,
    ValueError: 422,
    BusyError: 429,
    PreparingError: 503,
    WorkerError: 503,
    sqlite3.Error: 503,
}


def answer(shown: Any, status: int = 200) -> JSONResponse:
    """Return an answer that nobody keeps."""
    return JSONResponse(shown, status, headers=NO_STORE)


def packed(request: Request, data: bytes, kind: str, headers: dict[str, str]) -> Response:
    """Return an answer that is compressed by gzip, as it is to those who can read that."""
    headers = {**headers, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        data = gzip.decompress(data)
    return Response(data, media_type=kind, headers=headers)


async def refused(request: Request, error: Exception) -> Response:
    """Answer with why something was refused."""
    if isinstance(error, HTTPException):
        return answer({"error": error.detail}, error.status_code)
    status = next(STATUS[kind] for kind in STATUS if isinstance(error, kind))
    why = str(error)
    if isinstance(error, sqlite3.Error):
        why = f"the games cannot be read or written now ({error}): try again in a moment"
    shown = answer({"error": why}, status)
    if isinstance(error, PreparingError):
        shown.headers["Retry-After"] = "1"
    return shown
