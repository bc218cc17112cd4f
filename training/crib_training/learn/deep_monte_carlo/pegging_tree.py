"""The pegging of deals as trees, to learn from every card of a decision.

A played deal gives the points after the card that was played. `follow` gives the mean points of
both seats after each legal card, over the rest of the pegging by the policy, with both hands of the
deal known. So targets have no variance from the play.

Of a deal's decisions some are drawn to learn from: each with the probability that play reaches it,
if the other seat plays by the policy, and this seat by the policy or, with probability epsilon,
uniformly. Every card of a drawn decision is followed. Elsewhere a card of probability below `RARE`
is not, so decisions after it are drawn less often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from crib_env.arrays import Array, Bools, Doubles, Ints
from crib_env.batch import GameBatch
from crib_env.engine.two_hand import HAND
from crib_training.learn.deep_monte_carlo.inputs import inputs_of, one_card_per_rank

RARE = 0.02
SCALE = 0.05  # weight of the points themselves beside the differences


@dataclass(frozen=True)
class Ply:
    """The positions of all trees after the same number of cards: N, and M that follow them."""

    seats: Ints  # to move, [N]
    learned: Bools  # whether a position is a decision to learn from, [N]
    cards: Ints  # followed, [M, 2]: a position and a place in its hand
    shares: Doubles  # the probability of each among those followed from its position, [M]
    gains: Doubles  # the points that each pegs, [M, seats]
    # of the L cards of decisions to learn from
    sure: Doubles  # the certain points of playing it, [L]
    inputs: Array  # of the network, float32[L, inputs]


@dataclass(frozen=True)
class Followed:
    """The result of `follow`.

    Shapes: D deals; K decisions to learn from, with up to C cards each.
    """

    means: Doubles  # the mean points of each seat in the pegging, [D, seats]
    inputs: Tensor  # of the network, float32[K, C, inputs]
    targets: Tensor  # points of the mover and of the other seat after a card's own, float32[K, C, 2]
    cards: Tensor  # whether a decision has the card, bool[K, C]
    positions: int  # number of positions with a choice


def row_softmax(values: Doubles, temperature: float) -> Doubles:
    """Return the softmax of each row, float64[N, HAND]; -inf is no card, and a row may be empty."""
    most = values.max(axis=1, keepdims=True)
    weights = np.exp((values - np.where(np.isinf(most), 0.0, most)) / temperature)
    totals = weights.sum(axis=1, keepdims=True)
    found: Doubles = weights / np.where(totals > 0, totals, 1.0)
    return found


def follow(
    games: GameBatch,
    net: nn.Module,
    temperature: float,
    epsilon: float,
    rng: np.random.Generator,
    hide_discards: bool = False,
) -> Followed:
    """Follow the pegging of copies of all games.

    Args:
        games: deals that begin the pegging.
        net: the network of both seats.
        temperature: of the softmax over its values, the policy of both seats.
        epsilon: the probability that a decision's own seat chose uniformly on the way to it.
        rng: draws the decisions to learn from.
        hide_discards: whether the network does not see the discards.
    """
    reach = np.ones((games.n, 2, 2))  # reach probability by seat: by the policy, by uniform choices
    plies: list[Ply] = []
    positions = 0
    while len(games.running()):
        numbers = np.arange(games.n)
        views = games.views(numbers)
        if hide_discards:
            views["discarded_n"] = 0
        (cards, many), seats = one_card_per_rank(views), games.movers(numbers)
        choices = np.bincount(cards[:, 0], minlength=games.n)
        positions += int((choices > 1).sum())
        several = choices[cards[:, 0]] > 1
        inputs, sure = inputs_of(views, cards[several])
        with torch.inference_mode():
            expected = net(torch.from_numpy(inputs)).numpy()
        # A row without cards is of a deal that is already over.
        values = np.full((games.n, HAND), -np.inf)
        values[tuple(cards.T)] = 0.0
        # `MixedAgent` draws a card, so a rank held twice counts twice.
        worth = sure + expected[:, 0] - expected[:, 1]
        values[tuple(cards[several].T)] = worth + temperature * np.log(many[several])
        probabilities = row_softmax(values, temperature)[tuple(cards.T)]
        own, other = reach[numbers, seats], reach[numbers, 1 - seats, 0]
        weight = other * ((1 - epsilon) * own[:, 0] + epsilon * own[:, 1])
        learned = (choices > 1) & (rng.random(games.n) < weight)
        of_learned = learned[cards[:, 0]]
        followed = of_learned | ~(probabilities < RARE)  # so NaN is followed
        inputs, sure = inputs[of_learned[several]], sure[of_learned[several]]
        cards, probabilities = cards[followed], probabilities[followed]
        parents = cards[:, 0]
        shares = probabilities / np.bincount(parents, probabilities, games.n)[parents]
        actions = views["hand"][tuple(cards.T)]
        games = games.copies(parents)
        games.step_legal(np.arange(games.n), actions)
        reach, movers = reach[parents], seats[parents]
        reach[np.arange(games.n), movers, 0] *= probabilities
        reach[np.arange(games.n), movers, 1] /= choices[parents]
        gains = games.tally[:, :, 0].astype(np.float64)
        plies.append(Ply(seats, learned, cards, shares, gains, sure, inputs))
    return back_up(plies, positions)


def back_up(plies: list[Ply], positions: int) -> Followed:
    """Add up the mean points after each card, from the last ply to the first."""
    most = 1 + max(int(ply.cards[:, 1].max()) for ply in plies)
    rest = np.zeros((len(plies[-1].cards), 2))
    parts: list[tuple[Array, Array, Array]] = []
    for ply in reversed(plies):
        after = ply.gains + rest
        parents, n = ply.cards[:, 0], len(ply.seats)
        rest = np.stack([np.bincount(parents, ply.shares * after[:, seat], n) for seat in range(2)], axis=1)
        rows = np.flatnonzero(ply.learned[parents])
        movers = ply.seats[parents[rows]]
        k = int(ply.learned.sum())
        at = np.cumsum(ply.learned)[parents[rows]] - 1, ply.cards[rows, 1]
        inputs = np.zeros((k, most, ply.inputs.shape[1]), dtype=np.float32)
        targets, cards = np.zeros((k, most, 2), dtype=np.float32), np.zeros((k, most), dtype=bool)
        inputs[at], cards[at] = ply.inputs, True
        targets[at] = np.stack([after[rows, movers] - ply.sure, after[rows, 1 - movers]], axis=1)
        parts.append((inputs, targets, cards))
    found = [torch.from_numpy(np.concatenate(part)) for part in zip(*parts, strict=True)]
    return Followed(rest, found[0], found[1], found[2], positions)


def cards_loss(errors: Tensor, decisions: Tensor) -> Tensor:
    """Return the loss: squared errors of differences between a decision's cards, and of points.

    Shapes: errors float32[N, 2], of both seats' points; decisions int64[N].
    """
    worth = errors[:, 0] - errors[:, 1]
    _, which, many = torch.unique(decisions, return_inverse=True, return_counts=True)
    means = torch.zeros(len(many), device=errors.device).index_add(0, which, worth) / many
    loss: Tensor = ((worth - means[which]) ** 2).mean() + SCALE * (errors**2).mean()
    return loss


def pegging_loss(net: nn.Module, inputs: Tensor, targets: Tensor, cards: Tensor) -> Tensor:
    """Return the loss of a network over decisions, with the fields of `Followed`."""
    decisions = cards.nonzero()[:, 0]
    loss: Tensor = cards_loss(net(inputs[cards]) - targets[cards], decisions)
    return loss
