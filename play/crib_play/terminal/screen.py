"""Printing to a terminal of any kind: cards with their suits, calls, counts, pauses."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from crib_env.cards import RANKS, SUITS, parse_card, suit
from crib_play.preferences import FASTEST
from crib_play.table import Call, Counted, Session, Turn

SYMBOLS = "♣♦♥♠"
RED = (1, 2)
PAUSE = 0.4  # seconds for each step of the count speed
HIDDEN = "??"
CARD = re.compile(r"(?<!\w)([A2-9TJQK][CDHS])(?!\w)")


class Screen:
    """A terminal, or what takes its place: a pipe gets the same lines without colour or pause."""

    def __init__(self, speed: int) -> None:
        self.console = Console(highlight=False)
        self.console.soft_wrap = not self.console.is_terminal  # a pipe has no width
        self.speed = speed
        self.symbols = self.console.is_terminal and self._shows(SYMBOLS)

    def _shows(self, text: str) -> bool:
        try:
            text.encode(self.console.encoding)
        except (LookupError, UnicodeEncodeError):
            return False
        return not self.console.is_dumb_terminal

    def card(self, card: int | None, style: str = "") -> Text:
        """Return a card: ``5♥``, or ``5H`` where the terminal knows no suits."""
        if card is None:
            return Text(HIDDEN, style="dim")
        marks = SYMBOLS if self.symbols else SUITS
        red = "red" if suit(card) in RED else ""
        return Text(RANKS[card >> 2] + marks[suit(card)], style=f"{red} {style}".strip())

    def words(self, text: str) -> Text:
        """Return words in which each card is written as `card` writes it."""
        words = Text(text)
        if self.symbols:
            words = Text().join(
                self.card(parse_card(part)) if CARD.fullmatch(part) else Text(part)
                for part in CARD.split(text)
            )
        return words

    def cards(self, cards: Sequence[int | None], style: str = "") -> Text:
        """Return cards with spaces between."""
        return Text(" ").join(self.card(card, style) for card in cards)

    def line(self, *parts: str | Text, style: str = "") -> None:
        """Print a line of parts with spaces between."""
        line = Text(" ").join(
            part if isinstance(part, Text) else self.words(part) for part in parts
        )
        line.stylize_before(style)
        self.console.print(line)

    def labelled(self, label: str, *parts: str | Text) -> None:
        """Print a line after its label."""
        self.line(Text(f"{label:<12}", style="dim"), *parts)

    def title(self, text: str) -> None:
        """Print a heading."""
        self.line("")
        self.line(text, style="bold")

    def problem(self, text: str) -> None:
        """Print the error in a typed line."""
        self.line(text, style="yellow")

    def pause(self, steps: float = 1) -> None:
        """Wait by the count speed; no pause when the output is not a terminal."""
        if self.console.is_terminal and sys.stdin.isatty() and self.speed > FASTEST:
            time.sleep(PAUSE * steps * (self.speed - FASTEST))

    # --- calls ------------------------------------------------------------------------------------

    def calls(
        self,
        session: Session,
        turn: Turn,
        names: Sequence[str],
        asked: Callable[[Counted], bool] = lambda counted: False,
    ) -> None:
        """Print a turn as it is heard, and the counts at its end but those that were ``asked``."""
        self.say(turn.calls, names)
        self.pause()
        for counted in turn.counted:
            if not asked(counted):
                self.count(counted, session.family.sides or names)
        if turn.counted:
            self.line("")

    def say(self, calls: Sequence[Call], names: Sequence[str]) -> None:
        """Print calls, each with its cards and the points pegged."""
        for call in calls:
            shown = [self.cards(call.cards)] if call.cards else []
            spoken = Text(call.text, style="bold" if call.points else "")
            self.line(f"  {names[call.seat]}:", *shown, spoken, *self._gain(call.points))

    def count(self, counted: Counted, owners: Sequence[str]) -> None:
        """Print a hand, a crib or a line with its count."""
        starter = [Text("+"), self.card(counted.starter)] if counted.starter is not None else []
        cards = [self.cards(counted.cards), *starter]
        whose = f"  {owners[counted.seat]}, {counted.name}:"
        self.line(whose, *cards, "·", counted.call, *self._gain(counted.points))
        self.pause(2)

    def _gain(self, points: int) -> list[Text]:
        return [Text(f"+{points}", style="green")] if points else []
