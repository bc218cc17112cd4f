"""N games of one learner against an opponent: the core of the Gymnasium, vector and SB3 shells.

Compiled opponents play inside the compiled batch (`crib_env.envs.compiled`); any other agent is
asked in Python for all lanes in which it is to move at once. All give the same rewards, ends and
observations.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.engine.family import find_family
from crib_env.engine.lanes import lane_entries
from crib_env.engine.rewards import CONTINUE
from crib_env.engine.rng import WORDS, seed_states
from crib_env.envs.asked import play_asked
from crib_env.envs.checks import check_choice, whole_number
from crib_env.envs.compiled import compiled_play
from crib_env.envs.phase_policy import PhasePolicy
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.games import Games
from crib_env.options import ResetOptions
from crib_env.policy import Opponent, find_agent
from crib_env.rules import Rules

Array = npt.NDArray[Any]
LANES_PER_THREAD = 2048  # fewer are not worth handing to a thread


class LearnerBatch:
    """N games in which one seat is the learner's and an opponent plays the others.

    Args:
        rules: the rules to play.
        num_envs: the number of games, N.
        players: seats in a game; by default the fewest.
        episode: what one episode is.
        reward: ``"win"`` or ``"points"``.
        opponent: the name of an agent, an agent, or a function of a view and a generator.
        partner: likewise, who plays the learner's partner where four play; None: the opponent's
            like.
        seat: the learner's seat, or None to draw it for each episode.
        on_illegal: ``"terminate"`` or ``"raise"``, as in the AEC environments.
        autoreset: begin a new episode at once where one ended.
        threads: how many threads step the games; None chooses by N and the machine's cores.
        phase_policy: who makes the decisions that the environment leaves out, if any.

    Attributes:
        obs: uint8[N, obs_size], masks: int8[N, actions]: of the learner to move.
        rewards: float64[N]. dones: bool[N].
        final_obs, final_masks: where ``dones``, the ended episode's last.
        seats: int64[N], the learner's seats.
    """

    def __init__(
        self,
        rules: Rules,
        num_envs: int,
        *,
        players: int | None = None,
        episode: str = "game",
        reward: str = "win",
        opponent: Opponent = "random",
        partner: Opponent | None = None,
        seat: int | None = None,
        on_illegal: str = "terminate",
        autoreset: bool = True,
        threads: int | None = None,
        phase_policy: PhasePolicy | None = None,
    ) -> None:
        n = whole_number("num_envs", num_envs, 1)
        if threads is None:
            threads = max(1, min(os.cpu_count() or 1, n // LANES_PER_THREAD))
        self.threads = whole_number("threads", threads, 1)
        check_choice("reward", reward, ("win", "points"))
        check_choice("on_illegal", on_illegal, ("terminate", "raise"))
        self.family = family = find_family(rules.engine)
        self.players = family.players[0] if players is None else players
        self.games = Games(rules, n, players=self.players, episode=episode)
        if seat is not None and (isinstance(seat, bool) or seat not in range(self.players)):
            raise ValueError(f"seat must be from 0 to {self.players - 1} or None, got {seat!r}")
        if partner is not None and self.players != 4:
            raise ValueError(
                f"partner={partner!r} needs four players; this game has {self.players}"
            )
        self.rules = rules
        self.num_envs = n
        self.opponent = find_agent(opponent)
        self.partner = self.opponent if partner is None else find_agent(partner)
        self.seat = seat
        self.on_illegal = on_illegal
        self.phase_policy = phase_policy
        self.autoreset = autoreset
        self.points = reward == "points"
        self.rules_record, self.states = self.games.record, self.games.states
        self.seats = np.full(n, 0 if seat is None else seat, dtype=np.int64)
        self.obs = np.zeros((n, family.obs_size), dtype=np.uint8)
        self.masks = np.zeros((n, family.actions), dtype=np.int8)
        self.final_obs = np.zeros_like(self.obs)
        self.final_masks = np.zeros_like(self.masks)
        self.rewards = np.zeros(n)
        self.dones = np.zeros(n, dtype=np.bool_)
        self.lanes = np.arange(n)
        self._nowhere = np.zeros(n, dtype=np.bool_)
        self.rngs = np.zeros((n, WORDS), dtype=np.int64)
        self.phase_rngs = np.zeros((n, WORDS), dtype=np.int64)
        self.chances = [np.random.default_rng() for _ in range(3)]
        self._seeded = False
        self._running = False
        self._bind()

    def _bind(self) -> None:
        """Take hold of what neither copies nor pickles carry."""
        self._compiled = None
        if self.partner is self.opponent:
            self._compiled = compiled_play(
                self.family, self.opponent, self.phase_policy, self.num_envs, self.threads
            )

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_compiled"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.states = self.games.states
        self._bind()

    def seed(self, seed: int | None) -> None:
        """Start every generator from ``seed``; None takes fresh entropy.

        Opponent, partner and phase policy each draw from generators of their own.
        """
        deals, players, agent = np.random.SeedSequence(seed).spawn(3)
        self.games.seed(deals)
        self.rngs[:] = players.generate_state(WORDS * self.num_envs).reshape(-1, WORDS)
        words = players.spawn(1)[0].generate_state(WORDS * self.num_envs)
        self.phase_rngs[:] = words.reshape(-1, WORDS)
        self.chances = self._chances(agent)
        self._seeded = True

    def seed_each(self, seeds: Sequence[int | None]) -> None:
        """Start each lane's generators from its own seed, as a batch of that game alone would.

        Lanes without a seed go on with theirs. Agents asked in Python draw from generators that all
        lanes share; those start from the first seed.
        """
        if not self._seeded:
            self.seed(None)
        for lane, seed in enumerate(seeds):
            if seed is not None:
                deals, players, _ = np.random.SeedSequence(int(seed)).spawn(3)
                seed_states(self.states[lane : lane + 1], deals)
                self.rngs[lane] = players.generate_state(WORDS)
                self.phase_rngs[lane] = players.spawn(1)[0].generate_state(WORDS)
        if seeds[0] is not None:
            self.chances = self._chances(np.random.SeedSequence(int(seeds[0])).spawn(3)[2])

    def _chances(self, entropy: np.random.SeedSequence) -> list[np.random.Generator]:
        """Return generators for opponent, partner and phase policy.

        Seeded by words: one that knew its sequence would tell an agent of the deals'.
        """
        sources = [entropy, *entropy.spawn(2)]
        return [np.random.default_rng(one.generate_state(4)) for one in sources]

    def reset(self, options: Sequence[ResetOptions] | None = None) -> None:
        """Begin an episode in every lane and bring it to the learner's first decision.

        Args:
            options: one for each lane, or None for no options at all.

        Raises:
            ValueError, IllegalActionError: an agent answered what is no legal action.
        """
        if not self._seeded:
            self.seed(None)
        self._running = False
        if options is None:
            self.games.begin()
        else:
            self.games.begin_each(options)
        self.draw_seats(self.lanes)
        self._run(np.full(self.num_envs, CONTINUE, dtype=np.int64))
        self.dones[:] = False

    def begin_anew(self, lanes: Array) -> None:
        """Begin another episode in each lane; given decks were for the first."""
        self.states["given"][lanes] = self.states["given_end"][lanes]
        self.games.begin(lanes)
        self.draw_seats(lanes)

    def draw_seats(self, lanes: Array) -> None:
        """Draw the learner's seat in each lane, if it is to be drawn."""
        if self.seat is None:
            lane_entries(self.family).draw_seats(self.states, self.rules_record, lanes, self.seats)

    def step(self, actions: Array, anew: npt.NDArray[np.bool_] | None = None) -> None:
        """Act for every learner; the results are in the attributes.

        Args:
            actions: int[N].
            anew: bool[N], in which games to begin a new episode instead.

        Raises:
            ValueError: actions of another shape, or an agent's answer is no action.
            IllegalActionError: with ``on_illegal="raise"``, before anything has changed; or an
                agent's action is illegal. The message names who erred.
            EpisodeOverError: before the first reset, or after an agent failed.
        """
        if not self._running:
            raise EpisodeOverError("step() without running episodes: call reset() first")
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be {self.num_envs} whole numbers, one a game, got shape "
                f"{given.shape} of {given.dtype}"
            )
        anew = self._nowhere if anew is None else anew
        if self.on_illegal == "raise":
            self._refuse_illegal(given, ~anew)
        # Any number below 0 is as illegal as -1; CONTINUE, which is one, is not for callers.
        given = np.maximum(given, -1, dtype=np.int64)
        if anew.any():
            self.begin_anew(self.lanes[anew])
            given[anew] = CONTINUE
        self._run(given)

    def _run(self, actions: Array) -> None:
        """Play; if that fails, whoever failed, the episodes are over until the next reset."""
        self._running = False
        if self._compiled is not None:
            self._compiled.run(self, actions)
        else:
            play_asked(self, actions)
        self._running = True

    def view(self, lane: int) -> np.void:
        """Return what the learner of a game may know, as a view record."""
        lanes = np.array([lane])
        record: np.void = self.games.views(lanes, self.seats[lanes])[0]
        return record

    def legal(self, actions: Array) -> npt.NDArray[np.bool_]:
        """Return which of ``actions``, int[N], any numbers, are legal in their games, bool[N]."""
        inside = (actions >= 0) & (actions < self.family.actions)
        legal: npt.NDArray[np.bool_] = (
            self.masks[self.lanes, np.where(inside, actions, 0)].astype(np.bool_) & inside
        )
        return legal

    def _refuse_illegal(self, actions: Array, acting: Array) -> None:
        legal = self.legal(actions) | ~acting
        if not legal.all():
            lane = int(np.flatnonzero(~legal)[0])
            why = self.family.why_illegal(self.view(lane), int(actions[lane]))
            raise IllegalActionError(why if self.num_envs == 1 else f"game {lane}: {why}")
