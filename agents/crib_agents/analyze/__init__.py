"""Every choice in a position with its value, the best first.

The values are `expert`'s; with three and four hands they are `learned`'s.

`analyze` takes a seat's view; `discard_view`, `pegging_view` and, for Table Top, `layout_view`
make one from cards written as text. `crib analyze` is the same on the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from crib_agents.analyze.views import discard_view, layout_view, pegging_view
from crib_agents.expert import discard, pegging, table_top
from crib_agents.expert.endgame import as_won
from crib_agents.expert.table_top import ACTIONS, MINE, THEIRS, VALUE, WIN_VALUE
from crib_agents.learned import MonteCarloAgent, many_hand
from crib_env.arrays import Doubles
from crib_env.cards import DECK_SIZE, format_card, format_cards
from crib_env.engine.family import family_of
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.table_top import format_cell
from crib_env.policy import Views
from crib_env.rules import LARGEST_TARGET

__all__ = ["CardChoice", "CellChoice", "DiscardChoice", "analyze", "discard_view", "layout_view", "pegging_view"]


@dataclass(frozen=True)
class DiscardChoice:
    """A pair to discard, with three and four hands one card, and its value.

    Attributes:
        discard: the pair, such as ``"KH 6S"``.
        keep: the kept hand.
        hand: mean points of the hand over the starters.
        crib: mean points of the crib; negative if it is another side's, and then divided by the
            number of other sides.
        pegging: expected pegged points, minus those of the other seat; with three and four hands
            the points that `learned`'s network expects besides hand and crib.
        points: the sum of the three.
        win: the value, 0 to 1: the probability of winning the game, or the match; in a single deal
            the difference in points, scaled. With three and four hands it is always the probability
            of winning the game.
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
        now: points that it pegs now.
        mine: expected points of this seat in the rest of the pegging; with three and four hands
            those of its side in the rest of the deal, less the mean of the others'.
        theirs: the same for the other seat; 0 with three and four hands.
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
    """A place for the card in turn at Table Top, and its value.

    Attributes:
        place: ``"row 1, column 2"``, counted from 0, or ``"the crib"``.
        action: the environment's action.
        mine: expected points of this seat's side in the round.
        theirs: expected points of the other side.
        value: the difference, by a search over the next cards; in a game each side's points are
            weighted by their effect on the probability of winning.
        win: the probability of winning the game, or a single round: for the best place by its
            ``mine`` and ``theirs``, for another by those points less its loss in ``value``.
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

    The first is the choice of ``expert``, with few exceptions. Near the end of a two-hand game
    ``win`` is shifted to ``expert``'s measured share of games won, in the same order. To save time,
    ``expert`` takes values of discards far from the end as linear in points, and at Table Top
    searches only its four best places further; `analyze` does neither. With three and four hands
    the first is the choice of ``learned``. The records are dataclasses, so that
    ``pandas.DataFrame(analyze(views))`` is a table of them.

    Args:
        views: records [1] of a view of a seat to move, such as `discard_view`, `pegging_view` or
            `layout_view` make, or ``np.array([env.unwrapped.view(seat)])``.

    Raises:
        ValueError: more than one view, one of a seat that is not to move, or of rules for three and
            four that `learned` has no networks for.
    """
    if views.shape != (1,):
        raise ValueError(f"analyze takes one view, records [1], got an array of {views.shape}")
    view = views[0]
    if not view["to_move"]:
        raise ValueError("the view is of a seat that is not to move: it has nothing to choose")
    choices: Choices = CHOICES[family_of(views).name](views)
    return choices


def action_values(views: Views) -> Doubles:
    """Return each action's value, the ``win`` of its best choice, float64[B, actions], or NaN."""
    return VALUES[family_of(views).name](views)


def two_hand_choices(views: Views) -> Choices:
    """Return every card to play, or pair to discard (with a card already discarded), best first."""
    view = views[0]
    held = view["hand"][: view["hand_n"]].tolist()
    if view["phase"] != DISCARD:
        found = pegging.findings(views)
        found[:, :, pegging.WIN_VALUE] = as_won(views, found[:, :, pegging.WIN_VALUE])
        rows = zip(held, found[0].tolist(), strict=False)
        return card_choices([(win, card, *points) for card, (win, *points) in rows if not np.isnan(win)])
    laid = view["discarded"][: view["discarded_n"]].tolist()
    dealt = sorted(held + laid)
    ranked = discard.rank_discards(views, near=LARGEST_TARGET)[1]
    ranked[:, :, discard.WIN_VALUE] = as_won(views, ranked[:, :, discard.WIN_VALUE])
    pairs = zip(combinations(dealt, 2), ranked[0].tolist(), strict=False)
    return discard_choices(
        dealt,
        [
            (win, pair[::-1], hand, crib, own - other)
            for pair, (hand, crib, own, other, win) in pairs
            if set(laid) <= set(pair)
        ],
    )


