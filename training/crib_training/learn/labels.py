"""A teacher's labels of choices: on disk, and as training data for networks.

A label is a view with a choice, and the teacher's value of each choice. For a card, the value is
the points that both seats still peg. For a discard, it is the points of the crib and the points
that both seats peg. Training subtracts what is certain, since the network need not learn it.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from crib_agents.expert.discard import (
    CRIB_MEAN,
    OTHER_PEGS,
    OWN_PEGS,
    PAIRS,
    rank_discards,
)
from crib_agents.expert.pegging import MY_POINTS, POINTS_NOW, THEIR_POINTS, PeggingExpert
from crib_agents.files import read_arrays, write_whole
from crib_agents.learned import MonteCarloAgent, Weights
from crib_agents.learned.network import MOST_INPUTS
from crib_agents.learned.two_hand import (
    FAMILY,
    card_features,
    discard_features,
    holdable,
    mean_hand,
    shared_features,
)
from numba import int64

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine import stack
from crib_env.engine.hands.counting import (
    alone,
    certain_points,
    least_pip,
    sequence_of,
    unseen_ranks,
)
from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import HAND, VIEW, VIEWS_T
from crib_env.policy import Views
from crib_env.rules import Rules
from crib_training.learn.deep_monte_carlo.two_hand import INPUTS_T, ROLES, play_cards, spread

NETS = ("pegging", *ROLES)
SIGNS = {"pegging": (1, -1), "discard_pone": (-1, 1, -1), "discard_dealer": (1, 1, -1)}
"""How the outputs of a net add up to the value of a choice."""
COMPACT = np.dtype([(name, np.int16, VIEW[name].shape) for name in VIEW.names or ()])


@dataclass(frozen=True, eq=False)
class Labels:
    """What a teacher expects of the choices in views, for one net.

    Attributes:
        views: `COMPACT` [N].
        points: float16[N, choices, outputs]; NaN where there is no such choice. Of cards the
            choices are those of ``hand``, of pairs those of the cards in order of ids.
    """

    views: Array
    points: Array

    def __len__(self) -> int:
        return len(self.views)

    @classmethod
    def joined(cls, parts: Sequence[Labels]) -> Labels:
        """Return all labels of the parts, in their order."""
        return cls(
            np.concatenate([part.views for part in parts]),
            np.concatenate([part.points for part in parts]),
        )

    def save(self, path: Path) -> None:
        """Write them, 600 bytes a label before they are packed, some 40 after."""
        held = io.BytesIO()
        np.savez_compressed(held, views=self.views, points=self.points)
        write_whole(path, held.getvalue())

    @classmethod
    def load(cls, path: Path) -> Labels:
        """Read what `save` wrote."""
        held = read_arrays(path)
        views, points = held.get("views"), held.get("points")
        if views is None or points is None or views.dtype != COMPACT:
            raise ValueError(f"{path} holds no labels of this version")
        if views.ndim != 1 or points.ndim != 3 or len(views) != len(points):
            raise ValueError(f"{path} holds {views.shape} views and {points.shape} labels of them")
        return cls(views, points)


def label_cards(views: Views, teacher: PeggingExpert) -> Labels:
    """Return the expert's labels of views of the pegging."""
    found = teacher.findings(views)
    mine = found[:, :, POINTS_NOW] + found[:, :, MY_POINTS]
    points = np.stack([mine, found[:, :, THEIR_POINTS]], axis=2)
    return Labels(views.astype(COMPACT), points.astype(np.float16))


