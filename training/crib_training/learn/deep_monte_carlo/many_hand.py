"""The games for three and four for deep Monte Carlo: one network for discards and play.

The network does not learn the certain points: the exact mean hand, and the points that a card pegs
at once. It learns the later points, a side's less the mean of the others': those of the pegging,
and for a discard also those of the crib.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from crib_agents.learned.many_hand import FAMILY, READ, SIZE_OF_MANY, card_inputs, card_values
from crib_agents.learned.network import MOST_INPUTS, UNLIKELY
from crib_agents.learned.rows import put_state
from crib_agents.torch_nets import mlp
from numba import float32, float64, int64, void
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from crib_env.batch import GameBatch, ahead_of_others
from crib_env.engine import stack
from crib_env.engine.jit import entry
from crib_env.engine.many_hand import HAND, VIEWS_T
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.show import show_table
from crib_env.rules import LARGEST_TARGET, ManyHandRules, Rules
from crib_training.learn.deep_monte_carlo.inputs import spread
from crib_training.learn.deep_monte_carlo.self_play import GameDefaults, Samples, SelfPlay, gumbel

PEGGING, CRIB = 0, 2  # phases of the tally


class ManyHandSelfPlay(SelfPlay):
    """Three hands, four hands, and any other `ManyHandRules`."""

    family = FAMILY
    defaults = GameDefaults(hidden_sizes=(96, 48))
    nets: nn.ModuleDict

    def __init__(self, rules: Rules, players: int, settings: Any) -> None:
        super().__init__(rules, players, settings)
        # Deals are played to their end, even where the score would end the game.
        assert isinstance(rules, ManyHandRules)
        self.open_rules = replace(rules, target=LARGEST_TARGET)
        sizes = self.resolved.hidden_sizes
        self.nets = nn.ModuleDict({"card": mlp(FAMILY.nets["card"].inputs, *sizes, 1)})

    def play(self, n: int, progress: float, rng: np.random.Generator) -> Samples:
        """Play ``n`` deals."""
        flat = self.weights(self.nets).flat()
        games = GameBatch(self.open_rules, n, players=self.players, episode="deal", seed=int(rng.integers(1 << 62)))
        games.reset()
        temperature, epsilon = self.exploration(progress)
        seen, decided = [], []
        running = games.running()
        for turn in range(n * HAND * self.players):  # an upper bound
            if not len(running):
                break
            views = games.views(running)
            noise = gumbel(rng, (len(running), HAND), temperature, epsilon)
            cards, certain = np.empty(len(running), dtype=np.int64), np.empty(len(running))
            inputs = np.empty((len(running), FAMILY.nets["card"].inputs), dtype=np.float32)
            choose_cards(views, show_table(), flat, noise, cards, certain, inputs)
            discarding = turn < self.players
            before = games.tally[running, :, PEGGING].astype(np.float64)
            sides = games.sides[views["seat"]]
            if not discarding:
                before[np.arange(len(running)), sides] += certain
            several = views["legal"] & (views["legal"] - 1) != 0
            seen.append(inputs[several])
            decided.append((running[several], sides[several], before[several], discarding))
            games.step_legal(running, cards)
            if turn == self.players - 1:
                heels = games.tally[:, :, PEGGING].astype(np.float64)
            running = games.running(running)
        targets = []
        for lanes, sides, before, discarding in decided:
            rest = games.tally[lanes, :, PEGGING] - (heels[lanes] if discarding else before)
            if discarding:
                rest = rest + games.tally[lanes, :, CRIB]
            targets.append(ahead_of_others(rest)[np.arange(len(rest)), sides])
        group = {
            "inputs": torch.from_numpy(np.concatenate(seen)),
            "targets": torch.from_numpy(np.concatenate(targets).astype(np.float32)),
        }
        return Samples({"card": group}, len(group["targets"]))

    def loss(self, samples: Samples, rows: Mapping[str, Tensor]) -> Tensor:
        """Return the squared error of the net."""
        group, chosen = samples.groups["card"], rows["card"]
        expected = self.nets["card"](group["inputs"][chosen]).squeeze(1)
        return mse_loss(expected, group["targets"][chosen])


# --- compiled: choices by value and noise, and the networks' inputs for them


@entry(void(VIEWS_T, TABLE_T, WEIGHTS_T, float64[:, ::1], int64[::1], float64[::1], float32[:, ::1]), "learn.many_hand")
def choose_cards(views, table, weights, noise, cards, certain, inputs):
    """Choose a card in each view by value and noise; write its certain points and inputs.

    Shapes: noise float64[B, HAND]; cards int64[B]; certain float64[B]; inputs float32[B, inputs].
    """
    places = stack.ints(MOST_INPUTS)
    numbers = stack.floats(MOST_INPUTS)
    seen = stack.floats(SIZE_OF_MANY)
    now = stack.floats(HAND)
    values = stack.floats(HAND)
    for b in range(views.shape[0]):
        v = views[b]
        card_values(v, table, weights, seen, now, values)
        best = NONE
        most = UNLIKELY
        for k in range(v["hand_n"]):
            if v["legal"] >> k & 1 and (best == NONE or values[k] + noise[b, k] > most):
                most = values[k] + noise[b, k]
                best = k
        cards[b] = v["hand"][best]
        certain[b] = now[best]
        n = put_state(seen, READ, places, numbers)
        n = card_inputs(v, seen, best, places, numbers, n)
        spread(inputs[b], places, numbers, n)
