"""Advice, reviews of a person's decisions, opinions of a game: `crib_agents.analyze` in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from crib_agents.analyze import CardChoice, CellChoice, Choice, DiscardChoice, analyze

from crib_env.arrays import View
from crib_env.cards import parse_card, parse_cards
from crib_env.game import Game
from crib_play.table.family import TableFamily
from crib_play.table.session import Session, Turn

WORST = 3


def actions_of(choice: Choice) -> frozenset[int]:
    """Return the actions of a choice."""
    if isinstance(choice, DiscardChoice):
        return frozenset(parse_cards(choice.discard))
    return frozenset((parse_card(choice.card),) if isinstance(choice, CardChoice) else (choice.action,))


def points_of(choice: Choice) -> str:
    """Return the expected points of a choice."""
    if isinstance(choice, DiscardChoice):
        pegging = f", pegging {choice.pegging:+.1f}" if choice.pegging else ""
        return f"keeps {choice.keep}: hand {choice.hand:.1f}, crib {choice.crib:+.1f}{pegging}"
    if isinstance(choice, CardChoice):
        if not choice.theirs:  # with three and four hands `mine` is the difference
            return f"{choice.now:g} now, then {choice.mine:+.1f}"
        return f"{choice.now:g} now, then {choice.mine:.1f} to {choice.theirs:.1f}"
    assert isinstance(choice, CellChoice)
    return f"{choice.mine:.1f} to {choice.theirs:.1f} in the round"


def choices(view: View) -> list[Choice]:
    """Return every choice of the seat to move, the best first."""
    return [*analyze(np.array([view]))]


class Advised(NamedTuple):
    """A choice in words: the action, its expected points, the probability of winning."""

    actions: tuple[int, ...]
    text: str
    why: str
    win: float


def advised(family: TableFamily, view: View) -> list[Advised]:
    """Return every choice of the seat to move in words, the highest value first."""
    return [choice_in_words(family, view, choice) for choice in choices(view)]


def choice_in_words(family: TableFamily, view: View, choice: Choice) -> Advised:
    """Return a choice in words."""
    actions = tuple(sorted(actions_of(choice), reverse=True))
    return Advised(actions, family.spoken(view, actions), points_of(choice), choice.win)


@dataclass(frozen=True)
class Decision:
    """A decision and its cost."""

    turn: int  # its place among the turns
    phase: str
    did: str  # the choice made, in words
    best: str  # the best one
    why: str  # and its expected points
    loss: float  # the cost, 0 to 1, in probability of winning or the value that stands for it


@dataclass(frozen=True)
class Review:
    """The cost of a seat's decisions.

    Attributes:
        decisions: the decisions that had a choice, in order.
        luck: the part of the win, 1 or 0, that no choice explains: the win less one half, plus the
            seat's costs and less the other side's. These are AIVAT's terms with the
            expert's values. None unless two sides have played to the end.
    """

    decisions: tuple[Decision, ...]
    luck: float | None = None

    @property
    def by_phase(self) -> dict[str, tuple[int, float]]:
        """The number of decisions in each phase, and their mean loss."""
        found: dict[str, list[float]] = {}
        for one in self.decisions:
            found.setdefault(one.phase, []).append(one.loss)
        return {name: (len(losses), sum(losses) / len(losses)) for name, losses in found.items()}

    @property
    def worst(self) -> tuple[Decision, ...]:
        """The three costliest decisions; none that cost nothing."""
        costly = [one for one in self.decisions if one.loss > 0]
        return tuple(sorted(costly, key=lambda one: -one.loss)[:WORST])


def look_back(session: Session, at: int) -> Decision | None:
    """Return the cost of a turn; None where there was nothing to choose."""
    turn = session.turns[at]
    best, *others = found = advised(session.family, turn.view)
    if not others:
        return None
    taken = next(one for one in found if set(one.actions) == set(turn.actions))
    did = session.family.spoken(turn.view, turn.actions)
    loss = max(0.0, best.win - taken.win)
    return Decision(at, turn.phase, did, best.text, best.why, loss)


def review(session: Session, seat: int) -> Review:
    """Return the cost of a seat's decisions, and its luck."""
    side_of = session.game.sides
    settled = len(set(side_of)) == 2 and session.winner is not None and session.resigned is None
    own: list[Decision] = []
    luck = float(session.winner == side_of[seat]) - 0.5
    for at, turn in enumerate(session.turns):
        if turn.seat != seat and not settled:
            continue
        if (one := look_back(session, at)) is not None:
            luck += one.loss if side_of[turn.seat] == side_of[seat] else -one.loss
            if turn.seat == seat:
                own.append(one)
    return Review(tuple(own), luck if settled else None)


# --- opinions: the expert's value of every choice of a game, and that of the agent that played ----
# An agent gives its opinion by ``action_probabilities(views)``, how likely each action was (see
# `crib_env.policy.StochasticPolicy`), or by ``action_values(views)``, float64[B, actions]: its
# value of each, on its own scale. If several cards are discarded one after the other, the last
# one's value is that of all of them.


class Option(NamedTuple):
    """One choice, in the order in which the page's program reads it."""

    label: str  # the choice in words
    why: str  # its expected points
    win_value: float  # the probability of winning with it; in a single deal its points
    probability: float | None  # the agent's probability of it, None if it gives none
    value: float | None = None  # the agent's value of it, None if it gives none


class Opinion(NamedTuple):
    """The value of a turn."""

    options: tuple[Option, ...]  # every choice, the best first
    taken: int  # which of them was made
    loss: float  # its cost against the best
    chance: float | None  # the expert's probability of winning by the best choice; None in a deal


def opinions(session: Session) -> list[Opinion]:
    """Return the expert's opinion of every turn of a session, in order."""
    game = session.game.copy()
    return [_opinion(session, game, turn) for turn in session.turns]


def _opinion(session: Session, game: Game, turn: Turn) -> Opinion:
    in_points = game.episode == "deal"  # a single deal is not won: points count
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
    return choice.points if in_points and not isinstance(choice, CellChoice) else choice.win


Numbers = dict[frozenset[int], float]
Ask = Callable[[Any], Any]
Way = tuple[frozenset[int], list[float]]


def _probabilities(agent: Any, game: Game, turn: Turn) -> Numbers | None:
    """Return an agent's probability of each set of actions; None if it gives none."""
    if not hasattr(agent, "action_probabilities"):
        return None
    found: Numbers = {}
    try:
        for taken, numbers in _ways(agent.action_probabilities, game, turn, above=0.0):
            found[taken] = found.get(taken, 0.0) + float(np.prod(numbers))
    except ValueError:  # a composite agent, a part of which gives none
        return None
    return found


def _values(agent: Any, game: Game, turn: Turn) -> Numbers | None:
    """Return an agent's value of each set of actions; None if it gives none."""
    if not hasattr(agent, "action_values"):
        return None
    ways = _ways(agent.action_values, game, turn, above=-inf)
    return {taken: numbers[-1] for taken, numbers in ways if isfinite(numbers[-1])}


def _ways(ask: Ask, game: Game, turn: Turn, above: float) -> Iterator[Way]:
    """Yield every way to take a turn, action by action, and the ``ask`` number of each action.

    Every legal action is tried, not only those taken; ``ask`` numbers up to ``above`` are left out.
    """

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
