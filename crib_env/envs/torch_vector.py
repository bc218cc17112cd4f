"""The native batch as PyTorch tensors that share its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from crib_env.envs.config import EnvConfig
from crib_env.envs.vector import CribbageVectorEnv


class TorchVectorEnv(CribbageVectorEnv):
    """N games for N learners, as `CribbageVectorEnv`, in tensors; only rewards are copied.

    ``reset`` and ``step`` return what Gymnasium's vector environments return, in tensors. Each
    tensor is made once and wraps the batch's own array: every call returns the same objects, and
    the next ``step``, ``reset`` or ``set_opponent`` overwrites them. To retain a step, copy it into
    storage (``stored[t] = observations``) or clone it. Never write into a tensor.

    Finished episodes reset in the same step. The last observation of a finished episode is not
    returned: episodes end but are never cut short, so nothing bootstraps from it.

    Its keywords are described at `EnvConfig`; `crib_env.six_card_v0.torch_env` lists them.

    Attributes:
        observations: [N, size], uint8, with features float32.
        masks: bool[N, actions], the legal actions.
        rewards: float32[N], of the last step.
        dones: bool[N], the last step ended an episode.
    """

    def __init__(self, config: EnvConfig) -> None:
        config.copy = False
        self.device = torch.device(config.device)
        super().__init__(config)
        self._wrap()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Wrap a copy's own arrays."""
        self.__dict__.update(state)
        self._wrap()

    def _wrap(self) -> None:
        """Wrap the batch's arrays, which keep their place in memory."""
        batch, wrap = self.batch, torch.from_numpy
        self.observations = wrap(batch.observations)
        self.masks = wrap(batch.masks.view(np.bool_))
        self.dones = wrap(batch.dones)
        self._paid = wrap(batch.rewards)
        self.rewards = self._paid.to(torch.float32)
        self._never = torch.zeros(self.num_envs, dtype=torch.bool)
        self._about = {
            "action_mask": self.masks,
            "seat": wrap(batch.seats),
            "opponent": wrap(batch.opponents.playing),
            "illegal_action": wrap(batch.illegal),
        }

    def _check_statistics(self) -> None:
        if self._is_counted():
            raise TypeError(
                "RecordEpisodeStatistics counts NumPy arrays, and torch_env returns tensors: wrap "
                "vector_env, or add up the rewards where info['final_info'] says that games ended"
            )

    def reset(  # type: ignore[override]
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Begin an episode in every game; the arguments are those of `CribbageVectorEnv`.

        Returns:
            observations [N, size] and info, described at ``step``.
        """
        super().reset(seed=seed, options=options)
        return self.observations, dict(self._about)

    def step(  # type: ignore[override]
        self, actions: torch.Tensor | npt.NDArray[Any]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Act in every game.

        Args:
            actions: int64[N], on any device.

        Returns:
            observations [N, size], rewards float32[N], terminations bool[N], truncations bool[N]
            (never), and info: ``action_mask`` bool[N, actions], ``seat``, ``opponent`` and
            ``illegal_action`` int64[N] of the present games; where episodes ended also
            ``final_info``: ``scores``, ``winner``, ``skunk``, ``seat``, ``opponent`` and
            ``illegal_action`` of those episodes, each with a bool[N] of its name after ``_``, in
            separate tensors.
        """
        self.batch.step(actions.detach().cpu().numpy() if isinstance(actions, torch.Tensor) else actions)
        self.rewards.copy_(self._paid)
        info: dict[str, Any] = dict(self._about)
        if self.batch.dones.any():
            final = self._endings()
            info["final_info"] = {name: torch.as_tensor(part) for name, part in final.items()}
        return self.observations, self.rewards, self.dones, self._never, info
