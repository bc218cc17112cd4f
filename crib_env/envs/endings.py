"""What a learner is told of an episode that has ended, and of a mask that it seems to forget."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.engine.record import NONE
from crib_env.engine.rewards import ILLEGAL, RESULT
from crib_env.envs.arrays import LearnerArrays
from crib_env.rules import Rules

Array = npt.NDArray[Any]

ENOUGH = 20  # episodes ended by illegal actions, before anything is said of it
FORGOTTEN = (
    "{illegal} of {ended} episodes have ended at an illegal action (reward -1, often at the first "
    "step): has the mask been forgotten? The legal actions are in info['action_mask'] and in "
    "env.unwrapped.action_masks(): choose among them, as sb3-contrib's MaskablePPO does, or draw "
    "one by crib_env.sample_legal; mask_in_observation=True puts them into the observation"
)


def endings(batch: LearnerArrays, rules: Rules, actions: Array) -> dict[str, Array]:
    """Return what there is to say of the episodes that have just ended, an array [N] each.

    Where ``dones`` is False it is 0, or None.

    Args:
        batch: the games. rules: theirs. actions: int64[N], the learners' last.

    Returns:
        ``scores`` int64[N, 2], by side (of a match: of its last game); ``winner`` int64[N], the
        side that won, -1 if neither did; ``skunk`` int64[N], 1 where the game was won by a skunk,
        2 by a double skunk; ``seat`` int64[N], the learner's; ``opponent`` object[N], the names;
        and if an illegal action ended any, ``illegal_action`` int64[N], 0 where none did.
    """
    scores, result = batch.endings[:, :RESULT].copy(), batch.endings[:, RESULT]
    illegal = illegally_ended(batch)
    decided = (scores.max(axis=1) >= rules.target) & ~illegal
    said = {
        "scores": scores,
        "winner": np.where(result == 0, NONE, (1 - result) // 2),
        "skunk": np.where(decided, rules.skunks(abs(scores[:, 0] - scores[:, 1])), 0),
        "seat": batch.final_seats.copy(),
        "opponent": batch.opponents.names[batch.final_opponents],
    }
    for values in said.values():
        values[~batch.dones] = None if values.dtype == object else 0
    if illegal.any():
        said["illegal_action"] = np.where(illegal, actions, 0)
    return said


def illegally_ended(batch: LearnerArrays) -> npt.NDArray[np.bool_]:
    """Return where an illegal action has just ended the episode, bool[N]."""
    illegal: npt.NDArray[np.bool_] = batch.dones & (batch.endings[:, ILLEGAL] == 1)
    return illegal


def ending_of(said: dict[str, Array], batch: LearnerArrays, lane: int) -> dict[str, Any]:
    """Return what `endings` says of one game, numbers as Python has them.

    ``illegal_action`` is in it only where one ended the episode.
    """
    info = {name: values[lane] for name, values in said.items()}
    if not batch.endings[lane, ILLEGAL]:
        info.pop("illegal_action", None)
    return {
        name: int(value) if isinstance(value, np.integer) else value for name, value in info.items()
    }


class MaskReminder:
    """Warns once when illegal actions keep ending episodes."""

    def __init__(self) -> None:
        self._ended = self._illegal = 0
        self._said = False

    def note(self, batch: LearnerArrays) -> None:
        """Take notice of the episodes that the last step has ended."""
        if self._said:
            return
        self._ended += int(batch.dones.sum())
        self._illegal += int(illegally_ended(batch).sum())
        if self._illegal >= ENOUGH and 2 * self._illegal >= self._ended:
            self._said = True
            warnings.warn(FORGOTTEN.format(illegal=self._illegal, ended=self._ended), stacklevel=2)
