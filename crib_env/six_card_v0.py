"""Six-card cribbage for two players, to 121: deals, games, and matches with skunks.

## Usage

## Keywords

``reset(options=...)`` takes ``decks`` (52-card permutations, one per deal, in order), ``dealer``
(the first dealer's seat) and ``scores``.

## Observation

Bits, named by ``crib_env.observation_layout("six_card_v0")``: everything that the seat has seen
and done in this deal. A seat never sees the other's cards before they are played, nor the starter
before it is turned.

## Actions

An action is a card. Its id is ``4 * rank + suit`` (ace 0, suits C D H S). A deal starts with two
single-card discards by each seat, non-dealer first. Then the seats peg. "Go" is automatic: a seat
without a legal card is skipped, so a seat may act twice running.

## Rewards

``"win"``: +1 for the winner and -1 for the loser at the episode's end. The first
to reach 121 wins a game, the first to 7 game points a match, and more points a deal (0 if equal).

``"points"``: at each step seat 0's points minus seat 1's, and the opposite for seat 1. A seat's
reward in ``last()`` is their sum since it last acted.

``"expected"``: ``"points"`` without the luck of the starter. Hands, crib and heels are paid as
their mean when both seats have discarded. That mean depends on the other seat's hidden cards.

``"expected_at_show"``: pays that mean when the hands are shown. The sum is the same, and it reveals
nothing that the seat has not seen.

Over one deal all three have the same mean for any play, so the same policy is best. Over a game the
two without luck also count the points of the last show beyond the target: they pay for points per
deal, as ``"points"`` nearly does, and not for the win.

## Version history

* v0: first version.
"""

from __future__ import annotations

from crib_env.engine.two_hand import FAMILY
from crib_env.envs.makers import EnvMaker

maker = EnvMaker("six_card_v0", FAMILY, "hoyle")
__doc__ = maker.document(__doc__)

env, raw_env, gym_env = maker.env, maker.raw_env, maker.gym_env
vector_env, torch_env, sb3_env = maker.vector_env, maker.torch_env, maker.sb3_env
