"""Printing to a terminal of any kind: cards with their suits, calls, counts, pauses, boards."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from crib_env.cards import RANKS, SUITS, SYMBOLS, parse_card, suit
from crib_env.engine.table_top.records import CENTRE, SIZE
from crib_env.render.words import HIDDEN, track
from crib_play.table import Call, Counted, Session, Turn
from crib_play.table.family import Sight
from crib_play.table.seats import by_side
from crib_play.user_files import FASTEST

RED = (1, 2)
PAUSE = 0.4  # seconds for each step of the count speed
CARD = re.compile(r"(?<!\w)([A2-9TJQK][CDHS])(?!\w)")


class Screen:
    """A terminal or a pipe, which gets the same lines without colour or pause."""

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
        """Return a card: ``5♥``, or ``5H`` where the terminal cannot print suit symbols."""
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
                self.card(parse_card(part)) if CARD.fullmatch(part) else Text(part) for part in CARD.split(text)
            )
        return words

    def cards(self, cards: Sequence[int | None]) -> Text:
        """Return cards with spaces between."""
        return Text(" ").join(map(self.card, cards))

    def line(self, *parts: str | Text, style: str = "") -> None:
        """Print a line of parts with spaces between."""
        line = Text(" ").join(part if isinstance(part, Text) else self.words(part) for part in parts)
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
        """Print a turn's calls and its counts, except those for which ``asked`` returns true."""
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


# --- a seat's view as lines of a terminal; a function for each family of games --------------------

Names = Sequence[str]
Show = Callable[[Screen, Sight, Names], None]
CELL = 5
LAPS = ((60, 95), (30, 60))  # holes of a line, and the width of a terminal that holds them


def show_hands(screen: Screen, sight: Sight, names: Names) -> None:
    """Print a game as a seat sees it, the other seats from its left on."""
    me, players = sight["seat"], len(names)
    discarding = sight["phase"] == "discard"
    crib = "your crib" if sight["dealer"] == me else f"the crib of {names[sight['dealer']]}"
    called, sides = by_side(names, sight["side_of"]), _from_mine(sight)
    scores = ", ".join(f"{called[side]} {sight['scores'][side]}" for side in sides)
    games = " to ".join(str(sight["match_score"][side]) for side in sides if sight["match_score"])
    points = f", game points {games}" if games else ""
    screen.labelled("score", f"{scores} of {sight['target']}{points}; {crib}")
    if not discarding:
        screen.labelled("starter", screen.card(sight["starter"]))
        played = Text(" ").join(_played(screen, sight, i) for i in range(len(sight["pile"])))
        screen.labelled("count", f"{sight['count']:>2} ", played)
    for other in ((me + place) % players for place in range(1, players)):
        cards: list[str | Text] = [screen.cards([None] * sight["held"][other])]
        own = [one["card"] for one in sight["pile"] if one["seat"] == other]
        if own and players > 2:  # the pile does not show who played a card
            cards += [Text("played", style="dim"), screen.cards(own)]
        cards += ["go"] if other in sight["passed"] else []
        screen.labelled(_label(names[other]), *cards)
    held = sorted(sight["hand"], key=lambda one: one["card"])
    screen.labelled("you hold", Text(" ").join(_held(screen, one, discarding) for one in held))


def _from_mine(sight: Sight) -> list[int]:
    """Return the sides, the seat's own first, then to the left."""
    mine, n = sight["side_of"][sight["seat"]], len(sight["scores"])
    return [(mine + i) % n for i in range(n)]


def _label(name: str) -> str:
    """Return a name short enough for a label: of ``"left (greedy)"`` the place."""
    return name.partition(" (")[0][:11]


def _played(screen: Screen, sight: Sight, i: int) -> Text:
    """Return a card of the pile: the other's in brackets, those out of play shadowed (H7)."""
    one = sight["pile"][i]
    card = screen.card(one["card"], "dim" if one["out"] else "")
    shown = card if one["seat"] == sight["seat"] else Text("(") + card + Text(")")
    starts = not one["out"] and i > 0 and sight["pile"][i - 1]["out"]
    return Text("| ") + shown if starts else shown


def _held(screen: Screen, one: dict[str, int], discarding: bool) -> Text:
    return screen.card(one["card"], "bold" if one["legal"] or discarding else "dim strike")


def show_pegs(screen: Screen, sight: Sight, names: Names) -> None:
    """Print the board: two pegs a side leap-frog (H12)."""
    called = by_side(list(map(_label, names)), sight["side_of"])
    lap = next((lap for lap, width in LAPS if screen.console.width >= width), 15)
    for side in _from_mine(sight):
        label = called[side].replace(" and ", "+")[:11]
        score = sight["scores"][side]
        for i, line in enumerate(track(score, sight["rear"][side], sight["target"], lap)):
            screen.labelled("" if i else label, line if i else f"{line}  {score}")


def show_layout(screen: Screen, sight: Sight, names: Names) -> None:
    """Print the layout of Table Top with the points of each line so far."""
    me = sight["seat"]
    rows, columns = sight["scores"]
    mine = "rows" if me % 2 == 0 else "columns"
    screen.labelled(
        "score",
        f"rows {rows}, columns {columns} of {sight['target']}; you score the {mine}; the crib is "
        f"of the {'columns' if sight['dealer'] % 2 else 'rows'}",
    )
    screen.line(Text(" " * 4 + "".join(f"{i + 1:^{CELL}}" for i in range(SIZE)), style="dim"))
    for row in range(SIZE):
        line = Text(f"  {row + 1} ", style="dim")
        for cell in range(SIZE * row, SIZE * row + SIZE):
            line.append_text(_cell(screen, sight, cell))
        line.append(f"  {sight['rows'][row]:>2}", style="bold" if me % 2 == 0 else "dim")
        screen.line(line)
    totals = "".join(f"{value:^{CELL}}" for value in sight["columns"])
    screen.line(Text(" " * 4 + totals, style="bold" if me % 2 else "dim"))
    crib = screen.cards([one["card"] for one in sight["crib"]])
    owed = ", ".join(f"{names[seat]} {owed}" for seat, owed in enumerate(sight["owed"]))
    screen.labelled("crib", crib, f"owed: {owed}")
    if sight["card"] is not None:
        whose = "your card" if sight["mover"] == me else "partner's"
        screen.labelled(whose, screen.card(sight["card"], "bold"))


def _cell(screen: Screen, sight: Sight, cell: int) -> Text:
    card = sight["layout"][cell]
    if card is None:
        return Text(f"{'.' if cell in sight['legal'] else ' ':^{CELL}}", style="dim")
    style = "reverse" if cell == sight["last"] else ("underline" if cell == CENTRE else "")
    return Text(" ") + screen.card(card, style) + Text(" " * (CELL - 3))


def show_nothing(screen: Screen, sight: Sight, names: Names) -> None:
    """Print no board: the game is scored on paper."""
    rows, columns = sight["scores"]
    screen.labelled("score", f"rows {rows}, columns {columns}")


# By a family's name: a seat's view in the middle of a deal, and the board.
TABLES: dict[str, Show] = {"two_hand": show_hands, "many_hand": show_hands, "table_top": show_layout}
SCORES: dict[str, Show] = {"two_hand": show_pegs, "many_hand": show_pegs, "table_top": show_nothing}
