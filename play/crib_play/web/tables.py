"""The tables of a server: opened, restored after a restart, changed one message at a time."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from starlette.exceptions import HTTPException

from crib_env.errors import unknown
from crib_env.game import Game
from crib_env.policy import Agent
from crib_play.table import Session, table_game
from crib_play.table.seats import load_player
from crib_play.web.store import INVITATION, SEAT, Store, StoredTable, digest

PERSON = "person"
DAY = 24 * 3600.0
STALE = "the table has changed: look again"
MOST_HELD = 1000  # tables held in memory; the others are in the store alone

Load = Callable[[str], Agent]


class Table:
    """A table; hold its lock to use its session. ``revision`` counts its changes."""

    def __init__(
        self, tables: Tables, name: str, stored: StoredTable, revision: int = 0, session: Session | None = None
    ) -> None:
        self.id, self.stored, self.revision = name, stored, revision
        self._tables, self._session = tables, session
        self.lock = threading.Lock()

    @property
    def session(self) -> Session:
        """The session, replayed from the store if it is not in memory."""
        if self._session is None:
            self._session = wake(self.stored, self._tables.agent)
        return self._session

    @property
    def awake(self) -> bool:
        """Whether the game is in memory."""
        return self._session is not None

    def invitations(self, key: str) -> list[str]:
        """Return the invitations to seats still free, for the opener's key."""
        free = [seat for seat, kind, _ in self.stored.keys if kind == INVITATION]
        given = {seat: invitation(key, self.id, seat) for seat in sorted(free)}
        return [one for seat, one in given.items() if self.stored.seat_of(one, INVITATION) == seat]

    def act(self, seat: int, revision: int, actions: Sequence[int]) -> int:
        """Take a person's turn and the agents' next ones; return the number of turns before."""
        first = len(self.session.turns)
        with self._changing(revision):
            self.session.act(seat, actions)
            self.session.go_on()
        return first

    def undo(self, seat: int, revision: int) -> None:
        """Take a person's last turn back."""
        with self._changing(revision, undone=self.stored.undone + 1):
            if not self.session.undo(seat):
                raise ValueError("you have no turn to take back")

    def resign(self, seat: int, revision: int) -> None:
        """Resign the game for a person."""
        with self._changing(revision):
            self.session.resign(seat)

    def sit(self, invited: str, key: str, name: str) -> int:
        """Exchange an invitation for a seat's key; return the seat."""
        seat = self.stored.seat_of(invited, INVITATION)
        if seat is None:
            raise HTTPException(403, "this invitation is wrong or no longer valid")
        keys = [one for one in self.stored.keys if one[0] != seat]
        people = {**self.stored.people, **({seat: name} if name else {})}
        self.keep(by=0, keys=[*keys, (seat, SEAT, digest(key))], people=people)
        return seat

    def again(self) -> Table:
        """Return the table at which the same people play the same game again."""
        stored, tables = self.stored, self._tables
        if not self.session.over:
            raise HTTPException(403, "you play again when this game is over")
        if any(kind == INVITATION for _, kind, _ in stored.keys):
            raise HTTPException(403, "nobody to play again with: an invited player did not come")
        if stored.next is None or tables.look_up(stored.next) is None:
            name = secrets.token_urlsafe(9)
            keys = [(seat, str(kind), its) for seat, kind, its in stored.keys if kind == SEAT]
            tables.begin(name, stored.game, stored.seats, keys, stored.people)
            self.keep(next=name)
        return tables.find(str(self.stored.next))

    @contextmanager
    def _changing(self, revision: int, **more: Any) -> Iterator[None]:
        """Store the changes to a table of this revision; undo them all on an error."""
        if revision != self.revision:
            raise HTTPException(409, STALE)
        session = self.session
        position, turns, resigned = session.game.snapshot(), list(session.turns), session.resigned
        try:
            yield
            self.keep(turns=moves(session), resigned=session.resigned, **more)
        except BaseException:  # no page has seen it yet
            session.game.restore(position)
            session.turns[:] = turns
            session.resigned = resigned
            raise

    def keep(self, by: int = 1, **changed: Any) -> None:
        """Store the table with these changes."""
        stored = self.stored.model_copy(update=changed)
        if not self._tables.store.change(self.id, self.revision, stored, by):
            self._tables.let_go(self.id)  # another server has the same store
            raise HTTPException(409, STALE)
        self.stored, self.revision = stored, self.revision + by


