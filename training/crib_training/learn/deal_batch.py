"""A batch of deals in which both seats learn: observations, masks and points, as arrays."""

from __future__ import annotations

import copy

import numpy as np

from crib_env.arrays import Array, Bools, Doubles, Floats, Ints
from crib_env.batch import GameBatch
from crib_env.encoding import encode, layout_of
from crib_env.engine.family import family_for
from crib_env.rules import TwoHandRules
from crib_training.learn.sparse import places_of


class DealBatch:
    """Deals side by side, each waiting for a seat that has a choice.

    Suits are canonical, so a policy cannot depend on suits that do not matter. Forced cards are
    played automatically. Points are those of ``reward="expected"``: the mean of the show over the
    starter instead of its actual points.

    Args:
        rules: rules of a two-hand game.
        num_envs: N, the number of deals.
        seed: fixes all deals.
        features: whether the observations have features.
        suits: ``"canonical"``, or ``"ranks"``: the mover does not see its discards in the pegging.

    Attributes:
        layout: the slices of a seat's observation. bits: length of its part before the features.
        size: length of an observation here: `PLACES` for the places of the ones among its bits (see
            `crib_training.learn.sparse`), then the features.
        actions: number of actions.
        observations: float32[N, size], of the seat to move.
        others: float32[N, PLACES], of the other seat, which a critic may see in training.
        masks: bool[N, actions], the legal actions of the seat to move.
        movers: int64[N], the seat to move.
    """

    def __init__(
        self,
        rules: TwoHandRules,
        num_envs: int,
        seed: int,
        features: bool = False,
        suits: str = "canonical",
    ) -> None:
        family = family_for(rules.family, "expected", suits)
        self.suits = suits
        self.batch = GameBatch(rules, num_envs, episode="deal", seed=seed, family=family)
        self.features = features
        self.layout = layout_of(family, features)
        self.lanes = np.arange(num_envs)
        self.bits = family.obs_size
        self.actions = family.actions
        self.unit = float(family.kernels.unit(self.batch.record[0]))
        self.reset()
        self.size = self.observations.shape[1]

    def reset(self) -> None:
        """Begin a deal in every lane."""
        self.batch.reset()
        self._play_forced(self.lanes)
        self.observe()

    def step(self, actions: Ints) -> tuple[Floats, Bools]:
        """Take ``actions[i]`` in lane i, and the forced cards after it.

        When a deal ends, the next one starts.

        Returns float32[N], the points of seat 0 less those of seat 1, and bool[N], whether a deal
        ended. Shapes: actions int64[N].
        """
        if self.batch.step(self.lanes, actions) is not None:
            raise ValueError("an action is not legal")
        played = self._play_forced(self.lanes)
        self.observe()
        return played

    def after(self, lanes: Ints, actions: Ints) -> tuple[DealBatch, Doubles, Ints]:
        """Return copies of deals after an action each, and after the forced cards that follow.

        Shapes: lanes int64[K]; actions int64[K].
        """
        copies = copy.copy(self)
        copies._hold(self.batch.states[lanes])
        if copies.batch.step(copies.lanes, np.ascontiguousarray(actions)) is not None:
            raise ValueError("an action is not legal")
        gains, _ = copies._play_forced(copies.lanes, reset=False)
        running = copies.batch.running()
        copies._hold(copies.batch.states[running])
        return copies, gains.astype(np.float64), running

    def _hold(self, states: Array) -> None:
        """Continue with these states, and leave the batch that they came from as it is."""
        self.batch = copy.copy(self.batch)
        self.batch.states, self.batch.n = states, len(states)
        self.batch.tally = np.zeros((len(states), *self.batch.tally.shape[1:]), dtype=np.int64)
        self.lanes = np.arange(len(states))

    def set_state(self, states: Ints) -> None:
        """Continue from what `state` returned."""
        found = np.frombuffer(states.tobytes(), self.batch.states.dtype)
        if len(found) != len(self.lanes):
            raise ValueError(f"it has {len(found)} deals side by side, not {len(self.lanes)}")
        self.batch.states[:] = found
        self.observe()

    def state(self) -> Ints:
        """Return all deals and their generators."""
        return np.frombuffer(self.batch.states.tobytes(), np.int64)

    def _play_forced(self, lanes: Ints, reset: bool = True) -> tuple[Floats, Bools]:
        states = self.batch.states
        gains = np.zeros(len(states), dtype=np.float32)
        ended = np.zeros(len(states), dtype=bool)
        while len(lanes):
            gains[lanes] += (states["gain"][lanes, 0] - states["gain"][lanes, 1]) / self.unit
            states["gain"][lanes] = 0
            over = lanes[states["over"][lanes] != 0]
            ended[over] = True
            if reset:
                self.batch.reset(over)
            lanes = self.batch.running(lanes)
            views = self.batch.views(lanes)
            legal = views["legal"]
            forced = legal & (legal - 1) == 0
            lanes, views = lanes[forced], views[forced]
            places = np.log2(views["legal"]).astype(np.int64)
            self.batch.step(lanes, views["hand"][np.arange(len(lanes)), places])
        return gains, ended

    def observe(self) -> None:
        """Write observations, masks and movers of the deals as they stand."""
        self.movers = self.batch.movers(self.lanes)
        views = self.batch.views(self.lanes)  # in canonical cards
        hidden = "ranks" if self.suits == "ranks" else "real"
        seen, masks = encode(views, self.features, hidden)
        others, _ = encode(self.batch.views(self.lanes, 1 - self.movers))
        self.observations = places_of(seen[:, : self.bits].astype(np.uint8, copy=False))
        if self.features:
            numbers = seen[:, self.bits :]
            self.observations = np.concatenate([self.observations, numbers], axis=1)
        self.others = places_of(others)
        self.masks = masks.view(bool)
