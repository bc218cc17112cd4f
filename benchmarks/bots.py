"""Decisions per second of a bot through the protocol.

    python -m benchmarks.bots [COMMAND]

The default is `examples/bots/simple_bot.py`. All seats of 256 six-card games are played by the bot.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time

import numpy as np
from crib_agents.bot import command_agent

from benchmarks.timing import machine
from crib_env.batch import GameBatch

GAMES = 256
SEED = 3
DEFAULT = f"{shlex.quote(sys.executable)} examples/bots/simple_bot.py"


def main() -> None:
    """Play the games and print the speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", nargs=argparse.REMAINDER, help="a bot's, with its arguments")
    command = " ".join(parser.parse_args().command) or DEFAULT
    try:
        agent = command_agent(command)
    except ValueError as error:
        sys.exit(f"error: {error}")
    games = GameBatch("hoyle", GAMES, seed=SEED)
    games.reset()
    rng = np.random.default_rng(SEED)
    decisions, seconds = 0, 0.0
    while len(running := games.running()):
        views = games.views(running)
        began = time.perf_counter()
        actions = agent.act(views, rng)
        seconds += time.perf_counter() - began
        decisions += len(running)
        games.step(running, actions)
    agent.close()
    print(f"{agent.name}: {decisions:,} decisions, {decisions / seconds:,.0f} per second")
    print("\n".join(machine()))


if __name__ == "__main__":
    main()
