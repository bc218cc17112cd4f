"""Ranks and multisets of ranks as numbers, against Python's own combinations."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from crib_env.cards import DECK_SIZE, pip
from crib_env.engine import ranks


def test_pips_are_those_of_cards() -> None:
    assert [ranks.pips(card >> 2) for card in range(DECK_SIZE)] == [*map(pip, range(DECK_SIZE))]
    assert ranks.WHOLE_DECK.bit_count() == ranks.DECK == DECK_SIZE


@pytest.mark.parametrize("size", range(ranks.MOST + 1))
def test_multisets_hold_every_multiset_once(size: int) -> None:
    found = ranks.multisets(size)
    assert len(found) == ranks.how_many(size)
    every = combinations_with_replacement(range(ranks.RANKS), size)
    assert sorted(map(tuple, found.tolist())) == list(every)
    counts = ranks.rank_counts(size)
    assert (counts.sum(axis=1) == size).all()
    assert all((np.repeat(np.arange(13), row) == held).all() for row, held in zip(counts, found, strict=True))


@pytest.mark.parametrize("size", range(1, ranks.MOST + 1))
def test_multiset_number_is_the_place_among_multisets(size: int) -> None:
    found = ranks.multiset_number(ranks.multisets(size))
    np.testing.assert_array_equal(found, np.arange(ranks.how_many(size)))


def test_pair_number_is_the_place_among_rank_pairs() -> None:
    for number, (low, high) in enumerate(ranks.RANK_PAIRS.tolist()):
        assert ranks.pair_number(low, high) == ranks.pair_number(high, low) == number
