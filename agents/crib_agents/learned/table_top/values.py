"""The learned agent's value of each place for its card at Table Top, for display."""

from __future__ import annotations

from crib_agents.learned.table_top.act import (
    ACTIONS,
    EACH_TWICE,
    UNLIKELY,
    action_values,
    line_values,
    lines_open,
)
from crib_env.engine import stack
from crib_env.engine.jit import kernel


@kernel
def write_values(v, table, weights, values):
    """Write the value of each action, float64[26]; others stay as they are."""
    points = stack.ints(EACH_TWICE)
    value = stack.floats(EACH_TWICE)
    found = stack.floats(ACTIONS)
    line_values(v, table, weights, lines_open(v["legal"]), points, value)
    action_values(v, table, weights, value, found)
    for action in range(ACTIONS):
        if found[action] != UNLIKELY:
            values[action] = found[action]
