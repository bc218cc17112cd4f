"""Check that a program follows the bot protocol.

    crib bot check "command:./mybot --level 3"

Plays deals of every game that the program claims to play, with the program in all seats, and
reports the first wrong answer with the message that led to it.
"""

from __future__ import annotations

import time
from dataclasses import KW_ONLY

import numpy as np
from crib_agents.bot import CommandAgent
from crib_agents.bot.messages import preset_of
from crib_agents.loading import COMMAND, IN_PROCESS, load_agent

from crib_env.batch import GameBatch
from crib_env.settings import Count, MoveSeconds, Seed, checked_dataclass
from crib_training.evaluation.referee import Chronicle
from crib_training.outputs import per_second

# A field of no version: programs must ignore unknown fields.
UNKNOWN = {"a_field_of_a_later_version": [1, {"any": "thing"}]}


@checked_dataclass(frozen=True)
class Settings:
    """Check that a program follows the bot protocol.

    Attributes:
        program: command:PROGRAM, with the program's arguments.
        deals: deals of each game that the program plays.
        seed: of the deals.
        move_seconds: the longest a decision may take.
    """

    program: str
    _: KW_ONLY
    deals: Count = 100
    seed: Seed = 1
    move_seconds: MoveSeconds = 10.0


def check(agent: CommandAgent, game: str, deals: int, seed: int) -> int:
    """Play deals of a game with a program in all seats; return the number of decisions.

    Raises an error at the first wrong answer; a note holds the message that led to it.
    """
    rules = preset_of(game)
    rng = np.random.default_rng(seed)
    decisions = 0
    for players in (2, 4) if game.startswith("table_top") else (None,):
        episode = "round" if players else "deal"
        games = GameBatch(rules, deals, players=players, episode=episode, seed=seed)
        games.reset()
        chronicle = Chronicle(games)
        while len(running := games.running()):
            lanes = running[: agent.games_at_once]
            chronicle.tell(agent, lanes)
            actions = agent.act(games.views(lanes), rng)
            games.step_legal(lanes, actions)
            decisions += len(lanes)
            for lane in np.setdiff1d(lanes, games.running(lanes)):
                chronicle.end(agent, int(lane), np.arange(games.players), None)
    return decisions


def run(settings: Settings) -> None:
    """Print a line for each game, or the first wrong answer."""
    if not settings.program.startswith((COMMAND, IN_PROCESS)):
        raise ValueError(f"write {COMMAND}{settings.program} to check a program")
    agent = load_agent(settings.program, settings.move_seconds)
    assert isinstance(agent, CommandAgent)
    agent.more = UNKNOWN
    print(f"{agent.name} by {agent.author or 'an unnamed author'}")
    try:
        for game in agent.plays:
            began = time.perf_counter()
            try:
                decisions = check(agent, game, settings.deals, settings.seed)
            except (TimeoutError, RuntimeError, ValueError) as error:
                notes = "\n".join(getattr(error, "__notes__", ()))
                print(f"{game}: wrong\n{notes}")
                raise RuntimeError(f"{game}: {error}") from None
            speed = per_second(decisions / (time.perf_counter() - began))
            print(f"{game}: {settings.deals} deals, {decisions:,} decisions, {speed}/s")
    finally:
        agent.close()
