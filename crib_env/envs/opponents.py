"""Players besides the learners: opponents, a phase's policy, and their generators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from crib_env.arrays import Array
from crib_env.engine.entries import ILLEGAL
from crib_env.engine.learners import draw_shares
from crib_env.engine.rng import WORDS, seed_states
from crib_env.errors import IllegalActionError
from crib_env.game import Game
from crib_env.options import is_list
from crib_env.policy import Agent, Opponent, ask_agent, find_agent
from crib_env.supported_rules import ByIdentity

SeedSequence = np.random.SeedSequence

OpponentSpec = Opponent | Sequence[tuple[Opponent, float]]

SEVERAL = (
    "several opponents are given as pairs [(agent, share), ...], such as [('greedy', 0.5), ('expert', 0.5)]; got {!r}"
)
ALL = 1 << 32  # the bound of the last share: every word is below it


class Member(NamedTuple):
    """One opponent of several."""

    given: Any  # a name, an agent, a network, a function
    agent: Agent
    share: float  # as a fraction of the largest


class Opponents:
    """The opponents of N games: one for all, or several by their shares.

    Each name and object given has its own number, as long as the object lives.
    Objects that no longer play in any game are not kept alive.
    """

    def __init__(self, n: int, members: Sequence[Member]) -> None:
        self.members: list[Member] = []  # all that play in some game
        self.drawn = np.zeros(n, dtype=np.int64)  # the index in `members` of each game's opponent
        self.names: list[str] = []  # by number; two objects can have one name
        self.playing = np.zeros(n, dtype=np.int64)  # the number of the opponent of each game
        self._named: dict[str, int] = {}  # the numbers of those given by name
        self._known: ByIdentity[int] = ByIdentity()  # of those given as objects
        self._numbers = np.zeros(0, dtype=np.int64)  # of `members`
        self._shares = np.zeros((n, 0))
        self.put(members, np.arange(n))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for member, number in zip(self.members, self._numbers.tolist(), strict=True):
            self._known.put(member.given, number)  # a copy has other objects

    @property
    def agents(self) -> list[Agent]:
        """All that play in some game."""
        return [member.agent for member in self.members]

    def _number(self, member: Member) -> int:
        """Return the number of a member, a new one if it is new."""
        by_name = isinstance(member.given, str)
        number = self._named.get(member.given) if by_name else self._known.get(member.given)
        if number is None:
            number = len(self.names)
            self.names.append(member.agent.name)
        if by_name:
            self._named[member.given] = number
        else:
            self._known.put(member.given, number)
        return number

    def put(self, members: Sequence[Member], lanes: Array) -> None:
        """Set the opponents of games, int64[K]; of several, `draw` chooses one for each game."""
        everyone, shares = list(self.members), self._shares.copy()
        numbers = self._numbers.tolist()
        shares[lanes] = 0.0
        for member in members:
            number = self._number(member)
            at = next((k for k, one in enumerate(everyone) if one.agent is member.agent), None)
            if at is None:
                at = len(everyone)
                everyone.append(member)
                numbers.append(number)
                shares = np.column_stack([shares, np.zeros(len(shares))])
            shares[lanes, at] += member.share
        played = np.flatnonzero(shares.any(axis=0))
        self.members = [everyone[k] for k in played]
        self._numbers = np.array(numbers)[played]
        self._shares = shares[:, played]
        self.drawn = np.searchsorted(played, self.drawn)
        self.drawn[lanes] = self._shares[lanes].argmax(axis=1)  # final where there is only one
        sums = np.cumsum(self._shares, axis=1)
        self.playing[:] = self._numbers[self.drawn]
        self._bounds = np.ceil(sums / sums[:, -1:] * ALL).astype(np.int64, order="C")

    def draw(self, rngs: Array, lanes: Array) -> None:
        """Draw the opponent of each game of ``lanes``, int64[K], with its generator of ``rngs``."""
        if len(self.members) > 1:
            draw_shares(rngs, self._bounds, lanes, self.drawn)
            self.playing[lanes] = self._numbers[self.drawn[lanes]]

    def __getitem__(self, lane: int) -> Agent:
        """Return the opponent of a game."""
        return self.members[int(self.drawn[lane])].agent


def parse_opponents(given: OpponentSpec) -> list[Member]:
    """Return opponents with their shares, checked."""
    if isinstance(given, Mapping):
        raise ValueError(SEVERAL.format(given))
    if not is_list(given) or hasattr(given, "act"):
        return [Member(given, find_agent(cast(Opponent, given)), 1.0)]
    if not len(given):
        raise ValueError("opponent is an empty list: name one opponent or more")
    members = []
    for pair in given:
        if not is_list(pair) or len(pair) != 2:
            raise ValueError(SEVERAL.format(pair))
        agent, share = pair
        number = isinstance(share, (int, float, np.integer, np.floating))
        if not number or isinstance(share, bool) or not 0 < share < float("inf"):
            raise ValueError(f"the share of {agent!r} must be a number above 0, got {share!r}")
        members.append(Member(agent, find_agent(agent), float(share)))
    largest = max(member.share for member in members)  # the sum of all can be infinite
    return [member._replace(share=member.share / largest) for member in members]


@dataclass(frozen=True)
class PhasePolicy:
    """Makes every decision of one phase of a deal, for all seats, from their views."""

    agent: Agent
    phase: int  # ``DISCARD`` or ``PEGGING``

    def play(self, game: Game, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Make all decisions that are due; return each seat's margin, as `Game.margins`."""
        total = np.zeros_like(game.margins)
        while not game.over and game.states["phase"][0] == self.phase:
            view = game.view(game.seat)
            action = int(ask_agent(self.agent, np.array([view]), rng)[0])
            code = game.advance(action)
            if code == ILLEGAL:
                why = game.family.why_illegal(view, action)
                raise IllegalActionError(f"the phase policy {self.agent.name!r} failed: {why}")
            total += game.margins
        return total


