"""Table Top for deep Monte Carlo: the network predicts the final points of each line.

Points so far are certain, so the network does not learn them. In the first quarter of a run, each
line learns from its own final points (Monte Carlo). From then on, all lines of a side learn
together, from their final points and from the values on the way there (TD). This removes the luck
that one line has at the cost of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from crib_agents.learned import Weights, table_top
from crib_agents.learned.network import MOST_INPUTS
from crib_agents.learned.table_top import ACTIONS, EACH_TWICE  # sizes on the stack are names
from crib_agents.torch_nets import mlp
from numba import float32, float64, int64, void
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine import stack
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import bit_count
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.show import show_table
from crib_env.engine.table_top import lines
from crib_env.engine.table_top.features import WIDTH, write_line
from crib_env.engine.table_top.records import LINES, SIZE, TO_CRIB, TURNS, VIEWS_T
from crib_env.rules import Rules
from crib_training.learn.deep_monte_carlo.inputs import spread
from crib_training.learn.deep_monte_carlo.self_play import GameDefaults, Samples, SelfPlay, gumbel

LINE_BY_LINE = 0.25  # the share of a run in which each line learns from its own points
TRACE = 0.9  # the lambda of TD: the weight of the final points against values on the way
LEARNED_FROM = 0.3  # the share of positions to learn from: those of one round are alike
CRIB_SIZES = (32, 16)
CRIB_SHARE = 0.3  # the weight of the crib's error in the loss
T = TypeVar("T", Array, Tensor)
OWING_STEP = 10.0  # points per unit of the table "owing": Adam moves all parameters alike


class LineNets(nn.Module):
    """The networks, and the table "owing" in units of `OWING_STEP` points."""

    def __init__(self, hidden_sizes: tuple[int, int]) -> None:
        super().__init__()
        nets = table_top.FAMILY.nets
        self.line = mlp(nets["line"].inputs, *hidden_sizes, 1)
        self.crib = mlp(nets["crib"].inputs, *CRIB_SIZES, 1)
        self.owing = nn.Parameter(torch.zeros(table_top.OWING))


@dataclass(frozen=True)
class TurnResult:
    """The results of one turn of N rounds."""

    points: Array  # int64[N, LINES], of the lines so far
    value: Array  # float64[N, LINES], the expected final points of the lines
    places: Array  # int64[N, 2], the index in the owing table for each side (rows, columns)
    chosen: Array  # int64[K], the rounds to learn from
    inputs: Array  # float32[K, LINES, inputs], of the net for lines
    crib_inputs: Array  # float32[K, inputs], of the net for the crib
    crib_points: Array  # int64[K], of the crib so far


class TableTopSelfPlay(SelfPlay):
    """Table Top and Ship's variation, for two and for four."""

    family = table_top.FAMILY
    defaults = GameDefaults(
        num_envs=512, learning_rate=2e-3, ema_rate=0.01, temperature=0.4, final_temperature=0.1, hidden_sizes=(96, 48)
    )
    nets: LineNets

    def __init__(self, rules: Rules, players: int, settings: Any) -> None:
        super().__init__(rules, players, settings)
        self.nets = LineNets(self.resolved.hidden_sizes)

    def weights(self, nets: nn.Module, made_by: str = "") -> Weights:
        """Return nets as the agent reads them, with the table of values of cards owed."""
        assert isinstance(nets, LineNets)
        owing = (OWING_STEP * nets.owing.detach()).cpu().numpy()
        return replace(super().weights(nets, made_by), tables={"owing": owing})

    def play(self, n: int, progress: float, rng: np.random.Generator) -> Samples:
        """Play ``n`` rounds."""
        weights = self.weights(self.nets)
        flat = weights.flat()
        games = GameBatch(self.rules, n, players=self.players, episode="round", seed=int(rng.integers(1 << 62)))
        games.reset()
        temperature, epsilon = self.exploration(progress)
        turns = []
        for turn in range(TURNS):
            noise = gumbel(rng, (n, ACTIONS), temperature, epsilon)
            last = turn == TURNS - 1  # nothing is open after it
            chosen = np.flatnonzero(rng.random(n) < (0.0 if last else LEARNED_FROM))
            turns.append(play_turn(games, flat, noise, chosen))
        came_to = turns[-1].points  # every line is full
        lanes = np.arange(n)
        cribs = games.tally[lanes, games.sides[games.states["dealer"]], 2]
        line_by_line = progress < LINE_BY_LINE
        if line_by_line:
            targets = [came_to] * TURNS
        else:
            targets = traced(turns, side_sums(came_to), weights.tables["owing"].ravel())
        learned = [
            {
                "inputs": turn.inputs,
                "points": turn.points[turn.chosen].astype(np.float32),
                "open": turn.inputs[:, :, table_top.PHASE : table_top.UNSEEN].any(axis=2),
                "places": turn.places[turn.chosen],
                "targets": target[turn.chosen].astype(np.float32),
                "crib_inputs": turn.crib_inputs,
                "crib_targets": (cribs[turn.chosen] - turn.crib_points).astype(np.float32),
            }
            for turn, target in zip(turns[:-1], targets, strict=False)
        ]
        group = {name: torch.from_numpy(np.concatenate([one[name] for one in learned])) for name in learned[0]}
        return Samples({"lines" if line_by_line else "sides": group}, n * TURNS)

    def loss(self, samples: Samples, rows: Mapping[str, Tensor]) -> Tensor:
        """Return the squared errors of lines (each one's, or a fifth of a side's) and crib."""
        ((name, chosen),) = rows.items()
        batch = {key: tensor[chosen] for key, tensor in samples.groups[name].items()}
        is_open = batch["open"]
        expected = self.nets.line(batch["inputs"][is_open]).squeeze(1)
        value = batch["points"].masked_scatter(is_open, batch["points"][is_open] + expected)
        owing = OWING_STEP * self.nets.owing.flatten()[batch["places"]]
        targets = batch["targets"]
        if name == "lines":
            loss = mse_loss(value[is_open], targets[is_open])
            rest = side_sums(targets) - side_sums(value.detach())
            loss = loss + mse_loss(owing, rest) / SIZE
        else:
            loss = mse_loss(side_sums(value) + owing, targets) / SIZE
        crib = self.nets.crib(batch["crib_inputs"]).squeeze(1)
        return loss + CRIB_SHARE * mse_loss(crib, batch["crib_targets"])


