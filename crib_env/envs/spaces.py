"""The spaces of observations, and observations that carry the mask of legal actions.

Libraries look for observation and mask under their own keys: PettingZoo and TorchRL's
``ActionMask`` read ``observation`` and ``action_mask``; RLlib's action masking module reads
``observations`` and ``action_mask``; Tianshou's policies ``obs`` and ``mask``.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
from gymnasium import spaces

from crib_env.arrays import Array
from crib_env.envs.config import LIBRARIES, EnvConfig, Keys

Observation = Array | dict[str, Array]

RULES = "crib_env_rules"  # the attribute of a space that records rules, suits and features


class Masking:
    """The form of returned observations: the array alone, or a dictionary with its mask."""

    def __init__(self, config: EnvConfig) -> None:
        # The space of returned observations.
        self.space: spaces.Space[Any] = observation_space(config)
        self.keys: Keys | None = None  # of the dictionary
        if name := config.mask_in_observation:
            self.keys = LIBRARIES[name if isinstance(name, str) else "pettingzoo"]
            masks = spaces.Box(0, 1, (config.family.actions,), np.int8)
            self.space = spaces.Dict({self.keys.observation: self.space, self.keys.mask: masks})

    def joined(self, observation: Array, mask: Array) -> Observation:
        """Return observation and mask, one of each or a batch, in the form for callers."""
        if self.keys is None:
            return observation
        return {self.keys.observation: observation, self.keys.mask: mask}

    def copied(self, observation: Array, mask: Array) -> Observation:
        """Return `joined` copies; a mask that the form lacks is not copied."""
        return self.joined(observation.copy(), mask if self.keys is None else mask.copy())


class ObservationSpace(spaces.Box):
    """A box that differs from boxes of other suits: SB3 refuses a model trained with them.

    Boxes of other rules are equal, since learners change rules on purpose, but a warning names
    both.
    """

    def __eq__(self, other: object) -> bool:
        if not super().__eq__(other):
            return False
        ours, theirs = (getattr(space, RULES, None) for space in (self, other))
        if ours is None or theirs is None or ours == theirs:
            return True
        if any(ours[name] != theirs[name] for name in ("family", "suits")):
            return False
        apart = [
            f"{name} {theirs['rules_fields'].get(name)} and {value}"
            for name, value in ours["rules_fields"].items()
            if theirs["rules_fields"].get(name) != value
        ]
        if apart:
            warnings.warn(f"spaces of different rules: {ours['rules']} with {', '.join(apart)}", stacklevel=3)
        return True

    def __repr__(self) -> str:
        noted = getattr(self, RULES, None)
        if noted is None or noted["suits"] == "real":
            return super().__repr__()
        return f"{super().__repr__()[:-1]}, suits={noted['suits']!r})"

    __hash__ = None  # type: ignore[assignment]  # as of a Box


def observation_space(config: EnvConfig) -> spaces.Box:
    """Return the space of one observation; it records the game, and SB3's models store it."""
    family, rules = config.family, config.rules
    space = ObservationSpace(0, 1, (family.obs_size,), np.uint8)
    if config.features:
        more = family.features
        columns = [*family.layout, *more.state, *more.row * more.rows]
        sizes = [one.size for one in columns]
        low, high = (np.repeat([getattr(one, end) for one in columns], sizes) for end in ("low", "high"))
        space = ObservationSpace(low.astype(np.float32), high.astype(np.float32))
    fields = asdict(rules)
    vars(space)[RULES] = {
        "family": rules.family,
        "rules": fields.pop("name"),
        "rules_fields": fields,
        "suits": config.suits,
        "features": config.features,
    }
    return space
