"""`expert` in the games for three and four: it takes the card that most likely wins the game."""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import float64, int64, void

from crib_agents.checks import HONOURS, presets_of, refuse_other_views
from crib_agents.data.tables import MANY_HAND_WIN, load
from crib_agents.expert.many_hand.search import COLUMNS, WIN, weigh
from crib_agents.knowledge.many_hand import row_of
from crib_agents.learned import MonteCarloAgent
from crib_agents.rule_based import default_weights
from crib_env.answers import one_or_many
from crib_env.arrays import Doubles
from crib_env.engine.family import find_family
from crib_env.engine.hands.records import LOG_SIZE
from crib_env.engine.jit import entry
from crib_env.engine.many_hand import HAND, RULES, RULES_T, SEATS, STATE, STATES_T, VIEW, VIEWS_T
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.rng import WORDS
from crib_env.engine.show import show_table
from crib_env.policy import Actions, Views


@entry(
    void(
        VIEWS_T, TABLE_T, WEIGHTS_T, WEIGHTS_T, float64[:, ::1], float64[:, :, ::1],
        RULES_T, STATES_T, VIEWS_T, int64[::1], int64[::1], int64[::1],
        int64[::1], float64[:, :, ::1],
    ),
    "expert.many_hand.weigh_views",
)  # fmt: skip
def weigh_views(
    views, table, weights, nets, formulas, means, rules, states, scratch, pool, log, rng, laid,
    found,
):  # fmt: skip
    """Write the columns of each card of each view."""
    for i in range(views.shape[0]):
        v = views[i]
        row = row_of(v["players"], v["sides"])
        weigh(
            v, table, weights, nets, formulas[row], means[row], rules[0], states, scratch[0], pool,
            log, rng, laid, found[i],
        )  # fmt: skip


@cache
def nets() -> Doubles:
    """Return the networks of `learned`, put together once in a process."""
    return MonteCarloAgent().weights


class ManyHandExpert:
    """Discards and pegs by what each card brings in worlds that the view allows.

    Attributes:
        name: what tables call it.
    """

    name = "expert"
    honours = HONOURS
    known_rules = presets_of("many_hand")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def weigh(self, views: Views) -> Doubles:
        """Return the columns of each card held, float64[B, HAND, COLUMNS]; see `search`."""
        found = np.zeros((len(views), HAND, COLUMNS))
        win = load(MANY_HAND_WIN)
        weigh_views(
            np.ascontiguousarray(views), show_table(), default_weights(), nets(), win["formula"],
            win["points"], np.zeros(1, dtype=RULES), np.zeros(2, dtype=STATE),
            np.zeros(1, dtype=VIEW), np.zeros(52, dtype=np.int64),
            np.zeros(LOG_SIZE, dtype=np.int64), np.zeros(WORDS, dtype=np.int64),
            np.zeros(SEATS, dtype=np.int64), found,
        )  # fmt: skip
        return found

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal card for each view, int64[B], of equal value the higher."""
        refuse_other_views(self.name, views, find_family("many_hand"))
        legal = views["legal"][:, None] >> np.arange(HAND) & 1 == 1
        several = legal.sum(axis=1) > 1
        win = np.where(legal, 0.0, -np.inf)
        win[several] += self.weigh(views[several])[:, :, WIN]
        best = win == win.max(axis=1, keepdims=True)
        actions: Actions = np.where(best, views["hand"], NONE).max(axis=1)
        return actions
