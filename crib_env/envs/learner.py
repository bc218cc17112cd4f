"""N games of one learner against an opponent: the core of the Gymnasium, vector and SB3 shells.

Compiled opponents play inside the compiled batch (`crib_env.envs.compiled`). Any other agent is
called in Python, once for all lanes in which it is to move. Both ways give the same rewards, ends
and observations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from crib_env.arrays import Array, Bools
from crib_env.batch import GameBatch
from crib_env.engine.family import family_for
from crib_env.engine.log import FOR_LAST
from crib_env.engine.record import NONE
from crib_env.engine.returns import count_sides
from crib_env.engine.rewards import CONTINUE
from crib_env.engine.sampling import replace_illegal
from crib_env.envs.arrays import LearnerArrays, note_rules
from crib_env.envs.checks import ON_ILLEGAL, check_choice, whole_number
from crib_env.envs.compiled import choose_threads, compiled_stepper
from crib_env.envs.endings import LARGEST_ACTION, MaskReminder
from crib_env.envs.opponents import Opponents, OpponentSpec, parse_opponents
from crib_env.envs.phase_policy import PhasePolicy
from crib_env.envs.python_opponents import step_python
from crib_env.envs.rng_streams import RngStreams
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.events import Event, read_log
from crib_env.honours import refuse_rules
from crib_env.options import ResetOptions
from crib_env.policy import Opponent, find_agent
from crib_env.render.words import in_words
from crib_env.rules import Rules


class LearnerBatch(LearnerArrays):
    """N games in which one seat is the learner's and an opponent plays the others.

    Args:
        rules: the rules to play.
        num_envs: the number of games, N.
        players: seats in a game; by default the fewest.
        episode: what one episode is.
        reward: ``"win"``, ``"points"``, ``"expected"`` or ``"expected_at_show"``; see
            `CribbageEnv`.
        features: True, or the name of a level, to observe `Family.features` too.
        suits: ``"real"``, ``"canonical"`` or ``"ranks"``; see `CribbageEnv`.
        opponent: the name of an agent, an agent, or a function of a view and a generator; or
            several with their shares, ``[(opponent, share), ...]``, one drawn for each episode.
        partner: likewise, who plays the learner's partner where four play; None: the opponent's
            like.
        seat: the learner's seat, or None to draw it for each episode.
        on_illegal: ``"terminate"``, ``"raise"`` or ``"random"``; see `CribbageEnv`.
        autoreset: begin a new episode at once where one ended.
        threads: how many threads step the games; None chooses by N and the machine's cores.
        phase_policy: who makes the decisions that the environment leaves out, if any.
        keeps_events: log what is pegged between decisions, for `events`; of one game alone.
    """

    def __init__(
        self,
        rules: Rules,
        num_envs: int,
        *,
        players: int | None = None,
        episode: str = "game",
        reward: str = "win",
        features: bool | str | None = None,
        suits: str = "real",
        opponent: OpponentSpec = "random",
        partner: Opponent | None = None,
        seat: int | None = None,
        on_illegal: str = "terminate",
        autoreset: bool = True,
        threads: int | None = None,
        phase_policy: PhasePolicy | None = None,
        keeps_events: bool = False,
    ) -> None:
        n = whole_number("num_envs", num_envs, 1)
        self.threads = choose_threads(threads, n)
        check_choice("on_illegal", on_illegal, ON_ILLEGAL)
        family = family_for(rules.engine, reward, suits)
        self.games = GameBatch(rules, n, players=players, episode=episode, family=family)
        self.players = self.games.players
        if seat is not None and (isinstance(seat, bool) or seat not in range(self.players)):
            raise ValueError(f"seat must be from 0 to {self.players - 1} or None, got {seat!r}")
        sides = self.games.sides
        if partner is not None and len(sides) == count_sides(sides):
            raise ValueError(
                f"partner={partner!r} needs a game of partners (players=4, partners=True): in this "
                f"one each of the {in_words(self.players)} players plays alone"
            )
        self.rules = rules
        self.opponents = Opponents(n, opponent)
        self.partner = None if partner is None else find_agent(partner)
        for agent in (*self.opponents.agents, self.partner):
            refuse_rules(agent, rules, episode)
        self.seat = None if seat is None else int(seat)
        self.on_illegal = on_illegal
        self.phase_policy = phase_policy
        self.autoreset = autoreset
        self.reward = reward
        self.features = features
        self.points = reward != "win"
        self.keeps_events = keeps_events
        self.states = self.games.states
        super().__init__(
            n, family, sides, 0 if seat is None else seat, features, self.threads, keeps_events
        )
        note_rules(self.space, rules, suits)
        self.chance = RngStreams(n)
        self.reminder = MaskReminder()
        self.final_opponents[:] = self.opponents.playing
        self._seeded = False
        self._running = False
        self._bind()

    def _bind(self) -> None:
        """Take hold of what neither copies nor pickles carry."""
        self.games.log = self.logs[0]
        scores: Array = self.states["scores"]
        self.scores = scores[:, : count_sides(self.sides)]
        self.history = self.logs[0, self.family.log_size :]
        self._compiled = None
        if self.partner is None:
            self._compiled = compiled_stepper(
                self.family, self.opponents.agents, self.phase_policy, self.num_envs, self.threads
            )

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_compiled"], state["history"], state["scores"]
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

    def reset(self, options: Sequence[ResetOptions] | None = None) -> None:
        """Begin an episode in every lane and bring it to the learner's first decision."""
        if not self._seeded:
            self.seed(None)
        self._running = False
        self.illegal[:] = NONE
        self.history[:1] = 0
        if options is None:
            self.games.reset()
        else:
            self.games.reset_each(options)
            if options[0].scores is not None and self.keeps_events:
                self.history[0] -= self.logs[0, 3] == FOR_LAST  # as in Game
        self.draw_seats(self.lanes)
        self.opponents.draw(self.chance.share_rngs, self.lanes)
        self._run(np.full(self.num_envs, CONTINUE, dtype=np.int64))
        self.dones[:] = False

    def step(self, actions: Array, resets: Bools | None = None) -> None:
        """Act for every learner; the results are in the attributes (resets bool[N])."""
        if not self._running:
            raise EpisodeOverError("step() without running episodes: call reset() first")
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be {self.num_envs} whole numbers, one a game, got shape "
                f"{given.shape} of {given.dtype}"
            )
        resets = self._nowhere if resets is None else resets
        if self.on_illegal == "raise":
            legal = self.legal(given) | resets
            if not legal.all():
                lane = int(np.flatnonzero(~legal)[0])
                why = self.family.why_illegal(self.view(lane), int(given[lane]))
                raise IllegalActionError(why if self.num_envs == 1 else f"game {lane}: {why}")
        # Any number below 0 is as illegal as -1; CONTINUE, which is one, is not for callers.
        if given.dtype == np.uint64:
            given = np.minimum(given, np.uint64(LARGEST_ACTION))
        given = np.maximum(given, -1, dtype=np.int64)
        if resets.any():
            self.autoreset_lanes(self.lanes[resets])
            given[resets] = CONTINUE
        self.actions = given
        if self.on_illegal == "random":
            given = given.copy()
            replace_illegal(self.masks, self.chance.illegal_rngs, given, self.illegal)
        if self.keeps_events:
            self.history[0] = 0
        if len(self.opponents.agents) > 1:
            self.final_opponents[:] = self.opponents.playing
        self._run(given)

    def _run(self, actions: Array) -> None:
        """Play; if that fails, whoever failed, the episodes are over until the next reset."""
        self._running = False
        if self._compiled is not None:
            self._compiled.run(self, actions)
        else:
            step_python(self, actions)
        self._running = True
        self.observe_features(self.states, self.games.record, self.autoreset)

    @property
    def begun(self) -> bool:
        """Whether there has been an episode yet."""
        return bool(self.states["deals"][0])

    @property
    def events(self) -> list[Event]:
        """What was pegged since the learner's last decision, in order, if that is kept."""
        return read_log(self.history)

    def set_opponent(self, opponent: OpponentSpec, lanes: Array | None = None) -> None:
        """Let another opponent play, at once, also in games under way (lanes int64[K])."""
        chosen = self.lanes if lanes is None else lanes
        for agent, _ in parse_opponents(opponent):
            refuse_rules(agent, self.rules, self.games.episode)
        self.opponents.put(opponent, chosen)
        self.opponents.draw(self.chance.share_rngs, chosen)
        self.final_opponents[:] = self.opponents.playing
        self._bind()

    def view(self, lane: int) -> np.void:
        """Return what the learner of a game may know, as a view record."""
        lanes = np.array([lane])
        record: np.void = self.games.views(lanes, self.seats[lanes])[0]
        return record
