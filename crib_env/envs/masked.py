"""Observations that carry the mask of legal actions, under the keys that libraries look for.

PettingZoo and TorchRL's ``ActionMask`` read ``observation`` and ``action_mask``; RLlib's action
masking module reads ``observations`` and ``action_mask``; Tianshou's policies ``obs`` and ``mask``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from crib_env.arrays import Array
from crib_env.errors import unknown

Observation = Array | dict[str, Array]


class Keys(NamedTuple):
    """What an observation's two parts are called."""

    observation: str
    mask: str


LIBRARIES = {
    "pettingzoo": Keys("observation", "action_mask"),
    "torchrl": Keys("observation", "action_mask"),
    "rllib": Keys("observations", "action_mask"),
    "tianshou": Keys("obs", "mask"),
}


class Masking:
    """How observations are handed out: as they are, or in a dictionary with their mask.

    Args:
        wanted: False, True, or the name of the library whose keys are to be used.
        space: of the observation alone. actions: how many there are.

    Attributes:
        space: of what is handed out. plain: observations are handed out as they are. keys: of the
            dictionary, None if there is none.

    Raises:
        ValueError: no such library.
    """

    def __init__(self, wanted: bool | str, space: spaces.Box, actions: int) -> None:
        self.space: spaces.Space[Any] = space
        self.plain = not wanted
        self.keys: Keys | None = None
        if self.plain:
            return
        name = "pettingzoo" if wanted is True else wanted
        if name not in LIBRARIES:
            raise unknown("library of mask_in_observation", str(name), LIBRARIES)
        self.keys = LIBRARIES[name]
        masks = spaces.Box(0, 1, (actions,), np.int8)
        self.space = spaces.Dict({self.keys.observation: space, self.keys.mask: masks})

    def joined(self, observation: Array, mask: Array) -> Observation:
        """Return what is handed out of observation and mask, one of each or a batch."""
        if self.keys is None:
            return observation
        return {self.keys.observation: observation, self.keys.mask: mask}
