"""Self-play PPO with entropy, on five-card deals.

    crib train --method selfplay_ppo --seed 1 --out runs/selfplay_ppo_1

One network plays both seats. The critic sees both hands, which no policy may: it only lowers the
variance of what the policy learns from (a centralised critic). Its values, rewards and advantages
are those of seat 0, so one chain of decisions of both seats is one episode of a zero-sum game.

Schulman et al., *Proximal Policy Optimization Algorithms* (2017); the entropy bonus as in Rudolph
et al., *Reevaluating Policy Gradient Methods for Imperfect-Information Games* (2026).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from crib_env.encoding import encode
from crib_env.settings import Count, NewFolder, NotNegative, Positive, Share
from crib_training.baselines.run import (
    FAMILY,
    Array,
    Policy,
    RunSettings,
    Tensor,
    margins,
    network,
    new_deals,
    train,
)


@dataclass(frozen=True)
class Settings(RunSettings):
    """Train by self-play PPO, and measure exploitability on the way.

    Attributes:
        decisions: decisions to learn from.
        seed: fixes the deals, the networks and the batches.
        num_envs: deals that are played side by side between updates.
        hidden: units in each of the two hidden layers.
        features: what the policy reads besides bits: a level of the environment's features, or
            "none".
        evals: how often exploitability is measured, at equal distances.
        eval_hands: hands that a best response is found for at each.
        threads: of PyTorch.
        out: the folder of the run; a run that lies there is resumed.
        learning_rate: falls linearly to a twentieth.
        epochs: passes over the decisions of an update.
        batch_size: decisions in a gradient step.
        clip: how far the ratio of new to old probabilities counts.
        gae_lambda: of the advantages.
        ent_coef: weight of the entropy at first; it falls geometrically.
        last_ent_coef: weight of the entropy at last.
        max_grad_norm: longer gradients are shortened to it.
        ema_rate: share of the new weights in the averaged ones after each update; these are the
            policy that is measured.
    """

    learning_rate: Positive = 5e-4
    epochs: Count = 2
    batch_size: Count = 1024
    clip: Share = 0.2
    gae_lambda: Share = 0.95
    ent_coef: NotNegative = 0.05
    last_ent_coef: Positive = 0.005
    max_grad_norm: Positive = 1.0
    ema_rate: Share = 0.1
    out: NewFolder = Path("runs/selfplay_ppo")


@dataclass
class Rollout:
    """Decisions with more than one legal action, of whole deals, in order of play.

    Attributes:
        obs: uint8[D, obs_size], or float32 with features: what the mover sees.
        both: uint8[D, 2 * obs_size], what seats 0 and 1 see: the critic's input.
        masks: bool[D, actions].
        actions: int64[D].
        logp: float32[D], of the actions.
        lanes: int64[D], the deals.
        signs: float64[D], 1 where seat 0 moves, -1 where seat 1 does.
        ahead: float64[D], by how many points seat 0 is ahead before the decision.
        final: float64[N], by how many it is at the end of each deal.
    """

    obs: Tensor
    both: Tensor
    masks: Tensor
    actions: Tensor
    logp: Tensor
    lanes: Array
    signs: Array
    ahead: Array
    final: Array


def log_policy(policy: nn.Module, obs: Tensor, masks: Tensor) -> Tensor:
    """Return the log-probability of each action, float32[B, actions]."""
    logits = policy(obs.float()).masked_fill(~masks, -1e9)
    return functional.log_softmax(logits, dim=1)


@torch.no_grad()
def play(policy: Policy, n: int, rng: np.random.Generator) -> Rollout:
    """Play ``n`` deals by the policy in both seats."""
    deals = new_deals(n, int(rng.integers(1 << 62)))
    parts: list[tuple[Any, ...]] = []
    lanes = deals.running()
    while len(lanes):
        movers = deals.movers(lanes).copy()
        obs, masks = encode(deals.views(lanes), policy.features)
        actions = masks.argmax(axis=1)
        choice = np.flatnonzero(masks.sum(axis=1) > 1)
        if len(choice):
            where, seats = lanes[choice], movers[choice]
            others = encode(deals.views(where, 1 - seats))[0]
            mine = obs[choice]
            bits = mine[:, : FAMILY.obs_size].astype(np.uint8)
            first = np.where((seats == 0)[:, None], bits, others)
            second = np.where((seats == 0)[:, None], others, bits)
            legal = torch.from_numpy(masks[choice]).bool()
            logp = log_policy(policy, torch.from_numpy(mine), legal)
            noise = torch.from_numpy(rng.gumbel(size=tuple(logp.shape)))
            drawn = (logp + noise).argmax(dim=1)
            actions[choice] = drawn.numpy()
            parts.append((
                mine, np.concatenate([first, second], axis=1), masks[choice].astype(bool),
                drawn.numpy(), logp.gather(1, drawn[:, None])[:, 0].numpy(), where,
                np.where(seats == 0, 1.0, -1.0), margins(deals, where),
            ))  # fmt: skip
        deals.step(lanes, actions)
        lanes = deals.running(lanes)
    obs, both, masks, actions, logp, where, signs, ahead = map(
        np.concatenate, zip(*parts, strict=True)
    )
    tensors = (torch.from_numpy(array) for array in (obs, both, masks, actions, logp))
    return Rollout(*tensors, where, signs, ahead, margins(deals, np.arange(n)))


def advantages(rollout: Rollout, values: Array, gae_lambda: float) -> Array:
    """Return generalised advantages for seat 0, float64[D].

    Args:
        rollout: of whole deals.
        values: float64[D], what seat 0 is expected to gain from each decision on.
        gae_lambda: 1 for Monte Carlo returns, 0 for one step.
    """
    n = len(rollout.final)
    next_value, next_advantage, next_ahead = np.zeros(n), np.zeros(n), rollout.final.copy()
    found = np.zeros(len(values))
    # A lane's decisions lie at growing places, one in each round of decisions: walk them back.
    starts = np.flatnonzero(np.diff(rollout.lanes, prepend=len(rollout.final)) <= 0)
    ends = np.append(starts[1:], len(values))
    for start, end in zip(starts[::-1], ends[::-1], strict=True):
        part = slice(start, end)
        lanes = rollout.lanes[part]
        step = next_ahead[lanes] - rollout.ahead[part] + next_value[lanes] - values[part]
        found[part] = step + gae_lambda * next_advantage[lanes]
        next_advantage[lanes] = found[part]
        next_value[lanes] = values[part]
        next_ahead[lanes] = rollout.ahead[part]
    return found


class PPO:
    """Self-play PPO; see `crib_training.baselines.run.Trainer`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.decisions = 0
        self.rng = np.random.default_rng(settings.seed)
        torch.manual_seed(settings.seed)
        size, hidden = FAMILY.obs_size, settings.hidden
        self.actor = Policy(hidden, settings.features)
        self.critic = network(2 * size, hidden, 1)
        self.policy = Policy(hidden, settings.features)
        self.policy.load_state_dict(self.actor.state_dict())
        self.weights = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(self.weights, settings.learning_rate, eps=1e-5)

    def iterate(self) -> dict[str, float]:
        """Play ``num_envs`` deals and make the passes over their decisions."""
        settings = self.settings
        done = min(1.0, self.decisions / settings.decisions)
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * max(0.05, 1 - done)
        rollout = play(self.actor, settings.num_envs, self.rng)
        with torch.no_grad():
            values = self.critic(rollout.both.float())[:, 0].double().numpy()
        ahead = advantages(rollout, values, settings.gae_lambda)
        returns = torch.from_numpy(ahead + values).float()
        mine = torch.from_numpy(ahead * rollout.signs).float()
        scale = mine.std() + 1e-6
        figures: dict[str, float] = {}
        for _ in range(settings.epochs):
            for batch in torch.randperm(len(mine)).split(settings.batch_size):
                figures = self.learn(rollout, batch, mine / scale, returns, float(scale), done)
        with torch.no_grad():
            for averaged, new in zip(
                self.policy.parameters(), self.actor.parameters(), strict=True
            ):
                averaged.lerp_(new, settings.ema_rate)
        self.decisions += len(mine)
        return figures

    def learn(
        self,
        rollout: Rollout,
        batch: Tensor,
        advantage: Tensor,
        returns: Tensor,
        scale: float,
        done: float,
    ) -> dict[str, float]:
        """Make one gradient step and return its figures.

        Args:
            rollout: the decisions.
            batch: int64[B], those to learn from.
            advantage: float32[D], for the mover, of standard deviation 1.
            returns: float32[D], for seat 0.
            scale: what the advantages were divided by.
            done: the share of the run that is over.
        """
        settings = self.settings
        logp = log_policy(self.actor, rollout.obs[batch], rollout.masks[batch])
        chosen = logp.gather(1, rollout.actions[batch, None])[:, 0]
        ratio = (chosen - rollout.logp[batch]).exp()
        clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
        gain = torch.min(ratio * advantage[batch], clipped * advantage[batch]).mean()
        entropy = -(logp.exp() * logp.masked_fill(~rollout.masks[batch], 0.0)).sum(dim=1).mean()
        error = (self.critic(rollout.both[batch].float())[:, 0] - returns[batch]) / scale
        value_loss = error.square().mean()
        ent_coef = settings.ent_coef * (settings.last_ent_coef / settings.ent_coef) ** done
        loss = -gain - ent_coef * entropy + 0.5 * value_loss
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.weights, settings.max_grad_norm)
        self.optimizer.step()
        return {"entropy": entropy.item(), "value_loss": value_loss.item(), "scale": scale}

    def state(self) -> dict[str, Any]:
        """Return everything that learning goes on from."""
        return {
            "decisions": self.decisions, "rng": self.rng.bit_generator.state,
            "actor": self.actor.state_dict(), "critic": self.critic.state_dict(),
            "policy": self.policy.state_dict(), "optimizer": self.optimizer.state_dict(),
        }  # fmt: skip

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.decisions = state["decisions"]
        self.rng.bit_generator.state = state["rng"]
        for name in ("actor", "critic", "policy", "optimizer"):
            getattr(self, name).load_state_dict(state[name])


def run(settings: Settings) -> None:
    """Train as settings say."""
    train("selfplay_ppo", settings, PPO(settings))
