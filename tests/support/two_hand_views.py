"""Views of a seat about to discard, a view's legal cards, and an agent's answer to one view."""

from __future__ import annotations

from typing import Any

import numpy as np
from crib_agents import analyze
from hypothesis import strategies as st

from crib_env import format_cards
from crib_env.engine.record import NONE
from crib_env.engine.two_hand import HAND, VIEW
from crib_env.policy import Agent
from crib_env.rules import PRESETS


def choose(agent: Agent, view: Any, seed: int = 0) -> int:
    """Return the agent's card for one view."""
    return int(agent.act(np.array([view], dtype=VIEW), np.random.default_rng(seed))[0])


def legal_cards(view: Any) -> list[int]:
    """Return the cards that the seat may choose."""
    return [int(c) for i, c in enumerate(view["hand"]) if view["legal"] >> i & 1]


def discard_view(cards: list[int], game: str, dealer: bool) -> Any:
    """Return the view of a seat about to discard from ``cards``."""
    return analyze.discard_view(format_cards(cards), dealer=dealer, rules=game, episode="deal")[0]


def after_discards(view: Any, card: int) -> Any:
    """Return the view after the seat discards ``card``, as the engine would show it."""
    rest = [int(c) for c in view["hand"] if c not in (card, NONE)]
    later = view.copy()
    later["hand"] = rest + [NONE] * (HAND - len(rest))
    later["hand_n"] = len(rest)
    later["discarded"] = (card, NONE)
    later["discarded_n"] = 1
    later["legal"] = (1 << len(rest)) - 1
    return later


def dealt(game: str) -> st.SearchStrategy[list[int]]:
    """Draw the cards dealt to a seat."""
    n = PRESETS[game].dealt
    return st.lists(st.integers(0, 51), min_size=n, max_size=n, unique=True)
