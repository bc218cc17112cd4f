"""N games of one learner against an opponent: the core of the Gymnasium, vector and SB3 shells.

A `Stepper` plays them in compiled code, on one thread or several. A compiled opponent plays inside
one pass over the games. Where a policy plays a phase of the deal, or opponents differ from game to
game, they take turns between passes. If one of them runs in Python, all are called from Python,
each with a batch of its games. The results are the same, action by action; a test compares them.
The entries are those of `crib_env.engine.learners`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from crib_env.arrays import Array, Bools, Doubles, whole_numbers
from crib_env.batch import GameBatch, usable_cores
from crib_env.engine import learners
from crib_env.engine.acts import array_of_agents
from crib_env.engine.family import Family
from crib_env.engine.jit import Entry
from crib_env.engine.record import LOG_SIZE, NONE, count_sides, log_size
from crib_env.engine.show import show_table
from crib_env.envs.config import EnvConfig, EnvSettings, Setting
from crib_env.envs.opponents import Member, Opponents, OpponentSpec, RngStreams, parse_opponents
from crib_env.envs.spaces import Masking
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.events import Event, read_log
from crib_env.options import ResetOptions, forget_for_last
from crib_env.policy import Agent, CompiledAgent, blame
from crib_env.supported_rules import refuse_rules

LANES_PER_THREAD = 2048  # fewer games are not worth a thread
MOST_PEGGED = 64  # rows of the log between two decisions of a learner: more than there can be
LARGEST_ACTION = int(np.iinfo(np.int64).max)  # the info shows larger ones as this

# The info of a game that has not ended.
UNDECIDED = {"winner": np.int64(NONE), "skunk": np.int64(0), "illegal_action": np.int64(NONE)}

ENOUGH = 20  # episodes ended by illegal actions, before a warning
FORGOTTEN = (
    "{illegal} of {ended} episodes have ended at an illegal action (reward {reward:g}, often at "
    "the first step): has the mask been forgotten? The legal actions are in info['action_mask'] "
    "and in env.unwrapped.action_masks(): choose among them, as sb3-contrib's MaskablePPO does, or "
    "draw one by crib_env.sample_legal; mask_in_observation=True puts them into the observation; "
    "for a learner that takes no mask, on_illegal='random' plays a legal action instead"
)


class LearnerBatch:
    """N games in which one seat is the learner's and an opponent plays the others.

    The arrays are overwritten by every step. With ``autoreset`` a new episode begins at once where
    one ended. A single game can set ``keeps_events`` to log the pegging between decisions.
    """

    def __init__(self, config: EnvConfig, *, autoreset: bool = True, keeps_events: bool = False) -> None:
        self.config = config
        self.num_envs = n = config.num_envs
        self.threads = config.threads or max(1, min(usable_cores(), n // LANES_PER_THREAD))
        self.family = family = config.family
        self.games = GameBatch(config.rules, n, players=config.players, episode=config.episode, family=family)
        self.states = self.games.states
        self.sides = sides = self.games.sides
        self.opponents = Opponents(n, self.members(config.opponent))
        self.autoreset = autoreset
        self.points = config.reward != "win"
        self.keeps_events = keeps_events
        self.lanes = np.arange(n)
        self.seats = np.full(n, config.seat or 0, dtype=np.int64)  # the learners'
        self.actions = np.full(n, NONE)  # the learners' last, as given; -1 for any below 0
        self.illegal = np.full(n, NONE)  # those that were replaced; NONE elsewhere, BELOW for -1
        # The learners', without features; `final_obs` is the ended episode's, where `dones`.
        self.obs = np.zeros((n, family.obs_size), dtype=np.uint8)
        self.masks = np.zeros((n, family.actions), dtype=np.int8)
        self.final_obs = np.zeros_like(self.obs)
        self.final_opponents = np.zeros(n, dtype=np.int64)  # of the last step's episode, by number
        # Written where `dones`; see `crib_env.engine.learners`.
        self.endings = np.zeros((n, learners.SCORES + count_sides(sides)), dtype=np.int64)
        history = log_size(MOST_PEGGED) if keeps_events else 0
        self.logs = np.zeros((self.threads, LOG_SIZE + history), dtype=np.int64)
        self.rewards = np.zeros(n)
        self.dones = np.zeros(n, dtype=np.bool_)
        self._nowhere = np.zeros(n, dtype=np.bool_)
        self.masking = Masking(config)
        self.observations, self.final_observations = self.obs, self.final_obs
        if config.features:
            self.observations = np.zeros((n, family.obs_size + family.features.size), dtype=np.float32)
            self.final_observations = np.zeros_like(self.observations)
            self._looked = np.zeros(1, dtype=family.view)
        self.chance = RngStreams(n)
        self._ended_n = self._illegal_n = 0  # episodes ended, and those by illegal actions
        self._warned = False
        self.final_opponents[:] = self.opponents.playing
        self._seeded = False
        self._running = False
        self._bind()

    def _bind(self) -> None:
        """Set the attributes that neither copies nor pickles carry."""
        self.games.log = self.logs[0]
        scores: Array = self.states["scores"]
        self.scores = scores[:, : count_sides(self.sides)]
        self.history = self.logs[0, LOG_SIZE:]
        self._stepper = choose_stepper(self)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_stepper"], state["history"], state["scores"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.states = self.games.states
        self._bind()

    def seed(self, seed: int | Sequence[int | None] | None) -> None:
        """Start every generator."""
        if isinstance(seed, Sequence):
            if not self._seeded:
                self.seed(None)
            self.chance.seed_each(seed, self.states)
        else:
            self.games.seed(self.chance.seed(seed))
        self._seeded = True

    def reset(self, options: Sequence[ResetOptions] | None = None, lanes: Array | None = None) -> None:
        """Begin an episode in games ``lanes``, or in all, up to the learner's first decision."""
        if lanes is not None and not self._running:
            raise EpisodeOverError("a reset of some games before one of all: call reset() first")
        if not self._seeded:
            self.seed(None)
        self._running = False
        begun = self.lanes if lanes is None else lanes
        self.illegal[begun] = NONE
        self.history[:1] = 0
        if options is None:
            self.games.reset(lanes)
        else:
            self.games.reset_each(options, lanes)
            if options[0].scores is not None and self.keeps_events:
                forget_for_last(self.history)
        self.draw_seats(begun)
        self.opponents.draw(self.chance.share_rngs, begun)
        self._run(np.full(self.num_envs, learners.CONTINUE, dtype=np.int64))
        self.dones[:] = False

    def step(self, actions: Array, resets: Bools | None = None) -> None:
        """Act in each game, or where ``resets`` (bool[N]) begin an episode; set the attributes."""
        if not self._running:
            raise EpisodeOverError("step() without running episodes: call reset() first")
        given = np.asarray(actions)
        kind = given.dtype.kind
        if given.shape != (self.num_envs,) or kind not in "iu":
            raise ValueError(
                f"actions must be {self.num_envs} whole numbers, one a game, got shape {given.shape} of {given.dtype}"
            )
        on_illegal = self.config.on_illegal
        if on_illegal == "raise":
            inside = (given >= 0) & (given < self.family.actions)
            legal = self.masks[self.lanes, np.where(inside, given, 0)].astype(np.bool_) & inside
            legal |= self._nowhere if resets is None else resets
            if not legal.all():
                lane = int(np.flatnonzero(~legal)[0])
                why = self.family.why_illegal(self.view(lane), int(given[lane]))
                raise IllegalActionError(why if self.num_envs == 1 else f"game {lane}: {why}")
        # Any number below 0 becomes -1, so that callers cannot pass CONTINUE.
        if kind == "u":
            given = np.minimum(given, np.uint64(LARGEST_ACTION))
        given = np.maximum(given, -1, dtype=np.int64)
        if resets is not None and resets.any():
            lanes = self.lanes[resets]
            self.states["given"][lanes] = self.states["given_end"][lanes]  # these decks are for the first episode
            self.games.reset(lanes)
            self.draw_seats(lanes)
            self.opponents.draw(self.chance.share_rngs, lanes)
            given[resets] = learners.CONTINUE
        self.actions = given
        if on_illegal == "random":
            given = given.copy()
            learners.replace_illegal(self.masks, self.chance.illegal_rngs, given, self.illegal)
        if self.keeps_events:
            self.history[0] = 0
        if len(self.opponents.members) > 1:
            self.final_opponents[:] = self.opponents.playing
        self._run(given)

    def _run(self, actions: Array) -> None:
        """Play; after any failure, the episodes are over until the next reset."""
        self._running = False
        self._stepper.run(self, actions)
        self._running = True
        self._observe_features()

    @property
    def compiled(self) -> bool:
        """True if all opponents and policies run compiled."""
        return self._stepper.compiled

    @property
    def begun(self) -> bool:
        """Whether there has been an episode yet."""
        return bool(self.states["deals"][0])

    @property
    def events(self) -> list[Event]:
        """The points pegged since the learner's last decision, in order, if they are kept."""
        return read_log(self.history, sides=self.sides.tolist())

    def ended(self) -> dict[str, Array]:
        """Return the info of the episodes that have just ended (see `CribbageEnv`), 0 elsewhere.

        Arrays [N], ``scores`` [N, sides]. If illegal actions keep ending episodes, warns once.
        """
        dones = self.dones
        summary = np.zeros((self.num_envs, self.endings.shape[1] + 1), dtype=np.int64)
        illegal = learners.summarize_episodes.unchecked(
            dones, self.endings, self.actions, self.config.rules.target, summary
        )
        self._ended_n += int(np.count_nonzero(dones))
        self._illegal_n += illegal
        if not self._warned and self._illegal_n >= ENOUGH and 2 * self._illegal_n >= self._ended_n:
            self._warned = True
            message = FORGOTTEN.format(illegal=self._illegal_n, ended=self._ended_n, reward=self.config.illegal_reward)
            warnings.warn(message, stacklevel=3)
        replaced = dones & (self.illegal != NONE)
        return {
            "scores": summary[:, learners.SCORES : -1],
            "winner": summary[:, learners.WINNER],
            "skunk": self.config.rules.skunks(summary[:, -1]),
            "seat": summary[:, learners.SEAT],
            "opponent": np.where(dones, self.final_opponents, 0),
            "illegal_action": np.where(replaced, self.illegal, summary[:, learners.ILLEGAL]),
        }

    def set_opponent(self, opponent: OpponentSpec, games: Iterable[int] | None = None) -> None:
        """Replace the opponent at once, also in running games."""
        given: Any = list(games) if isinstance(games, Iterable) else games
        chosen = self.lanes if games is None else np.unique(whole_numbers("games", given, self.num_envs))
        self.put(self.members(opponent), chosen)

    def put(self, members: Sequence[Member], lanes: Array) -> None:
        """Set the opponents of games, int64[K]; of several, each game draws one."""
        self.opponents.put(members, lanes)
        self.opponents.draw(self.chance.share_rngs, lanes)
        self.final_opponents[:] = self.opponents.playing
        self._bind()

    def members(self, given: OpponentSpec) -> list[Member]:
        """Return the given opponents, checked against the rules of these games."""
        members = parse_opponents(given)
        for member in members:
            refuse_rules(member.agent, self.config.rules, self.config.episode)
            compiled_player(member.agent, self.family)  # or raise an error
        return members

    def view(self, lane: int) -> np.void:
        """Return the view record of a game's learner."""
        lanes = np.array([lane])
        record: np.void = self.games.views(lanes, self.seats[lanes])[0]
        return record

    def _observe_features(self) -> None:
        """Write the observations with features, if they have any; an ended episode's are all 0."""
        if not self.config.features:
            return
        ended = self._nowhere if self.autoreset else self.dones
        learners.learner_entries(self.family).observe_features(
            self.states, self.games.record, show_table(), self._looked, self.seats, ended, self.obs, self.observations
        )
        self.final_observations[self.dones, : self.family.obs_size] = self.final_obs[self.dones]

    def draw_seats(self, lanes: Array) -> None:
        """Draw the learner's seat in each game of ``lanes``, unless the seat is fixed."""
        if self.config.seat is None:
            learners.learner_entries(self.family).draw_seats(self.states, self.games.record, lanes, self.seats)


