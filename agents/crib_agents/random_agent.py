"""`random`: each legal card is as likely."""

from __future__ import annotations

from typing import ClassVar

from crib_agents.compiled import CompiledBot, Plays, passable
from crib_agents.table_top import random_agent as table_top
from crib_env.engine.jit import entry
from crib_env.engine.phases import TAKE_TURNS, take_turns_range
from crib_env.engine.rng import below
from crib_env.engine.two_hand.batch import (
    ACT_VIEWS,
    NTH_SLOT,
    SLOT_COUNT,
    VECTOR_STEP,
    vector_step_range,
)
from crib_env.engine.two_hand.records import VIEW


@passable
def act(v, rng, table, weights):
    """Return one of the legal cards of the view ``v``, drawn by ``rng``."""
    legal = v["legal"]
    return v["hand"][NTH_SLOT[legal, below(rng, SLOT_COUNT[legal])]]


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


class RandomAgent(CompiledBot):
    """Plays a legal card at random."""

    name = "random"
    plays: ClassVar[dict[str, Plays]] = {
        "two_hand": Plays(VIEW, act_views, vector_step, take_turns),
        "table_top": table_top.PLAYS,
    }
    draws: ClassVar[bool] = True
