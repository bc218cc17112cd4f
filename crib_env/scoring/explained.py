"""Counting cards with explanations: which cards score, how much, and how a player would say it.

Plain Python that tries every combination, because it must name the cards; `crib_env.scoring.many`
holds the compiled counterparts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from crib_env.cards import CRIB, JACK, format_card, format_cards, parse_card, parse_cards, pip, rank, refuse_twice, suit
from crib_env.errors import is_whole
from crib_env.render.words import reason_name, spoken
from crib_env.rules import HandRules, Rules, TableTopRules, find_rules

Card = int | str
Cards = str | Iterable[Card]

LINE = 5
LONGEST_PILE = 13  # four aces, twos and threes and a four make 28


@dataclass(frozen=True)
class Part:
    """One combination that scores.

    Attributes:
        points: its score.
        reason: ``"fifteen"``, ``"pair"`` (a pair royal and a double pair royal are one part each),
            ``"run"``, ``"flush"``, ``"nob"`` or ``"thirty_one"``.
        cards: the ids of the cards that make it, ascending.
    """

    points: int
    reason: str
    cards: tuple[int, ...]

    @property
    def name(self) -> str:
        """The players' name of it: ``"fifteen"``, ``"pair royal"``, ``"run of three"``."""
        return reason_name(self.reason, len(self.cards))

    def __str__(self) -> str:
        return f"{self.name} {self.points} ({format_cards(self.cards)})"


@dataclass(frozen=True)
class Score:
    """The score of a set of cards, part by part in the players' order of counting.

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
        """The count as spoken: ``"fifteen two, a pair is four, and nobs five"``.

        In play it begins with the count: ``"eight, a pair for two"``, ``"fifteen for two"``.
        """
        return spoken(((part.name, part.points) for part in self.parts), self.count)

    def __str__(self) -> str:
        return self.call


# --- single hands, explained ------------------------------------------------------------------


def score_hand(cards: Cards, starter: Card, rules: str | Rules = "hoyle", crib: bool = False) -> Score:
    """Return the score of a hand or crib in the show (C2, C4, H8, F6, M9).

    Args:
        cards: the cards held, without the starter: three in a five-card hand, four in all others
            and in any crib.
        starter: the card turned up.
        rules: the name of a preset, or `Rules`.
        crib: the cards are the crib, which has its own rule for flushes.

    Raises:
        ValueError: not a card, a card given twice, a wrong number of cards, or unknown rules.
    """
    chosen = find_rules(rules, HandRules)
    held = _read(cards)
    up = _read([starter])[0]
    size = CRIB if crib else chosen.kept
    if len(held) != size:
        what = "a crib" if crib else f"a hand of the rules {chosen.name!r}"
        raise ValueError(f"{what} is {size} cards and the starter apart, got {_shown(held)}")
    refuse_twice([*held, up])
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
    chosen = find_rules(rules, TableTopRules)
    line = _read(cards)
    if len(line) > LINE or (len(line) < LINE and not partial):
        wanted = "at most five cards" if partial else "five cards (fewer only with partial=True)"
        raise ValueError(f"a line is {wanted}, got {_shown(line)}")
    refuse_twice(line)
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
    """Return the points of the last card played: fifteen, pairs, a run, thirty-one (H4, H6).

    The points for a go and for the last card do not depend on the cards and are not included.

    Args:
        pile: the cards of the present count in the order played, the new one last.
        go: this count's go point has been pegged, so that 31 is worth 1 (H6).

    Raises:
        ValueError: not a card, a card given twice, no cards, more than any count can hold, or a
            count past 31.
    """
    played = _read(pile)
    if not 1 <= len(played) <= LONGEST_PILE:
        raise ValueError(f"a pile in play is 1 to {LONGEST_PILE} cards, got {_shown(played)}")
    refuse_twice(played)
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
    if is_whole(card):
        card = int(card)
        format_card(card)  # refuses other ids
        return card
    raise ValueError(f"{card!r} is not a card: give an id from 0 to 51 or text such as '5H'")


def _shown(cards: Sequence[int]) -> str:
    return f"{len(cards)} ({format_cards(cards)})" if cards else "none"