class Player(NamedTuple):
    """A compiled agent, its function and its weights."""

    agent: CompiledAgent
    act: Entry
    weights: Doubles


def compiled_player(agent: Agent, family: Family) -> Player | None:
    """Return the agent as compiled code; None if it acts in Python."""
    if not isinstance(agent, CompiledAgent) or (act := agent.compiled_for(family)) is None:
        return None
    return Player(agent, act, agent.kernel_weights())


def choose_stepper(batch: LearnerBatch) -> Stepper:
    """Return a `PythonStepper` if any player acts in Python or is a partner, else a `Stepper`."""
    players = [compiled_player(agent, batch.family) for agent in batch.opponents.agents]
    opponents = [player for player in players if player is not None]
    phase = batch.config.phase_policy
    policy = None if phase is None else compiled_player(phase.agent, batch.family)
    asked = len(opponents) < len(players) or (phase is not None and policy is None)
    if asked or batch.config.partner is not None:
        return PythonStepper(batch)
    return Stepper(batch, opponents, policy)


class Stepper:
    """Steps the games of a batch in compiled code, on its threads.

    A single opponent plays in the pass that steps the learners. Several opponents, and the policy
    of a phase, have separate passes.
    """

    compiled = True

    def __init__(self, batch: LearnerBatch, opponents: Sequence[Player] = (), policy: Player | None = None) -> None:
        n, self.threads = batch.num_envs, batch.threads if self.compiled else 1
        phase = batch.config.phase_policy
        self.opponents = opponents
        self.policy = policy
        self._players = [*opponents, *([] if policy is None else [policy])]
        self.phase = NONE if phase is None else phase.phase
        self._waiting = np.empty(n, dtype=np.int64)
        self._table = show_table()
        self._views = np.zeros((self.threads, 1), dtype=batch.family.view)
        self._bounds = np.linspace(0, n, self.threads + 1).astype(int).tolist()
        self._start_pool()

    def _start_pool(self) -> None:
        self._process = os.getpid()
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def run(self, batch: LearnerBatch, actions: Array) -> None:
        """Play the actions, int64[N], and the other seats' up to the learner's next decision."""
        if self._pool is None:
            self._run_range(batch, actions, 0, 0, self._bounds[1])
            return
        if os.getpid() != self._process:  # a fork copies the pool but not its threads
            self._start_pool()
        lo = self._bounds
        jobs = [self._pool.submit(self._run_range, batch, actions, t, lo[t], lo[t + 1]) for t in range(1, self.threads)]
        try:
            self._run_range(batch, actions, 0, lo[0], lo[1])
        finally:
            wait(jobs)  # also if one of them fails: no thread writes after this call
        for job in jobs:
            job.result()

    def _run_range(self, batch: LearnerBatch, actions: Array, thread: int, lo: int, hi: int) -> None:
        if len(self.opponents) == 1 and self.phase == NONE:
            self._one_pass(batch, self.opponents[0], actions, thread, lo, hi)
        else:
            self._in_turns(batch, actions, thread, lo, hi)

    def _one_pass(self, batch: LearnerBatch, opponent: Player, actions: Array, thread: int, lo: int, hi: int) -> None:
        step = learners.learner_entries(batch.family).step_range.unchecked
        try:
            bad = step(
                batch.states, batch.games.record, batch.games.decks, self._table, self._agents,
                batch.chance.rngs, self._views[thread], batch.logs[thread], lo, hi, int(batch.points),
                batch.config.illegal_reward, int(batch.autoreset), int(batch.config.seat is None),
                batch.seats, actions, batch.obs, batch.masks, batch.rewards, batch.dones,
                batch.final_obs, batch.endings,
            )  # fmt: skip
        except Exception as error:
            blame(repr(opponent.agent.name), error)
        if bad != NONE:
            refuse_action(opponent, "opponent", bad)

    def _in_turns(self, batch: LearnerBatch, actions: Array, thread: int, lo: int, hi: int) -> None:
        entries = learners.learner_entries(batch.family)
        views, log = self._views[thread], batch.logs[thread]
        game = batch.states, batch.games.record, batch.games.decks
        waiting = entries.learners_act.unchecked(
            *game, self._table, log, lo, hi, self.phase, batch.config.illegal_reward, batch.seats,
            actions, batch.rewards, batch.dones, self._waiting,
        )  # fmt: skip
        self._take_turns(batch, thread, lo, waiting)
        waiting = entries.settle.unchecked(
            *game, views, log, lo, hi, self.phase, int(batch.points), int(batch.autoreset),
            int(batch.config.seat is None), batch.seats, actions, batch.rewards, batch.dones,
            batch.final_obs, batch.endings, self._waiting,
        )  # fmt: skip
        if batch.autoreset:
            batch.opponents.draw(batch.chance.share_rngs, lo + batch.dones[lo:hi].nonzero()[0])
        self._take_turns(batch, thread, lo, waiting)
        entries.observe.unchecked(batch.states, batch.games.record, views, lo, hi, batch.seats, batch.obs, batch.masks)

    @cached_property
    def _agents(self) -> Array:
        """The players as an `array_of_agents`; they compile at their first use."""
        return array_of_agents([(player.act, player.weights) for player in self._players])

    def _take_turns(self, batch: LearnerBatch, thread: int, lo: int, waiting: int) -> None:
        """Play opponents and policy in the ``waiting`` games listed from ``lo`` on."""
        play = learners.learner_entries(batch.family).take_turns.unchecked
        try:
            bad = play(
                batch.states, batch.games.record, batch.games.decks, self._table, self._agents,
                batch.chance.rngs, batch.chance.phase_rngs, self._views[thread], batch.logs[thread],
                self.phase, batch.opponents.drawn, batch.seats, self._waiting, lo, lo + waiting,
            )  # fmt: skip
        except Exception as error:
            blame(" or ".join(repr(player.agent.name) for player in self._players), error)
        if bad != NONE:
            if self.policy is not None and batch.states["phase"][bad] == self.phase:
                refuse_action(self.policy, "phase policy", bad)
            refuse_action(self.opponents[batch.opponents.drawn[bad]], "opponent", bad)