class Tables:
    """All tables of a server; a seed deals the same cards at every one, for pictures."""

    def __init__(self, store: Store, agents: Collection[str], seed: int | None = None, keep_days: int = 0) -> None:
        self.store, self.seed, self.keep_days = store, seed, keep_days
        self.agents = tuple(agents)
        self._loaded: dict[str, Agent] = {}
        self._held: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()
        self._loading = threading.Lock()  # loading can take seconds and must not block tables

    def agent(self, name: str) -> Agent:
        """Return one of the server's agents."""
        if name not in self.agents:
            raise unknown("agent", name, self.agents)
        if name not in self._loaded:
            with self._loading:
                if name not in self._loaded:
                    self._loaded[name] = load_player(name)
        return self._loaded[name]

    def open(self, game: str, seats: Sequence[str | None], me: int, name: str = "") -> tuple[Table, str]:
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
        return self.begin(table, game, seats, keys, {me: name} if name else {}), key

    def begin(
        self,
        name: str,
        game: str,
        seats: Sequence[str | None],
        keys: Sequence[tuple[int, str, str]],
        people: dict[int, str],
    ) -> Table:
        """Begin a game with these seats, keys and names of people, and store it."""
        kind = table_game(game)
        agents = [None if seat is None else self.agent(seat) for seat in seats]
        session = Session.begin(kind, agents, self.seed)
        session.go_on()
        stored = StoredTable.model_validate(
            {
                "game": game,
                "seats": seats,
                "start": session.start,
                "chance": session.chance,
                "turns": moves(session),
                "keys": keys,
                "people": people,
            }
        )
        self.clear_away()
        self.store.add(name, stored)
        return self._hold(Table(self, name, stored, session=session))

    def find(self, name: str) -> Table:
        """Return a table, from the store if need be; reading its session replays its game."""
        found = self.look_up(name)
        if found is None:
            raise HTTPException(404, "there is no such table")
        return found

    def look_up(self, name: str) -> Table | None:
        """Return a table, from the store if need be; None if there is none of that name."""
        held = self.held(name)
        if held is None and (found := self.store.find(name)):
            revision, stored = found
            held = self._hold(Table(self, name, stored, revision))
        return held

    def held(self, name: str) -> Table | None:
        """Return a table that is in memory."""
        with self._lock:
            if name in self._held:
                self._held.move_to_end(name)
            return self._held.get(name)

    def _hold(self, table: Table) -> Table:
        with self._lock:
            table = self._held.setdefault(table.id, table)  # another thread may have been quicker
            while len(self._held) > MOST_HELD:
                self._held.popitem(last=False)  # a change in progress is still stored, or fails
        return table

    def clear_away(self) -> int:
        """Forget the tables that are no longer stored; return how many."""
        gone = self.store.forget(time.time() - self.keep_days * DAY) if self.keep_days else []
        for table in gone:
            self.let_go(table)
        return len(gone)

    def let_go(self, name: str) -> None:
        """Drop a table from memory."""
        with self._lock:
            self._held.pop(name, None)


def wake(stored: StoredTable, load: Load) -> Session:
    """Return the session of a stored game, replayed turn by turn."""
    seats = [None if name is None else load(name) for name in stored.seats]
    session = Session(Game.from_notation(stored.start), seats, stored.chance)
    for seat, actions in stored.turns:
        session.act(seat, actions)
    session.resigned = stored.resigned
    return session


def invitation(key: str, table: str, seat: int) -> str:
    """Return the invitation to a seat; derived from the opener's key, it is not stored."""
    made = hmac.digest(key.encode(), f"{table} {seat}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(made[:24]).decode()


def moves(session: Session) -> list[tuple[int, tuple[int, ...]]]:
    """Return seat and actions of every turn."""
    return [(turn.seat, turn.actions) for turn in session.turns]
