"""The networks of MaskablePPO: one for the bits of the cards, one for the features of the actions.

Both have a form that `policy_agent` can write as a plain `PolicyNetAgent`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from crib_agents.nets import PolicyNetAgent, header
from crib_agents.torch_nets import Head, hidden_layers
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from crib_env.engine.family import Family
from crib_env.envs.makers import EnvSpec
from crib_env.rules import Rules


def card_blocks(family: Family) -> tuple[int, ...]:
    """Return where the observation's blocks of 52 cards begin."""
    starts, at = [], 0
    for _, size, _ in family.layout:
        if size == 52:
            starts.append(at)
        at += size
    return tuple(starts)


class RankFeatures(BaseFeaturesExtractor):
    """The observation with the cards' ranks counted beside it, and features summed up.

    Points go by rank far more than by suit; counting ranks in every block of 52 cards spares the
    network learning thirteen times over which four inputs belong together. The map is linear and
    fixed, so `policy_agent` folds it into the first layer. Of each feature the highest and the
    lowest over all actions follow.

    Args:
        observation_space: the environment's.
        blocks: where the blocks of cards begin. bits: the observation's size without features.
        actions: number of actions.
    """

    def __init__(
        self, observation_space: spaces.Box, blocks: tuple[int, ...], bits: int, actions: int
    ) -> None:
        self.bits: int = bits
        self.actions: int = actions
        self.count: int = (observation_space.shape[0] - bits) // actions
        size = bits + 13 * len(blocks) + 2 * self.count + actions * self.count
        super().__init__(observation_space, size)
        ranks = torch.zeros(bits, 13 * len(blocks))
        for i, block in enumerate(blocks):
            for card in range(52):
                ranks[block + card, 13 * i + card // 4] = 1.0
        self.register_buffer("ranks", ranks)
        self.ranks: torch.Tensor

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return bits, ranks, highest and lowest features, then all features, float32[B, size]."""
        bits = observations[:, : self.bits]
        if not self.count:
            return torch.cat([bits, bits @ self.ranks], dim=1)
        of_actions = observations[:, self.bits :]
        each = of_actions.view(-1, self.count, self.actions)
        return torch.cat([bits, bits @ self.ranks, each.amax(2), each.amin(2), of_actions], dim=1)


class ActionExtractor(nn.Module):
    """Logits from the state, and for each action from its features by weights all actions share.

    The value of a card on a cell, or in the hand, is then learned once and not for every action.
    """

    def __init__(self, inputs: int, count: int, actions: int, sizes: tuple[int, int]) -> None:
        super().__init__()
        self.state_inputs, self.count, self.actions = inputs - count * actions, count, actions
        self.policy = hidden_layers(self.state_inputs, *sizes)
        self.value = hidden_layers(self.state_inputs, *sizes)
        self.logits = nn.Linear(sizes[1], actions)
        self.head = Head(sizes[1], count)
        self.latent_dim_pi, self.latent_dim_vf = actions, sizes[1]

    def begin(self) -> None:
        """Set the last layers so that the first policy is nearly uniform."""
        for last in (self.logits, self.head.out, self.head.skip):
            nn.init.normal_(last.weight, std=0.01)
        nn.init.zeros_(self.logits.bias)

    def forward(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits float32[B, actions] and the value's latent float32[B, latent]."""
        return self.forward_actor(inputs), self.forward_critic(inputs)

    def forward_actor(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return logits, float32[B, actions]."""
        hidden = self.policy(inputs[:, : self.state_inputs])
        features = inputs[:, self.state_inputs :].view(-1, self.count, self.actions).transpose(1, 2)
        added = self.head(features, self.head.of_state(hidden).unsqueeze(1))
        logits: torch.Tensor = self.logits(hidden) + added
        return logits

    def forward_critic(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the value's latent, float32[B, latent]."""
        latent: torch.Tensor = self.value(inputs[:, : self.state_inputs])
        return latent


class ActionPolicy(MaskableActorCriticPolicy):
    """A policy over `ActionExtractor`, whose output are the logits themselves.

    Args:
        args: sb3-contrib's.
        hidden_sizes: of the two hidden layers.
        kwargs: sb3-contrib's.
    """

    def __init__(self, *args: Any, hidden_sizes: tuple[int, int], **kwargs: Any) -> None:
        self._sizes = hidden_sizes
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        extractor = self.features_extractor
        assert isinstance(extractor, RankFeatures)
        count, actions = extractor.count, extractor.actions
        self.mlp_extractor: Any = ActionExtractor(self.features_dim, count, actions, self._sizes)

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        super()._build(lr_schedule)
        self.mlp_extractor.begin()  # sb3-contrib has set all layers alike
        self.action_net = nn.Identity()


def policy_of(
    family: Family, features: str | None, hidden_sizes: tuple[int, int]
) -> tuple[Any, dict[str, Any]]:
    """Return MaskablePPO's policy and its keywords for an environment."""
    keywords: dict[str, Any] = {
        "features_extractor_class": RankFeatures,
        "features_extractor_kwargs": {
            "blocks": card_blocks(family), "bits": family.obs_size, "actions": family.actions,
        },
    }  # fmt: skip
    if features is not None:
        return ActionPolicy, keywords | {"hidden_sizes": hidden_sizes}
    return "MlpPolicy", keywords | {"net_arch": [*hidden_sizes], "activation_fn": nn.ReLU}


def policy_agent(
    model: MaskablePPO, maker: EnvSpec, rules: Rules, features: str | None
) -> PolicyNetAgent:
    """Return the policy of a trained model as an agent of ours."""
    state: dict[str, Any] = {key: value.numpy() for key, value in model.policy.state_dict().items()}
    if features is None:
        places = ["mlp_extractor.policy_net.0", "mlp_extractor.policy_net.2", "action_net"]
    else:
        places = [f"mlp_extractor.{name}" for name in ("policy.0", "policy.2", "logits")]
    weights = [(state[f"{name}.weight"], state[f"{name}.bias"]) for name in places]
    (weight, bias), ranks = weights[0], state["features_extractor.ranks"]
    bits, counted = len(ranks), len(ranks) + ranks.shape[1]
    folded = weight[:, :bits] + weight[:, bits:counted] @ ranks.T
    head, extractor = None, model.policy.mlp_extractor
    if isinstance(extractor, ActionExtractor):
        folded = torch.cat([torch.tensor(folded), torch.tensor(weight[:, counted:])], 1).numpy()
        head = extractor.head.weights()
    weights[0] = folded, bias
    about = header(maker.name, rules, maker.family, features)
    return PolicyNetAgent(weights, about, name="ppo", head=head)
