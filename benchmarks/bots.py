"""Decisions per second of a bot through the protocol.

    python -m benchmarks.bots [COMMAND]

The default is `examples/bots/simple_bot.py`. All seats of 256 six-card games are played by the bot.
"""

from __future__ import annotations

import argparse
import shlex
import sys

import numpy as np
from crib_agents.adapters.agent_wrappers import Timed
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
    before, timed = machine(), Timed(agent)
    games = GameBatch("hoyle", GAMES, seed=SEED)
    games.reset()
    for _ in games.play(timed, np.random.default_rng(SEED)):
        pass
    agent.close()
    print(f"{agent.name}: {timed.decisions:,} decisions, {timed.decisions / timed.seconds:,.0f} per second")
    print("\n".join(before))


if __name__ == "__main__":
    main()
