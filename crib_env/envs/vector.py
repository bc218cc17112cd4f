"""The Gymnasium vector shell: the native batch behind ``gymnasium.make_vec``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from crib_env.arrays import Array
from crib_env.engine.record import NONE
from crib_env.envs.config import EnvConfig
from crib_env.envs.learner import UNDECIDED, LearnerBatch, VectorSettings
from crib_env.envs.spaces import Observation
from crib_env.options import check_seed, is_list, read_options

# Before Gymnasium 1.4 the wrapper leaves out the first step after every end.
STATISTICS_OF_NEXT_STEP = tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 4)
NOT_COUNTED = (
    "Gymnasium's RecordEpisodeStatistics counts vector environments right from 1.4 on, or with "
    "autoreset_mode='NextStep': with this version it leaves out the first step of every episode "
    "after the first"
)

# Gymnasium's flags: the games for which an entry of the info holds.
FLAGS = ("_action_mask", "_scores", "_winner", "_skunk", "_seat", "_opponent", "_illegal_action")


class CribbageVectorEnv(VectorSettings, VectorEnv[Observation, Array, Array]):
    """N games for N learners, stepped in compiled code.

    By default finished episodes reset in the same step: the observation returned is the new
    episode's, the ended one's is in ``info["final_obs"]`` and its info in ``info["final_info"]``.
    With ``AutoresetMode.NEXT_STEP``, which Gymnasium's own vector wrappers ask for, the observation
    returned is the ended episode's; the next step ignores that game's action and returns the new
    episode's first observation at reward 0. Legal actions are in ``info["action_mask"]``
    (int8[N, actions]); where the action will be ignored, all are. Besides them the info has at
    every reset and step the single environment's entries, as arrays [N]: ``scores`` [N, sides],
    ``winner`` (-1: no side, or not yet), ``skunk``, ``seat``, ``opponent`` (a number, see
    `opponent_names`) and ``illegal_action``, each with a bool[N] of its name after ``_``. By
    default those are of the new episode where one has ended, and the ended one's are in
    ``info["final_info"]``.

    Its keywords are described at `EnvConfig`; `crib_env.six_card_v0.vector_env` lists them. With
    ``copy=False`` the arrays are the batch's own and the next step overwrites them.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012
    _spec: EnvSpec | None = None  # only `gymnasium.make_vec` sets it

    def __init__(self, config: EnvConfig) -> None:
        self._config = config
        self._same_step = config.autoreset_mode == AutoresetMode.SAME_STEP
        self.autoreset_mode = config.autoreset_mode
        self.metadata = {**self.metadata, "autoreset_mode": config.autoreset_mode}
        self.batch = LearnerBatch(config, autoreset=self._same_step)
        self.copy = config.copy
        self.num_envs = num_envs = config.num_envs
        self.single_observation_space = self.batch.masking.space
        self.single_action_space = spaces.Discrete(config.family.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._no_truncations = np.zeros(num_envs, dtype=np.bool_)
        self._nobody, self._no_skunk = (np.full(num_envs, UNDECIDED[name]) for name in ("winner", "skunk"))
        self._everywhere = np.ones(num_envs, dtype=np.bool_)
        self._ended = np.zeros(num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in every game.

        Args:
            seed: starts all generators; None continues with them. A sequence of N seeds starts
                those of each game by its own, as the single environment would.
            options: as in the single environment, for the first episode of every game. With
                ``reset_mask``, bool[N], the other games continue, and seeds must be one a game.

        Returns:
            observations [N, size] of the space's dtype, and info with ``action_mask``
            int8[N, actions].
        """
        batch = self.batch
        several = is_list(seed)
        given = list(seed) if several else [seed]  # type: ignore[arg-type]
        seeds = [check_seed(one) for one in given]
        if several and len(seeds) != self.num_envs:
            raise ValueError(f"seed must be one or {self.num_envs}, one a game, got {seed!r}")
        rest, lanes = self._lanes(options)
        chosen = read_options(rest, batch.sides, self.rules.target)
        if lanes is not None and not several and seeds[0] is not None:
            raise ValueError(f"with reset_mask, seed must be {self.num_envs}, one a game")
        self._check_statistics()
        super().reset(seed=seeds[0])
        if lanes is not None:
            seeds = [seed if lane in lanes else None for lane, seed in enumerate(seeds)]
        if several or seeds[0] is not None:
            batch.seed(seeds if several else seeds[0])
        begun = self.num_envs if lanes is None else len(lanes)
        batch.reset([chosen] * begun if rest else None, lanes)
        self._ended[slice(None) if lanes is None else lanes] = False
        batch.masks[self._ended] = 1
        info = self._info()
        return self._observation(info), info

    def step(self, actions: Array) -> tuple[Observation, Array, Array, Array, dict[str, Any]]:
        """Act in every game.

        Args:
            actions: int[N].

        Returns:
            observations [N, size], rewards float64[N], terminations bool[N], truncations bool[N]
            (never), and info: ``action_mask``; where episodes ended
            ``final_obs`` (object[N], None where none ended) and ``final_info``, each with a bool[N]
            of the same name after ``_``.
        """
        batch = self.batch
        batch.step(actions, None if self._same_step else self._ended)
        ended = batch.dones
        if self._same_step:
            final = self._final() if ended.any() else {}
            info = self._info() | final
        else:
            self._ended = ended.copy()
            batch.masks[ended] = 1
            info = self._info()
            if ended.any():
                ending = self._endings()
                for name in UNDECIDED:
                    info[name] = np.where(ended, ending[name], info[name])
        truncations = self._own(self._no_truncations)
        return (self._observation(info), self._own(batch.rewards), self._own(ended), truncations, info)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return an attribute, or a method's result, for each game; as `SyncVectorEnv.call`.

        Raises:
            AttributeError: another method than ``action_masks`` and ``set_opponent``.
        """
        if name == "set_opponent":
            self.set_opponent(*args, **kwargs)
            return (None,) * self.num_envs
        if name == "action_masks":
            return tuple(self.action_masks())
        if callable(getattr(type(self), name, None)):
            raise AttributeError(f"the games have no method {name!r}, only 'action_masks' and 'set_opponent'")
        return tuple(self.by_game(name))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute once for each game; all games share it except the opponent."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set the opponent of all games, or of each by a list of N; the games share all else.

        Raises:
            NotImplementedError: another attribute than ``opponent``.
        """
        if name != "opponent" or not isinstance(values, (list, tuple)):
            self._set_by_name(name, values)
            return
        if len(values) != self.num_envs:
            raise ValueError(f"values must be one or {self.num_envs}, one a game, got {values!r}")
        every = [self.batch.members(value) for value in values]  # or an error, before any is set
        for lane, members in enumerate(every):
            self.batch.put(members, self.batch.lanes[lane : lane + 1])

    @property
    def spec(self) -> EnvSpec | None:
        """The spec set by `gymnasium.make_vec`, which can be written as JSON."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = spec
        mode = spec and spec.kwargs.get("autoreset_mode")
        if spec is not None and isinstance(mode, AutoresetMode):
            spec.kwargs["autoreset_mode"] = mode.value

    def _lanes(self, options: Mapping[str, Any] | None) -> tuple[Mapping[str, Any] | None, Array | None]:
        """Return the options without ``reset_mask``, and the games that it names, int64[K]."""
        if not isinstance(options, Mapping) or "reset_mask" not in options:
            return options, None
        mask = np.asarray(options["reset_mask"])
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"option 'reset_mask' must be bool[{self.num_envs}] with a game to reset, got {options['reset_mask']!r}"
            )
        rest = {name: value for name, value in options.items() if name != "reset_mask"}
        return rest, np.flatnonzero(mask)

    def _check_statistics(self) -> None:
        """Warn if an older Gymnasium counts episodes that reset in the same step."""
        if STATISTICS_OF_NEXT_STEP and self._same_step and self._is_counted():
            warnings.warn(NOT_COUNTED, stacklevel=3)

    def _is_counted(self) -> bool:
        """Return whether `RecordEpisodeStatistics` is among the wrappers that call `reset`."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and isinstance(env := frame.f_locals.get("self"), VectorEnv):
            if isinstance(env, RecordEpisodeStatistics):
                return True
            frame = frame.f_back
        return False

    def _final(self) -> dict[str, Any]:
        """Return the info of episodes that ended and were followed by new ones."""
        batch, about = self.batch, self._endings()
        flags = about["_scores"]
        lanes = flags.nonzero()[0]
        final = np.empty(self.num_envs, dtype=object)
        masks = np.zeros_like(batch.masks)  # after an illegal action, too
        if batch.masking.keys is None:
            seen = batch.final_observations.take(lanes, axis=0)
            final[lanes] = np.fromiter(seen, dtype=object, count=len(lanes))
        else:
            for lane in lanes:
                final[lane] = batch.masking.copied(batch.final_observations[lane], masks[lane])
        about = {"action_mask": masks, "_action_mask": flags, **about}
        return {"final_obs": final, "_final_obs": flags, "final_info": about, "_final_info": flags}

    def _endings(self) -> dict[str, Any]:
        """Return the info of the episodes that have ended."""
        batch, dones = self.batch, self.batch.dones.copy()
        ended = batch.ended()
        batch.illegal[dones] = NONE  # the new episode has no action yet
        return ended | {f"_{name}": dones for name in ended}

    def _observation(self, info: dict[str, Any]) -> Observation:
        return self.batch.masking.joined(self._own(self.batch.observations), info["action_mask"])

    def _info(self) -> dict[str, Any]:
        batch, own = self.batch, self._own
        info = {
            "action_mask": own(batch.masks),
            "scores": own(batch.scores),
            "winner": own(self._nobody),
            "skunk": own(self._no_skunk),
            "seat": own(batch.seats),
            "opponent": own(batch.opponents.playing),
            "illegal_action": own(batch.illegal),
        }
        return info | dict.fromkeys(FLAGS, own(self._everywhere))

    def _own(self, array: Array) -> Array:
        return array.copy() if self.copy else array
