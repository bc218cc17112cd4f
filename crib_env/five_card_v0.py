"""Five-card cribbage for two players, to 61 (clauses C1-C5 and F1-F7 in seeds).

## Usage

    from crib_env import five_card_v0

    env = five_card_v0.env()
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
        else:
            action = env.action_space(agent).sample(observation["action_mask"])
        env.step(action)

As Gymnasium environments, a learner against an opponent: ``gymnasium.make("crib_env/FiveCard-v0",
opponent="rule_based")``, ``gymnasium.make_vec(..., num_envs=1024)``; for Stable-Baselines3
``five_card_v0.sb3_env(1024)``.

| | |
|---|---|
| Agents | ``player_0``, ``player_1`` |
| Actions | ``Discrete(52)`` |
| Observation | ``{"observation": uint8[425], "action_mask": int8[52]}``, all 0 or 1 |
| PettingZoo id | ``crib_env/five_card-v0`` |
| Gymnasium id | ``crib_env/FiveCard-v0`` |

## Keywords

| keyword | values | default |
|---|---|---|
| ``rules`` | ``"five_card"``, ``"hoyle"`` or a `Rules` | ``"five_card"`` |
| ``episode`` | ``"deal"``, ``"game"`` (to 61), ``"match"`` (to seven game points) | ``"game"`` |
| ``reward`` | ``"win"``, ``"points"``, ``"expected"``, ``"expected_at_show"`` | ``"win"`` |
| ``on_illegal`` | ``"terminate"``, ``"raise"`` | ``env``: terminate, ``raw_env``: raise |
| ``render_mode`` | ``None``, ``"ansi"``, ``"svg"``, ``"rgb_array"``, ``"human"`` | ``None`` |
| ``viewer`` | whose knowledge is rendered: a seat, ``"all"``; ``None`` who acts | ``None`` |

The Gymnasium, vector and SB3 forms also take ``features`` (``True``, ``"lookahead"``, ``"reply"``):
see docs/features.md.

Their ``opponent`` is a name, an agent, a function of a view, or several with their shares,
``[("greedy", 1), ("expert", 3)]``, one drawn for each episode; ``set_opponent`` puts another in its
place. ``mask_in_observation=True`` (``"rllib"``, ``"tianshou"``, ``"torchrl"``) observes the mask
too, in a dictionary; the vector form and the single one take it.

``reset(options=...)`` takes ``decks`` (52-card permutations, one for each deal in order),
``dealer`` (the seat of the first) and ``scores``. Pone's three points for last (F1) are
pegged at the start of a game unless ``scores`` says where it stands.

## Observation

The same bits as in ``six_card_v0``, named by ``crib_env.observation_layout("five_card_v0")``: the
cards held and discarded, the starter, the pile in order with who played what, the count, how many
cards the other seat holds, the points both still need, the game points, and whose turn and deal it
is. Within a deal it holds all the seat has seen and done. A seat never sees the other's cards
before they are played, nor the starter before it is turned.

## Actions

The card: its id is ``4 * rank + suit`` (ace 0, suits C D H S). A deal starts with two single-card
discards by each seat, non-dealer first, then the play. "Go" is automatic: a seat without a legal
card is skipped, so a seat may act twice running.

## Rewards

``"win"``: +1 and -1 at the episode's end: who reached 61; who won the match; who made more points
in the deal (0 if both made as many). ``"points"``: at each step seat 0's points less seat 1's, and
the opposite for seat 1; a seat's reward in ``last()`` is their sum since it last acted.
``"expected"`` is ``"points"`` without the luck of the starter: hands, crib and heels are paid as
their mean when both seats have discarded, which depends on the other seat's hidden cards.
``"expected_at_show"`` pays that mean when the hands are shown: the same in sum, and it tells a
seat nothing that it has not seen.

## Version history

* v0: first version.
"""

from __future__ import annotations

from crib_env.engine.two_hand import FAMILY
from crib_env.envs.makers import EnvSpec

maker = EnvSpec("five_card_v0", FAMILY, "five_card")

env = maker.env
raw_env = maker.raw_env
gym_env = maker.gym_env
vector_env = maker.vector_env
sb3_env = maker.sb3_env
