"""`rule_based`: the rules of thumb of a good club player, in numbers.

It values a discard by the exact mean of the kept hand over all unseen starters, plus the pair's
mean crib as dealer, minus it as pone. In the pegging it weighs points now against the likely points
of the other seat's reply; see `kernels`. It ignores the score, but plays a card that wins the game.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from crib_agents.data.tables import CRIB_TABLES, MANY_HAND_CRIBS, load
from crib_agents.honours import BY_CARDS
from crib_agents.kernels import two_hand
from crib_agents.kernels.many_hand import best_card as best_many_hand_card
from crib_agents.kernels.many_hand import best_discard
from crib_agents.kernels.table_top import WEIGHTS, best_action
from crib_agents.kernels.two_hand import CELLS
from crib_env.arrays import Doubles
from crib_env.engine.hands.counting import starters_total
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import DECK
from crib_env.policy import Act, CompiledAgent


@kernel
def hand_and_crib(v, table, weights, low, high):
    """Return the mean points of the kept hand, plus the mean crib as dealer, minus it as pone."""
    hand = starters_total(v, table, low, high) / (DECK - v["hand_n"] - v["discarded_n"])
    dealer = 1 - v["dealer"]
    crib = weights[CELLS * two_hand.pair_table_of(v, dealer) + two_hand.cell(low, high)]
    return hand + crib if dealer else hand - crib


discard = two_hand.discard_by(hand_and_crib)


def choose_card(v, rng, table, weights):
    """Return the rule-based card for the two-hand view ``v``."""
    if v["phase"] == DISCARD:
        return discard(v, table, weights)
    return two_hand.best_card(v, weights)


def choose_many_hand_card(v, rng, table, weights):
    """Return the rule-based card for the many-hand view ``v``."""
    if v["phase"] == DISCARD:
        return best_discard(v, table, weights)
    return best_many_hand_card(v)


def choose_cell(v, rng, table, weights):
    """Return the rule-based action for the Table Top view ``v``, by `WEIGHTS`, not ``weights``."""
    return best_action(v, table, WEIGHTS)


def default_weights(cribs: Doubles | None = None) -> Doubles:
    """Return the weights: two-hand crib charts and keeping rates, many-hand mean cribs."""
    tables = load(CRIB_TABLES)
    cribs = load(MANY_HAND_CRIBS)["crib"] if cribs is None else cribs
    return np.concatenate([tables["crib"].ravel(), tables["kept"].ravel(), cribs.ravel()])


class RuleBasedAgent(CompiledAgent):
    """Keeps the best hand and crib on average, and pegs with care."""

    name = "rule_based"
    acts: ClassVar[dict[str, Act]] = {
        "two_hand": choose_card,
        "many_hand": choose_many_hand_card,
        "table_top": choose_cell,
    }
    honours = BY_CARDS

    def __init__(self, weights: Doubles | None = None) -> None:
        super().__init__(default_weights() if weights is None else weights)
