"""`crib web` beside slow, many or hostile clients: other players are not delayed."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor
from contextlib import closing, suppress
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from crib_play.web import beside
from crib_play.web.app import SEAT
from crib_play.web.beside import MOST_WAITING, RULES, Beside, Finished, WorkError, prepare, replay
from crib_play.web.store import BUSY_SECONDS, Store, StoredTable

from benchmarks.web import GAMES, measure
from served import ASKED, Server, choice, play_out, serving

AGENTS = ("--agents", "greedy")
PATIENCE = 2.0  # seconds for a body
SHORT = f"from crib_play.web import messages; messages.BODY_SECONDS = {PATIENCE}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """A server for tests that leave it as it was, with its games in the folder."""
    with serving(folder, *AGENTS, before=f"{ASKED}\n{SHORT}") as one:
        yield one


def test_web_local_server_prints_no_warning(server: Server) -> None:
    assert "anyone" not in server.printed
    assert server.ask("/api/offers").body["addresses"] == []
    assert server.ask("/", host="evil.example").status == 400


@pytest.mark.slow
def test_web_first_page_is_quick_with_an_empty_cache(tmp_path: Path) -> None:
    """In CPU seconds relative to an import of Numba: the machine may be busy or slow."""
    before = os.times().children_user
    subprocess.run([sys.executable, "-c", "import numba"], check=True)
    imported = os.times().children_user - before
    with serving(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) as server:
        assert server.ask("/").status == 200
        assert server.ask("/page/app.js").status == 200
        assert {game["name"] for game in server.ask("/api/offers").body["games"]} >= {"six"}
        words = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
        seconds = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        assert seconds < 5 * imported  # compiling takes fifty times as long
        done = server.ask("/api/prepared").body
        assert done["done"] < done["of"], "it is compiled beside the server, from the start"


def test_web_signal_ends_the_server_during_preparation(tmp_path: Path) -> None:
    with serving(tmp_path, *AGENTS, NUMBA_CACHE_DIR=str(tmp_path / "cache")) as server:
        with ThreadPoolExecutor(1) as waiting:
            asked = waiting.submit(server.ask, "/api/tables", {"game": "six", "opponent": "greedy"})
            time.sleep(0.3)
            assert not asked.done()
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(300)
        assert time.monotonic() - began < 15
        assert asked.result().status == 503


def test_web_replay_requests_do_not_delay_others(server: Server) -> None:
    mine, cookie = server.sit_down(game="five")
    over = play_out(server, mine, cookie)
    path = f"/api/tables/{over['table']}/replay"
    fair, key = server.sit_down()
    with ThreadPoolExecutor(60) as hostile:
        requests = [hostile.submit(server.ask, path, None, cookie) for _ in range(60)]
        times = []
        while not all(one.done() for one in requests):
            began = time.monotonic()
            assert server.ask(f"/api/tables/{fair['table']}", None, key).status == 200
            times.append(time.monotonic() - began)
            time.sleep(0.02)
    statuses = [one.result().status for one in requests]
    assert set(statuses) == {200, 429}
    assert statuses.count(200) >= SEAT
    assert "wait for an answer" in next(o.result().body["error"] for o in requests if o.result().status == 429)
    assert sorted(times)[len(times) * 99 // 100] < 1.0
    began = time.monotonic()
    again = server.ask(path, None, cookie)
    assert time.monotonic() - began < 0.5, "it is not made a second time"
    assert again.body == next(o.result().body for o in requests if o.result().status == 200)


def closed_after(connection: socket.socket) -> float:
    """Return how many seconds the other side takes to close a connection."""
    began = time.monotonic()
    with suppress(ConnectionError):
        while connection.recv(1 << 16):
            pass
    return time.monotonic() - began


HEAD = b"POST /api/tables HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n"
LATE = (b"Content-Length: 100\r\n\r\n{", b"Content-Length: 99999\r\n\r\n{")  # half a body, and one too large


def test_web_endless_messages_are_answered_and_idle_connections_delay_no_client(server: Server) -> None:
    idle = [server.connect(sent) for sent in (b"", b"GET / HTTP/1.1\r\nHost: ") * 100]
    late = [server.connect(HEAD + sent) for sent in LATE]
    began = time.monotonic()
    assert server.ask("/").status == 200
    assert time.monotonic() - began < PATIENCE + 8
    with ThreadPoolExecutor(len(late)) as waiting:
        assert max(waiting.map(closed_after, late)) < PATIENCE + 8
    for one in idle:
        one.close()


def test_web_request_heads_are_bounded(server: Server) -> None:
    for size in (9_000, 70_000):
        head = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * size + b"\r\n\r\n"
        with closing(server.connect()) as connection:
            try:
                connection.sendall(head)
                status = connection.recv(100).split()[1]
            except ConnectionError:  # closed before all was sent
                status = b"431"
            assert status in (b"400", b"431"), size
    assert server.ask("/").status == 200


def test_web_locked_store_serves_views_and_refuses_turns(server: Server, folder: Path) -> None:
    shown, cookie = server.sit_down()
    path = f"/api/tables/{shown['table']}"
    act = {"revision": 0, "actions": choice(shown), "since": shown["turns"]}
    with closing(sqlite3.connect(folder / "games/tables.sqlite3")) as other:
        other.execute("BEGIN EXCLUSIVE")
        with ThreadPoolExecutor(30) as pool:
            turns = [pool.submit(server.ask, f"{path}/act", act, cookie) for _ in range(3)]
            offer = {"game": "six", "opponent": "greedy"}
            opened = [pool.submit(server.ask, "/api/tables", offer) for _ in range(20)]
            time.sleep(0.1)
            began = time.monotonic()
            looked = server.ask("/api/prepared"), server.ask(path, None, cookie)
            seconds = time.monotonic() - began
        assert [one.status for one in looked] == [200, 200]
        assert seconds < 4.0
        for one in (*turns, *opened):
            assert one.result().status == 503
            assert "try again in a moment" in one.result().body["error"]
        other.rollback()
    assert server.ask(path, None, cookie).body["revision"] == 0
    time.sleep(2 * BUSY_SECONDS)  # a moment
    assert server.ask(f"{path}/act", act, cookie).status == 200


def test_web_store_is_private(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        folder = tmp_path / "games"
        stored = StoredTable(game="six", seats=(None, "greedy"), start="a line", chance=1)
        with closing(Store(folder / "tables.sqlite3")) as store:
            store.add("one", stored)
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            names = {file.name: oct(stat.S_IMODE(file.stat().st_mode)) for file in folder.iterdir()}
            assert set(names) == {f"tables.sqlite3{end}" for end in ("", "-wal", "-shm")}
            assert set(names.values()) == {"0o600"}
            for file in folder.iterdir():  # one of an older version
                file.chmod(0o644)
            with closing(Store(folder / "tables.sqlite3")) as again:
                again.add("two", stored)
                modes = {oct(stat.S_IMODE(file.stat().st_mode)) for file in folder.iterdir()}
                assert modes == {"0o600"}
    finally:
        os.umask(old)


# --- in this process ------------------------------------------------------------------------------


class Slow:
    """A worker that answers when the test releases it."""

    def __init__(self) -> None:
        self.requests: list[Future[Any]] = []

    async def do(self, task: Any, *given: Any) -> Any:
        self.requests.append(Future())
        return await asyncio.wrap_future(self.requests[-1])


def test_web_finished_game_results_are_cached_with_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "MOST_BYTES", 200)
    slow = Slow()
    finished = Finished(slow)  # type: ignore[arg-type]

    async def ask() -> None:
        waiting = [asyncio.create_task(finished.get(replay, "one")) for _ in range(60)]
        gone = asyncio.create_task(finished.get(replay, "one"))
        await asyncio.sleep(0.01)
        assert len(slow.requests) == 1
        gone.cancel()  # a cancelled request does not stop the others
        await asyncio.sleep(0)
        slow.requests[0].set_result(b"page")
        found = await asyncio.gather(*waiting)
        assert set(found) == {b"page"}
        assert await finished.get(replay, "one") == found[0]
        assert len(slow.requests) == 1
        for name in range(50):
            one = asyncio.create_task(finished.get(replay, f"game {name}"))
            await asyncio.sleep(0.01)
            slow.requests[-1].set_result(b"page %4d" % name)
            await one
        assert 180 < sum(len(one.result()) for one in finished._made.values()) <= 200
        requests = len(slow.requests)
        lost = asyncio.create_task(finished.get(replay, "fails"))
        await asyncio.sleep(0.01)
        slow.requests[-1].set_exception(WorkError("no"))
        with pytest.raises(WorkError, match=r"^no$"):
            await lost
        more = [asyncio.create_task(finished.get(replay, f"{i}")) for i in range(MOST_WAITING + 1)]
        done, _ = await asyncio.wait(more, return_when=asyncio.FIRST_COMPLETED, timeout=1)
        assert str(next(iter(done)).exception()).startswith("429: many reviews")
        assert len(slow.requests) == requests + 1 + MOST_WAITING
        for made in slow.requests[requests:]:
            if not made.done():
                made.set_result(b"")
        await asyncio.gather(*more, return_exceptions=True)

    asyncio.run(ask())


def test_web_worker_failure_is_reported_and_next_task_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """`close` also ends a busy or starting worker: after Ctrl-C no compilation holds the server."""
    before = {one.pid for one in active_children()}
    worker = Beside()
    try:
        with pytest.raises(WorkError, match="no game is called 'bridge'"):
            worker.submit(prepare, RULES, ["bridge"]).result()
        pid = worker.submit(os.getpid).result()
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(BrokenExecutor):
            worker.submit(time.sleep, 60).result()
        monkeypatch.setattr(beside, "LONGEST", 0.5)  # a task over its time ends with its process
        with pytest.raises(BrokenExecutor):
            worker.submit(time.sleep, 600).result(timeout=300)
        monkeypatch.undo()
        assert worker.submit(os.getpid).result() != pid
        last = worker.submit(time.sleep, 600)
    finally:
        worker.close()
    starting = Beside()
    tasks = last, starting.submit(time.sleep, 600)
    starting.close()
    for task in tasks:
        with pytest.raises((BrokenExecutor, CancelledError)):
            task.result(timeout=300)
    with pytest.raises(WorkError, match="the server is closing"):
        worker.submit(os.getpid)
    until = time.monotonic() + 300
    while {one.pid for one in active_children()} - before:
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_web_killed_server_leaves_no_worker(tmp_path: Path) -> None:
    code = """import os, time
from crib_play.web.beside import Beside
one = Beside()
print(one.submit(os.getpid).result(), flush=True)
time.sleep(600)"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        server.kill()
    until = time.monotonic() + 300
    while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < until
        time.sleep(0.1)


# --- many games at once ---------------------------------------------------------------------------


@pytest.mark.slow
def test_web_games_played_at_once_stay_apart() -> None:
    """`measure` asserts that every answer belongs to its table; the server is killed first."""
    found = measure(games=24, seconds=15.0, think=0.5)
    assert found["answers"] > 24 * 3
    assert found["memory"] - found["memory_before"] < 64
    assert len(GAMES) > 3


@pytest.mark.slow
def test_web_answers_within_a_second_beside_hostile_clients() -> None:
    found = measure(games=8, seconds=20.0, think=0.5, hostile=True)
    assert found["hostile 429"] > 100
    assert found["hostile half open"] > 5
    busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))  # load of the machine per core
    assert found["p99"] < 1000 * busy
