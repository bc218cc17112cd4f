"""Table Top cribbage: two or four players place cards on a 5x5 layout.

## Usage

Seats 0 and 2 score the rows, seats 1 and 3 the columns.

## Keywords

``reset(options=...)`` takes ``decks`` (the card of turn t is ``deck[t]``, the starter
``deck[28]``), ``dealer`` (a seat) and ``scores`` (by side).

## Observation

Bits, named by ``crib_env.observation_layout("table_top_v0")``: everything that the seat may know,
with a conferring partner's card in turn (T7). Cells are absolute, as the actions are.

## Actions

``5 * row + column`` places the card in turn on that cell; 25 sends it to the dealer's crib. The
mask enforces adjacency (T5) and the cards that each seat owes the crib (T6).

## Rewards

``"win"``: +1 for the seats of the winning side and -1 for the others at the episode's end. A round
is won by the side that scored more in it (0 if equal).

``"points"``: at each step side 0's points minus side 1's, and the opposite for side 1. A side
scores when a round is counted, and by heels. Heels turned at an episode's start are paid with
its first step.

## Version history

* v0: first version.
"""

from __future__ import annotations

from crib_env.engine.table_top import FAMILY
from crib_env.envs.makers import EnvMaker

maker = EnvMaker("table_top_v0", FAMILY, "table_top", episodes={"game": "game", "round": "round"}, example="players=4")
__doc__ = maker.document(__doc__)

env, raw_env, gym_env = maker.env, maker.raw_env, maker.gym_env
vector_env, torch_env, sb3_env = maker.vector_env, maker.torch_env, maker.sb3_env
