"""`Game`: one game of any kind, without any RL library.

    >>> from crib_env import Game
    >>> game = Game("five_card", seed=3)
    >>> game.seat, len(game.legal_actions)
    (0, 5)
    >>> game.step(game.legal_actions[0])
    []
    >>> while not game.over:
    ...     pegged = game.step(game.legal_actions[0])
    >>> max(game.scores)
    61
    >>> Game.from_notation(game.notation()) == game
    True

`push` makes a move and `pop` takes it back; `notation` writes the position, `svg` draws it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from crib_env.arrays import Array
from crib_env.engine.entries import ILLEGAL, entries_of
from crib_env.engine.family import Family, episode_name, find_family
from crib_env.engine.record import LOG_SIZE, NO_DECKS, NONE, count_sides
from crib_env.engine.rng import seed_states
from crib_env.engine.show import show_table
from crib_env.errors import EpisodeOverError, IllegalActionError, check_choice, is_whole
from crib_env.events import Event, read_log
from crib_env.notation import Position, canonical, format_state, parse_state
from crib_env.options import ResetOptions, check_seed, forget_for_last, read_options, set_scores
from crib_env.policy import whole_action
from crib_env.render.svg.document import Scene, document, framed
from crib_env.rules import Rules, as_rules


class Snapshot(NamedTuple):
    """A position of a game for `Game.restore`, with the log of its last action and given decks."""

    position: Position
    log: Array
    decks: Array


class Game:
    """One game.

    Two games are equal if their rules, episode, players and positions are, generators included.
    ``repr(game)`` is a call that rebuilds the position. Neither includes the rest of given decks,
    the moves that `pop` would take back, or points not yet paid as rewards.

    Args:
        rules: the name of a preset, such as ``"hoyle"`` or ``"hoyle[target=91]"``, or `Rules`.
        players: seats; by default the fewest the rules allow.
        episode: the name of an episode of the family, such as ``"game"`` or ``"deal"``.
        seed: seeds the generator of all deals and cuts; None takes fresh entropy.
        family: the engine that plays it; by default that of the rules.

    Attributes:
        rules: as given, like ``players``, ``episode`` and ``family``.
        sides: the side of each seat; seats of one side score together.
    """

    advance: Callable[[int], int]  # the compiled step; overwrites the arrays it is bound to

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
        self.family: Family = family or find_family(self.rules.family)
        self.episode = episode_name(episode, self.family.episodes)
        self.record = self.family.rules_record(self.rules, self.episode, players)  # rules, [1]
        self.sides = self.rules.sides_for(players)
        self.players = len(self.sides)
        self.states = np.zeros(1, dtype=self.family.state)  # the full state, [1]
        self.log = np.zeros(LOG_SIZE, dtype=np.int64)  # points of the last action
        self.obs = np.zeros(self.family.obs_size, dtype=np.uint8)  # of the seat to move
        self.mask = np.zeros(self.family.actions, dtype=np.int8)  # its legal actions
        self.margins = np.zeros(self.players, dtype=np.int64)  # `gains` by seat, in units
        self.unit = self.family.units(self.record)  # units in a point
        self.decks: Array = NO_DECKS  # int64[D, 52], given to `reset`
        self._views = np.zeros(1, dtype=self.family.view)  # the view that `obs` encodes
        self._before_moves: list[Snapshot] = []  # positions before the moves that pop takes back
        self._bind()
        self.seed(np.random.SeedSequence(check_seed(seed)))
        self._reset(ResetOptions())

    def _bind(self) -> None:
        """Bind the compiled step to the arrays. Neither copies nor pickles carry it."""
        game = self.states, self.record, self.decks, show_table(), self.log
        step = entries_of(self.family).step.unchecked
        self.advance = partial(step, *game, self._views, self.obs, self.mask, self.margins)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "advance"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def __repr__(self) -> str:
        try:
            return f"{type(self).__name__}.from_notation({self.notation()!r})"
        except ValueError as error:  # its state was edited by hand
            return f"<{type(self).__name__}: {error}>"

    def __str__(self) -> str:
        return self.text()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        ours, theirs = (
            (game.rules, game.episode, game.players, canonical(game.states).tobytes()) for game in (self, other)
        )
        return ours == theirs

    # --- episodes -------------------------------------------------------------------------------

    def seed(self, seed_seq: np.random.SeedSequence) -> None:
        """Seed the generator of all deals and cuts, without beginning an episode."""
        seed_states(self.states, seed_seq)

    def reset(self, *, seed: int | None = None, **options: Any) -> None:
        """Begin an episode.

        Args:
            seed: seeds the generator of all deals and cuts; None continues with it.
            options: ``decks``, ``dealer`` and ``scores``: see `crib_env.options.read_options`.

        Raises:
            ValueError: an invalid seed or option; nothing has changed then.
        """
        seed = check_seed(seed)
        chosen = read_options(options, self.sides, self.rules.target)
        if seed is not None:
            self.seed(np.random.SeedSequence(seed))
        self._reset(chosen)

    def _reset(self, chosen: ResetOptions) -> None:
        """Begin an episode with options that have been checked."""
        self.states["given"], self.states["given_end"] = 0, len(chosen.decks)
        dealer = NONE if chosen.dealer is None else chosen.dealer
        begin = entries_of(self.family).begin.unchecked
        begin(self.states, self.record, chosen.decks, dealer, self.log)
        if chosen.scores is not None:
            set_scores(self.states, chosen.scores)
            forget_for_last(self.log)
        self._before_moves.clear()
        self._go_on(self.log, chosen.decks)

    def _go_on(self, log: Array, decks: Array) -> None:
        """Continue from a new position, dealing from ``decks``."""
        if log is not self.log or decks is not self.decks:
            self.log, self.decks = log, decks
            self._bind()
        self.margins[:] = 0
        observe = entries_of(self.family).observe.unchecked
        observe(self.states, self.record, self.seat, self._views, self.obs, self.mask)

    # --- the position and its observations ------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether the episode is over."""
        return bool(self.states["over"][0])

    @property
    def seat(self) -> int:
        """The seat to move; after the end, the one that would be."""
        return int(self.states["to_move"][0])

    @property
    def legal_actions(self) -> list[int]:
        """The legal actions of the seat to move, ascending; none after the end."""
        legal: list[int] = [] if self.over else self.mask.nonzero()[0].tolist()
        return legal

    @property
    def scores(self) -> tuple[int, ...]:
        """The scores of the present game, by side."""
        return self._by_side("scores")

    @property
    def match_score(self) -> tuple[int, ...]:
        """The game points of the match, by side (H11); an AttributeError where there are none."""
        if "match_score" not in (self.states.dtype.names or ()):
            raise AttributeError(f"{self.rules.name} has no matches and so no game points")
        return self._by_side("match_score")

    def _by_side(self, field: str) -> tuple[int, ...]:
        return tuple(self.states[field][0, : count_sides(self.sides)].tolist())

    @property
    def dealer(self) -> int:
        """The seat that deals."""
        return int(self.states["dealer"][0])

    @property
    def deals(self) -> int:
        """How many deals (in Table Top rounds) this episode has had."""
        return int(self.states["deals"][0])

    @property
    def returns(self) -> list[float]:
        """The return of each seat, such as 1.0 and -1.0; all 0.0 until the episode's end."""
        return list(map(float, entries_of(self.family).returns(self.states, self.record)[0]))

    @property
    def gains(self) -> list[float]:
        """The last action's points of each seat's side, less the mean of the others'."""
        return [margin / self.unit for margin in self.margins.tolist()]

    @property
    def events(self) -> list[Event]:
        """The points pegged by the last action, in order."""
        return read_log(self.log, sides=self.sides)

    def view(self, seat: int) -> np.void:
        """Return what ``seat`` may know, as a view record.

        Raises:
            ValueError: no such seat.
        """
        self.observe(seat)
        view: np.void = self._views.copy()[0]
        return view

    def observe(self, seat: int) -> tuple[Array, Array]:
        """Return the observation of ``seat`` and the mask of its legal actions, new arrays.

        Returns:
            uint8[obs_size], then int8[actions], all zeros unless the seat is to move.

        Raises:
            ValueError: no such seat.
        """
        if not is_whole(seat) or seat not in range(self.players):
            raise ValueError(f"seat must be from 0 to {self.players - 1}, got {seat!r}")
        obs, mask = self.obs.copy(), self.mask.copy()  # overwritten
        observe = entries_of(self.family).observe.unchecked
        observe(self.states, self.record, seat, self._views, obs, mask)
        return obs, mask

    def hand(self, view: np.void) -> list[int]:
        """Return the ids of the cards that the seat of a view holds.

        In Table Top that is the card in turn, and nothing while another seat is to move.
        """
        return self.family.hand(view)

    def text(self, seat: int | None = None, name: str | None = None) -> str:
        """Return the game as text, as ``seat`` (by default the seat to move) may see it."""
        view = self.view(self.seat if seat is None else seat)
        events = read_log(self.log, include_zero=True)
        return self.family.text(view, self.rules, name or self.rules.name, self.deals, events)

    def svg(
        self,
        seat: int | None = None,
        *,
        knows: str = "seat",
        theme: str = "auto",
        names: Sequence[str] | None = None,
        title: str | None = None,
    ) -> str:
        """Return the game as a self-contained SVG.

        Args:
            seat: the seat drawn below; by default the seat to move.
            knows: the cards shown: ``"seat"``, those that this seat may know; ``"seats"``, those
                known to any seat; ``"all"``, for a spectator, also the starter before it is turned.
            theme: ``"light"``, ``"dark"`` or ``"auto"``, which follows the reader's system.
            names: the players' names, by seat; by default ``player_0`` and so on.
            title: the heading; by default the rules' name.

        Raises:
            ValueError: an invalid seat, ``knows`` or theme, or not a name for each seat.
        """
        parts = self.drawing(seat, knows=knows, names=names, title=title)
        return document(parts, title or self.rules.name, theme)

    def drawing(
        self,
        seat: int | None = None,
        *,
        knows: str = "seat",
        names: Sequence[str] | None = None,
        title: str | None = None,
    ) -> list[str]:
        """Return the parts of the drawing, which `crib_env.render.svg.document` puts together.

        Args:
            seat, knows, names, title: as for `svg`.
        """
        check_choice("knows", knows, ("seat", "seats", "all"))
        names = [f"player_{p}" for p in range(self.players)] if names is None else names
        if len(names) != self.players:
            raise ValueError(f"names must be {self.players}, one a seat, got {names!r}")
        seat = self.seat if seat is None else seat
        others = [p for p in range(self.players) if p != seat] if knows != "seat" else []
        hidden = self.family.hidden_card(self.states[0]) if knows == "all" else NONE
        scene = Scene(
            self.rules,
            title or self.rules.name,
            self.deals,
            tuple(names),
            tuple(self.events),
            hidden=None if hidden == NONE else hidden,
        )
        return self.family.draw([self.view(p) for p in (seat, *others)], scene)

    def _repr_html_(self) -> str:
        return framed(self.svg())

    # --- moves ----------------------------------------------------------------------------------

    def step(self, action: int) -> list[Event]:
        """Act for the seat to move; return the points pegged.

        Args:
            action: any kind of whole number.

        Raises:
            EpisodeOverError: the episode is over.
            IllegalActionError: an illegal action; nothing has changed.
        """
        if self.over:
            raise EpisodeOverError("the episode is over: reset() starts another")
        if type(action) is not int:
            action = whole_action(action, self.family.actions)
        try:
            code = self.advance(action)
        except OverflowError:  # a number beyond 64 bits is illegal too
            code = ILLEGAL
        if code == ILLEGAL:
            raise IllegalActionError(self.family.why_illegal(self.view(self.seat), int(action)))
        return self.events

    def push(self, action: int) -> None:
        """Make a move that `pop` takes back: for search, as in python-chess.

        Raises:
            EpisodeOverError, IllegalActionError: as `step`.
        """
        before = self.snapshot()
        self.step(action)
        self._before_moves.append(before)

    def pop(self) -> None:
        """Take back the last move made by `push`.

        Raises:
            IndexError: there is none since the beginning of the episode.
        """
        if not self._before_moves:
            raise IndexError("there is no move to take back: push() makes one")
        self._set(self._before_moves.pop())

    # --- positions ------------------------------------------------------------------------------

    def copy(self) -> Self:
        """Return a copy of the game, its generator included."""
        return copy.deepcopy(self)

    def snapshot(self) -> Snapshot:
        """Return the position, its generator included, for `restore`; play does not change it."""
        position = Position(self.states.copy(), self.rules, self.episode, self.players)
        return Snapshot(position, self.log.copy(), self.decks)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a position taken by `snapshot`; `pop` takes back only later moves.

        Raises:
            ValueError: a snapshot of other rules, episode or players; nothing has changed then.
        """
        if not isinstance(snapshot, Snapshot):
            raise ValueError(f"restore() takes what snapshot() returned, got {snapshot!r}")
        snapshot.position.refuse_other(self)
        self._before_moves.clear()
        self._set(snapshot)

    def _set(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot of this game."""
        self.states[:] = snapshot.position.state
        self._go_on(snapshot.log.copy(), snapshot.decks)

    def notation(self) -> str:
        """Return the position as one line of text; see `crib_env.notation`."""
        return format_state(self.states, self.rules, self.episode)

    @classmethod
    def from_notation(cls, text: str) -> Self:
        """Return the game of a position written by `notation`.

        Raises:
            ValueError: text that is no position.
        """
        position = parse_state(text)
        game = cls(position.rules, players=position.players, episode=position.episode)
        game.restore(game._at(position))
        return game

    def parse(self, text: str) -> Snapshot:
        """Return a position written by `notation`, for `restore`; given decks are not part of it.

        A text without a generator keeps this game's.

        Raises:
            ValueError: text that is no position, or one of another game.
        """
        position = parse_state(text)
        position.refuse_other(self)
        return self._at(position)

    def _at(self, position: Position) -> Snapshot:
        """Return a position for `restore`, with this game's generator if it has none."""
        if not position.state["rng"].any():
            position.state["rng"] = self.states["rng"]
        return Snapshot(position, np.zeros_like(self.log), NO_DECKS)

    def set_position(self, text: str) -> None:
        """Set a position of this game, as `parse` returns it.

        Raises:
            ValueError: text that is no position, or one of another game; nothing has changed then.
        """
        self.restore(self.parse(text))
