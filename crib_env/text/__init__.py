"""Games in words, for language models: `prompt` writes what a seat may know, `parse` reads replies.

    >>> from crib_env import Game
    >>> from crib_env.text import parse, prompt
    >>> game = Game("hoyle", seed=1)
    >>> print(prompt(game.view(game.seat), game.rules))  # doctest: +SKIP
    >>> game.step(parse("I'll throw the queen.", game.view(game.seat)))  # doctest: +SKIP

Both take a view and nothing else that a seat may not know. How a family of games is worded is its
part ``"words"`` (`crib_env.registration`).
"""

from __future__ import annotations

from crib_env.registration import add_parts
from crib_env.text.replies import ReplyError
from crib_env.text.words import (
    ON_FAILURE,
    STYLES,
    Reader,
    Tally,
    Words,
    count_tokens,
    describe,
    parse,
    parse_actions,
    prompt,
)

__all__ = [
    "ON_FAILURE",
    "STYLES",
    "Reader",
    "ReplyError",
    "Tally",
    "Words",
    "count_tokens",
    "describe",
    "parse",
    "parse_actions",
    "prompt",
]

add_parts(
    "words",
    two_hand="crib_env.text.hands:WORDS",
    many_hand="crib_env.text.hands:WORDS",
    table_top="crib_env.text.table_top:WORDS",
)
