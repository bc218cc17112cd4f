"""Practise decisions that matter: `crib drill`.

    crib drill discard              what to discard, six cards
    crib drill pegging --env five_card_v0  which card to play, five cards
    crib drill table-top --seed 7   where to place a card; the same ten for the same seed
    crib drill count --env three_hand_v0  count the points of a hand or a crib

An answer is graded by its cost in probability of winning, a count by the points it missed. Scores
are saved in the data folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import cache, partial
from itertools import count, islice
from typing import Annotated, Literal

import numpy as np
from crib_agents.analyze import Choice
from crib_agents.loading import load_agent
from pydantic import Field
from rich.text import Text

from crib_env.policy import Agent, ask_agent
from crib_env.settings import Seed, Whole, checked_dataclass
from crib_play.table import Counted, Session, TableGame, TakesGame, actions_of
from crib_play.table.advice import choice_in_words, choices
from crib_play.table.seats import names
from crib_play.terminal.screen import TABLES, Screen
from crib_play.user_files import FASTEST, data_file, load, save

PLAYS = "rule_based"  # the agent that plays the games of the positions
ERRS = "greedy"  # the agent that errs in every exercise
MISTAKE = 0.01  # the least cost of its choice, in probability of winning
SECOND = 0.004  # the least cost of the second best choice
COUNT = "count"  # the drill in counting


@dataclass(frozen=True)
class Kind:
    """A kind of exercise."""

    game: str  # the default
    phase: str  # the name of the decision
    families: tuple[str, ...]  # whose games have it


WITH_HANDS = ("two_hand", "many_hand")
KINDS = {
    "discard": Kind("six", "discarding", WITH_HANDS),
    "pegging": Kind("six", "pegging", WITH_HANDS),
    "table-top": Kind("table-top", "placing", ("table_top",)),
}


@dataclass(frozen=True)
class Exercise:
    """A position to choose in."""

    session: Session
    seat: int
    choices: list[Choice]  # with their values, the best first

    def loss(self, actions: frozenset[int]) -> float:
        """Return the cost of an answer, in probability of winning."""
        taken = next(choice for choice in self.choices if actions_of(choice) == actions)
        return max(0.0, self.choices[0].win - taken.win)


def exercises(kind: Kind, seed: int, played: TableGame) -> Iterator[Exercise]:
    """Return exercises without end: one of each game that has any."""
    if played.family.name not in kind.families:
        raise ValueError(f"{played.title} has no exercises in {kind.phase}")
    seeds = (np.random.SeedSequence([seed, number]) for number in count())
    return filter(None, (exercise_of(played, kind.phase, one) for one in seeds))


@cache
def _agent(name: str) -> Agent:
    """Return an agent, cached: a look-up takes longer than a game."""
    return load_agent(name)


def play_out(played: TableGame, seed_seq: np.random.SeedSequence) -> Session:
    """Return a game from which exercises are taken, played to its end."""
    agents = [_agent(PLAYS)] * played.players
    session = Session.begin(played, agents, int(seed_seq.generate_state(1)[0]))
    session.go_on()
    return session


def exercise_of(played: TableGame, phase: str, seed_seq: np.random.SeedSequence) -> Exercise | None:
    """Return one of the decisions of a game that make an exercise, if it has any."""
    session = play_out(played, seed_seq)
    for i in np.random.default_rng(seed_seq).permutation(len(session.turns)):
        turn = session.turns[i]
        if turn.phase == phase and (found := _choices_if_hard(session, i)):
            game = session.game.copy()
            game.restore(turn.before)
            return Exercise(Session(game, session.seats, session.chance), turn.seat, found)
    return None


def _choices_if_hard(session: Session, at: int) -> list[Choice]:
    """Return the choices of a turn if it makes an exercise, else none."""
    view = session.turns[at].view
    found = choices(view)
    if len(found) < 3 or found[0].win - found[1].win < SECOND:
        return []
    rng = np.random.default_rng(0)  # greedy draws nothing
    action = int(ask_agent(_agent(ERRS), np.array([view]), rng)[0])
    best_with_it = next(choice for choice in found if action in actions_of(choice))
    return found if found[0].win - best_with_it.win >= MISTAKE else []


HIGHEST = 29  # points that five cards can make
LEAST = 4  # points: less is seen at a glance


def hands_to_count(seed: int, played: TableGame) -> Iterator[Counted]:
    """Yield counted hands and cribs without end, one of each game."""
    for number in count():
        seed_seq = np.random.SeedSequence([seed, number])
        turns = play_out(played, seed_seq).turns
        shown = [one for turn in turns for one in turn.counted if one.points >= LEAST]
        if shown:
            yield shown[np.random.default_rng(seed_seq).integers(len(shown))]


def read(question: str) -> str:
    """Return a line of input; "quit" raises EOFError like a closed input."""
    typed = input(question).strip()
    if typed.lower() in ("quit", "exit", "q"):
        raise EOFError
    return typed


def ask_count(one: Counted, screen: Screen) -> int | None:
    """Ask for the points and say the count; return how many were missed, None if left out."""
    cards = screen.cards(one.cards)
    if one.starter is not None:
        cards = cards + Text(" + ") + screen.card(one.starter)
    screen.labelled(one.name, cards)
    while not ((typed := read("points> ")).isdecimal() and int(typed) <= HIGHEST):
        if typed in ("skip", "s"):
            return None
        if typed:
            screen.problem(f"Type the points, 0 to {HIGHEST}; skip leaves this one out, quit ends.")
    missed = one.points - int(typed)
    screen.line(f"  {'no' if missed else 'right'}: {one.call}", style="bold")
    return missed


GRADES = ((0.0, "the best choice"), (0.005, "good"), (0.02, "fair"), (1.0, "poor"))
SHOWN = 3  # of the best choices, after an answer
MOST = 1000


@checked_dataclass(frozen=True)
class Settings(TakesGame):
    """Practise positions where the choice matters, or counting; each answer is graded.

    Attributes:
        kind: which choice to practise, or count to count hands.
        count: the number of positions, 1 to 1000.
        seed: the same seed gives the same positions; by default they differ each time.
    """

    kind: Literal["discard", "pegging", "table-top", "count"]
    _: KW_ONLY
    count: Annotated[Whole, Field(ge=1, le=MOST)] = 10
    seed: Seed | None = None


@dataclass
class Score:
    """The score of a set of answers."""

    positions: int = 0
    best: int = 0  # how many of them were answered best
    loss: float = 0.0  # the total cost, in probability of winning; of counts, in points

    def note(self, loss: float) -> None:
        """Add the cost of an answer."""
        self.positions += 1
        self.best += loss == 0
        self.loss += loss

    def summary(self, kind: str) -> str:
        """Return the score of a kind of exercise in words."""
        mean = self.loss / self.positions
        if kind == COUNT:
            return f"{self.best} of {self.positions} right, {mean:.2f} points missed each"
        return f"{self.best} of {self.positions} the best, {100 * mean:.2f} % lost each"


def grade(loss: float) -> str:
    """Return the grade of an answer by its cost."""
    return next(word for most, word in GRADES if loss <= most)


def ask(exercise: Exercise, screen: Screen) -> float | None:
    """Ask for a choice and grade the answer; return its cost, None if skipped."""
    session, seat = exercise.session, exercise.seat
    TABLES[session.family.name](screen, session.sight(seat), names(session, seat))
    view = session.game.view(seat)
    while True:
        typed = read(f"{session.family.ask(view)}> ")
        if typed.lower() in ("skip", "s"):
            return None
        if typed in ("?", "help"):
            screen.line(f"  {session.family.how} skip leaves this one out, quit ends.")
        elif typed:
            try:
                actions = frozenset(session.family.read(typed, view))
                break
            except ValueError as error:
                screen.problem(str(error))
    loss = exercise.loss(actions)
    cost = f", it costs {100 * loss:.1f} %" if loss else ""
    screen.line(f"  {grade(loss)}{cost}", style="bold")
    for choice in exercise.choices[:SHOWN]:
        one = choice_in_words(session.family, view, choice)
        screen.line(f"  {100 * one.win:5.1f} %  {one.text}: {one.why}")
    return loss


def keep(kind: str, done: Score) -> tuple[Score, str | None]:
    """Add a sitting to the stored scores; return all, and why they are not stored, or None."""
    path = data_file("drill.json")
    stored = load(path)
    total = done
    with suppress(KeyError, TypeError, ValueError):  # no scores yet, or a file in another form
        past = stored[kind]
        total = Score(
            done.positions + int(past["positions"]), done.best + int(past["best"]), done.loss + float(past["loss"])
        )
    return total, save(path, {**stored, kind: vars(total)})


def questions(settings: Settings, seed: int, screen: Screen) -> Iterator[Callable[[], float | None]]:
    """Return functions that each ask one exercise and return the answer's cost, None if skipped."""
    if settings.kind == COUNT:
        hands = hands_to_count(seed, settings.table_game())
        return (partial(ask_count, one, screen) for one in hands)
    kind = KINDS[settings.kind]
    found = exercises(kind, seed, settings.table_game(kind.game))
    return (partial(ask, exercise, screen) for exercise in found)


def run(settings: Settings) -> None:
    """Ask, and tell the score at the end."""
    given = settings.seed
    seed = given if given is not None else int(np.random.SeedSequence().generate_state(1)[0])
    screen, done = Screen(FASTEST), Score()
    asked = questions(settings, seed, screen)
    words = "what does it make?" if settings.kind == COUNT else "what would you do?"
    screen.title(f"Drill {settings.kind}, seed {seed}: {words} Type ? for help.")
    try:
        for number, question in enumerate(islice(asked, settings.count), 1):
            screen.title(f"{number} of {settings.count}")
            loss = question()
            if loss is not None:
                done.note(abs(loss))
    except (EOFError, KeyboardInterrupt):
        screen.line("")
    if not done.positions:
        screen.title("No answers.")
    else:
        screen.title(f"This time: {done.summary(settings.kind)}")
        total, problem = keep(settings.kind, done)
        screen.line(f"not saved: {problem}" if problem else f"In all: {total.summary(settings.kind)}")
