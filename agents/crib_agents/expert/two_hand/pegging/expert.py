"""`PeggingExpert`: the pegging half of `expert`, by belief and search.

It does not discard. Combine it with an agent that does:
``PhasedAgent(discard="rule_based", pegging=PeggingExpert())``. It is deterministic and depends on
the view alone.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import float64, from_dtype, int64, types, void

from crib_agents.checks import HONOURS, presets_of, refuse_other_views
from crib_agents.data import tables
from crib_agents.data.tables import RANKS
from crib_agents.expert.two_hand.pegging.belief import enumerate_hands, systematic_resample
from crib_agents.expert.two_hand.pegging.rollout_policy import SIZE
from crib_agents.expert.two_hand.pegging.search import FINDINGS, WIN_VALUE, search_card
from crib_agents.expert.two_hand.pegging.show import look_ahead
from crib_agents.kernels.discard import game_of, pair_table_of
from crib_agents.knowledge.two_hand.measured import COUNT_SIZE, MODEL_T, load_model_for
from crib_agents.knowledge.two_hand.pegging import (
    FIRST,
    HOLDINGS,
    MOST,
    POSITION,
    POSITIONS_T,
    holdings,
    number,
)
from crib_agents.knowledge.two_hand.winning import group_by_win_table
from crib_env.answers import one_or_many
from crib_env.arrays import Doubles
from crib_env.engine.family import find_family
from crib_env.engine.hands.records import PEGGING
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE, TABLE_T
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import HAND, VIEWS_T
from crib_env.policy import Actions, Views

DRAWN = 256  # hypotheses searched, of up to 1,820


SCRATCH = np.dtype(
    [
        ("held", np.int64, (int(FIRST[MOST + 1] - FIRST[MOST]),)),  # hypotheses: holdings
        ("ways", np.float64, (int(FIRST[MOST + 1] - FIRST[MOST]),)),  # and their weights
        ("counts", np.int64, (DRAWN,)),  # what the other seat's hand counts under them by rank
        ("flush", np.float64, (DRAWN,)),  # and the probabilities that it is also a flush
        ("nob", np.float64, (DRAWN,)),  # or holds his nob
        ("shared", np.float64, (RANKS,)),
        ("chance", np.float64, (MOST,)),
        ("crib", np.float64, (COUNT_SIZE,)),
        ("count", np.int64),  # what this seat's hand counts
        ("flush_points", np.int64),  # what a flush does; the starter's point is left aside
        ("base", np.int64),  # where the game's tables begin
        ("single", np.int64),
        ("i_deal", np.int64),
    ],
    align=True,
)
SCRATCH_T = types.Array(from_dtype(SCRATCH), 1, "C")
POSITIONS = 4  # that a search needs
UNIT = 1024.0  # parts of a point in the file


@cache
def read_tables() -> tuple[Doubles, Doubles, Doubles]:
    """Return what the kernels know by heart of all games and roles, float64[2 * SIZE]."""
    held = tables.load(tables.REFLEX)
    rates = held["kept"].reshape(-1, HOLDINGS)
    return held["tables"].ravel() / UNIT, rates, held["suited"].ravel()


@kernel
def find(v, hands, weights, keeping_rates, suited, model, win_table, table, positions, s, found):
    """Write what each card of the view that may be played brings into ``found``, by its rank.

    Args:
        found: float64[RANKS, FINDINGS].
    """
    other = pair_table_of(v, v["dealer"])
    s["base"] = SIZE * game_of(v)
    s["single"] = v["single_count"]
    s["i_deal"] = 1 - v["dealer"]
    n = enumerate_hands(v, positions[0], s, hands, weights, keeping_rates[other])
    n = systematic_resample(n, DRAWN, s)
    look_ahead(v, n, s, hands, model, suited[other], table)
    counted = 0
    ranks = 0
    for k in range(v["hand_n"]):
        r = v["hand"][k] >> 2
        counted += 1 << (4 * r)
        ranks |= (v["legal"] >> k & 1) << r
    mine = number(counted)
    for r in range(RANKS):
        if ranks >> r & 1:
            search_card(r, mine, n, positions, s, hands, weights, win_table, found[r])


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


@entry(
    void(
        VIEWS_T, int64[:, ::1], float64[::1], float64[:, ::1], float64[::1], MODEL_T,
        float64[:, :, ::1], TABLE_T, POSITIONS_T, SCRATCH_T, int64, float64[:, :, ::1], int64[::1],
    )
)  # fmt: skip
def pegging_views(
    views, hands, weights, keeping_rates, suited, model, win_table, table, positions, scratch,
    forced, found, actions,
):  # fmt: skip
    """Write a card for each view, of equal value the higher.

    Args:
        views: all judged by ``win_table``.
        hands: `holdings`. weights, keeping_rates, suited: see `read_tables`.
        model: the record `MODEL`. table: the show table.
        positions, scratch: POSITIONS of `POSITION` and one `SCRATCH`, no matter what is in them.
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
            find(
                v, hands, weights, keeping_rates, suited, model[0], win_table, table, positions,
                scratch[0], at,
            )  # fmt: skip
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

    name = "pegging_expert"
    honours = HONOURS
    known_rules = presets_of("two_hand")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal card for each view, int64[B]; ``rng`` is not used."""
        return self._play(views, np.zeros((1, RANKS, FINDINGS)), forced=False)

    def findings(self, views: Views) -> Doubles:
        """Return what each card held would bring, for analysis, float64[B, 6, FINDINGS]."""
        by_rank = np.full((max(2, len(views)), RANKS, FINDINGS), np.nan)
        self._play(views, by_rank, forced=True)
        hands = views["hand"]
        rows = np.arange(len(views))[:, None]
        by_card: Doubles = by_rank[rows, np.maximum(hands, 0) >> 2]
        by_card[(views["legal"][:, None] >> np.arange(HAND) & 1) == 0] = np.nan
        return by_card

    def _play(self, views: Views, found: Doubles, *, forced: bool) -> Actions:
        refuse_other_views(self.name, views, find_family("two_hand"))
        if (views["phase"] != PEGGING).any():
            raise ValueError(f"{self.name} only pegs and cannot discard: for whole deals use "
                             "PhasedAgent(discard=..., pegging=...)")  # fmt: skip
        known = read_tables()
        positions = np.zeros(POSITIONS, dtype=POSITION)
        scratch = np.zeros(1, dtype=SCRATCH)
        actions = np.empty(len(views), dtype=np.int64)
        for win_table, rows in group_by_win_table(views):
            part = found if len(found) == 1 else found[rows]
            cards = np.empty(len(rows), dtype=np.int64)
            model = load_model_for(views[rows])
            pegging_views(
                np.ascontiguousarray(views[rows]), holdings(), *known, model,
                win_table, show_table(), positions, scratch, forced, part, cards,
            )  # fmt: skip
            actions[rows] = cards
            if len(found) > 1:
                found[rows] = part
        return actions
