"""Counting cards with explanations: which cards score, how much, and how a player would say it.

    >>> from crib_env import scoring
    >>> score = scoring.score_hand("5H JD QS KD", "2D")
    >>> score.points
    10
    >>> score.call
    'fifteen two, fifteen four, fifteen six, a run of three is nine, and his nob ten'
    >>> print(score.parts[0])
    fifteen 2 (5H JD)

Plain Python that tries every combination, because it must name the cards; `score_hands` and
`score_histogram` are the compiled counterparts for many hands. Importing this module is light: the
engine (and Numba with it) loads when one of those two is called.

Cards are ids or text everywhere: ``"5H JD"``, ``["5H", "JD"]`` and ``[18, 41]`` are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

import numpy as np
import numpy.typing as npt

from crib_env.cards import (
    DECK_SIZE,
    format_card,
    format_cards,
    parse_card,
    parse_cards,
    pip,
    rank,
    suit,
)
from crib_env.render.words import reason_name, spoken
from crib_env.rules import Rules, TwoHandRules, find_rules

Card = int | str
Cards = str | Iterable[Card]

JACK = 10
CRIB = 4
LINE = 5
LONGEST_PILE = 8
HIGHEST_HAND = 29


@dataclass(frozen=True)
class Part:
    """One thing that scores.

    Attributes:
        points: what it scores.
        reason: ``"fifteen"``, ``"pair"`` (a pair royal and a double pair royal are one part each),
            ``"run"``, ``"flush"``, ``"nob"`` or ``"thirty_one"``.
        cards: the ids of the cards that make it, ascending.
    """

    points: int
    reason: str
    cards: tuple[int, ...]

    @property
    def name(self) -> str:
        """What a player calls it: ``"fifteen"``, ``"pair royal"``, ``"run of three"``."""
        return reason_name(self.reason, len(self.cards))

    def __str__(self) -> str:
        return f"{self.name} {self.points} ({format_cards(self.cards)})"


@dataclass(frozen=True)
class Score:
    """What a set of cards scores, part by part in the order in which players count.

    Attributes:
        parts: the parts; empty where nothing scores.
        count: in play, the count that the last card made; None in a show.
    """

    parts: tuple[Part, ...]
    count: int | None = None

    @property
    def points(self) -> int:
        """The sum of the parts."""
        return sum(part.points for part in self.parts)

    @property
    def call(self) -> str:
        """The count as spoken: ``"fifteen two, a pair is four, and his nob five"``.

        In play it begins with the count: ``"eight, a pair for two"``, ``"fifteen for two"``.
        """
        return spoken(((part.name, part.points) for part in self.parts), self.count)

    def __str__(self) -> str:
        return self.call


# --- single hands, explained ------------------------------------------------------------------


def score_hand(
    cards: Cards, starter: Card, rules: str | Rules = "hoyle", crib: bool = False
) -> Score:
    """Return the score of a hand or crib in the show of a two-hand game (C2, C4, H8, F6).

    Args:
        cards: the cards held, without the starter: four in six-card cribbage and in any crib,
            three in a five-card hand.
        starter: the card turned up.
        rules: the name of a preset, or `Rules`.
        crib: the cards are the crib, which has its own rule for flushes.

    Raises:
        ValueError: not a card, a card given twice, a wrong number of cards, or unknown rules.
    """
    chosen = find_rules(rules, TwoHandRules)
    held = _read(cards)
    up = _read([starter])[0]
    size = CRIB if crib else chosen.dealt - 2
    if len(held) != size:
        what = "a crib" if crib else f"a hand of the rules {chosen.name!r}"
        raise ValueError(f"{what} is {size} cards and the starter apart, got {_shown(held)}")
    _refuse_twice([*held, up])
    parts = _rank_parts([*held, up])
    suited = [*held, up] if suit(up) == suit(held[0]) else held
    smallest = chosen.crib_flush_size if crib else chosen.flush_size
    if len({suit(card) for card in held}) == 1 and len(suited) >= smallest:
        parts.append(_part(len(suited), "flush", suited))
    return Score((*parts, *_nob(held, up)))


def score_line(
    cards: Cards,
    rules: str | Rules = "table_top",
    starter: Card | None = None,
    crib: bool = False,
    partial: bool = False,
) -> Score:
    """Return the score of a Table Top line: a row, a column, or crib and starter (T8, T12).

    Args:
        cards: five cards, the starter among them where the line holds it.
        rules: the name of a preset, or `Rules`.
        starter: the starter if it is one of the five, else None: only then is there a nob.
        crib: the line is the crib with the starter, which has its own rule for flushes.
        partial: the line may hold fewer than five cards and is scored as it stands.

    Raises:
        ValueError: not a card, a card given twice, a wrong number of cards, a starter that is not
            in the line, or unknown rules.
    """
    chosen = find_rules(rules, "table_top")
    line = _read(cards)
    if len(line) > LINE or (len(line) < LINE and not partial):
        wanted = "at most five cards" if partial else "five cards (fewer only with partial=True)"
        raise ValueError(f"a line is {wanted}, got {_shown(line)}")
    _refuse_twice(line)
    parts = _rank_parts(line)
    smallest = chosen.crib_flush_size if crib else chosen.flush_size
    for s in range(4):
        suited = [card for card in line if suit(card) == s]
        if len(suited) >= smallest:
            parts.append(_part(len(suited), "flush", suited))
    if starter is None:
        return Score(tuple(parts))
    up = _read([starter])[0]
    if up not in line:
        raise ValueError(
            f"the starter {format_card(up)} is not in the line {_shown(line)}: pass starter=None "
            "for a line that does not hold it"
        )
    # A jack turned up was paid as heels (C3) and is not its own nob.
    return Score((*parts, *_nob([card for card in line if card != up], up)))


def score_play(pile: Cards, go: bool = False) -> Score:
    """Return what the last card played makes: fifteen, pairs, a run, thirty-one (H4, H6).

    The points for a go and for the last card are not a matter of cards, and so not in it.

    Args:
        pile: the cards of the present count in the order played, the new one last.
        go: this count's go point has been pegged, so that 31 is worth 1 (H6).

    Raises:
        ValueError: not a card, a card given twice, no cards, more than a deal's play can hold, or
            a count past 31.
    """
    played = _read(pile)
    if not 1 <= len(played) <= LONGEST_PILE:
        raise ValueError(f"a pile in play is 1 to {LONGEST_PILE} cards, got {_shown(played)}")
    _refuse_twice(played)
    count = sum(pip(card) for card in played)
    if count > 31:
        raise ValueError(f"the count of {_shown(played)} is {count}: no card may take it past 31")
    parts = []
    if count == 15:
        parts.append(_part(2, "fifteen", played))
    alike = 1
    while alike < len(played) and rank(played[-1 - alike]) == rank(played[-1]):
        alike += 1
    if alike > 1:
        parts.append(_part(alike * (alike - 1), "pair", played[-alike:]))
    for length in range(len(played), 2, -1):
        if _is_run(played[-length:]):
            parts.append(_part(length, "run", played[-length:]))
            break
    if count == 31:
        parts.append(_part(1 if go else 2, "thirty_one", played))
    return Score(tuple(parts), count)


def _rank_parts(cards: Sequence[int]) -> list[Part]:
    """Return the fifteens, pairs and runs among the cards (C2)."""
    cards = sorted(cards)
    parts = [
        _part(2, "fifteen", some)
        for size in range(2, len(cards) + 1)
        for some in combinations(cards, size)
        if sum(pip(card) for card in some) == 15
    ]
    for _, same in groupby(cards, rank):
        alike = list(same)
        if len(alike) > 1:
            parts.append(_part(len(alike) * (len(alike) - 1), "pair", alike))
    for length in range(len(cards), 2, -1):
        runs = [_part(length, "run", some) for some in combinations(cards, length) if _is_run(some)]
        if runs:
            return parts + runs
    return parts


def _is_run(cards: Sequence[int]) -> bool:
    ranks = sorted(rank(card) for card in cards)
    return ranks == list(range(ranks[0], ranks[0] + len(ranks)))


def _nob(held: Sequence[int], starter: int) -> list[Part]:
    nob = 4 * JACK + suit(starter)
    return [_part(1, "nob", [nob])] if nob in held else []


def _part(points: int, reason: str, cards: Iterable[int]) -> Part:
    return Part(points, reason, tuple(sorted(cards)))


# --- many hands, compiled ---------------------------------------------------------------------


def score_hands(
    hands: npt.ArrayLike,
    starters: npt.ArrayLike,
    rules: str | Rules | None = None,
    crib: bool = False,
) -> npt.NDArray[np.int64]:
    """Return the points of many hands with their starters, about 50 million a second.

    Args:
        hands: card ids, int[N, 4] or int[N, 3].
        starters: card ids, int[N].
        rules: the name of a preset, or `Rules`; None is ``"hoyle"`` for hands of four and cribs,
            ``"five_card"`` for hands of three.
        crib: the hands are cribs, which have their own rule for flushes.

    Returns:
        int64[N].

    Raises:
        ValueError: arrays of other shapes or types, or a row that is not of different cards; the
            message names the first such row.
    """
    from crib_env.engine import hands as kernels
    from crib_env.engine.tables import show_table

    held = np.asarray(hands)
    up = np.asarray(starters)
    if held.ndim != 2 or held.shape[1] not in (3, 4) or up.shape != held.shape[:1]:
        raise ValueError(
            "hands must be of shape [N, 4] or [N, 3] and starters of shape [N], got "
            f"{list(held.shape)} and {list(up.shape)}"
        )
    if held.dtype.kind not in "iu" or up.dtype.kind not in "iu":
        raise ValueError(
            f"hands and starters must be whole numbers, got {held.dtype} and {up.dtype}"
        )
    size, smallest = _sizes(rules or ("hoyle" if crib or held.shape[1] == 4 else "five_card"), crib)
    if held.shape[1] != size:
        raise ValueError(f"these rules score {size} cards and the starter, got {held.shape[1]}")
    held = np.ascontiguousarray(held, dtype=np.int64)
    up = np.ascontiguousarray(up, dtype=np.int64)
    points = np.empty(len(held), dtype=np.int64)
    kernels.score_hands(held, up, smallest, show_table(), points)
    bad = np.flatnonzero(points == kernels.ILLEGAL)
    if len(bad):
        raise ValueError(
            f"row {bad[0]} is not of different cards from 0 to 51: hand {held[bad[0]].tolist()}, "
            f"starter {up[bad[0]]}"
        )
    return points


def score_histogram(rules: str | Rules = "hoyle", crib: bool = False) -> npt.NDArray[np.int64]:
    """Return how many of all hands (or cribs) with all starters score 0, 1, ... 29 points.

    Args:
        rules: the name of a preset, or `Rules`.
        crib: count under the crib's rule for flushes.

    Returns:
        int64[30]; its sum is 12,994,800 for hands of four and for cribs, 1,082,900 for hands of
        three.
    """
    from crib_env.engine import hands as kernels
    from crib_env.engine.tables import show_table

    size, smallest = _sizes(rules, crib)
    counts = np.zeros(HIGHEST_HAND + 1, dtype=np.int64)
    kernels.histogram(size, smallest, show_table(), counts)
    return counts


def _sizes(rules: str | Rules, crib: bool) -> tuple[int, int]:
    """Return how many cards are held, and the smallest flush."""
    chosen = find_rules(rules, TwoHandRules)
    return (CRIB, chosen.crib_flush_size) if crib else (chosen.dealt - 2, chosen.flush_size)


# --- reading cards ------------------------------------------------------------------------------


def _read(cards: Cards) -> list[int]:
    if isinstance(cards, str):
        return parse_cards(cards)
    if not isinstance(cards, Iterable):
        raise ValueError(f"{cards!r} is not a set of cards: give ids, or text such as '5H JD'")
    return [_read_card(card) for card in cards]


def _read_card(card: object) -> int:
    if isinstance(card, str):
        return parse_card(card)
    if isinstance(card, (int, np.integer)) and not isinstance(card, bool):
        if 0 <= card < DECK_SIZE:
            return int(card)
        raise ValueError(f"{card} is not a card id: ids are 0 to {DECK_SIZE - 1}")
    raise ValueError(f"{card!r} is not a card: give an id from 0 to 51 or text such as '5H'")


def _refuse_twice(cards: Sequence[int]) -> None:
    twice = sorted({card for card in cards if cards.count(card) > 1})
    if twice:
        raise ValueError(f"{format_cards(twice)} given more than once in {format_cards(cards)}")


def _shown(cards: Sequence[int]) -> str:
    return f"{len(cards)} ({format_cards(cards)})" if cards else "none"
