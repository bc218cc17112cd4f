"""Table Top Cribbage and Ship's variation, refereed turn by turn (T1-T13)."""

from collections.abc import Sequence

from .scoring import JACK, rank, score_line

SIZE = 5
CENTRE = 12  # the cell 5 * 2 + 2
CRIB = 25  # the action that lays the card in the crib
TURNS = 28  # T4: 24 cells and four crib cards


class TableTopReferee:
    """One round, or a game of several, for two players or two partnerships.

    Side 0 (seats 0 and 2) scores the rows, side 1 (seats 1 and 3) the columns (T1). An action is
    a cell ``5 * row + column``, or 25 for the crib.

    Attributes:
        to_move: the seat to act, None when the episode is over.
        scores: by side; points, or in Ship's variation game points (T13). They may pass the
            target, for the higher total wins (T9).
        winner: the side that won the game within this episode, else None: a single round has no
            winner unless it ends the game.
        dealer: the seat that deals, or dealt last.
        hand_points: for each finished round, both sides' points of that round. They include the
            heels of T3, in Ship's variation too: there they are part of the dealer's side's hand
            points and so of the difference that T13 scores.
        cells: the 25 cells, a card or None.
        crib: the cards laid in the crib, in order.
        starter: the card in the centre.
        turn: how many turns of the round have been taken.
        owed: how many cards each seat must still lay in the crib (T6).
    """

    def __init__(
        self,
        decks: Sequence[Sequence[int]],
        dealer: int,
        players: int = 2,
        ship: bool = False,
        episode: str = "round",
        scores: Sequence[int] = (0, 0),
        target: int | None = None,
        heels: int = 2,
    ) -> None:
        """Start an episode with its first round.

        Args:
            decks: permutations of the 52 cards, one for each round in order: the card of turn t
                is ``deck[t]``, the starter ``deck[28]``.
            dealer: the seat of the first dealer.
            players: 2 or 4.
            ship: play Ship's variation (T11-T13).
            episode: "round" or "game".
            scores: starting scores by side.
            target: the score that ends a game; None means 121, or 31 in Ship's variation.
            heels: the points of a jack turned up, for the dealer's side (C3).

        Raises:
            IndexError: here or in `step`, when a round begins and no deck is left.
        """
        if players not in (2, 4):
            raise ValueError(f"players is 2 or 4, not {players}")
        if dealer not in range(players):
            raise ValueError(f"dealer is a seat from 0 to {players - 1}, not {dealer}")
        if episode not in ("round", "game"):
            raise ValueError(f"episode is 'round' or 'game', not {episode!r}")
        if len(scores) != 2 or min(scores) < 0:
            raise ValueError(f"scores are two numbers from 0, not {scores}")
        self.decks = decks
        self.dealer = dealer
        self.players = players
        self.ship = ship
        self.episode = episode
        self.target = (31 if ship else 121) if target is None else target
        self.heels = heels
        self.scores = list(scores)
        self.rounds = 0
        self.hand_points: list[tuple[int, int]] = []
        self.winner: int | None = None
        self.to_move: int | None = None
        if self._leader() is not None:
            raise ValueError(f"scores {scores} have won the game already")
        self._deal()

    def legal(self) -> list[int]:
        """Return the cells open to the card in turn, and 25 if it may go to the crib; sorted."""
        seat = self.to_move
        if seat is None:
            return []
        # T6. A seat takes every `players`-th turn, this one included.
        turns_left = (TURNS - self.turn + self.players - 1) // self.players
        if turns_left == self.owed[seat]:
            return [CRIB]
        # This list of cells is never empty. The shares of T6 sum to four, so a turn that need not
        # go to the crib finds fewer than 24 cards placed; and because the cells of the layout hang
        # together by sides and corners, some vacant cell touches the cards lying there.
        cells = [cell for cell in range(SIZE * SIZE) if self._open(cell)]
        return [*cells, CRIB] if self.owed[seat] else cells

    def step(self, action: int) -> None:
        """Place the card in turn, or lay it in the crib.

        Raises:
            ValueError: if the action is not in `legal()`.
        """
        seat = self.to_move
        if seat is None or action not in self.legal():
            raise ValueError(f"seat {seat} may not choose {action}; legal: {self.legal()}")
        card = self._deck[self.turn]  # T2: the n-th card dealt is the n-th played
        if action == CRIB:
            self.crib.append(card)
            self.owed[seat] -= 1
        else:
            self.cells[action] = card
        self.turn += 1
        if self.turn < TURNS:
            self.to_move = (seat + 1) % self.players  # T4
        else:
            self._end_round()

    def _open(self, cell: int) -> bool:
        """Tell whether a card may be placed on the cell (T5, T7, T11)."""
        if self.cells[cell] is not None:
            return False
        if self.ship:
            return True
        row, column = divmod(cell, SIZE)
        for other in range(SIZE * SIZE):
            other_row, other_column = divmod(other, SIZE)
            touches = abs(row - other_row) <= 1 and abs(column - other_column) <= 1
            if touches and self.cells[other] is not None:
                return True
        return False

    def _deal(self) -> None:
        """Deal a round and turn up the starter (T2, T3)."""
        self._deck = list(self.decks[self.rounds])
        if sorted(self._deck) != list(range(52)):
            raise ValueError("a deck is a permutation of the 52 cards")
        self.rounds += 1
        self.starter = self._deck[TURNS]
        self.cells: list[int | None] = [None] * (SIZE * SIZE)
        self.cells[CENTRE] = self.starter
        self.crib: list[int] = []
        self.turn = 0
        self.owed = [4 // self.players] * self.players  # T6
        self.to_move = (self.dealer + 1) % self.players  # T4

        # C3, T3. The heels are scored at once. Ship's variation scores nothing but the difference
        # after the round, which includes them.
        self._heels = [0, 0]
        if rank(self.starter) == JACK:
            self._heels[self.dealer % 2] = self.heels
        if not self.ship:
            self._add(self._heels)

    def _add(self, points: Sequence[int]) -> None:
        """Add points to the scores of both sides."""
        self.scores = [score + more for score, more in zip(self.scores, points, strict=True)]

    def _count(self) -> list[int]:
        """Count both sides' lines, and the crib for the dealer's side (T8, T12)."""
        flush_size = 4 if self.ship else 5
        grid = [card for card in self.cells if card is not None]
        assert len(grid) == SIZE * SIZE
        rows = [grid[SIZE * i : SIZE * i + SIZE] for i in range(SIZE)]
        columns = [grid[i::SIZE] for i in range(SIZE)]
        points = [0, 0]
        for side, lines in enumerate((rows, columns)):
            for line in lines:
                starter = self.starter if self.starter in line else None
                points[side] += score_line(line, flush_size, starter)
        points[self.dealer % 2] += score_line([*self.crib, self.starter], flush_size, self.starter)
        return points

    def _end_round(self) -> None:
        """Score the round, then end the episode or deal again (T9, T13)."""
        counted = self._count()
        rows = counted[0] + self._heels[0]
        columns = counted[1] + self._heels[1]
        self.hand_points.append((rows, columns))
        if self.ship:
            self._add([max(rows - columns, 0), max(columns - rows, 0)])
        else:
            self._add(counted)  # the heels are in already

        self.winner = self._leader()
        if self.winner is not None or self.episode == "round":
            self.to_move = None
        else:
            self.dealer = (self.dealer + 1) % self.players  # T9: to the left
            self._deal()

    def _leader(self) -> int | None:
        """Return the side that has won: at the target, and ahead (T9, T13)."""
        if max(self.scores) < self.target or self.scores[0] == self.scores[1]:
            return None
        return 0 if self.scores[0] > self.scores[1] else 1
