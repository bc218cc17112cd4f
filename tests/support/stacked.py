"""Deals arranged by hand, and a table that plays them card by card. Shared by the clause tests.

The table plays every card on the reference too (`reference.Referee`), if that knows the rules, and
compares the two: the expectations of a test hold for both.

In these tests ``p`` is pone (the non-dealer) and ``d`` the dealer; points pegged are written
``"d pair 2"``. Unless a test says otherwise player_1 deals, so scores read (pone, dealer).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crib_env import five_card_v0, format_card, parse_cards, six_card_v0
from crib_env.batch import GameBatch
from crib_env.rules import Rules
from reference import Referee

Array = npt.NDArray[Any]

SHOW = ("hand", "crib")


class Deal(NamedTuple):
    """A stacked deck and the moves that discard."""

    deck: list[int]
    lay: str


def deal(pone: str, dealer: str, starter: str) -> Deal:
    """Return a deal of two hands, each ``"kept cards / discarded cards"``, and the starter."""
    hands = [parse_cards(hand.replace("/", " ")) for hand in (pone, dealer)]
    (turned,) = parse_cards(starter)
    assert len(hands[0]) == len(hands[1])
    dealt = [card for pair in zip(*hands, strict=True) for card in pair] + [turned]
    lay = [f"{who}:{card}" for who, hand in (("p", pone), ("d", dealer)) for card in hand.split("/")[1].split()]
    return Deal(dealt + unused(52 - len(dealt), dealt), " ".join(lay))


def deck_of(hands: Sequence[str], starter: str, crib: str, dealer: int) -> list[int]:
    """Return the deck that deals these hands of games for three or four (M2)."""
    seats = len(hands)
    cards = [parse_cards(hand.replace("/", " ")) for hand in hands]
    order = [cards[(dealer + 1 + turn) % seats][i] for i in range(5) for turn in range(seats)]
    order += parse_cards(f"{crib} {starter}")
    return order + unused(52 - len(order), order)


def unused(n: int, used: Iterable[int]) -> list[int]:
    """Return the first ``n`` cards that are not among those used."""
    taken = set(used)
    return [card for card in range(52) if card not in taken][:n]


def make(game: str | Rules, **keywords: Any) -> Any:
    """Return the raw AEC environment of a two-hand game, by the name of its rules."""
    if game == "five_card":
        return five_card_v0.raw_env(**keywords)
    return six_card_v0.raw_env(rules=game, **keywords)


def legal(env: Any, agent: str) -> set[int]:
    """Return the legal cards of an agent."""
    return set(env.observe(agent)["action_mask"].nonzero()[0].tolist())


class Table:
    """A game of stacked deals."""

    def __init__(
        self,
        *deals: Deal,
        game: str | Rules = "hoyle",
        episode: str = "deal",
        dealer: int = 1,
        scores: Sequence[int] | None = None,
        **keywords: Any,
    ) -> None:
        self.env = make(game, episode=episode, **keywords)
        options: dict[str, Any] = {"decks": [d.deck for d in deals], "dealer": dealer}
        if scores is not None:
            options["scores"] = scores
        self.env.reset(seed=0, options=options)
        self._lay = [d.lay for d in deals]
        self._referee = None
        if game in ("hoyle", "five_card"):
            self._referee = Referee(str(game), options["decks"], dealer, episode, scores)
            self._hold_against_the_referee(0)

    @property
    def scores(self) -> tuple[int, int]:
        return self.env.scores

    @property
    def over(self) -> bool:
        return all(self.env.terminations.values())

    @property
    def to_move(self) -> str:
        """The role to move, p or d."""
        return self._who(int(self.env.agent_selection[-1]), self.env.dealer)

    @property
    def legal(self) -> set[str]:
        """The legal cards of the seat to move, as text."""
        return set(map(format_card, legal(self.env, self.env.agent_selection)))

    @staticmethod
    def _who(seat: int, dealer: int) -> str:
        return "d" if seat == dealer else "p"

    def discard(self) -> list[str]:
        """Discard the cards of the next deal; return the points pegged (heels)."""
        return self.play(self._lay.pop(0))

    def discarded(self) -> Table:
        """Return the table itself once both have discarded."""
        self.discard()
        return self

    def play(self, moves: str) -> list[str]:
        """Play ``"p:5H d:TS"``, each by the seat that must be to move; return the points pegged."""
        pegged = []
        for move in moves.split():
            who, card = move.split(":")
            assert not self.over, f"the episode was over before {move}"
            assert self.to_move == who, f"{move}, but {self.to_move} is to move"
            pegged += self._step(parse_cards(card)[0])
        return pegged

    def finish(self) -> list[str]:
        """Play the lowest legal card to the end of the deal or the episode; return the pegging."""
        pegged = []
        while True:
            pegged += self._step(min(legal(self.env, self.env.agent_selection)))
            if self.over or self.env.view(0)["phase"] == 0:
                return pegged

    def _step(self, card: int) -> list[str]:
        dealer, referee = self.env.dealer, self._referee
        pegged = 0 if referee is None else len(referee.events)
        self.env.step(card)
        if referee is not None:
            try:
                referee.step(card)
            except IndexError:  # the referee has no deck left
                self._referee = None
            else:
                self._hold_against_the_referee(pegged)
        return [f"{self._who(e.seat, dealer)} {e.reason} {e.points}" for e in self.env.events]

    def _hold_against_the_referee(self, pegged: int) -> None:
        """Compare with the referee, whose events from index ``pegged`` on are new."""
        env, referee = self.env, self._referee
        same_events(env.events, referee.events[pegged:])
        assert (list(env.scores), env.dealer) == (referee.scores, referee.dealer)
        assert self.over == (referee.to_move is None)
        if not self.over:
            assert sorted(legal(env, env.agent_selection)) == referee.legal()
            assert env.agent_selection == f"player_{referee.to_move}"


def same_events(events: Sequence[Any], referees: Sequence[Any]) -> None:
    """Raise unless these are the referee's events, whose cards in the show include the starter."""
    expected = [(e.seat, e.points, e.reason) for e in referees]
    assert [(e.seat, e.points, e.reason) for e in events] == expected
    for event, other in zip(events, referees, strict=True):
        assert set(event.cards) == set(other.cards[:-1] if other.reason in SHOW else other.cards)


