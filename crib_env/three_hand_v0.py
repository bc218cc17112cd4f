"""Three-handed cribbage to 121, everyone alone.

## Usage

A learner's two opponents are of one kind: ``gymnasium.make("crib_env/ThreeHand-v0",
opponent="random")`` and ``gymnasium.make_vec(..., num_envs=1024)``. For Stable-Baselines3 use
``three_hand_v0.sb3_env(1024)``, for PyTorch tensors ``three_hand_v0.torch_env(1024)``.

Each seat is a side.

## Keywords

``reset(options=...)`` takes ``decks`` (52-card permutations, one per deal, in order), ``dealer``
(the first dealer's seat) and ``scores`` (by side).

## Observation

Bits, named by ``crib_env.observation_layout("three_hand_v0")``: the cards held and discarded, the
starter, the pile in order with each card's player and count, the count, the number of cards of each
seat, the seats that could not play in this count, the points every side still needs, the seat to
move, the dealer, and the sides. Seats and sides are counted to the left from the seat that
observes. It holds everything the seat has seen and done in this deal. A seat never sees another's
cards before they are played, nor the starter before it is turned. The crib is the three cards
discarded and one unseen card from the deck.

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
