"""Two-hand games side by side in which an agent has both seats, for measuring what it brings about.

Agents see views alone; the script that measures sees the states and the tally of points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.engine import batch
from crib_env.engine.numbers import rules_record
from crib_env.engine.records import LOG_SIZE, NO_DECKS, NONE, TWO_HAND, VIEW
from crib_env.engine.rng import seed_states
from crib_env.engine.tables import show_table
from crib_env.opponents import Actions, Agent
from crib_env.rules import Rules

Array = npt.NDArray[Any]


class SelfPlay:
    """Episodes side by side, seat 0 dealing first in each.

    Args:
        rules: the rules of a two-hand game.
        episode: what is played: ``"deal"``, ``"game"`` or ``"match"``.
        lanes: how many.
        entropy: fixes the deals and the agent's own chance.
        scores: where the dealer and pone begin, if not where the rules have them begin.

    Attributes:
        states: the states, `TWO_HAND` [lanes].
        tally: int64[lanes, 2, 3], points pegged by the dealer (seat 0) and pone in play (heels
            included), hands and cribs.
    """

    def __init__(
        self,
        rules: Rules,
        episode: str,
        lanes: int,
        entropy: np.random.SeedSequence,
        scores: tuple[int, int] | None = None,
    ) -> None:
        deals, chance = entropy.spawn(2)
        self.record = rules_record(rules, episode)
        self.states = np.zeros(lanes, dtype=TWO_HAND)
        self.tally = np.zeros((lanes, 2, batch.TALLY), dtype=np.int64)
        self._log = np.zeros(LOG_SIZE, dtype=np.int64)
        self.rng = np.random.default_rng(chance)
        seed_states(self.states, deals)
        every, dealers = np.arange(lanes), np.zeros(lanes, dtype=np.int64)
        batch.start_lanes(self.states, self.record, NO_DECKS, every, dealers, self._log)
        if scores is not None:
            for field in ("scores", "rear", "start"):
                self.states[field] = scores

    def views(self, lanes: Array) -> Array:
        """Return the view of the seat to move in each of ``lanes``."""
        views = np.zeros(len(lanes), dtype=VIEW)
        batch.view_lanes(self.states, self.record, lanes, self.states["to_move"][lanes], views)
        return views

    def step(self, lanes: Array, cards: Actions) -> None:
        """Use ``cards[k]`` in lane ``lanes[k]``."""
        bad = batch.step_lanes(
            self.states, self.record, NO_DECKS, show_table(), lanes, cards, self._log, self.tally
        )
        assert bad == NONE, f"illegal card {cards[bad]}"

    def play(self, agent: Agent) -> Iterator[Array]:
        """Let ``agent`` play every lane to its end; after each step yield the lanes stepped."""
        lanes = np.arange(len(self.states))
        while len(lanes):
            self.step(lanes, agent.act(self.views(lanes), self.rng))
            yield lanes
            lanes = lanes[self.states["over"][lanes] == 0]
