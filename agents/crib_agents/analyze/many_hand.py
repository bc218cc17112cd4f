"""The value of every choice in a game for three or four, as `expert` sees it.

`expert` takes the first: it goes by the chance of winning that a choice leaves.
"""

from __future__ import annotations

from crib_agents.analyze.choices import CardChoice, DiscardChoice
from crib_agents.expert.many_hand.agent import ManyHandExpert
from crib_agents.expert.many_hand.search import CRIB_MEAN, HAND_MEAN, MINE, NOW, PEGGED, THEIRS, WIN
from crib_env.arrays import Doubles
from crib_env.cards import format_card, format_cards
from crib_env.engine.slots import DISCARD
from crib_env.policy import Views


def cards_of_many(views: Views) -> list[DiscardChoice] | list[CardChoice]:
    """Return every card to discard or to play, the best first."""
    view, columns = views[0], ManyHandExpert().weigh(views)[0]
    held = view["hand"][: view["hand_n"]].tolist()
    usable = [
        (float(columns[k, WIN]), card, columns[k])
        for k, card in enumerate(held)
        if view["legal"] >> k & 1
    ]
    ranked = sorted(usable, key=lambda each: each[:2], reverse=True)
    if view["phase"] == DISCARD:
        return [_discard(card, held, row) for _, card, row in ranked]
    return [_play(card, row) for _, card, row in ranked]


def _discard(card: int, dealt: list[int], row: Doubles) -> DiscardChoice:
    hand, crib, pegging = (float(row[column]) for column in (HAND_MEAN, CRIB_MEAN, PEGGED))
    return DiscardChoice(
        discard=format_card(card),
        keep=format_cards(kept for kept in sorted(dealt, reverse=True) if kept != card),
        hand=hand,
        crib=crib,
        pegging=pegging,
        points=hand + crib + pegging,
        win=float(row[WIN]),
    )


def _play(card: int, row: Doubles) -> CardChoice:
    now, mine, theirs = (float(row[column]) for column in (NOW, MINE, THEIRS))
    return CardChoice(format_card(card), now, mine, theirs, now + mine - theirs, float(row[WIN]))