def play_turn(games: GameBatch, flat: Array, noise: Array, chosen: Array) -> TurnResult:
    """Play one turn of all rounds (noise float64[N, ACTIONS]; chosen int64[K])."""
    n, k = games.n, len(chosen)
    lanes = np.arange(n)
    views = games.views(lanes)
    rows = np.full(n, NONE)
    rows[chosen] = np.arange(k)
    actions = np.empty(n, dtype=np.int64)
    value, points = np.empty((n, LINES)), np.empty((n, LINES), dtype=np.int64)
    inputs = np.empty((k, LINES, table_top.FAMILY.nets["line"].inputs), dtype=np.float32)
    crib_inputs = np.empty((k, table_top.FAMILY.nets["crib"].inputs), dtype=np.float32)
    crib_points = np.empty(k, dtype=np.int64)
    choose_actions(views, show_table(), flat, noise, rows, actions, value, points, inputs, crib_inputs, crib_points)
    games.step_legal(lanes, actions)
    mine = views["owed"][:, 0::2].sum(axis=1) - (actions == TO_CRIB)
    theirs = views["owed"][:, 1::2].sum(axis=1)
    left = TURNS - 1 - views["turn"]
    side = views["seat"] & 1
    places, zero = np.empty((n, 2), dtype=np.int64), np.zeros(n, dtype=np.int64)
    places[lanes, side] = np.ravel_multi_index((zero, left, mine, theirs), table_top.OWING)
    places[lanes, 1 - side] = np.ravel_multi_index((zero + 1, left, theirs, mine), table_top.OWING)
    return TurnResult(points, value, places, chosen, inputs, crib_inputs, crib_points)


