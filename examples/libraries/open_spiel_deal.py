"""OpenSpiel: its own NFSP learns the whole five-card deal, and `crib exploit` measures it.

    python examples/libraries/open_spiel_deal.py --deals 2000
    crib exploit examples.libraries.open_spiel_deal:Trained --suits ranks

The deal is `crib_env.envs.open_spiel`, a game of OpenSpiel's with tensors and sampled chance, so
that any of its algorithms can train on it. The first line writes the average policies of both
players; the second takes them as one agent that plays either seat.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyspiel
import torch
import tyro
from crib_agents import from_torch
from open_spiel.python import rl_environment
from open_spiel.python.pytorch.dqn import MLP
from open_spiel.python.pytorch.nfsp import NFSP

from crib_env.encoding import observation_layout
from crib_env.engine.family import find_family
from crib_env.envs.open_spiel import RULES, TYPE

SUITS = "ranks"  # the game of the benchmark
HIDDEN = [256, 256]
OUT = Path("runs/open_spiel_nfsp.pt")
LAYOUT = observation_layout("five_card_v0")


class BothSeats(torch.nn.Module):
    """The networks of both players as one: the observation has the dealer."""

    def __init__(self, pone: torch.nn.Module, dealer: torch.nn.Module) -> None:
        super().__init__()
        self.pone, self.dealer = pone, dealer

    def forward(self, observations: torch.Tensor) -> Any:
        """Return logits, [B, 52], of observations, float32[B, 425]."""
        deals = observations[:, LAYOUT["dealer"]] == 1
        return torch.where(deals, self.dealer(observations), self.pone(observations))


class Trained:
    """The agent of the written file, for every command that takes agents."""

    name = "OpenSpiel's NFSP"

    def __init__(self, path: Path = OUT) -> None:
        size = find_family(RULES.family).obs_size
        net = BothSeats(*(MLP(size, HIDDEN, 52) for _ in range(2)))
        net.load_state_dict(torch.load(path))
        agent = from_torch(net, sample=True, suits=SUITS)
        self.act, self.action_probabilities = agent.act, agent.action_probabilities


def main(deals: int = 500, seed: int = 1, out: Path = OUT) -> BothSeats:
    """Learn, and write the average policies."""
    game = pyspiel.load_game(TYPE.short_name, {"suits": SUITS})
    env = rl_environment.Environment(game)
    env.seed(seed)
    players = [
        NFSP(
            player,
            game.information_state_tensor_size(),
            52,
            HIDDEN,
            reservoir_buffer_capacity=200_000,
            replay_buffer_capacity=100_000,
            anticipatory_param=0.1,
            optimizer_str="adam",
            rl_learning_rate=1e-3,
            sl_learning_rate=1e-3,
            seed=seed + player,
        )
        for player in range(2)
    ]
    for _ in range(deals):
        step = env.reset()
        while not step.last():
            chosen = players[step.observations["current_player"]].step(step).action
            step = env.step([chosen])
        for player in players:
            player.step(step)
    net = BothSeats(*(player._avg_network for player in players))
    out.parent.mkdir(parents=True, exist_ok=True)
    torch.save(net.state_dict(), out)
    print(f"{deals:,} deals; the policies of both seats are in {out}")
    return net


if __name__ == "__main__":
    tyro.cli(main)
