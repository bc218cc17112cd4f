"""The learned agents: every game for which they have weights, each with its own networks.

``learned`` takes the action of the highest value. ``learned_mixed`` samples from the softmax of its
networks' values, in two-hand games.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numba import float64, void

from crib_agents.data.tables import FOLDER
from crib_agents.files import name_of
from crib_agents.honours import FOR_POINTS, group_rows
from crib_agents.learned import two_hand
from crib_agents.learned.network import join, offset_of_rules
from crib_agents.learned.weights import FAMILIES, Weights
from crib_env.arrays import Doubles
from crib_env.engine.family import check_family, find_family
from crib_env.engine.hands.records import DEAL
from crib_env.engine.jit import Entry, entry, plain
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T, array_of
from crib_env.engine.show import show_table
from crib_env.policy import Act, Actions, CompiledAgent, Views, check_rng, one_or_many
from crib_env.rules import Rules

SHIPPED = FOLDER / "learned"


@cache
def shipped(folder: str = ".") -> tuple[Weights, ...]:
    """Return the weights that come with the package, read once in a process."""
    return tuple(Weights.load(path) for path in sorted((SHIPPED / folder).glob("*.safetensors")))


@cache
def values_entry(name: str) -> Entry:
    """Return the compiled function that writes the action values of views of a family."""
    known = FAMILIES[name]
    key, write_values = known.rules_key, known.values

    @entry(void(array_of(find_family(name).view), TABLE_T, WEIGHTS_T, float64[:, ::1]), f"learned.{name}.values")
    def write_all(views, table, weights, values):
        """Write values, float64[B, actions], except for illegal actions and views without nets."""
        for k in range(views.shape[0]):
            v = views[k]
            at = offset_of_rules(weights, key(v))
            if at != NONE:
                write_values(v, table, weights[at:], values[k])

    return write_all


class MonteCarloAgent(CompiledAgent):
    """Plays for the points that its nets predict for each choice; near the end, to win.

    It takes the nets for the rules of the views. Fields that the nets do not depend on, such as the
    target, may have any value.

    Args:
        sets: the weights, by default those that come with the package.
        name: its name in tables.
    """

    name = "learned"
    acts: ClassVar[dict[str, Act]] = {name: family.act for name, family in FAMILIES.items()}
    compile_seconds = 10
    honours = FOR_POINTS - {"heels"} | {"table_top.heels", "many_hand.heels"}
    other_rules = "`crib train` makes nets for any rules"

    def __init__(self, sets: Sequence[Weights] | None = None, name: str = "learned") -> None:
        self.sets = shipped() if sets is None else tuple(sets)
        self.name = name
        super().__init__(join([one.key() for one in self.sets], [one.flat() for one in self.sets]))

    @property
    def known_rules(self) -> tuple[Rules, ...]:
        """The rules that its weights are for; it plays by no others."""
        return tuple(weights.rules for weights in self.sets)

    @classmethod
    def load(cls, path: str | Path, name: str | None = None) -> MonteCarloAgent:
        """Return the agent of one file of weights, by default with the file's name.

        Raises:
            ValueError: the file does not fit; the message names the expected and the found value.
        """
        return cls([Weights.load(path)], name or name_of(path))

    def save(self, path: str | Path) -> None:
        """Write its nets, which are for one set of rules, to a file that `load_agent` reads.

        Raises:
            ValueError: it has nets for several sets of rules.
        """
        if len(self.sets) != 1:
            raise ValueError(
                f"a file holds the nets of one set of rules, and {self.name} has {len(self.sets)}: "
                "save one with agent.sets[i].save(path)"
            )
        self.sets[0].save(path)

    @one_or_many
    def action_values(self, views: Views) -> Doubles:
        """Return its value of each action, float64[B, actions]; NaN where illegal.

        Values are points, or probabilities of winning for discards near the end. The value of a
        first discard is that of the best pair with it.

        Raises:
            ValueError: see `act`.
        """
        family = check_family(self.name, views, self.acts)
        values = np.full((len(views), family.actions), np.nan)
        write_values = values_entry(family.name)
        write_values(np.ascontiguousarray(views), show_table(), self.weights, values)
        return values


class MixedAgent(MonteCarloAgent):
    """Samples an action from the softmax of its networks' values; see `Weights.temperature`.

    It plays for points and ignores the score, as `Equilibrium` does.

    Args:
        sets: the weights, by default those that come with the package.
        name: its name in tables.

    Raises:
        ValueError: weights without a temperature.
    """

    draws: ClassVar[bool] = True
    honours = FOR_POINTS
    acts: ClassVar[dict[str, Act]] = {two_hand.FAMILY.name: two_hand.FAMILY.act}

    def __init__(self, sets: Sequence[Weights] | None = None, name: str = "learned_mixed") -> None:
        super().__init__(shipped("mixed") if sets is None else sets, name)
        if not all(weights.temperature for weights in self.sets):
            raise ValueError("weights of a stochastic policy have a temperature above 0, got 0")

    @one_or_many
    def action_values(self, views: Views) -> Doubles:
        """Return its value of each action in points, float64[B, actions]; NaN where illegal.

        Raises:
            ValueError: see `act`.
        """
        check_family(self.name, views, self.acts)
        for_points = views.copy()
        for_points["episode"] = DEAL
        values: Doubles = super().action_values(for_points)
        return values

    @one_or_many
    def action_probabilities(self, views: Views) -> Doubles:
        """Return the probability of each action, float64[B, actions].

        Raises:
            ValueError: see `act`.
        """
        values = self.action_values(views)
        of_rules = {one.key(): one.temperature for one in reversed(self.sets)}  # kernels take the first too
        key = plain(two_hand.FAMILY.rules_key)
        temperatures = np.empty((len(views), 1))
        for _, rows in group_rows(np.stack([views[name] for name in two_hand.FAMILY.fields], axis=1)):
            temperatures[rows] = of_rules[int(key(views[rows[0]]))]
        below = values - np.nanmax(values, axis=1, keepdims=True)
        odds = np.nan_to_num(np.exp(below / temperatures), nan=0.0)
        found: Doubles = odds / odds.sum(axis=1, keepdims=True)
        return found

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B].

        Raises:
            ValueError: views of another game, or of rules that it has no nets for.
        """
        ladder = self.action_probabilities(views).cumsum(axis=1)
        points = check_rng(rng).random((len(views), 1)) * ladder[:, -1:]
        actions: Actions = (ladder > points).argmax(axis=1)
        return actions
