"""What the expert thinks of every choice of a game, and how likely its agent was to make it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from crib_agents.analyze import Cell
from crib_agents.analyze.choices import Choice

from crib_env.game import Game
from crib_play.table.advice import actions_of, choices, in_words
from crib_play.table.session import Session, Turn

IN_POINTS = ("deal",)  # episodes that are not won: what counts is points


@dataclass(frozen=True)
class Option:
    """One choice.

    Attributes:
        label: the choice in words.
        why: what it brings, in points.
        worth: the chance of winning with it, 0 to 1; in a single deal the points it brings.
        probability: how likely the agent was to make it, None where it does not say.
    """

    label: str
    why: str
    worth: float
    probability: float | None


@dataclass(frozen=True)
class Opinion:
    """What a turn was worth.

    Attributes:
        options: every choice, the best first.
        taken: which of them was made.
        loss: what it cost, beside the best.
        chance: of the seat's side to win by the best choice, as the expert sees it with what the
            seat knows; None in a single deal.
    """

    options: tuple[Option, ...]
    taken: int
    loss: float
    chance: float | None


def opinions(session: Session) -> list[Opinion]:
    """Return the expert's opinion of every turn of a session, in order."""
    game = session.game.copy()
    return [_opinion(session, game, turn) for turn in session.turns]


def _opinion(session: Session, game: Game, turn: Turn) -> Opinion:
    in_points = game.episode in IN_POINTS
    found = sorted(choices(turn.view), key=lambda choice: -_worth(choice, in_points))
    likely = _probabilities(session.seats[turn.seat], game, turn)
    options = tuple(
        Option(
            session.family.spoken(turn.view, sorted(actions_of(choice), reverse=True)),
            in_words(choice),
            _worth(choice, in_points),
            None if likely is None else likely.get(actions_of(choice), 0.0),
        )
        for choice in found
    )
    taken = [actions_of(choice) for choice in found].index(frozenset(turn.actions))
    loss = options[0].worth - options[taken].worth
    return Opinion(options, taken, loss, None if in_points else options[0].worth)


def _worth(choice: Choice, in_points: bool) -> float:
    if not in_points:
        return choice.win
    return choice.value if isinstance(choice, Cell) else choice.points


def _probabilities(agent: Any, game: Game, turn: Turn) -> dict[frozenset[int], float] | None:
    """Return how likely an agent was to take each set of actions; None where it does not say."""
    if not hasattr(agent, "action_probabilities"):
        return None
    found: dict[frozenset[int], float] = {}

    def walk(taken: Sequence[int], chance: float) -> None:
        if len(taken) == len(turn.actions):
            found[frozenset(taken)] = found.get(frozenset(taken), 0.0) + chance
            return
        position = game.snapshot()
        row = agent.action_probabilities(np.array([game.view(turn.seat)]))[0]
        for action in game.legal:
            if row[action] > 0.0:
                game.step(action)
                walk([*taken, action], chance * float(row[action]))
                game.restore(position)

    game.restore(turn.before)
    walk([], 1.0)
    return found