def in_play(pegged: list[str]) -> list[str]:
    """Return the points pegged without the show."""
    return [peg for peg in pegged if peg.split()[1] not in SHOW]


def in_show(pegged: list[str]) -> list[str]:
    """Return the points pegged in the show."""
    return [peg for peg in pegged if peg.split()[1] in SHOW]


class Lanes(GameBatch):
    """A batch of begun games that refuses illegal actions."""

    def __init__(self, rules: str | Rules, n: int, seed: int, *, episode: str, players: int = 2) -> None:
        rules = Rules.preset(rules) if isinstance(rules, str) else rules
        super().__init__(rules, n, players=players, episode=episode, seed=seed)
        self.reset()

    def step(self, lanes: Array, actions: Array) -> None:
        bad = super().step(lanes, actions)
        assert bad is None, self.why_illegal(lanes[bad], actions[bad])


def sfc32(a: int, b: int, c: int, warm_up: int, n: int) -> list[int]:
    """Return ``n`` words of the generator sfc32, written from its public description."""
    mask, counter, words = 2**32 - 1, 1, []
    for _ in range(warm_up + n):
        word = (a + b + counter) & mask
        counter = (counter + 1) & mask
        a = b ^ (b >> 9)
        b = (c + (c << 3)) & mask
        c = ((((c << 21) | (c >> 11)) & mask) + word) & mask
        words.append(word)
    return words[warm_up:]


def first_dealer(seed: int, players: int, best: Callable[[list[int]], int] = min) -> int:
    """Return the seat that draws the best rank, by a seed's generator; ties draw again."""
    words = sfc32(*np.random.SeedSequence(seed).generate_state(3).tolist(), warm_up=12, n=120)
    ranks = [word * 52 >> 34 for word in words]
    draws = (ranks[i : i + players] for i in range(0, len(ranks), players))
    return next(one.index(best(one)) for one in draws if one.count(best(one)) == 1)
