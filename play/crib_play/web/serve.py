"""Serve the table to a browser: `crib web`.

    crib web                       http://127.0.0.1:8121, for this machine alone
    crib web --agents expert runs/mine/policy.safetensors
    crib web --host 0.0.0.0        for everyone on this network

Games are stored in the user's data folder and continue after the server was stopped or killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sqlite3
from pathlib import Path
from typing import Annotated

import uvicorn
from crib_agents.loading import TakesAgents
from pydantic import Field

from crib_env.policy import agent_names
from crib_env.settings import AgentNames, StoreFile, Whole, checked_dataclass
from crib_play.table.seats import ERRING
from crib_play.user_files import data_file, load_preferences
from crib_play.web.app import make_app
from crib_play.web.messages import LARGEST_HEAD
from crib_play.web.store import Store
from crib_play.web.tables import Tables

LOOPBACK = ("127.0.0.1", "::1", "localhost")
EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # and where this machine reaches it


def others_reach(host: str) -> list[str]:
    """Return the addresses at which other machines reach a server that listens on ``host``."""
    if host in LOOPBACK:
        return []
    if host not in EVERYWHERE:
        return [host]
    family, far = (socket.AF_INET6, "2001:db8::1") if ":" in host else (socket.AF_INET, "192.0.2.1")
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((far, 9))  # sends nothing, but selects the local address of the route
        return [str(probe.getsockname()[0])]
    return []


def url(host: str, port: int) -> str:
    """Return where a browser finds a server."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


POLL = 0.1  # seconds between checks for a signal
THINKING = 75  # seconds for which an idle connection stays open, as people think
MOST_CONNECTIONS = 768  # a process may open 1024 files on many systems
NETWORK = (
    "anyone on this network can reach it and open tables, and traffic is not encrypted; "
    "other names are refused unless --allow-host names them.\n"
    "Beyond your own network put a reverse proxy such as Caddy before it, for encryption, slow "
    "clients and limits: see docs/play.md"
)


@checked_dataclass(frozen=True, kw_only=True)
class Settings(TakesAgents):
    """Play in a browser.

    Attributes:
        host: the address to listen on. The default is this machine alone; 0.0.0.0 is every network
            of this machine. Then anyone on it can open a table, and traffic is not encrypted.
        allow_host: further names the server answers to, besides its addresses and localhost; for
            a proxy, for example.
        port: the port; 0 takes a free one.
        games: the file that stores the games; by default in the user's data folder.
        keep_days: delete a game, finished or not, after this many days without a turn; 0 keeps all.
        agents: the opponents offered, by name or weights file; by default all installed.
    """

    host: str = "127.0.0.1"
    allow_host: tuple[str, ...] = ()
    port: Annotated[Whole, Field(ge=0, le=(1 << 16) - 1)] = 8121
    games: StoreFile | None = None
    keep_days: Annotated[Whole, Field(ge=0, le=36_500)] = 30
    agents: AgentNames = ()


def open_store(path: Path) -> Store:
    """Return the store in a file, or one in memory where that cannot be written."""
    try:
        return Store(path)
    except (OSError, sqlite3.Error) as error:
        print(f"games are not saved: {path} cannot be used: {error}")
        return Store(None)


def run(settings: Settings) -> None:
    """Serve until interrupted."""
    named = tuple(map(settings.trusted, settings.agents))
    listening = listen(settings.host, settings.port)
    store = open_store(settings.games or own_file())
    preferences = load_preferences()
    tables = Tables(store, named or (*agent_names(), *ERRING), keep_days=settings.keep_days)
    tables.clear_away()
    for name in named:
        tables.agent(name)  # fail now, not at the table, if an agent cannot be loaded
    port = listening.getsockname()[1]
    reached = others_reach(settings.host)
    others = [url(address, port) for address in reached]
    hosts = [*LOOPBACK, *reached, *settings.allow_host]
    app = make_app(tables, preferences, hosts, others, named or (preferences.opponent,))
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        server_header=False,
        timeout_keep_alive=THINKING,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
    server = uvicorn.Server(config)
    here = EVERYWHERE.get(settings.host, settings.host)

    async def serve() -> None:
        """Serve; after a signal, release all waiting requests."""
        app.state.start()
        print(f"the table is open at {url(here, port)} (Ctrl-C closes it)", flush=True)
        if settings.host not in LOOPBACK:
            found = " or ".join(others) or "an address of this machine, which was not found"
            print(f"from other machines: {found}\n{NETWORK}", flush=True)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            while not (server.should_exit or serving.done()):
                await asyncio.sleep(POLL)
        finally:
            app.state.close()
        await serving

    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(store):
        asyncio.run(serve())
    later = "continue when you start it again" if store.lasts else "were not saved"
    print(f"the table is closed; games {later}")


def own_file() -> Path:
    """Return the file in the user's data folder, readable by the user alone."""
    path = data_file("tables.sqlite3")
    with contextlib.suppress(OSError):  # no folder yet; the store reports other errors
        path.parent.chmod(0o700)
    return path


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        where = url(host, port).removeprefix("http://")
        raise OSError(f"cannot listen at {where}: {why} (--port 0 takes a free port)") from error
