"""`rule_based`: what a good club player is taught, in numbers.

Laying away, it takes the exact mean of the hand over every starter it has not seen, plus the mean
crib of the pair if the crib is its own, minus it if not. In play it weighs points now against what
the other seat's reply is likely to peg; see
`kernels.pegging`. It does not play to the score.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from crib_agents.compiled import CompiledBot, Plays, passable
from crib_agents.data.tables import CRIB_TABLES, load
from crib_agents.kernels.charts import CELLS, cell, chart_of
from crib_agents.kernels.lay_away import DECK, lay_away_by, starters_total
from crib_agents.kernels.pegging import HEURISTICS, best_card
from crib_agents.table_top import rule_based as table_top
from crib_env.engine.jit import entry, kernel
from crib_env.engine.phases import TAKE_TURNS, take_turns_range
from crib_env.engine.two_hand.batch import ACT_VIEWS, VECTOR_STEP, vector_step_range
from crib_env.engine.two_hand.records import LAY_AWAY, VIEW


@kernel
def hand_and_crib(v, table, weights, low, high):
    """Value a pair to lay away by the mean hand, and the mean crib as gain or loss."""
    hand = starters_total(v, table, low, high) / (DECK - v["hand_n"] - v["laid_n"])
    dealer = v["is_dealer"]
    crib = weights[CELLS * chart_of(v, dealer) + cell(low, high)]
    return hand + crib if dealer else hand - crib


lay_away = lay_away_by(hand_and_crib)


@passable
def act(v, rng, table, weights):
    """Return the rule-based card for the view ``v``."""
    if v["phase"] == LAY_AWAY:
        return lay_away(v, table, weights)
    return best_card(v, weights)


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


def default_weights() -> npt.NDArray[np.float64]:
    """Return the weights of the agent: crib charts, keeping rates, then `HEURISTICS`."""
    tables = load(CRIB_TABLES)
    heuristics = [value for _, value, _ in HEURISTICS]
    return np.concatenate([tables["crib"].ravel(), tables["kept"].ravel(), heuristics])


class RuleBasedAgent(CompiledBot):
    """Keeps the best hand and crib on average, and pegs with care."""

    name = "rule_based"
    plays: ClassVar[dict[str, Plays]] = {
        "two_hand": Plays(VIEW, act_views, vector_step, take_turns),
        "table_top": table_top.PLAYS,
    }

    def __init__(self) -> None:
        super().__init__(default_weights())
