"""`greedy`: the best immediate points, and no thought of the other seat.

In play it takes the card that pegs most now, of equals the higher. It keeps the hand that scores
most as it stands, without the starter; the crib, whoever's, is ignored.
"""

from __future__ import annotations

from typing import ClassVar

from crib_agents.kernels.lay_away import kept_points, lay_away_by
from crib_agents.table_top import greedy as table_top
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.counting import certain_points, sequence_of
from crib_env.engine.two_hand.records import LAY_AWAY
from crib_env.policy import Act, CompiledAgent


@kernel
def hand_as_it_stands(v, table, weights, low, high):
    """Value a pair to lay away by what the rest scores without the starter."""
    return float(kept_points(v, low, high))


lay_away = lay_away_by(hand_as_it_stands)


@kernel
def most_pegged(v):
    """Return the legal card that is sure to peg most now, of equals the higher."""
    sequence = sequence_of(v)
    best = NONE
    most = NONE
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            points = certain_points(v, k, sequence)
            card = v["hand"][k]
            if points > most or (points == most and card > best):
                best = card
                most = points
    return best


def act(v, rng, table, weights):
    """Return the greedy card for the view ``v``."""
    if v["phase"] == LAY_AWAY:
        return lay_away(v, table, weights)
    return most_pegged(v)


class GreedyAgent(CompiledAgent):
    """Takes the most points at once."""

    name = "greedy"
    acts: ClassVar[dict[str, Act]] = {"two_hand": act, "table_top": table_top.act}
