"""Five-card cribbage for two players, to 61: short deals with one count.

## Usage

## Keywords

``reset(options=...)`` is that of ``six_card_v0``. Pone pegs three points for last (F1) at the start
of a game, unless you give ``scores``. The game has no match: ``episode="match"`` needs a house
rule, such as ``rules="five_card[match_target=7]"``.

## Observation

The same bits as in ``six_card_v0``, named by ``crib_env.observation_layout("five_card_v0")``. A
network made for one game reads the other's observations.

## Actions

As in ``six_card_v0``: an action is a card, two discards each and then the pegging, which ends here
with its first count (F4).

## Rewards

As in ``six_card_v0``: ``"win"``, ``"points"``, ``"expected"``, ``"expected_at_show"``. The
first to reach 61 wins a game.

## Version history

* v0: first version.
"""

from __future__ import annotations

from crib_env.engine.two_hand import FAMILY
from crib_env.envs.makers import EnvMaker

maker = EnvMaker("five_card_v0", FAMILY, "five_card")
__doc__ = maker.document(__doc__)

env, raw_env, gym_env = maker.env, maker.raw_env, maker.gym_env
vector_env, torch_env, sb3_env = maker.vector_env, maker.torch_env, maker.sb3_env
