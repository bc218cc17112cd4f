"""Table Top (clauses T), as one family, under the file names of `hands`.

`lines` values a view's lines for `features` and agents.
"""

from __future__ import annotations

from typing import Any

from crib_env.cards import format_card
from crib_env.engine.family import Family, Kernels
from crib_env.engine.record import NONE
from crib_env.engine.table_top import records
from crib_env.engine.table_top.encode import ACTIONS, LAYOUT, encode, encode_mask
from crib_env.engine.table_top.features import FEATURES, write_features
from crib_env.engine.table_top.notation import NOTATION
from crib_env.engine.table_top.picture import closing, draw
from crib_env.engine.table_top.records import SIZE, TO_CRIB, TURNS
from crib_env.engine.table_top.text import render
from crib_env.engine.table_top.transitions import begin_episode, draw_action, find_action, step, tally_column
from crib_env.engine.table_top.views import view
from crib_env.rules import TableTopRules


def format_cell(action: int, first: int = 0) -> str:
    """Return an action in words, rows and columns counted from ``first``."""
    if action == TO_CRIB:
        return "the crib"
    row, column = divmod(action, SIZE)
    return f"row {row + first}, column {column + first}"


def why_illegal(view: Any, action: int) -> str:
    """Return why the seat of a view may not put its card there (T4-T6)."""
    if not 0 <= action <= TO_CRIB:
        return f"{action} is not an action: 0 to 24 are cells (5 * row + column), 25 is the crib"
    seat = f"player_{int(view['seat'])}"
    place = f"{format_cell(action)} (action {action})"
    if action == TO_CRIB:
        return f"{place} is closed to {seat}: it owes the crib no more cards (T6)"
    if view["layout"][action] != NONE:
        return f"{place} is taken by {format_card(int(view['layout'][action]))}"
    if int(view["legal"]) == 1 << TO_CRIB:
        return f"{place} is closed: {seat} owes the crib all its cards to come (T6)"
    return f"{place} touches no card (T5)"


A_LINE = 29  # the most points of five cards, the crib's among them (C2)


def worst_loss(rules: Any, expected: bool) -> int:
    """Return an upper bound of the points that a side can still lose to the other.

    In a round the other side makes at most its five lines, the crib and heels. A game continues
    while the scores are below the target or equal, and ends with such a round (T9).
    """
    a_round = (SIZE + 1) * A_LINE + int(rules["heels"])
    return a_round if rules["episode"] == records.ROUND else int(rules["target"]) - 1 + a_round


PLAYERS = tuple(TableTopRules.seating)

FAMILY = Family(
    name="table_top",
    rules=records.TABLE_RULES,
    state=records.TABLE_TOP,
    view=records.TABLE_VIEW,
    kernels=Kernels(
        begin_episode=begin_episode,
        find_move=find_action,
        draw_move=draw_action,
        step=step,
        view=view,
        encode=encode,
        encode_mask=encode_mask,
        tally_column=tally_column,
        write_features=write_features,
    ),
    episodes={"round": records.ROUND, "game": records.GAME},
    actions=ACTIONS,
    layout=LAYOUT,
    phases=("heels", "lines", "crib"),
    hand=lambda view: [] if view["card"] == NONE else [int(view["card"])],
    hidden_card=lambda state: int(state["deck"][min(int(state["turn"]), TURNS - 1)]),
    why_illegal=why_illegal,
    text=render,
    notation=NOTATION,
    worst_loss=worst_loss,
    draw=draw,
    closing=closing,
    features=FEATURES,
)
