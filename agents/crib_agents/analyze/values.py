"""Expert's value of every action in many views at once, by action.

A value is from 0 to 1, as in `crib_agents.analyze.DiscardChoice.win`, and NaN where the action is
illegal: float64[B, actions]. They are the values that `expert` itself compares.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from crib_agents.expert.many_hand import WIN, ManyHandExpert
from crib_agents.expert.table_top import TableTopExpert
from crib_agents.expert.table_top.agent import ACTIONS, WIN_VALUE
from crib_agents.expert.two_hand import discard, pegging
from crib_agents.expert.two_hand.pegging import PeggingExpert
from crib_env.arrays import Doubles
from crib_env.cards import DECK_SIZE
from crib_env.engine.hands.records import DISCARD
from crib_env.policy import Views


def values_two(views: Views) -> Doubles:
    """Return the value of each card with two hands; one to discard has that of its best pair."""
    values = np.full((len(views), DECK_SIZE), np.nan)
    pegs = np.flatnonzero(views["phase"] != DISCARD)
    if len(pegs):
        found = PeggingExpert().findings(views[pegs])[:, :, pegging.WIN_VALUE]
        values[pegs] = _by_card(views[pegs], found)
    discards = np.flatnonzero(views["phase"] == DISCARD)
    if len(discards):
        values[discards] = _by_pair(views[discards])
    return values


def values_many(views: Views) -> Doubles:
    """Return the value of each card with three and four hands."""
    return _by_card(views, ManyHandExpert().weigh(views)[:, :, WIN])


def values_cells(views: Views) -> Doubles:
    """Return the value of each place at Table Top."""
    expert = TableTopExpert()
    found = [expert.analyze(view)[:, WIN_VALUE] for view in views]
    return np.array(found).reshape(len(views), ACTIONS)


def _by_card(views: Views, found: Doubles) -> Doubles:
    """Return values of the cards of a hand by card."""
    values = np.full((len(views), DECK_SIZE), np.nan)
    legal = views["legal"][:, None] >> np.arange(views["hand"].shape[1]) & 1 == 1
    at, slot = np.nonzero(legal)
    values[at, views["hand"][at, slot]] = found[at, slot]
    return values


def _by_pair(views: Views) -> Doubles:
    """Return the value of the best pair with each card that may be discarded."""
    values = np.full((len(views), DECK_SIZE), np.nan)
    size = int(views["dealt"][0])
    columns = discard.rank_discards(views)[1][:, : comb(size, 2), discard.WIN_VALUE]
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
