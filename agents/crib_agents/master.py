"""``master``: plays for the win like `expert`, regularised towards `equilibrium`.

The expert's search gives each choice a value, and the equilibrium gives it a probability. `master`
takes the choice with the highest

    value + lam * log(probability)

Early in a game values are nearly equal and the probabilities decide. Near the end one point can
decide the game, so values differ widely and decide. (Jacob et al., *Modeling Strong and
Human-Like Gameplay with KL-Regularized Search*, 2022; their policy imitates people.)
"""

from __future__ import annotations

from functools import cache

import numpy as np

from crib_agents.equilibrium import SHIPPED, pack, write_pair_probabilities, write_rank_probabilities
from crib_agents.equilibrium.strategy import FIELDS, Solved
from crib_agents.expert import ExpertAgent, pegging
from crib_agents.expert.discard import PAIRS, SWING, rank_discards
from crib_agents.files import read_header
from crib_agents.honours import group_rows, refuse_waiting_seats
from crib_agents.knowledge.winning import group_by_win_table, slope
from crib_env.arrays import Doubles, portable
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import plain
from crib_env.engine.ranks import RANKS
from crib_env.policy import Actions, Views, one_or_many

LEAST = 1 / 255  # floor of the probabilities: the resolution of a stored strategy


class Master(ExpertAgent):
    """Maximises the expert's value plus lambda times the log of the equilibrium's probability.

    Without a solved strategy `master` plays as `expert`. It is deterministic.

    Args:
        discard_lambda: lambda for discards, in points: a choice that is e times less likely
            needs a value higher by this.
        pegging_lambda: the same for the pegging.

    Attributes:
        name: its name in tables.
    """

    name = "master"

    def __init__(self, discard_lambda: float = 0.05, pegging_lambda: float = 0.1) -> None:
        super().__init__()
        self.discard_lambda = discard_lambda
        self.pegging_lambda = pegging_lambda

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B], as `ExpertAgent.act` does."""
        if not set(FIELDS) <= set(views.dtype.names or ()):  # a game without strategies
            return super().act(views, rng)
        refuse_waiting_seats(self.name, views)
        actions = np.empty(len(views), dtype=np.int64)
        keys = np.column_stack([views[field] for field in (*FIELDS, "phase")])
        for key, rows in group_rows(keys):
            strategy = packed(key[:-1])
            some = np.ascontiguousarray(views[rows])
            if strategy is None:
                actions[rows] = super().act(some, rng)
            elif key[-1] == DISCARD:
                probabilities = np.empty((len(some), PAIRS))
                write_pair_probabilities(some, strategy, probabilities)
                actions[rows] = rank_discards(some, bonus=_bonus(some, probabilities, self.discard_lambda))[0]
            else:
                probabilities = np.empty((len(some), RANKS))
                write_rank_probabilities(some, strategy, probabilities)
                actions[rows] = pegging.choose(some, _bonus(some, probabilities, self.pegging_lambda))
        return actions


def _bonus(views: Views, probabilities: Doubles, lam: float) -> Doubles:
    """Return ``lam`` x log(probability), float64[B, choices], converted from points to values."""
    bonus = portable(np.log(np.maximum(probabilities, LEAST)))
    for win_table, rows in group_by_win_table(views):
        target = win_table.shape[1] - 1
        point: float = plain(slope)(win_table, 1, target, target, 1, SWING)  # at the start of a game
        bonus[rows] *= lam * point
    return bonus


@cache
def packed(rules: tuple[int, ...]) -> Doubles | None:
    """Return the packed strategy for rules of these `FIELDS`, or None; six-card's takes 150 MB."""
    for path in sorted(SHIPPED.glob("*.safetensors")):
        fields = read_header(path)[0]["rules_fields"]
        if tuple(int(fields[field]) for field in FIELDS) == rules:
            return pack(Solved.load(path).strategy)
    return None
