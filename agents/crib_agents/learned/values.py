"""The learned agent's value of every action, compiled once for each family of games."""

from __future__ import annotations

from functools import cache

from numba import float64, void

from crib_agents.learned.network import find_nets
from crib_env.engine.family import find_family
from crib_env.engine.jit import Entry, entry
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T, array_of
from crib_env.parts import find_part


@cache
def values_entry(name: str) -> Entry:
    """Return what writes the values of the actions of views of a family, by its name."""
    known = find_part("learned", name)
    key, write_values = known.rules_key, known.values

    @entry(
        void(array_of(find_family(name).view), TABLE_T, WEIGHTS_T, float64[:, ::1]),
        f"learned.{name}.values",
    )
    def write_all(views, table, weights, values):
        """Write values, float64[B, actions]; of what is illegal or has no nets they stay."""
        for k in range(views.shape[0]):
            v = views[k]
            at = find_nets(weights, key(v))
            if at != NONE:
                write_values(v, table, weights[at:], values[k])

    return write_all
