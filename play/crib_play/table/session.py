"""`Session`: a game at a table with people and agents in its seats, without any screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crib_env.arrays import View
from crib_env.errors import EpisodeOverError
from crib_env.events import Event, read_log
from crib_env.game import Game, Snapshot
from crib_env.policy import Agent, ask_agent
from crib_env.supported_rules import refuse_rules
from crib_play.table.family import Call, Counted, Done, Sight
from crib_play.table.games import FAMILIES, TableGame

Seats = Sequence[Agent | None]

CHANCE_WORDS = 4


class NotYourTurnError(ValueError):
    """A seat acted out of turn; nothing has changed."""


@dataclass(frozen=True)
class Turn:
    """A turn that has been taken."""

    seat: int  # the seat that took it
    actions: tuple[int, ...]
    phase: str  # the name of the decision
    view: View  # the seat's view when it chose
    calls: tuple[Call, ...]
    counted: tuple[Counted, ...]
    events: tuple[Event, ...]  # the points pegged with it, counts of zero too
    before: Snapshot  # the position before it


class Session:
    """A game at a table; ``chance`` seeds the agents' draws, and must not reveal the deals."""

    def __init__(self, game: Game, seats: Seats, chance: int) -> None:
        if len(seats) != game.players:
            raise ValueError(f"this table has {game.players} seats, got {len(seats)}")
        for agent in seats:
            refuse_rules(agent, game.rules, game.episode)
        self.game = game
        self.seats = tuple(seats)
        self.chance = chance
        self.family = FAMILIES[game.family.name]
        self.start = game.notation()
        self.opening = tuple(self.family.opening(game.view(0), game.rules))  # the first calls
        self.turns: list[Turn] = []
        self.resigned: int | None = None  # the seat that gave the game up

    @classmethod
    def begin(cls, kind: TableGame, seats: Seats, seed: int | None = None) -> Session:
        """Return a session of a new game; ``seed`` None takes fresh entropy."""
        deals, chance = np.random.SeedSequence(seed).spawn(2)
        game = Game(kind.rules, players=kind.players, episode=kind.episode)
        game.seed(deals)
        game.reset()
        return cls(game, seats, _number(chance))

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.game.over or self.resigned is not None

    @property
    def seat(self) -> int:
        """The seat to move."""
        return self.game.seat

    @property
    def waits(self) -> bool:
        """Whether a person is to move."""
        return not self.over and self.seats[self.seat] is None

    @property
    def to_choose(self) -> int:
        """How many actions the seat to move decides on at once; 0 after the end."""
        return 0 if self.over else self.family.to_choose(self.game.view(self.seat))

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat, who in enumerate(self.seats) if who is None]

    @property
    def winner(self) -> int | None:
        """The side that has won, or None; if a seat resigned, the best of the other sides."""
        game = self.game
        if self.resigned is not None:
            gone = game.sides[self.resigned]
            left = [side for side in range(len(game.scores)) if side != gone]
            return max(left, key=lambda side: game.scores[side])
        won = {side for side, made in zip(game.sides, game.returns, strict=True) if made > 0}
        return won.pop() if len(won) == 1 else None

    @property
    def cut(self) -> list[int]:
        """The cards cut for the first deal, one a seat; the lowest deals."""
        rng = np.random.default_rng([self.chance, len(self.seats)])
        dealer = Game.from_notation(self.start).dealer
        while True:
            cards = [int(card) for card in rng.choice(52, len(self.seats), replace=False)]
            ranks = [card >> 2 for card in cards]
            if ranks.count(min(ranks)) == 1 and ranks.index(min(ranks)) == dealer:
                return cards

    def practice(self, seat: int) -> bool:
        """Return whether ``seat`` is the only person; advice is fair only then."""
        return self.people == [seat]

    def counts(self, seat: int, one: Counted) -> bool:
        """Return whether a count is a seat's own, or its side's if the sides have names."""
        sides = self.game.sides
        return sides[one.seat] == sides[seat] if self.family.sides else one.seat == seat

    def claims(self, seat: int) -> int:
        """Return the claimant of missed points: the first seat to the left of another side."""
        sides = self.game.sides
        others = (each % len(sides) for each in range(seat + 1, seat + len(sides)))
        return next(each for each in others if sides[each] != sides[seat])

    def result(self, side: int) -> str:
        """Return the score in words, that of ``side`` first; of a match in game points (H11)."""
        is_match = self.game.episode == "match"
        points = self.game.match_score if is_match else self.game.scores
        others = [str(made) for other, made in enumerate(points) if other != side]
        shown = " to ".join([str(points[side]), *others])
        return f"{shown}{' game points' if is_match else ''}"

    def sight(self, seat: int, turn: int | None = None) -> Sight:
        """Return a seat's view now, or after a number of turns."""
        if turn is not None and turn < len(self.turns):
            now = self.game.snapshot()
            self.game.restore(self.turns[turn].before)
            seen = self.sight(seat)
            self.game.restore(now)
            return seen
        return {
            "seat": seat,
            "mover": None if self.over else self.seat,
            "deals": self.game.deals,
            "over": self.over,
            "side_of": list(self.game.sides),
            **self.family.sight(self.game.view(seat), self.game.rules),
        }

    # --- turns ----------------------------------------------------------------------------------

    def act(self, seat: int, actions: Sequence[int]) -> Turn:
        """Take a turn for ``seat``."""
        if self.over:
            raise EpisodeOverError("the game is over")
        if seat != self.seat:
            raise NotYourTurnError(f"seat {self.seat} is to move, not seat {seat}")
        wanted = self.to_choose
        if len(actions) != wanted:
            raise ValueError(f"choose {wanted} here, got {len(actions)}")
        before = self.game.snapshot()
        views = [self.game.view(each) for each in range(self.game.players)]
        deals, dealer = self.game.deals, self.game.dealer
        events = []
        try:
            for action in actions:
                self.game.step(action)
                events += read_log(self.game.log, include_zero=True)
        except ValueError:
            self.game.restore(before)
            raise
        taken, ended = tuple(actions), self.game.over or self.game.deals > deals
        after = self.game.view(seat)
        done = Done(self.game.rules, seat, dealer, taken, views, after, events, ended)
        calls, counted = tuple(self.family.calls_of(done)), tuple(self.family.counted(done))
        phase = self.family.phase(views[seat])
        turn = Turn(seat, taken, phase, views[seat], calls, counted, tuple(events), before)
        self.turns.append(turn)
        return turn

    def answer(self) -> Turn:
        """Take the turn of the agent to move."""
        seat, agent = self.seat, self.seats[self.seat]
        if agent is None:
            raise NotYourTurnError(f"seat {seat} is a person's")
        rng = np.random.default_rng([self.chance, len(self.turns)])
        before = self.game.snapshot()
        actions: list[int] = []
        try:
            for _ in range(self.to_choose):
                views = np.array([self.game.view(seat)])
                actions.append(int(ask_agent(agent, views, rng)[0]))
                self.game.step(actions[-1])
        finally:
            self.game.restore(before)
        return self.act(seat, actions)

    def go_on(self) -> None:
        """Take the agents' turns until a person is to move or the game is over."""
        while self.seats[self.seat] is not None and not self.over:
            self.answer()

    def resign(self, seat: int) -> None:
        """Resign the game for ``seat``."""
        if self.over:
            raise EpisodeOverError("the game is over")
        self.resigned = seat

    def undo(self, seat: int) -> bool:
        """Go back to the last choice of ``seat``; return False if it has made none."""
        if not self.practice(seat):
            raise ValueError("a turn is taken back only in practice, alone against agents")
        mine = [i for i, turn in enumerate(self.turns) if turn.seat == seat]
        if not mine:
            return False
        self.resigned = None
        self.game.restore(self.turns[mine[-1]].before)
        del self.turns[mine[-1] :]
        return True


def _number(seed_seq: np.random.SeedSequence) -> int:
    """Return a number drawn from a sequence, which does not reveal the sequence."""
    return int.from_bytes(seed_seq.generate_state(CHANCE_WORDS).tobytes(), "little")
