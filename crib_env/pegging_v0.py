"""The play alone: the pegging of six- or five-card cribbage (clauses H3-H7, F4 and F5 in seeds).

A built-in policy keeps the hands for both seats; both play them, and what is pegged in the play
decides the reward. Hands and crib are not counted.

## Usage

    from crib_env import pegging_v0

    env = pegging_v0.env(keep="rule_based", reward="points")
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
| PettingZoo id | ``crib_env/pegging-v0`` |
| Gymnasium id | ``crib_env/Pegging-v0`` |

## Keywords

| keyword | values | default |
|---|---|---|
| ``keep`` | who discards for both seats: a name, an agent, a function | ``"rule_based"`` |
| ``rules`` | ``"hoyle"``, ``"five_card"`` or a `Rules` | ``"hoyle"`` |
| ``episode`` | ``"deal"`` | ``"deal"`` |
| ``reward`` | ``"win"``, ``"points"``, ``"expected"``, ``"expected_at_show"`` | ``"win"`` |

The Gymnasium, vector and SB3 forms also take ``features`` (``True``, ``"lookahead"``, ``"reply"``):
see docs/features.md.

Their ``opponent`` is a name, an agent, a function of a view, or several with their shares,
``[("greedy", 1), ("expert", 3)]``, one drawn for each episode; ``set_opponent`` puts another in its
place. ``mask_in_observation=True`` (``"rllib"``, ``"tianshou"``, ``"torchrl"``) observes the mask
too, in a dictionary; the vector form and the single one take it.

The others are as in ``six_card_v0``.

## Observation

That of ``six_card_v0``, the cards discarded included, so that what is trained here plays there:
``agents.PhasedAgent`` puts a discard agent and a pegging agent together.

## Actions

The card to play. "Go" is automatic, so a seat may act twice running.

## Rewards

``"points"``: what a seat pegged in the play less what the other did. ``"win"``: +1 to who pegged
more, 0 if both pegged as much. His heels are no part of the play: they are not pegged.
``"expected"`` and ``"expected_at_show"`` are ``"points"`` here: there is no show.

## Version history

* v0: first version.
"""

from __future__ import annotations

from crib_env.engine.two_hand import FAMILY
from crib_env.engine.two_hand.records import DISCARD
from crib_env.envs.makers import EnvSpec, PhasePolicySpec

maker = EnvSpec(
    "pegging_v0",
    FAMILY,
    "hoyle",
    episodes={"deal": "pegging"},
    phase=PhasePolicySpec("keep", DISCARD, "rule_based"),
)

env = maker.env
raw_env = maker.raw_env
gym_env = maker.gym_env
vector_env = maker.vector_env
sb3_env = maker.sb3_env
