"""The arrays of a batch of learners' games, and what every step writes to them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from crib_env.arrays import Array, Bools
from crib_env.batch import GameBatch
from crib_env.engine.family import Family
from crib_env.engine.features import feature_entries
from crib_env.engine.lanes import lane_entries
from crib_env.engine.log import log_size
from crib_env.engine.record import NONE
from crib_env.engine.returns import count_sides
from crib_env.engine.rewards import SCORES
from crib_env.engine.show import show_table
from crib_env.envs.opponents import Opponents
from crib_env.envs.phase_policy import PhasePolicy
from crib_env.envs.rng_streams import RngStreams
from crib_env.policy import Agent
from crib_env.rules import Rules

RULES = "crib_env_rules"  # the attribute of a space that says under which rules it is observed
MOST_PEGGED = 64  # rows of what is kept between two decisions of a learner: more than there can be


class LearnerArrays:
    """N games of learners, who plays in them, and the arrays that every step overwrites.

    Args:
        n: how many games.
        family: the family of the games.
        sides: the side of each seat.
        seat: the learner's in each, at first.
        features: what is observed besides: nothing, all there is (True), or a level by its name.
        threads: how many step them.
        keeps_events: keep what is pegged between the learner's decisions; for one game alone.

    Attributes:
        obs: uint8[N, obs_size], masks: int8[N, actions]: of the learner to move, without features.
        rewards: float64[N]. dones: bool[N].
        final_obs, final_masks: where ``dones``, the ended episode's last.
        final_opponents: int64[N], the number of the opponent in the episode of the last step.
        endings: int64[N, SCORES + sides], where ``dones``; see `crib_env.engine.rewards`.
        space: of one observation. level: how many levels of features it has.
        observations, final_observations: ``obs`` and ``final_obs``, or with features float32[N,
            obs_size + features].
        seats: int64[N], the learner's seats. sides: int64[players], the side of each seat.
        lanes: int64[N], 0 to N - 1.
        actions: int64[N], the learners' last, as given; -1 for any below 0.
        illegal: int64[N], which of them were replaced: NONE where none was, BELOW for -1.
        scores: int64[N, sides], of the present games by side; the states' own.
        logs: int64[threads, L], the log of each thread.
    """

    games: GameBatch
    states: npt.NDArray[np.void]  # those of the games
    scores: Array
    chance: RngStreams
    opponents: Opponents
    partner: Agent | None  # None: whoever the opponent is
    phase_policy: PhasePolicy | None
    seat: int | None  # the learner's in every game; None to draw it for each episode
    points: bool
    autoreset: bool

    def __init__(
        self,
        n: int,
        family: Family,
        sides: Array,
        seat: int,
        features: bool | str | None = None,
        threads: int = 1,
        keeps_events: bool = False,
    ) -> None:
        self.num_envs = n
        self.family = family
        self.sides = sides
        self.lanes = np.arange(n)
        self.seats = np.full(n, seat, dtype=np.int64)
        self.actions = np.full(n, NONE)
        self.illegal = np.full(n, NONE)
        self.obs = np.zeros((n, family.obs_size), dtype=np.uint8)
        self.masks = np.zeros((n, family.actions), dtype=np.int8)
        self.final_obs = np.zeros_like(self.obs)
        self.final_masks = np.zeros_like(self.masks)
        self.final_opponents = np.zeros(n, dtype=np.int64)
        self.endings = np.zeros((n, SCORES + count_sides(sides)), dtype=np.int64)
        history = log_size(MOST_PEGGED) if keeps_events else 0
        self.logs = np.zeros((threads, family.log_size + history), dtype=np.int64)
        self.rewards = np.zeros(n)
        self.dones = np.zeros(n, dtype=np.bool_)
        self._nowhere = np.zeros(n, dtype=np.bool_)
        self.level = family.level_of(features)
        self.space = observation_space(family, self.level)
        self.observations, self.final_observations = self.obs, self.final_obs
        if self.level:
            self.observations = np.zeros((n, *self.space.shape), dtype=np.float32)
            self.final_observations = np.zeros_like(self.observations)
            self._looked = np.zeros(1, dtype=family.view)

    def observe_features(self, states: Array, record: Array, goes_on: bool) -> None:
        """Write the observations with features, if they have any; an ended episode's are all 0."""
        if not self.level:
            return
        ended = self._nowhere if goes_on else self.dones
        feature_entries(self.family).observe(
            states, record, show_table(), self._looked, self.seats, ended, self.obs, self.level,
            self.observations,
        )  # fmt: skip
        self.final_observations[self.dones, : self.family.obs_size] = self.final_obs[self.dones]

    def autoreset_lanes(self, lanes: Array) -> None:
        """Begin another episode in each lane; given decks were for the first."""
        self.states["given"][lanes] = self.states["given_end"][lanes]
        self.games.reset(lanes)
        self.draw_seats(lanes)
        self.opponents.draw(self.chance.share_rngs, lanes)

    def draw_seats(self, lanes: Array) -> None:
        """Draw the learner's seat in each lane, if it is to be drawn."""
        if self.seat is None:
            lane_entries(self.family).draw_seats(self.states, self.games.record, lanes, self.seats)

    def legal(self, actions: Array) -> Bools:
        """Return which of ``actions``, int[N], any numbers, are legal in their games, bool[N]."""
        inside = (actions >= 0) & (actions < self.family.actions)
        legal: Bools = (
            self.masks[self.lanes, np.where(inside, actions, 0)].astype(np.bool_) & inside
        )
        return legal


def note_rules(space: spaces.Space[Any], rules: Rules, suits: str) -> None:
    """Write into a space of observations what they are of: who saves it with a model saves that.

    Stable-Baselines3 does, and games of other rules have observations of the same shape.
    """
    fields = asdict(rules)
    vars(space)[RULES] = {
        "family": rules.family, "rules": fields.pop("name"), "rules_fields": fields, "suits": suits
    }  # fmt: skip


def observation_space(family: Family, level: int) -> spaces.Box:
    """Return the space of one observation with the first ``level`` levels of features."""
    if not level:
        return spaces.Box(0, 1, (family.obs_size,), np.uint8)
    features = family.features_at(level)
    low, high = (np.repeat([getattr(one, end) for one in features], family.actions)
                 for end in ("low", "high"))  # fmt: skip
    bits = np.ones(family.obs_size)
    return spaces.Box(
        np.concatenate([0 * bits, low]).astype(np.float32),
        np.concatenate([bits, high]).astype(np.float32),
    )
