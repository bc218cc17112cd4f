"""Counting cards: explained, card by card, and many hands at once.

    >>> from crib_env import scoring
    >>> score = scoring.score_hand("5H JD QS KD", "2D")
    >>> score.points
    10
    >>> score.call
    'fifteen two, fifteen four, fifteen six, a run of three is nine, and nobs ten'
    >>> print(score.parts[0])
    fifteen 2 (5H JD)

`score_hands` and `score_histogram` are compiled, for many hands. Importing this package is light:
the engine (and Numba with it) loads with the first use of one of those two.

Cards are ids or text everywhere: ``"5H JD"``, ``["5H", "JD"]`` and ``[18, 41]`` are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crib_env.scoring.explained import Part, Score, score_hand, score_line, score_play

if TYPE_CHECKING:
    from crib_env.scoring.many import score_hands, score_histogram

__all__ = ["Part", "Score", "score_hand", "score_hands", "score_histogram", "score_line", "score_play"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from crib_env.scoring import many

        return getattr(many, name)
    raise AttributeError(f"module 'crib_env.scoring' has no attribute {name!r}")
