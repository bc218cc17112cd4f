"""The six forms of an environment: AEC (two), Gymnasium, vector, tensors, SB3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from crib_env.envs import config
from crib_env.envs.aec import CribbageAEC
from crib_env.envs.gym import CribbageEnv
from crib_env.envs.vector import CribbageVectorEnv
from crib_env.errors import comes_with
from crib_env.registration import gym_id
from crib_env.rules import PRESETS

if TYPE_CHECKING:
    from crib_env.envs.sb3 import CribbageVecEnv
    from crib_env.envs.torch_vector import TorchVectorEnv

LOOP = """
    import numpy as np

    from crib_env import {names}

    rng = np.random.default_rng(7)
    env = {name}.env({example})
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
        else:
            action = sample_legal(observation["action_mask"], rng)
        env.step(action)
"""
FACTS = """\
| | |
|---|---|
| Agents | {agents} |
| Actions | ``Discrete({actions})`` |
| Observation | ``{{"observation": uint8[{bits}], "action_mask": int8[{actions}]}}``, all 0 or 1 |
| PettingZoo id | ``{package}/{hyphened}`` |
| Gymnasium id | ``{gym}`` |

## Keywords

``help({name}.gym_env)`` lists those of the Gymnasium form.
"""
ILLEGAL = """\
An illegal action that ends the episode (``on_illegal="terminate"``) pays the seat that acted no
more than the worst legal course, and the others 0. ``env.illegal_reward`` is the amount: -1 by
``"win"``; by the other rewards minus the most points that a side can lose until the end. By the
rules ``{rules}``:

| episode | {rewards} |
|---|{columns}
{rows}
"""


class EnvMaker(config.EnvSpec):
    """Makes the forms of one environment; `EnvConfig` has their keywords."""

    @config.takes_keywords
    def env(self, **kwargs: Unpack[config.AecKeywords]) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action ends the episode."""
        return CribbageAEC(config.settle(self, "env", kwargs))

    @config.takes_keywords
    def raw_env(self, **kwargs: Unpack[config.AecKeywords]) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action raises `IllegalActionError`."""
        return CribbageAEC(config.settle(self, "raw_env", kwargs))

    @config.takes_keywords
    def gym_env(self, **kwargs: Unpack[config.GymKeywords]) -> CribbageEnv:
        """Return the Gymnasium environment: one game of a learner."""
        return CribbageEnv(config.settle(self, "gym_env", kwargs))

    @config.takes_keywords
    def vector_env(self, num_envs: int = 1, **kwargs: Unpack[config.VectorKeywords]) -> CribbageVectorEnv:
        """Return ``num_envs`` games as a Gymnasium vector environment."""
        return CribbageVectorEnv(config.settle(self, "vector_env", {"num_envs": num_envs, **kwargs}))

    @config.takes_keywords
    def torch_env(self, num_envs: int = 1, **kwargs: Unpack[config.TorchKeywords]) -> TorchVectorEnv:
        """Return ``num_envs`` games as a vector environment of PyTorch tensors."""
        with comes_with("train"):
            from crib_env.envs.torch_vector import TorchVectorEnv

        return TorchVectorEnv(config.settle(self, "torch_env", {"num_envs": num_envs, **kwargs}))

    @config.takes_keywords
    def sb3_env(self, num_envs: int = 1, **kwargs: Unpack[config.SB3Keywords]) -> CribbageVecEnv:
        """Return ``num_envs`` games as a Stable-Baselines3 ``VecEnv``."""
        with comes_with("train"):
            from crib_env.envs.sb3 import CribbageVecEnv

        return CribbageVecEnv(config.settle(self, "sb3_env", {"num_envs": num_envs, **kwargs}))

    def document(self, page: str | None) -> Any:
        """Return the page of the environment, with what all pages have: a loop, and the facts."""
        if page is None:  # python -OO
            return None
        names = ", ".join(sorted([self.name, "sample_legal"]))
        loop = LOOP.format(names=names, name=self.name, example=self.example)
        players = list(self.seating)
        agents = f"``player_0`` to ``player_{max(players) - 1}``"
        if len(players) > 1:
            agents = f"{agents}; {' or '.join(map(str, players))} play"
        gym, family = gym_id(self.name), self.family
        facts = FACTS.format(
            name=self.name,
            agents=agents,
            actions=family.actions,
            bits=family.obs_size,
            gym=gym,
            package=gym.partition("/")[0],
            hyphened=self.name.replace("_v", "-v"),
        )
        usage, keywords = page.split("## Keywords\n")
        usage = usage.replace("## Usage\n", f"## Usage\n{loop}")
        rewards, history = keywords.split("## Version history\n")
        return f"{usage}{facts}{rewards}{self._illegal_rewards()}\n## Version history\n{history}"

    def _illegal_rewards(self) -> str:
        """Return the page's text on illegal actions, with the reward in every episode."""
        rules, rewards = PRESETS[self.rules], ["points", *self.family.expected]
        rows = []
        for name, episode in self.episodes.items():
            if rules.why_refused(episode) is not None:
                continue
            paid = [self.family.illegal_reward(rules, episode, one, None) for one in rewards]
            rows.append(f'| ``"{name}"`` | {" | ".join(f"{one:,.0f}" for one in paid)} |')
        shown = [f'``"{one}"``' for one in rewards]
        return ILLEGAL.format(
            rules=self.rules, rewards=" | ".join(shown), columns="---|" * len(shown), rows="\n".join(rows)
        )
