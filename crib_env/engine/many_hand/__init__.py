"""The games for three and four (clauses M), as a family of `hands`.

The number of players and the partnerships are fields of the rules.
"""

from __future__ import annotations

from crib_env.engine.hands.encode import MANY, encode_many
from crib_env.engine.hands.family import hands_family
from crib_env.engine.hands.features import MANY as FEATURES
from crib_env.engine.hands.features import write_features_of_many
from crib_env.engine.hands.picture import draw_many
from crib_env.engine.hands.records import Sizes

SIZES = Sizes(seats=4, hand=5, discards=1, pile=16, crib=1)
SEATS = SIZES.seats
HAND = SIZES.hand
CRIB_SLOT = SEATS * HAND  # where the card dealt to the crib is (M2)

FAMILY = hands_family(
    "many_hand",
    SIZES,
    episodes=("deal", "game", "match"),
    encode=encode_many,
    layout=MANY,
    write_features=write_features_of_many,
    features=FEATURES,
    draw=draw_many,
)

STATE, VIEW = FAMILY.state, FAMILY.view
_, _, VIEWS_T = FAMILY.types
