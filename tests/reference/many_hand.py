"""Cribbage for three and four, refereed card by card (M1-M11, C1-C5)."""

from collections.abc import Sequence

from .scoring import JACK, rank, score_play, score_show, value
from .two_hand import Event

DEALT = 5  # M2
CRIB_CARDS = 4


class ManyHandReferee:
    """One episode of a game for three or four.

    A deal is one discard by each seat, from the dealer's left on, then the play. "Go" is automatic:
    a seat with nothing to play is skipped. An action is the id of a card.

    Attributes:
        to_move: the seat to act, None when the episode is over.
        scores: by side, in the present game, or in the last one of the episode.
        games: games of a match won, by side (M11).
        winner: the side that won the game (of a match, the match) within this episode, else None:
            a single deal has no winner unless it ends the game.
        dealer: the seat that deals, or dealt last.
        events: everything pegged since the start of the episode; an event's seat is the side.
        hands: the cards each seat still holds.
        kept: the hands as they will be shown, set once all have discarded.
        crib: the card dealt to it, if three play, and those discarded, in order.
        starter: the card turned up, None while cards are discarded.
        played: the seats and cards of this deal's play, in order.
        pile: the cards of the present count, in order.
        count: the present count.
        passed: the seats that had nothing to play in it when it was their turn.
    """

    def __init__(
        self,
        players: int,
        decks: Sequence[Sequence[int]],
        dealer: int,
        episode: str = "game",
        scores: Sequence[int] | None = None,
        partners: bool = False,
        target: int = 121,
        second_go_ends: bool = False,
        match_target: int = 3,
        heels: int = 2,
    ) -> None:
        """Start an episode with its first deal.

        Args:
            players: 3 or 4.
            decks: permutations of the 52 cards, one for each deal in order.
            dealer: the seat of the first dealer.
            episode: "deal", "game" or "match".
            scores: starting scores by side.
            partners: who sit opposite score together (M1).
            target: points that win a game.
            second_go_ends: a count ends at the second go running (M7).
            match_target: games that win a match (M11).
            heels: the points of a jack turned up, for the dealer's side (C3).

        Raises:
            IndexError: here or in `step`, when a deal begins and no deck is left.
        """
        if players not in (3, 4) or (partners and players == 3):
            raise ValueError(f"three or four play, four as partners if they like: {players}")
        if episode not in ("deal", "game", "match"):
            raise ValueError(f"there is no episode {episode!r}")
        self.players = players
        self.side = [seat % 2 if partners else seat for seat in range(players)]
        self.sides = 2 if partners else players
        self.decks = decks
        self.dealer = dealer
        self.episode = episode
        self.target = target
        self.second_go_ends = second_go_ends
        self.match_target = match_target
        self.heels = heels
        self.deals = 0
        self.events: list[Event] = []
        self.games = [0] * self.sides
        self.winner: int | None = None
        self.to_move: int | None = None
        self._game_winner: int | None = None
        self.scores = [0] * self.sides if scores is None else list(scores)
        if len(self.scores) != self.sides or not all(0 <= s < target for s in self.scores):
            raise ValueError(f"scores are {self.sides} numbers below {target}, not {scores}")
        self._deal()

    def legal(self) -> list[int]:
        """Return the cards the seat to move may discard or play, sorted; empty at the end."""
        if self.to_move is None:
            return []
        if self.starter is None:
            return sorted(self.hands[self.to_move])
        return self._playable(self.to_move)

    def step(self, card: int) -> None:
        """Discard or play a card for the seat to move.

        Raises:
            ValueError: if the card is not in `legal()`.
        """
        seat = self.to_move
        if seat is None or card not in self.legal():
            raise ValueError(f"seat {seat} may not choose card {card}; legal: {self.legal()}")
        self.hands[seat].remove(card)
        if self.starter is None:
            self._discard(seat, card)
        else:
            self._play(seat, card)
        # C5: the game is over at the instant it is won; `_peg` has refused everything after it.
        if self._game_winner is not None:
            self._end_game(self._game_winner)

    def _left(self, seat: int) -> list[int]:
        """Return the seats from the left of one on, that seat last."""
        return [(seat + i) % self.players for i in range(1, self.players + 1)]

    def _peg(self, seat: int, points: int, reason: str, cards: Sequence[int]) -> None:
        """Move the peg of a seat's side, unless the game has been won already (C5, M1)."""
        if self._game_winner is not None or points == 0:
            return
        side = self.side[seat]
        pegged = min(points, self.target - self.scores[side])
        self.scores[side] += pegged
        self.events.append(Event(side, pegged, reason, tuple(cards)))
        if self.scores[side] == self.target:
            self._game_winner = side

    def _deal(self) -> None:
        """Deal five cards each, one at a time, and one to the crib if three play (M2)."""
        deck = list(self.decks[self.deals])
        if sorted(deck) != list(range(52)):
            raise ValueError("a deck is a permutation of the 52 cards")
        self.deals += 1
        self.hands: list[list[int]] = [[] for _ in range(self.players)]
        for _ in range(DEALT):
            for seat in self._left(self.dealer):
                self.hands[seat].append(deck.pop(0))
        self.crib = [deck.pop(0)] if self.players == 3 else []
        self._next_card = deck.pop(0)  # hidden from every seat until it is turned up
        self.kept: list[list[int]] = [[] for _ in range(self.players)]
        self.starter: int | None = None
        self.to_move = self._left(self.dealer)[0]
        self.played: list[tuple[int, int]] = []
        self._new_count()

    def _discard(self, seat: int, card: int) -> None:
        """Lay a card in the crib; after the fourth, turn up the starter and begin the play."""
        self.crib.append(card)
        first = self._left(self.dealer)[0]
        if len(self.crib) < CRIB_CARDS:
            self.to_move = self._left(seat)[0]
            return
        self.kept = [sorted(hand) for hand in self.hands]
        self.starter = self._next_card  # M4
        if rank(self.starter) == JACK:
            self._peg(self.dealer, self.heels, "heels", [self.starter])
        self.to_move = first  # M5

    def _new_count(self) -> None:
        """Turn the played cards down and start counting from zero."""
        self.pile: list[int] = []
        self.count = 0
        self.passed: set[int] = set()

    def _playable(self, seat: int) -> list[int]:
        """Return the cards that would not take the count past 31, none at 31 (M5)."""
        return sorted(c for c in self.hands[seat] if self.count + value(c) <= 31)

    def _play(self, seat: int, card: int) -> None:
        """Play a card: score it (M6), and find the next seat."""
        self.pile.append(card)
        self.played.append((seat, card))
        self.count += value(card)

        parts = score_play([rank(c) for c in self.pile], self.count)
        alike = {0: 1, 2: 2, 6: 3, 12: 4}[parts.pair]
        self._peg(seat, parts.fifteen, "fifteen", self.pile)
        self._peg(seat, parts.pair, "pair", self.pile[-alike:])
        self._peg(seat, parts.run, "run", self.pile[-parts.run :])

        after = self._after(seat)
        if after is not None:
            self.to_move = after
            return
        left = any(self.hands)
        if self.count == 31:
            self._peg(seat, 2, "thirty_one", self.pile)  # M8
        else:
            self._peg(seat, 1, "go" if left else "last", [card])  # M7
        if not left:
            self._show()
            return
        self._new_count()
        self.to_move = next(other for other in self._left(seat) if self.hands[other])  # M8

    def _after(self, seat: int) -> int | None:
        """Return the next seat to play in this count after ``seat``; None at its end (M7)."""
        if self.count == 31:
            return None
        gos = 0
        for other in self._left(seat):
            if self._playable(other):
                return other
            self.passed.add(other)
            if self.hands[other]:
                gos += 1
            if gos == 2 and self.second_go_ends:
                return None
        return None

    def _show(self) -> None:
        """Count the hands from the dealer's left on, then the crib (M9), and continue (M10)."""
        starter = self.starter
        assert starter is not None
        for seat in self._left(self.dealer):
            hand = self.kept[seat]
            points = score_show(hand, starter, False, "hoyle")
            self._peg(seat, points, "hand", [*hand, starter])
        points = score_show(self.crib, starter, True, "hoyle")
        self._peg(self.dealer, points, "crib", [*self.crib, starter])

        if self._game_winner is not None:
            return
        if self.episode == "deal":
            self.to_move = None
        else:
            self.dealer = self._left(self.dealer)[0]
            self._deal()

    def _end_game(self, won_by: int) -> None:
        """End the episode, or in a match score the game and start the next (M10, M11)."""
        self.to_move = None
        self.games[won_by] += 1
        if self.episode != "match" or self.games[won_by] >= self.match_target:
            self.winner = won_by
            return
        lowest = min(self.scores)
        self.dealer = next(seat for seat in self._left(self.dealer) if self.scores[self.side[seat]] == lowest)
        self.scores = [0] * self.sides
        self._game_winner = None
        self._deal()
