"""How long does `crib web` take to answer with many games at once, and how much memory?

    python -m benchmarks.web                         200 games for two minutes
    python -m benchmarks.web --games 20 --seconds 5
    python -m benchmarks.web --games 20 --hostile    beside hostile and slow clients

Each player is a connection that plays legal cards, waits a while between two turns, and checks that
every answer is about its own table. At the end the program reads every table from the store and
checks that it is where its player left it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Annotated, Any
from urllib.request import urlopen

import numpy as np
from crib_play.web.messages import table_payload
from crib_play.web.store import Store
from crib_play.web.tables import Tables
from crib_training.command_line import start
from pydantic import Field

from crib_env.settings import A_DAY, Count, checked_dataclass

GAMES = ("six", "five", "table-top", "partners")
OPPONENT = "rule_based"
LONGEST = 1 << 16


@dataclass
class Player:
    """A connection that plays game after game."""

    game: str
    times: list[float] = field(default_factory=list)  # seconds that each answer took
    finished: int = 0  # games
    shown: dict[str, Any] = field(default_factory=dict)  # the last answer
    cookie: str = ""

    async def play(self, port: int, until: float, think: float, rng: np.random.Generator, games: int = 0) -> None:
        """Play until the time is up, or ``games`` games."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port, limit=LONGEST)
        await asyncio.sleep(think * rng.random())
        while time.monotonic() < until:
            if not self.shown or self.shown["sight"]["over"]:
                self.finished += bool(self.shown)
                if games and self.finished == games:
                    break
                offer = {"game": self.game, "opponent": OPPONENT}
                self.shown = await self.ask(port, "/api/tables", offer)
            before, actions = self.shown, self.choose(rng)
            message = {"revision": before["revision"], "actions": actions, "since": before["turns"]}
            self.shown = await self.ask(port, f"/api/tables/{before['table']}/act", message)
            assert self.shown["table"] == before["table"]
            assert self.shown["revision"] == before["revision"] + 1
            assert self.shown["frames"][0]["seat"] == before["sight"]["seat"]
            assert self.shown["turns"] == before["turns"] + len(self.shown["frames"])
            await asyncio.sleep(think * (0.5 + rng.random()))
        self.writer.close()

    def choose(self, rng: np.random.Generator) -> list[int]:
        """Return random legal actions."""
        sight = self.shown["sight"]
        legal = sight.get("legal") or [one["card"] for one in sight["hand"] if one["legal"]]
        chosen: list[int] = rng.permutation(legal)[: self.shown["to_choose"]].tolist()
        return chosen

    async def ask(self, port: int, path: str, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and return the answer."""
        body = json.dumps(message).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            f"Cookie: {self.cookie}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        began = time.perf_counter()
        self.writer.write(head.encode() + body)
        answered = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", answered)
        assert length is not None, answered
        found: dict[str, Any] = json.loads(await self.reader.readexactly(int(length[1])))
        self.times.append(time.perf_counter() - began)
        assert answered.split()[1] in ("200", "201"), found
        given = re.search(r"set-cookie: ([^;]+)", answered)
        self.cookie = given[1] if given else self.cookie
        return found


def memory(pid: int) -> float:
    """Return the most memory a process has held so far, MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


def check_store(path: Path, players: Sequence[Player]) -> None:
    """Assert that every table is stored as its player last saw it."""
    tables = Tables(Store(path), [OPPONENT])
    for player in players:
        table = tables.find(player.shown["table"])
        stored = table_payload(table, player.shown["sight"]["seat"])
        assert stored["sight"] == player.shown["sight"]
        assert stored["revision"] == player.shown["revision"]


@dataclass
class Hostile:
    """A client that plays a game, then requests its replay, table and review, sixty at once."""

    answers: Counter[str] = field(default_factory=Counter)  # by status
    HOST = "127.0.0.2"  # a separate address, if loopback has several

    async def ask(self, port: int, until: float) -> None:
        """Play a game, then send requests until the time is up."""
        player = Player("table-top")
        await player.play(port, until, 0.0, np.random.default_rng(0), games=1)
        table = f"/api/tables/{player.shown['table']}"
        paths = [f"{table}/replay"] * 40 + [f"{table}?since=0"] * 10 + [f"{table}/review"] * 10

        async def again(path: str) -> None:
            while time.monotonic() < until:
                with contextlib.suppress(OSError, TimeoutError, IndexError):  # refused, cut off
                    await self.one(port, path, player.cookie, until)
                await asyncio.sleep(0.1)

        await asyncio.gather(*map(again, paths), self.slow(port, until))

    async def one(self, port: int, path: str, cookie: str, until: float) -> None:
        """Send one request, on a new connection."""
        reader, writer = await self.connect(port)
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode())
        async with asyncio.timeout(max(0.1, until - time.monotonic())):
            self.answers[(await reader.readline()).split()[1].decode()] += 1
            await reader.read()
        writer.close()

    async def slow(self, port: int, until: float) -> None:
        """Leave one request after the other half open."""
        open_ones = []
        while time.monotonic() < until:
            open_ones.append(await self.connect(port))
            open_ones[-1][1].write(b"GET / HTTP/1.1\r\nHost: ")
            self.answers["half open"] += 1
            await asyncio.sleep(0.25)
        for _, writer in open_ones:
            writer.close()

    async def connect(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return a connection from this address."""
        return await asyncio.open_connection("127.0.0.1", port, local_addr=(self.HOST, 0))


async def play(players: Sequence[Player], port: int, seconds: float, think: float, hostile: Hostile | None) -> None:
    """Run all players at once, beside a hostile client if there is one."""
    until = time.monotonic() + seconds
    beside = [] if hostile is None else [hostile.ask(port, until)]
    playing = [player.play(port, until, think, np.random.default_rng(i)) for i, player in enumerate(players)]
    await asyncio.gather(*beside, *playing)


def wait_until_prepared(port: int) -> None:
    """Wait until the server has compiled all games, as the page does."""
    for game in GAMES:
        asked = f"http://127.0.0.1:{port}/api/prepared?game={game}&agent={OPPONENT}"
        while json.load(urlopen(asked))["seconds"]:
            time.sleep(0.5)


def measure(games: int, seconds: float, think: float, hostile: bool = False) -> dict[str, float]:
    """Play and return the measurements: times in milliseconds, memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.sqlite3"
        command = [sys.executable, "-m", "crib_training.command_line", "web", "--port", "0",
                   "--games", str(path), "--agents", OPPONENT]  # fmt: skip
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            if not line:
                raise RuntimeError("crib web did not start: its error is above")
            port = int(re.findall(r":(\d+)", line)[0])
            wait_until_prepared(port)
            asyncio.run(play([Player(game) for game in GAMES], port, 2.0, 0.0, None))  # warm
            empty = memory(server.pid)
            ticks = _cpu(server.pid)
            players = [Player(game) for game, _ in zip(cycle(GAMES), range(games), strict=False)]
            enemy = Hostile() if hostile else None
            asyncio.run(play(players, port, seconds, think, enemy))
            full, ticks = memory(server.pid), _cpu(server.pid) - ticks
        finally:
            server.kill()  # the store is whole at any moment
            server.communicate()
        check_store(path, players)
    times = 1000 * np.concatenate([player.times for player in players])
    return {
        "games": games,
        "seconds": seconds,
        "think": think,
        "answers": len(times),
        "finished": sum(player.finished for player in players),
        "p50": float(np.percentile(times, 50)),
        "p99": float(np.percentile(times, 99)),
        "slowest": float(times.max()),
        "memory": full,
        "memory_before": empty,
        "server_cpu": ticks / os.sysconf("SC_CLK_TCK"),
        **({} if enemy is None else {f"hostile {what}": n for what, n in enemy.answers.items()}),
    }


def _cpu(pid: int) -> int:
    """Return the clock ticks a process has used."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Measure how long `crib web` takes to answer with many games at once.

    Attributes:
        games: games at once.
        seconds: for how long.
        think: mean seconds between two turns.
        hostile: beside hostile and slow clients.
    """

    games: Count = 200
    seconds: Annotated[float, Field(gt=0, le=A_DAY)] = 120.0
    think: Annotated[float, Field(ge=0, le=A_DAY)] = 1.0
    hostile: bool = False


def run(settings: Settings) -> None:
    """Measure and print."""
    found = measure(settings.games, settings.seconds, settings.think, settings.hostile)
    for name, value in found.items():
        print(f"{name:14} {value:.1f}")


if __name__ == "__main__":
    start(Settings, run)
