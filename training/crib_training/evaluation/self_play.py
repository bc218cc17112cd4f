"""Games side by side in which one agent has every seat, for measuring what it brings about.

Agents see views alone; the script that measures sees the states and the tally of points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.engine.family import find_family
from crib_env.engine.record import NO_DECKS, NONE
from crib_env.engine.rng import seed_states
from crib_env.engine.show import show_table
from crib_env.errors import IllegalActionError
from crib_env.policy import Actions, Agent
from crib_env.rules import Rules

Array = npt.NDArray[Any]


class SelfPlay:
    """Episodes side by side.

    Args:
        rules: the rules of any game.
        episode: what is played, such as ``"deal"`` or ``"game"``.
        lanes: how many.
        entropy: fixes the deals and the agent's own chance.
        players: seats.
        first_dealer: the seat that deals first in each; None to cut for it.
        scores: where sides 0 and 1 begin, if not where the rules have them begin.

    Attributes:
        states: the states, records [lanes] of the family's state.
        tally: int64[lanes, 2, 3], points made by side and phase (the family's ``phases``).
        rng: the agent's chance.
    """

    def __init__(
        self,
        rules: Rules,
        episode: str,
        lanes: int,
        entropy: np.random.SeedSequence,
        *,
        players: int = 2,
        first_dealer: int | None = 0,
        scores: tuple[int, int] | None = None,
    ) -> None:
        deals, chance = entropy.spawn(2)
        self.family = find_family(rules.family)
        self.record = self.family.rules_record(rules, episode, players)
        self.states = np.zeros(lanes, dtype=self.family.state)
        self.tally = np.zeros((lanes, 2, self.family.batch.TALLY), dtype=np.int64)
        self._log = np.zeros(self.family.log_size, dtype=np.int64)
        self.rng = np.random.default_rng(chance)
        seed_states(self.states, deals)
        dealers = np.full(lanes, NONE if first_dealer is None else first_dealer)
        self.family.batch.start_lanes(
            self.states, self.record, NO_DECKS, np.arange(lanes), dealers, self._log
        )
        if scores is not None:
            pegs = {"scores", "rear", "start"} & set(self.states.dtype.names or ())
            for field in pegs:
                self.states[field] = scores

    def views(self, lanes: Array) -> Array:
        """Return the view of the seat to move in each of ``lanes``."""
        views = np.zeros(len(lanes), dtype=self.family.view)
        seats = self.states["to_move"][lanes]
        self.family.batch.view_lanes(self.states, self.record, lanes, seats, views)
        return views

    def step(self, lanes: Array, actions: Actions) -> None:
        """Take ``actions[k]`` in lane ``lanes[k]``.

        Raises:
            IllegalActionError: one of them is not legal.
        """
        bad = self.family.batch.step_lanes(
            self.states, self.record, NO_DECKS, show_table(), lanes, actions, self._log, self.tally
        )
        if bad != NONE:
            view = self.views(lanes[bad : bad + 1])[0]
            raise IllegalActionError(self.family.why_illegal(view, int(actions[bad])))

    def play(self, agent: Agent) -> Iterator[Array]:
        """Let ``agent`` play every lane to its end; after each step yield the lanes stepped.

        Raises:
            IllegalActionError: it chose an illegal action; the message names it.
        """
        lanes = np.arange(len(self.states))
        while len(lanes):
            actions = np.asarray(agent.act(self.views(lanes), self.rng), dtype=np.int64)
            try:
                self.step(lanes, actions)
            except IllegalActionError as error:
                raise IllegalActionError(f"{agent.name} erred: {error}") from None
            yield lanes
            lanes = lanes[self.states["over"][lanes] == 0]
