"""The games for three and four (clauses M) as one family, under the file names of the others.

`records` holds the state and the view, `rules` the play, `count` what the show counts, `views` the
only gate to what a seat may know, `counting` what a view's cards make, `encode` the observation,
`features` what a learner may observe besides, `expected` points without the luck of the show,
`notation` and `text` the game in writing, `picture` as a drawing. Who scores together, and how many
play, are fields of the rules.
"""

from __future__ import annotations

from crib_env.engine.expected import expected_kernels
from crib_env.engine.family import Family
from crib_env.engine.hand_text import hand_of, why_illegal
from crib_env.engine.kernels import Kernels
from crib_env.engine.many_hand import records
from crib_env.engine.many_hand.count import crib_points, hand_points
from crib_env.engine.many_hand.encode import ACTIONS, LAYOUT, encode, encode_mask
from crib_env.engine.many_hand.expected import dealt_cards, has_show, undealt
from crib_env.engine.many_hand.features import FEATURES, write_features
from crib_env.engine.many_hand.notation import NOTATION
from crib_env.engine.many_hand.picture import closing, draw
from crib_env.engine.many_hand.rules import begin_episode, go_on, step, use_card
from crib_env.engine.many_hand.text import render
from crib_env.engine.many_hand.views import view
from crib_env.engine.pegs import phase_of
from crib_env.engine.slots import card_in, draw_slot, slot_of

KERNELS = Kernels(
    begin_episode=begin_episode,
    find_move=slot_of,
    draw_move=draw_slot,
    action_of=card_in,
    step=step,
    view=view,
    encode=encode,
    encode_mask=encode_mask,
    phase_of=phase_of,
    write_features=write_features,
)

FAMILY = Family(
    engine=__name__,
    rules=records.RULES,
    state=records.MANY_HAND,
    view=records.VIEW,
    kernels=KERNELS,
    sides={3: (0, 1, 2), 4: (0, 1, 0, 1)},
    episodes={"deal": records.DEAL, "game": records.GAME, "match": records.MATCH},
    actions=ACTIONS,
    layout=LAYOUT,
    log_size=records.LOG_SIZE,
    phases=("pegging", "hand", "crib"),
    hand=hand_of,
    hidden_card=lambda state: int(state["starter"]),
    why_illegal=why_illegal,
    text=render,
    notation=NOTATION,
    picture=draw,
    closing=closing,
    features=FEATURES,
    expected=expected_kernels(
        KERNELS,
        use_card=use_card,
        go_on=go_on,
        has_show=has_show,
        undealt=undealt,
        dealt_cards=dealt_cards,
        hand_points=hand_points,
        crib_points=crib_points,
    ),
)
