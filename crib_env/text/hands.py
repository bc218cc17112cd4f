"""The games with hands in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from crib_env.arrays import View
from crib_env.cards import RANK_NAMES, RANKS, SUITS, SYMBOLS, format_card, format_cards, parse_card, pip, rank
from crib_env.engine.hands.records import DISCARD, GAME, MATCH, PEGGING_ONLY
from crib_env.engine.hands.text import hand_of, legal_of, players_of, side_at, side_names, sides_of, why_illegal
from crib_env.engine.record import NONE
from crib_env.render.words import in_words
from crib_env.rules import LARGEST_TARGET, Rules
from crib_env.text.replies import Names, ReplyError, legal_names

NAMED = "|".join(RANK_NAMES)
CARD = re.compile(
    rf"(?<!\w)(?:(?P<text>(?:10|[2-9AJQKT])[CDHS{SYMBOLS}]|[{SYMBOLS}](?:10|[2-9AJQKT]))"
    rf"|(?P<rank>{NAMED}|10|[2-9AJQKT])\s+of\s+(?P<suit>clubs?|diamonds?|hearts?|spades?))(?!\w)",
    re.IGNORECASE,
)
RANK = re.compile(
    rf"(?<![\w-])(?P<short>(?i:{NAMED})|10|[2-9JQKT]|A(?!\s+[a-z]))(?![\w-])"
    r"(?!\s*(?i:cards?|points?|of)\b)"
)
WORDS_TOO = frozenset({"ac", "ad", "ah", "as", "Ac", "Ad", "Ah", "As"})  # English words too, not only aces
RULES = """\
You play {players}-handed cribbage with a deck of 52 cards, suits C D H S, ace low. {sides}
Cards count their number in the play; aces count 1, and ten (T), jack, queen and king count 10.
Deal: each player gets {dealt} cards and discards {discards} of them to the crib, which holds \
four cards and belongs to the dealer's side. A starter card is turned. If it is a jack, the \
dealer's side pegs {heels}.
Play: beginning to the dealer's left, players lay one card at a time and add it to the count, \
which must not pass 31. A player who cannot play says go and is skipped. {go} {counts} A card that \
makes the count 15 pegs 2. A card of the same rank as the one before it pegs 2, the third in a row \
6, the fourth 12. The last three or more cards in any order that are consecutive ranks peg 1 each. \
Only cards of the same count score together.
Show: after the play each hand is counted with the starter, the dealer's last, then the crib. \
Every combination that adds up to 15 counts 2, every pair 2, every run of three or more 1 per \
card. {flush} In the crib {crib_flush} A jack in the hand or crib of the same suit as the starter \
counts 1. A good discard keeps cards that score together, and gives good cards to your own crib \
and poor ones to another's.
The first side to reach {target} wins at once, in the play too{for_last}.{match}
Cards are written as rank and suit: 5H is the five of hearts, TS the ten of spades."""


def to_choose(view: View) -> int:
    """Return how many cards the seat must name: all that it still discards, or one to play."""
    return len(view["discarded"]) - int(view["discarded_n"]) if view["phase"] == DISCARD else 1


def _player(view: View, place: int) -> str:
    seat = (int(view["seat"]) + place) % players_of(view)
    return "you" if not place else f"p{seat}"


def _plays(view: View, start: int, end: int) -> str:
    """Return cards of the pile with who played them: ``"p1 5H you TS"``."""
    return " ".join(
        f"{_player(view, int(view['pile_seats'] >> 2 * i & 3))} {format_card(int(view['pile'][i]))}"
        for i in range(start, end)
    )


def state(view: View, rules: Rules) -> list[str]:
    """Return the position in words, line by line."""
    n, start = int(view["pile_n"]), int(view["pile_from"])
    crib = "your own" if not view["dealer"] else f"{_player(view, int(view['dealer']))}'s"
    if view["dealer"] and side_at(view, int(view["dealer"])) == side_at(view, 0):
        crib += " (your partner)"
    sides, players = sides_of(view), players_of(view)
    seats = [range(side_at(view, i), players, sides) for i in range(sides)]  # of each side
    scores = ", ".join(
        f"{'you' if not i else '&'.join(f'p{seat}' for seat in seats[i])} "
        f"{int(view['scores'][i])}" + (f" (games {int(view['match_score'][i])})" if view["episode"] == MATCH else "")
        for i in range(sides)
    )
    single = {GAME: "", MATCH: "", PEGGING_ONLY: "one deal, play alone, "}
    one = single.get(int(view["episode"]), "one deal, ")
    lines = [
        f"{rules.name} to {int(view['target'])}, {one}you are p{int(view['seat'])}, deal "
        f"{int(view['deals'])}, crib {crib}",
        f"Score: {scores}",
    ]
    if view["discarded_n"]:
        lines.append(f"Discarded: {format_cards(view['discarded'][: view['discarded_n']].tolist())}")
    if view["starter"] != NONE:
        lines.append(f"Starter: {format_card(int(view['starter']))}")
        if start:
            lines.append(f"Played before: {_plays(view, 0, start)}")
        go = ", go pegged" if view["go"] else ""
        lines.append(f"Count {int(view['count'])}{go}: {_plays(view, start, n) or 'new'}")
        left = ", ".join(
            f"{_player(view, i)} {int(view['held_n'][i])}" + (" passed" if view["passed"] >> i & 1 else "")
            for i in range(1, players)
        )
        lines.append(f"Cards left: {left}")
    return [*lines, f"Your hand: {format_cards(hand_of(view))}"]


def news(view: View) -> list[str]:
    """Return the others' cards since the seat's last one, and each side's last points."""
    n = int(view["pile_n"])
    mine = [i for i in range(n) if not view["pile_seats"] >> 2 * i & 3]
    since = _plays(view, mine[-1] + 1 if mine else 0, n)
    names = side_names(view)
    pegs = "; ".join(
        f"{names[side_at(view, i)]}: {int(view['scores'][i] - view['rear'][i])}" for i in range(sides_of(view))
    )
    lines = [f"Since your last card: {since}"] if since else []
    return [*lines, f"Pegged last: {pegs}"]


