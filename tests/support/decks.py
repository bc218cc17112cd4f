"""Decks drawn by a seed: uniform ones, and ones that make long counts."""

from __future__ import annotations

from random import Random


def even_deck(rng: Random) -> list[int]:
    deck = list(range(52))
    rng.shuffle(deck)
    return deck


def shuffled(seed: int) -> list[int]:
    return even_deck(Random(seed))


def low_deck(rng: Random) -> list[int]:
    """Return a deck whose first cards are mostly low: pairs, runs and many cards in a count."""
    return sorted(range(52), key=lambda card: rng.random() ** (1 + 3 * (card < 24)))
