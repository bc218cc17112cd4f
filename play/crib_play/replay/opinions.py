"""The expert's value of every choice of a game, and the opinion of the agent that played.

An agent gives its opinion by ``action_probabilities(views)``, how likely each action was
(`crib_env.policy.MixedPolicy`), or by ``action_values(views)``, float64[B, actions]: its value
of each, on its own scale. If several cards are discarded one after the other, the last one's
value is that of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from crib_agents.analyze import CellChoice, Choice

from crib_env.game import Game
from crib_play.table.advice import actions_of, choice_in_words, choices
from crib_play.table.session import Session, Turn

IN_POINTS = ("deal",)  # episodes that are not won: what counts is points


class Option(NamedTuple):
    """One choice, in the order in which the page's program reads it."""

    label: str  # the choice in words
    why: str  # its expected points
    win_value: float  # the chance of winning with it; in a single deal the points it brings
    probability: float | None  # how likely the agent was to make it, None where it does not say
    value: float | None = None  # the agent's value of it, None where it does not say


class Opinion(NamedTuple):
    """The value of a turn."""

    options: tuple[Option, ...]  # every choice, the best first
    taken: int  # which of them was made
    loss: float  # its cost against the best
    chance: float | None  # of winning by the best choice, as the expert sees it; None in a deal


def opinions(session: Session) -> list[Opinion]:
    """Return the expert's opinion of every turn of a session, in order."""
    game = session.game.copy()
    return [_opinion(session, game, turn) for turn in session.turns]


def _opinion(session: Session, game: Game, turn: Turn) -> Opinion:
    in_points = game.episode in IN_POINTS
    found = sorted(choices(turn.view), key=lambda choice: -_win_value(choice, in_points))
    agent: Any = session.seats[turn.seat]
    likely = _probabilities(agent, game, turn)
    thought = _values(agent, game, turn)
    options = []
    for choice in found:
        actions, text, why, _ = choice_in_words(session.family, turn.view, choice)
        probability = None if likely is None else likely.get(frozenset(actions), 0.0)
        value = None if thought is None else thought.get(frozenset(actions))
        options.append(Option(text, why, _win_value(choice, in_points), probability, value))
    taken = [actions_of(choice) for choice in found].index(frozenset(turn.actions))
    loss = options[0].win_value - options[taken].win_value
    return Opinion(tuple(options), taken, loss, None if in_points else options[0].win_value)


def _win_value(choice: Choice, in_points: bool) -> float:
    if not in_points:
        return choice.win
    return choice.value if isinstance(choice, CellChoice) else choice.points


Numbers = dict[frozenset[int], float]
Ask = Callable[[Any], Any]
Way = tuple[frozenset[int], list[float]]


def _probabilities(agent: Any, game: Game, turn: Turn) -> Numbers | None:
    """Return how likely an agent was to take each set of actions; None where it does not say."""
    if not hasattr(agent, "action_probabilities"):
        return None
    found: Numbers = {}
    try:
        for taken, numbers in _ways(agent.action_probabilities, game, turn, above=0.0):
            found[taken] = found.get(taken, 0.0) + float(np.prod(numbers))
    except ValueError:  # one made of two agents of which one does not say
        return None
    return found


def _values(agent: Any, game: Game, turn: Turn) -> Numbers | None:
    """Return an agent's value of each set of actions; None where it does not say."""
    if not hasattr(agent, "action_values"):
        return None
    ways = _ways(agent.action_values, game, turn, above=-inf)
    return {taken: numbers[-1] for taken, numbers in ways if isfinite(numbers[-1])}


def _ways(ask: Ask, game: Game, turn: Turn, above: float) -> Iterator[Way]:
    """Yield every way to take a turn's actions one by one, each with the agent's probability."""

    def walk(taken: list[int], values: list[float]) -> Iterator[Way]:
        if len(taken) == len(turn.actions):
            yield frozenset(taken), values
            return
        position = game.snapshot()
        row = ask(np.array([game.view(turn.seat)]))[0]
        for action in game.legal_actions:
            if row[action] > above:
                game.step(action)
                yield from walk([*taken, action], [*values, float(row[action])])
                game.restore(position)

    game.restore(turn.before)
    return walk([], [])
