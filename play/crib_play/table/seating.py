"""The seats of a table: people, and agents in the others."""

from __future__ import annotations

from crib_agents.loading import load_agent

from crib_env.render.words import in_words
from crib_play.table.games import TableGame
from crib_play.table.players import refusal
from crib_play.table.session import Session


def sit_down(
    kind: TableGame,
    seat: int | None,
    opponent: str,
    partner: str | None = None,
    seed: int | None = None,
) -> Session:
    """Return a table at which a person sits, or nobody but agents."""
    if seat is not None and not 0 <= seat < kind.players:
        raise ValueError(f"seat must be from 0 to {kind.players - 1} in this game, got {seat}")
    if partner is not None and seat is not None and len(set(kind.sides)) == kind.players:
        raise ValueError(f"with {in_words(kind.players)} players nobody has a partner")
    mine, other = load_agent(partner or opponent), load_agent(opponent)
    side_of = kind.sides
    seats = [
        None if each == seat else mine if side == side_of[seat or 0] else other
        for each, side in enumerate(side_of)
    ]
    for agent in {id(one): one for one in seats if one is not None}.values():
        if why := refusal(agent, kind):
            raise ValueError(why)
    return Session.begin(kind, seats, seed)
