"""Games that outlive the server: a row of JSON for each in SQLite, its start and every turn since.

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
from typing import Any

SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    id TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    touched REAL NOT NULL,   -- when it last changed, in seconds since 1970
    data TEXT NOT NULL       -- JSON: a `StoredTable`, and "keys": seat, kind and digest of each
);
CREATE INDEX IF NOT EXISTS by_last_turn ON games (touched);
"""
# A store of three SQL tables, as it was before: its games go on.
MOVE = """
BEGIN IMMEDIATE;
INSERT INTO games SELECT id, revision, touched, json_object(
    'game', game, 'seats', json(seats), 'start', start, 'chance', chance,
    'turns', (SELECT json_group_array(json_array(seat, json(actions)))
              FROM (SELECT * FROM turns WHERE turns.id = tables.id ORDER BY n)),
    'keys', (SELECT json_group_array(json_array(seat, kind, digest))
             FROM keys WHERE keys.id = tables.id)
) FROM tables;
DROP TABLE turns;
DROP TABLE keys;
DROP TABLE tables;
COMMIT;
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
        if named:
            db.executescript(MOVE)
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
        data = {
            "game": stored.game, "seats": stored.seats, "start": stored.start,
            "chance": str(stored.chance), "turns": stored.turns,
            "keys": [(seat, kind, digest(key)) for seat, (kind, key) in keys.items()],
        }  # fmt: skip
        with self._changing.transaction("IMMEDIATE") as db:
            db.execute(
                "INSERT INTO games VALUES (?, ?, ?, ?)",
                (table, stored.revision, time.time(), json.dumps(data)),
            )

    def change(self, table: str, revision: int, first: int, turns: Moves) -> bool:
        """Let the turns from ``first`` on be these and the revision rise by one.

        Returns whether that was done: not if the table no longer has this ``revision``.
        """
        with self._changing.transaction("IMMEDIATE") as db:
            data = _data(db, table, revision)
            if data is not None:
                data["turns"][first:] = turns
                db.execute(
                    "UPDATE games SET revision = revision + 1, touched = ?, data = ? WHERE id = ?",
                    (time.time(), json.dumps(data), table),
                )
        return data is not None

    def find(self, table: str) -> StoredTable | None:
        """Return a table, None if there is none of that id."""
        with self._reading.transaction() as db:
            row = db.execute("SELECT revision, data FROM games WHERE id = ?", (table,)).fetchone()
        if row is None:
            return None
        data = json.loads(row[1])
        turns = [(seat, tuple(actions)) for seat, actions in data["turns"]]
        return StoredTable(
            data["game"], tuple(data["seats"]), data["start"], int(data["chance"]), row[0], turns
        )

    def forget(self, before: float) -> list[str]:
        """Delete the tables last changed before a time; return which."""
        with self._changing.transaction("IMMEDIATE") as db:
            gone = db.execute("DELETE FROM games WHERE touched < ? RETURNING id", (before,))
            return [table for (table,) in gone.fetchall()]

    def seat_of(self, table: str, key: str, kind: str = SEAT) -> int | None:
        """Return the seat that a key opens."""
        with self._reading.transaction() as db:
            data = _data(db, table)
        keys = [] if data is None else data["keys"]
        return next((seat for seat, *its in keys if its == [kind, digest(key)]), None)

    def take_seat(self, table: str, invitation: str, key: str) -> int | None:
        """Exchange an invitation for a seat's key; return the seat, None if it is not good."""
        with self._changing.transaction("IMMEDIATE") as db:
            data = _data(db, table)
            for one in [] if data is None else data["keys"]:
                if one[1:] == [INVITATION, digest(invitation)]:
                    one[1:] = SEAT, digest(key)
                    db.execute("UPDATE games SET data = ? WHERE id = ?", (json.dumps(data), table))
                    return int(one[0])
        return None


def _data(db: sqlite3.Connection, table: str, revision: int | None = None) -> Any:
    """Return what is stored of a table; None if there is none, or none of this revision."""
    row = db.execute("SELECT revision, data FROM games WHERE id = ?", (table,)).fetchone()
    return None if row is None or revision not in (None, row[0]) else json.loads(row[1])


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


def keep_private(path: Path) -> None:
    """Let nobody but this user read a store's file, nor what SQLite writes beside it."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, OURS))
    for ending in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError, PermissionError):  # none, or another's
            path.with_name(path.name + ending).chmod(OURS)


def digest(key: str) -> str:
    """Return what is stored of a key: who reads the file cannot sit down with it."""
    return hashlib.sha256(key.encode()).hexdigest()
