"""Exhaustive counts ("perft"): hands by their points, games by their moves.

Exact counts find what sampled games miss. These are slow and plain: every hand is dealt out, and
every sequence of moves is played by a separate referee.
"""

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from itertools import combinations
from typing import NamedTuple, TypeVar

from .many_hand import ManyHandReferee
from .scoring import fifteens, flush, nobs, pairs, rank, runs
from .table_top import TableTopReferee
from .two_hand import Referee

HIGHEST = 29

Position = TypeVar("Position", Referee, ManyHandReferee, TableTopReferee)


def show_histogram(held: int, crib: bool) -> list[int]:
    """Return how many of all sets of ``held`` cards with all starters score 0, 1, ... 29.

    Only starters of one suit are dealt out, and their hands are counted four times: a permutation
    of the suits changes no score. Points of ranks do not depend on suits, so each combination of
    ranks is scored once.
    """
    by_ranks: dict[tuple[int, ...], int] = {}
    counts = [0] * (HIGHEST + 1)
    for starter in range(0, 52, 4):
        rest = [card for card in range(52) if card != starter]
        for hand in combinations(rest, held):
            cards = [*hand, starter]
            ranks = tuple(sorted(map(rank, cards)))
            if ranks not in by_ranks:
                by_ranks[ranks] = fifteens(cards) + pairs(cards) + runs(cards)
            points = by_ranks[ranks] + flush(hand, starter, crib) + nobs(hand, starter)
            counts[points] += 4
    return counts


class Tree(NamedTuple):
    """All continuations of a position.

    Attributes:
        sequences: how many different sequences of 1, 2, ... actions there are.
        ended: how many of those ended the episode with their last action.
        points: the scores of all sides after those that ended it, summed over them.
    """

    sequences: list[int]
    ended: list[int]
    points: list[int]


def tree(position: Position, depth: int) -> Tree:
    """Play out every sequence of at most ``depth`` actions, each on a copy."""
    sequences, ended, points = [0] * depth, [0] * depth, [0] * len(position.scores)
    waiting = [(position, 0)]
    while waiting:
        before, played = waiting.pop()
        for after in _moves(before):
            sequences[played] += 1
            if after.to_move is None:
                ended[played] += 1
                points = [sum(both) for both in zip(points, after.scores, strict=True)]
            elif played + 1 < depth:
                waiting.append((after, played + 1))
    return Tree(sequences, ended, points)


def placements(position: TableTopReferee, depth: int) -> list[int]:
    """Return how many sequences of 1, 2, ... ``depth`` Table Top actions there are, all legal.

    The continuations depend only on the filled cells and on the cards that each seat owes the crib
    (T5, T6), so sequences with the same filled cells and owed cards are counted together. The round
    must not end within them.
    """
    ways: Counter[tuple[tuple[bool, ...], tuple[int, ...]]] = Counter()
    level = [(position, 1)]
    sequences = []
    for _ in range(depth):
        ways.clear()
        found: dict[tuple[tuple[bool, ...], tuple[int, ...]], TableTopReferee] = {}
        for before, times in level:
            for action in before.legal():
                filled = [card is not None for card in before.cells]
                owed = list(before.owed)
                if action < len(filled):
                    filled[action] = True
                else:
                    assert before.to_move is not None
                    owed[before.to_move] -= 1
                key = (tuple(filled), tuple(owed))
                ways[key] += times
                if key not in found:
                    found[key] = _after(before, action)
        level = [(found[key], ways[key]) for key in found]
        sequences.append(ways.total())
    return sequences


def _moves(position: Position) -> Iterator[Position]:
    """Yield the position after each legal action."""
    for action in position.legal():
        yield _after(position, action)


def _after(position: Position, action: int) -> Position:
    """Return a copy of the position on which the action has been taken."""
    after = deepcopy(position, {id(position.decks): position.decks})
    after.step(action)
    return after
