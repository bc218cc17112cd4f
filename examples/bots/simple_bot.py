"""A cribbage bot in Python's standard library: six-card cribbage by simple rules.

    crib evaluate "command:python3 examples/bots/simple_bot.py" rule_based

It keeps the four cards with the most points and plays the card that pegs the most.
"""

import json
import sys
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

RANKS = "A23456789TJQK"


def rank(card: str) -> int:
    """Return 1 for an ace to 13 for a king."""
    return RANKS.index(card[0]) + 1


def pip(card: str) -> int:
    """Return how much a card adds to the count."""
    return min(rank(card), 10)


def points(cards: Sequence[str]) -> int:
    """Return the fifteens, pairs and runs of a hand."""
    total = 0
    for size in range(2, len(cards) + 1):
        for some in combinations(cards, size):
            total += 2 * (sum(map(pip, some)) == 15)
            total += 2 * (size == 2 and rank(some[0]) == rank(some[1]))
    for size in range(len(cards), 2, -1):
        runs = [some for some in combinations(cards, size) if is_run(some)]
        if runs:
            return total + size * len(runs)
    return total


def is_run(cards: Sequence[str]) -> bool:
    """Return whether the ranks follow each other."""
    ranks = sorted(map(rank, cards))
    return all(b == a + 1 for a, b in pairwise(ranks))


def pegged(pile: list[str], count: int, card: str) -> int:
    """Return the points of a card played on the pile of this count."""
    made = [*pile, card]
    count += pip(card)
    total = 2 * (count == 15) + 2 * (count == 31)
    alike = 1
    while alike < len(made) and rank(made[-1 - alike]) == rank(card):
        alike += 1
    total += alike * (alike - 1)
    lengths = (n for n in range(len(made), 2, -1) if is_run(made[-n:]))
    return total + next(lengths, 0)


def discard(message: dict[str, Any]) -> list[str]:
    """Return the two cards to discard: the others score the most."""
    hand = message["hand"] + message["discarded"]
    fits = set(message["discarded"]).issubset
    pairs = [pair for pair in combinations(hand, 2) if fits(pair)]
    away = max(pairs, key=lambda pair: points([card for card in hand if card not in pair]))
    return [card for card in away if card not in message["discarded"]]


def play(message: dict[str, Any]) -> str:
    """Return the card that pegs the most, the highest among equals."""
    pile, count = message["pile"], message["count"]
    legal: list[str] = message["legal"]
    return max(legal, key=lambda card: (pegged(pile, count, card), pip(card)))


def main() -> None:
    """Answer line by line."""
    for line in sys.stdin:
        message = json.loads(line)
        answer: dict[str, Any] | None = None
        if message["type"] == "hello":
            answer = {"name": "simple", "author": "crib-env", "plays": ["six_card"], "games": 1000}
        elif message["type"] == "decision":
            discarding = message["phase"] == "discard"
            answer = {"action": discard(message) if discarding else play(message)}
        elif message["type"] == "quit":
            break
        if answer is not None:
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
