"""What a learner is paid for an action, for every entry in which learners act."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from numba import int64

from crib_env.engine.family import Family
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import ENDINGS_T, FLAGS_T, NONE

# In place of an action: let the others move until the learner is to, in lanes just begun.
CONTINUE = -(1 << 40)

# How an episode ended: both sides' scores, the result for side 0, whether an illegal action did it
# (then there is no result), and the learner's seat.
ENDING = 5
RESULT = 2
ILLEGAL = 3
SEAT = 4

# A summary of it: both sides' scores, the side that won, by how much, the learner's seat, and
# the illegal action that ended it: NONE if none did, BELOW for any below 0.
SUMMARY = 6
WINNER = 2
MARGIN = 3
BELOW = -2


@cache
def reward_kernel(family: Family) -> Callable[..., float]:
    """Return the kernel of a learner's reward in a family's games."""
    result, unit = family.kernels.result, family.kernels.unit

    @kernel
    def episode_reward(s, rules, seat, points):
        """Return the reward since the learner's last action: points, or the result at the end."""
        side = seat & 1
        if points:
            return float(s["gain"][side] - s["gain"][1 - side]) / unit(rules)
        if s["over"] == 0:
            return 0.0
        return float(result(s, rules) * (1 - 2 * side))

    return episode_reward


@cache
def ending_kernel(family: Family) -> Callable[..., None]:
    """Return the kernel that writes down how an episode of a family's games ended."""
    result = family.kernels.result

    @kernel
    def write_ending(s, rules, seat, illegal, ending):
        """Write into ``ending``, int64[ENDING]; ``illegal``: the learner's action was."""
        ending[0] = s["scores"][0]
        ending[1] = s["scores"][1]
        ending[RESULT] = 0 if illegal else result(s, rules)
        ending[ILLEGAL] = illegal
        ending[SEAT] = seat

    return write_ending


@entry(int64(FLAGS_T, ENDINGS_T, int64[::1], int64, ENDINGS_T))
def summarize_episodes(dones, endings, actions, target, summary):
    """Summarise the episodes that have just ended.

    Args:
        dones: bool[N]. endings: int64[N, ENDING]. actions: int64[N], the learners' last.
        target: points that win a game.
        summary: int64[N, SUMMARY], written where ``dones``; the winner is NONE if neither side won,
            the margin 0 unless a game was won.

    Returns:
        How many of them were ended by an illegal action.
    """
    illegal = 0
    for i in range(dones.shape[0]):
        if not dones[i]:
            continue
        first, second, result = endings[i, 0], endings[i, 1], endings[i, RESULT]
        summary[i, 0] = first
        summary[i, 1] = second
        summary[i, WINNER] = NONE if result == 0 else (1 - result) // 2
        if endings[i, ILLEGAL]:
            illegal += 1
            summary[i, SUMMARY - 1] = actions[i] if actions[i] >= 0 else BELOW
        else:
            summary[i, SUMMARY - 1] = NONE
            if max(first, second) >= target:
                summary[i, MARGIN] = abs(first - second)
        summary[i, SEAT] = endings[i, SEAT]
    return illegal
