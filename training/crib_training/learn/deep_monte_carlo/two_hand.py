"""The two-hand games for deep Monte Carlo: discarding, with a network per role, and pegging.

The networks do not learn the certain points: those that a card pegs at once, and the exact mean
hand. They learn the points still to peg, of both seats, and the crib's points beyond its mean over
random cards. The target of the crib is the mean over all starters, so it does not contain the
starter's luck.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from crib_agents.learned.network import MOST_INPUTS, UNLIKELY
from crib_agents.learned.rows import SPREAD, put_row, put_state
from crib_agents.learned.two_hand import FAMILY, READ, SIZE_OF_TWO, card_inputs, card_values, pair_value
from crib_agents.torch_nets import mlp
from numba import float64, int64, void
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine import stack
from crib_env.engine.hands.features import AT, EIGHTS, WIDTH_OF_TWO, pair_row
from crib_env.engine.jit import entry
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T, array_of
from crib_env.engine.show import add_card, show_table, with_starter
from crib_env.engine.two_hand import HAND, STATES_T, VIEW
from crib_env.rules import LARGEST_TARGET, Rules, TwoHandRules
from crib_training.learn.deep_monte_carlo.inputs import INPUTS_T, spread
from crib_training.learn.deep_monte_carlo.pegging_tree import follow, pegging_loss
from crib_training.learn.deep_monte_carlo.self_play import GameDefaults, Samples, SelfPlay, gumbel

ROLES = ("discard_pone", "discard_dealer")
# Size of a discard network's first layer relative to the pegging network's: it has fewer inputs.
DISCARD_SIZE = 0.75
DISCARD_TEMPERATURE = 0.2
PAIRS = HAND * (HAND - 1) // 2
MEAN_CRIB_AT = SPREAD + AT.mean_crib - AT.card  # among the inputs of a pair
NOISE_T = float64[:, ::1]
Played = tuple[Array, Array, Array, Array]


class TwoHandSelfPlay(SelfPlay):
    """Six-card, five-card, and any other `TwoHandRules`."""

    family = FAMILY
    defaults = GameDefaults(hidden_sizes=(128, 64))
    nets: nn.ModuleDict
    hides_discards = False  # in the pegging, as ``suits="ranks"`` does
    all_cards = False  # learn from every card of a decision in the pegging, see `pegging_tree`

    def __init__(self, rules: Rules, players: int, settings: Any) -> None:
        super().__init__(rules, players, settings)
        # Deals are played to their end, even where the score would end the game.
        assert isinstance(rules, TwoHandRules)
        self.open_rules = replace(rules, target=LARGEST_TARGET, for_last=0)
        first, second = self.resolved.hidden_sizes
        smaller = max(1, int(DISCARD_SIZE * first))
        self.nets = nn.ModuleDict(
            {
                name: mlp(net.inputs, first if name == "pegging" else smaller, second, net.outputs)
                for name, net in FAMILY.nets.items()
            }
        )

    def play(self, n: int, progress: float, rng: np.random.Generator) -> Samples:
        """Play ``n`` deals."""
        flat = self.weights(self.nets).flat()
        games = GameBatch(self.open_rules, n, episode="deal", seed=int(rng.integers(1 << 62)))
        games.reset()
        lanes = np.arange(n)
        temperature, epsilon = self.exploration(progress)
        seats = np.stack([1 - games.states["dealer"], games.states["dealer"]])  # by role
        seen = []
        for role, name in enumerate(ROLES):
            views = games.views(lanes, seats[role])
            noise = gumbel(rng, (n, PAIRS), DISCARD_TEMPERATURE, epsilon)
            pairs = np.empty((n, 2), dtype=np.int64)
            seen.append(np.empty((n, FAMILY.nets[name].inputs), dtype=np.float32))
            choose_pairs(views, show_table(), flat, noise, pairs, seen[role])
            for column in range(2):
                games.step_legal(lanes, pairs[:, column])
        heels = games.tally[:, :, 0].copy()
        cribs = np.empty(n)
        mean_cribs(games.states, show_table(), self.rules.crib_flush_size, cribs)
        if self.all_cards:
            tree = follow(games, self.nets["pegging"], temperature, epsilon, rng, self.hides_discards)
            pegging = {"inputs": tree.inputs, "targets": tree.targets, "cards": tree.cards}
            pegged, decisions = tree.means, tree.positions
        else:
            played = play_cards(games, flat, temperature, epsilon, rng, self.hides_discards)
            pegging = _pegging_samples(games, played)
            pegged, decisions = (games.tally[:, :, 0] - heels).astype(np.float64), len(pegging["inputs"])
        groups = {"pegging": pegging}
        for role, name in enumerate(ROLES):
            mine, theirs = pegged[lanes, seats[role]], pegged[lanes, seats[1 - role]]
            own = 1 if role else -1  # the crib is the dealer's
            more = cribs - own * EIGHTS * seen[role][:, MEAN_CRIB_AT]
            targets = np.stack([more, mine, theirs], axis=1).astype(np.float32)
            groups[name] = _tensors(seen[role], targets)
        return Samples(groups, 4 * n + decisions)

    def loss(self, samples: Samples, rows: Mapping[str, Tensor]) -> Tensor:
        """Return the losses of the nets, added up."""
        losses = []
        for name in rows:  # groups without samples are missing: few deals may have no decision
            net = self.nets[name]
            group = {key: tensor[rows[name]] for key, tensor in samples.groups[name].items()}
            if "cards" in group:
                losses.append(pegging_loss(net, **group))
            else:
                losses.append(mse_loss(net(group["inputs"]), group["targets"]))
        return torch.stack(losses).sum()


def play_cards(
    games: GameBatch,
    flat: Array,
    temperature: float,
    epsilon: float,
    rng: np.random.Generator,
    hide_discards: bool = False,
) -> Iterator[Played]:
    """Play the pegging of all games; before each step yield its K decisions with a choice.

    Yields the games' indices, int64[K]; the views, [K]; the points that the chosen card pegs at
    once, int64[K]; and the network's inputs for it, float32[K, inputs].
    """
    running = games.running()
    while len(running):
        views = games.views(running)
        if hide_discards:
            views["discarded_n"] = 0
        noise = gumbel(rng, (len(running), HAND), temperature, epsilon)
        cards, chosen, points = np.empty((3, len(running)), dtype=np.int64)
        inputs = np.empty((len(running), FAMILY.nets["pegging"].inputs), dtype=np.float32)
        k = choose_cards(views, show_table(), flat, noise, cards, chosen, points, inputs)
        yield running[chosen[:k]], views[chosen[:k]], points[:k], inputs[:k]
        games.step_legal(running, cards)
        running = games.running(running)


def _pegging_samples(games: GameBatch, played: Iterator[Played]) -> dict[str, Tensor]:
    """Run `play_cards` to its end; return the network's inputs and the later points."""
    inputs, targets = [], []
    decided = []  # games, rows, seats, and both seats' points pegged, with the card's own
    for lanes, views, points, seen in played:
        row, seats = np.arange(len(lanes)), views["seat"]
        before = games.tally[lanes, :, 0]
        before[row, seats] += points
        inputs.append(seen)
        decided.append((lanes, row, seats, before))
    for lanes, row, seats, before in decided:
        rest = games.tally[lanes, :, 0] - before
        targets.append(np.stack([rest[row, seats], rest[row, 1 - seats]], axis=1))
    return _tensors(np.concatenate(inputs), np.concatenate(targets).astype(np.float32))


