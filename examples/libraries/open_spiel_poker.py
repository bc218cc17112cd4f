"""OpenSpiel: the benchmark's methods on Kuhn and Leduc poker, whose exploitability is known.

    python examples/libraries/open_spiel_poker.py --game leduc_poker --methods mmd r_nad --seeds 1 2

`crib train mmd` learns from `crib_training.learn.deal_batch.DealBatch`. Here a game of
OpenSpiel's stands in its place, with the same arrays, and the method is the same code.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any
from unittest import mock

import numpy as np
import pyspiel
import torch
import tyro
from crib_training.learn import deal_learners as learners
from crib_training.learn.deal_batch import PLACES, places_of
from crib_training.learn.deal_learners import ActorCriticSettings
from crib_training.methods import METHODS
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import exploitability
from torch import nn

from crib_env.encoding import ObservationLayout
from crib_env.engine.family import Slice

LEARNERS = ("selfplay_ppo", "mmd", "vrpo", "r_nad", "nfsp", "escher", "deep_cfr", "monte_carlo_q")


class SpielGames:
    """Games of OpenSpiel's side by side, as `DealBatch` shows deals.

    Args:
        game: a game of two players with information state tensors.
        num_envs: N, the number of games.
        seed: fixes chance.
    """

    def __init__(self, game: Any, num_envs: int, seed: int) -> None:
        self.game, self.rng = game, np.random.default_rng(seed)
        self.bits, self.size = game.information_state_tensor_size(), PLACES
        self.actions = game.num_distinct_actions()
        parts = (Slice("information_state", self.bits, "as OpenSpiel has it"),)
        self.layout = ObservationLayout(parts, self.actions)
        self.lanes = np.arange(num_envs)
        self.reset()

    def reset(self) -> None:
        """Begin all games."""
        self.states = [self._begin() for _ in self.lanes]
        self.observe()

    def step(self, actions: Any) -> tuple[Any, Any]:
        """Take an action in each game; return player 0's gains and which games ended."""
        gains, ended = np.zeros(len(self.states), np.float32), np.zeros(len(self.states), bool)
        for i, action in enumerate(actions):
            state = self.states[i]
            state.apply_action(int(action))
            self._draw(state)
            if state.is_terminal():
                gains[i], ended[i] = state.returns()[0], True
                self.states[i] = self._begin()
        self.observe()
        return gains, ended

    def after(self, lanes: Any, actions: Any) -> tuple[SpielGames, Any, Any]:
        """Return copies of games after an action each, player 0's gains, and those not over."""
        copies = copy.copy(self)
        states, gains = [], np.zeros(len(lanes))
        for i, (lane, action) in enumerate(zip(lanes, actions, strict=True)):
            state = self.states[lane].clone()
            state.apply_action(int(action))
            self._draw(state)
            states.append(state)
            gains[i] = state.returns()[0] if state.is_terminal() else 0.0
        running = np.flatnonzero([not state.is_terminal() for state in states])
        copies.states = [states[i] for i in running]
        copies.lanes = np.arange(len(running))
        return copies, gains, running

    def _begin(self) -> Any:
        state = self.game.new_initial_state()
        self._draw(state)
        return state

    def _draw(self, state: Any) -> None:
        while state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(self.rng.choice(outcomes, p=chances)))

    def observe(self) -> None:
        """Write observations, masks and movers of the games as they stand."""
        self.movers = np.array([state.current_player() for state in self.states])
        seen = np.array(
            [[state.information_state_tensor(player) for player in range(2)] for state in self.states], dtype=np.uint8
        )
        self.observations = places_of(seen[self.lanes, self.movers])
        self.others = places_of(seen[self.lanes, 1 - self.movers])
        self.masks = np.zeros((len(self.states), self.actions), dtype=bool)
        for i, state in enumerate(self.states):
            self.masks[i, state.legal_actions()] = True


class NormedPolicy(learners.Policy):
    """The policy network with a layer norm before its outputs, as OpenSpiel's deep CFR has it."""

    def __init__(self, games: Any, hidden_sizes: tuple[int, ...]) -> None:
        super().__init__(games, hidden_sizes)
        *layers, last = self.net.children()
        last.reset_parameters()  # type: ignore[operator]
        self.net = nn.Sequential(*layers, nn.LayerNorm(hidden_sizes[-1]), last)


def measure(game: Any, learner: Any) -> float:
    """Return how much a best response gains against the averaged network."""

    def probabilities(state: Any) -> dict[int, float]:
        legal = state.legal_actions()
        masks = torch.zeros(1, game.num_distinct_actions(), dtype=torch.bool)
        masks[0, legal] = True
        seen = torch.from_numpy(places_of(np.array([state.information_state_tensor()], dtype=np.uint8)))
        with torch.no_grad():
            chances = learner.average(seen, masks).double().softmax(1)[0]
        return {action: float(chances[action]) for action in legal}

    policy = policies.tabular_policy_from_callable(game, probabilities)
    return float(exploitability.exploitability(game, policy))


def learn(
    game: Any, method: str, seed: int, decisions: int, settings: Mapping[str, int | float], layer_norm: bool
) -> tuple[float, float]:
    """Learn, and return the exploitability before and after."""
    module = import_module(METHODS[method])
    given = {
        "decisions": decisions,
        "seed": seed,
        "num_envs": 128,
        "steps": 16,
        "batch_size": 256,
        "hidden_sizes": (64, 64),
        "features": False,
        **({"learning_rate": 5e-4} if issubclass(module.Settings, ActorCriticSettings) else {}),
        **settings,
    }
    known = {field.name for field in fields(module.Settings)}
    chosen = module.Settings(**{key: value for key, value in given.items() if key in known})
    games = mock.patch.object(learners, "DealBatch", lambda _, n, seed, *__: SpielGames(game, n, seed))
    with games, mock.patch.object(learners, "Policy", NormedPolicy if layer_norm else learners.Policy):
        learner = module.Learner(chosen)
    first = measure(game, learner)
    while learner.decisions < decisions:
        learner.iterate()
    return first, measure(game, learner)


def main(
    methods: tuple[str, ...] = LEARNERS,
    game: str = "kuhn_poker",
    decisions: int = 100_000,
    seeds: tuple[int, ...] = (1,),
    settings: dict[str, int | float] | None = None,
    layer_norm: bool = False,
) -> dict[str, list[tuple[float, float]]]:
    """Print a row for each method; return the exploitability of each seed before and after.

    Args:
        methods: of `crib train`.
        game: OpenSpiel's name of a game of two players.
        decisions: to learn from.
        seeds: one run each.
        settings: of the method in place of these defaults, such as `ent_coef 0.3 gae_lambda 1`.
        layer_norm: before the outputs of the policy networks, which begin less uniform.
    """
    torch.set_num_threads(1)
    spiel = pyspiel.load_game(game)
    print(
        f"{game}: NashConv / 2 before and after {decisions:,} decisions, seed by "
        f"seed\n\n| method | before | mean after | seeds {seeds} |\n|---|---|---|---|"
    )
    found = {}
    for method in methods:
        runs = [learn(spiel, method, seed, decisions, settings or {}, layer_norm) for seed in seeds]
        before, after = zip(*runs, strict=True)
        each = ", ".join(f"{one:.3f}" for one in after)
        print(f"| `{method}` | {np.mean(before):.3f} | {np.mean(after):.3f} | {each} |", flush=True)
        found[method] = runs
    return found


if __name__ == "__main__":
    tyro.cli(main)
