"""The tables of a server: made, found again after a restart, changed one message at a time."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from crib_env.errors import unknown
from crib_env.game import Game
from crib_env.policy import Agent
from crib_play.table import Session, table_game
from crib_play.table.seats import declared_refusal
from crib_play.web.store import INVITATION, SEAT, Store, StoredTable, digest

PERSON = "person"
DAY = 24 * 3600.0
STALE = "the table has changed: look again"
MOST_AWAKE = 1000  # tables held in memory; the others sleep in the store


class StaleError(ValueError):
    """A message about a table as it no longer is: sent again, or overtaken by another."""


class TakenError(ValueError):
    """A seat, or an invitation to one, that is not to be had."""


class NotNowError(ValueError):
    """What is not answered while the game goes on."""


@dataclass
class Table:
    """A table.

    Attributes:
        id: what it is called.
        game: the game's name. seats: an agent's name each, or None for a person.
        session: the game and who sits there.
        revision: how often it has changed; a message that changes it names this number.
        keys: the seats of people who have been here, by the digest of their key.
        lock: held while it changes or is looked at.
    """

    id: str
    game: str
    seats: tuple[str | None, ...]
    session: Session
    revision: int
    keys: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def to_store(self) -> StoredTable:
        """Return the table as the store holds it."""
        session = self.session
        return StoredTable(self.game, self.seats, session.start, session.chance, self.revision,
                    moves(session, 0))  # fmt: skip


class Tables:
    """All tables of a server.

    Args:
        store: where they are stored.
        agents: the names of those that may take a seat.
        seed: deals the same cards at every table, for pictures; None takes fresh entropy each time.
        keep_days: for how long a table is stored at which nobody takes a turn, because its game is
            over or they have left it; 0 keeps all.
    """

    def __init__(
        self,
        store: Store,
        agents: Collection[str],
        seed: int | None = None,
        keep_days: int = 0,
    ) -> None:
        self.store = store
        self.seed = seed
        self.keep_days = keep_days
        self.agents = tuple(agents)
        self._loaded: dict[str, Agent] = {}
        self._awake: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()
        self._loading = threading.Lock()  # takes seconds for some agents, and holds up no table

    def agent(self, name: str) -> Agent:
        """Return one of the server's agents."""
        if name not in self.agents:
            raise unknown("agent", name, self.agents)
        if name not in self._loaded:
            from crib_agents.loading import load_agent  # takes time, and the page comes first

            with self._loading:
                if name not in self._loaded:
                    self._loaded[name] = load_agent(name)
        return self._loaded[name]

    def open(self, game: str, seats: Sequence[str | None], me: int) -> tuple[Table, str, list[str]]:
        """Open a table.

        Returns the table, the key to the seat, and invitations to the other seats of people.
        """
        kind = table_game(game)
        if len(seats) != kind.players or not 0 <= me < kind.players or seats[me] is not None:
            raise ValueError(f"this table has {kind.players} seats, and seat {me} is not free")
        agents = self._seated(seats)
        for agent in agents:
            if agent is not None and (why := declared_refusal(agent, kind)):
                raise ValueError(why)
        session = Session.begin(kind, agents, self.seed)
        key, table = secrets.token_urlsafe(24), secrets.token_urlsafe(9)
        keys = {me: (SEAT, key)}
        for seat in session.people:
            if seat != me:
                keys[seat] = (INVITATION, invitation(key, table, seat))
        session.go_on()
        self.clear_away()
        made = Table(table, game, tuple(seats), session, 0, {digest(key): me})
        self.store.add(table, made.to_store(), keys)
        self._keep_awake(made)
        return made, key, [given for kind_of, given in keys.values() if kind_of == INVITATION]

    def _seated(self, seats: Sequence[str | None]) -> list[Agent | None]:
        return [None if name is None else self.agent(name) for name in seats]

    def seat_of(self, table: str, key: str) -> int | None:
        """Return the seat that a key opens; a table in memory needs no store."""
        known = self._awake.get(table)
        if known is not None and (seat := known.keys.get(digest(key))) is not None:
            return seat
        seat = self.store.seat_of(table, key) if key else None
        if known is not None and seat is not None:
            known.keys[digest(key)] = seat
        return seat

    def invitations(self, table: Table, key: str) -> list[str]:
        """Return the invitations to seats still free, for the key of who opened the table."""
        given = {seat: invitation(key, table.id, seat) for seat in table.session.people}
        if len(given) < 2:
            return []
        try:
            return [one for seat, one in given.items()
                    if self.store.seat_of(table.id, one, INVITATION) == seat]  # fmt: skip
        except sqlite3.Error:  # another program holds the file, and the table is shown all the same
            return []

    def is_awake(self, table: str, key: str) -> bool:
        """Return whether a table and the owner of a key are in memory."""
        known = self._awake.get(table)
        return known is not None and digest(key) in known.keys

    def who(self, table: str) -> tuple[str, Sequence[str | None]] | None:
        """Return a table's game, and its agents' names; None if there is no such table."""
        found = self._awake.get(table) or self.store.find(table)
        return None if found is None else (found.game, found.seats)

    def find(self, table: str) -> Table | None:
        """Return a table, woken from the store if need be; None if there is none."""
        with self._lock:
            known = self._awake.get(table)
        if known is None:
            stored = self.store.find(table)
            if stored is None:
                return None
            known = self._keep_awake(self._wake(table, stored))
        return known

    def _wake(self, table: str, stored: StoredTable) -> Table:
        session = wake(stored, self._seated(stored.seats))
        return Table(table, stored.game, stored.seats, session, stored.revision)

    def _keep_awake(self, table: Table) -> Table:
        with self._lock:
            table = self._awake.setdefault(table.id, table)  # another may have been quicker
            self._awake.move_to_end(table.id)
            while len(self._awake) > MOST_AWAKE:
                oldest = next(iter(self._awake.values()))
                if oldest.lock.locked():
                    break
                del self._awake[oldest.id]
        return table

    def clear_away(self) -> int:
        """Forget the tables that are no longer stored; return how many."""
        if not self.keep_days:
            return 0
        gone = self.store.forget(time.time() - self.keep_days * DAY)
        with self._lock:
            for table in gone:
                self._awake.pop(table, None)
        return len(gone)

    # --- what changes a table; its lock is held ---------------------------------------------------

    def act(self, table: Table, seat: int, revision: int, actions: Sequence[int]) -> int:
        """Take a person's turn and let the agents answer; return how many turns there were."""
        refuse_stale(table, revision)
        session = table.session
        first = len(session.turns)
        with unchanged_if_it_fails(session):
            session.act(seat, actions)
            session.go_on()
            self._change(table, first)
        return first

    def undo(self, table: Table, seat: int, revision: int) -> None:
        """Take a person's last turn back."""
        refuse_stale(table, revision)
        with unchanged_if_it_fails(table.session):
            if not table.session.undo(seat):
                raise ValueError("you have no turn to take back")
            self._change(table, len(table.session.turns))

    def _change(self, table: Table, first: int) -> None:
        """Keep the turns from ``first`` on."""
        if not self.store.change(table.id, table.revision, first, moves(table.session, first)):
            with self._lock:  # another server has the same store
                self._awake.pop(table.id, None)
            raise StaleError(STALE)
        table.revision += 1


def wake(stored: StoredTable, seats: Sequence[Agent | None]) -> Session:
    """Return a stored game, played again as far as it came; ``seats`` as the store names."""
    session = Session(Game.from_notation(stored.start), seats, stored.chance)
    for seat, actions in stored.turns:
        session.act(seat, actions)
    return session


def invitation(key: str, table: str, seat: int) -> str:
    """Return the invitation to a seat, which only the key of who opened the table leads to.

    So it can be shown to them again, although the store keeps no more than its digest.
    """
    made = hmac.digest(key.encode(), f"{table} {seat}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(made[:24]).decode()


@contextmanager
def unchanged_if_it_fails(session: Session) -> Iterator[None]:
    """Let a session be as it was if what is done to it fails: nobody has been told of it."""
    position, turns = session.game.snapshot(), list(session.turns)
    try:
        yield
    except BaseException:
        session.game.restore(position)
        session.turns[:] = turns
        raise


def refuse_stale(table: Table, revision: int) -> None:
    """Raise unless a message is about the table as it is."""
    if revision != table.revision:
        raise StaleError(STALE)


def moves(session: Session, first: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return seat and actions of the turns from ``first`` on."""
    return [(turn.seat, turn.actions) for turn in session.turns[first:]]
