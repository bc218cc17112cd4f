"""A slow, independent reading of the clauses in seeds/, for tests only.

Nothing here imports ``crib_env``: the two must be able to disagree. Everything is plain Python
written clause by clause, meant to be checked by eye against the rules rather than to be fast.
"""

from .many_hand import ManyHandReferee
from .scoring import PlayParts, fifteens, flush, line_flush, nobs, pairs, runs, score_line, score_play, score_show
from .table_top import CRIB, TableTopReferee
from .two_hand import Event, Referee

__all__ = [
    "CRIB",
    "Event",
    "ManyHandReferee",
    "PlayParts",
    "Referee",
    "TableTopReferee",
    "fifteens",
    "flush",
    "line_flush",
    "nobs",
    "pairs",
    "runs",
    "score_line",
    "score_play",
    "score_show",
]