def refuse_action(player: Player, role: str, lane: int) -> None:
    """Raise for a compiled player whose action was illegal."""
    raise IllegalActionError(f"the {role} {player.agent.name!r} failed: it chose an illegal action in game {lane}")


class PythonStepper(Stepper):
    """Steps games with Python players: in each round, one call a player for its waiting games."""

    compiled = False

    def _take_turns(self, batch: LearnerBatch, thread: int, lo: int, waiting: int) -> None:
        games, policy, chance = batch.games, batch.config.phase_policy, batch.chance
        partner: Any = batch.config.partner  # an agent; None: the game's opponent
        lanes = self._waiting[:waiting].copy()
        while len(lanes):
            in_phase = np.zeros(len(lanes), dtype=np.bool_)
            if policy is not None:
                in_phase = batch.states["phase"][lanes] == policy.phase
                games.ask(policy.agent, lanes[in_phase], chance.phase_policy)
            movers = games.movers(lanes)
            others = ~in_phase & (movers != batch.seats[lanes])
            partners = others & (batch.sides[movers] == batch.sides[batch.seats[lanes]])
            if partner is not None:
                games.ask(partner, lanes[partners], chance.partner)
            for k, opponent in enumerate(batch.opponents.agents):
                plays = others & (batch.opponents.drawn[lanes] == k)
                if partner is None:
                    games.ask(opponent, lanes[plays & partners], chance.partner)
                games.ask(opponent, lanes[plays & ~partners], chance.opponent)
            lanes = games.running(lanes[in_phase | others])