def _tensors(inputs: Array, targets: Array) -> dict[str, Tensor]:
    return {"inputs": torch.from_numpy(inputs), "targets": torch.from_numpy(targets)}


# --- compiled: choices by value and noise, and the networks' inputs for them


@entry(void(array_of(VIEW), TABLE_T, WEIGHTS_T, NOISE_T, int64[:, ::1], INPUTS_T), "learn.discard")
def choose_pairs(views, table, weights, noise, pairs, inputs):
    """Choose a pair to discard in each view of a seat that holds all its cards.

    Shapes: noise float64[B, PAIRS]; pairs int64[B, 2]; inputs float32[B, inputs].
    """
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    row = stack.floats(WIDTH_OF_TWO)
    for b in range(views.shape[0]):
        v = views[b]
        most = UNLIKELY
        pair = 0
        for j in range(v["hand_n"]):
            for i in range(j):
                low = min(v["hand"][i], v["hand"][j])
                high = max(v["hand"][i], v["hand"][j])
                scores = pair_value(v, table, weights, low, high) + noise[b, pair]
                pair += 1
                if pair == 1 or scores > most:  # if all values are NaN, the first pair
                    most = scores
                    pairs[b, 0] = low
                    pairs[b, 1] = high
        pair_row(v, table, pairs[b, 0], pairs[b, 1], row)
        spread(inputs[b], places, values, put_row(row, 0, places, values, 0))


@entry(int64(array_of(VIEW), TABLE_T, WEIGHTS_T, NOISE_T, int64[::1], int64[::1], int64[::1], INPUTS_T), "learn.play")
def choose_cards(views, table, weights, noise, cards, chosen, points, inputs):
    """Choose a card to play in each view.

    Returns the number K of views with a choice. The first K rows of ``chosen``, ``points`` and
    ``inputs`` are written. Shapes: noise float64[B, HAND]; cards int64[B]; chosen int64[B]; points
    int64[B]; inputs float32[B, inputs].
    """
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    seen = stack.floats(SIZE_OF_TWO)
    now = stack.ints(HAND)
    scores = stack.floats(HAND)
    found = 0
    for b in range(views.shape[0]):
        v = views[b]
        choices = card_values(v, table, weights, seen, now, scores)
        best = NONE
        most = UNLIKELY
        for k in range(v["hand_n"]):
            if not v["legal"] >> k & 1:
                continue
            value = scores[k] + noise[b, k] if scores[k] != UNLIKELY else UNLIKELY
            if best == NONE or value > most:
                most = value
                best = k
        cards[b] = v["hand"][best]
        if choices > 1:
            n = put_state(seen, READ, places, values)
            n = card_inputs(v, seen, best, places, values, n)
            spread(inputs[found], places, values, n)
            chosen[found] = b
            points[found] = now[best]
            found += 1
    return found


@entry(void(STATES_T, TABLE_T, int64, float64[::1]), "learn.mean_cribs")
def mean_cribs(states, table, flush_size, means):
    """Write the mean of each crib over the starters that no seat was dealt (C2, C4, H8, F6).

    As a target the mean has less variance than the crib with the starter turned up.
    """
    for b in range(states.shape[0]):
        s = states[b]
        key, suits, jacks = 0, 0, 0
        dealt = 0
        for i in range(2 * HAND):
            card = s["dealt"][i]
            if card < 0:
                continue
            dealt |= 1 << card
            if s["discarded"][i // HAND] >> (i % HAND) & 1:
                key, suits, jacks = add_card(key, suits, jacks, card)
        total = 0
        starters = 0
        for card in range(52):
            if not dealt >> card & 1:
                total += with_starter(table, key, suits, jacks, 4, card, flush_size)
                starters += 1
        means[b] = total / starters
