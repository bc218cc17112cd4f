"""The interface of the learned agent to a family of games; each family's package defines it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from crib_env.arrays import Doubles


@dataclass(frozen=True)
class Net:
    """A net of a family, as its features make it.

    Attributes:
        features: what its inputs are called. version: of their meaning.
        inputs: how many. outputs: how many numbers it puts out.
    """

    features: str
    version: int
    inputs: int
    outputs: int


@dataclass(frozen=True, eq=False)
class LearnedFamily:
    """A family of games as the learned agent plays it.

    Attributes:
        name: the family's.
        nets: its nets by name, in the order in which ``act`` finds them.
        fields: the fields of a view that the nets depend on: rules, the number of players.
        rules_key: kernel ``rules_key(view) -> int``, which tells those fields' values apart, and
            from those of every other family.
        act: ``act(view, rng, table, weights) -> action``; ``weights`` as `weights.join` lays out.
        values: kernel ``values(view, table, weights, values)``, which writes ``act``'s value
            of each action; here ``weights`` begin with the nets.
        tables: the shapes of tables of learned numbers, by name; ``act`` finds them after the nets.
        knows: ``knows(rules_fields) -> float64[K]``, what ``act`` knows of the rules besides, after
            those.
    """

    name: str
    nets: Mapping[str, Net]
    fields: tuple[str, ...]
    rules_key: Callable[[Any], int]
    act: Callable[..., Any]
    values: Callable[..., Any]
    tables: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    knows: Callable[[Mapping[str, Any]], Doubles] | None = None
