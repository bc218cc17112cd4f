"""The six forms of an environment: AEC (two), Gymnasium, vector, tensors, SB3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crib_env.engine.family import Family
from crib_env.envs.aec import CribbageAEC
from crib_env.envs.config import EnvConfig, settle, takes_keywords
from crib_env.envs.gym import CribbageEnv
from crib_env.envs.vector import CribbageVectorEnv
from crib_env.errors import comes_with
from crib_env.rules import Rules, find_rules

if TYPE_CHECKING:
    from crib_env.envs.sb3 import CribbageVecEnv
    from crib_env.envs.torch_vector import TorchVectorEnv


@dataclass(frozen=True)
class PhasePolicySpec:
    """The keyword that names the built-in policy of a phase environment.

    Attributes:
        name: the keyword.
        phase: the phase of a deal that the policy plays for both seats.
        default: the agent that it is by default.
        meaning: what the environment's page says of it.
    """

    name: str
    phase: int
    default: str
    meaning: str


@dataclass(frozen=True)
class EnvSpec:
    """Makes the forms of one environment; `EnvConfig` has their keywords.

    Attributes:
        name: the environment's name with its version.
        family: the games it plays.
        rules: the preset that it plays by default.
        episodes: what one episode can be, with the engine's name for it; the first is the default.
        phase: the keyword for the policy that plays the rest of the deal, in a phase environment.
    """

    name: str
    family: Family
    rules: str
    episodes: Mapping[str, str] = field(
        default_factory=lambda: {"game": "game", "deal": "deal", "match": "match"}
    )
    phase: PhasePolicySpec | None = None

    def config(self, form: str, **kwargs: Any) -> EnvConfig:
        """Return the keywords of a form, such as ``"gym_env"``, checked."""
        return settle(self, form, kwargs)

    @takes_keywords
    def env(self, **kwargs: Any) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action ends the episode at reward -1."""
        return CribbageAEC(self.config("env", **kwargs))

    @takes_keywords
    def raw_env(self, **kwargs: Any) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action raises `IllegalActionError`."""
        return CribbageAEC(self.config("raw_env", **kwargs))

    @takes_keywords
    def gym_env(self, **kwargs: Any) -> CribbageEnv:
        """Return the Gymnasium environment: one game of a learner."""
        return CribbageEnv(self.config("gym_env", **kwargs))

    @takes_keywords
    def vector_env(self, num_envs: int = 1, **kwargs: Any) -> CribbageVectorEnv:
        """Return ``num_envs`` games as a Gymnasium vector environment."""
        return CribbageVectorEnv(self.config("vector_env", num_envs=num_envs, **kwargs))

    @takes_keywords
    def torch_env(self, num_envs: int = 1, **kwargs: Any) -> TorchVectorEnv:
        """Return ``num_envs`` games as a vector environment of PyTorch tensors."""
        with comes_with("train"):
            from crib_env.envs.torch_vector import TorchVectorEnv

        return TorchVectorEnv(self.config("torch_env", num_envs=num_envs, **kwargs))

    @takes_keywords
    def sb3_env(self, num_envs: int = 1, **kwargs: Any) -> CribbageVecEnv:
        """Return ``num_envs`` games as a Stable-Baselines3 ``VecEnv``."""
        with comes_with("train"):
            from crib_env.envs.sb3 import CribbageVecEnv

        return CribbageVecEnv(self.config("sb3_env", num_envs=num_envs, **kwargs))

    def check_players(self, players: object, rules: str | Rules | None = None) -> None:
        """Raise a ValueError unless a game by ``rules`` can have ``players`` seats."""
        chosen = find_rules(self.rules if rules is None else rules, self.family.name)
        accepted = chosen.seating or self.family.sides
        if isinstance(players, bool) or players not in accepted:
            known = " or ".join(map(str, accepted))
            of = self.name if chosen.name == self.rules else f"a game by rules={chosen.name!r}"
            raise ValueError(f"{of} has {known} players, got players={players!r}")
