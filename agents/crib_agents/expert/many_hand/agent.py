"""`expert` in the games for three and four: it tries each card in worlds that fit its view."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numba import float64, int64, void

from crib_agents.checks import HONOURS, refuse_other_views
from crib_agents.expert.many_hand.search import search
from crib_agents.rule_based import default_weights
from crib_env.answers import one_or_many
from crib_env.arrays import Doubles
from crib_env.engine.family import find_family
from crib_env.engine.jit import entry
from crib_env.engine.many_hand.records import (
    HAND,
    LOG_SIZE,
    MANY_HAND,
    RULES,
    SEATS,
    VIEW,
    VIEWS_T,
)  # fmt: skip
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T, array_of
from crib_env.engine.rng import WORDS
from crib_env.engine.show import show_table
from crib_env.policy import Actions, Views


@entry(
    void(
        VIEWS_T, TABLE_T, WEIGHTS_T, array_of(RULES), array_of(MANY_HAND), VIEWS_T, int64[::1],
        int64[::1], int64[::1], int64[::1], float64[:, ::1], int64[::1],
    ),
    "expert.many_hand.act_views",
)  # fmt: skip
def act_views(views, table, weights, rules, states, scratch, pool, log, rng, laid, values, actions):
    """Write a card for each view, of equal value the higher."""
    for i in range(views.shape[0]):
        v = views[i]
        at = values[i]
        legal = v["legal"]
        if legal & (legal - 1):
            search(v, table, weights, rules[0], states, scratch[0], pool, log, rng, laid, at)
        best = NONE
        for k in range(v["hand_n"]):
            if legal >> k & 1 and (
                best == NONE
                or at[k] > at[best]
                or (at[k] == at[best] and v["hand"][k] > v["hand"][best])
            ):
                best = k
        actions[i] = v["hand"][best]


class ManyHandExpert:
    """Discards and pegs by what each card brings in worlds that the view allows.

    Attributes:
        name: what tables call it.
    """

    name = "expert"
    honours = HONOURS

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @cached_property
    def weights(self) -> Doubles:
        """What `rule_based` discards by, and so everyone in a world."""
        return default_weights()

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal card for each view, int64[B]; ``rng`` is left alone.

        Raises:
            ValueError: views of another family of games.
        """
        refuse_other_views(self.name, views, find_family("many_hand"))
        actions = np.empty(len(views), dtype=np.int64)
        act_views(
            np.ascontiguousarray(views), show_table(), self.weights, np.zeros(1, dtype=RULES),
            np.zeros(2, dtype=MANY_HAND), np.zeros(1, dtype=VIEW), np.zeros(52, dtype=np.int64),
            np.zeros(LOG_SIZE, dtype=np.int64), np.zeros(WORDS, dtype=np.int64),
            np.zeros(SEATS, dtype=np.int64), np.zeros((len(views), HAND)), actions,
        )  # fmt: skip
        return actions
