"""``learned``: plays every game for which it has weights, each with its own networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from crib_agents.checks import FOR_POINTS
from crib_agents.data.tables import FOLDER
from crib_agents.learned.family import LearnedFamily
from crib_agents.learned.values import values_entry
from crib_agents.learned.weights import Weights, join
from crib_env.answers import one_or_many
from crib_env.arrays import Doubles
from crib_env.engine.family import Family
from crib_env.engine.show import show_table
from crib_env.honours import refuse_views
from crib_env.parts import families_with, find_part
from crib_env.policy import Act, Actions, CompiledAgent, Views, compile_policy
from crib_env.rules import Rules

if TYPE_CHECKING:
    from crib_env.engine.learners import AgentEntries

SHIPPED = FOLDER / "learned"


@cache
def shipped() -> tuple[Weights, ...]:
    """Return the weights that come with the package, read once in a process."""
    return tuple(Weights.load(path) for path in sorted(SHIPPED.glob("*.safetensors")))


@cache
def self_play() -> tuple[Weights, ...]:
    """Return the weights of self-play alone where those of `shipped` were taught further.

    Search does better with these at its leaves; see docs/learned.md.
    """
    return tuple(Weights.load(path) for path in sorted(SHIPPED.glob("self_play/*.safetensors")))


def by_rules(
    agent: TakesWeights, views: Views, family: LearnedFamily
) -> Iterator[tuple[Doubles, npt.NDArray[np.intp]]]:
    """Sort views of a family by the nets that an agent has for their rules.

    Yields:
        nets as `Weights.flat` lays them out, and the indices of the views they are for.

    Raises:
        ValueError: views of rules that it has no nets for.
    """
    refuse_views(agent, views)
    keys = np.stack([views[field] for field in family.fields], axis=1)
    _, firsts, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    for i, first in enumerate(firsts):
        key = int(family.rules_key(views[first]))
        fitting = [w for w in agent.sets if w.family == family.name and w.key() == key]
        yield fitting[-1].flat(), np.flatnonzero(group.ravel() == i)


class TakesWeights:
    """An agent that plays by the rules of its weights, and of no other ones.

    Attributes:
        sets: the weights.
    """

    honours: ClassVar[frozenset[str] | None] = FOR_POINTS - {"heels"} | {"table_top.heels"}
    other_rules = "`crib train` makes nets for any rules"
    sets: Sequence[Weights]

    @property
    def known_rules(self) -> tuple[Rules, ...]:
        """The rules that its weights are for."""
        return tuple(weights.trained_rules for weights in self.sets)


class MonteCarloAgent(TakesWeights, CompiledAgent):
    """Plays for points, by what its nets expect to follow each choice.

    Views say under which rules they are played; it takes the nets for those. What the nets do not
    depend on, such as the target, may be any.

    Args:
        sets: the weights, by default those that come with the package.
        name: its name in tables.
    """

    name = "learned"
    acts: ClassVar[dict[str, Act]] = {
        family: find_part("learned", family).act for family in families_with("learned")
    }

    def __init__(self, sets: Sequence[Weights] | None = None, name: str = "learned") -> None:
        self.sets = shipped() if sets is None else tuple(sets)
        self.name = name
        super().__init__(join(self.sets))

    @classmethod
    def load(cls, path: str | Path, name: str | None = None) -> MonteCarloAgent:
        """Return the agent of one file of weights, called by its name.

        Raises:
            ValueError: the file does not fit; the message names what was expected and found.
        """
        return cls([Weights.load(path)], name or Path(path).stem)

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B].

        Raises:
            ValueError: views of a game or of rules that it has no nets for; the message says which
                it has.
        """
        return super().act(views, rng)

    @one_or_many
    def action_values(self, views: Views) -> Doubles:
        """Return its value of each action, float64[B, actions]; NaN where illegal.

        Values are points, or probabilities of winning for discards near the end. The value of a
        first discard is that of the best pair with it.

        Raises:
            ValueError: see `act`.
        """
        family = self._for_views(views)[1]
        values = np.full((len(views), family.actions), np.nan)
        write_values = values_entry(family.name)
        write_values(np.ascontiguousarray(views), show_table(), self.weights, values)
        return values

    def entries_for(self, family: Family) -> AgentEntries | None:
        """Return what steps lanes of a family against this agent; None if it must be called."""
        if type(self).act is not MonteCarloAgent.act or family.name not in self.acts:
            return None
        return compile_policy(self.acts[family.name], family)
