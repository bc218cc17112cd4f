"""OpenSpiel: its own learners on Kuhn and Leduc poker, beside those of `open_spiel_poker.py`.

    python examples/libraries/open_spiel_learners.py --game leduc_poker --learners nfsp escher

Each learner has the settings of OpenSpiel's example for it (of its test for the policy gradients),
and the same number of decisions as ours. A decision is a player's choice in a game that is played;
a learner that follows several actions of a position counts each position that it visits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyspiel
import torch
import tyro
from open_spiel.python import policy as policies
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import exploitability, get_all_states, mmd_dilated
from open_spiel.python.pytorch import deep_cfr, escher, nfsp, policy_gradient

Probabilities = Callable[[Any], Mapping[int, float]]
"""From a state of OpenSpiel's to the probability of each legal action."""


def play(game: Any, agents: list[Any], decisions: int, seed: int) -> int:
    """Train two agents of OpenSpiel's against each other; return the number of their decisions."""
    env = rl_environment.Environment(game)
    env.seed(seed)
    taken = 0
    while taken < decisions:
        step = env.reset()
        while not step.last():
            mover = step.observations["current_player"]
            step = env.step([agents[mover].step(step).action])
            taken += 1
        for agent in agents:
            agent.step(step)
    return taken


def policy_of(agents: list[Any]) -> Probabilities:
    """Return the agents' policies, without learning."""

    def probabilities(state: Any) -> Mapping[int, float]:
        mover, legal = state.current_player(), state.legal_actions()
        seen = {
            "info_state": [state.information_state_tensor(player) for player in range(2)],
            "legal_actions": [legal, legal],
            "current_player": mover,
        }
        step = rl_environment.TimeStep(seen, None, None, rl_environment.StepType.MID)
        chances = agents[mover].step(step, is_evaluation=True).probs
        return {action: float(chances[action]) for action in legal}

    return probabilities


def learn_nfsp(game: Any, decisions: int, seed: int) -> tuple[Probabilities, int]:
    """Neural fictitious self-play, with exploration that ends with the run."""
    agents = [
        nfsp.NFSP(
            player, game.information_state_tensor_size(), game.num_distinct_actions(), [128],
            reservoir_buffer_capacity=2_000_000, anticipatory_param=0.1,
            replay_buffer_capacity=200_000, min_buffer_size_to_learn=1000, loss_str="mse",
            update_target_network_every=19_200, discount_factor=1.0, epsilon_start=0.06,
            epsilon_end=0.001, epsilon_decay_duration=decisions, seed=seed + player,
        )
        for player in range(2)
    ]  # fmt: skip
    taken = play(game, agents, decisions, seed)
    for agent in agents:
        agent._mode = nfsp.MODE.AVERAGE_POLICY
    return policy_of(agents), taken


def learn_policy_gradient(loss: str, game: Any, decisions: int, seed: int) -> tuple[Probabilities, int]:
    """Policy gradients with a loss of OpenSpiel's, such as qpg or neurd."""
    agents = [
        policy_gradient.PolicyGradient(
            player,
            game.information_state_tensor_size(),
            game.num_distinct_actions(),
            loss_str=loss,
            hidden_layers_sizes=[32, 32],
            batch_size=16,
            entropy_cost=0.001,
            critic_learning_rate=0.01,
            pi_learning_rate=0.01,
            num_critic_before_pi=4,
        )
        for player in range(2)
    ]
    return policy_of(agents), play(game, agents, decisions, seed)


class DeepCFR(deep_cfr.DeepCFRSolver):  # type: ignore[misc]
    """OpenSpiel's solver, which counts the positions that it visits."""

    visited = 0

    def _sample_action_from_advantage(self, state: Any, player: int) -> Any:
        self.visited += 1
        return super()._sample_action_from_advantage(state, player)


