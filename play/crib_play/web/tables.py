"""The tables of a server: made, found again after a restart, changed one message at a time."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from crib_agents.loading import load_agent

from crib_env.errors import unknown
from crib_env.game import Game
from crib_env.policy import Agent
from crib_play.table import Session, find_game
from crib_play.web.store import INVITATION, SEAT, Kept, Store

PERSON = "person"
DAY = 24 * 3600.0
STALE = "the table has changed since: look again"
MOST_AWAKE = 1000  # tables held in memory; the others sleep in the store


class StaleError(ValueError):
    """A message about a table as it no longer is: sent again, or overtaken by another."""


class TakenError(ValueError):
    """A seat, or an invitation to one, that is not to be had."""


@dataclass
class Table:
    """A table.

    Attributes:
        id: what it is called.
        game: the game's name.
        session: the game and who sits there.
        revision: how often it has changed; a message that changes it names this number.
        lock: held while it changes or is looked at.
    """

    id: str
    game: str
    session: Session
    revision: int
    lock: threading.Lock = field(default_factory=threading.Lock)


class Tables:
    """All tables of a server.

    Args:
        store: where they are kept.
        agents: the names of those who may be asked to sit down.
        seed: deals the same cards at every table, for pictures; None takes fresh entropy each time.
        keep_days: for how long a table is kept at which nobody takes a turn, because its game is
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

    def agent(self, name: str) -> Agent:
        """Return one of the server's agents.

        Raises:
            ValueError: it has none of that name.
        """
        if name not in self.agents:
            raise unknown("agent", name, self.agents)
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = load_agent(name)
            return self._loaded[name]

    def open(self, game: str, seats: Sequence[str | None], me: int) -> tuple[Table, str, list[str]]:
        """Open a table.

        Args:
            game: the game's name. seats: an agent's name each, or None for a person.
            me: the seat of who opens it.

        Returns:
            the table, the key to the seat, and invitations to the other seats of people.

        Raises:
            ValueError: no such game, seat or agent.
        """
        kind = find_game(game)
        if len(seats) != kind.players or not 0 <= me < kind.players or seats[me] is not None:
            raise ValueError(f"{kind.players} sit at this table, and seat {me} is not free")
        session = Session.begin(kind, self._seated(seats), self.seed)
        key, table = secrets.token_urlsafe(24), secrets.token_urlsafe(9)
        keys = {me: (SEAT, key)}
        for seat in session.people:
            if seat != me:
                keys[seat] = (INVITATION, secrets.token_urlsafe(24))
        session.go_on()
        self.clear_away()
        self.store.add(
            table,
            Kept(game, tuple(seats), session.start, session.chance, 0, moves(session, 0)),
            keys,
        )
        made = Table(table, game, session, 0)
        self._keep_awake(made)
        return made, key, [given for kind_of, given in keys.values() if kind_of == INVITATION]

    def _seated(self, seats: Sequence[str | None]) -> list[Agent | None]:
        return [None if name is None else self.agent(name) for name in seats]

    def find(self, table: str) -> Table | None:
        """Return a table, woken from the store if need be; None if there is none."""
        with self._lock:
            known = self._awake.get(table)
        if known is None:
            kept = self.store.find(table)
            if kept is None:
                return None
            known = self._keep_awake(self._wake(table, kept))
        return known

    def _wake(self, table: str, kept: Kept) -> Table:
        game = Game.from_notation(kept.start)
        session = Session(game, self._seated(kept.seats), kept.chance)
        for seat, actions in kept.turns:
            session.act(seat, actions)
        return Table(table, kept.game, session, kept.revision)

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
        """Forget the tables that are no longer kept; return how many."""
        if not self.keep_days:
            return 0
        gone = self.store.forget(time.time() - self.keep_days * DAY)
        with self._lock:
            for table in gone:
                self._awake.pop(table, None)
        return len(gone)

    # --- what changes a table; its lock is held ---------------------------------------------------

    def act(self, table: Table, seat: int, revision: int, actions: Sequence[int]) -> int:
        """Take a person's turn and let the agents answer; return how many turns there were.

        Raises:
            StaleError: the table has changed since ``revision``.
            ValueError: see `Session.act`. In each case nothing has changed.
        """
        refuse_stale(table, revision)
        session = table.session
        first = len(session.turns)
        with unchanged_if_it_fails(session):
            session.act(seat, actions)
            session.go_on()
            self._change(table, first)
        return first

    def undo(self, table: Table, seat: int, revision: int) -> None:
        """Take a person's last turn back.

        Raises:
            StaleError: the table has changed since ``revision``.
            ValueError: others sit there, or there is nothing to take back.
        """
        refuse_stale(table, revision)
        with unchanged_if_it_fails(table.session):
            if not table.session.undo(seat):
                raise ValueError("there is nothing of yours to take back")
            self._change(table, len(table.session.turns))

    def _change(self, table: Table, first: int) -> None:
        """Keep the turns from ``first`` on."""
        if not self.store.change(table.id, table.revision, first, moves(table.session, first)):
            with self._lock:  # another server has the same store
                self._awake.pop(table.id, None)
            raise StaleError(STALE)
        table.revision += 1


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
