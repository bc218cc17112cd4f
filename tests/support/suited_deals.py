"""One hand of a toy deck against a network, by slow definition and in exact suits.

Every card of a deal counts: each hand of the other seat, each starter, each pair that either
discards. The pegging is the slow tree's, by ranks. The network is called through `Game`, card by
card, so nothing here is shared with `crib exploit`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np

from crib_env import Game
from crib_env.policy import StochasticPolicy
from reference.deal_tree import DEALER, FAR, PONE, Action, Key, Ranks, State, made
from reference.pegging import Position
from reference.scoring import score_show

Cards = tuple[int, ...]
RULES = "five_card"


class PeggingState(State):
    """A state of the pegging whose payoff leaves out the show."""

    def payoff(self) -> int:
        """Return pone's pegging less the dealer's."""
        assert self.play is not None
        return self.play.needs[DEALER] - self.play.needs[PONE]


class SuitedDeals:
    """All deals of a toy deck, and a network in both seats.

    Args:
        agent: gives its probabilities.
        deck: the cards of the toy.
    """

    def __init__(self, agent: StochasticPolicy, deck: Sequence[int]) -> None:
        self.agent, self.deck = agent, sorted(deck)
        self.discards = cache(self._discards)
        self.pegs = cache(self._pegs)
        self.shown = cache(score_show)

    def gains(self, hand: Cards, role: int) -> tuple[float, float, float]:
        """Return a best response's gains with a hand: total, by discard alone, by pegging alone."""
        own = self.discards(role, hand)
        best, same = {}, {}
        for pair in own:
            show, states = self._against(hand, role, pair)
            toy: Any = SimpleNamespace(deals=states)
            for found, free in ((best, True), (same, False)):
                pegged = made(toy, role, self._strategy, best=free)
                found[pair] = show + sum(pegged.values())
        itself = sum(chance * same[pair] for pair, chance in own.items())
        pegging = sum(chance * best[pair] for pair, chance in own.items()) - itself
        return max(best.values()) - itself, max(same.values()) - itself, pegging

    def _against(self, hand: Cards, role: int, pair: Cards) -> tuple[float, list[Any]]:
        """Return the mean show after a discard, and the pegging's states with probabilities."""
        kept = tuple(card for card in hand if card not in pair)
        others = [card for card in self.deck if card not in hand]
        deals = [
            (theirs, starter)
            for theirs in combinations(others, len(hand))
            for starter in others
            if starter not in theirs
        ]
        sign = 1 if role == DEALER else -1
        show, weights = 0.0, Counter[Any]()
        for theirs, starter in deals:
            for laid, chance in self.discards(1 - role, theirs).items():
                held = tuple(card for card in theirs if card not in laid)
                points = self.shown(kept, starter, False, RULES)
                points -= self.shown(held, starter, False, RULES)
                points += sign * self.shown(tuple(sorted(pair + laid)), starter, True, RULES)
                show += chance / len(deals) * points
                weights[ranks(theirs), ranks(laid), starter // 4] += chance / len(deals)
        return show, [(weight, self._state(role, ranks(hand), ranks(pair), *cell)) for cell, weight in weights.items()]

    def _state(self, role: int, mine: Ranks, pair: Ranks, theirs: Ranks, laid: Ranks, starter: int) -> PeggingState:
        hands, discarded = (mine, theirs), (pair, laid)
        if role == DEALER:
            hands, discarded = hands[::-1], discarded[::-1]
        kept = tuple(
            tuple(sorted((Counter(hand) - Counter(gone)).elements()))
            for hand, gone in zip(hands, discarded, strict=True)
        )
        play = Position(True, (kept[0], kept[1]), (FAR, FAR))
        return PeggingState(hands, starter, discarded, play)

    def _strategy(self, key: Key, actions: Sequence[Action]) -> dict[Action, float]:
        if len(actions) == 1:
            return {actions[0]: 1.0}
        chances: dict[int, float] = self.pegs(*key)
        return {action: chances[action] for action in actions if isinstance(action, int)}

    def _discards(self, role: int, hand: Cards) -> dict[Cards, float]:
        """Return the network's probability of discarding each pair of a hand."""
        found: dict[Cards, float] = defaultdict(float)
        game = stacked(role, hand, ())
        if role == DEALER:  # pone discards first
            for _ in range(2):
                game.push(game.legal_actions[0])
        first = self._asked(game)
        for one in hand:
            game.push(one)
            second = self._asked(game)
            game.pop()
            for other in hand:
                if other != one:
                    found[tuple(sorted((one, other)))] += first[one] * second[other]
        return dict(found)

    def _pegs(self, role: int, hand: Ranks, gone: Ranks, starter: int, line: Ranks) -> Any:
        """Return the network's probability of playing each rank after the ranks of a line."""
        used: set[int] = set()

        def card(rank: int) -> int:
            found = next(c for c in range(4 * rank + 3, 4 * rank - 1, -1) if c not in used)
            used.add(found)
            return found

        turned, mine = card(starter), [card(r) for r in hand]
        theirs = [card(r) for r in line[1 - role :: 2]]
        spare = [c for c in range(52) if c not in used][: 5 - len(theirs)]
        game = stacked(role, tuple(mine), tuple(theirs + spare), turned)
        left = list(mine)
        for seat in (PONE, DEALER):
            for i in range(2):
                discarded = spare[-1 - i] if seat != role else next(c for c in left if c // 4 == gone[i])
                if seat == role:
                    left.remove(discarded)
                game.push(discarded)
        for turn, rank in enumerate(line):
            held = left if turn % 2 == role else theirs
            played = next(c for c in held if c // 4 == rank)
            held.remove(played)
            game.push(played)
        chances = self._asked(game)
        return {rank: float(chances[4 * rank : 4 * rank + 4].sum()) for rank in range(13)}

    def _asked(self, game: Game) -> Any:
        return self.agent.action_probabilities(np.array([game.view(game.seat)]))[0]


def ranks(cards: Cards) -> Ranks:
    """Return the ranks of cards, in order."""
    return tuple(sorted(card // 4 for card in cards))


def stacked(role: int, mine: Cards, theirs: Cards, starter: int | None = None) -> Game:
    """Return a game in which a role has a hand; other unused cards fill the rest."""
    rest = [c for c in range(52) if c not in mine and c not in theirs and c != starter]
    theirs = (*theirs, *rest)[:5]
    rest = [c for c in rest if c not in theirs]
    pone, dealer = (mine, theirs) if role == PONE else (theirs, mine)
    deck = [card for pair in zip(pone, dealer, strict=True) for card in pair]
    game = Game(RULES, episode="deal", seed=1)
    game.reset(decks=[[*deck, *([] if starter is None else [starter]), *rest]], dealer=0)
    return game
