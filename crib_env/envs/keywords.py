"""The keywords of each form, for editors and type checkers; `EnvConfig` checks and documents them.

``six_card_v0.gym_env(opponent="greedy", reward="points")``: an editor completes these names, and a
type checker refuses a wrong name or type. A test compares them with the fields of `EnvConfig`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

from gymnasium.vector import AutoresetMode

from crib_env.envs.opponents import OpponentSpec
from crib_env.policy import Opponent
from crib_env.rules import Rules

if TYPE_CHECKING:
    import torch

Reward = Literal["win", "points", "expected", "expected_at_show"]
Episode = Literal["game", "deal", "round", "match"]
Suits = Literal["real", "canonical", "ranks"]
OnIllegal = Literal["terminate", "raise", "random"]
RenderMode = Literal["ansi", "svg", "rgb_array", "human"]
Library = Literal["torchrl", "rllib", "tianshou"]


class Keywords(TypedDict, total=False):
    """The keywords of every form."""

    reward: Reward
    rules: str | Rules | None
    episode: Episode | None
    suits: Suits
    players: int | None
    partners: bool | None
    on_illegal: OnIllegal
    discard_policy: Opponent  # of pegging_v0
    pegging_policy: Opponent  # of discard_v0


class AecKeywords(Keywords, total=False):
    """The keywords of ``env`` and ``raw_env``."""

    mask_in_observation: bool | Library
    render_mode: RenderMode | None
    viewer: int | Literal["all"] | None


class LearnerKeywords(Keywords, total=False):
    """The keywords of every form with one learner."""

    opponent: OpponentSpec
    features: bool | str | None
    seat: int | None
    partner: Opponent | None


class GymKeywords(LearnerKeywords, total=False):
    """The keywords of ``gym_env``."""

    mask_in_observation: bool | Library
    render_mode: RenderMode | None
    viewer: int | Literal["all"] | None


class VectorKeywords(LearnerKeywords, total=False):
    """The keywords of ``vector_env``."""

    mask_in_observation: bool | Library
    threads: int | None
    autoreset_mode: AutoresetMode | str
    copy: bool


class TorchKeywords(LearnerKeywords, total=False):
    """The keywords of ``torch_env``."""

    threads: int | None
    device: str | torch.device


class SB3Keywords(LearnerKeywords, total=False):
    """The keywords of ``sb3_env``."""

    mask_in_observation: bool | Library
    threads: int | None


FORMS: dict[str, Any] = {
    "env": AecKeywords, "raw_env": AecKeywords, "gym_env": GymKeywords,
    "vector_env": VectorKeywords, "torch_env": TorchKeywords, "sb3_env": SB3Keywords,
}  # fmt: skip
