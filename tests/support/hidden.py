"""Redraw the cards that a seat does not know. Shared by the tests that nothing leaks."""

from __future__ import annotations

from typing import Any

import numpy as np

from crib_env.engine.hands.records import DISCARD
from crib_env.engine.record import NONE


def redraw_hands(state: Any, rng: np.random.Generator, seat: int, dealt: int | None = None) -> int:
    """Redraw the cards of a game of hands hidden from a seat; return how many changed.

    Args:
        dealt: cards dealt to a seat, where the record has places for more.
    """
    places = len(state["dealt"]) // len(state["held"])  # of a seat
    given = [i for i, card in enumerate(state["dealt"].tolist()) if card != NONE and i % places < (dealt or places)]
    played = set(state["pile"][: state["pile_n"]].tolist())
    own = [i for i in given if i // places == seat]
    hidden = [i for i in given if i not in own and int(state["dealt"][i]) not in played]
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
    return redraw_hands(state, rng, int(view["seat"]), getattr(rules, "dealt", None))


def redraw_turns(state: Any, view: Any, rng: np.random.Generator) -> int:
    """Redraw the cards of a Table Top game that a seat's view does not show; return how many."""
    seen = [*view["layout"].tolist(), *view["crib"].tolist(), view["card"], view["partner_card"]]
    shown = {int(card) for card in seen if card != NONE}
    hidden = [t for t, card in enumerate(state["deck"].tolist()) if card not in shown]
    unseen = rng.permutation([card for card in range(52) if card not in shown])
    changed = int((state["deck"][hidden] != unseen[: len(hidden)]).sum())
    state["deck"][hidden] = unseen[: len(hidden)]
    return changed
