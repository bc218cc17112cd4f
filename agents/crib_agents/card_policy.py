"""`CardNet` as a policy of sb3-contrib: ``MaskablePPO(CardPolicy, venv)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import Tensor, nn

from crib_agents.card_net import CardNet
from crib_env.encoding import layout_of
from crib_env.engine.family import find_family
from crib_env.envs.spaces import RULES


class CardExtractor(nn.Module):
    """Takes the place of SB3's hidden layers: its latents are the logits and the value."""

    def __init__(self, net: CardNet) -> None:
        super().__init__()
        self.net = net
        self.latent_dim_pi, self.latent_dim_vf = net.actions, 1

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits, float32[B, actions], and values, float32[B, 1]."""
        logits, value = self.net.logits_and_value(observations)
        return logits, value.unsqueeze(1)

    def forward_actor(self, observations: Tensor) -> Tensor:
        """Return logits, float32[B, actions]."""
        return self.forward(observations)[0]

    def forward_critic(self, observations: Tensor) -> Tensor:
        """Return values, float32[B, 1]."""
        return self.forward(observations)[1]


class CardPolicy(MaskableActorCriticPolicy):
    """A policy over `CardNet`, for environments made with ``features=True``.

    Args:
        hidden, inner, temperature, reads_score: as in `CardNet`; pass them in ``policy_kwargs``.
        The other arguments are sb3-contrib's.

    Raises:
        ValueError: the observations have no rows of features.
    """

    def __init__(
        self,
        *args: Any,
        hidden: int = 128,
        inner: int = 64,
        temperature: float | None = None,
        reads_score: bool = True,
        **kwargs: Any,
    ) -> None:
        self._of_net: dict[str, Any] = {
            "hidden": hidden,
            "inner": inner,
            "temperature": temperature,
            "reads_score": reads_score,
        }
        super().__init__(*args, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | self._of_net

    def _build_mlp_extractor(self) -> None:
        noted = vars(self.observation_space).get(RULES, {})
        if not noted.get("features"):
            raise ValueError(
                "CardPolicy reads the rows of features: make the environment with "
                "features=True, and leave its observation space as it is"
            )
        net = CardNet(layout_of(find_family(noted["family"]), True), **self._of_net)
        self.mlp_extractor: Any = CardExtractor(net)

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        super()._build(lr_schedule)
        self._build_mlp_extractor()  # again: sb3-contrib has overwritten `CardNet`'s initial weights
        none: Any = nn.Identity()
        self.action_net = self.value_net = none
        optimizer: Any = self.optimizer_class
        self.optimizer = optimizer(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)
