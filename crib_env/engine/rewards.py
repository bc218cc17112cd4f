"""What a learner is paid for an action, for every entry in which learners act."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from crib_env.engine.family import Family
from crib_env.engine.jit import kernel

# In place of an action: let the others move until the learner is to, in lanes just begun.
CONTINUE = -(1 << 40)


@cache
def reward_kernel(family: Family) -> Callable[..., float]:
    """Return the kernel of a learner's reward in a family's games."""
    result, gained = family.verbs.result, family.verbs.gained

    @kernel
    def episode_reward(s, rules, seat, points):
        """Return the reward since the learner's last action: points, or the result at the end."""
        side = seat & 1
        if points:
            return gained(s, rules, side)
        if s["over"] == 0:
            return 0.0
        return float(result(s, rules) * (1 - 2 * side))

    return episode_reward
