"""What a learner is paid for an action, for every entry in which learners act."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from crib_env.engine.family import Family
from crib_env.engine.jit import kernel

# In place of an action: let the others move until the learner is to, in lanes just begun.
CONTINUE = -(1 << 40)

# How an episode ended: both sides' scores, the result for side 0, whether an illegal action did it
# (then there is no result), and the learner's seat.
ENDING = 5
RESULT = 2
ILLEGAL = 3
SEAT = 4


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


@cache
def ending_kernel(family: Family) -> Callable[..., None]:
    """Return the kernel that writes down how an episode of a family's games ended."""
    result = family.verbs.result

    @kernel
    def write_ending(s, rules, seat, illegal, ending):
        """Write into ``ending``, int64[ENDING]; ``illegal``: the learner's action was."""
        ending[0] = s["scores"][0]
        ending[1] = s["scores"][1]
        ending[RESULT] = 0 if illegal else result(s, rules)
        ending[ILLEGAL] = illegal
        ending[SEAT] = seat

    return write_ending
