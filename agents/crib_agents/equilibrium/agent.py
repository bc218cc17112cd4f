"""``equilibrium``: plays for points, by a strategy against which no opponent gains much."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numba import float64, void

from crib_agents.checks import FOR_POINTS
from crib_agents.data.tables import FOLDER
from crib_agents.equilibrium.act import act, card_probabilities
from crib_agents.equilibrium.classes import HAND
from crib_agents.equilibrium.files import Solved
from crib_agents.equilibrium.packed import pack
from crib_agents.learned.network import join
from crib_env.arrays import Doubles
from crib_env.engine import stack
from crib_env.engine.jit import entry
from crib_env.engine.record import WEIGHTS_T, array_of
from crib_env.engine.two_hand import VIEW
from crib_env.policy import Act, CompiledAgent, Views, one_or_many
from crib_env.rules import Rules

SHIPPED = FOLDER / "equilibrium"
FAMILY = "two_hand"


@cache
def shipped() -> tuple[Solved, ...]:
    """Return the strategies that come with the package, read once in a process."""
    return tuple(Solved.load(path) for path in sorted(SHIPPED.glob("*.safetensors")))


@entry(void(array_of(VIEW), WEIGHTS_T, float64[:, ::1]))
def write_probabilities(views, weights, probabilities):
    """Write each view's action probabilities; a row stays 0 under unknown rules."""
    of_hand = stack.floats(HAND)
    for k in range(views.shape[0]):
        v = views[k]
        if card_probabilities(v, weights, of_hand):
            for i in range(v["hand_n"]):
                probabilities[k, v["hand"][i]] = of_hand[i]


class Equilibrium(CompiledAgent):
    """Plays a solved strategy by its probabilities; it ignores the score.

    A view names its rules, and the agent takes the strategy for those. Fields on which strategies
    do not depend, such as the target, may have any value.

    Args:
        solved: the strategies, by default those that come with the package.
        name: its name in tables.
    """

    name = "equilibrium"
    acts: ClassVar[dict[str, Act]] = {FAMILY: act}
    draws: ClassVar[bool] = True
    honours = FOR_POINTS
    other_rules = "`crib solve` makes strategies for other rules"

    def __init__(self, solved: Sequence[Solved] | None = None, name: str = "equilibrium") -> None:
        self.solved = shipped() if solved is None else tuple(solved)
        self.name = name
        super().__init__(_joined(self.solved))

    @property
    def known_rules(self) -> tuple[Rules, ...]:
        """The rules that its strategies are for."""
        return tuple(one.solved_rules for one in self.solved)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what every process has or can make for itself."""
        state = {name: value for name, value in vars(self).items() if name != "weights"}
        if self.solved is shipped():
            state["solved"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if state["solved"] is None:
            self.solved = shipped()
        self.weights = _joined(self.solved)

    @classmethod
    def load(cls, path: str | Path, name: str | None = None) -> Equilibrium:
        """Return the agent of one strategy file, called by its name.

        Raises:
            ValueError: the file does not fit; the message names what was expected and found.
        """
        return cls([Solved.load(path)], name or Path(path).stem)

    @one_or_many
    def action_probabilities(self, views: Views) -> Doubles:
        """Return the probability of each action, float64[B, 52]; a row adds up to 1.

        Raises:
            ValueError: see `act`.
        """
        family = self._for_views(views)[1]
        probabilities = np.zeros((len(views), family.actions))
        write_probabilities(np.ascontiguousarray(views), self.weights, probabilities)
        return probabilities


@cache
def _joined(solved: tuple[Solved, ...]) -> Doubles:
    """Return strategies as kernels read them; shared by all agents of the same ones."""
    return join([one.key() for one in solved], [pack(one.strategy) for one in solved])
