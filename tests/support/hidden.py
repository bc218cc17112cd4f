"""Other faces for the cards that a seat does not know. Shared by the tests that nothing leaks."""

from __future__ import annotations

from typing import Any

import numpy as np

from crib_env.engine.hands.records import DISCARD
from crib_env.engine.many_hand import HAND as HAND_OF_MANY
from crib_env.engine.record import NONE
from crib_env.engine.two_hand import HAND


def redraw_hands(state: Any, dealt: int, rng: np.random.Generator, seat: int | None = None) -> int:
    """Redraw the cards of a two-hand game hidden from a seat; return how many changed.

    Args:
        state: the game's record. dealt: cards dealt to a seat.
        seat: by default the seat to move.
    """
    seat = int(state["to_move"]) if seat is None else seat
    own = [HAND * seat + i for i in range(dealt)]
    played = set(state["pile"][: state["pile_n"]].tolist())
    other = [HAND * (1 - seat) + i for i in range(dealt)]
    hidden = [i for i in other if int(state["dealt"][i]) not in played]
    seen = played | {int(state["dealt"][i]) for i in own}
    if state["phase"] != DISCARD:
        seen.add(int(state["starter"]))
    unseen = rng.permutation([card for card in range(52) if card not in seen])
    changed = int((state["dealt"][hidden] != unseen[: len(hidden)]).sum())
    state["dealt"][hidden] = unseen[: len(hidden)]
    if state["phase"] == DISCARD:
        state["starter"] = unseen[-1]
    return changed


def redraw_many(state: Any, rng: np.random.Generator, seat: int) -> int:
    """Redraw the cards of a game for three or four hidden from a seat; return how many changed."""
    slots = [i for i, card in enumerate(state["dealt"].tolist()) if card != NONE]
    played = set(state["pile"][: state["pile_n"]].tolist())
    own = [i for i in slots if i // HAND_OF_MANY == seat]
    hidden = [i for i in slots if i not in own and int(state["dealt"][i]) not in played]
    seen = played | {int(state["dealt"][i]) for i in own}
    if state["phase"] != DISCARD:
        seen.add(int(state["starter"]))
    unseen = rng.permutation([card for card in range(52) if card not in seen])
    changed = int((state["dealt"][hidden] != unseen[: len(hidden)]).sum())
    state["dealt"][hidden] = unseen[: len(hidden)]
    if state["phase"] == DISCARD:
        state["starter"] = unseen[-1]
    return changed


def redraw(game: Any, rng: np.random.Generator, seat: int) -> int:
    """Redraw the cards of any game hidden from a seat; return how many changed."""
    return redraw_state(game.states[0], game.view(seat), game.rules, rng)


def redraw_state(state: Any, view: Any, rules: Any, rng: np.random.Generator) -> int:
    """Redraw the cards of a state hidden from the seat of a view; return how many changed."""
    if rules.family == "table_top":
        return redraw_turns(state, view, rng)
    seat = int(view["seat"])
    if rules.family == "many_hand":
        return redraw_many(state, rng, seat)
    return redraw_hands(state, rules.dealt, rng, seat)


def redraw_turns(state: Any, view: Any, rng: np.random.Generator) -> int:
    """Redraw the cards of a Table Top game that a seat's view does not show; return how many."""
    seen = [*view["layout"].tolist(), *view["crib"].tolist(), view["card"], view["partner_card"]]
    shown = {int(card) for card in seen if card != NONE}
    hidden = [t for t, card in enumerate(state["deck"].tolist()) if card not in shown]
    unseen = rng.permutation([card for card in range(52) if card not in shown])
    changed = int((state["deck"][hidden] != unseen[: len(hidden)]).sum())
    state["deck"][hidden] = unseen[: len(hidden)]
    return changed
