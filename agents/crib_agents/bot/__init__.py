"""Bots in any language: the protocol of ``docs/protocol.md`` from both sides.

`CommandAgent` runs a program and plays its answers, ``command:./mybot``. ``python -m
crib_agents.bot NAME`` is such a program: it serves one of our agents.
"""

from crib_agents.bot.program import CommandAgent, command_agent, process_agent

__all__ = ["CommandAgent", "command_agent", "process_agent"]
