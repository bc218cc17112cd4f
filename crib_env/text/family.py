"""What puts one family of games into words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crib_env.rules import Rules

View = Any


@dataclass(frozen=True)
class Words:
    """How a family of games is put into words."""

    state: Callable[[View, Rules], list[str]]  # all that matters to the seat's decision
    news: Callable[[View], list[str]]  # the others' actions since the seat's last decision
    rules: Callable[[View, Rules], str]  # how the game is played, in some 300 words
    ask: Callable[[View], tuple[str, str]]  # the question with the legal actions, and an answer
    chosen: Callable[
        [View, str], tuple[int, ...]
    ]  # the names in a reply, in order, or `ReplyError`
