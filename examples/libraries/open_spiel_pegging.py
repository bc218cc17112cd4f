"""OpenSpiel: the pegging of five-card cribbage, as a game that OpenSpiel's CFR can solve.

    python examples/libraries/open_spiel_pegging.py --iterations 200

Both seats have discarded. Chance picks one of a few deals drawn before, and the seats peg it as in
`pegging_v0`. A seat knows what `Game.view` shows, so its information states are ours. OpenSpiel's
CFR and its exploitability run on the game.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pyspiel
import tyro
from open_spiel.python.algorithms import cfr, exploitability

from crib_env import Game, format_cards

HELD = 3  # cards of a hand of five

TYPE = pyspiel.GameType(
    short_name="python_cribbage_play",
    long_name="The play of five-card cribbage",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification={"deals": 8, "seed": 1},
)


class Play(pyspiel.Game):  # type: ignore[misc]
    """The play out of ``deals`` deals, each as likely; player 0 is the pone."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {"deals": 8, "seed": 1} | (params or {})
        info = pyspiel.GameInfo(
            num_distinct_actions=52, max_chance_outcomes=given["deals"], num_players=2,
            min_utility=-61.0, max_utility=61.0, utility_sum=0.0, max_game_length=6,
        )  # fmt: skip
        super().__init__(TYPE, info, given)
        self.starts = [discarded(int(given["seed"]) + i) for i in range(given["deals"])]

    def new_initial_state(self) -> PlayState:
        """Return the state before the deal."""
        return PlayState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """Return what OpenSpiel's best response asks for information states."""
        return Observer()


def discarded(seed: int) -> Game:
    """Return a deal from a seed in which each seat has discarded the first cards it holds."""
    game = Game("five_card", episode="pegging", seed=seed)
    while game.view(game.seat)["hand_n"] > HELD:
        game.push(game.legal_actions[0])
    return game


class Observer:
    """Information states as OpenSpiel asks for them: strings alone."""

    tensor = None
    dict: ClassVar[dict[str, Any]] = {}

    def set_from(self, state: PlayState, player: int) -> None:
        """There is no tensor to fill."""

    def string_from(self, state: PlayState, player: int) -> str:
        """Return what the player may know."""
        return state.information_state_string(player)


class PlayState(pyspiel.State):  # type: ignore[misc]
    """A moment of the play."""

    def __init__(self, play: Play) -> None:
        super().__init__(play)
        self.starts = play.starts
        self.game: Game | None = None  # None until chance has picked the deal

    def current_player(self) -> int:
        """Return who is to move: 0 the pone, 1 the dealer."""
        if self.game is None:
            return int(pyspiel.PlayerId.CHANCE)
        if self.game.over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(self.game.seat == self.game.dealer)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the deals, each as likely."""
        return [(i, 1 / len(self.starts)) for i in range(len(self.starts))]

    def _legal_actions(self, player: int) -> list[int]:
        assert self.game is not None
        return sorted(self.game.legal_actions)

    def _apply_action(self, action: int) -> None:
        if self.game is None:
            self.game = self.starts[action].copy()
        else:
            self.game.push(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {action}" if player < 0 else format_cards([action])

    def is_terminal(self) -> bool:
        """Return whether the deal is over."""
        return self.game is not None and self.game.over

    def returns(self) -> list[float]:
        """Return what each pegged more than the other."""
        if self.game is None or not self.game.over:
            return [0.0, 0.0]
        pone = 1 - self.game.dealer
        more = float(self.game.scores[pone] - self.game.scores[1 - pone])
        return [more, -more]

    def information_state_string(self, player: int | None = None) -> str:
        """Return all that a seat may know."""
        assert self.game is not None
        player = self.current_player() if player is None else player
        seat = self.game.dealer if player == 1 else 1 - self.game.dealer
        return str(self.game.view(seat).tolist())

    def __str__(self) -> str:
        return "before the deal" if self.game is None else self.game.notation()


pyspiel.register_game(TYPE, Play)


def main(deals: int = 4, iterations: int = 100, seed: int = 1) -> float:
    """Solve by CFR, and return how much a best response gains against what came out."""
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
