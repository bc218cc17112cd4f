"""A table without a screen: seats, calls, advice, undo and a review.

    >>> from crib_agents.loading import load_agent
    >>> from crib_play.table import Session, table_game
    >>> table = Session.begin(table_game("six"), (None, load_agent("greedy")), seed=8)
    >>> table.go_on()
    >>> table.seat, table.to_choose
    (0, 2)

The terminal and the browser both use it, and neither knows a game's rules.
"""

from crib_play.table.advice import Review, actions_of, review
from crib_play.table.family import Call, Counted
from crib_play.table.games import GAMES, TableGame, TakesGame, table_game
from crib_play.table.session import NotYourTurnError, Session, Turn

__all__ = [
    "GAMES",
    "Call",
    "Counted",
    "NotYourTurnError",
    "Review",
    "Session",
    "TableGame",
    "TakesGame",
    "Turn",
    "actions_of",
    "review",
    "table_game",
]
