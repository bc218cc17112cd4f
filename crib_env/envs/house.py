"""The house: a built-in policy that makes the decisions an environment leaves out."""

from __future__ import annotations

from dataclasses import dataclass

from crib_env.opponents import Agent


@dataclass(frozen=True)
class House:
    """Makes every decision of one phase of a deal, for both seats, from their views.

    Attributes:
        agent: who decides.
        phase: the phase it decides in: ``LAY_AWAY`` or ``PLAY`` of `crib_env.engine.records`.
    """

    agent: Agent
    phase: int
