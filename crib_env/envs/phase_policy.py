"""The policy that plays a phase: it makes the decisions that an environment leaves out."""

from __future__ import annotations

from dataclasses import dataclass

from crib_env.policy import Agent


@dataclass(frozen=True)
class PhasePolicy:
    """Makes every decision of one phase of a deal, for all seats, from their views.

    Attributes:
        agent: who decides.
        phase: the phase it decides in, such as ``LAY_AWAY`` or ``PLAY`` of
            `crib_env.engine.two_hand.records`.
    """

    agent: Agent
    phase: int
