"""Games that outlive the server: a row of JSON for each in SQLite, its start and every turn since.

A turn is stored together with the agents' answers before any browser learns of it. So a server that
is killed at any moment loses nothing that a browser has seen. A request waits at most
`BUSY_SECONDS` for another program that holds the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

# `touched` is when a table last changed, in seconds since 1970; `data` a `StoredTable` as JSON.
SCHEMA = """
CREATE TABLE IF NOT EXISTS games
    (id TEXT PRIMARY KEY, revision INTEGER NOT NULL, touched REAL NOT NULL, data TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS by_last_turn ON games (touched);
"""
NAMES = ("id", "revision", "touched", "data")
COLUMNS = """SELECT found.name, its.name FROM sqlite_master found, pragma_table_info(found.name) its
    WHERE found.type = 'table'"""
OPEN_SECONDS = 5.0  # to wait, on opening, for a program that holds the file
BUSY_SECONDS = 0.25  # to wait later, in a request
OURS = 0o600  # readable by its owner alone

Kind = Literal["seat", "invitation"]
SEAT: Kind = "seat"
INVITATION: Kind = "invitation"


class StoredTable(BaseModel):
    """A table as it is stored."""

    game: str
    seats: tuple[str | None, ...]  # an agent's name each, or None for a person
    start: str  # the first position, as notation
    chance: int  # seeds the agents' draws
    turns: list[tuple[int, tuple[int, ...]]] = []  # seat and actions
    keys: list[tuple[int, Kind, str]] = []  # seat, kind and digest
    people: dict[int, str] = {}  # the names that people gave, by seat
    undone: int = 0  # how many turns were taken back
    resigned: int | None = None  # the seat that gave up
    next: str | None = None  # the table at which the same people play again

    def seat_of(self, key: str, kind: Kind = SEAT) -> int | None:
        """Return the seat that a key opens."""
        return next((seat for seat, *its in self.keys if its == [kind, digest(key)]), None)


class Store:
    """The tables of a server, in a file that ``lasts``, or in memory without a path."""

    def __init__(self, path: Path | None) -> None:
        self.lasts = path is not None
        if path is not None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                path.touch(OURS, exist_ok=False)
        self._db = sqlite3.connect(
            path or ":memory:", timeout=OPEN_SECONDS, check_same_thread=False, isolation_level=None
        )
        self._lock = threading.Lock()
        self._failed, self._why = -BUSY_SECONDS, ""
        try:
            self._begin(path)
        except BaseException:
            self._db.close()
            raise

    def _begin(self, path: Path | None) -> None:
        """Set up the file for its owner alone; raise if it is another program's."""
        if not set(self._db.execute(COLUMNS)) <= {("games", name) for name in NAMES}:
            raise sqlite3.DatabaseError("it is no store of games")
        for ending in ("", "-wal", "-shm", "-journal") if path else ():
            with contextlib.suppress(FileNotFoundError, PermissionError):  # absent, or another user's
                Path(f"{path}{ending}").chmod(OURS)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")  # a killed process loses nothing by it
        self._db.executescript(SCHEMA)
        self._db.execute(f"PRAGMA busy_timeout={1000 * BUSY_SECONDS:.0f}")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def add(self, table: str, stored: StoredTable) -> None:
        """Store a new table."""
        row = table, 0, time.time(), stored.model_dump_json()
        with self._transaction() as db:
            db.execute("INSERT INTO games VALUES (?, ?, ?, ?)", row)

    def change(self, table: str, revision: int, stored: StoredTable, by: int = 1) -> bool:
        """Store a table that was of this revision; return whether it still was."""
        with self._transaction() as db:
            changed = db.execute(
                "UPDATE games SET revision = revision + ?, touched = ?, data = ? WHERE id = ? AND revision = ?",
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
        """Hold the shared connection; for `BUSY_SECONDS` after a failure, raise at once."""
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


def digest(key: str) -> str:
    """Hash a seat key for storage, so that the file opens no seat."""
    return hashlib.sha256(key.encode()).hexdigest()
