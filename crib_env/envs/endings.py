"""The info of a finished episode, and the warning if the mask seems to be ignored."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from crib_env.arrays import Array
from crib_env.engine.learners import BELOW, ILLEGAL, SCORES, SEAT, WINNER, summarize_episodes
from crib_env.engine.record import NONE

if TYPE_CHECKING:
    from crib_env.envs.learner import LearnerBatch

# The info of a game that has not ended.
UNDECIDED = {"winner": np.int64(NONE), "skunk": np.int64(0), "illegal_action": np.int64(NONE)}

ENOUGH = 20  # episodes ended by illegal actions, before a warning
FORGOTTEN = (
    "{illegal} of {ended} episodes have ended at an illegal action (reward -1, often at the first "
    "step): has the mask been forgotten? The legal actions are in info['action_mask'] and in "
    "env.unwrapped.action_masks(): choose among them, as sb3-contrib's MaskablePPO does, or draw "
    "one by crib_env.sample_legal; mask_in_observation=True puts them into the observation; for a "
    "learner that takes no mask, on_illegal='random' plays a legal action instead"
)


LARGEST_ACTION = int(np.iinfo(np.int64).max)  # the info shows larger ones as this


def endings(batch: LearnerBatch) -> tuple[dict[str, Array], int]:
    """Return the info of the episodes that have just ended, an array [N] each.

    Where ``dones`` is False it is 0.

    Returns ``scores`` int64[N, sides], by side (of a match: of its last game); ``winner`` int64[N],
    the side that won, -1 if none did; ``skunk`` int64[N], 1 where the game was won by a skunk, 2 by
    a double skunk; ``seat`` int64[N], the learner's; ``opponent`` int64[N], its number;
    ``illegal_action`` int64[N], the one that ended it or was replaced at its end, -1 if there was
    none, -2 for any below 0. Then how many an illegal action ended.
    """
    dones = batch.dones
    summary = np.zeros((len(dones), batch.endings.shape[1] + 1), dtype=np.int64)
    illegal = summarize_episodes.unchecked(
        dones, batch.endings, batch.actions, batch.rules.target, summary
    )
    replaced = dones & (batch.illegal != NONE)
    return {
        "scores": summary[:, SCORES:-1],
        "winner": summary[:, WINNER],
        "skunk": batch.rules.skunks(summary[:, -1]),
        "seat": summary[:, SEAT],
        "opponent": np.where(dones, batch.final_opponents, 0),
        "illegal_action": np.where(replaced, batch.illegal, summary[:, ILLEGAL]),
    }, illegal


def ending_of(batch: LearnerBatch, lane: int) -> dict[str, Any]:
    """Return the info of one game that has ended, as `endings` does, in scalars of NumPy."""
    winner, illegal, seat, *scores = batch.endings[lane].tolist()
    *_, second, highest = sorted(scores)
    decided = highest >= batch.rules.target and not illegal
    return {
        "scores": batch.endings[lane, SCORES:].copy(),
        "winner": np.int64(winner),
        "skunk": np.int64(batch.rules.skunks(highest - second) if decided else 0),
        "seat": np.int64(seat),
        "opponent": batch.final_opponents[lane],
        "illegal_action": np.int64(shown(batch.actions[lane])) if illegal else batch.illegal[lane],
    }


def shown(action: int) -> int:
    """Return an illegal action as the info shows it: one number for all below 0, in 64 bits."""
    return BELOW if action < 0 else min(int(action), LARGEST_ACTION)


class MaskReminder:
    """Warns once when illegal actions keep ending episodes."""

    def __init__(self) -> None:
        self._ended = self._illegal = 0
        self._warned = False

    def note(self, ended: int, illegal: int) -> None:
        """Count episodes that have ended, ``illegal`` of them by an illegal action."""
        self._ended += ended
        self._illegal += illegal
        if not self._warned and self._illegal >= ENOUGH and 2 * self._illegal >= self._ended:
            self._warned = True
            warnings.warn(FORGOTTEN.format(illegal=self._illegal, ended=self._ended), stacklevel=2)
