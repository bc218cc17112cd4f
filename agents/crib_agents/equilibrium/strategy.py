"""A strategy as tables: the probability of each discard, and of each rank at each node.

Probabilities are uint8, in 255ths. `Solved` is a strategy with the rules it is for: its file is
safetensors with compressed tables, and contains no code to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from crib_agents.equilibrium.classes import Classes, hand_classes
from crib_agents.equilibrium.public_tree import PublicTree, public_tree
from crib_agents.files import check_format, compress, inflate, reading, shown, to_bytes
from crib_agents.honours import fields_of, read_rules
from crib_agents.learned.two_hand import FAMILY
from crib_env.arrays import Array, Bytes, Floats
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import RANKS, WHOLE_DECK
from crib_env.rules import TwoHandRules

WHOLE = 255.0


@dataclass(frozen=True, eq=False)
class Strategy:
    """A seat's strategy for every position of a deal, at any score."""

    dealt: int  # cards dealt to a seat
    single_count: bool  # whether there is one count (F4)
    # uint8[2, C, S], by role (pone, dealer), the class of the hand and the way to split it; the
    # probabilities of a class add up to 255
    discard: Bytes
    # uint8[starters, size]; see `first_of`. ``starters`` is 13, the starter's rank, or 1 where the
    # pegging does not depend on it
    play: Bytes
    deck: int = WHOLE_DECK  # the cards in play, one bit per card id

    @property
    def classes(self) -> Classes:
        """The classes of hands."""
        return hand_classes(self.dealt, self.deck)

    @property
    def tree(self) -> PublicTree:
        """The public tree of the pegging."""
        return public_tree(self.dealt - 2, self.single_count)

    def discard_probabilities(self, role: int) -> Floats:
        """Return the probability of each split by class, float32[C, S], for pone 0, dealer 1."""
        probabilities: Floats = self.discard[role].astype(np.float32) / WHOLE
        return probabilities


@kernel
def first_of(at, left, place):
    """Return the index of a holding's first probability at a node, whose own begin at ``at``.

    There is one for each rank it holds, ascending, except the last, which has the remaining
    probability; a holding with a rank twice leaves some unused.
    """
    return at + place * (left - 1)


FORMAT = "crib_env strategy"
FORMAT_VERSION = 1
FIELDS = FAMILY.fields
"""The fields of the rules that a strategy depends on; scores and the target do not matter."""


@dataclass(frozen=True, eq=False)
class Solved:
    """A strategy with its rules and origin."""

    rules: TwoHandRules
    strategy: Strategy  # of both seats
    # how it was solved: iterations, and measured bounds on its exploitability
    about: Mapping[str, Any]
    made_by: str = ""  # the command that made it

    def key(self) -> int:
        """Return the key by which kernels find the strategy for these rules."""
        return FAMILY.key(self.rules)

    def to_bytes(self) -> bytes:
        """Return the bytes of the file."""
        return to_bytes(self.header(), self.compressed)

    @cached_property
    def compressed(self) -> dict[str, Bytes]:
        """The tables as the file stores them."""
        tables = {"discard": self.strategy.discard, "pegging": self.strategy.play}
        return {
            name: np.frombuffer(compress(np.ascontiguousarray(table).data), dtype=np.uint8)
            for name, table in tables.items()
        }

    def header(self) -> dict[str, Any]:
        """Return the header of the file."""
        strategy = self.strategy
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "rules": self.rules.name,
            "rules_fields": fields_of(self.rules),
            "shapes": {"discard": list(strategy.discard.shape), "pegging": list(strategy.play.shape)},
            "about": dict(self.about),
            "made_by": self.made_by,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the compressed tables, a tenth of their size or less."""
        return Solved.of_file, (self.header(), self.compressed)

    def __deepcopy__(self, memo: object) -> Solved:
        return self  # immutable

    @classmethod
    def load(cls, path: str | Path) -> Solved:
        """Read a file of `to_bytes`."""
        with reading(path) as found:
            return cls.of_file(*found)

    @classmethod
    def of_file(cls, about: dict[str, Any], tensors: Mapping[str, Array]) -> Solved:
        """Return the strategy of a file's header and tables."""
        check_format(about, FORMAT, FORMAT_VERSION)
        rules = read_rules(TwoHandRules.family, about.get("rules"), about.get("rules_fields"), FIELDS)
        assert isinstance(rules, TwoHandRules)
        if not isinstance(about.get("about", {}), dict):
            raise ValueError(f"its header must say how it was solved, found {shown(about.get('about'))}")
        size = public_tree(rules.dealt - 2, rules.single_count).size
        classes = hand_classes(rules.dealt)
        expected: dict[str, list[tuple[int, ...]]] = {
            "discard": [(2, len(classes.codes), len(classes.splits))],
            "pegging": [(1, size), (RANKS, size)],
        }
        shapes = about.get("shapes")
        shapes = shapes if isinstance(shapes, dict) else {}
        tables = {}
        for name, possible in expected.items():
            shape = shapes.get(name)
            if name not in tensors or tensors[name].dtype != np.uint8:
                raise ValueError(f"expected the table {name!r}, found {', '.join(tensors)}")
            if shape not in [list(one) for one in possible]:
                raise ValueError(f"expected the table {name!r} to have the shape {possible[-1]}, found {shown(shape)}")
            try:
                data = inflate(tensors[name].tobytes(), prod(shape))
            except ValueError as error:
                raise ValueError(f"the table {name!r}: {error}") from None
            tables[name] = np.frombuffer(data, dtype=np.uint8).reshape(shape)
        strategy = Strategy(rules.dealt, rules.single_count, tables["discard"], tables["pegging"])
        solved = cls(rules, strategy, about.get("about", {}), str(about.get("made_by", "")))
        # Pickling sends these bytes, and does not compress the tables again.
        vars(solved)["compressed"] = {name: tensors[name] for name in expected}
        return solved
