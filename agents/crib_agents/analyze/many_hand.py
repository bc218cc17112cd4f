"""The value of every choice in a game for three or four, as `expert` sees it.

`expert` takes the first: it goes by the chance of winning that a choice leaves.
"""

from __future__ import annotations

from operator import itemgetter

from crib_agents.analyze.choices import (
    CardChoice,
    DiscardChoice,
    card_choice,
    discard_choice,
)
from crib_agents.expert.many_hand import (
    CRIB_MEAN,
    HAND_MEAN,
    MINE,
    NOW,
    PEGGED,
    THEIRS,
    WIN,
    ManyHandExpert,
)
from crib_env.engine.hands.records import DISCARD
from crib_env.policy import Views


def cards_of_many(views: Views) -> list[DiscardChoice] | list[CardChoice]:
    """Return every card to discard or to play, the best first."""
    view, columns = views[0], ManyHandExpert().weigh(views)[0].tolist()
    held = view["hand"][: view["hand_n"]].tolist()
    usable = [
        (columns[k][WIN], card, columns[k]) for k, card in enumerate(held) if view["legal"] >> k & 1
    ]
    ranked = sorted(usable, key=itemgetter(0, 1), reverse=True)
    if view["phase"] == DISCARD:
        return [
            discard_choice([card], held, win, row[HAND_MEAN], row[CRIB_MEAN], row[PEGGED])
            for win, card, row in ranked
        ]
    return [card_choice(card, win, row[NOW], row[MINE], row[THEIRS]) for win, card, row in ranked]
