"""Self-play in sixty lines: PPO against itself, then how far the network is from perfect play.

python self_play.py
"""

import torch
from crib_agents import ScoredAgent, from_torch
from crib_agents.card_net import CardNet
from crib_training.exploit import exploitability
from torch import Tensor, nn
from torch.distributions import Categorical

from crib_env import five_card_v0, observation_layout


def train(decisions: int = 500_000, games: int = 512, steps: int = 16) -> ScoredAgent:
    """Train a network against itself; return the agent that draws from its probabilities."""
    torch.manual_seed(1)
    torch.set_num_threads(1)  # a small network: a second thread waits more than it works
    envs = five_card_v0.torch_env(games, episode="deal", reward="expected", features=True, suits="canonical")
    observation, info = envs.reset(seed=1)
    size = observation.shape[1]
    actor = CardNet(observation_layout("five_card_v0", features=True))
    actor.scale.data.zero_()  # begin nearly uniform: self-play has to mix
    critic = nn.Sequential(nn.Linear(size, 256), nn.ReLU(), nn.Linear(256, 1))
    adam = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 1e-3, eps=1e-5)
    agent = from_torch(actor, name="self-play", sample=True, rules=envs.rules, features=True, suits="canonical")
    envs.set_opponent(agent)  # the network itself, not a copy: it learns from both seats

    for update in range(updates := decisions // (games * steps)):
        left = 1 - update / updates  # the learning rate and the entropy bonus fall to zero
        adam.param_groups[0]["lr"] = 1e-3 * left
        rows: list[tuple[Tensor, ...]] = []
        for _ in range(steps):
            seen, mask = observation.clone(), info["action_mask"].clone()  # overwritten by step
            with torch.no_grad():
                policy = Categorical(logits=actor(seen).masked_fill(~mask, -1e9))
                value, action = critic(seen)[:, 0], policy.sample()
            observation, reward, done, _, info = envs.step(action)
            log = policy.log_prob(action)
            rows.append((seen, mask, action, log, value, reward.clone(), done.clone()))
        columns = (torch.stack(column) for column in zip(*rows, strict=True))
        seen, mask, action, old, value, reward, done = columns
        with torch.no_grad():
            following, ahead = critic(observation)[:, 0], torch.zeros(games)
        advantage = torch.zeros(steps, games)
        for t in reversed(range(steps)):  # GAE over the learner's own decisions, no discount
            ahead = reward[t] - value[t] + ~done[t] * (following + 0.95 * ahead)
            advantage[t], following = ahead, value[t]
        data = [x.flatten(0, 1) for x in (seen, mask, action, old, advantage, advantage + value)]
        for part in [p for _ in range(2) for p in torch.randperm(games * steps).chunk(8)]:
            seen, mask, action, old, advantage, target = (x[part] for x in data)
            policy = Categorical(logits=actor(seen).masked_fill(~mask, -1e9))
            ratio = (policy.log_prob(action) - old).exp()
            gain = advantage / (advantage.std() + 1e-8)
            clipped = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            error = (critic(seen)[:, 0] - target).square().mean()
            loss = 0.05 * error - clipped - 0.03 * left * policy.entropy().mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
        if update % 10 == 9:
            print(f"{update + 1} of {updates} updates, entropy {policy.entropy().mean():.2f}")

    return agent


if __name__ == "__main__":
    print(exploitability(train(), hands=40, abstraction=1, progress=print))
