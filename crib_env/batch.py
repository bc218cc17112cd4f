"""`GameBatch`: many games of one kind side by side, without any RL library.

Code that loops over games uses it: learners' batches, duplicate deals, self-play, measurements. An
agent receives only views. The calling code also sees the states and the tally.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.arrays import Array, Doubles, whole_numbers
from crib_env.engine.entries import entries_of
from crib_env.engine.family import Family, episode_name, find_family
from crib_env.engine.record import LOG_SIZE, NO_DECKS, NONE, count_sides
from crib_env.engine.rng import seed_states
from crib_env.engine.show import show_table
from crib_env.errors import EpisodeOverError, IllegalActionError, whole_number
from crib_env.options import ResetOptions, check_seed, read_options, set_scores
from crib_env.policy import Actions, Agent, Views, ask_agent
from crib_env.rules import Rules, as_rules
from crib_env.supported_rules import ByIdentity, refuse_rules


def ahead_of_others(points: Array) -> Doubles:
    """Return the points of each side less the mean of the others', float64[..., sides]."""
    others = points.sum(axis=-1, keepdims=True) - points
    ahead: Doubles = points - others / (points.shape[-1] - 1)
    return ahead


class GameBatch:
    """N games in arrays, indexed by number.

    Args:
        rules: the rules of any game, or the name of a preset.
        n: the number of games.
        players: seats in a game; by default the fewest the rules allow.
        episode: the name of an episode of the family.
        seed: seeds the generators of all deals and cuts; game i deals the same for any n.
        family: the engine that plays them; by default that of the rules.

    Attributes:
        family: the engine that plays them. record: the rules as its record.
        states: the full states, records [N] of the family's ``state``.
        decks: int64[D, 52], all given decks; a game uses those from its state's ``given`` up to
            ``given_end``.
        log: the points of the last game stepped; see `crib_env.engine.record`.
        sides: int64[players], the side of each seat; seats of one side score together.
        tally: int64[N, sides, 3], points made by side and phase (the family's ``phases``) since the
            episode began.
        on_step: ``on_step(game, seat, log)``, called after each step of a game; None for none.
    """

    def __init__(
        self,
        rules: str | Rules,
        n: int,
        *,
        players: int | None = None,
        episode: str = "game",
        seed: int | np.random.SeedSequence | None = None,
        family: Family | None = None,
    ) -> None:
        self.rules = as_rules(rules)
        self.family = family or find_family(self.rules.family)
        self.episode = episode_name(episode, self.family.episodes)
        self.n = n = whole_number("n", n, 0)
        self.record = self.family.rules_record(self.rules, self.episode, players)
        self.states = np.zeros(n, dtype=self.family.state)
        self.sides = np.array(self.rules.sides_for(players))
        self.players = len(self.sides)
        tally = n, count_sides(self.sides), len(self.family.phases)
        self.tally = np.zeros(tally, dtype=np.int64)
        self.log = np.zeros(LOG_SIZE, dtype=np.int64)
        self.decks = NO_DECKS
        self.on_step: Callable[[int, int, Array], None] | None = None
        self._checked: ByIdentity[bool] = ByIdentity()  # agents that play by the rules
        self.seed(seed)

    def seed(self, seed: int | np.random.SeedSequence | None) -> None:
        """Seed the generator of every game, without beginning an episode."""
        if not isinstance(seed, np.random.SeedSequence):
            seed = np.random.SeedSequence(check_seed(seed))
        seed_states(self.states, seed)

    def reset(
        self,
        games: Array | None = None,
        *,
        dealer: int | None = None,
        decks: Array | None = None,
        scores: tuple[int, ...] | None = None,
    ) -> None:
        """Begin an episode in ``games``, by default in all.

        Args:
            games: whole numbers [K], each once.
            dealer: the seat that deals first; None to cut for it.
            decks: int64[D, 52], for the first deals of each of these games.
            scores: each side's starting score; by default that of the rules.

        Raises:
            ValueError: invalid games, dealer, decks or scores; nothing has changed then.
        """
        options = {"dealer": dealer, "decks": decks, "scores": scores}
        chosen = read_options(options, self.sides, self.rules.target)  # compiled code does not check them
        if games is not None:
            games = whole_numbers("games", games, self.n)
        if decks is not None:
            k = self.n if games is None else len(games)
            self.reset_each([chosen] * k, games)
            return
        if games is None:
            games = np.arange(self.n)
            self.decks = NO_DECKS
            self.states["given"] = self.states["given_end"] = 0
        self.states["given"][games] = self.states["given_end"][games]
        self._start(games, np.full(len(games), NONE if dealer is None else dealer))
        if scores is not None:
            self._set_scores(games, scores)

    def reset_each(self, options: Sequence[ResetOptions], games: Array | None = None) -> None:
        """Begin an episode in each of ``games`` (by default all), with the options of each."""
        games = np.arange(self.n) if games is None else whole_numbers("games", games, self.n)
        starts, ends = self.states["given"], self.states["given_end"]
        starts[games] = ends[games]
        others = np.flatnonzero(starts < ends)  # these still deal from the decks they were given
        keys: list[Any] = list(zip(starts[others].tolist(), ends[others].tolist(), strict=True))
        decks: dict[Any, Array] = {span: self.decks[slice(*span)] for span in keys}
        decks |= {id(one.decks): one.decks for one in options}
        keys += [id(one.decks) for one in options]
        begins = dict(zip(decks, np.cumsum([0, *map(len, decks.values())]), strict=False))
        lanes = np.concatenate([others, games])
        starts[lanes] = [begins[key] for key in keys]
        ends[lanes] = starts[lanes] + [len(decks[key]) for key in keys]
        self.decks = np.concatenate([NO_DECKS, *decks.values()])
        dealers = np.array([NONE if one.dealer is None else one.dealer for one in options], dtype=np.int64)
        self._start(games, dealers)
        scored = [k for k, one in enumerate(options) if one.scores is not None]
        if scored:
            self._set_scores(games[scored], np.array([options[k].scores for k in scored]))

    def _start(self, games: Array, dealers: Array) -> None:
        start = entries_of(self.family).begin_games
        start(self.states, self.record, self.decks, games, dealers, self.log)
        self.tally[games] = 0

    def _set_scores(self, games: Array, scores: npt.ArrayLike) -> None:
        begun = self.states[games]
        set_scores(begun, scores)
        self.states[games] = begun

    def copies(self, games: npt.ArrayLike) -> GameBatch:
        """Return a batch of copies of games in their present state, with a tally of 0.

        This batch does not change. A copy deals the same cards as its game; it has no ``on_step``.

        Args:
            games: whole numbers [K], which may repeat.

        Raises:
            ValueError: no such games.
        """
        found = copy.copy(self)
        found.states = self.states[whole_numbers("games", games, self.n)]
        found.n = len(found.states)
        found.tally = np.zeros((found.n, *self.tally.shape[1:]), dtype=np.int64)
        found.log = np.zeros_like(self.log)
        found.on_step = None
        return found

    def running(self, games: Array | None = None) -> Array:
        """Return those of ``games`` (by default all) whose episode is not over, int64[K]."""
        if games is None:
            games = np.arange(self.n)
        running: Array = games[self.states["over"][games] == 0]
        return running

    def movers(self, games: Array) -> Array:
        """Return the seat to move in each game, int64[K]."""
        movers: Array = self.states["to_move"][games]
        return movers

    def views(self, games: Array, seats: Array | None = None) -> Views:
        """Return the view of a seat of each game: ``seats[k]``, by default the seat to move.

        Returns:
            records [K] of the family's ``view``.

        Raises:
            ValueError: no such game or seat, or not one seat for each game.
        """
        games = whole_numbers("games", games, self.n)
        views = np.zeros(len(games), dtype=self.family.view)
        seats = self.movers(games) if seats is None else whole_numbers("seats", seats, self.players)
        if len(seats) != len(games):
            raise ValueError(f"got {len(seats)} seats for {len(games)} games: give one each")
        entries_of(self.family).view_games(self.states, self.record, games, seats, views)
        return views

    def step(self, games: Array, actions: Actions) -> int | None:
        """Take ``actions[k]`` in game ``games[k]``, one after the other.

        Args:
            games: whole numbers [K], whose episodes are not over. actions: whole numbers [K].

        Returns:
            None, or the first k whose action is illegal: games before it have been stepped.

        Raises:
            ValueError: no such games, no whole numbers, or more or fewer actions than games;
                nothing has changed then.
        """
        games, actions = whole_numbers("games", games, self.n), whole_numbers("actions", actions)
        if len(games) != len(actions):
            raise ValueError(f"got {len(actions)} actions for {len(games)} games: give one each")
        if self.on_step is not None and len(games) > 1:
            for k in range(len(games)):
                if self.step(games[k : k + 1], actions[k : k + 1]) is not None:
                    return k
            return None
        movers = self.movers(games) if self.on_step is not None else games
        bad = entries_of(self.family).step_games(
            self.states, self.record, self.decks, show_table(), games, actions, self.log, self.tally
        )
        if bad == NONE and self.on_step is not None and len(games):
            self.on_step(int(games[0]), int(movers[0]), self.log)
        return None if bad == NONE else int(bad)

    def step_legal(self, games: Array, actions: Actions) -> None:
        """Step with actions that the caller knows to be legal; see `step`.

        Raises:
            IllegalActionError: one is illegal; games before it have been stepped.
        """
        bad = self.step(games, actions)
        if bad is not None:
            raise IllegalActionError(self.why_illegal(int(games[bad]), int(actions[bad])))

    def why_illegal(self, game: int, action: int) -> str:
        """Return why ``action`` is not legal for the seat to move in a game, as a sentence."""
        view = self.views(np.array([game]))[0]
        return self.family.why_illegal(view, int(action))

    def ask(self, agent: Agent, games: Array, rng: np.random.Generator) -> None:
        """Step each game with the action of ``agent`` for the seat to move.

        Raises:
            EpisodeOverError: a game has no running episode.
            TypeError: ``agent`` is no `Agent`.
            ValueError: it does not play by these rules, or did not return an integer for each view.
            IllegalActionError: one of its actions is illegal. The last two name the agent.
        """
        if not len(games):
            return
        states = self.states
        ended = np.flatnonzero((states["over"][games] != 0) | (states["deals"][games] == 0))
        if len(ended):
            raise EpisodeOverError(f"game {games[ended[0]]} has no running episode: call reset()")
        if not self._checked.get(agent):
            if not isinstance(agent, Agent):
                raise TypeError(f"an agent has a name and act(views, rng), got {agent!r}: find_agent makes one")
            refuse_rules(agent, self.rules, self.episode)
            self._checked.put(agent, True)
        actions = ask_agent(agent, self.views(games), rng)
        bad = self.step(games, actions)
        if bad is not None:
            why = self.why_illegal(int(games[bad]), int(actions[bad]))
            raise IllegalActionError(f"{agent.name!r} failed: {why}")

    def play(self, agent: Agent, rng: np.random.Generator) -> Iterator[Array]:
        """Play every game to its end with ``agent`` in every seat.

        Yields:
            the games stepped in each round of decisions, int64[K].
        """
        games = self.running()
        while len(games):
            self.ask(agent, games, rng)
            yield games
            games = self.running(games)

    def returns(self) -> Array:
        """Return each seat's return in each game, float64[N, players]; see `Game.returns`."""
        return entries_of(self.family).returns(self.states, self.record)


def usable_cores() -> int:
    """Return how many cores this process may use, which can be fewer than the machine has."""
    if hasattr(os, "process_cpu_count"):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