def check_phase(policy: PhasePolicy | None, s: np.void) -> None:
    """Raise a ValueError if ``policy`` itself is to move in the state ``s``."""
    if policy is not None and not s["over"] and s["phase"] == policy.phase:
        raise ValueError(
            "this environment plays that phase of the deal itself: a position must leave the choice to the seats"
        )


class RngStreams:
    """The generators of n games besides those of the deals, one for each purpose.

    They are seeded by words, not by seed sequences: an agent that knew the sequence could compute
    the deals. ``opponent``, ``partner`` and ``phase_policy`` are those of agents that act in
    Python, one for all games.
    """

    def __init__(self, n: int) -> None:
        shape = n, WORDS
        self.rngs = np.zeros(shape, dtype=np.int64)  # of a compiled opponent
        self.phase_rngs = np.zeros(shape, dtype=np.int64)  # of the phase policy
        self.share_rngs = np.zeros(shape, dtype=np.int64)  # of the choice among several opponents
        self.illegal_rngs = np.zeros(shape, dtype=np.int64)  # of actions in place of illegal ones
        self.seed(None)

    def seed(self, seed: int | None) -> SeedSequence:
        """Start every generator from ``seed``; return the seed sequence of the deals."""
        deals, python = self._seed_lanes(seed, slice(None))
        self._seed_python(python)
        return deals

    def seed_each(self, seeds: Sequence[int | None], states: npt.NDArray[np.void]) -> None:
        """Start each game's generators from its seed, if given; Python agents' from game 0's."""
        for lane, seed in enumerate(seeds):
            if seed is not None:
                here = slice(lane, lane + 1)
                deals, python = self._seed_lanes(int(seed), here)
                seed_states(states[here], deals)
                if lane == 0:
                    self._seed_python(python)

    def _seed_lanes(self, seed: int | None, lanes: slice) -> tuple[SeedSequence, SeedSequence]:
        """Start the generators of games; return the sequences of deals and of Python agents."""
        deals, players, python = SeedSequence(seed).spawn(3)
        phase, share, illegal = players.spawn(3)
        streams = (
            (self.rngs, players),
            (self.phase_rngs, phase),
            (self.share_rngs, share),
            (self.illegal_rngs, illegal),
        )
        for rngs, seed_seq in streams:
            words = seed_seq.generate_state(rngs[lanes].size)
            rngs[lanes] = words.reshape(-1, WORDS).astype(np.int64)
        return deals, python

    def _seed_python(self, seed_seq: SeedSequence) -> None:
        self.opponent, self.partner, self.phase_policy = (
            np.random.default_rng(one.generate_state(4)) for one in (seed_seq, *seed_seq.spawn(2))
        )
