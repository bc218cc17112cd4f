"""Three-handed cribbage to 121, everyone alone.

## Usage

Each seat is a side. A learner's two opponents are of one kind, that of ``opponent``.

## Keywords

``reset(options=...)`` takes ``decks`` (52-card permutations, one per deal, in order), ``dealer``
(the first dealer's seat) and ``scores`` (by side).

## Observation

Bits, named by ``crib_env.observation_layout("three_hand_v0")``: everything that the seat has seen
and done in this deal. Seats and sides are counted to the left from the seat that observes. A seat
never sees another's cards before they are played, nor the starter before it is turned. The crib
is the three cards discarded and one unseen card from the deck.

## Actions

An action is a card. Its id is ``4 * rank + suit`` (ace 0, suits C D H S). A deal starts with one
discard by each seat, from the dealer's left on. Then the seats peg in turn. "Go" is automatic: a
seat without a legal card is skipped, so a seat may act twice running.

## Rewards

``"win"``: +1 for the winner and -1/2 for each of the others at the episode's end. A deal is won by
the seat with the most points in it; seats that tie share the sum of their rewards.

``"points"``: at each step a seat's points less the mean of the others'. A seat's reward in
``last()`` is their sum since it last acted.

``"expected"`` and ``"expected_at_show"``: as in ``six_card_v0``, over every card that is dealt
neither to a seat nor to the crib.

## Version history

* v0: first version.
"""

from __future__ import annotations

from crib_env.engine.many_hand import FAMILY
from crib_env.envs.makers import EnvMaker

maker = EnvMaker("three_hand_v0", FAMILY, "three_hand")
__doc__ = maker.document(__doc__)

env, raw_env, gym_env = maker.env, maker.raw_env, maker.gym_env
vector_env, torch_env, sb3_env = maker.vector_env, maker.torch_env, maker.sb3_env