def traced(turns: list[TurnResult], came_to: Array, owing: Array) -> list[Array]:
    """Return the target value of both sides' lines after each turn, float64[N, 2] each.

    TD(lambda): the final points ``came_to``, mixed with the values after later turns.
    """
    targets = []
    target = came_to.astype(np.float64)
    for turn in reversed(turns):
        targets.append(target)
        if len(targets) > 1:  # after the last turn the value is the final points
            value = side_sums(turn.value) + owing[turn.places]
            target = TRACE * target + (1 - TRACE) * value
    return targets[::-1]


def side_sums(lines: T) -> T:
    """Return the sums of rows and of columns, [N, 2] of [N, LINES]."""
    sums: T = lines.reshape(-1, 2, SIZE).sum(2)
    return sums


# --- compiled: choices by value and noise, and the networks' inputs for them


@kernel
def write_lines(v, table, action, unseen, rows):
    """Write the net's inputs for each line after an action, float32[LINES, inputs]; 0 if full."""
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    features = stack.floats(WIDTH)
    for line in range(LINES):
        row = rows[line]
        for i in range(row.shape[0]):
            row[i] = 0.0
        is_row = 1 if line < SIZE else 0
        i = line % SIZE
        cell = SIZE * i if is_row else i
        cards = lines.line_through(v, cell, is_row)
        if action != TO_CRIB and i == (action // SIZE if is_row else action % SIZE):
            cards |= 1 << v["card"]
        if bit_count(cards) == SIZE:
            continue
        nob = lines.nob_through(v, cell, is_row)
        n = table_top.round_features(v["turn"], unseen, places, values)
        for k in range(n):
            row[places[k]] = values[k]
        side = v["scores_rows"] ^ is_row
        n = table_top.side_features(side, lines.owed_by(v, side), lines.owed_by(v, 1 - side), places, values)
        features[:] = 0.0
        write_line(table, cards, nob, v["flush_size"], unseen, features)
        n = table_top.put_line(features, table_top.LINE_AT, places, values, n)
        for k in range(n):
            row[places[k]] = values[k]


@entry(
    void(
        VIEWS_T, TABLE_T, WEIGHTS_T, float64[:, ::1], int64[::1], int64[::1], float64[:, ::1],
        int64[:, ::1], float32[:, :, ::1], float32[:, ::1], int64[::1],
    ),
    "learn.table_top",
)  # fmt: skip
def choose_actions(views, table, weights, noise, rows, actions, value, points, inputs, crib_inputs, crib_points):
    """Choose an action in each view, and write the position after it.

    ``noise``, float64[B, ACTIONS], is scaled Gumbel noise: a softmax over values. Writes
    ``actions``, int64[B]; the lines' ``value``, float64[B, LINES], after the action and ``points``,
    int64[B, LINES], so far; and at index ``rows[b]``, int64[B], unless it is NONE, the networks'
    ``inputs``, float32[K, LINES, inputs], 0 for full lines, ``crib_inputs``, float32[K, inputs],
    and ``crib_points``, int64[K].
    """
    places = stack.ints(MOST_INPUTS)
    seen = stack.floats(MOST_INPUTS)
    all_points = stack.ints(EACH_TWICE)
    all_values = stack.floats(EACH_TWICE)
    values = stack.floats(ACTIONS)
    for b in range(views.shape[0]):
        v = views[b]
        table_top.line_values(v, table, weights, table_top.EVERY_LINE, all_points, all_values)
        table_top.action_values(v, table, weights, all_values, values)
        for action in range(ACTIONS):
            values[action] += noise[b, action]
        best = table_top.best_legal(values, v["legal"])
        actions[b] = best
        for line in range(LINES):
            at = line
            i = best // SIZE if line < SIZE else best % SIZE
            if best != TO_CRIB and i == line % SIZE:
                at += LINES
            value[b, line] = all_values[at]
            points[b, line] = all_points[at]
        row = rows[b]
        if row == NONE:
            continue
        unseen = lines.unseen_cards(v)
        write_lines(v, table, best, unseen, inputs[row])
        cards = lines.crib_known(v)
        if best == TO_CRIB:
            cards |= 1 << v["card"]
        n = table_top.put_crib(v, table, cards, unseen, places, seen)
        spread(crib_inputs[row], places, seen, n)
        crib_points[row] = lines.points_so_far(table, cards, v["crib_flush_size"], lines.nob_of(v))
