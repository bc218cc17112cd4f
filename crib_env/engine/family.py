"""The two engines, two-hand and Table Top, under one description that the shells read.

A shell (AEC, Gymnasium, vector, SB3) is written once against `Family` and plays every game.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.cards import format_card, format_cards, pip
from crib_env.engine.table_top import batch as table_top_batch
from crib_env.engine.table_top import encode as table_top_encode
from crib_env.engine.table_top import numbers as table_top_numbers
from crib_env.engine.table_top import records as table_top_records
from crib_env.engine.table_top import single as table_top_single
from crib_env.engine.two_hand import batch, encode, numbers, records, single
from crib_env.rules import Rules

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Family:
    """An engine as the shells see it.

    Attributes:
        name: ``"two_hand"`` or ``"table_top"``.
        state: the dtype of a game's full state.
        view: the dtype of what a seat may know.
        actions: the size of the action space.
        layout: the observation's slices: name, size, meaning.
        obs_size: the observation's length.
        seat_bits: bits of the packed step result that hold the seat to move.
        log_size: the length of an event log.
        phases: what a tally of points keeps apart.
        secret: a state's card that no seat, or only one, knows: the starter; the card in turn.
        single: the module of compiled entries for one game.
        batch: the module of compiled entries for many.
        rules_record: rules, an episode and the number of players as the engine's numbers.
        why_illegal: why an action is not legal for the seat of a view, as a sentence.
    """

    name: str
    state: np.dtype[np.void]
    view: np.dtype[np.void]
    actions: int
    layout: tuple[tuple[str, int, str], ...]
    obs_size: int
    seat_bits: int
    log_size: int
    phases: tuple[str, str, str]
    secret: Callable[[Any], int]
    single: ModuleType
    batch: ModuleType
    rules_record: Callable[[Rules, str, int], Array]
    why_illegal: Callable[[Any, int], str]


def why_card_illegal(view: Any, card: int) -> str:
    """Return why ``card`` may not be used by the seat of a two-hand ``view``."""
    if not 0 <= card < encode.ACTIONS:
        return f"{card} is no action: actions are the card ids 0 to 51"
    hand = [int(c) for c in view["hand"][: view["hand_n"]]]
    name = f"{format_card(card)} (action {card})"
    holds = f"player_{int(view['seat'])} holds {format_cards(hand)}"
    if card not in hand:
        return f"{name} is not held: {holds}"
    count = int(view["count"])
    legal = [c for i, c in enumerate(hand) if view["legal"] >> i & 1]
    return (
        f"{name} would take the count from {count} to {count + pip(card)}, past 31: "
        f"legal are {format_cards(legal)}"
    )


@cache
def two_hand() -> Family:
    """Return the engine of six-card and five-card cribbage."""
    return Family(
        name="two_hand",
        state=records.TWO_HAND,
        view=records.VIEW,
        actions=encode.ACTIONS,
        layout=encode.LAYOUT,
        obs_size=encode.OBS_SIZE,
        seat_bits=1,
        log_size=records.LOG_SIZE,
        phases=("play", "hand", "crib"),
        secret=lambda state: int(state["starter"]),
        single=single,
        batch=batch,
        rules_record=lambda rules, episode, players: numbers.rules_record(rules, episode),
        why_illegal=why_card_illegal,
    )


def format_cell(action: int) -> str:
    """Return a Table Top action in words."""
    if action == table_top_records.TO_CRIB:
        return "the crib"
    row, column = divmod(action, table_top_records.SIZE)
    return f"row {row}, column {column}"


def why_cell_illegal(view: Any, action: int) -> str:
    """Return why the seat of a Table Top ``view`` may not put its card there (T4-T6)."""
    if not 0 <= action <= table_top_records.TO_CRIB:
        return f"{action} is no action: 0 to 24 are cells (5 * row + column), 25 is the crib"
    seat = f"player_{int(view['seat'])}"
    place = f"{format_cell(action)} (action {action})"
    if action == table_top_records.TO_CRIB:
        return f"{place} is closed to {seat}: it owes the crib no more cards (T6)"
    if view["layout"][action] != records.NONE:
        return f"{place} is taken by {format_card(int(view['layout'][action]))}"
    if int(view["legal"]) == 1 << table_top_records.TO_CRIB:
        return f"{place} is closed: {seat} owes the crib all its cards to come (T6)"
    return f"{place} touches no card (T5)"


@cache
def table_top() -> Family:
    """Return the engine of Table Top cribbage."""
    return Family(
        name="table_top",
        state=table_top_records.TABLE_TOP,
        view=table_top_records.TABLE_VIEW,
        actions=table_top_encode.ACTIONS,
        layout=table_top_encode.LAYOUT,
        obs_size=table_top_encode.OBS_SIZE,
        seat_bits=2,
        log_size=table_top_records.LOG_SIZE,
        phases=("heels", "lines", "crib"),
        secret=lambda state: int(state["deck"][min(int(state["turn"]), 27)]),
        single=table_top_single,
        batch=table_top_batch,
        rules_record=table_top_numbers.rules_record,
        why_illegal=why_cell_illegal,
    )


FAMILIES: dict[str, Callable[[], Family]] = {"two_hand": two_hand, "table_top": table_top}


def find_family(name: str) -> Family:
    """Return an engine by name.

    Raises:
        ValueError: no engine of that name.
    """
    if name not in FAMILIES:
        raise ValueError(f"no engine is called {name!r}: there are {', '.join(FAMILIES)}")
    return FAMILIES[name]()
