"""`Game`: one game of any kind, without any RL library.

    >>> from crib_env import Game
    >>> game = Game("five_card", seed=3)
    >>> game.seat, len(game.legal)
    (0, 5)
    >>> game.step(game.legal[0])
    []
    >>> while not game.over:
    ...     pegged = game.step(game.legal[0])
    >>> max(game.scores)
    61

Moves are made and taken back by `push` and `pop`; a position is one line of text by `notation`, a
drawing by `svg`, which a notebook shows by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.answers import whole_action
from crib_env.engine.family import Family, find_family, of_one_deal
from crib_env.engine.log import FOR_LAST
from crib_env.engine.record import NO_DECKS, NONE
from crib_env.engine.rng import seed_states
from crib_env.engine.show import show_table
from crib_env.engine.single import ILLEGAL, single_entries
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.events import Event, read_log
from crib_env.notation import parse_state
from crib_env.options import ResetOptions, check_seed, read_options, set_scores
from crib_env.pictures import Pictures
from crib_env.positions import Positions
from crib_env.rules import Rules, as_rules

Array = npt.NDArray[Any]


class Game(Positions, Pictures):
    """One game.

    Args:
        rules: the name of a preset, such as ``"hoyle"`` or ``"hoyle[target=91]"``, or `Rules`.
        players: seats; by default the fewest the rules allow.
        episode: what one episode is: a name the family knows, such as ``"game"`` or ``"deal"``.
        seed: starts the generator of all deals and cuts; None takes fresh entropy.
        family: the engine to play it, if not the rules' own.

    Attributes:
        family: the engine that plays it.
        advance: the compiled step, ``advance(action) -> code``; see `crib_env.engine.single`. It
            leaves view, observation and mask of the seat then to move in `views`, `obs` and `mask`.
    """

    advance: Callable[[int], int]

    def __init__(
        self,
        rules: str | Rules = "hoyle",
        *,
        players: int | None = None,
        episode: str = "game",
        seed: int | None = None,
        family: Family | None = None,
    ) -> None:
        self.rules = as_rules(rules)
        self.family: Family = family or find_family(self.rules.engine)
        self.players = self.family.players[0] if players is None else players
        self.episode = of_one_deal(episode, self.family.episodes)
        self.record = self.family.rules_record(self.rules, self.episode, self.players)
        self.players = int(self.players)
        self.states = np.zeros(1, dtype=self.family.state)
        self.views = np.zeros(1, dtype=self.family.view)
        self.log = np.zeros(self.family.log_size, dtype=np.int64)
        self.obs = np.zeros(self.family.obs_size, dtype=np.uint8)
        self.mask = np.zeros(self.family.actions, dtype=np.int8)
        self.decks = NO_DECKS
        self._taken = []
        self._bind()
        check_seed(seed)
        self.seed(np.random.SeedSequence(seed))
        self.start(ResetOptions())

    def _bind(self) -> None:
        """Take hold of the compiled entries, which neither copies nor pickles carry."""
        single = single_entries(self.family)
        self._begin, self._observe = single.begin.unchecked, single.observe.unchecked
        self.advance = partial(
            single.step.unchecked, self.states, self.record, self.decks, show_table(), self.log,
            self.views, self.obs, self.mask,
        )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_begin", "_observe", "advance"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def seed(self, entropy: np.random.SeedSequence) -> None:
        """Start the generator of all deals and cuts anew, without beginning an episode."""
        seed_states(self.states, entropy)

    def begin(self, *, seed: int | None = None, **options: Any) -> None:
        """Begin an episode.

        Args:
            seed: starts the generator of all deals and cuts; None goes on with it.
            options: ``decks``, ``dealer`` and ``scores``: see `crib_env.options.read_options`.

        Raises:
            ValueError: a seed or an option that does not fit; nothing has changed then.
        """
        check_seed(seed)
        chosen = read_options(options, self.players, self.rules.target)
        if seed is not None:
            self.seed(np.random.SeedSequence(seed))
        self.start(chosen)

    def start(self, chosen: ResetOptions) -> None:
        """Begin an episode with options that have been checked."""
        self._use(chosen.decks)
        self.states["given"], self.states["given_end"] = 0, len(chosen.decks)
        dealer = NONE if chosen.dealer is None else chosen.dealer
        self._begin(self.states, self.record, self.decks, dealer, self.log)
        if chosen.scores is not None:
            set_scores(self.states, chosen.scores)
            if self.log[0] and self.log[3] == FOR_LAST:
                self.log[0] = 0  # three for last (F1) are not pegged on top of given scores
        self._taken.clear()

    # --- what there is to see -------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether the episode is over."""
        return bool(self.states["over"][0])

    @property
    def seat(self) -> int:
        """The seat to move; after the end, the one that would be."""
        return int(self.states["to_move"][0])

    @property
    def legal(self) -> list[int]:
        """The legal actions of the seat to move, ascending; none after the end."""
        if self.over:
            return []
        self.look(self.seat)
        return [int(action) for action in self.mask.nonzero()[0]]

    @property
    def scores(self) -> tuple[int, int]:
        """The scores of the present game, by side."""
        first, second = self.states["scores"][0]
        return int(first), int(second)

    @property
    def games(self) -> tuple[int, int]:
        """The game points of the match, by side (H11).

        Raises:
            AttributeError: a game of a family that has no matches.
        """
        if "games" not in (self.states.dtype.names or ()):
            raise AttributeError(f"{self.rules.name} has no matches and so no game points")
        first, second = self.states["games"][0]
        return int(first), int(second)

    @property
    def dealer(self) -> int:
        """The seat that deals."""
        return int(self.states["dealer"][0])

    @property
    def deals(self) -> int:
        """How many deals (in Table Top rounds) this episode has had."""
        return int(self.states["deals"][0])

    @property
    def result(self) -> int:
        """Of an ended episode: 1 if side 0 won, -1 if side 1 did, 0 if neither."""
        return int(single_entries(self.family).result(self.states, self.record))

    @property
    def events(self) -> list[Event]:
        """What was pegged by the last action, in order."""
        return read_log(self.log)

    def look(self, seat: int) -> None:
        """Write what ``seat`` may know into `views`, `obs` and `mask`."""
        self._observe(self.states, self.record, seat, self.views, self.obs, self.mask)

    def view(self, seat: int) -> np.void:
        """Return a copy of what ``seat`` may know, as a view record.

        Raises:
            ValueError: no such seat.
        """
        if seat not in range(self.players):
            raise ValueError(f"seat must be from 0 to {self.players - 1}, got {seat!r}")
        self.look(seat)
        record: np.void = self.views.copy()[0]
        return record

    def text(self, seat: int | None = None, name: str | None = None) -> str:
        """Return the game as text, as ``seat`` (by default the seat to move) may see it."""
        view = self.view(self.seat if seat is None else seat)
        told = read_log(self.log, include_zero=True)
        return self.family.text(view, self.rules, name or self.rules.name, self.deals, told)

    # --- moves ----------------------------------------------------------------------------------

    def step(self, action: int) -> list[Event]:
        """Act for the seat to move; return what was pegged.

        Args:
            action: any kind of whole number.

        Raises:
            EpisodeOverError: the episode is over.
            IllegalActionError: an illegal action; nothing has changed.
        """
        if self.over:
            raise EpisodeOverError("the episode is over: begin() starts another")
        if type(action) is not int:
            action = whole_action(action, self.family.actions)
        try:
            code = self.advance(action)
        except OverflowError:  # a number that no 64 bits hold is no action either
            code = ILLEGAL
        if code == ILLEGAL:
            raise IllegalActionError(self.family.why_illegal(self.view(self.seat), int(action)))
        return self.events

    @classmethod
    def from_notation(cls, text: str) -> Game:
        """Return the game of a position written by `notation`.

        Raises:
            ValueError: text that is no position.
        """
        position = parse_state(text)
        game = cls(position.rules, players=position.players, episode=position.episode)
        game.take(text)
        return game