def learn_deep_cfr(game: Any, decisions: int, seed: int) -> tuple[Probabilities, int]:
    """Deep CFR: as many iterations as the first one's positions allow."""

    def solver(iterations: int, steps: int) -> DeepCFR:
        return DeepCFR(
            game,
            policy_network_layers=(64,),
            advantage_network_layers=(64,),
            num_iterations=iterations,
            num_traversals=375,
            learning_rate=1e-3,
            batch_size_advantage=256,
            batch_size_strategy=256,
            memory_capacity=1_000_000,
            policy_network_train_steps=steps,
            advantage_network_train_steps=375,
            seed=seed,
        )

    first = solver(1, 1)
    first.solve()
    chosen = solver(max(1, decisions // first.visited), 2500)
    chosen.solve()
    return chosen.action_probabilities, chosen.visited


def learn_escher(game: Any, decisions: int, seed: int) -> tuple[Probabilities, int]:
    """ESCHER, to the end of the iteration that has the last decision."""
    agent, config = escher.Agent(game, escher.Config()), escher.TrainConfig(game)
    config.iterations, config.evaluation_interval = 1, decisions  # never
    games = 2 * (agent.cfg.value_traversals + agent.cfg.regret_traversals)
    taken = 0
    while taken < decisions:
        escher.train(config, agent)
        taken = agent.num_touched - games * (agent.t - 1)
    escher._train_avg_policy(agent)
    return lambda state: dict(enumerate(agent.action_probabilities(state))), taken


def learn_mmd(game: Any, decisions: int, seed: int) -> tuple[Probabilities, int]:
    """Magnetic mirror descent by tables; an iteration visits each position of the game once."""
    solver = mmd_dilated.MMDDilatedEnt(game, alpha=0.05)
    positions = len(
        get_all_states.get_all_states(game, include_chance_states=False, include_terminals=False, to_string=str)
    )
    iterations = max(1, decisions // positions)
    for _ in range(iterations):
        solver.update_sequences()
    found = solver.get_policies()
    return found.action_probabilities, iterations * positions


LEARNERS: dict[str, Callable[[Any, int, int], tuple[Probabilities, int]]] = {
    "deep_cfr": learn_deep_cfr,
    "escher": learn_escher,
    "nfsp": learn_nfsp,
    "qpg": partial(learn_policy_gradient, "qpg"),
    "neurd": partial(learn_policy_gradient, "neurd"),
    "mmd": learn_mmd,
}


def main(
    learners: tuple[str, ...] = tuple(LEARNERS),
    game: str = "kuhn_poker",
    decisions: int = 100_000,
    seeds: tuple[int, ...] = (1,),
) -> dict[str, list[float]]:
    """Print a row for each learner; return the last measurement of each seed.

    Args:
        learners: of OpenSpiel.
        game: OpenSpiel's name of a game of two players.
        decisions: to learn from.
        seeds: one run each.
    """
    torch.set_num_threads(1)
    spiel = pyspiel.load_game(game)
    print(
        f"{game}: NashConv / 2 after {decisions:,} decisions or a little more, seed by seed\n\n"
        f"| learner | mean | seeds {seeds} | decisions | CPU s |\n|---|---|---|---|---|"
    )
    found: dict[str, list[float]] = {}
    for learner in learners:
        began, counts = time.process_time(), []
        for seed in seeds:
            np.random.seed(seed)  # noqa: NPY002, its learners draw from this generator
            torch.manual_seed(seed)
            probabilities, count = LEARNERS[learner](spiel, decisions, seed)
            policy = policies.tabular_policy_from_callable(spiel, probabilities)
            gain = float(exploitability.exploitability(spiel, policy))
            found.setdefault(learner, []).append(gain)
            counts.append(count)
        each = ", ".join(f"{gain:.3f}" for gain in found[learner])
        seconds = (time.process_time() - began) / len(seeds)
        print(f"| `{learner}` | {np.mean(found[learner]):.3f} | {each} | {max(counts):,} | {seconds:.0f} |", flush=True)
    return found


if __name__ == "__main__":
    tyro.cli(main)
