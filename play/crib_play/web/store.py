"""Games that outlive the server: SQLite keeps where each began and every turn since.

A turn is written together with the agents' answers, before anybody is told of it, so that a server
killed at any moment has lost nothing that a browser has seen.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Sequence
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
Moves = Sequence[tuple[int, tuple[int, ...]]]


@dataclass(frozen=True)
class Kept:
    """A table as it is kept.

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
            path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._db = sqlite3.connect(
            ":memory:" if path is None else path, check_same_thread=False, isolation_level=None
        )
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")  # a killed process loses nothing by it
        named = self._db.execute("SELECT name FROM pragma_table_info('tables')").fetchall()
        if ("made",) in named:  # a store from before tables were forgotten
            self._db.execute("ALTER TABLE tables RENAME COLUMN made TO touched")
        self._db.executescript(SCHEMA)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def add(self, table: str, kept: Kept, keys: dict[int, tuple[str, str]]) -> None:
        """Keep a new table.

        Args:
            keys: by seat of a person, what kind of key opens it, and the key.
        """
        rows = [(table, seat, kind, digest(key)) for seat, (kind, key) in keys.items()]
        with self._lock, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute(
                "INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?)",
                (table, kept.game, json.dumps(kept.seats), kept.start, str(kept.chance),
                 kept.revision, time.time()),
            )  # fmt: skip
            self._db.executemany("INSERT INTO keys VALUES (?, ?, ?, ?)", rows)
            self._write(table, 0, kept.turns)

    def change(self, table: str, revision: int, first: int, turns: Moves) -> bool:
        """Let the turns from ``first`` on be these and the revision rise by one.

        Returns:
            whether that was done: not if the table no longer has this ``revision``.
        """
        with self._lock, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            changed = self._db.execute(
                "UPDATE tables SET revision = revision + 1, touched = ? "
                "WHERE id = ? AND revision = ?",
                (time.time(), table, revision),
            ).rowcount
            if changed:
                self._db.execute("DELETE FROM turns WHERE id = ? AND n >= ?", (table, first))
                self._write(table, first, turns)
        return changed == 1

    def _write(self, table: str, first: int, turns: Moves) -> None:
        rows = [
            (table, first + i, seat, json.dumps(actions)) for i, (seat, actions) in enumerate(turns)
        ]
        self._db.executemany("INSERT INTO turns VALUES (?, ?, ?, ?)", rows)

    def find(self, table: str) -> Kept | None:
        """Return a table, None if there is none of that id."""
        with self._lock:
            row = self._db.execute(
                "SELECT game, seats, start, chance, revision FROM tables WHERE id = ?", (table,)
            ).fetchone()
            turns = self._db.execute(
                "SELECT seat, actions FROM turns WHERE id = ? ORDER BY n", (table,)
            ).fetchall()
        if row is None:
            return None
        game, seats, start, chance, revision = row
        moves = [(seat, tuple(json.loads(actions))) for seat, actions in turns]
        return Kept(game, tuple(json.loads(seats)), start, int(chance), revision, moves)

    def forget(self, before: float) -> list[str]:
        """Delete the tables last changed before a time; return which.

        Args:
            before: in seconds since 1970.
        """
        with self._lock, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            gone = self._db.execute(
                "DELETE FROM tables WHERE touched < ? RETURNING id", (before,)
            ).fetchall()
            self._db.executemany("DELETE FROM keys WHERE id = ?", gone)
            self._db.executemany("DELETE FROM turns WHERE id = ?", gone)
        return [table for (table,) in gone]

    def seat_of(self, table: str, key: str, kind: str = SEAT) -> int | None:
        """Return the seat that a key opens."""
        with self._lock:
            row = self._db.execute(
                "SELECT seat FROM keys WHERE id = ? AND kind = ? AND digest = ?",
                (table, kind, digest(key)),
            ).fetchone()
        return None if row is None else int(row[0])

    def take_seat(self, table: str, invitation: str, key: str) -> int | None:
        """Exchange an invitation for a seat's key; return the seat, None if it is not good."""
        with self._lock, self._db:
            row = self._db.execute(
                "UPDATE keys SET kind = ?, digest = ? WHERE id = ? AND kind = ? AND digest = ? "
                "RETURNING seat",
                (SEAT, digest(key), table, INVITATION, digest(invitation)),
            ).fetchone()
        return None if row is None else int(row[0])


def digest(key: str) -> str:
    """Return what is kept of a key: who reads the file cannot sit down with it."""
    return hashlib.sha256(key.encode()).hexdigest()
