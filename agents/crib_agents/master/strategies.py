"""The solved strategies that come with the package, each loaded at its first use."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crib_agents.equilibrium.agent import SHIPPED
from crib_agents.equilibrium.files import FIELDS, Solved
from crib_agents.equilibrium.packed import pack
from crib_agents.files import read_header
from crib_env.arrays import Doubles
from crib_env.policy import Views

Fields = tuple[int, ...]


@cache
def paths() -> dict[Fields, Path]:
    """Return the files of the strategies, by the values of the rules in `FIELDS`."""
    found = {}
    for path in sorted(SHIPPED.glob("*.safetensors")):
        rules = read_header(path)[0]["rules_fields"]
        found[tuple(int(rules[field]) for field in FIELDS)] = path
    return found


@cache
def packed(rules: Fields) -> Doubles | None:
    """Return the strategy for rules of these fields as `packed` lays it out; None if there is none.

    The six-card strategy takes 150 MB, and a second or two to load.
    """
    path = paths().get(rules)
    return None if path is None else pack(Solved.load(path).strategy)


def by_rules(views: Views) -> Iterator[tuple[Fields, npt.NDArray[np.intp]]]:
    """Sort two-hand views by the rules that strategies depend on.

    Yields:
        the fields' values and the indices of the views that have them.
    """
    keys = np.stack([views[field] for field in FIELDS], axis=1)
    distinct, group = np.unique(keys, axis=0, return_inverse=True)
    for i, fields in enumerate(distinct.tolist()):
        yield tuple(fields), np.flatnonzero(group.ravel() == i)
