"""From an environment's name to its five forms: AEC (two), Gymnasium, vector, SB3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crib_env.engine.families import Family
from crib_env.envs.aec import CribbageAEC
from crib_env.envs.gym import CribbageEnv
from crib_env.envs.vector import CribbageVectorEnv
from crib_env.rules import Rules, find_rules

if TYPE_CHECKING:
    from crib_env.envs.sb3 import CribbageVecEnv


@dataclass(frozen=True)
class Maker:
    """Makes the forms of one environment.

    Attributes:
        name: the environment's name with its version.
        family: returns its engine.
        rules: the preset it plays unless told otherwise.
        episode: what one episode is unless told otherwise.
    """

    name: str
    family: Callable[[], Family]
    rules: str
    episode: str = "game"

    def raw_env(
        self,
        *,
        rules: str | Rules | None = None,
        episode: str | None = None,
        reward: str = "win",
        render_mode: str | None = None,
        on_illegal: str = "raise",
        **kwargs: Any,
    ) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action raises `IllegalActionError`.

        Args:
            rules: the name of a preset, or `Rules`.
            episode: what one episode is.
            reward: ``"win"`` or ``"points"``.
            render_mode: None or ``"ansi"``.
            on_illegal: ``"raise"`` or ``"terminate"``.
            **kwargs: ``players`` (Table Top).
        """
        family = self.family()
        return CribbageAEC(
            family,
            self.name,
            find_rules(self.rules if rules is None else rules, family.name),
            episode=episode or self.episode,
            reward=reward,
            render_mode=render_mode,
            on_illegal=on_illegal,
            **kwargs,
        )

    def env(self, *, on_illegal: str = "terminate", **kwargs: Any) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action ends the episode at reward -1."""
        return self.raw_env(on_illegal=on_illegal, **kwargs)

    def gym_env(
        self, *, rules: str | Rules | None = None, episode: str | None = None, **kwargs: Any
    ) -> CribbageEnv:
        """Return the Gymnasium environment; see `CribbageEnv` for the keywords."""
        family, chosen, episode = self._settled(rules, episode)
        return CribbageEnv(family, chosen, episode=episode, **kwargs)

    def vector_env(
        self,
        num_envs: int = 1,
        *,
        rules: str | Rules | None = None,
        episode: str | None = None,
        **kwargs: Any,
    ) -> CribbageVectorEnv:
        """Return ``num_envs`` games as a Gymnasium vector environment."""
        family, chosen, episode = self._settled(rules, episode)
        return CribbageVectorEnv(family, chosen, num_envs=num_envs, episode=episode, **kwargs)

    def sb3_env(
        self,
        num_envs: int = 1,
        *,
        rules: str | Rules | None = None,
        episode: str | None = None,
        **kwargs: Any,
    ) -> CribbageVecEnv:
        """Return ``num_envs`` games as a Stable-Baselines3 ``VecEnv``."""
        from crib_env.envs.sb3 import CribbageVecEnv

        family, chosen, episode = self._settled(rules, episode)
        return CribbageVecEnv(family, chosen, num_envs, episode=episode, **kwargs)

    def _settled(self, rules: str | Rules | None, episode: str | None) -> tuple[Family, Rules, str]:
        family = self.family()
        chosen = find_rules(self.rules if rules is None else rules, family.name)
        return family, chosen, episode or self.episode
