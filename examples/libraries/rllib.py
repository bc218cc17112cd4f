"""RLlib, new API stack: multi-agent self-play with masks, on one machine or a cluster.

    python examples/libraries/rllib.py --iterations 20
    python examples/libraries/rllib.py --address auto --runners 16

Both seats play one module. RLlib's masking module wants the observation as
``{"observations", "action_mask"}``, and each seat's reward when it is made, its turn or not: the
environment below says both in a page. Env runners that die are restarted, and lose their own
samples only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import ray
import tyro
from gymnasium import spaces
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from crib_env import six_card_v0

MODULE = "player"


class Cribbage(MultiAgentEnv):  # type: ignore[misc]
    """A PettingZoo environment of ours as RLlib's multi-agent environment.

    Args:
        config: the keywords of the environment, such as ``{"episode": "deal"}``.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.games = six_card_v0.env(**(config or {}))
        self.agents = self.possible_agents = list(self.games.possible_agents)
        seen = self.games.observation_space(self.agents[0])
        assert isinstance(seen, spaces.Dict)
        bits = seen["observation"]
        space = spaces.Dict(
            {
                "observations": spaces.Box(0.0, 1.0, bits.shape, np.float32),
                "action_mask": spaces.Box(0.0, 1.0, (52,), np.float32),
            }
        )
        self.observation_spaces = dict.fromkeys(self.agents, space)
        self.action_spaces = {agent: self.games.action_space(agent) for agent in self.agents}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; return the observation of the seat to move."""
        self.games.reset(seed=seed, options=options)
        return self._observed(self.games.agent_selection), {}

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Act for the seat to move; all seats are paid."""
        (action,) = actions.values()
        self.games.step(int(action))
        over = any(self.games.terminations.values())
        seats = self.possible_agents if over else [self.games.agent_selection]
        observed = {agent: one for seat in seats for agent, one in self._observed(seat).items()}
        paid = dict(self.games.rewards)
        return observed, paid, {"__all__": over}, {"__all__": False}, {}

    def _observed(self, agent: str) -> dict[str, Any]:
        seen = self.games.observe(agent)
        return {
            agent: {
                "observations": seen["observation"].astype(np.float32),
                "action_mask": seen["action_mask"].astype(np.float32),
            }
        }


def algorithm(batch: int = 4000, runners: int = 1, seed: int = 1) -> PPO:
    """Return PPO over all seats."""
    config = (
        PPOConfig()
        .environment(Cribbage, env_config={"episode": "deal", "reward": "points"})
        .env_runners(num_env_runners=runners)
        .multi_agent(policies={MODULE}, policy_mapping_fn=lambda agent, episode, **_: MODULE)
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={
                    MODULE: RLModuleSpec(
                        module_class=ActionMaskingTorchRLModule,
                        model_config=DefaultModelConfig(fcnet_hiddens=[128, 128]),
                    )
                }
            )
        )
        .training(
            train_batch_size=batch,
            minibatch_size=min(256, batch),
            num_epochs=4,
            gamma=1.0,
            lr=5e-4,
        )
        .fault_tolerance(restart_failed_env_runners=True)
        .debugging(seed=seed)
    )
    return config.build_algo()


def main(
    iterations: int = 10,
    batch: int = 4000,
    runners: int = 1,
    address: str | None = None,
    seed: int = 1,
) -> int:
    """Train, and return how many steps were sampled in all."""
    ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
    learner = algorithm(batch, runners, seed)
    sampled = 0
    for i in range(iterations):
        found = learner.train()["env_runners"]
        sampled += int(found.get("num_env_steps_sampled", 0))
        print(f"iteration {i + 1}: {sampled:,} steps")
    learner.stop()
    return sampled


if __name__ == "__main__":
    tyro.cli(main)
