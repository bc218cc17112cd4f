"""The games for two, six-card and five-card cribbage (clauses H and F), as a family of `hands`."""

from __future__ import annotations

from crib_env.engine.hands.encode import TWO, encode_two
from crib_env.engine.hands.family import hands_family
from crib_env.engine.hands.features import TWO as FEATURES
from crib_env.engine.hands.features import write_features_of_two
from crib_env.engine.hands.picture import draw_two
from crib_env.engine.hands.records import Sizes

SIZES = Sizes(seats=2, hand=6, discards=2, pile=8, crib=0)
HAND = SIZES.hand
PILE = SIZES.pile

FAMILY = hands_family(
    "two_hand",
    SIZES,
    episodes=("deal", "game", "match", "pegging"),
    encode=encode_two,
    layout=TWO,
    write_features=write_features_of_two,
    features=FEATURES,
    draw=draw_two,
    canonical=True,
)

RULES, STATE, VIEW = FAMILY.rules, FAMILY.state, FAMILY.view
STATES_T, RULES_T, VIEWS_T = FAMILY.types
view = FAMILY.kernels.view
