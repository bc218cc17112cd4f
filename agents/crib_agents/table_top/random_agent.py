"""`random` at Table Top: each legal action, the crib among them, is as likely."""

from __future__ import annotations

from crib_agents.compiled import Plays, passable
from crib_env.engine.jit import entry
from crib_env.engine.rng import below
from crib_env.engine.table_top.batch import ACT_VIEWS, VECTOR_STEP, vector_step_range
from crib_env.engine.table_top.cells import bit_count, lowest
from crib_env.engine.table_top.records import TABLE_VIEW


@passable
def act(v, rng, table, weights):
    """Return one of the legal actions of the view ``v``, drawn by ``rng``."""
    legal = v["legal"]
    for _ in range(below(rng, bit_count(legal))):
        legal &= legal - 1
    return lowest(legal)


@entry(ACT_VIEWS)
def act_views(views, rngs, table, weights, actions):
    """Write an action for each view."""
    for i in range(views.shape[0]):
        actions[i] = act(views[i], rngs[i], table, weights)


@entry(VECTOR_STEP)
def vector_step(
    states, rules, decks, table, weights, rngs, views, log, lo, hi, points, autoreset,
    drawn_seat, seats, actions, obs, masks, rewards, dones, final_obs, final_masks,
):  # fmt: skip
    """Step lanes for a learner among seats of this agent; see `vector_step_range`."""
    return vector_step_range(
        act, act, states, rules, decks, table, weights, weights, rngs, views, log, lo, hi, points,
        autoreset, drawn_seat, seats, actions, obs, masks, rewards, dones, final_obs, final_masks,
    )  # fmt: skip


PLAYS = Plays(TABLE_VIEW, act_views, vector_step)