def ask(view: View) -> tuple[str, str]:
    """Return the question, and an answer to it as an example."""
    legal, n = legal_of(view), to_choose(view)
    cards = format_cards(legal)
    if view["phase"] == DISCARD:
        return f"Discard {in_words(n)} of: {cards}", " ".join(["5H", "JC"][:n])
    return f"Play one of: {cards}", "5H"


def rules_text(view: View, rules: Any) -> str:
    """Return how the game is played."""
    together = sides_of(view) < players_of(view)
    return RULES.format(
        players=in_words(players_of(view)),
        sides="Players who sit opposite are partners and score together." if together else "Each player plays alone.",
        dealt=int(view["dealt"]),
        discards=in_words(rules.discards),
        heels=int(view["heels"]),
        go=_go(view),
        counts="The play ends with the first count, and cards left are not played."
        if view["single_count"]
        else "Then a new count begins at 0 with the next player, until all "
        "cards are played."
        + (" A count ends when two players running cannot play." if getattr(rules, "second_go_ends", False) else ""),
        flush=_flush(view, rules.kept),
        crib_flush=f"it takes {'all five cards' if view['crib_flush_size'] == 5 else 'four cards'} "
        f"of one suit, {'5' if view['crib_flush_size'] == 5 else '4, or 5 for five'}.",
        target=int(view["target"]),
        for_last=f"; at the start of a game the player who does not deal pegs {rules.for_last}"
        if getattr(rules, "for_last", 0)
        else "",
        match=_match(view, rules) if view["episode"] == MATCH else "",
    )


