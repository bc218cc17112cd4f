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
from crib_env.engine import batch, encode, numbers, records, single
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
        episodes: the names of the episodes that can be asked for.
        seat_bits: bits of the packed step result that hold the seat to move.
        single: the module of compiled entries for one game.
        batch: the module of compiled entries for many.
        rules_record: rules, an episode and the number of players as the engine's numbers.
        format_action: an action in words.
        why_illegal: why an action is not legal for the seat of a view, as a sentence.
    """

    name: str
    state: np.dtype[np.void]
    view: np.dtype[np.void]
    actions: int
    layout: tuple[tuple[str, int, str], ...]
    obs_size: int
    episodes: tuple[str, ...]
    seat_bits: int
    single: ModuleType
    batch: ModuleType
    rules_record: Callable[[Rules, str, int], Array]
    format_action: Callable[[int], str]
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
        episodes=tuple(numbers.EPISODES),
        seat_bits=1,
        single=single,
        batch=batch,
        rules_record=lambda rules, episode, players: numbers.rules_record(rules, episode),
        format_action=lambda action: format_card(action),
        why_illegal=why_card_illegal,
    )


FAMILIES: dict[str, Callable[[], Family]] = {"two_hand": two_hand}


def find_family(name: str) -> Family:
    """Return an engine by name.

    Raises:
        ValueError: no engine of that name.
    """
    if name not in FAMILIES:
        raise ValueError(f"no engine is called {name!r}: there are {', '.join(FAMILIES)}")
    return FAMILIES[name]()
