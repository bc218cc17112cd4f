"""Discarding alone: this phase of six- or five-card cribbage.

Both seats discard. A policy then pegs for both seats, and the deal's points decide the reward.

## Usage

## Keywords
``pegging_policy`` pegs for both seats: a name, an agent or a function, by default ``"greedy"``.

## Observation

The same as in ``six_card_v0``, so an agent trained here plays there. ``crib_agents.PhasedAgent``
joins a discard agent and a pegging agent.

## Actions

Each seat discards two single cards, non-dealer first. Neither learns the other's.

## Rewards

``"points"``: the seat's points in the whole deal minus the other's.

``"win"``: +1 for the seat with more points in the deal and -1 for the other, 0 if equal; in a
game, +1 for its winner.

``"expected"`` and ``"expected_at_show"``: as in ``six_card_v0``.

## Version history

* v0: first version.
"""

from __future__ import annotations

from crib_env.engine.hands.records import PEGGING
from crib_env.engine.two_hand import FAMILY
from crib_env.envs.config import PhasePolicySpec
from crib_env.envs.makers import EnvMaker

maker = EnvMaker(
    "discard_v0",
    FAMILY,
    "hoyle",
    episodes={"deal": "deal", "game": "game", "match": "match"},
    phase=PhasePolicySpec("pegging_policy", PEGGING, "greedy", "who pegs, for both seats"),
    example='pegging_policy="greedy", reward="points"',
)
__doc__ = maker.document(__doc__)

env, raw_env, gym_env = maker.env, maker.raw_env, maker.gym_env
vector_env, torch_env, sb3_env = maker.vector_env, maker.torch_env, maker.sb3_env