def shown(action: int) -> int:
    """Return an illegal action for the info: `BELOW` for any below 0, and at most 64 bits."""
    return learners.BELOW if action < 0 else min(int(action), LARGEST_ACTION)


class LearnerSettings(EnvSettings):
    """The settings of an environment of one learner or of N, which hold a `LearnerBatch`."""

    batch: LearnerBatch

    features, seat, partner, phase_policy = Setting(), Setting(), Setting(), Setting()

    @property
    def opponent(self) -> Any:
        """The opponent of this episode; of N games, a list of N. `set_opponent` sets it."""
        return self._opponents()

    @opponent.setter
    def opponent(self, given: OpponentSpec) -> None:
        self.batch.set_opponent(given)

    def _opponents(self) -> Agent | list[Agent]:
        return [self.batch.opponents[lane] for lane in range(self.batch.num_envs)]

    @property
    def opponent_names(self) -> list[str]:
        """The names of all opponents so far, by their number in the info.

        Two networks of one class have one name, but each its own number.
        """
        return list(self.batch.opponents.names)


class VectorSettings(LearnerSettings):
    """The settings and other shared attributes of an environment of N learners."""

    def by_game(self, name: str) -> list[Any]:
        """Return an attribute once for each game; all games share it except the opponent."""
        found = getattr(self, name)
        return list(found) if name == "opponent" else [found] * self.batch.num_envs

    def _set_by_name(self, name: str, value: Any, games: Iterable[int] | None = None) -> None:
        """Set the opponent of games; refuse shared attributes."""
        if name != "opponent":
            raise NotImplementedError(
                f"cannot set {name!r}: the games of a {type(self).__name__} share all settings but "
                "the opponent; make another environment"
            )
        self.set_opponent(value, games)

    def set_opponent(self, opponent: OpponentSpec, games: Iterable[int] | None = None) -> None:
        """Replace the opponent at once, also in running games; for leagues and curricula.

        Args:
            opponent: one, or several with their shares, ``[(opponent, share), ...]``.
            games: the numbers of the games; None: all.

        Raises:
            ValueError, TypeError: an invalid opponent, share or game; nothing has changed.
        """
        self.batch.set_opponent(opponent, games)

    def action_masks(self) -> Bools:
        """Return which actions are legal in every game, bool[N, actions]."""
        return self.batch.masks.astype(np.bool_)
