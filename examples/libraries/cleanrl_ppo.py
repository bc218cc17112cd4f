"""CleanRL's form of PPO on the native batch, or on Gymnasium's `SyncVectorEnv` as its scripts are.

    python examples/libraries/cleanrl_ppo.py
    python examples/libraries/cleanrl_ppo.py --vector sync --num-envs 8 --timesteps 20000
    python examples/libraries/cleanrl_ppo.py --no-masks

Five places differ from a script for CartPole. They are numbered.

1. `make_vec` makes the native batch, where a finished game resets in the same step, as CleanRL's
   loops expect. `SyncVectorEnv` resets in the next step: it ignores that action, and the row is no
   decision.
2. The mask goes into the categorical, and is stored with the observation for the update. Without
   masks, `on_illegal="random"` plays a legal card in place of an illegal one.
3. The update leaves out the rows that are no decisions.
4. `gamma` is 1: episodes are short, and a point has the same value early and late.
5. `CardNet` reads the rows of features, with the same weights for every card. It explores to the
   end, as its temperature does not change, and ignores the score: all deals begin at 0-0.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import torch
import tyro
from crib_agents import from_torch
from crib_agents.card_net import CardNet
from crib_training.evaluation.evaluate import evaluate
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from torch import Tensor, nn
from torch.distributions import Categorical

from crib_env import observation_layout, six_card_v0

OPTIONS: dict[str, Any] = {
    "opponent": "rule_based",
    "episode": "deal",
    "reward": "expected",
    "features": True,
    "suits": "canonical",
}


@dataclass
class Settings:
    """The environment, the network and the training."""

    vector: Literal["native", "sync"] = "native"
    masks: bool = True
    timesteps: int = 400_000
    pairs: int = 2000
    seed: int = 1
    num_envs: int = 256
    num_steps: int = 32
    update_epochs: int = 4
    num_minibatches: int = 4
    learning_rate: float = 2e-3  # falls linearly
    gamma: float = 1.0  # (4)
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    ent_coef: float = 0.0005
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5


def make(settings: Settings) -> VectorEnv[Any, Any, Any]:
    """Return the games as the settings ask for them."""
    options = OPTIONS | ({} if settings.masks else {"on_illegal": "random"})  # (2)
    if settings.vector == "native":  # (1)
        return gymnasium.make_vec("crib_env/SixCard-v0", settings.num_envs, **options)
    return SyncVectorEnv([lambda: gymnasium.make("crib_env/SixCard-v0", **options)] * settings.num_envs)


class Agent(nn.Module):
    """A critic and an actor: one network, whose value is the mean of its actions' scores."""

    def __init__(self) -> None:
        super().__init__()
        self.net = CardNet(  # (5)
            observation_layout("six_card_v0", features=True), temperature=1 / 6, reads_score=False
        )

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Categorical, Tensor]:
        """Return the policy, which plays no masked action, and the values."""
        logits, value = self.net.logits_and_value(observations)
        return Categorical(logits=logits.masked_fill(~masks, -1e9)), value  # (2)


def main(settings: Settings) -> tuple[float, float]:
    """Train.

    Returns:
        the share of games won against the opponent, in duplicate pairs, and the learner's decisions
        per deal.
    """
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    torch.manual_seed(settings.seed)
    envs = make(settings)
    next_step = envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    assert isinstance(envs.single_observation_space, Box)
    assert isinstance(envs.single_action_space, Discrete)
    size, choices = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), settings.learning_rate, eps=1e-5)

    shape = settings.num_steps, settings.num_envs
    obs, masks = torch.zeros(*shape, size), torch.ones(*shape, choices, dtype=torch.bool)
    actions = torch.zeros(shape, dtype=torch.int64)
    logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))

    seen, info = envs.reset(seed=settings.seed)
    next_obs, next_done = torch.as_tensor(seen, dtype=torch.float32), torch.zeros(shape[1])
    updates = max(1, settings.timesteps // (shape[0] * shape[1]))
    decisions = ended = 0.0
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = settings.learning_rate * (1 - update / updates)
        for step in range(settings.num_steps):
            obs[step], dones[step] = next_obs, next_done
            if settings.masks:
                masks[step] = torch.as_tensor(info["action_mask"]) != 0
            with torch.no_grad():
                policy, values[step] = agent(next_obs, masks[step])
            actions[step] = policy.sample()
            logprobs[step] = policy.log_prob(actions[step])
            seen, reward, terminations, truncations, info = envs.step(actions[step].numpy())
            rewards[step] = torch.as_tensor(reward)
            next_obs = torch.as_tensor(seen, dtype=torch.float32)
            next_done = torch.as_tensor(terminations | truncations, dtype=torch.float32)

        # A row that observes an ended game resets it, and is no decision.
        played = dones == 0 if next_step else torch.ones(shape, dtype=torch.bool)

        with torch.no_grad():
            _, following = agent.net.logits_and_value(next_obs)
        advantages, ahead, done = torch.zeros(shape), torch.zeros(shape[1]), next_done
        for t in reversed(range(settings.num_steps)):
            delta = rewards[t] + settings.gamma * following * (1 - done) - values[t]
            ahead = delta + settings.gamma * settings.gae_lambda * (1 - done) * ahead
            advantages[t], following, done = ahead, values[t], dones[t]
        returns = advantages + values

        rows = played.flatten().nonzero().squeeze(1)  # (3)
        stored = obs, masks, actions, logprobs, advantages, returns
        batch = [part.flatten(0, 1) for part in stored]
        for _ in range(settings.update_epochs):
            for chosen in rows[torch.randperm(len(rows))].chunk(settings.num_minibatches):
                b_obs, b_masks, b_actions, b_logprobs, b_advantages, b_returns = (part[chosen] for part in batch)
                policy, value = agent(b_obs, b_masks)
                ratio = (policy.log_prob(b_actions) - b_logprobs).exp()
                b_advantages = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
                clipped = ratio.clamp(1 - settings.clip_coef, 1 + settings.clip_coef)
                pg_loss = -torch.min(b_advantages * ratio, b_advantages * clipped).mean()
                v_loss = 0.5 * (value - b_returns).square().mean() / b_returns.var().clamp_min(1.0)
                loss = pg_loss - settings.ent_coef * policy.entropy().mean()
                loss = loss + settings.vf_coef * v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), settings.max_grad_norm)
                optimizer.step()

        # An episode ends where the next row's `dones` is 1; for the last row, `next_done`.
        deals, points = float(dones[1:].sum() + next_done.sum()), float(rewards[played].sum())
        decisions, ended = decisions + float(played.sum()), ended + deals
        if update % 20 == 0 or update == updates - 1:
            mean = points / max(1.0, deals)
            print(f"{(update + 1) * played.numel():>9,} steps  {mean:+.2f} points per deal more")
    envs.close()
    cpu, player = time.process_time(), from_torch(agent.net, features=True, suits="canonical")
    won = evaluate(
        six_card_v0.maker, "hoyle", player, OPTIONS["opponent"], settings.pairs, settings.seed, adjust="never"
    )["won"]
    print(f"{cpu:.0f} CPU seconds, {won['mean']:.1%} ± {won['ci95']:.1%} of games won")
    return float(won["mean"]), decisions / max(1.0, ended)


if __name__ == "__main__":
    main(tyro.cli(Settings))
