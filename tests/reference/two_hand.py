"""Six-card and five-card cribbage for two, refereed card by card (H1-H11, F1-F7, C1-C5)."""

from collections.abc import Sequence
from typing import NamedTuple

from .scoring import JACK, KEPT, rank, score_play, score_show, value

TARGET = {"hoyle": 121, "five_card": 61}  # H9, F7
DISCARDED = 2  # by each player, in both games (H1, F2)
MATCH_TARGET = 7  # H11
FOR_LAST = 3  # F1


class Event(NamedTuple):
    """Points pegged, in the order in which they were made.

    ``points`` is the movement of the peg: the points that win a game are cut at the target (C5). No
    event has 0 points. ``reason`` is one of heels, fifteen, pair, run, thirty_one, go (the opponent
    could not play), last (the last card of the play: H7, F5), hand, crib, for_last (the three
    points of F1).
    """

    seat: int
    points: int
    reason: str
    cards: tuple[int, ...]


class Referee:
    """One episode of a two-hand game.

    A deal is two single-card discards by the non-dealer, two by the dealer, then the play. "Go" is
    automatic: a seat with nothing to play is skipped, so one seat may act twice running. An action
    is the id of a card.

    Attributes:
        to_move: the seat to act, None when the episode is over.
        scores: the score of each seat in the present game, or in the last one of the episode.
        games: game points of a match (H11), not cut at seven.
        winner: the seat that won the game (of a match, the match) within this episode, else None:
            a single deal has no winner unless it ends the game.
        dealer: the seat that deals, or dealt last.
        events: everything pegged since the start of the episode.
        hands: the cards each seat still holds.
        kept: the hands as they will be shown, set once both have discarded.
        crib: the cards discarded, in order.
        starter: the card turned up, None while cards are discarded.
        pile: the cards of the present count, in order.
        count: the present count.
    """

    def __init__(
        self,
        game: str,
        decks: Sequence[Sequence[int]],
        dealer: int,
        episode: str = "game",
        scores: Sequence[int] | None = None,
        heels: int = 2,
    ) -> None:
        """Start an episode with its first deal.

        Args:
            game: "hoyle" (six cards) or "five_card".
            decks: permutations of the 52 cards, one for each deal in order.
            dealer: the seat of the first dealer.
            episode: "deal", "game" or "match" (only hoyle has matches, H11).
            scores: starting scores, taken as they are; None starts at 0-0, with F1's three points
                for the non-dealer in five_card.
            heels: the points of a jack turned up, for the dealer (C3).

        Raises:
            IndexError: here or in `step`, when a deal begins and no deck is left.
        """
        if game not in TARGET:
            raise ValueError(f"game is 'hoyle' or 'five_card', not {game!r}")
        if episode not in ("deal", "game", "match") or (game, episode) == ("five_card", "match"):
            raise ValueError(f"{game} has no episode {episode!r}")
        if dealer not in (0, 1):
            raise ValueError(f"dealer is 0 or 1, not {dealer}")
        self.game = game
        self.target = TARGET[game]
        self.heels = heels
        self.decks = decks
        self.dealer = dealer
        self.episode = episode
        self.deals = 0
        self.events: list[Event] = []
        self.games = [0, 0]
        self.winner: int | None = None
        self.to_move: int | None = None
        self._game_winner: int | None = None
        self.scores = [0, 0] if scores is None else list(scores)
        if len(self.scores) != 2 or not all(0 <= s < self.target for s in self.scores):
            raise ValueError(f"scores are two numbers from 0 to {self.target - 1}, not {scores}")
        if game == "five_card" and scores is None:
            self._peg(1 - dealer, FOR_LAST, "for_last", ())  # F1
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

    def _peg(self, seat: int, points: int, reason: str, cards: Sequence[int]) -> None:
        """Move a peg, unless the game has been won already (C5)."""
        if self._game_winner is not None or points == 0:
            return
        pegged = min(points, self.target - self.scores[seat])
        self.scores[seat] += pegged
        self.events.append(Event(seat, pegged, reason, tuple(cards)))
        if self.scores[seat] == self.target:
            self._game_winner = seat

    def _deal(self) -> None:
        """Deal the next deck: one card at a time, the non-dealer first (H1, F2)."""
        deck = self.decks[self.deals]
        if sorted(deck) != list(range(52)):
            raise ValueError("a deck is a permutation of the 52 cards")
        self.deals += 1
        pone = 1 - self.dealer
        dealt = 2 * (KEPT[self.game] + DISCARDED)
        self.hands: list[list[int]] = [[], []]
        self.hands[pone] = list(deck[0:dealt:2])
        self.hands[self.dealer] = list(deck[1:dealt:2])
        self._next_card = deck[dealt]  # hidden from both seats until it is turned up
        self.kept: list[list[int]] = [[], []]
        self.crib: list[int] = []
        self.starter: int | None = None
        self.to_move = pone
        self._new_count()

    def _discard(self, seat: int, card: int) -> None:
        """Lay a card in the crib; after the fourth, turn up the starter and begin the play."""
        self.crib.append(card)
        pone = 1 - self.dealer
        if len(self.crib) < DISCARDED:
            self.to_move = pone
        elif len(self.crib) < 2 * DISCARDED:
            self.to_move = self.dealer
        else:
            self.kept = [sorted(hand) for hand in self.hands]
            self.starter = self._next_card  # H2, F3
            if rank(self.starter) == JACK:
                self._peg(self.dealer, self.heels, "heels", [self.starter])  # C3
            self.to_move = pone  # H3

    def _new_count(self) -> None:
        """Turn the played cards down and start counting from zero."""
        self.pile: list[int] = []
        self.count = 0
        self._go_pegged = False

    def _playable(self, seat: int) -> list[int]:
        """Return the cards that would not take the count past 31 (H3), none at 31."""
        return sorted(c for c in self.hands[seat] if self.count + value(c) <= 31)

    def _play(self, seat: int, card: int) -> None:
        """Play a card: score it (H4, H6), settle the go, and find the next seat."""
        other = 1 - seat
        self.pile.append(card)
        self.count += value(card)

        parts = score_play([rank(c) for c in self.pile], self.count)
        alike = {0: 1, 2: 2, 6: 3, 12: 4}[parts.pair]
        self._peg(seat, parts.fifteen, "fifteen", self.pile)
        self._peg(seat, parts.pair, "pair", self.pile[-alike:])
        self._peg(seat, parts.run, "run", self.pile[-parts.run :])
        if self.count == 31:
            # H6. In the five-card game no go has been pegged, so this is always 2 (F5).
            self._peg(seat, 1 if self._go_pegged else 2, "thirty_one", self.pile)

        if self.game == "hoyle":
            self._settle_go(seat, card)

        if self._playable(other):
            self.to_move = other
        elif self._playable(seat):
            self.to_move = seat  # H5, F5: plays on alone while able
        elif self.game == "five_card":
            # F4: the only count is over, even if cards are held. F5: its last card.
            if self.count != 31:
                self._peg(seat, 1, "last", [card])
            self._show()
        elif self.hands[0] or self.hands[1]:
            self._new_count()
            self.to_move = other if self.hands[other] else seat  # H7
        else:
            self._show()

    def _settle_go(self, seat: int, card: int) -> None:
        """Peg the go point at once if the opponent cannot answer this card (H5, H7).

        At 31 no seat can play, and no go is called. A player without cards cannot play, so the last
        card of the deal is a go as well, and pegs nothing if this count's point is gone already.
        """
        if self.count == 31 or self._go_pegged or self._playable(1 - seat):
            return
        last = not self.hands[0] and not self.hands[1]
        self._peg(seat, 1, "last" if last else "go", [card])
        self._go_pegged = True

    def _show(self) -> None:
        """Count the non-dealer's hand, the dealer's, the crib (H8, F6), and continue (H10, F1)."""
        starter = self.starter
        assert starter is not None
        for seat in (1 - self.dealer, self.dealer):
            hand = self.kept[seat]
            points = score_show(hand, starter, False, self.game)
            self._peg(seat, points, "hand", [*hand, starter])
        points = score_show(self.crib, starter, True, self.game)
        self._peg(self.dealer, points, "crib", [*self.crib, starter])

        if self._game_winner is not None:
            return
        if self.episode == "deal":
            self.to_move = None
        else:
            self.dealer = 1 - self.dealer
            self._deal()

    def _end_game(self, won_by: int) -> None:
        """End the episode, or in a match score the game and start the next (H10, H11)."""
        self.to_move = None
        if self.episode != "match":
            self.winner = won_by
            return
        margin = self.scores[won_by] - self.scores[1 - won_by]
        self.games[won_by] += 4 if margin > 60 else 2 if margin > 30 else 1
        if self.games[won_by] >= MATCH_TARGET:
            self.winner = won_by
            return
        self.scores = [0, 0]
        self._game_winner = None
        self.dealer = 1 - won_by
        self._deal()
