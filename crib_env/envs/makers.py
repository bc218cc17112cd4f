"""The six forms of an environment: AEC (two), Gymnasium, vector, tensors, SB3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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

    def _resolve_kwargs(
        self,
        *,
        rules: str | Rules | None = None,
        episode: str | None = None,
        players: int | None = None,
        partners: bool | None = None,
        **others: Any,
    ) -> dict[str, Any]:
        """Return the keywords all forms share, checked, with the caller's others among them."""
        episode = (
            next(iter(self.episodes)) if episode is None else of_one_deal(episode, self.episodes)
        )
        check_choice("episode", episode, tuple(self.episodes))
        chosen = find_rules(self.rules if rules is None else rules, self.family.name)
        if players is not None:
            self.check_players(players, chosen)
        if partners is not None:
            if not hasattr(chosen, "partners"):
                raise ValueError(
                    f"{self.name} leaves no choice of partners, got partners={partners!r}: "
                    "four_hand_v0 does"
                )
            changes: dict[str, Any] = {"partners": partners}
            chosen = replace(chosen, **changes)
        if self.phase is not None:
            agent = find_agent(others.pop(self.phase.name, self.phase.default))
            refuse_rules(agent, chosen, self.episodes[episode])
            others["phase_policy"] = PhasePolicy(agent, self.phase.phase)
        return {
            **others, "rules": chosen, "episode": self.episodes[episode], "players": players
        }  # fmt: skip

    @shows_keywords_of(_resolve_kwargs, CribbageAEC.__init__)
    def raw_env(
        self, *, reward: str = "win", suits: str = "real", on_illegal: str = "raise", **kwargs: Any
    ) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action raises `IllegalActionError`.

        Args:
            reward: ``"win"`` or ``"points"``, and in the two-hand games ``"expected"`` or
                ``"expected_at_show"``.
            suits: ``"real"``, or in the two-hand games ``"canonical"`` or ``"ranks"``; see
                `CribbageEnv`. Pictures then show canonical cards, and events real ones.
            on_illegal: ``"raise"``, ``"terminate"`` or ``"random"``; see `CribbageAEC`.
            **kwargs: ``rules`` (the name of a preset, or `Rules`), ``players`` (seats in a game;
                None for the fewest), ``partners`` (of four-handed cribbage: False for each seat a
                side of its own), ``episode`` (what one episode is), what `CribbageAEC` takes, and
                ``pegging_policy`` or ``discard_policy`` (the phase environments).
        """
        settled = self._resolve_kwargs(**kwargs)
        chosen = settled.pop("rules")
        game = Game(
            chosen, episode=settled.pop("episode"), players=settled.pop("players"),
            family=family_for(chosen.engine, reward, suits),
        )  # fmt: skip
        return CribbageAEC(game, self.name, reward=reward, on_illegal=on_illegal, **settled)

    @shows_keywords_of(raw_env)
    def env(self, *, on_illegal: str = "terminate", **kwargs: Any) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action ends the episode at reward -1.

        The keywords are those of ``raw_env``.
        """
        return self.raw_env(on_illegal=on_illegal, **kwargs)

    @shows_keywords_of(_resolve_kwargs, CribbageEnv.__init__)
    def gym_env(self, **kwargs: Any) -> CribbageEnv:
        """Return the Gymnasium environment; see `CribbageEnv` for the keywords."""
        return CribbageEnv(self.name, **self._resolve_kwargs(**kwargs))

    @shows_keywords_of(_resolve_kwargs, CribbageVectorEnv.__init__)
    def vector_env(self, num_envs: int = 1, **kwargs: Any) -> CribbageVectorEnv:
        """Return ``num_envs`` games as a Gymnasium vector environment.

        See `CribbageVectorEnv` for the keywords.
        """
        return CribbageVectorEnv(num_envs=num_envs, **self._resolve_kwargs(**kwargs))

    @shows_keywords_of(_resolve_kwargs, LearnerBatch.__init__)
    def torch_env(
        self, num_envs: int = 1, *, device: str | torch.device = "cpu", **kwargs: Any
    ) -> TorchVectorEnv:
        """Return ``num_envs`` games as a vector environment of PyTorch tensors.

        See `TorchVectorEnv` for the keywords.
        """
        with comes_with("train"):
            from crib_env.envs.torch_vector import TorchVectorEnv

        return TorchVectorEnv(num_envs=num_envs, device=device, **self._resolve_kwargs(**kwargs))

    @shows_keywords_of(_resolve_kwargs, LearnerBatch.__init__)
    def sb3_env(
        self, num_envs: int = 1, *, mask_in_observation: bool | str = False, **kwargs: Any
    ) -> CribbageVecEnv:
        """Return ``num_envs`` games as a Stable-Baselines3 ``VecEnv``.

        See `CribbageVecEnv` for the keywords.
        """
        with comes_with("train"):
            from crib_env.envs.sb3 import CribbageVecEnv

        settled = self._resolve_kwargs(**kwargs)
        return CribbageVecEnv(num_envs=num_envs, mask_in_observation=mask_in_observation, **settled)

    def check_players(self, players: object, rules: str | Rules | None = None) -> None:
        """Raise a ValueError unless a game by ``rules`` can have ``players`` seats."""
        chosen = find_rules(self.rules if rules is None else rules, self.family.name)
        accepted = chosen.seating or self.family.sides
        if isinstance(players, bool) or players not in accepted:
            known = " or ".join(map(str, accepted))
            of = self.name if chosen.name == self.rules else f"a game by rules={chosen.name!r}"
            raise ValueError(f"{of} has {known} players, got players={players!r}")
