"""`random`: every legal action is equally likely."""

from __future__ import annotations

from typing import ClassVar

from crib_env.arrays import Doubles
from crib_env.encoding import encode
from crib_env.engine.family import check_family
from crib_env.engine.hands.slots import NTH_SLOT, SLOT_COUNT
from crib_env.engine.ranks import bit_count, lowest
from crib_env.engine.rng import below
from crib_env.policy import Act, CompiledAgent, Views, one_or_many


def draw_card(v, rng, table, weights):
    """Return a random legal card of the two-hand or many-hand view ``v``."""
    legal = v["legal"]
    return v["hand"][NTH_SLOT[legal, below(rng, SLOT_COUNT[legal])]]


def draw_action(v, rng, table, weights):
    """Return a random legal action of the Table Top view ``v``."""
    legal = v["legal"]
    for _ in range(below(rng, bit_count(legal))):
        legal &= legal - 1
    return lowest(legal)


class RandomAgent(CompiledAgent):
    """Takes a legal action at random."""

    name = "random"
    acts: ClassVar[dict[str, Act]] = {"two_hand": draw_card, "many_hand": draw_card, "table_top": draw_action}
    draws: ClassVar[bool] = True
    compile_seconds = 0

    @one_or_many
    def action_probabilities(self, views: Views) -> Doubles:
        """Return float64[B, actions]: equal probabilities for a view's legal actions."""
        check_family(self.name, views, self.acts)
        _, masks = encode(views)
        probabilities: Doubles = masks / masks.sum(axis=1, keepdims=True)
        return probabilities
