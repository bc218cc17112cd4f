"""`crib web` in this process, and in a separate one for requests over the network."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from crib_play.user_files import Preferences
from crib_play.web.app import make_app
from crib_play.web.store import Store
from crib_play.web.tables import Table, Tables
from starlette.testclient import TestClient

AGENTS = ("greedy", "rule_based", "random")
# Prepares games when they are opened: the expert's advice for all of them takes seconds.
ASKED = "from crib_play.web.beside import Preparation, asyncio; Preparation._warm_up = lambda _: asyncio.sleep(0)"


class Answer(NamedTuple):
    """An answer: its status, the JSON in it, and its headers."""

    status: int
    body: Any
    headers: dict[str, str]


class Server:
    """A server in a process of this machine.

    Attributes:
        process: the server. printed: its first lines of output. port: of its socket.
    """

    def __init__(self, process: subprocess.Popen[str], lines: int) -> None:
        assert process.stdout is not None
        self.process = process
        self.printed = "".join(process.stdout.readline() for _ in range(lines))
        self.port = int(re.findall(r":(\d+) ", self.printed)[0])

    def ask(self, path: str, message: Any = None, cookie: str = "", host: str = "") -> Answer:
        """Send a request, by POST if there is a message, which becomes JSON; return the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        headers = {"Host": host or f"127.0.0.1:{self.port}", "Cookie": cookie}
        if message is None:
            connection.request("GET", path, headers=headers)
        else:
            headers["Content-Type"] = "application/json"
            connection.request("POST", path, json.dumps(message), headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        is_json = "json" in answer.headers.get("content-type", "")
        return Answer(answer.status, json.loads(data) if is_json else data, dict(answer.headers))

    def sit_down(self, **offer: str) -> tuple[dict[str, Any], str]:
        """Open a table; return the answer, and the cookie of the seat."""
        answer = self.ask("/api/tables", {"game": "six", "opponent": "greedy", **offer})
        assert answer.status == 201, answer.body
        return answer.body, answer.headers["set-cookie"].partition(";")[0]

    def connect(self, sent: bytes = b"") -> socket.socket:
        """Return a connection on which ``sent`` has been sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=300)
        connection.sendall(sent)
        return connection


@contextmanager
def serving(folder: Path, *words: str, lines: int = 1, before: str = "", **environment: str) -> Iterator[Server]:
    """Run `crib web` in a process.

    Args:
        folder: of its games. words: further options.
        lines: the lines that it prints at its start.
        before: a statement that its process runs first.
    """
    hears = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # in any job
    code = f"{hears}\n{before}\nfrom crib_training.command_line import main\nmain()"
    command = [sys.executable, "-c", code, "web", "--port", "0",
               "--games", str(folder / "games" / "tables.sqlite3"), *words]  # fmt: skip
    home = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **home, **environment})
    try:
        yield Server(process, lines)
    finally:
        process.kill()
        process.communicate()


class Site:
    """A server in this process, with its file of tables at ``path``."""

    def __init__(self, path: Path | None = None, agents: Sequence[str] = AGENTS, keep_days: int = 0) -> None:
        self.tables = Tables(Store(path), agents, keep_days=keep_days)
        self.app = make_app(self.tables, Preferences(), ["testserver"])

    def browser(self, *others: TestClient) -> TestClient:
        """Return a browser that has the cookies of others."""
        browser = TestClient(self.app)
        for other in others:
            browser.cookies.update(other.cookies)
        return browser

    def session(self, shown: dict[str, Any]) -> Any:
        return self.table(shown).session

    def table(self, shown: dict[str, Any]) -> Table:
        return self.tables.find(shown["table"])


def sit_down(browser: TestClient, game: str = "six", **more: Any) -> dict[str, Any]:
    """Open a table and return the answer."""
    answer = browser.post("/api/tables", json={"game": game, "opponent": "greedy", **more})
    assert answer.status_code == 201, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


def choice(shown: dict[str, Any]) -> list[int]:
    """Return a legal choice, from the server's answer alone."""
    sight = shown["sight"]
    legal = sight.get("legal") or [one["card"] for one in sight["hand"] if one["legal"]]
    chosen: list[int] = legal[: shown["to_choose"]]
    return chosen


def play_out(server: Server, shown: dict[str, Any], cookie: str) -> dict[str, Any]:
    """Play a game to its end."""
    while not shown["sight"]["over"]:
        message = {"revision": shown["revision"], "actions": choice(shown), "since": shown["turns"]}
        answer = server.ask(f"/api/tables/{shown['table']}/act", message, cookie)
        assert answer.status == 200, answer.body
        shown = answer.body
    return shown
