"""A batch of deals in which both seats learn: observations, masks and points, as arrays.

Some 25 of an observation's 425 bits are set. Here an observation is the list of their places, and
the first layer of a network adds up these rows of its weights instead of multiplying by all.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import torch
from numba import float32, int64, uint8, void
from torch import Tensor, nn

from crib_env.arrays import Array, Bools, Doubles, Floats, Ints
from crib_env.batch import GameBatch
from crib_env.encoding import encode, layout_of
from crib_env.engine.family import family_for
from crib_env.engine.jit import entry
from crib_env.rules import TwoHandRules

PLACES = 96  # more than the ones of an observation in a single deal of any game
END = -1.0  # fills a list after its last place


@entry(int64(uint8[:, ::1], float32[:, ::1]))
def write_places(bits, places):  # type: ignore[no-untyped-def]
    """Write the places of each row's ones, float32[B, PLACES]; return the longest list's length."""
    longest = 0
    for k in range(bits.shape[0]):
        n = 0
        for i in range(bits.shape[1]):
            if bits[k, i]:
                if n < places.shape[1]:
                    places[k, n] = i
                n += 1
        for j in range(n, places.shape[1]):
            places[k, j] = -1.0
        longest = max(longest, n)
    return longest


@entry(void(float32[:, :], int64, int64, float32[:, ::1], float32[::1], float32[:, ::1]))
def sum_rows(lists, width, bits, weights, bias, out):  # type: ignore[no-untyped-def]
    """Write the bias plus the sum of the rows of weights that each list names, float32[B, H].

    The columns of ``lists`` are blocks of ``width``; the rows of block b begin at ``b * bits``.
    """
    for k in range(lists.shape[0]):
        row = out[k]
        for j in range(row.shape[0]):
            row[j] = bias[j]
        for block in range(lists.shape[1] // width):
            at, n = block * width, 0
            while n < width and lists[k, at + n] >= 0.0:
                n += 1
            i = 0
            while i + 4 <= n:  # four at a time: the sum is read and written less often
                a = weights[block * bits + int(lists[k, at + i])]
                b = weights[block * bits + int(lists[k, at + i + 1])]
                c = weights[block * bits + int(lists[k, at + i + 2])]
                d = weights[block * bits + int(lists[k, at + i + 3])]
                for j in range(row.shape[0]):
                    row[j] += (a[j] + b[j]) + (c[j] + d[j])
                i += 4
            while i < n:
                a = weights[block * bits + int(lists[k, at + i])]
                for j in range(row.shape[0]):
                    row[j] += a[j]
                i += 1


@entry(void(float32[:, :], int64, int64, float32[:, ::1], float32[:, ::1]))
def add_to_rows(lists, width, bits, given, weights):  # type: ignore[no-untyped-def]
    """Add row k of ``given``, float32[B, H], to each row of weights that list k names."""
    for k in range(lists.shape[0]):
        row = given[k]
        for block in range(lists.shape[1] // width):
            for i in range(width):
                place = lists[k, block * width + i]
                if place < 0.0:
                    break
                of_place = weights[block * bits + int(place)]
                for j in range(row.shape[0]):
                    of_place[j] += row[j]


def places_of(bits: Array) -> Floats:
    """Return the places of the ones in bits, uint8[B, N], as float32[B, PLACES], then `END`."""
    places = np.zeros((len(bits), PLACES), dtype=np.float32)
    longest = write_places(np.ascontiguousarray(bits), places)
    if longest > PLACES:
        raise ValueError(f"an observation has {longest} ones, at most {PLACES} are expected")
    return places


def bits_of(observations: Tensor, bits: int) -> Tensor:
    """Return observations with bits, float32[B, bits + F], from float32[B, PLACES + F]."""
    places = observations[:, :PLACES].long()
    found = observations.new_zeros(len(places), bits + 1)  # the last column takes all `END`
    found.scatter_(1, places.masked_fill(places < 0, bits), 1.0)
    return torch.cat([found[:, :bits], observations[:, PLACES:]], 1)


class _SumOfRows(torch.autograd.Function):
    """The sum of a row of weights for each place, and its gradient."""

    @staticmethod
    def forward(ctx: Any, lists: Tensor, bits: int, weights: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(lists)
        ctx.bits, ctx.rows = bits, len(weights)
        out = torch.empty(len(lists), len(bias))
        sum_rows(lists.numpy(), PLACES, bits, weights.detach().numpy(), bias.detach().numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[None, None, Tensor, Tensor]:
        (lists,), (gradient,) = ctx.saved_tensors, given
        gradient = gradient.contiguous()
        weights = torch.zeros(ctx.rows, gradient.shape[1])
        add_to_rows(lists.numpy(), PLACES, ctx.bits, gradient.numpy(), weights.numpy())
        return None, None, weights, gradient.sum(0)


class SparseLinear(nn.Module):
    """A linear layer over lists of places, one for each of ``blocks`` observations, and numbers.

    Attributes:
        weight: float32[blocks * bits, width], transposed with respect to `torch.nn.Linear`.
        bias: float32[width].
        numbers: the layer of the numbers after the lists; None without any.
    """

    def __init__(self, bits: int, blocks: int, numbers: int, width: int) -> None:
        super().__init__()
        self.bits, self.lists = bits, blocks * PLACES
        inputs = blocks * bits + numbers
        bound = 1 / math.sqrt(inputs)  # as torch.nn.Linear
        self.weight = nn.Parameter(torch.empty(blocks * bits, width).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(width).uniform_(-bound, bound))
        self.numbers = nn.Linear(numbers, width, bias=False) if numbers else None
        if self.numbers is not None:
            nn.init.uniform_(self.numbers.weight, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """Return float32[..., width], from float32[..., blocks * PLACES + numbers]."""
        lists = x[..., : self.lists]
        rows = lists.reshape(-1, self.lists)
        sums: Tensor = _SumOfRows.apply(rows, self.bits, self.weight, self.bias)  # type: ignore[no-untyped-call]
        out = sums.view(*x.shape[:-1], len(self.bias))
        return out if self.numbers is None else out + self.numbers(x[..., self.lists :])

    def dense(self) -> tuple[Tensor, Tensor]:
        """Return weight [width, inputs] and bias, as `torch.nn.Linear` has them."""
        parts = [self.weight.T] + ([] if self.numbers is None else [self.numbers.weight])
        return torch.cat(parts, 1), self.bias


class DealBatch:
    """Deals side by side, each at a decision of a seat with a choice.

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
        size: length of an observation here: `PLACES` for the places of the ones among its bits, see
            `places_of`, then the features.
        actions: number of actions.
        observations: float32[N, size], of the seat to move.
        others: float32[N, PLACES], of the other seat, which a critic may see in training.
        masks: bool[N, actions], the legal actions of the seat to move.
        movers: int64[N], the seat to move.
    """

    def __init__(
        self, rules: TwoHandRules, num_envs: int, seed: int, features: bool = False, suits: str = "canonical"
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
        """Begin a new deal in every game."""
        self.batch.reset()
        self._play_forced(self.lanes)
        self.observe()

    def step(self, actions: Ints) -> tuple[Floats, Bools]:
        """Take ``actions[i]`` in game i, and play the forced cards after it.

        When a deal ends, the next one starts. Returns float32[N], the points of seat 0 less those
        of seat 1, and bool[N], whether a deal ended. Shapes: actions int64[N].
        """
        self.batch.step_legal(self.lanes, actions)
        played = self._play_forced(self.lanes)
        self.observe()
        return played

    def after(self, lanes: Ints, actions: Ints) -> tuple[DealBatch, Doubles, Ints]:
        """Copy the deals ``lanes``; in each copy take an action and play the forced cards after it.

        Returns the copies that still run, not yet observed; float64[K], the points of seat 0 less
        those of seat 1; and the running ones' indices among the K. Shapes: arguments int64[K].
        """
        copies = copy.copy(self)
        copies._hold(lanes)
        copies.batch.step_legal(copies.lanes, actions)
        gains, _ = copies._play_forced(copies.lanes, reset=False)
        running = copies.batch.running()
        copies._hold(running)
        return copies, gains.astype(np.float64), running

    def _hold(self, lanes: Ints) -> None:
        """Replace all deals by copies of these."""
        self.batch = self.batch.copies(lanes)
        self.lanes = np.arange(self.batch.n)

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
            self.batch.step_legal(lanes, views["hand"][np.arange(len(lanes)), places])
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
