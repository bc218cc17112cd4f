"""Pegging alone: this phase of six- or five-card cribbage.

A policy discards for both seats. Both seats then peg, and the pegged points decide the reward.
Hands and crib are not counted.

## Usage

## Keywords
``discard_policy`` discards for both seats: a name, an agent or a function, by default
``"rule_based"``.

## Observation

The same as in ``six_card_v0``, the discarded cards included, so an agent trained here plays there.
``crib_agents.PhasedAgent`` joins a discard agent and a pegging agent.

## Actions

An action is the card to play. "Go" is automatic, so a seat may act twice running.

## Rewards

``"points"``: the seat's pegged points minus the other's.

``"win"``: +1 for the seat that pegged more and -1 for the other, 0 if equal.

Heels are not part of the pegging and do not count. ``"expected"`` and ``"expected_at_show"``
equal ``"points"``, since there is no show.

## Version history

* v0: first version.
"""

from __future__ import annotations

from crib_env.engine.hands.records import DISCARD
from crib_env.engine.two_hand import FAMILY
from crib_env.envs.config import PhasePolicySpec
from crib_env.envs.makers import EnvMaker

maker = EnvMaker(
    "pegging_v0",
    FAMILY,
    "hoyle",
    episodes={"deal": "pegging"},
    phase=PhasePolicySpec("discard_policy", DISCARD, "rule_based", "who discards, for both seats"),
    example='discard_policy="rule_based", reward="points"',
)
__doc__ = maker.document(__doc__)

env, raw_env, gym_env = maker.env, maker.raw_env, maker.gym_env
vector_env, torch_env, sb3_env = maker.vector_env, maker.torch_env, maker.sb3_env
