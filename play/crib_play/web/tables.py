"""The tables of a server: made, found again after a restart, changed one message at a time."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

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
        id: what it is called. session: the game and who sits there.
        stored: the table as the store holds it.
        revision: how often it has changed; a message that changes it names this number.
        lock: held while it changes or is looked at.
    """

    id: str
    session: Session
    stored: StoredTable
    revision: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def invitations(self, key: str) -> list[str]:
        """Return the invitations to seats still free, for the key of who opened the table."""
        given = {seat: invitation(key, self.id, seat) for seat in self.session.people}
        return [one for seat, one in given.items() if self.stored.seat_of(one, INVITATION) == seat]


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
        self, store: Store, agents: Collection[str], seed: int | None = None, keep_days: int = 0
    ) -> None:
        self.store, self.seed, self.keep_days = store, seed, keep_days
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
            from crib_play.table.levels import load_player  # takes time; the page comes first

            with self._loading:
                if name not in self._loaded:
                    self._loaded[name] = load_player(name)
        return self._loaded[name]

    def open(
        self, game: str, seats: Sequence[str | None], me: int, name: str = ""
    ) -> tuple[Table, str]:
        """Open a table for a person with a name; return it and the key to the seat."""
        kind = table_game(game)
        if len(seats) != kind.players or not 0 <= me < kind.players or seats[me] is not None:
            raise ValueError(f"this table has {kind.players} seats, and seat {me} is not free")
        key, table = secrets.token_urlsafe(24), secrets.token_urlsafe(9)
        keys = [
            (seat, INVITATION, digest(invitation(key, table, seat)))
            for seat, who in enumerate(seats)
            if who is None and seat != me
        ]
        keys.append((me, SEAT, digest(key)))
        return self._begin(table, game, seats, keys, {me: name} if name else {}), key

    def _begin(
        self,
        table: str,
        game: str,
        seats: Sequence[str | None],
        keys: Sequence[tuple[int, str, str]],
        people: dict[int, str],
    ) -> Table:
        kind = table_game(game)
        agents = self._seated(seats)
        for agent in agents:
            if agent is not None and (why := declared_refusal(agent, kind)):
                raise ValueError(why)
        session = Session.begin(kind, agents, self.seed)
        session.go_on()
        stored = StoredTable.model_validate(
            {"game": game, "seats": seats, "start": session.start, "chance": session.chance,
             "turns": moves(session), "keys": keys, "people": people}
        )  # fmt: skip
        self.clear_away()
        self.store.add(table, stored)
        return self._keep_awake(Table(table, session, stored))

    def _seated(self, seats: Sequence[str | None]) -> list[Agent | None]:
        return [None if name is None else self.agent(name) for name in seats]

    def stored(self, table: str) -> StoredTable | None:
        """Return a table as it is stored, without waking it; None if there is none."""
        with self._lock:
            known = self._awake.get(table)
        found = None if known is not None else self.store.find(table)
        return known.stored if known is not None else found and found[1]

    def is_awake(self, table: str) -> bool:
        """Return whether a table is in memory."""
        return table in self._awake

    def find(self, table: str) -> Table | None:
        """Return a table, woken from the store if need be; None if there is none."""
        with self._lock:
            known = self._awake.get(table)
        if known is None and (found := self.store.find(table)):
            revision, stored = found
            session = wake(stored, self._seated(stored.seats))
            known = self._keep_awake(Table(table, session, stored, revision))
        return known

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
        gone = self.store.forget(time.time() - self.keep_days * DAY) if self.keep_days else []
        with self._lock:
            for table in gone:
                self._awake.pop(table, None)
        return len(gone)

    # --- what changes a table; its lock is held ---------------------------------------------------

    def act(self, table: Table, seat: int, revision: int, actions: Sequence[int]) -> int:
        """Take a person's turn and let the agents answer; return how many turns there were."""
        first = len(table.session.turns)
        with self._changing(table, revision):
            table.session.act(seat, actions)
            table.session.go_on()
        return first

    def undo(self, table: Table, seat: int, revision: int) -> None:
        """Take a person's last turn back."""
        with self._changing(table, revision, undone=table.stored.undone + 1):
            if not table.session.undo(seat):
                raise ValueError("you have no turn to take back")

    def resign(self, table: Table, seat: int, revision: int) -> None:
        """Give the game up for a person."""
        with self._changing(table, revision):
            table.session.resign(seat)

    def sit(self, table: Table, invited: str, key: str, name: str) -> int:
        """Exchange an invitation for a seat's key; return the seat."""
        seat = table.stored.seat_of(invited, INVITATION)
        if seat is None:
            raise TakenError("this invitation is wrong or no longer valid")
        keys = [one for one in table.stored.keys if one[0] != seat]
        people = {**table.stored.people, **({seat: name} if name else {})}
        self._store(table, by=0, keys=[*keys, (seat, SEAT, digest(key))], people=people)
        return seat

    def again(self, table: Table) -> Table:
        """Return the table at which the same people play the same game again."""
        stored = table.stored
        if not table.session.over:
            raise NotNowError("you play again when this game is over")
        if stored.next is None or self.stored(stored.next) is None:
            name = secrets.token_urlsafe(9)
            keys = [(seat, str(kind), its) for seat, kind, its in stored.keys if kind == SEAT]
            self._begin(name, stored.game, stored.seats, keys, stored.people)
            self._store(table, next=name)
        found = self.find(str(table.stored.next))
        assert found is not None
        return found

    @contextmanager
    def _changing(self, table: Table, revision: int, **more: Any) -> Iterator[None]:
        """Store what is done to a table of this revision; undo it all if something fails."""
        if revision != table.revision:
            raise StaleError(STALE)
        session = table.session
        position, turns, resigned = session.game.snapshot(), list(session.turns), session.resigned
        try:
            yield
            changed = {"turns": moves(session), "resigned": session.resigned, **more}
            self._store(table, **changed)
        except BaseException:  # nobody has been told of it
            session.game.restore(position)
            session.turns[:] = turns
            session.resigned = resigned
            raise

    def _store(self, table: Table, by: int = 1, **changed: Any) -> None:
        stored = table.stored.model_copy(update=changed)
        if not self.store.change(table.id, table.revision, stored, by):
            with self._lock:  # another server has the same store
                self._awake.pop(table.id, None)
            raise StaleError(STALE)
        table.stored, table.revision = stored, table.revision + by


def wake(stored: StoredTable, seats: Sequence[Agent | None]) -> Session:
    """Return a stored game, played again as far as it came; ``seats`` as the store names."""
    session = Session(Game.from_notation(stored.start), seats, stored.chance)
    for seat, actions in stored.turns:
        session.act(seat, actions)
    session.resigned = stored.resigned
    return session


def invitation(key: str, table: str, seat: int) -> str:
    """Return the invitation to a seat, which only the key of who opened the table leads to.

    So it can be shown to them again, although the store keeps no more than its digest.
    """
    made = hmac.digest(key.encode(), f"{table} {seat}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(made[:24]).decode()


def moves(session: Session) -> list[tuple[int, tuple[int, ...]]]:
    """Return seat and actions of every turn."""
    return [(turn.seat, turn.actions) for turn in session.turns]
