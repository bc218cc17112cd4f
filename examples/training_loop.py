"""A training loop of your own: PPO against compiled opponents and a pool of past selves.

    pip install "crib-env[train,onnx]"
    python training_loop.py
    python training_loop.py --steps 2000000 --opponent expert --wandb

Read it from top to bottom, and change it. `tensorboard --logdir runs` shows the curves. The weights
are saved at every evaluation, as `net.pt`. At the end it writes `policy.onnx`, which every command
takes as an agent: `crib rate policy.onnx`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import onnx  # noqa: F401 - `to_onnx` needs both at the end; fail now if missing
import onnxscript  # noqa: F401
import torch
import tyro
from crib_agents import Pool, ScoredAgent, from_torch, to_onnx
from crib_agents.card_net import CardNet
from crib_training.evaluation.evaluate import evaluate
from torch import Tensor, nn
from torch.distributions import Categorical
from torch.utils.tensorboard import SummaryWriter

from crib_env import observation_layout
from crib_env.registration import env_module


@dataclass(frozen=True)
class Settings:
    """The environment, the network and the training."""

    env: str = "six_card_v0"
    opponent: str = "rule_based"  # a built-in name or a file; plays beside the past selves
    past_selves: int = 2  # how many of the pool play at a time; 0 for none
    reward: str = "expected"  # without the luck of the show; Table Top has "points"
    suits: str = "real"  # "canonical": exploitability is then exact
    steps: int = 500_000
    seed: int = 1
    num_envs: int = 256
    rollout: int = 32
    epochs: int = 4
    minibatches: int = 4
    learning_rate: float = 1e-3
    gae_lambda: float = 0.95
    clip: float = 0.2
    ent_coef: float = 0.005
    hidden: int = 128
    eval_every: int = 15  # updates; also how often the pool gains a past self
    eval_pairs: int = 500
    out: Path = Path("runs/loop")
    wandb: bool = False


def main(settings: Settings, report: Callable[[int, float], None] | None = None) -> float:
    """Train.

    Args:
        settings: what and how.
        report: called with the number of decisions and the strength after each evaluation.

    Returns:
        the strength: points per deal more than the opponent, in its role with its cards.
    """
    torch.manual_seed(settings.seed)
    torch.set_num_threads(1)  # small networks: a second thread waits more than it works
    if settings.wandb:
        import wandb

        wandb.init(project="crib", config=asdict(settings), sync_tensorboard=True)
    writer = SummaryWriter(settings.out)
    module = env_module(settings.env)
    games, rollout, opponent = settings.num_envs, settings.rollout, settings.opponent
    envs = module.torch_env(
        games, opponent=opponent, episode="deal", reward=settings.reward, features=True, suits=settings.suits
    )
    observation, info = envs.reset(seed=settings.seed)
    size, actions = observation.shape[1], info["action_mask"].shape[1]
    net = CardNet(observation_layout(settings.env, features=True), settings.hidden)
    optimizer = torch.optim.Adam(net.parameters(), settings.learning_rate, eps=1e-5)
    pool = Pool(20, by="results", seed=settings.seed)

    def agent(name: str, sample: bool) -> ScoredAgent:
        return from_torch(net, name=name, sample=sample, rules=envs.rules, features=envs.features, suits=envs.suits)

    def act(observations: Tensor, masks: Tensor) -> tuple[Categorical, Tensor]:
        logits, value = net.logits_and_value(observations)
        logits = logits.masked_fill(~masks, -1e9)  # never an illegal action
        return Categorical(logits=logits, validate_args=False), value

    observations = torch.zeros(rollout, games, size)
    masks = torch.zeros(rollout, games, actions, dtype=torch.bool)
    chosen = torch.zeros(rollout, games, dtype=torch.int64)
    logs, values, rewards, dones = (torch.zeros(rollout, games) for _ in range(4))
    updates, strength = max(1, settings.steps // (games * rollout)), 0.0
    for update in range(1, updates + 1):
        optimizer.param_groups[0]["lr"] = settings.learning_rate * (1 - (update - 1) / updates)
        # Every step returns the same tensors, overwritten: each is copied into its row.
        for t in range(rollout):
            observations[t], masks[t] = observation, info["action_mask"]
            with torch.no_grad():
                policy, values[t] = act(observations[t], masks[t])
            chosen[t] = policy.sample()
            logs[t] = policy.log_prob(chosen[t])
            observation, rewards[t], terminations, _, info = envs.step(chosen[t])
            dones[t] = terminations
            pool.record(envs, terminations, info)

        # A row is the learner's decision. Its reward is the sum until the learner's next decision,
        # with the other seats' actions between, so nothing changes if a seat acts twice running.
        with torch.no_grad():
            _, following = act(observation, info["action_mask"])
        advantages, ahead = torch.zeros_like(rewards), torch.zeros(games)
        for t in reversed(range(rollout)):  # no discount: a deal is a dozen decisions
            alive = 1 - dones[t]
            delta = rewards[t] + alive * following - values[t]
            ahead = delta + alive * settings.gae_lambda * ahead
            advantages[t], following = ahead, values[t]
        targets = advantages + values

        flat = [x.flatten(0, 1) for x in (observations, masks, chosen, logs, advantages, targets)]
        for _ in range(settings.epochs):
            for rows in torch.randperm(games * rollout).chunk(settings.minibatches):
                obs, mask, action, old, advantage, target = (x[rows] for x in flat)
                policy, value = act(obs, mask)
                ratio = (policy.log_prob(action) - old).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
                policy_loss = -torch.min(advantage * ratio, advantage * clipped).mean()
                value_loss = (value - target).square().mean() / target.var().clamp_min(1.0)
                entropy = policy.entropy().mean()
                loss = policy_loss + 0.5 * value_loss - settings.ent_coef * entropy
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
                optimizer.step()

        steps = update * games * rollout
        writer.add_scalar("train/points_per_deal", float(rewards.sum() / dones.sum().clamp_min(1)), steps)
        writer.add_scalar("train/entropy", entropy.item(), steps)
        writer.add_scalar("train/value_loss", value_loss.item(), steps)
        if update % settings.eval_every and update < updates:
            continue
        torch.save(net.state_dict(), settings.out / "net.pt")  # before an evaluation can fail
        learned = agent("loop", False)
        margin = evaluate(
            module.maker, envs.rules, learned, opponent, settings.eval_pairs, seed=settings.seed, games=False
        )["margin_per_deal"]
        strength = float(margin["mean"])
        writer.add_scalar("eval/margin_per_deal", strength, steps)
        print(f"{steps:>9,} steps  {strength:+.2f} ± {margin['ci95']:.2f} points per deal more")
        if report is not None:
            report(steps, strength)
        if settings.past_selves:
            pool.add(agent(f"update {update}", True))
            envs.set_opponent([(opponent, 1.0), *pool.sample(settings.past_selves)])

    to_onnx(agent("loop", False), settings.out / "policy.onnx")
    writer.close()
    return strength


if __name__ == "__main__":
    main(tyro.cli(Settings))
