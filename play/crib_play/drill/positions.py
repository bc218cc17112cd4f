"""Positions where a simple player goes wrong; the same seed gives the same ones.

``rule_based`` plays both sides of the games. A decision becomes an exercise if ``greedy``'s choice
costs enough, and so does the expert's second choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from crib_agents.analyze.choices import Choice
from crib_agents.loading import load_agent

from crib_env.policy import ask_agent
from crib_env.registration import find_part
from crib_play.table import Session, TableGame, actions_of
from crib_play.table.advice import choices

PLAYS = "rule_based"  # whose games the positions are of
ERRS = "greedy"  # whose mistakes the exercises teach to avoid
MISTAKE = 0.01  # the least cost of its choice, in probability of winning
SECOND = 0.004  # and the second best
COUNT = "count"  # the drill in `crib_play.drill.counting`


@dataclass(frozen=True)
class Kind:
    """A kind of exercise.

    Attributes:
        game: the default game.
        phase: the name of the decision.
        families: whose games have it.
    """

    game: str
    phase: str
    families: tuple[str, ...]


WITH_HANDS = ("two_hand", "many_hand")
KINDS = {
    "discard": Kind("six", "discarding", WITH_HANDS),
    "pegging": Kind("six", "pegging", WITH_HANDS),
    "table-top": Kind("table-top", "placing", ("table_top",)),
}


@dataclass(frozen=True)
class Exercise:
    """A position to choose in.

    Attributes:
        session: the table as it stands.
        seat: the seat to choose.
        choices: every choice with its value, the best first.
    """

    session: Session
    seat: int
    choices: list[Choice]

    def loss(self, actions: frozenset[int]) -> float:
        """Return the cost of an answer, in probability of winning."""
        taken = next(choice for choice in self.choices if actions_of(choice) == actions)
        return max(0.0, self.choices[0].win - taken.win)


def exercises(kind: Kind, seed: int, played: TableGame) -> Iterator[Exercise]:
    """Yield exercises without end: one of each game that has any."""
    if played.family.name not in kind.families:
        raise ValueError(f"{played.title} has no exercises in {kind.phase}")
    find_part("analysis", played.family.name)
    number = 0
    while True:
        found = exercise_of(played, kind.phase, np.random.SeedSequence([seed, number]))
        if found is not None:
            yield found
        number += 1


def play_out(played: TableGame, seed_seq: np.random.SeedSequence) -> Session:
    """Return a game from which exercises are taken, played to its end."""
    agents = [load_agent(PLAYS)] * played.players
    session = Session.begin(played, agents, int(seed_seq.generate_state(1)[0]))
    session.go_on()
    return session


def exercise_of(played: TableGame, phase: str, seed_seq: np.random.SeedSequence) -> Exercise | None:
    """Return one of the decisions of a game that make an exercise, if it has any."""
    session = play_out(played, seed_seq)
    for i in np.random.default_rng(seed_seq).permutation(len(session.turns)):
        if session.turns[i].phase == phase and (win_value := _choices_if_hard(session, i)):
            return Exercise(_stopped(session, i), session.turns[i].seat, win_value)
    return None


def _choices_if_hard(session: Session, at: int) -> list[Choice]:
    """Return the choices of a turn if it makes an exercise, else none."""
    view = session.turns[at].view
    found = choices(view)
    if len(found) < 3 or found[0].win - found[1].win < SECOND:
        return []
    rng = np.random.default_rng(0)  # greedy draws nothing
    action = int(ask_agent(load_agent(ERRS), np.array([view]), rng)[0])
    best_with_it = next(choice for choice in found if action in actions_of(choice))
    return found if found[0].win - best_with_it.win >= MISTAKE else []


def _stopped(session: Session, at: int) -> Session:
    """Return the session before its turn ``at``."""
    game = session.game.copy()
    game.restore(session.turns[at].before)
    return Session(game, session.seats, session.chance)
