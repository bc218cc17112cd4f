"""The expert's pegging by slow definition: its belief, its search and the rules under them.

Hypotheses are tuples of ranks, the play is a list of cards with their seats, and hypotheses share
no computation. The expert's learned tables are arguments.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any

from .scoring import score_play

ME, THEM = 0, 1
RANKS = 13
NO_CARD = 13  # in the line before its first card
COUNTS, LEAST, LEFT, HANDS = 32, 11, 4, 560
SHAPES = ((LEFT, COUNTS, RANKS, 14), (LEFT, 5, LEAST, COUNTS, 2), (HANDS, COUNTS), (HANDS, RANKS), (RANKS, 14, 14))
OUT = 1000.0

Holding = tuple[int, ...]
NUMBERS = {
    holding: number
    for number, holding in enumerate(
        sorted(
            (h for size in range(5) for h in combinations_with_replacement(range(RANKS), size)),
            # By size, then by the highest rank, then by the next.
            key=lambda h: (len(h), h[::-1]),
        )
    )
}


def pip(rank: int) -> int:
    """Return the count of a rank."""
    return min(rank + 1, 10)


def without(held: Holding, rank: int) -> Holding:
    """Return a holding less one card."""
    rest = list(held)
    rest.remove(rank)
    return tuple(rest)


@dataclass(frozen=True)
class Position:
    """The play as both seats know it, and a known or supposed holding of each."""

    single: bool
    held: tuple[Holding, Holding]
    needs: tuple[int, int]
    line: Holding = ()
    go: bool = False
    least: tuple[int, int] = (1, 1)
    turn: int | None = ME
    whole: tuple[Holding, Holding] = ((), ())  # the hands before the first lead

    @property
    def count(self) -> int:
        """The present count."""
        return sum(map(pip, self.line))

    def fits(self, seat: int) -> list[int]:
        """Return the ranks the seat may play."""
        return sorted({r for r in self.held[seat] if self.count + pip(r) <= 31})

    def points(self, rank: int) -> int:
        """Return the points of a rank as the next card, without a go."""
        line = (*self.line, rank)
        count = sum(map(pip, line))
        return sum(score_play(line, count)) + ((1 if self.go else 2) if count == 31 else 0)

    def play(self, rank: int) -> "Position":
        """Return the position after the seat to play plays a rank, with the next seat to play."""
        seat = self.turn
        assert seat is not None
        other = 1 - seat
        held = list(self.held)
        held[seat] = without(held[seat], rank)
        needs = list(self.needs)
        needs[seat] -= self.points(rank)
        after = replace(self, held=tuple(held), needs=tuple(needs), line=(*self.line, rank))
        if needs[seat] <= 0:
            return replace(after, turn=None)
        least = list(self.least)
        if after.count < 31:
            if after.fits(other):
                return replace(after, turn=other)
            if held[other]:
                least[other] = max(least[other], 32 - after.count)
            goes_on = bool(after.fits(seat))
            if not self.go and not (goes_on and self.single):
                needs[seat] -= 1
                after = replace(after, go=True, needs=tuple(needs))
                if needs[seat] <= 0:
                    return replace(after, turn=None)
            after = replace(after, least=tuple(least))
            if goes_on:
                return replace(after, turn=seat)
            if held[seat]:
                least[seat] = max(least[seat], 32 - after.count)
            after = replace(after, least=tuple(least))
        if self.single or not (held[0] or held[1]):
            return replace(after, turn=None)
        return replace(after, line=(), go=False, turn=other if held[other] else seat)


@dataclass
class Pegging:
    """The expert of one game.

    Attributes:
        tables: its learned tables, one after the other.
        kept: how often the other seat's role keeps a holding, by the holding's number.
        temperature, floor, unlikely: the assumed play of the other seat.
        end_value: the value of an end of the pegging, given the other seat's whole hand.
        standing: near the end of a game, a function of the seat, its whole hand and both needs
            that returns the seat's standing and tables; elsewhere None.
        by_points: near the end, the expert that plays elsewhere, with its part of the temperature.
        lead: near the end, the probability that the other seat leads a rank in a position.
    """

    tables: Any
    kept: Any
    temperature: float
    floor: float
    unlikely: float
    end_value: Callable[[Position, Holding], float]
    standing: Callable[[int, Holding, int, int], tuple[float, Any]] | None = None
    by_points: "Pegging | None" = None
    lead: Callable[[Position, int], float] | None = None

    @staticmethod
    def parts(tables: Any) -> list[Any]:
        """Split the tables into the five parts."""
        at, parts = 0, []
        for shape in SHAPES:
            size = math.prod(shape)
            parts.append(tables[at : at + size].reshape(shape))
            at += size
        assert at == len(tables)
        return parts

    def value(self, position: Position, seat: int, rank: int) -> float:
        """Return the rollout policy's value of a rank for the seat to play."""
        line = (*position.line, rank)
        count = sum(map(pip, line))
        rest = without(position.held[seat], rank)
        before = (*reversed(position.line), NO_CARD, NO_CARD)
        go = int(position.go)
        points = position.points(rank)
        others, least = len(position.held[1 - seat]), position.least[1 - seat]
        needs = position.needs[seat] - points
        at_once, tables = float(points), self.tables
        if self.standing is not None:
            if needs <= 0:
                return OUT
            whole = position.whole[seat]
            at_once, tables = self.standing(seat, whole, needs, position.needs[1 - seat])
        elif needs <= 0:
            at_once += OUT
        parts = self.parts(tables.astype(float))
        return float(
            at_once
            + parts[0][len(rest), count, rank, before[0]]
            + parts[1][len(rest), others, least, count, go]
            + parts[2][NUMBERS[rest], count]
            + parts[3][NUMBERS[rest], rank]
            + parts[4][rank, before[0], before[1]]
        )

    def probabilities(self, position: Position, seat: int) -> dict[int, float]:
        """Return the assumed probability of each rank for the seat to play."""
        scaled = {r: self.value(position, seat, r) / self.temperature for r in position.fits(seat)}
        if self.by_points is not None:
            for r in scaled:
                scaled[r] += self.by_points.value(position, seat, r) / self.by_points.temperature
        top = max(scaled.values())
        raw = {r: math.exp(x - top) if x - top > self.unlikely else 0.0 for r, x in scaled.items()}
        return {r: x / sum(raw.values()) for r, x in raw.items()}

    def belief(
        self, start: Position, played: Sequence[tuple[int, int]], unseen: Counter[int], left: int
    ) -> Iterator[tuple[float, Position]]:
        """Yield the unnormalised weight of each hypothesis, and the position under it.

        Args:
            start: the position before the first lead, with this seat's whole hand.
            played: (seat, rank) of every card so far.
            unseen: how many cards of each rank this seat has not seen.
            left: how many cards the other seat still holds.
        """
        theirs = tuple(r for seat, r in played if seat == THEM)
        for more in combinations_with_replacement(range(RANKS), left):
            ways = math.prod(math.comb(unseen[r], n) for r, n in Counter(more).items())
            whole = tuple(sorted(more + theirs))
            if not ways:
                continue
            weight = ways * self.kept[NUMBERS[whole]]
            position: Position | None = replace(start, held=(start.held[ME], whole), whole=(start.held[ME], whole))
            for i, (seat, rank) in enumerate(played):
                if position is None or position.turn != seat or rank not in position.fits(seat):
                    position = None  # the hypothesis contradicts the play
                    break
                if seat == THEM and i == 0 and self.lead is not None:
                    weight *= self.lead(position, rank)
                elif seat == THEM:
                    likely = self.probabilities(position, THEM)[rank]
                    floor = self.floor / len(position.fits(THEM))
                    weight *= floor + (1.0 - self.floor) * likely
                position = position.play(rank)
            if position is not None and position.turn == ME:
                yield weight, position

    def ends(self, position: Position) -> Position:
        """Roll out to the end."""
        while position.turn is not None:
            seat = position.turn
            ranks = position.fits(seat)
            values = [self.value(position, seat, r) for r in ranks]
            position = position.play(ranks[values.index(max(values))])
        return position

    def findings(
        self, hypotheses: Sequence[tuple[float, Position]], rank: int, played: Holding
    ) -> tuple[float, float, float, float]:
        """Return the value of a rank, its points now, and both seats' points after it.

        Args:
            hypotheses: those of `belief`, with the points that both seats need.
            rank: the one to play now.
            played: the other seat's cards so far.
        """
        total = sum(weight for weight, _ in hypotheses)
        value = mine = theirs = now = 0.0
        for weight, before in hypotheses:
            now = min(before.points(rank), before.needs[ME])
            after = before.play(rank)
            if after.turn == THEM:
                replies = [(p, after.play(r)) for r, p in self.probabilities(after, THEM).items()]
            else:
                replies = [(1.0, after)]
            for p, reply in replies:
                end = self.ends(reply)
                likely = p * weight / total
                value += likely * self.end_value(end, tuple(sorted(before.held[THEM] + played)))
                mine += likely * (before.needs[ME] - now - max(end.needs[ME], 0))
                theirs += likely * (before.needs[THEM] - max(end.needs[THEM], 0))
        return value, now, mine, theirs
