"""Inputs of the learned agent's nets, from rows of features or by name, and the nets in NumPy."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .scoring import score_show

RANKS = 13
Named = dict[tuple[Any, ...], float]


def thermometer(name: str, ranks: Sequence[int]) -> Named:
    """Return an input for the first, the second, ... card of each rank."""
    return {(name, n, r): 1.0 for r, many in Counter(ranks).items() for n in range(many)}


def mean_hand(dealt: Sequence[int], discarded: Sequence[int], rules_name: str) -> float:
    """Return the mean of the hand kept over every starter not dealt to the seat."""
    hand = [c for c in dealt if c not in discarded]
    starters = [c for c in range(52) if c not in dealt]
    return sum(score_show(hand, c, False, rules_name) for c in starters) / len(starters)


def kept_inputs(ranks: Sequence[int], count: int) -> Any:
    """Return the ranks kept as a thermometer, then the count one-hot."""
    kept, counts = np.zeros((4, RANKS)), np.zeros(32)
    for r, many in Counter(ranks).items():
        kept[:many, r] = 1.0
    counts[count] = 1.0
    return np.concatenate([kept.ravel(), counts])


def pair_inputs(dealt: Sequence[int], pair: Sequence[int], hand: float, crib: float) -> Any:
    """Return the inputs for discarding a pair with these mean points of hand and crib."""
    ranks = np.zeros((3, RANKS))
    for i, card in enumerate(sorted(pair)):
        ranks[i, card // 4] = 1.0
    kept = kept_inputs([c // 4 for c in dealt if c not in pair], 0)
    after = np.zeros(1 + 1 + 4 * RANKS + 1 + 4)  # inputs of cards to play alone
    return np.concatenate([kept, ranks.ravel(), [hand / 8, crib / 8, 1.0], after])


def dense(seen: Named, place: Any, size: int) -> np.ndarray[Any, Any]:
    """Return named inputs as a vector, with a place for every name."""
    vector = np.zeros(size)
    places = [place(name) for name in seen]
    assert len(set(places)) == len(places)
    for name, value in seen.items():
        vector[place(name)] = value
    return vector


def forward(layers: Any, inputs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a net's outputs."""
    x = inputs
    for i, (weight, bias) in enumerate(layers):
        x = x @ weight.T.astype(np.float64) + bias
        if i < len(layers) - 1:
            x = np.maximum(x, 0)
    return x


def card_inputs(layout: Any, observation: Any, read: Sequence[str], row: int) -> Any:
    """Return the inputs of the card in a row of an observation with features."""
    numbers = observation[layout["rows"]].reshape(layout.rows)[row]
    halves = numbers[layout.row["kept"]]
    ranks = [r for r in range(RANKS) for _ in range(round(2 * halves[r]))]
    kept = kept_inputs(ranks, round(31 * float(numbers[layout.row["count"]][0])))
    state = {name: observation[part] for name, part in layout.items() if name in read}
    if "pile" in state:  # of two-hand games: without the suits
        state["pile"] = state["pile"].reshape(8, 19)[:, [*range(RANKS), 17, 18]].ravel()
    return np.concatenate([*state.values(), kept, numbers[layout.row["card"].start :]])
