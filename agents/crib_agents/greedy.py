"""`greedy`: the best immediate points, and no thought of the other seat.

In play it takes the card that pegs most now, of equals the higher. It keeps the hand that scores
most as it stands, without the starter; the crib, whoever's, is ignored.
"""

from __future__ import annotations

from typing import ClassVar

from crib_agents.compiled import CompiledBot, Plays, passable
from crib_agents.kernels.counting import certain_points, sequence_of
from crib_agents.kernels.lay_away import kept_points, lay_away_by
from crib_agents.table_top import greedy as table_top
from crib_env.engine.jit import entry, kernel
from crib_env.engine.phases import TAKE_TURNS, take_turns_range
from crib_env.engine.two_hand.batch import ACT_VIEWS, VECTOR_STEP, vector_step_range
from crib_env.engine.two_hand.records import LAY_AWAY, NONE, VIEW


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


@passable
def act(v, rng, table, weights):
    """Return the greedy card for the view ``v``."""
    if v["phase"] == LAY_AWAY:
        return lay_away(v, table, weights)
    return most_pegged(v)


@entry(ACT_VIEWS)
def act_views(views, rngs, table, weights, actions):
    """Write a card for each view."""
    for i in range(views.shape[0]):
        actions[i] = act(views[i], rngs[i], table, weights)


@entry(VECTOR_STEP)
def vector_step(
    states, rules, decks, table, weights, rngs, views, log, lo, hi, points, autoreset,
    drawn_seat, seats, actions, obs, masks, rewards, dones, final_obs, final_masks,
):  # fmt: skip
    """Step lanes for a learner against this agent; see `vector_step_range`."""
    return vector_step_range(
        act, states, rules, decks, table, weights, rngs, views, log, lo, hi, points, autoreset,
        drawn_seat, seats, actions, obs, masks, rewards, dones, final_obs, final_masks,
    )  # fmt: skip


@entry(TAKE_TURNS)
def take_turns(
    states, rules, decks, table, weights, rngs, views, log, house, part, seats, waiting, lo, n
):
    """Make this agent's decisions in the lanes that wait for it; see `take_turns_range`."""
    return take_turns_range(
        act, states, rules, decks, table, weights, rngs, views, log, house, part, seats, waiting,
        lo, n,
    )  # fmt: skip


class GreedyAgent(CompiledBot):
    """Takes the most points at once."""

    name = "greedy"
    plays: ClassVar[dict[str, Plays]] = {
        "two_hand": Plays(VIEW, act_views, vector_step, take_turns),
        "table_top": table_top.PLAYS,
    }
