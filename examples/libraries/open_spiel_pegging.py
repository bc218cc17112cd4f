"""OpenSpiel: the pegging of five-card cribbage, as a game that OpenSpiel's CFR can solve.

    python examples/libraries/open_spiel_pegging.py --iterations 200

Both seats have discarded. Chance picks one of a few deals drawn before, and the seats peg it as in
`pegging_v0`. Otherwise the game is the deal of `crib_env.envs.open_spiel`: a seat knows what
`Game.view` shows, so its information states are ours. OpenSpiel's CFR and its exploitability run on
the game.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyspiel
import tyro
from open_spiel.python.algorithms import cfr, exploitability

from crib_env import Game
from crib_env.envs.open_spiel import DealState, Observer, game_type

HELD = 3  # cards of a hand of five
DEFAULTS = {"deals": 8, "seed": 1}
TYPE = game_type("python_cribbage_play", "The play of five-card cribbage", DEFAULTS, tensor=False)


class Play(pyspiel.Game):  # type: ignore[misc]
    """The pegging of one of ``deals`` deals, equally likely; player 0 is pone."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = DEFAULTS | dict(params or {})
        info = pyspiel.GameInfo(
            num_distinct_actions=52,
            max_chance_outcomes=given["deals"],
            num_players=2,
            min_utility=-61.0,
            max_utility=61.0,
            utility_sum=0.0,
            max_game_length=6,
        )
        super().__init__(TYPE, info, given)
        self.starts = [discarded(int(given["seed"]) + i) for i in range(given["deals"])]

    def __deepcopy__(self, memo: dict[int, Any]) -> Play:
        return self  # OpenSpiel clones a state with all that it holds

    def new_initial_state(self) -> PlayState:
        """Return the state before the deal."""
        return PlayState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """Return the observer of OpenSpiel's best response: information states as strings alone."""
        return Observer(0)


def discarded(seed: int) -> Game:
    """Return a deal from a seed in which each seat has discarded the first cards it holds."""
    game = Game("five_card", episode="pegging", seed=seed)
    while game.view(game.seat)["hand_n"] > HELD:
        game.step(game.legal_actions[0])
    return game


class PlayState(DealState):
    """A state of the pegging, which has no game until chance has picked the deal."""

    def seat_of(self, player: int) -> int:
        """Return the seat of a player."""
        assert self.game is not None
        return self.game.dealer if player == 1 else 1 - self.game.dealer

    def current_player(self) -> int:
        """Return the player to move: 0 pone, 1 the dealer; or chance, or the end."""
        if self.game is None:
            return int(pyspiel.PlayerId.CHANCE)
        if self.game.over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(self.game.seat == self.game.dealer)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the deals with equal probabilities."""
        n = len(self.deal.starts)
        return [(i, 1 / n) for i in range(n)]

    def _apply_action(self, action: int) -> None:
        if self.game is None:
            self.game = self.deal.starts[action].copy()
        else:
            self._step(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {action}" if player < 0 else super()._action_to_string(player, action)


pyspiel.register_game(TYPE, Play)


def main(deals: int = 4, iterations: int = 100, seed: int = 1) -> float:
    """Solve by CFR, and return how much a best response gains against the average policy."""
    game = pyspiel.load_game(TYPE.short_name, {"deals": deals, "seed": seed})
    solver = cfr.CFRPlusSolver(game)
    for i in range(1, iterations + 1):
        solver.evaluate_and_update_policy()
        if i == iterations or i % 25 == 0:
            gain = exploitability.exploitability(game, solver.average_policy())
            print(f"{i} iterations: a best response gains {gain:.4f} points per deal")
    return float(gain)


if __name__ == "__main__":
    tyro.cli(main)
