"""`random`: each legal card is as likely."""

from __future__ import annotations

from typing import ClassVar

from crib_agents.table_top import random_agent as table_top
from crib_env.engine.rng import below
from crib_env.engine.two_hand.slots import NTH_SLOT, SLOT_COUNT
from crib_env.policy import Act, CompiledAgent


def act(v, rng, table, weights):
    """Return one of the legal cards of the view ``v``, drawn by ``rng``."""
    legal = v["legal"]
    return v["hand"][NTH_SLOT[legal, below(rng, SLOT_COUNT[legal])]]


class RandomAgent(CompiledAgent):
    """Plays a legal card at random."""

    name = "random"
    acts: ClassVar[dict[str, Act]] = {"two_hand": act, "table_top": table_top.act}
    draws: ClassVar[bool] = True
