"""Games that outlive the server: a row of JSON for each in SQLite, its start and every turn since.

A turn is stored together with the agents' answers before any browser learns of it. So a server that
is killed at any moment loses nothing that a browser has seen. Nobody waits longer than
`BUSY_SECONDS` for another program that holds the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    id TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    touched REAL NOT NULL,   -- when it last changed, in seconds since 1970
    data TEXT NOT NULL       -- a `StoredTable` as JSON
);
CREATE INDEX IF NOT EXISTS by_last_turn ON games (touched);
"""
OPEN_SECONDS = 5.0  # for which a file that another program holds is waited for when it is opened
BUSY_SECONDS = 0.25  # and later, while people wait
OURS = 0o600  # the file is nobody else's business

Kind = Literal["seat", "invitation"]
SEAT: Kind = "seat"
INVITATION: Kind = "invitation"


class StoredTable(BaseModel):
    """A table as it is stored.

    Attributes:
        game: the game's name. seats: an agent's name each, or None for a person.
        start: the first position, as notation. chance: seeds what agents draw.
        turns: seat and actions of each turn.
        keys: seat, kind and digest of each key.
        people: the names that people gave, by seat.
        undone: how many turns were taken back. resigned: the seat that gave up.
        next: the table at which the same people play again.
    """

    game: str
    seats: tuple[str | None, ...]
    start: str
    chance: int
    turns: list[tuple[int, tuple[int, ...]]] = []
    keys: list[tuple[int, Kind, str]] = []
    people: dict[int, str] = {}
    undone: int = 0
    resigned: int | None = None
    next: str | None = None

    def seat_of(self, key: str, kind: Kind = SEAT) -> int | None:
        """Return the seat that a key opens."""
        return next((seat for seat, *its in self.keys if its == [kind, digest(key)]), None)


class Store:
    """The tables of a server.

    Args:
        path: the file; None keeps them in memory, until the server ends.

    Attributes:
        lasts: whether the tables outlive the server.

    Raises:
        sqlite3.Error: the file cannot be opened or is no store.
    """

    def __init__(self, path: Path | None) -> None:
        self.lasts = path is not None
        if path is not None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            keep_private(path)
        self._db = sqlite3.connect(
            path or ":memory:", timeout=OPEN_SECONDS, check_same_thread=False, isolation_level=None
        )
        self._lock = threading.Lock()
        self._failed, self._why = -BUSY_SECONDS, ""
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")  # a killed process loses nothing by it
        self._db.executescript(SCHEMA)
        self._db.execute(f"PRAGMA busy_timeout={1000 * BUSY_SECONDS:.0f}")
        if path is not None:
            keep_private(path)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def add(self, table: str, stored: StoredTable) -> None:
        """Store a new table."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO games VALUES (?, 0, ?, ?)",
                (table, time.time(), stored.model_dump_json()),
            )

    def change(self, table: str, revision: int, stored: StoredTable, by: int = 1) -> bool:
        """Store a table that was of this revision; return whether it still was."""
        with self._transaction() as db:
            changed = db.execute(
                "UPDATE games SET revision = revision + ?, touched = ?, data = ? "
                "WHERE id = ? AND revision = ?",
                (by, time.time(), stored.model_dump_json(), table, revision),
            )
            return changed.rowcount == 1

    def find(self, table: str) -> tuple[int, StoredTable] | None:
        """Return a table and its revision, None if there is none of that id."""
        with self._transaction() as db:
            row = db.execute("SELECT revision, data FROM games WHERE id = ?", (table,)).fetchone()
        return None if row is None else (row[0], StoredTable.model_validate_json(row[1]))

    def forget(self, before: float) -> list[str]:
        """Delete the tables last changed before a time; return which."""
        with self._transaction() as db:
            gone = db.execute("DELETE FROM games WHERE touched < ? RETURNING id", (before,))
            return [table for (table,) in gone.fetchall()]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection, which threads use in turn; after a failure the next fail at once."""
        now = time.monotonic()
        with self._lock:
            if self._failed > now - BUSY_SECONDS:
                raise sqlite3.OperationalError(self._why)
            try:
                with self._db:
                    yield self._db
            except sqlite3.OperationalError as error:
                self._failed, self._why = time.monotonic(), str(error)
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
