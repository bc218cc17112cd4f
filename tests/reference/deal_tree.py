"""One deal of a toy cribbage as a game tree, by slow definition: ranks alone, every branch a state.

The deck has a few ranks, each as often as there are suits, and neither flushes nor nobs count, so
hands of the same ranks are alike. Discarding is one action, the two ranks; then the play.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any

from .pegging import Position
from .scoring import fifteens, pairs, runs

PONE, DEALER = 0, 1
FAR = 1000  # points to make: no deal ends a game

Ranks = tuple[int, ...]
Action = Ranks | int
Key = tuple[Any, ...]
Strategy = Callable[[Key, Sequence[Action]], dict[Action, float]]


def count_shown(ranks: Ranks) -> int:
    """Return the points of ranks without suits, the starter's rank among them (C2)."""
    held = [4 * r for r in ranks]
    return fifteens(held) + pairs(held) + runs(held)


def taken(held: Ranks, some: Ranks) -> Ranks:
    """Return a multiset of ranks less some of them."""
    rest = list(held)
    for r in some:
        rest.remove(r)
    return tuple(rest)


@dataclass(frozen=True)
class State:
    """A position of the deal: hands as dealt, discards (None before a discard), the play.

    ``single`` says whether there is one count; ``course`` has the seat and rank of every card
    played.
    """

    hands: tuple[Ranks, Ranks]
    starter: int
    discarded: tuple[Ranks | None, Ranks | None] = (None, None)
    play: Position | None = None
    single: bool = True
    course: tuple[tuple[int, int], ...] = ()

    @property
    def player(self) -> int | None:
        """The seat to act; None at the end."""
        if self.discarded[PONE] is None:
            return PONE
        if self.play is None:
            return DEALER
        return self.play.turn

    def actions(self) -> list[Action]:
        """Return the legal discards, or the ranks that may be played."""
        player = self.player
        assert player is not None
        if self.play is None:
            return sorted(set(combinations(self.hands[player], 2)))
        return list(self.play.fits(player))

    def after(self, action: Action) -> "State":
        """Return the position after an action."""
        player = self.player
        assert player is not None
        if self.play is not None:
            assert isinstance(action, int)
            course = (*self.course, (player, action))
            return replace(self, play=self.play.play(action), course=course)
        assert isinstance(action, tuple)
        if player == PONE:
            return replace(self, discarded=(action, None))
        discarded = self.discarded[PONE]
        assert discarded is not None
        kept = taken(self.hands[PONE], discarded), taken(self.hands[DEALER], action)
        return replace(self, discarded=(discarded, action), play=Position(self.single, kept, (FAR, FAR)))

    def key(self) -> Key:
        """Return the information of the seat to act: role, cards, discards, starter, play.

        The play is the ranks played; if there are several counts, pairs of seat and rank.
        """
        player = self.player
        assert player is not None
        if self.play is None:
            return player, self.hands[player], None, None, ()
        line = self.play.line if self.single else self.course
        return player, self.hands[player], self.discarded[player], self.starter, line

    def payoff(self) -> int:
        """Return pone's points less the dealer's, of an ended deal."""
        pone, dealer = self.discarded
        assert pone is not None
        assert dealer is not None
        assert self.play is not None
        shown = [
            count_shown((*taken(hand, discarded), self.starter))
            for hand, discarded in zip(self.hands, (pone, dealer), strict=True)
        ]
        crib = count_shown((*pone, *dealer, self.starter))
        needs = self.play.needs
        return needs[DEALER] - needs[PONE] + shown[PONE] - shown[DEALER] - crib


@dataclass(frozen=True)
class Toy:
    """A toy deck: its ranks, how many suits, cards dealt to a seat, whether there is one count."""

    ranks: Ranks
    suits: int = 4
    dealt: int = 5
    single: bool = True

    @cached_property
    def deals(self) -> list[tuple[float, State]]:
        """Every deal with its probability."""
        weights = []
        for hands in self._hands({}, 2):
            used = Counter(hands[0] + hands[1])
            ways = 1
            seen: Counter[int] = Counter()
            for hand in hands:
                for r, n in Counter(hand).items():
                    ways *= comb(self.suits - seen[r], n)
                seen.update(hand)
            for starter in self.ranks:
                left = self.suits - used[starter]
                if left:
                    weights.append((ways * left, State(hands, starter, single=self.single)))
        total = sum(weight for weight, _ in weights)
        return [(weight / total, state) for weight, state in weights]

    def _hands(self, used: dict[int, int], n: int) -> Iterator[Any]:
        if n == 0:
            yield ()
            return
        for hand in combinations_with_replacement(sorted(self.ranks), self.dealt):
            more = Counter(used) + Counter(hand)
            if max(more.values()) <= self.suits:
                for rest in self._hands(more, n - 1):
                    yield (hand, *rest)


def made(toy: Toy, seat: int, strategy: Strategy, *, best: bool, hands: Collection[Ranks] = ()) -> dict[Ranks, float]:
    """Return a seat's points by its hand, times the hand's probability, against a strategy.

    Args:
        toy: the deck. seat: the one that scores. strategy: of the other seat.
        best: whether the seat plays a best response, with one action for all positions that it
            cannot tell apart; else it plays the strategy too.
        hands: those of the seat to return; by default all.
    """
    sign = 1 if seat == PONE else -1

    def answer(items: list[tuple[float, State]]) -> float:
        total = 0.0
        apart: dict[Key, list[tuple[float, State]]] = defaultdict(list)
        while items:
            weight, state = items.pop()
            if state.player is None:
                total += weight * sign * state.payoff()
            elif best and state.player == seat:
                apart[state.key()].append((weight, state))
            else:
                for action, p in strategy(state.key(), state.actions()).items():
                    if p > 0:
                        items.append((weight * p, state.after(action)))
        for alike in apart.values():
            total += max(
                answer([(weight, state.after(action)) for weight, state in alike]) for action in alike[0][1].actions()
            )
        return total

    by_hand: dict[Ranks, list[tuple[float, State]]] = defaultdict(list)
    for weight, state in toy.deals:
        if not hands or state.hands[seat] in hands:
            by_hand[state.hands[seat]].append((weight, state))
    return {hand: answer(items) for hand, items in by_hand.items()}


def exploitability(toy: Toy, strategy: Strategy) -> float:
    """Return the gain of a best response, the mean of both seats."""
    seats = (PONE, DEALER)
    return sum(sum(made(toy, seat, strategy, best=True).values()) for seat in seats) / 2
