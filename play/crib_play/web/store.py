"""Games that outlive the server: SQLite stores each game's start and every turn since.

A turn is stored together with the agents' answers before any browser learns of it. So a server that
is killed at any moment loses nothing that a browser has seen. Reading does not wait for writing,
and nobody waits longer than `BUSY_SECONDS` for another program that holds the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS tables (
    id TEXT PRIMARY KEY,
    game TEXT NOT NULL,      -- a name of crib_play.table.GAMES
    seats TEXT NOT NULL,     -- JSON: an agent's name, or null for a person
    start TEXT NOT NULL,     -- the first position in notation, its generator included
    chance TEXT NOT NULL,    -- seeds what agents draw
    revision INTEGER NOT NULL,
    touched REAL NOT NULL    -- when it last changed, in seconds since 1970
);
CREATE TABLE IF NOT EXISTS keys (
    id TEXT NOT NULL REFERENCES tables(id),
    seat INTEGER NOT NULL,
    kind TEXT NOT NULL,      -- 'seat': of the cookie that sits there; 'invitation': of a free seat
    digest TEXT NOT NULL,
    PRIMARY KEY (id, seat)
);
CREATE TABLE IF NOT EXISTS turns (
    id TEXT NOT NULL REFERENCES tables(id),
    n INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    actions TEXT NOT NULL,   -- JSON
    PRIMARY KEY (id, n)
);
CREATE INDEX IF NOT EXISTS by_touch ON tables (touched);
"""

SEAT, INVITATION = "seat", "invitation"
OPEN_SECONDS = 5.0  # for which a file that another program holds is waited for when it is opened
BUSY_SECONDS = 0.25  # and later, while people wait
OURS = 0o600  # the file is nobody else's business
Moves = Sequence[tuple[int, tuple[int, ...]]]


@dataclass(frozen=True)
class StoredTable:
    """A table as it is stored.

    Attributes:
        game: the game's name. seats: an agent's name each, or None for a person.
        start: the first position, as notation. chance: seeds what agents draw.
        revision: how often the table has changed.
        turns: seat and actions of each turn.
    """

    game: str
    seats: tuple[str | None, ...]
    start: str
    chance: int
    revision: int = 0
    turns: Moves = ()


