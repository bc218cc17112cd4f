"""Discarding alone: the discard phase of six- or five-card cribbage (clauses H1 and F2 in seeds).

Both seats discard; a built-in policy plays out the rest of the deal for both, and the deal's
points decide the reward.

## Usage

    from crib_env import discard_v0

    env = discard_v0.env(playout="greedy", reward="points")
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
        else:
            action = env.action_space(agent).sample(observation["action_mask"])
        env.step(action)

| | |
|---|---|
| Agents | ``player_0``, ``player_1`` |
| Actions | ``Discrete(52)``, the card |
| Observation | as in ``six_card_v0``: 425 bits, and the action mask |
| PettingZoo id | ``crib_env/discard-v0`` |
| Gymnasium id | ``crib_env/Discard-v0`` |

## Keywords

| keyword | values | default |
|---|---|---|
| ``pegging_policy`` | who pegs for both seats: a name, an agent, a function | ``"greedy"`` |
| ``rules`` | ``"hoyle"``, ``"five_card"`` or a `Rules` | ``"hoyle"`` |
| ``episode`` | ``"deal"``, ``"game"``, ``"match"`` | ``"deal"`` |
| ``reward`` | ``"win"``, ``"points"``, ``"expected"``, ``"expected_at_show"`` | ``"win"`` |

The Gymnasium, vector and SB3 forms also take ``features`` (``True``, ``"lookahead"``, ``"reply"``):
see docs/features.md.

Their ``opponent`` is a name, an agent, a function of a view, or several with their shares,
``[("greedy", 1), ("expert", 3)]``, one drawn for each episode; ``set_opponent`` puts another in its
place. ``mask_in_observation=True`` (``"rllib"``, ``"tianshou"``, ``"torchrl"``) observes the mask
too, in a dictionary; the vector form and the single one take it.

The others are as in ``six_card_v0``.

## Observation

That of ``six_card_v0``, so that what is trained here plays there: ``agents.PhasedAgent`` puts a
discard agent and a pegging agent together.

## Actions

Two single cards by each seat, non-dealer first, without either learning the other's.

## Rewards

``"points"``: what a seat's side pegged in the whole deal, played out, less the other's.
``"win"``: +1 to who made more points in the deal, 0 if both made as many; a game by who won it.
``"expected"`` and ``"expected_at_show"``: as in six_card_v0.

## Version history

* v0: first version.
"""

from __future__ import annotations

from crib_env.engine.two_hand import FAMILY
from crib_env.engine.two_hand.records import PEGGING
from crib_env.envs.makers import EnvSpec, PhasePolicySpec

maker = EnvSpec(
    "discard_v0",
    FAMILY,
    "hoyle",
    episodes={"deal": "deal", "game": "game", "match": "match"},
    phase=PhasePolicySpec("pegging_policy", PEGGING, "greedy"),
)

env = maker.env
raw_env = maker.raw_env
gym_env = maker.gym_env
vector_env = maker.vector_env
sb3_env = maker.sb3_env
