"""The value of every choice in a position, as `expert` sees it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from crib_agents.expert.table_top import TableTopExpert
from crib_agents.expert.table_top.agent import VALUE, WIN_VALUE
from crib_agents.expert.table_top.value import MINE, THEIRS
from crib_agents.expert.two_hand.discard import expert
from crib_agents.expert.two_hand.pegging import search
from crib_agents.expert.two_hand.pegging.expert import PeggingExpert
from crib_env.cards import format_card, format_cards
from crib_env.encoding import family_of
from crib_env.engine.table_top import format_cell
from crib_env.engine.two_hand.records import DISCARD
from crib_env.parts import find_part
from crib_env.policy import Views
from crib_env.rules import LARGEST_TARGET


@dataclass(frozen=True)
class DiscardChoice:
    """A pair to discard, with three and four hands one card, and its value.

    Attributes:
        discard: the pair, such as ``"KH 6S"``.
        keep: the kept hand.
        hand: mean points of the hand over the starters.
        crib: mean points of the crib, negative if it is another side's; of several other sides'
            each counts in part.
        pegging: expected pegged points, minus those of the other seat; with three and four hands
            what `learned`'s network adds to hand and crib, beyond the mean of all choices.
        points: the sum of the three.
        win: the value, 0 to 1: the probability of winning the game, or the match; in a single deal
            the difference in points, scaled.
    """

    discard: str
    keep: str
    hand: float
    crib: float
    pegging: float
    points: float
    win: float


@dataclass(frozen=True)
class CardChoice:
    """A card to play, and its value.

    Attributes:
        card: the card.
        now: points it makes at once.
        mine: points this seat should peg in the rest of the deal's pegging; with three and four
            hands what its side should make in the rest of the deal, the show included.
        theirs: the same of the other seat; of several other sides the mean.
        points: ``now`` plus ``mine`` minus ``theirs``.
        win: the value, 0 to 1; see `DiscardChoice`.
    """

    card: str
    now: float
    mine: float
    theirs: float
    points: float
    win: float


@dataclass(frozen=True)
class CellChoice:
    """A place for the card in turn at Table Top, and what it brings.

    Attributes:
        place: ``"row 1, column 2"``, counted from 0, or ``"the crib"``.
        action: the environment's action.
        mine: points this seat's side is expected to make in the round.
        theirs: points the other side is.
        value: the difference, as a search over the next cards finds it; in a game each side's
            points are weighed in it by what they do to the chance of winning.
        win: the chance of winning the game with these points; of a single round, of making more.
    """

    place: str
    action: int
    mine: float
    theirs: float
    value: float
    win: float


Choice = DiscardChoice | CardChoice | CellChoice
Choices = list[DiscardChoice] | list[CardChoice] | list[CellChoice]


def analyze(views: Views) -> Choices:
    """Return every choice in a position, the best first.

    The first is what ``expert`` does, but that far from the end ``expert`` takes the value of a
    pair to discard as linear in points, to save time, and here it never is. The records
    are dataclasses, so that ``pandas.DataFrame(analyze(views))`` is a table of them.

    Args:
        views: records [1] of a view of a seat to move, such as `discard_view`, `pegging_view` or
            `layout_view` make, or ``np.array([env.unwrapped.view(seat)])``.

    Raises:
        ValueError: more than one view, one of a seat that is not to move, or of a game whose
            choices are not analysed.
    """
    if views.shape != (1,):
        raise ValueError(f"analyze takes one view, records [1], got an array of {views.shape}")
    view = views[0]
    if not view["to_move"]:
        raise ValueError("the view is of a seat that is not to move: it has nothing to choose")
    choices: Choices = find_part("analysis", family_of(views).name)(views)
    return choices


def pairs_or_cards(views: Views) -> Choices:
    """Return every pair to discard or every card to play, the best first."""
    return discards(views) if views["phase"][0] == DISCARD else cards(views)


def discards(views: Views) -> list[DiscardChoice]:
    """Return every pair the seat may discard, the best first.

    After the first card of a pair is laid, the pairs that hold it.
    """
    view = views[0]
    discarded = view["discarded"][: view["discarded_n"]].tolist()
    dealt = sorted(view["hand"][: view["hand_n"]].tolist() + discarded)
    _, columns = expert.rank_discards(views, near=LARGEST_TARGET)
    found = []
    for pair, row in zip(combinations(dealt, 2), columns[0], strict=False):
        if not set(discarded) <= set(pair):
            continue
        hand, crib = float(row[expert.HAND_MEAN]), float(row[expert.CRIB_MEAN])
        pegs = float(row[expert.OWN_PEGS] - row[expert.OTHER_PEGS])
        found.append(
            (
                (float(row[expert.WIN_VALUE]), pair[::-1]),
                DiscardChoice(
                    discard=format_cards(pair[::-1]),
                    keep=format_cards(card for card in reversed(dealt) if card not in pair),
                    hand=hand,
                    crib=crib,
                    pegging=pegs,
                    points=hand + crib + pegs,
                    win=float(row[expert.WIN_VALUE]),
                ),
            )
        )
    return [choice for _, choice in sorted(found, key=lambda each: each[0], reverse=True)]


def cards(views: Views) -> list[CardChoice]:
    """Return every card the seat may play, the best first."""
    view = views[0]
    found = []
    for card, row in zip(view["hand"].tolist(), PeggingExpert().findings(views)[0], strict=True):
        if np.isnan(row[search.WIN_VALUE]):
            continue
        now, mine = float(row[search.POINTS_NOW]), float(row[search.MY_POINTS])
        theirs = float(row[search.THEIR_POINTS])
        found.append(
            (
                (float(row[search.WIN_VALUE]), card),
                CardChoice(
                    format_card(card),
                    now,
                    mine,
                    theirs,
                    now + mine - theirs,
                    float(row[search.WIN_VALUE]),
                ),
            )
        )
    return [choice for _, choice in sorted(found, key=lambda each: each[0], reverse=True)]


def cells(views: Views) -> list[CellChoice]:
    """Return every place for the card in turn at Table Top, the best first."""
    columns = TableTopExpert().analyze(views[0])
    found = [
        CellChoice(
            format_cell(action), action, *(float(row[k]) for k in (MINE, THEIRS, VALUE, WIN_VALUE))
        )
        for action, row in enumerate(columns)
        if not np.isnan(row[VALUE])
    ]
    return sorted(found, key=lambda cell: -cell.value)
