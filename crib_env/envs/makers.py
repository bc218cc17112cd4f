"""The six forms of an environment: AEC (two), Gymnasium, vector, tensors, SB3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crib_env.engine.family import Family, family_for, of_one_deal
from crib_env.envs.aec import CribbageAEC
from crib_env.envs.checks import check_choice
from crib_env.envs.gym import CribbageEnv
from crib_env.envs.learner import LearnerBatch
from crib_env.envs.phase_policy import PhasePolicy
from crib_env.envs.signatures import shows_keywords_of
from crib_env.envs.vector import CribbageVectorEnv
from crib_env.errors import comes_with
from crib_env.game import Game
from crib_env.honours import refuse_rules
from crib_env.policy import find_agent
from crib_env.rules import Rules, find_rules

if TYPE_CHECKING:
    import torch

    from crib_env.envs.sb3 import CribbageVecEnv
    from crib_env.envs.torch_vector import TorchVectorEnv


@dataclass(frozen=True)
class PhasePolicySpec:
    """The keyword that names the built-in policy of a phase environment.

    Attributes:
        name: the keyword.
        phase: the phase of a deal that the policy plays for both seats.
        default: the agent that it is by default.
    """

    name: str
    phase: int
    default: str


@dataclass(frozen=True)
class EnvSpec:
    """Makes the forms of one environment.

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

    @shows_keywords_of(CribbageAEC.__init__)
    def raw_env(
        self,
        *,
        rules: str | Rules | None = None,
        players: int | None = None,
        episode: str | None = None,
        reward: str = "win",
        suits: str = "real",
        render_mode: str | None = None,
        on_illegal: str = "raise",
        **kwargs: Any,
    ) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action raises `IllegalActionError`.

        Args:
            rules: the name of a preset, or `Rules`.
            players: seats in a game (Table Top: 2 or 4); None for the fewest.
            episode: what one episode is.
            reward: ``"win"`` or ``"points"``, and in the two-hand games ``"expected"`` or
                ``"expected_at_show"``.
            suits: ``"real"``, or in the two-hand games ``"canonical"``; see `CribbageEnv`. Pictures
                then show canonical cards, and events real ones.
            render_mode: None, ``"ansi"``, ``"svg"``, ``"rgb_array"`` or ``"human"``.
            on_illegal: ``"raise"`` or ``"terminate"``.
            **kwargs: ``viewer`` (see `CribbageAEC`), ``pegging_policy`` or ``discard_policy`` (the
                phase environments).
        """
        settled = self._resolve_kwargs(rules, episode, {**kwargs, "players": players})
        chosen = settled.pop("rules")
        game = Game(
            chosen, episode=settled.pop("episode"), players=settled.pop("players"),
            family=family_for(chosen.engine, reward, suits),
        )  # fmt: skip
        return CribbageAEC(
            game, self.name, reward=reward, render_mode=render_mode, on_illegal=on_illegal,
            **settled,
        )  # fmt: skip

    @shows_keywords_of(raw_env)
    def env(self, *, on_illegal: str = "terminate", **kwargs: Any) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action ends the episode at reward -1.

        The keywords are those of ``raw_env``.
        """
        return self.raw_env(on_illegal=on_illegal, **kwargs)

    @shows_keywords_of(CribbageEnv.__init__)
    def gym_env(
        self, *, rules: str | Rules | None = None, episode: str | None = None, **kwargs: Any
    ) -> CribbageEnv:
        """Return the Gymnasium environment; see `CribbageEnv` for the keywords."""
        settled = self._resolve_kwargs(rules, episode, kwargs)
        return CribbageEnv(self.name, settled.pop("rules"), **settled)

    @shows_keywords_of(CribbageVectorEnv.__init__)
    def vector_env(
        self,
        num_envs: int = 1,
        *,
        rules: str | Rules | None = None,
        episode: str | None = None,
        **kwargs: Any,
    ) -> CribbageVectorEnv:
        """Return ``num_envs`` games as a Gymnasium vector environment.

        See `CribbageVectorEnv` for the keywords.
        """
        settled = self._resolve_kwargs(rules, episode, kwargs)
        return CribbageVectorEnv(settled.pop("rules"), num_envs=num_envs, **settled)

    @shows_keywords_of(LearnerBatch.__init__)
    def torch_env(
        self,
        num_envs: int = 1,
        *,
        rules: str | Rules | None = None,
        episode: str | None = None,
        device: str | torch.device = "cpu",
        **kwargs: Any,
    ) -> TorchVectorEnv:
        """Return ``num_envs`` games as a vector environment of PyTorch tensors.

        See `TorchVectorEnv` for the keywords.
        """
        with comes_with("train"):
            from crib_env.envs.torch_vector import TorchVectorEnv

        settled = self._resolve_kwargs(rules, episode, kwargs)
        return TorchVectorEnv(settled.pop("rules"), num_envs=num_envs, device=device, **settled)

    @shows_keywords_of(LearnerBatch.__init__)
    def sb3_env(
        self,
        num_envs: int = 1,
        *,
        rules: str | Rules | None = None,
        episode: str | None = None,
        mask_in_observation: bool | str = False,
        **kwargs: Any,
    ) -> CribbageVecEnv:
        """Return ``num_envs`` games as a Stable-Baselines3 ``VecEnv``.

        See `CribbageVecEnv` for the keywords.
        """
        with comes_with("train"):
            from crib_env.envs.sb3 import CribbageVecEnv

        settled = self._resolve_kwargs(rules, episode, kwargs)
        return CribbageVecEnv(
            settled.pop("rules"), num_envs, mask_in_observation=mask_in_observation, **settled
        )

    def check_players(self, players: object, rules: str | Rules | None = None) -> None:
        """Raise a ValueError unless a game by ``rules`` can have ``players`` seats."""
        chosen = find_rules(self.rules if rules is None else rules, self.family.name)
        accepted = chosen.seating or self.family.sides
        if isinstance(players, bool) or players not in accepted:
            known = " or ".join(map(str, accepted))
            raise ValueError(f"{self.name} has {known} players, got players={players!r}")

    def _resolve_kwargs(
        self, rules: str | Rules | None, episode: str | None, kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the keywords all forms share, checked, with the caller's others among them."""
        settled = dict(kwargs)
        episode = (
            next(iter(self.episodes)) if episode is None else of_one_deal(episode, self.episodes)
        )
        check_choice("episode", episode, tuple(self.episodes))
        rules = find_rules(self.rules if rules is None else rules, self.family.name)
        if settled.get("players") is not None:
            self.check_players(settled["players"], rules)
        if self.phase is not None:
            agent = find_agent(settled.pop(self.phase.name, self.phase.default))
            refuse_rules(agent, rules, self.episodes[episode])
            settled["phase_policy"] = PhasePolicy(agent, self.phase.phase)
        return settled | {"rules": rules, "episode": self.episodes[episode]}
