"""The policy that plays a phase: it makes the decisions that an environment leaves out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crib_env.engine.single import ILLEGAL
from crib_env.errors import IllegalActionError
from crib_env.game import Game
from crib_env.policy import Agent, ask_agent


@dataclass(frozen=True)
class PhasePolicy:
    """Makes every decision of one phase of a deal, for all seats, from their views.

    Attributes:
        agent: who decides.
        phase: the phase it decides in, such as ``DISCARD`` or ``PEGGING`` of
            `crib_env.engine.hands.records`.
    """

    agent: Agent
    phase: int

    def play(self, game: Game, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Make all its decisions that come now; return what they gain each seat.

        Returns int64[players], as `Game.leads`.
        """
        total = np.zeros_like(game.leads)
        while not game.over and game.states["phase"][0] == self.phase:
            view = game.view(game.seat)
            action = int(ask_agent(self.agent, np.array([view]), rng)[0])
            code = game.advance(action)
            if code == ILLEGAL:
                why = game.family.why_illegal(view, action)
                raise IllegalActionError(f"the phase policy {self.agent.name!r} failed: {why}")
            total += game.leads
        return total


def check_phase(policy: PhasePolicy | None, s: np.void) -> None:
    """Raise a ValueError if ``policy`` itself would play on from the state ``s``."""
    if policy is not None and not s["over"] and s["phase"] == policy.phase:
        raise ValueError("this environment plays that phase of the deal itself: a position must "
                         "leave the choice to the seats")  # fmt: skip
