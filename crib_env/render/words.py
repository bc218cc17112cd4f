"""A game in words: numbers, names of scores, the spoken count, and the board in signs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from crib_env.cards import format_card, format_cards
from crib_env.events import Event

_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_PAIRS = {2: "pair", 3: "pair royal", 4: "double pair royal"}
_NAMES = {"nob": "nobs", "thirty_one": "thirty-one", "last": "last card"}

HIDDEN = "??"  # a card not known
LABEL = 12  # letters before a line


def in_words(number: int) -> str:
    """Return a number in words, ``"thirty-one"``; from a hundred on, in figures."""
    if number < 20:
        return _ONES[number]
    if number > 99:
        return str(number)
    tens, ones = divmod(number, 10)
    return f"{_TENS[tens]}-{_ONES[ones]}" if ones else _TENS[tens]


def reason_name(reason: str, cards: int) -> str:
    """Return the players' name of points for ``reason``, made by a number of ``cards``."""
    if reason == "pair":
        return _PAIRS[cards]
    if reason in ("run", "flush"):
        return f"{reason} of {in_words(cards)}"
    return _NAMES.get(reason, reason)


def pegged(reason: str, points: int, cards: int) -> str:
    """Return a player's call when pegging: ``"fifteen for two"``, ``"pair royal for six"``."""
    if reason == "for_last":
        return f"{in_words(points)} for last"  # before the first deal, for not dealing it (F1)
    return f"{reason_name(reason, cards)} for {in_words(points)}"


def spoken(parts: Iterable[tuple[str, int]], count: int | None = None) -> str:
    """Return a count as spoken, each item with the total it brings the score to."""
    words: list[str] = []
    names = set()
    total = 0
    for name, same in groupby(parts, lambda part: part[0]):
        names.add(name)
        each = [points for _, points in same]
        if name == "fifteen" and count is None:
            words += [f"fifteen {in_words(total + sum(each[: i + 1]))}" for i in range(len(each))]
        else:
            words.append(_item(name, len(each), total + sum(each), first=total == 0))
        total += sum(each)
    if count is not None and not names & {"fifteen", "thirty-one"}:
        return ", ".join([in_words(count), _join(words)] if words else [in_words(count)])
    return _join(words) or "nothing"


def _item(name: str, times: int, total: int, *, first: bool) -> str:
    if name == "nobs":
        return f"{in_words(total)} for nobs" if first else f"nobs {in_words(total)}"
    if name not in ("fifteen", "thirty-one"):
        plural = name.replace("pair", "pairs", 1).replace("run", "runs", 1)
        name = f"a {name}" if times == 1 else f"{in_words(times)} {plural}"
    verb = "for" if first else ("is" if times == 1 else "are")
    return f"{name} {verb} {in_words(total)}"


def _join(words: Sequence[str]) -> str:
    if len(words) < 2 or words[-1].startswith("fifteen"):
        return ", ".join(words)
    return ", ".join(words[:-1]) + (", and " if len(words) > 2 else " and ") + words[-1]


# --- lines of a text ------------------------------------------------------------------------------


def split_events(events: Sequence[Event], counted: Collection[str]) -> tuple[Sequence[Event], Sequence[Event]]:
    """Return the events up to the last counted one, of the deal that ended, and the others."""
    shown = 1 + max((i for i, one in enumerate(events) if one.reason in counted), default=-1)
    return events[:shown], events[shown:]


def line_of(label: str, text: str) -> str:
    """Return a line that begins with a label."""
    return f"{label:<{LABEL}}{text}"


def shown(cards: Sequence[int]) -> str:
    """Return cards as text, with marks for those not known."""
    return " ".join(HIDDEN if card < 0 else format_card(int(card)) for card in cards)


def call_lines(events: Sequence[Event], names: Sequence[str]) -> list[str]:
    """Return the players' calls as they peg, a line each; ``names`` are by side."""
    calls = (
        f"{names[event.seat]}: {pegged(event.reason, event.points, len(event.cards))}"
        + (f" ({format_cards(event.cards)})" if event.cards else "")
        for event in events
    )
    return [line_of("" if i else "calls", call) for i, call in enumerate(calls)]


# --- the cribbage board: laps of sixty holes and a last one, two pegs a player (H9, H12) ---------

LAP = 60
GROUP = 10
HOLE = "."
FRONT = "O"
REAR = "o"


def track(score: int, rear: int, target: int, lap: int = LAP) -> list[str]:
    """Return a player's holes as lines of ``lap`` holes; the last ends in the winning hole.

    The front peg ``O`` shows the score, the rear peg ``o`` the score before the last points;
    a peg that has not left the start stands before the first hole.
    """
    holes = [HOLE] * target
    start = ""
    for peg, at in ((REAR, rear), (FRONT, score)):
        if at == 0:
            start += peg
        else:
            holes[min(at, target) - 1] = peg
    lines = []
    for first in range(0, max(target - 1, 1), lap):
        some = "".join(holes[first : min(first + lap, target - 1)])
        groups = [some[at : at + GROUP] for at in range(0, len(some), GROUP)]
        lines.append(f"{'' if first else start:>2} {' '.join(groups)}".rstrip())
    lines[-1] += f" {holes[-1]}"
    return lines
