"""Serve an agent over the bot protocol, so that any program can play against it.

    crib bot expert
    crib bot check "command:./mybot --level 3"

Messages are lines of JSON on stdin, answers lines of JSON on stdout; see ``docs/protocol.md``.
"""

from __future__ import annotations

from crib_agents.bot.serve import main
from crib_agents.loading import TakesAgents

from crib_env.settings import AgentName, checked_dataclass
from crib_training.reading import app_of


@checked_dataclass(frozen=True)
class Settings(TakesAgents):
    """Serve an agent over the bot protocol on stdin and stdout.

    Attributes:
        agent: a built-in agent, a file of a policy, or package.module:Class.
    """

    agent: AgentName


app = app_of("bot", Settings, usage="Usage: crib bot AGENT\n       crib bot check PROGRAM\n")
app.command("crib_training.bot_check:Settings", name="check", help="Check that a program follows the bot protocol.")


def run(settings: Settings) -> None:
    """Answer messages until ``quit`` or the end of the input."""
    main(settings.trusted(settings.agent))