def label_pairs(views: Views) -> Labels:
    """Return the expert's labels of views of a seat that holds all its cards."""
    columns = rank_discards(views)[1]
    points = np.stack(
        [np.abs(columns[:, :, CRIB_MEAN]), columns[:, :, OWN_PEGS], columns[:, :, OTHER_PEGS]],
        axis=2,
    )
    dealt = int(views["dealt"][0])
    points[:, dealt * (dealt - 1) // 2 :] = np.nan
    return Labels(views.astype(COMPACT), points.astype(np.float16))


def collect(
    weights: Weights, teacher: PeggingExpert, rules: Rules, deals: int, rng: np.random.Generator, *,
    pairs: bool, temperature: float, epsilon: float,
) -> dict[str, Labels]:  # fmt: skip
    """Let a student play deals and label every decision with a choice.

    Args:
        weights: the student's.
        teacher: labels the pegging.
        rules: what is played.
        deals: how many.
        rng: fixes the deals and the student's chance.
        pairs: label discarding too.
        temperature: of the softmax by which the student plays cards; see `gumbel`.
        epsilon: the share of its cards drawn evenly.

    Returns:
        labels by the name of the net.
    """
    games = GameBatch(rules, deals, episode="deal", seed=int(rng.integers(1 << 62)))
    games.reset()
    lanes, student, flat = np.arange(deals), MonteCarloAgent([weights]), weights.flat()
    labels = {}
    seats = np.stack([1 - games.states["dealer"], games.states["dealer"]])  # by role
    for role, name in enumerate(ROLES):
        if pairs:
            labels[name] = label_pairs(games.views(lanes, seats[role]))
        for _ in range(2):
            games.ask(student, lanes, rng)
    seen = [views for _, views, _, _ in play_cards(games, flat, temperature, epsilon, rng)]
    labels["pegging"] = label_cards(np.concatenate(seen), teacher)
    return labels


@entry(int64(VIEWS_T, INPUTS_T, int64[:, ::1]), "learn.card_rows")
def card_rows(views, inputs, about):
    """Write what the net for the play sees of every rank that may be played; return how many rows.

    Shapes: inputs float32[rows, inputs]; about int64[rows, 3].
    """
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    row = 0
    for b in range(views.shape[0]):
        v = views[b]
        sequence = sequence_of(v)
        unseen = unseen_ranks(v)
        least = least_pip(v)
        total = holdable(unseen, least)
        is_alone = alone(v)
        shared = shared_features(v, unseen, least, total, is_alone, places, values)
        ranks = 0
        for k in range(v["hand_n"]):
            rank = v["hand"][k] >> 2
            if not v["legal"] >> k & 1 or ranks >> rank & 1:
                continue
            ranks |= 1 << rank
            now = certain_points(v, k, sequence)
            n = card_features(
                v, k, now, sequence, unseen, least, total, is_alone, places, values, shared
            )
            spread(inputs[row], places, values, n)
            about[row, 0] = b
            about[row, 1] = k
            about[row, 2] = now
            row += 1
    return row


@entry(int64(VIEWS_T, TABLE_T, INPUTS_T, int64[:, ::1]), "learn.pair_rows")
def pair_rows(views, table, inputs, about):
    """Write what a net for discarding sees of every pair, as `card_rows` does; certain is 0."""
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    cards = stack.ints(HAND)
    row = 0
    for b in range(views.shape[0]):
        v = views[b]
        for i in range(v["hand_n"]):
            j = i
            while j > 0 and cards[j - 1] > v["hand"][i]:
                cards[j] = cards[j - 1]
                j -= 1
            cards[j] = v["hand"][i]
        pair = 0
        for i in range(v["hand_n"]):
            for j in range(i + 1, v["hand_n"]):
                mean = mean_hand(v, table, cards[i], cards[j])
                n = discard_features(v, cards[i], cards[j], mean, places, values)
                spread(inputs[row], places, values, n)
                about[row, 0] = b
                about[row, 1] = pair
                about[row, 2] = 0
                pair += 1
                row += 1
    return row


def rows_of(name: str, labels: Labels, chosen: Array) -> tuple[Array, Array, Array]:
    """Return what a net sees of all choices in some of the views, and what it is to put out.

    Shapes: chosen int64[B]; the result float32[rows, inputs].
    """
    views = labels.views[chosen].astype(VIEW)
    most = HAND if name == "pegging" else PAIRS
    inputs = np.empty((most * len(views), FAMILY.nets[name].inputs), dtype=np.float32)
    about = np.empty((most * len(views), 3), dtype=np.int64)
    if name == "pegging":
        rows = card_rows(views, inputs, about)
    else:
        # What is certain of a pair is the hand, which is no part of its labels.
        rows = pair_rows(views, show_table(), inputs, about)
    about = about[:rows]
    targets = labels.points[chosen[about[:, 0]], about[:, 1]].astype(np.float32)
    targets[:, 0] -= about[:, 2]
    return inputs[:rows], targets, about[:, 0]
