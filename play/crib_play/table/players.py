"""Which agents play which games: by what they declare, or by trying them."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

import numpy as np

from crib_env.honours import refuse_rules
from crib_env.policy import GROUP, Agent, ask_agent
from crib_env.rules import Rules
from crib_play.table.games import GAMES, TableGame
from crib_play.table.session import Session


def plays(name: str, game: TableGame) -> bool:
    """Return whether an installed agent may play a game, without making the agent.

    Its class says so in ``acts``. An agent that declares nothing may play until it is asked; see
    `refusal`.
    """
    families = _declared(name)
    return families is None or game.family.name in families


@cache
def _declared(name: str) -> frozenset[str] | None:
    """Return the families that an installed agent's class declares; None if it declares none."""
    points = [point for point in entry_points(group=GROUP) if point.name == name]
    if len(points) != 1:
        return None
    try:
        acts = getattr(points[0].load(), "acts", None)
    except Exception:  # whatever its package raises; who loads it is told
        return None
    return None if acts is None else frozenset(acts)


def declared_refusal(agent: Agent, game: TableGame) -> str | None:
    """Return why an agent does not play a game if it says so in ``acts``, else None."""
    acts = getattr(agent, "acts", None)
    if acts is None or game.family.name in acts:
        return None
    known = ", ".join(one.name for one in GAMES.values() if one.family.name in acts)
    return f"{agent.name} does not play {game.title}: it plays {known or 'other games'}"


def refusal(agent: Agent, game: TableGame) -> str | None:
    """Return why an agent does not play a game, None if it does.

    What it does not declare it is asked: for a decision in each phase of a deal.
    """
    if why := declared_refusal(agent, game):
        return why
    try:
        refuse_rules(agent, Rules.preset(game.rules), game.episode)
    except ValueError as error:
        return str(error)
    session = Session.begin(game, [None] * game.players, seed=0)
    rng = np.random.default_rng(0)
    phases = set()
    for _ in range(game.players + 1):  # every phase of a deal comes up in so many turns
        view = session.game.view(session.seat)
        phase = session.family.phase(view)
        if phase not in phases:
            phases.add(phase)
            try:
                ask_agent(agent, np.array([view]), rng)
            except ValueError as error:
                return f"{agent.name} does not play {game.title}: {error}"
        session.act(session.seat, session.game.legal_actions[: session.to_choose])
    return None
