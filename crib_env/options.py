"""Checks of the arguments of ``reset``: the seed and the options, one error each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from crib_env.cards import DECK_SIZE, format_card
from crib_env.engine.record import FOR_LAST, NO_DECKS, count_sides
from crib_env.errors import is_whole
from crib_env.render.words import in_words

NAMES = ("decks", "dealer", "scores")
# PettingZoo's api_test passes this key, with a number, to see that options are taken.
IGNORED = "options"


@dataclass(frozen=True)
class ResetOptions:
    """Options of a reset, checked."""

    decks: npt.NDArray[np.int64] = field(default_factory=lambda: NO_DECKS)  # [deals, 52]
    dealer: int | None = None  # the first dealer; None to cut for it
    scores: tuple[int, ...] | None = None  # by side; None for the rules' own


def check_seed(seed: Any) -> int | None:
    """Return a seed, a whole number of any kind, as an int; or None."""
    if seed is None:
        return None
    if not is_whole(seed) or seed < 0:
        raise ValueError(f"seed must be None or a whole number from 0 up, got {seed!r}")
    return int(seed)


def read_options(options: Mapping[str, Any] | None, sides: Collection[int], target: int) -> ResetOptions:
    """Return the options of a reset, checked.

    Args:
        options: any of ``decks``, a permutation of the 52 card ids for each of the first deals;
            ``dealer``, the first dealer's seat; and ``scores``, by side, 0 to ``target - 1``.
    """
    if options is None:
        return ResetOptions()
    if not isinstance(options, Mapping):  # OmegaConf's is no dict
        raise ValueError(f"options must be a dict, got {options!r}")
    for name in options:
        if name not in NAMES and (name != IGNORED or isinstance(options[name], Mapping)):
            raise ValueError(f"there is no option {name!r}: the options are {', '.join(NAMES)}")
    given: dict[str, Any] = {}
    if options.get("decks") is not None:
        given["decks"] = _decks(options["decks"])
    if options.get("dealer") is not None:
        dealer = options["dealer"]
        if not is_whole(dealer) or not 0 <= dealer < len(sides):
            raise ValueError(f"option 'dealer' must be a seat from 0 to {len(sides) - 1}, got {dealer!r}")
        given["dealer"] = int(dealer)
    if options.get("scores") is not None:
        scores, n = options["scores"], count_sides(sides)
        if not is_list(scores) or len(scores) != n or not all(is_whole(x) and 0 <= x < target for x in scores):
            raise ValueError(
                f"option 'scores' must be {in_words(n)} whole numbers from 0 to {target - 1}, got {scores!r}"
            )
        given["scores"] = tuple(map(int, scores))
    return ResetOptions(**given)


def is_list(given: object) -> TypeGuard[Sequence[Any]]:
    """Return whether this is a sequence, but no text, or an array of one or more dimensions."""
    text = isinstance(given, (str, bytes))
    return (isinstance(given, Sequence) and not text) or (isinstance(given, np.ndarray) and given.ndim > 0)


def _decks(decks: Any) -> npt.NDArray[np.int64]:
    if not is_list(decks):
        raise ValueError(f"option 'decks' must be a sequence of decks, got {decks!r}")
    rows = []
    for i, deck in enumerate(decks):
        try:
            deck = list(deck)  # a generator can be read only once
            cards = [int(card) for card in deck]
            whole = all(map(is_whole, deck))
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"option 'decks'[{i}] must be a deck of 52 card ids, got {deck!r}") from None
        if not whole or len(cards) != DECK_SIZE or set(cards) != set(range(DECK_SIZE)):
            twice = sorted({card for card in cards if cards.count(card) > 1})
            problem = f"{len(cards)} cards" if len(cards) != DECK_SIZE else "other ids"
            if twice:
                problem = ", ".join(_shown(card) for card in twice) + " more than once"
            raise ValueError(f"option 'decks'[{i}] must hold each card id from 0 to 51 once; it has {problem}")
        rows.append(cards)
    return np.array(rows, dtype=np.int64).reshape(-1, DECK_SIZE)


def _shown(card: int) -> str:
    return format_card(card) if 0 <= card < DECK_SIZE else str(card)


def set_scores(states: npt.NDArray[np.void], scores: npt.ArrayLike) -> None:
    """Set the starting scores of episodes just begun; heels already pegged are added (T3)."""
    heels = states["scores"] - states["start"]
    states["start"][:, : np.shape(scores)[-1]] = scores
    states["scores_before"] = states["start"]
    states["scores"] = states["start"] + heels
    if "rear" in (states.dtype.names or ()):
        states["rear_before"] = states["rear"] = states["scores"]


def forget_for_last(log: npt.NDArray[np.int64]) -> None:
    """Remove the points for last from the log of an episode that begins at given scores (F1)."""
    if log[0] and log[3] == FOR_LAST:
        log[0] -= 1
