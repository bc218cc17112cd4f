"""The seats of a table: agents, levels for people to choose, and the names of all players."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import numpy as np
from crib_agents.loading import load_agent

from crib_env.policy import GROUP, Agent, agent_names, ask_agent
from crib_env.render.words import in_words
from crib_env.rules import PRESETS, Rules
from crib_env.supported_rules import refuse_rules
from crib_play.table.advice import actions_of, choices
from crib_play.table.games import TableGame
from crib_play.table.session import Session


@cache
def plays(name: str, game: TableGame) -> bool:
    """Return whether an installed agent may play a game.

    Its class declares the families, as some agents take seconds to make. Only for rules other than
    a preset's the agent itself is made and checked.
    """
    families, rules = _declared(name), Rules.preset(game.rules)
    if families is None:
        return True
    if game.family.name not in families:
        return False
    if rules in PRESETS.values():
        return True
    try:
        refuse_rules(load_agent(name), rules, game.episode)
    except Exception:  # a ValueError of its refusal, or any error as it is made
        return False
    return True


@cache
def _declared(name: str) -> frozenset[str] | None:
    """Return the families that an installed agent's class declares; None if it declares none."""
    points = [point for point in entry_points(group=GROUP) if point.name == name]
    if len(points) != 1:
        return None
    try:
        agent = points[0].load()
        acts, known = getattr(agent, "acts", None), getattr(agent, "known_rules", None)
    except Exception:  # any error of its package; loading it reports the error
        return None
    if acts is None and isinstance(known, tuple):  # a property if only instances have it
        acts = {rules.family for rules in known}
    return None if acts is None else frozenset(acts)


def refusal(agent: Agent, game: TableGame) -> str | None:
    """Return why an agent does not play a game, None if it does; try it in each phase."""
    try:
        refuse_rules(agent, Rules.preset(game.rules), game.episode)
    except ValueError as error:
        return str(error)
    rng = np.random.default_rng(0)
    asked = set()
    for session in first_turns(game):
        view = session.game.view(session.seat)
        if (phase := session.family.phase(view)) in asked:
            continue
        asked.add(phase)
        try:
            ask_agent(agent, np.array([view]), rng)
        except ValueError as error:
            return f"{agent.name} does not play {game.title}: {error}"
    return None


def usual_opponent(preferred: str, game: TableGame) -> str:
    """Return the preferred opponent; our strongest agent if the preferred one cannot play."""
    if preferred not in agent_names() or refusal(load_player(preferred), game) is None:
        return preferred
    return next(name for name in ("learned", "rule_based") if refusal(load_player(name), game) is None)


def first_turns(game: TableGame) -> Iterator[Session]:
    """Yield a session before each of its first turns, which cover every phase of a deal."""
    session = Session.begin(game, [None] * game.players, seed=0)
    for _ in range(game.players + 1):
        yield session
        session.act(session.seat, session.game.legal_actions[: session.to_choose])


def sit_down(
    kind: TableGame, seat: int | None, opponent: str, partner: str | None = None, seed: int | None = None
) -> Session:
    """Return a table with a person and agents, or with agents alone."""
    if seat is not None and not 0 <= seat < kind.players:
        raise ValueError(f"seat must be from 0 to {kind.players - 1} in this game, got {seat}")
    if partner is not None and seat is not None and not kind.has_partners:
        raise ValueError(f"with {in_words(kind.players)} players nobody has a partner")
    mine, other = load_player(partner or opponent), load_player(opponent)
    side_of = kind.sides
    seats = [
        None if each == seat else mine if side == side_of[seat or 0] else other for each, side in enumerate(side_of)
    ]
    for agent in {id(one): one for one in seats if one is not None}.values():
        if why := refusal(agent, kind):
            raise ValueError(why)
    return Session.begin(kind, seats, seed)


SELF = "you"
PARTNER = "partner"
# Places of the others, to the left of the viewer; a single opponent needs none.
PLACES = {2: (None,), 3: ("left", "right"), 4: ("left", "across", "right")}


def names(session: Session, me: int | None = None, people: Mapping[int, str] | None = None) -> list[str]:
    """Return the name of each seat: its agent's, with its place if there are more than two."""
    given, person = people or {}, "you" if len(session.people) == 1 else "person"
    called = [
        getattr(agent, "name", person) if agent is not None else given.get(seat, person)
        for seat, agent in enumerate(session.seats)
    ]
    if me is None:
        twice = {name for name in called if called.count(name) > 1}
        return [f"{name} {i + 1}" if name in twice else name for i, name in enumerate(called)]
    sides, places = session.game.sides, (SELF, *PLACES[len(called)])
    found = []
    for seat, name in enumerate(called):
        place = places[(seat - me) % len(called)]
        if seat == me:
            found.append(SELF)
        elif place is None:
            found.append(name)
        else:
            found.append(f"{PARTNER if sides[seat] == sides[me] else place} ({name})")
    return found


def side_names(session: Session, me: int | None = None, people: Mapping[int, str] | None = None) -> list[str]:
    """Return the name of each side: the family's, or those of its seats together."""
    if session.family.sides is not None:
        return list(session.family.sides)
    return by_side(names(session, me, people), session.game.sides)


def by_side(called: Sequence[str], sides: Sequence[int]) -> list[str]:
    """Return the name of each side: its seats' together."""
    return [
        " and ".join(name for name, its in zip(called, sides, strict=True) if its == side)
        for side in range(1 + max(sides))
    ]


# --- levels, for people who do not know the agents by name ----------------------------------------


@dataclass(frozen=True)
class Level:
    """A level that a person chooses."""

    name: str
    agent: str  # one of `ERRING` or an agent's name
    about: str


LEVELS = (
    Level("Beginner", "beginner", "Knows the rules and often misses the better card."),
    Level("Casual", "casual", "Plays well most of the time and slips now and then."),
    Level("Regular", "rule_based", "Plays by sound rules of thumb and never looks at the score."),
    Level("Strong", "expert", "Weighs every card and crib by its chance of winning the game."),
    Level("Strong", "learned", "Weighs every card by the points that it brings."),  # three and four
    Level("Master", "master", "Plays as the expert does and hides what it holds."),
)
# The difference in the probability of winning at which the better choice is e times as likely.
ERRING = {"beginner": 0.08, "casual": 0.02}


class Erring:
    """An agent that errs by design: it draws from a softmax over the values of `choices`."""

    def __init__(self, name: str) -> None:
        self.name, self.temperature = name, ERRING[name]

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        """Return an action for each view, int64[B]."""
        return np.array([self._choose(view, rng) for view in views])

    def _choose(self, view: Any, rng: np.random.Generator) -> int:
        found = choices(view)
        wins = np.array([choice.win for choice in found])
        weights = np.exp((wins - wins.max()) / self.temperature)
        taken = actions_of(found[rng.choice(len(found), p=weights / weights.sum())])
        gone = set(view["discarded"].tolist()) if "discarded" in view.dtype.names else set()
        return min(taken - gone)


def load_player(name: str) -> Agent:
    """Return an opponent: one of those that err, or any agent by name."""
    return Erring(name) if name in ERRING else load_agent(name)