def _go(view: View) -> str:
    """Return the points of a go, the last card and 31 (H5 to H7, F5, M7, M8)."""
    if view["single_count"]:
        return "The last card of the count pegs 1 as the play ends, or 2 if it makes exactly 31."
    if players_of(view) > 2:
        return "The last card of a count pegs 1 once no player can play, or 2 if it makes 31."
    return (
        "The other pegs 1 for the go at once and plays on alone while able. A card that makes 31 "
        "pegs 2, or 1 after a go. The last card of the deal pegs 1 unless it makes 31 or follows "
        "a go."
    )


def _flush(view: View, kept: int) -> str:
    """Return the points of a flush in a hand (H8, F6)."""
    if view["flush_size"] > kept:
        return f"A flush is all {in_words(kept)} hand cards and the starter of one suit, {kept + 1}."
    return (
        f"A flush is all {in_words(kept)} hand cards of one suit, {kept}, or {kept + 1} if the "
        "starter is of the suit too."
    )


def _match(view: View, rules: Any) -> str:
    """Return how a match is won (H11, M11)."""
    target = int(view["match_target"])
    if not hasattr(rules, "skunk_margin"):
        return f" {target} games won win the match, by any margin."
    if not rules.skunks(LARGEST_TARGET):
        return f" A game counts 1 game point, by any margin; {target} game points win the match."
    return (
        f" A game counts 1 game point, {rules.skunk_points} if won by more than "
        f"{rules.skunk_margin} points and {rules.double_skunk_points} by more than "
        f"{rules.double_skunk_margin}; {target} game points win the match."
    )


def named_cards(found: re.Match[str], held: Sequence[int]) -> frozenset[int] | None:
    """Return which cards a name may mean: a rank means the cards of it that are held."""
    parts = found.groupdict()
    if text := parts.get("text"):
        if text in WORDS_TOO and re.search(r"\w", CARD.sub("", found.string)):
            return None
        for symbol, letter in zip(SYMBOLS, SUITS, strict=True):
            text = text.replace(symbol, letter)
        return frozenset({parse_card(text if text[0] not in SUITS else text[1:] + text[0])})
    if suit := parts.get("suit"):
        return frozenset({4 * _rank(parts["rank"]) + SUITS.index(suit[0].upper())})
    return frozenset(card for card in held if rank(card) == _rank(parts["short"]))


def _rank(name: str) -> int:
    name = name.lower()
    if name in RANK_NAMES:
        return RANK_NAMES.index(name)
    return RANKS.index({"10": "T"}.get(name, name.upper()))


def chosen(view: View, reply: str) -> tuple[int, ...]:
    """Return the cards that a reply names."""
    n, (question, example) = to_choose(view), ask(view)
    names = Names(
        CARD,
        RANK,
        partial(named_cards, held=hand_of(view)),
        frozenset(legal_of(view)),
        partial(_why, view),
        f"{question}. Write, for example, <action>{example}</action>.",
        frozenset(view["discarded"][: view["discarded_n"]].tolist()),
    )
    fitting = legal_names(reply, names)
    for one in fitting:
        if len(one) > 1:
            cards = format_cards(sorted(one))
            raise ReplyError("ambiguous", f"You hold {cards}: name the suit. {names.question}")
    found = tuple(dict.fromkeys(card for one in fitting for card in one))
    if len(found) > n:
        cards = format_cards(found)
        raise ReplyError("ambiguous", f"You named {cards}: name {in_words(n)}. {names.question}")
    return found


def _why(view: View, cards: frozenset[int]) -> str:
    """Return why cards are not legal, to the player."""
    if not cards:
        return "You hold no card of a rank that you named"
    card = min(cards)
    if card in hand_of(view):
        count = int(view["count"])
        return f"{format_card(card)} would take the count from {count} to {count + pip(card)}"
    return re.sub(r" \(action \d+\)|: .*", "", why_illegal(view, card)).replace("is not held", "is not in your hand")
