"""Serve the table to a browser: `crib web`.

    crib web                       http://127.0.0.1:8121, for this machine alone
    crib web --agents expert runs/mine/policy.safetensors

Games are kept in the user's data folder and go on after the server has been stopped, or killed.
"""

from __future__ import annotations

import os
import socket
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from crib_agents.loading import TakesAgents

from crib_env.policy import agent_names
from crib_play.kept import data_file, load_choices
from crib_play.web.app import make_app
from crib_play.web.store import Store
from crib_play.web.tables import Tables

THINKING = 75  # seconds for which a connection is kept open, as people think
LOOPBACK = ("127.0.0.1", "localhost")


@dataclass(frozen=True)
class Settings(TakesAgents):
    """Play in a browser.

    Attributes:
        host: the address to listen on; the default is this machine alone. Behind any other, anyone
            who reaches it can open a table, and traffic is not encrypted.
        port: the port; 0 takes a free one.
        games: the file games are kept in; by default in the user's data folder.
        keep_days: a game at which nobody has taken a turn for so many days, over or not, is
            forgotten; 0 keeps all.
        agents: whom one can play against, by name or file of weights; by default all installed.
    """

    host: str = "127.0.0.1"
    port: int = 8121
    games: Path | None = None
    keep_days: int = 30
    agents: tuple[str, ...] = ()


def open_store(path: Path) -> Store:
    """Return the store in a file, or one in memory where that cannot be written."""
    try:
        return Store(path)
    except (OSError, sqlite3.Error) as error:
        print(f"games are not kept, {path} cannot be used: {error}")
        return Store(None)


def run(settings: Settings) -> None:
    """Serve until interrupted.

    Raises:
        ValueError: no such port or number of days, or an agent that is not to be had.
        OSError: the address cannot be listened at.
    """
    if not 0 <= settings.port < 1 << 16:
        raise ValueError(f"port must be 0 (a free one) to 65535, got {settings.port}")
    if settings.keep_days < 0:
        raise ValueError(f"keep-days must be 0 (keep all) or more, got {settings.keep_days}")
    store = open_store(settings.games or data_file("tables.sqlite3"))
    named = tuple(map(settings.trusted, settings.agents))
    tables = Tables(store, named or agent_names(), keep_days=settings.keep_days)
    tables.clear_away()
    for name in named:
        tables.agent(name)  # what cannot be loaded is said now, and not at the table
    hosts = LOOPBACK if settings.host in LOOPBACK else ("*",)
    app = make_app(tables, load_choices(), hosts)
    config = uvicorn.Config(
        app, log_level="warning", server_header=False, timeout_keep_alive=THINKING
    )
    server = uvicorn.Server(config)
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise OSError(
            f"cannot listen at {shown}:{settings.port}: {why} (--port 0 takes a free port)"
        ) from error
    port = listening.getsockname()[1]
    print(f"the table is laid at http://{shown}:{port} (Ctrl-C clears it)", flush=True)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        store.close()
    print("the table is cleared; games go on when it is laid again")