class Store:
    """The tables of a server.

    Args:
        path: the file; None keeps them in memory, until the server ends.

    Raises:
        sqlite3.Error: the file cannot be opened or is no store.
    """

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            keep_private(path)
        self._changing = self._reading = _Connection(path)
        db = self._changing.db
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")  # a killed process loses nothing by it
        named = db.execute("SELECT name FROM pragma_table_info('tables')").fetchall()
        if ("made",) in named:  # a store from before tables were forgotten
            db.execute("ALTER TABLE tables RENAME COLUMN made TO touched")
        db.executescript(SCHEMA)
        if path is not None:  # what is in memory has one connection only
            self._reading = _Connection(path)
        for one in (self._changing, self._reading):
            one.db.execute(f"PRAGMA busy_timeout={int(1000 * BUSY_SECONDS)}")

    def close(self) -> None:
        """Close the file."""
        self._changing.close()
        self._reading.close()

    def add(self, table: str, stored: StoredTable, keys: dict[int, tuple[str, str]]) -> None:
        """Keep a new table."""
        rows = [(table, seat, kind, digest(key)) for seat, (kind, key) in keys.items()]
        with self._changing.transaction("IMMEDIATE") as db:
            db.execute(
                "INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?)",
                (table, stored.game, json.dumps(stored.seats), stored.start, str(stored.chance),
                 stored.revision, time.time()),
            )  # fmt: skip
            db.executemany("INSERT INTO keys VALUES (?, ?, ?, ?)", rows)
            _write(db, table, 0, stored.turns)

    def change(self, table: str, revision: int, first: int, turns: Moves) -> bool:
        """Let the turns from ``first`` on be these and the revision rise by one.

        Returns whether that was done: not if the table no longer has this ``revision``.
        """
        with self._changing.transaction("IMMEDIATE") as db:
            changed = db.execute(
                "UPDATE tables SET revision = revision + 1, touched = ? "
                "WHERE id = ? AND revision = ?",
                (time.time(), table, revision),
            ).rowcount
            if changed:
                db.execute("DELETE FROM turns WHERE id = ? AND n >= ?", (table, first))
                _write(db, table, first, turns)
        return changed == 1

    def find(self, table: str) -> StoredTable | None:
        """Return a table, None if there is none of that id."""
        with self._reading.transaction() as db:
            row = db.execute(
                "SELECT game, seats, start, chance, revision FROM tables WHERE id = ?", (table,)
            ).fetchone()
            turns = db.execute(
                "SELECT seat, actions FROM turns WHERE id = ? ORDER BY n", (table,)
            ).fetchall()
        if row is None:
            return None
        game, seats, start, chance, revision = row
        moves = [(seat, tuple(json.loads(actions))) for seat, actions in turns]
        return StoredTable(game, tuple(json.loads(seats)), start, int(chance), revision, moves)

    def forget(self, before: float) -> list[str]:
        """Delete the tables last changed before a time; return which."""
        with self._changing.transaction("IMMEDIATE") as db:
            gone = db.execute(
                "DELETE FROM tables WHERE touched < ? RETURNING id", (before,)
            ).fetchall()
            db.executemany("DELETE FROM keys WHERE id = ?", gone)
            db.executemany("DELETE FROM turns WHERE id = ?", gone)
        return [table for (table,) in gone]

    def seat_of(self, table: str, key: str, kind: str = SEAT) -> int | None:
        """Return the seat that a key opens."""
        with self._reading.transaction() as db:
            row = db.execute(
                "SELECT seat FROM keys WHERE id = ? AND kind = ? AND digest = ?",
                (table, kind, digest(key)),
            ).fetchone()
        return None if row is None else int(row[0])

    def take_seat(self, table: str, invitation: str, key: str) -> int | None:
        """Exchange an invitation for a seat's key; return the seat, None if it is not good."""
        with self._changing.transaction("IMMEDIATE") as db:
            row = db.execute(
                "UPDATE keys SET kind = ?, digest = ? WHERE id = ? AND kind = ? AND digest = ? "
                "RETURNING seat",
                (SEAT, digest(key), table, INVITATION, digest(invitation)),
            ).fetchone()
        return None if row is None else int(row[0])


class _Connection:
    """A connection that threads use in turn."""

    def __init__(self, path: Path | None) -> None:
        self.db = sqlite3.connect(
            ":memory:" if path is None else path, timeout=OPEN_SECONDS, check_same_thread=False,
            isolation_level=None,
        )  # fmt: skip
        self._lock = threading.Lock()
        self._failed = -BUSY_SECONDS

    def close(self) -> None:
        with self._lock:
            self.db.close()

    @contextmanager
    def transaction(self, kind: str = "DEFERRED") -> Iterator[sqlite3.Connection]:
        """Hold the connection in a transaction: all that is read is of one moment."""
        now = time.monotonic()
        with self._lock:
            if self._failed > now - BUSY_SECONDS:
                raise sqlite3.OperationalError("database is locked")
            try:
                with self.db:
                    self.db.execute(f"BEGIN {kind}")
                    yield self.db
            except sqlite3.OperationalError:
                self._failed = time.monotonic()
                raise


def _write(db: sqlite3.Connection, table: str, first: int, turns: Moves) -> None:
    rows = [
        (table, first + i, seat, json.dumps(actions)) for i, (seat, actions) in enumerate(turns)
    ]
    db.executemany("INSERT INTO turns VALUES (?, ?, ?, ?)", rows)


def keep_private(path: Path) -> None:
    """Let nobody but this user read a store's file, nor what SQLite writes beside it."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, OURS))
    for ending in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError, PermissionError):  # none, or another's
            path.with_name(path.name + ending).chmod(OURS)


def digest(key: str) -> str:
    """Return what is stored of a key: who reads the file cannot sit down with it."""
    return hashlib.sha256(key.encode()).hexdigest()
