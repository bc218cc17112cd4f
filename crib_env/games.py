"""`Games`: many games of one kind side by side, without any RL library.

What loops over games (learners' batches, duplicate deals, self-play, measurements) uses this. An
agent is handed views and nothing else; the script that measures sees the states and the tally.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.engine.family import find_family
from crib_env.engine.rng import seed_states
from crib_env.engine.tables import show_table
from crib_env.engine.two_hand.records import NO_DECKS, NONE
from crib_env.errors import IllegalActionError
from crib_env.policy import Actions, Agent, Views, check_actions
from crib_env.rules import Rules

Array = npt.NDArray[Any]


class Games:
    """N games in arrays; a game is a *lane*, its number.

    Args:
        rules: the rules of any game.
        n: how many games.
        players: seats in a game.
        episode: what one episode is: a name the family knows.
        entropy: seeds the generators of all deals and cuts; lane i deals the same whatever n is.

    Attributes:
        family: the engine that plays them. record: the rules as its record.
        states: the full states, records [N] of the family's ``state``.
        tally: int64[N, 2, 3], points made by side and phase (the family's ``phases``) since the
            lane last began.
    """

    def __init__(
        self,
        rules: Rules,
        n: int,
        *,
        players: int = 2,
        episode: str = "game",
        entropy: int | np.random.SeedSequence | None = None,
    ) -> None:
        self.family = find_family(rules.family)
        self.rules = rules
        self.players = players
        self.episode = episode
        self.n = n
        self.record = self.family.rules_record(rules, episode, players)
        self.states = np.zeros(n, dtype=self.family.state)
        self.tally = np.zeros((n, 2, self.family.batch.TALLY), dtype=np.int64)
        self._log = np.zeros(self.family.log_size, dtype=np.int64)
        self._decks = NO_DECKS
        self.seed(entropy)

    def seed(self, entropy: int | np.random.SeedSequence | None) -> None:
        """Start the generator of every lane anew, without beginning an episode."""
        if not isinstance(entropy, np.random.SeedSequence):
            entropy = np.random.SeedSequence(entropy)
        seed_states(self.states, entropy)

    def begin(
        self,
        lanes: Array | None = None,
        *,
        dealer: int | None = None,
        decks: Array = NO_DECKS,
        scores: tuple[int, int] | None = None,
    ) -> None:
        """Begin an episode in ``lanes``, by default in all.

        Args:
            lanes: int64[K].
            dealer: the seat that deals first; None to cut for it.
            decks: int64[D, 52], of the first deals of every game begun from now on.
            scores: where sides 0 and 1 start, if not where the rules have them start.
        """
        if lanes is None:
            lanes = np.arange(self.n)
        self._decks = decks
        dealers = np.full(len(lanes), NONE if dealer is None else dealer)
        self.family.batch.start_lanes(
            self.states, self.record, decks, lanes, dealers, self._log
        )
        self.tally[lanes] = 0
        if scores is not None:
            heels = self.states["scores"][lanes] - self.states["start"][lanes]
            self.states["scores"][lanes] = np.array(scores) + heels
            self.states["start"][lanes] = scores
            if "rear" in (self.states.dtype.names or ()):
                self.states["rear"][lanes] = self.states["scores"][lanes]

    def running(self, lanes: Array | None = None) -> Array:
        """Return those of ``lanes`` (by default all) whose episode is not over, int64[K]."""
        if lanes is None:
            lanes = np.arange(self.n)
        running: Array = lanes[self.states["over"][lanes] == 0]
        return running

    def movers(self, lanes: Array) -> Array:
        """Return the seat to move in each lane, int64[K]."""
        movers: Array = self.states["to_move"][lanes]
        return movers

    def views(self, lanes: Array, seats: Array | None = None) -> Views:
        """Return what a seat of each lane may know: ``seats[k]``, by default the seat to move.

        Returns:
            records [K] of the family's ``view``.
        """
        views = np.zeros(len(lanes), dtype=self.family.view)
        seats = self.movers(lanes) if seats is None else seats
        self.family.batch.view_lanes(self.states, self.record, lanes, seats, views)
        return views

    def step(self, lanes: Array, actions: Actions) -> int | None:
        """Take ``actions[k]`` in lane ``lanes[k]``, one after the other.

        Args:
            lanes: int64[K], whose episodes are not over. actions: int64[K].

        Returns:
            None, or the first k whose action is illegal: lanes before it have been stepped.
        """
        bad = self.family.batch.step_lanes(
            self.states, self.record, self._decks, show_table(), lanes, actions, self._log,
            self.tally,
        )  # fmt: skip
        return None if bad == NONE else int(bad)

    def why_illegal(self, lane: int, action: int) -> str:
        """Return why ``action`` is not legal for the seat to move in a lane, as a sentence."""
        view = self.views(np.array([lane]))[0]
        return self.family.why_illegal(view, int(action))

    def ask(self, agent: Agent, lanes: Array, rng: np.random.Generator) -> None:
        """Let ``agent`` act for the seat to move in each lane.

        Raises:
            ValueError: it did not answer with one whole number for each view.
            IllegalActionError: one of its actions is illegal. Both name the agent.
        """
        try:
            actions = check_actions(agent.act(self.views(lanes), rng), len(lanes))
        except ValueError as error:
            raise ValueError(f"{agent.name!r} erred: {error}") from error
        bad = self.step(lanes, actions)
        if bad is not None:
            why = self.why_illegal(int(lanes[bad]), int(actions[bad]))
            raise IllegalActionError(f"{agent.name!r} erred: {why}")

    def play(self, agent: Agent, rng: np.random.Generator) -> Iterator[Array]:
        """Let ``agent`` play every seat of every lane to its end.

        Yields:
            after each round of decisions the lanes stepped, int64[K].
        """
        lanes = self.running()
        while len(lanes):
            self.ask(agent, lanes, rng)
            yield lanes
            lanes = self.running(lanes)

    def results(self) -> Array:
        """Return int64[N], the result of each ended episode for side 0: 1, -1, or 0 for a draw."""
        return self.family.batch.outcomes(self.states, self.record)
