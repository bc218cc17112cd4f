"""The reward of a learner's action, for all entries in which learners act."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from numba import int64

from crib_env.engine.family import Family
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import ENDINGS_T, FLAGS_T, NONE
from crib_env.engine.returns import lead

# In place of an action: let the others move until the learner is to, in lanes just begun.
CONTINUE = -(1 << 40)

# How an episode ended: the side that won (NONE if none did, or if an illegal action ended it),
# whether one did, the learner's seat, then the scores by side.
WINNER = 0
ILLEGAL = 1
SEAT = 2
SCORES = 3

# A summary of it: the same, but ILLEGAL is the illegal action that ended it (NONE if none did,
# BELOW for any below 0), and after the scores by how much the game was won. `illegal_action` of the
# infos is the same.
BELOW = -2


@cache
def reward_kernel(family: Family) -> Callable[..., float]:
    """Return the kernel of a learner's reward in a family's games."""
    returns, unit = family.kernels.returns, family.kernels.unit

    @kernel
    def episode_reward(s, rules, seat, points):
        """Return the reward since the learner's last action: points, or the return at the end."""
        side = rules["side_of"][seat]
        if points:
            return float(lead(s, rules, side)) / ((rules["sides"] - 1) * unit(rules))
        if s["over"] == 0:
            return 0.0
        return returns(s, rules, side)

    return episode_reward


@cache
def ending_kernel(family: Family) -> Callable[..., None]:
    """Return the kernel that writes down how an episode of a family's games ended."""
    returns = family.kernels.returns

    @kernel
    def winner_of(s, rules):
        """Return the side whose return is above 0; NONE if that is none, or several."""
        winner = NONE
        for side in range(rules["sides"]):
            if returns(s, rules, side) > 0:
                if winner != NONE:
                    return NONE
                winner = side
        return winner

    @kernel
    def write_ending(s, rules, seat, illegal, ending):
        """Write into ``ending``, int64[SCORES + sides]; ``illegal``: the learner's action was."""
        ending[WINNER] = NONE if illegal else winner_of(s, rules)
        ending[ILLEGAL] = illegal
        ending[SEAT] = seat
        for side in range(rules["sides"]):
            ending[SCORES + side] = s["scores"][side]

    return write_ending


@entry(int64(FLAGS_T, ENDINGS_T, int64[::1], int64, ENDINGS_T))
def summarize_episodes(dones, endings, actions, target, summary):
    """Summarise the episodes that have just ended.

    Returns how many of them were ended by an illegal action. Shapes: dones bool[N]; endings
    int64[N, SCORES + sides]; actions int64[N]; summary int64[N, SCORES + sides + 1].
    """
    illegal = 0
    for i in range(dones.shape[0]):
        if not dones[i]:
            continue
        summary[i, WINNER] = endings[i, WINNER]
        summary[i, SEAT] = endings[i, SEAT]
        highest, second = NONE, NONE
        for column in range(SCORES, endings.shape[1]):
            score = endings[i, column]
            summary[i, column] = score
            second = max(second, min(score, highest))
            highest = max(highest, score)
        if endings[i, ILLEGAL]:
            illegal += 1
            summary[i, ILLEGAL] = actions[i] if actions[i] >= 0 else BELOW
        else:
            summary[i, ILLEGAL] = NONE
            if highest >= target:
                summary[i, endings.shape[1]] = highest - second
    return illegal
