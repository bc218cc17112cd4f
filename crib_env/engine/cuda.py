"""The same kernels on a GPU: N games in device memory, one thread per game.

Needs the extra ``cuda`` (numba-cuda). Import this module only where a GPU, or numba-cuda's
simulator (``NUMBA_ENABLE_CUDASIM=1`` with ``NUMBA_DISABLE_JIT=1``), is to be used; docs/engine.md
lists the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numba import int64

from crib_env.engine.family import Family, episode_name, find_family
from crib_env.engine.jit import kernel
from crib_env.engine.learners import learner_kernels, legal_at
from crib_env.engine.record import LOG_SIZE, NO_DECKS, NONE, clear_gains
from crib_env.engine.rng import WORDS, next_word, seed_states
from crib_env.engine.show import show_table
from crib_env.errors import check_choice, whole_number
from crib_env.options import check_seed
from crib_env.rules import Rules, as_rules

if find_spec("numba_cuda") is None:
    raise ImportError("the GPU batch needs numba-cuda: pip install 'crib-env[cuda]'")
from numba import cuda

THREADS = 128  # in a block
SIMULATED = bool(cuda.config.ENABLE_CUDASIM)
# Numba does not align a record in local memory; the simulator accepts no alignment.
ALIGNMENT = None if SIMULATED else 8


@dataclass(frozen=True)
class Entries:
    """The ``@cuda.jit`` entries of an engine, each launched with one thread per game."""

    reset: Any
    step: Any
    sample: Any
    rollout: Any


@cache
def entries(family: Family) -> Entries:
    """Return GPU entries around the kernels of a family, compiled when first called."""
    kernels = family.kernels
    begin_episode, view = kernels.begin_episode, kernels.view
    reward = learner_kernels(family).reward
    find_move, draw_move = kernels.find_move, kernels.draw_move
    encode, encode_mask, step_move = kernels.encode, kernels.encode_mask, kernels.step
    view_dtype = family.view

    @kernel
    def observe(s, rules, v, obs, mask):
        view(s, rules, s["to_move"], v)
        encode(v, obs)
        encode_mask(v, mask)

    @cuda.jit
    def reset(states, rules, decks, dealers, movers, obs, masks, rewards, dones):
        i = cuda.grid(1)
        if i < states.shape[0]:
            log = cuda.local.array(LOG_SIZE, int64)
            v = cuda.local.array(1, view_dtype, ALIGNMENT)
            s = states[i]
            begin_episode(s, rules[0], decks, dealers[i], log)
            movers[i] = s["to_move"]
            for p in range(rewards.shape[1]):
                rewards[i, p] = 0.0
            dones[i] = False
            observe(s, rules[0], v[0], obs[i], masks[i])

    @cuda.jit
    def step(
        states, rules, decks, table, points, illegal_reward, autoreset, actions, movers, obs, masks, rewards, dones
    ):
        i = cuda.grid(1)
        if i < states.shape[0]:
            log = cuda.local.array(LOG_SIZE, int64)
            v = cuda.local.array(1, view_dtype, ALIGNMENT)
            s = states[i]
            r = rules[0]
            for p in range(rewards.shape[1]):
                rewards[i, p] = 0.0
            if s["over"]:
                return
            mover = s["to_move"]
            move = find_move(s, r, actions[i])
            if move != NONE:
                step_move(s, r, decks, table, move, log)
                for p in range(rewards.shape[1]):
                    rewards[i, p] = reward(s, r, p, points)
                clear_gains(s)
            else:
                rewards[i, mover] = illegal_reward
                s["over"] = 1
            dones[i] = s["over"] != 0
            if autoreset and s["over"]:
                begin_episode(s, r, decks, NONE, log)
            movers[i] = s["to_move"]
            if move != NONE or autoreset:
                observe(s, r, v[0], obs[i], masks[i])
            else:  # the previous observation stays
                masks[i, :] = 0

    @cuda.jit
    def sample(masks, rngs, actions):
        i = cuda.grid(1)
        if i < masks.shape[0]:
            actions[i] = max(0, legal_at(masks[i], next_word(rngs[i])))

    @cuda.jit
    def rollout(states, rules, decks, table, rngs, steps, movers, obs, masks):
        i = cuda.grid(1)
        if i < states.shape[0]:
            log = cuda.local.array(LOG_SIZE, int64)
            v = cuda.local.array(1, view_dtype, ALIGNMENT)
            s = states[i]
            r = rules[0]
            if s["over"]:
                begin_episode(s, r, decks, NONE, log)
            for _ in range(steps):
                observe(s, r, v[0], obs[i], masks[i])
                step_move(s, r, decks, table, draw_move(s, r, rngs[i]), log)
                if s["over"]:
                    begin_episode(s, r, decks, NONE, log)
            movers[i] = s["to_move"]
            observe(s, r, v[0], obs[i], masks[i])

    return Entries(reset, step, sample, rollout)


class CudaBatch:
    """N games in the memory of the current CUDA device, every seat played by the caller.

    Equal seeds give the same deals as the vector environments. Every array is overwritten by
    each call and keeps its place in memory, so that a framework's wrapper of it stays current:
    ``torch.as_tensor(batch.obs, device="cuda")`` copies nothing.

    Args:
        rules: the rules to play, or the name of a preset.
        num_envs: the number of games, N.
        players: seats in a game; by default the fewest the rules allow.
        episode: the name of an episode.
        reward: ``"win"``, the returns when the episode ends, or ``"points"``, the difference in
            points that the action made.
        autoreset: begin a new episode in the same step where one ended. Otherwise an ended game
            stands still, its mask all 0, until the next `reset`.
        seed: starts all generators; None takes fresh entropy.

    Attributes:
        obs: uint8[N, obs_size], masks: int8[N, actions]: those of the seat to move.
        movers: int64[N], the seat to move.
        rewards: float64[N, players], of the last step; an illegal action ends the episode at
            `illegal_reward` for the seat that took it and 0 for the others.
        illegal_reward: legal play never pays less; see `Family.illegal_reward`.
        dones: bool[N], whether the last step ended an episode; without ``autoreset``, whether the
            episode is over.
        actions: int64[N], where `sample` leaves its draws.
        states: the records of the games, `family.state`[N].

    Raises:
        ValueError: an invalid argument, which the message names.
    """

    def __init__(
        self,
        rules: str | Rules,
        num_envs: int,
        *,
        players: int | None = None,
        episode: str = "game",
        reward: str = "win",
        autoreset: bool = True,
        seed: int | None = None,
    ) -> None:
        n = whole_number("num_envs", num_envs, 1)
        check_choice("reward", reward, ("win", "points"))
        rules = as_rules(rules)
        family = find_family(rules.family)
        episode = episode_name(episode, family.episodes)
        record = family.rules_record(rules, episode, players)
        self.family = family
        self.rules = rules
        self.num_envs = n
        self.points = int(reward == "points")
        self.illegal_reward = family.illegal_reward(rules, episode, reward, players)
        self.autoreset = int(autoreset)
        self._entries = entries(family)
        self._grid = -(-n // THREADS), min(n, THREADS)
        self._rules = cuda.to_device(record)
        self._table = cuda.to_device(show_table())
        self._decks = cuda.to_device(NO_DECKS)
        self._dealers = cuda.to_device(np.full(n, NONE, dtype=np.int64))
        self._rngs = cuda.to_device(np.zeros((n, WORDS), dtype=np.int64))
        self.states = cuda.to_device(np.zeros(n, dtype=family.state))
        self.obs = cuda.to_device(np.zeros((n, family.obs_size), dtype=np.uint8))
        self.masks = cuda.to_device(np.zeros((n, family.actions), dtype=np.int8))
        self.movers = cuda.to_device(np.zeros(n, dtype=np.int64))
        self.rewards = cuda.to_device(np.zeros((n, int(record["players"][0]))))
        self.dones = cuda.to_device(np.zeros(n, dtype=np.bool_))
        self.actions = cuda.to_device(np.zeros(n, dtype=np.int64))
        self.seed(seed)
        self.reset()

    def seed(self, seed: int | None) -> None:
        """Start every generator from ``seed``, without beginning an episode."""
        deals, players, _ = np.random.SeedSequence(check_seed(seed)).spawn(3)
        states = self.states.copy_to_host()
        seed_states(states, deals)
        self.states.copy_to_device(states)
        words = players.generate_state(WORDS * self.num_envs)
        self._rngs.copy_to_device(words.reshape(-1, WORDS).astype(np.int64))

    def reset(self, seed: int | None = None) -> None:
        """Begin an episode in every game; a ``seed`` seeds the generators first."""
        if seed is not None:
            self.seed(seed)
        game = self.states, self._rules, self._decks, self._dealers
        self._entries.reset[self._grid](*game, self.movers, self.obs, self.masks, self.rewards, self.dones)

    def step(self, actions: Any) -> None:
        """Act (int64[N]) in every game for the seat to move; the results are in the attributes."""
        if hasattr(actions, "__cuda_array_interface__"):
            actions = cuda.as_cuda_array(actions)
        elif actions is not self.actions:
            actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype != np.int64:
            raise ValueError(
                f"actions must be int64[{self.num_envs}], one a game, got {actions.dtype}{list(actions.shape)}"
            )
        if isinstance(actions, np.ndarray):
            self.actions.copy_to_device(actions)
            actions = self.actions
        game = self.states, self._rules, self._decks, self._table, self.points, self.illegal_reward, self.autoreset
        self._entries.step[self._grid](*game, actions, self.movers, self.obs, self.masks, self.rewards, self.dones)

    def sample(self) -> Any:
        """Draw a legal action uniformly in every game; return `actions`, 0 where none is legal."""
        self._entries.sample[self._grid](self.masks, self._rngs, self.actions)
        return self.actions

    def rollout(self, steps: int) -> int:
        """Play ``steps`` random decisions in every game in one launch; return their number.

        `rewards` and `dones` do not change.
        """
        self._entries.rollout[self._grid](
            self.states, self._rules, self._decks, self._table, self._rngs, steps, self.movers, self.obs, self.masks
        )
        return steps * self.num_envs
