"""The five-card deal as an OpenSpiel game, for OpenSpiel's algorithms.

    import pyspiel
    import crib_env.envs.open_spiel  # registers it

    game = pyspiel.load_game("python_crib_five_card")

Player 0 is pone, player 1 the dealer. Chance nodes deal card by card and turn the starter. The tree
is explicit and far too large to walk, so algorithms must sample it. A return is a player's points
minus the other's. The tensor of a player's information is the environment's observation, by
default with ``suits="ranks"``, as in the benchmark: in the pegging it leaves out the player's own
discards, which the string has. Forced cards are played automatically.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyspiel

from crib_env.cards import format_card
from crib_env.encoding import encode
from crib_env.engine.family import family_for
from crib_env.engine.ranks import DECK
from crib_env.game import Game
from crib_env.rules import Rules

DEALT = 10  # cards in both hands
LAID = 4  # cards discarded by both
PLAYED = 6
MOST = 100.0  # more points than a deal has
DEFAULTS = {"suits": "ranks", "reward": "points", "features": False}
RULES = Rules.preset("five_card")


def game_type(short_name: str, long_name: str, defaults: dict[str, Any], tensor: bool = True) -> pyspiel.GameType:
    """Return the type of a game for two, with the defaults of its parameters."""
    return pyspiel.GameType(
        short_name=short_name,
        long_name=long_name,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=tensor,
        provides_observation_string=False,
        provides_observation_tensor=False,
        parameter_specification=defaults,
    )


TYPE = game_type("python_crib_five_card", "A deal of five-card cribbage", DEFAULTS)


class FiveCardDeal(pyspiel.Game):
    """The deal; ``params``: ``suits``, ``reward``, ``features`` as in `crib_env.five_card_v0`."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {**DEFAULTS, **(params or {})}
        info = pyspiel.GameInfo(
            num_distinct_actions=DECK,
            max_chance_outcomes=DECK,
            num_players=2,
            min_utility=-MOST,
            max_utility=MOST,
            utility_sum=0.0,
            max_game_length=LAID + PLAYED,
        )
        super().__init__(TYPE, info, given)
        self.features = bool(given["features"])
        self.family = family_for(RULES.family, given["reward"], given["suits"])
        self.size = self.family.obs_size + self.features * self.family.features.size

    def __deepcopy__(self, memo: dict[int, Any]) -> FiveCardDeal:
        return self  # OpenSpiel clones a state with all that it holds

    def new_initial_state(self) -> DealState:
        """Return the state before the first card is dealt."""
        return DealState(self)

    def information_state_tensor_shape(self) -> list[int]:
        """Return the shape of the tensor."""
        return [self.size]

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """Return the observer through which OpenSpiel reads information states."""
        return Observer(self.size)


class Observer:
    """A player's knowledge, in OpenSpiel's form."""

    def __init__(self, size: int) -> None:
        self.tensor = np.zeros(size, dtype=np.float32)  # the observation
        self.dict = {"observation": self.tensor}

    def set_from(self, state: DealState, player: int) -> None:
        """Write the player's knowledge to the tensor; zeros until all cards are dealt."""
        self.tensor[:] = 0
        if state.game is not None:
            view = state.game.view(state.seat_of(player))
            self.tensor[:] = encode(view, state.deal.features, state.deal.family.suits)[0][0]

    def string_from(self, state: DealState, player: int) -> str:
        """Return the player's knowledge as text."""
        if state.game is None:
            return ""
        view = state.game.view(state.seat_of(player))
        # Lists: NumPy's print options shorten arrays, and different states would look the same.
        return str({name: np.asarray(view[name]).tolist() for name in view.dtype.names or ()})


class DealState(pyspiel.State):
    """A moment of the deal."""

    def __init__(self, deal: FiveCardDeal) -> None:
        super().__init__(deal)
        self.deal = deal
        self.dealt: list[int] = []  # the cards that chance has dealt
        self.laid: list[int] = []  # the discards so far
        self.game: Game | None = None  # None until both hands are dealt
        self.more = 0.0  # points of pone less those of the dealer

    def seat_of(self, player: int) -> int:
        """Return the seat of a player: the dealer's is 0."""
        return 1 - player

    def current_player(self) -> int:
        """Return the player to move: 0 pone, 1 the dealer."""
        if self.game is None or (len(self.laid) == LAID and len(self.dealt) == DEALT):
            return int(pyspiel.PlayerId.CHANCE)
        if self.game.over:
            return int(pyspiel.PlayerId.TERMINAL)
        return 1 - self.game.seat

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the cards that chance may deal next, with equal probabilities."""
        left = [card for card in range(DECK) if card not in self.dealt]
        return [(card, 1 / len(left)) for card in left]

    def is_terminal(self) -> bool:
        """Return whether the deal is over."""
        return self.game is not None and self.game.over

    def returns(self) -> list[float]:
        """Return each player's points less the other's; zeros until the end."""
        more = self.more if self.is_terminal() else 0.0
        return [more, -more]

    def resample_from_infostate(self, player: int, sampler: Any) -> DealState:
        """Refuse: IS-MCTS asks for another deal that looks the same to a player."""
        raise NotImplementedError(
            "python_crib_five_card has no resample_from_infostate, so IS-MCTS cannot search it: "
            "use an algorithm that samples whole deals, such as outcome sampling MCCFR"
        )

    def __str__(self) -> str:
        dealt = " ".join(map(format_card, self.dealt))
        return dealt if self.game is None else f"{dealt}: {self.game.notation()}"

    def _legal_actions(self, player: int) -> list[int]:
        assert self.game is not None
        return self.game.legal_actions

    def _apply_action(self, action: int) -> None:
        if self.current_player() == pyspiel.PlayerId.CHANCE:
            self.dealt.append(action)
            if len(self.dealt) >= DEALT:
                self._begin()
        elif len(self.laid) < LAID:
            self.laid.append(action)
            if len(self.laid) < LAID:  # the last one waits for the starter, which chance turns
                self._step(action)
        else:
            self._step(action)
        while self.game is not None and len(self.dealt) > DEALT and not self.game.over:
            legal = self.game.legal_actions
            if len(legal) > 1:
                break
            self._step(legal[0])

    def _action_to_string(self, player: int, action: int) -> str:
        return format_card(action)

    def _begin(self) -> None:
        """Begin a game with the cards dealt; once the starter is turned, repeat the discards."""
        rest = [card for card in range(DECK) if card not in self.dealt]
        self.game = Game(RULES, episode="deal", seed=0, family=self.deal.family)
        self.game.reset(decks=[[*self.dealt, *rest]], dealer=self.seat_of(1))
        for action in self.laid:
            self._step(action)

    def _step(self, action: int) -> None:
        assert self.game is not None
        self.game.step(action)
        self.more += self.game.gains[self.seat_of(0)]


pyspiel.register_game(TYPE, FiveCardDeal)
