"""``learned``: plays every game that it has weights for, each by its own nets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from crib_agents.data.tables import FOLDER
from crib_agents.learned.families import FAMILIES
from crib_agents.learned.family import LearnedFamily
from crib_agents.learned.values import values_entry
from crib_agents.learned.weights import Weights, join
from crib_env.answers import one_or_many
from crib_env.engine.family import Family, find_family
from crib_env.engine.show import show_table
from crib_env.policy import Act, Actions, CompiledAgent, Views, compile_policy

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
    views: Views, sets: Sequence[Weights], family: LearnedFamily, name: str
) -> Iterator[tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]]:
    """Sort views of a family by the nets for their rules.

    Yields:
        nets as `Weights.flat` lays them out, and the indices of the views they are for.

    Raises:
        ValueError: views of rules that ``sets`` has no nets for; ``name`` says whose they are.
    """
    keys = np.stack([views[field] for field in family.fields], axis=1)
    _, firsts, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    for i, first in enumerate(firsts):
        key = int(family.rules_key(views[first]))
        fitting = [w for w in sets if w.family == family.name and w.key() == key]
        if not fitting:
            refuse(name, views[first : first + 1], sets, family)
        yield fitting[-1].flat(), np.flatnonzero(group.ravel() == i)


def refuse(name: str, views: Views, sets: Sequence[Weights], family: LearnedFamily) -> None:
    """Raise a ValueError that says which rules the first view has and which have nets."""
    found = {field: int(views[field][0]) for field in family.fields}
    known = [
        f"{weights.rules} ({_said(weights.depends())})"
        for weights in sets
        if weights.family == family.name
    ]
    raise ValueError(
        f"{name} has no nets for {_said(found)}: it has {', '.join(known) or 'none'}; "
        f"`crib train` makes them for any rules"
    )


class MonteCarloAgent(CompiledAgent):
    """Plays for points, by what its nets expect to follow each choice.

    Views say under which rules they are played; it takes the nets for those. What the nets do not
    depend on, such as the target, may be any.

    Args:
        sets: the weights, by default those that come with the package.
        name: what tables call it.
    """

    name = "learned"
    acts: ClassVar[dict[str, Act]] = {name: known.act for name, known in FAMILIES.items()}

    def __init__(self, sets: Sequence[Weights] | None = None, name: str = "learned") -> None:
        self.sets = shipped() if sets is None else tuple(sets)
        self.name = name
        super().__init__(join(self.sets))

    @classmethod
    def load(cls, path: str | Path, name: str | None = None) -> MonteCarloAgent:
        """Return the agent of one file of weights, called by its name.

        Raises:
            ValueError: the file does not fit; the message says what was expected and found.
        """
        return cls([Weights.load(path)], name or Path(path).stem)

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B].

        Raises:
            ValueError: views of a game or of rules that it has no nets for; the message says which
                it has.
        """
        actions = super().act(views, rng)
        self._check(views[actions < 0])
        return actions

    @one_or_many
    def action_values(self, views: Views) -> npt.NDArray[np.float64]:
        """Return what it thinks each action is worth, float64[B, actions]; NaN where illegal.

        In points, or as a chance to win where it discards near the end. A card discarded first is
        worth what the best pair with it is.

        Raises:
            ValueError: see `act`.
        """
        family = self._for_views(views)[1]
        values = np.full((len(views), family.actions), np.nan)
        write_values = values_entry(family.name)
        write_values(np.ascontiguousarray(views), show_table(), self.weights, values)
        self._check(views[np.isnan(values).all(axis=1)])
        return values

    def _check(self, unknown: Views) -> None:
        """Raise a ValueError if there are views of rules that have no nets."""
        if len(unknown):
            family = next(f for f in FAMILIES.values() if find_family(f.name).view == unknown.dtype)
            refuse(self.name, unknown, self.sets, family)

    def entries_for(self, family: Family) -> AgentEntries | None:
        """Return what steps lanes of a family against this agent; None if it must be asked."""
        if type(self).act is not MonteCarloAgent.act or family.name not in self.acts:
            return None
        return compile_policy(self.acts[family.name], family)


def _said(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{field} {int(value)}" for field, value in fields.items())