def many_hand_choices(views: Views) -> Choices:
    """Return every card to discard or to play with three and four hands, the best first."""
    view, columns = views[0], many_hand.columns(views, MonteCarloAgent())[0].tolist()
    held = view["hand"][: view["hand_n"]].tolist()
    usable = [(card, columns[k]) for k, card in enumerate(held) if view["legal"] >> k & 1]
    if view["phase"] == DISCARD:
        return discard_choices(
            held,
            [
                (win, (card,), hand, with_crib - hand, value - with_crib)
                for card, (hand, with_crib, value, win) in usable
            ],
        )
    return card_choices([(win, card, now, value - now, 0.0) for card, (now, _, value, win) in usable])


def discard_choices(
    dealt: list[int], found: list[tuple[float, tuple[int, ...], float, float, float]]
) -> list[DiscardChoice]:
    """Return choices of discards, the best first, from tuples (win, cards, hand, crib, pegging)."""
    choices = []
    for win, away, hand, crib, pegs in sorted(found, reverse=True):
        keep = (card for card in sorted(dealt, reverse=True) if card not in away)
        texts = format_cards(away), format_cards(keep)
        choices.append(DiscardChoice(*texts, hand, crib, pegs, hand + crib + pegs, win))
    return choices


def card_choices(found: list[tuple[float, int, float, float, float]]) -> list[CardChoice]:
    """Return choices of cards, the best first, from tuples (win, card, now, mine, theirs)."""
    return [
        CardChoice(format_card(card), now, mine, theirs, now + mine - theirs, win)
        for win, card, now, mine, theirs in sorted(found, reverse=True)
    ]


def table_top_choices(views: Views) -> list[CellChoice]:
    """Return every place for the card in turn at Table Top, the best first."""
    columns = table_top.analyze(views[0])
    found = [
        CellChoice(format_cell(action), action, *(float(row[k]) for k in (MINE, THEIRS, VALUE, WIN_VALUE)))
        for action, row in enumerate(columns)
        if not np.isnan(row[VALUE])
    ]
    return sorted(found, key=lambda cell: -cell.value)


def two_hand_action_values(views: Views) -> Doubles:
    """Return the value of each card with two hands; a discard has the value of its best pair."""
    values = np.full((len(views), DECK_SIZE), np.nan)
    pegs = np.flatnonzero(views["phase"] != DISCARD)
    if len(pegs):
        found = pegging.findings(views[pegs])[:, :, pegging.WIN_VALUE]
        values[pegs] = _by_card(views[pegs], as_won(views[pegs], found))
    discards = np.flatnonzero(views["phase"] == DISCARD)
    if len(discards):
        values[discards] = _by_pair(views[discards])
    return values


def many_hand_action_values(views: Views) -> Doubles:
    """Return the value of each card with three and four hands."""
    return _by_card(views, many_hand.columns(views, MonteCarloAgent())[:, :, many_hand.CHANCE])


def table_top_action_values(views: Views) -> Doubles:
    """Return the value of each place at Table Top."""
    found = [table_top.analyze(view)[:, WIN_VALUE] for view in views]
    return np.array(found).reshape(len(views), ACTIONS)


def _by_card(views: Views, found: Doubles) -> Doubles:
    """Convert values by place in the hand to values by card, float64[B, 52]; NaN if illegal."""
    values = np.full((len(views), DECK_SIZE), np.nan)
    legal = views["legal"][:, None] >> np.arange(views["hand"].shape[1]) & 1 == 1
    at, slot = np.nonzero(legal)
    values[at, views["hand"][at, slot]] = found[at, slot]
    return values


def _by_pair(views: Views) -> Doubles:
    """Return the value of the best pair with each card that may be discarded."""
    values = np.full((len(views), DECK_SIZE), np.nan)
    sizes = np.unique(views["dealt"])
    if len(sizes) > 1:  # views of both two-hand games
        for size in sizes:
            some = views["dealt"] == size
            values[some] = _by_pair(views[some])
        return values
    size = int(sizes[0])
    ranked = discard.rank_discards(views)[1][:, : comb(size, 2), discard.WIN_VALUE]
    columns = as_won(views, ranked)
    first = views["discarded_n"] == 0
    held = views["hand"][:, :size].copy()
    held[~first, size - 1] = views["discarded"][~first, 0]
    held.sort(axis=1)
    gone = np.where(first, -1, views["discarded"][:, 0])
    n = np.arange(len(views))
    for k, pair in enumerate(combinations(range(size), 2)):
        cards = held[:, pair]
        fits = first | (cards == gone[:, None]).any(axis=1)
        for card in cards.T:
            better = fits & (card != gone)
            at = n[better], card[better]
            values[at] = np.fmax(values[at], columns[better, k])
    return values


CHOICES: dict[str, Callable[[Views], Choices]] = {
    "two_hand": two_hand_choices,
    "many_hand": many_hand_choices,
    "table_top": table_top_choices,
}
VALUES: dict[str, Callable[[Views], Doubles]] = {
    "two_hand": two_hand_action_values,
    "many_hand": many_hand_action_values,
    "table_top": table_top_action_values,
}
