"""`PeggingExpert`: the pegging half of `expert`, by belief and search, judged by value.

It lays nothing away: put it together with something that does, as in
``PhasedAgent(discard="rule_based", pegging=PeggingExpert())``. It draws nothing: the card depends
on the view alone.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import float64, int64, void

from crib_agents.checks import refuse_other_views
from crib_agents.data import tables
from crib_agents.data.tables import RANKS
from crib_agents.expert.two_hand.pegging.search import (
    FINDINGS,
    SEARCH_T,
    WIN_VALUE,
    begin_search,
    make_search,
    search_card,
)
from crib_agents.expert.two_hand.pegging.show import look_ahead
from crib_agents.kernels.pair_tables import pair_table_of
from crib_agents.knowledge.honours import HONOURS
from crib_agents.knowledge.two_hand.holdings import HOLDINGS, held_ranks, number
from crib_agents.knowledge.two_hand.win_table import group_by_win_table
from crib_env.answers import one_or_many
from crib_env.engine.family import find_family
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.records import HAND, PEGGING, VIEWS_T
from crib_env.policy import Actions, Views

Array = tables.Array

UNIT = 1024.0  # parts of a point in the file


@cache
def read_tables() -> tuple[Array, Array, Array]:
    """Return what the kernels know by heart of all games and roles.

    Returns:
        float64[2 * SIZE], the reflex's tables in points: sums of 1,024ths are exact, so ties are
        ties in whatever order they are added up; float64[4, HOLDINGS], how often a holding is
        kept, by `pair_table_of` its game and role, relative to the mean over holdings; float64[4],
        how many times as large the odds of one suit are in a hand kept as in cards of the same
        ranks, all different, drawn at random.
    """
    held = tables.load(tables.REFLEX)
    rates = held["kept"].reshape(-1, HOLDINGS)
    return held["tables"].ravel() / UNIT, rates, held["suited"].ravel()


@kernel
def find(b, v, found):
    """Write what each card of the view that may be played brings into ``found``, by its rank.

    Args:
        b: a `Search`. found: float64[RANKS, FINDINGS].
    """
    n = begin_search(b, v)
    suited = b.suited[pair_table_of(v, 1 - v["is_dealer"])]
    look_ahead(v, n, b.scratch[0], b.hands, b.model[0], suited, b.table)
    ranks = 0
    for k in range(v["hand_n"]):
        ranks |= (v["legal"] >> k & 1) << (v["hand"][k] >> 2)
    mine = number(held_ranks(v))
    for r in range(RANKS):
        if ranks >> r & 1:
            search_card(b, 0, r, mine, n, found[r])


@kernel
def only_rank(v):
    """Return the rank of the cards that may be played if they are of one, else NONE."""
    only = NONE
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            r = v["hand"][k] >> 2
            if only != NONE and only != r:
                return NONE
            only = r
    return only


@entry(void(VIEWS_T, SEARCH_T, int64, float64[:, :, ::1], int64[::1]))
def pegging_views(views, search, forced, found, actions):
    """Write a card for each view, of equal value the higher.

    Args:
        views: all judged by the search's win table.
        forced: 1 to search even where there is no choice.
        found: float64[1 or B, RANKS, FINDINGS], written for the ranks that may be played, of the
            view or, with room for one, of each view in turn.
        actions: int64[B], written.
    """
    for i in range(views.shape[0]):
        v = views[i]
        at = found[i if found.shape[0] > 1 else 0]
        open_choice = only_rank(v) == NONE
        if open_choice or forced:
            find(search, v, at)
        card = NONE
        for k in range(v["hand_n"]):
            if v["legal"] >> k & 1:
                c = v["hand"][k]
                if card == NONE or (c >> 2 == card >> 2 and c > card):
                    card = c
                elif open_choice:
                    more = at[c >> 2, WIN_VALUE] - at[card >> 2, WIN_VALUE]
                    if more > 0.0 or (more == 0.0 and c > card):
                        card = c
        actions[i] = card


class PeggingExpert:
    """Plays the cards by belief and search."""

    name = "play_expert"
    honours = HONOURS

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal card for each view, int64[B]; ``rng`` is left alone.

        Raises:
            ValueError: a view is not of the play of a two-hand game.
        """
        return self._play(views, np.zeros((1, RANKS, FINDINGS)), forced=False)

    def findings(self, views: Views) -> Array:
        """Return what each card held would bring, for analysis.

        Args:
            views: structured array [B] of views, each of a seat to play.

        Returns:
            float64[B, 6, FINDINGS], one row for each card of ``hand``, NaN where it may not be
            played. The columns are `WIN_VALUE` (0 to 1, see `win_table`), `POINTS_NOW` that
            the card makes, and `MY_POINTS` and `THEIR_POINTS`, expected of the rest of the play.

        Raises:
            ValueError: a view is not of the play of a two-hand game.
        """
        by_rank = np.full((max(2, len(views)), RANKS, FINDINGS), np.nan)
        self._play(views, by_rank, forced=True)
        hands = views["hand"]
        rows = np.arange(len(views))[:, None]
        by_card: Array = by_rank[rows, np.maximum(hands, 0) >> 2]
        by_card[(views["legal"][:, None] >> np.arange(HAND) & 1) == 0] = np.nan
        return by_card

    def _play(self, views: Views, found: Array, *, forced: bool) -> Actions:
        refuse_other_views(self.name, views, find_family("two_hand"))
        if (views["phase"] != PEGGING).any():
            raise ValueError(f"{self.name} plays cards and lays none away: for whole deals use "
                             "PhasedAgent(discard=..., pegging=...)")  # fmt: skip
        actions = np.empty(len(views), dtype=np.int64)
        for win_table, rows in group_by_win_table(views):
            part = found if len(found) == 1 else found[rows]
            cards = np.empty(len(rows), dtype=np.int64)
            judged = np.ascontiguousarray(views[rows])
            search = make_search(judged, read_tables(), win_table)
            pegging_views(judged, search, forced, part, cards)
            actions[rows] = cards
            if len(found) > 1:
                found[rows] = part
        return actions
