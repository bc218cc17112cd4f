"""Positions written as text, `agents.analyze.positions`: any position of any game comes back."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from crib_agents.analyze.positions import discard_view, pegging_view
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env import five_card_v0, six_card_v0
from crib_env.cards import format_card, format_cards
from crib_env.engine.hands.records import DISCARD
from crib_env.envs.aec import CribbageAEC

GAMES = {"hoyle": six_card_v0, "five_card": five_card_v0}


def as_text(view: Any, rules: str) -> np.ndarray[Any, Any]:
    """Return the view made again from what it says, as a user would write it."""
    common: dict[str, Any] = {
        "dealer": bool(view["dealer"] == 0),
        "scores": tuple(view["scores"].tolist()),
        "rules": rules,
    }
    held = format_cards(view["hand"][: view["hand_n"]].tolist())
    discarded = format_cards(view["discarded"][: view["discarded_n"]].tolist())
    if view["phase"] == DISCARD:
        return discard_view(held, **common)
    pile = [
        format_card(card) if view["pile_seats"] >> 2 * i & 1 == 0 else f"({format_card(card)})"
        for i, card in enumerate(view["pile"][: view["pile_n"]].tolist())
    ]
    return pegging_view(
        held,
        discarded=discarded,
        starter=format_card(int(view["starter"])),
        pile=" ".join(pile),
        **common,
    )


@pytest.mark.parametrize("rules", GAMES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_position_of_a_game_comes_back(rules: str, seed: int) -> None:
    env = GAMES[rules].raw_env()
    env.reset(seed=seed)
    game = env.unwrapped
    assert isinstance(game, CribbageAEC)
    rng = np.random.default_rng(seed)
    for _ in range(60):
        if any(env.terminations.values()):
            break
        view = game.view(env.possible_agents.index(env.agent_selection))
        if view["phase"] != DISCARD or view["discarded_n"] == 0:
            again = as_text(view, rules)[0]
            # Which seat it is, where the rear pegs stand and which deal it is are not in the text.
            for field in again.dtype.names:
                if field not in ("seat", "rear", "deals"):
                    assert np.array_equal(again[field], view[field]), field
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))


HELD: dict[str, Any] = {"discarded": "KC QC", "starter": "JH", "dealer": True}


@pytest.mark.parametrize(
    ("hand", "changed", "words"),
    [
        ("6D 4S 9C", {"pile": "5D (TS)"}, "5D cannot have been played"),
        ("6D 4S 9C", {"pile": "(TS) (7H) 5D"}, "(7H) cannot have been played"),
        ("6D 4S", {"pile": "(TS) 5D (TC) 7C"}, "past 31"),
        ("6D 4S", {"pile": "(TS) 5D (TS) 7C"}, "more than once"),
        ("6D 4S", {"pile": "(TS) 5D"}, "keeps 4 cards"),
        ("6D 4S 9C", {"pile": "(TS) 5D", "discarded": "KC"}, "discarded must be 2 cards"),
        ("6D 4S", {"pile": "(TS) 5D (7H) 9C"}, "not this seat's turn"),
        ("6D 4S 9C", {"pile": "(TS) 5X"}, "'5X' is not a card"),
        ("6D 4S 9C", {"pile": "(TS) 5D (7H)", "scores": (121, 0)}, "0 to 120"),
        ("6D 4S 9C", {"pile": "(TS) 5D (7H)", "rules": "table_top"}, "table_top"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_position_is_refused(
    hand: str, changed: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        pegging_view(hand, **{**HELD, **changed})


def test_a_wrong_number_of_cards_dealt_is_refused() -> None:
    with pytest.raises(ValueError, match="6 cards dealt, got 5"):
        discard_view("5H 5D JC 4S 6S", dealer=True)
    with pytest.raises(ValueError, match="more than once"):
        discard_view("5H 5D JC 4S 6S 6S", dealer=True)
