"""Positions of a two-hand game, as one seat knows them, from cards written as text.

Any cards that fit stand for those that the seat cannot see. The engine plays the deal up to the
position, so a position that no deal can reach is refused. Then `view` shows it to the seat, so the
invented cards stay hidden.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from crib_env.batch import GameBatch
from crib_env.cards import DECK_SIZE, format_card, format_cards, parse_card, parse_cards
from crib_env.engine.hands.records import OVER
from crib_env.policy import Views
from crib_env.rules import Rules, TwoHandRules, find_rules

DISCARDED = 2  # cards each seat lays in the crib
ME, OTHER = 0, 1
LANE = np.zeros(1, dtype=np.int64)  # the one game of a `GameBatch`


def discard_view(
    hand: str,
    *,
    dealer: bool,
    scores: tuple[int, int] = (0, 0),
    match_score: tuple[int, int] = (0, 0),
    rules: str | Rules = "hoyle",
    episode: str = "game",
) -> Views:
    """Return the view of a seat about to discard.

    Args:
        hand: the cards dealt to it, such as ``"5H 5D JC 4S 6S KH"``.
        dealer: whether it deals, so that the crib is its own.
        scores: its score and the other's.
        match_score: its game points and the other's, where ``episode`` is ``"match"``.
        rules: a preset's name, or `Rules`, of a two-hand game.
        episode: what is at stake: ``"game"``, ``"match"`` or, for points alone, ``"deal"``.

    Returns:
        records [1] of the two-hand view.

    Raises:
        ValueError: cards that are none, a wrong number of them, scores beyond the target.
    """
    chosen = find_rules(rules, TwoHandRules)
    mine = read_cards("hand", hand)
    if len(mine) != chosen.dealt:
        raise ValueError(f"hand must be the {chosen.dealt} cards dealt, got {len(mine)}: {hand!r}")
    refuse_twice(mine)
    hidden = _hidden(mine)
    deal = _OpenDeal(chosen, episode, mine, hidden[: chosen.dealt], hidden[-1], dealer)
    if not dealer:
        return deal.seen(scores, match_score)
    for card in hidden[:DISCARDED]:
        deal.step(OTHER, card)
    return deal.seen(scores, match_score)


def pegging_view(
    hand: str,
    *,
    discarded: str,
    starter: str,
    dealer: bool,
    pile: str = "",
    scores: tuple[int, int] = (0, 0),
    match_score: tuple[int, int] = (0, 0),
    rules: str | Rules = "hoyle",
    episode: str = "game",
) -> Views:
    """Return the view of a seat about to play a card.

    Args:
        hand: the cards it still holds, such as ``"6D 4S"``.
        discarded: the two it discarded.
        starter: the card turned up.
        dealer: whether it deals.
        pile: the cards played in this deal in order, the other seat's in brackets:
            ``"5D (TS) 7H (9C)"``. Where a count ends follows from them.
        scores: its score and the other's, as they stand now.
        match_score: its game points and the other's, where ``episode`` is ``"match"``.
        rules: a preset's name, or `Rules`, of a two-hand game.
        episode: what is at stake: ``"game"``, ``"match"`` or, for points alone, ``"deal"``.

    Returns:
        records [1] of the two-hand view.

    Raises:
        ValueError: cards that are none or come twice, a wrong number of them, a pile that cannot
            have been played, or a position in which it is not this seat's turn.
    """
    chosen = find_rules(rules, TwoHandRules)
    held, away, up = (
        read_cards("hand", hand),
        read_cards("discarded", discarded),
        parse_card(starter),
    )
    played = _pile(pile)
    mine = held + away + [card for seat, card in played if seat == ME]
    theirs = [card for seat, card in played if seat == OTHER]
    size = chosen.dealt - DISCARDED
    if len(away) != DISCARDED:
        raise ValueError(f"discarded must be {DISCARDED} cards, got {len(away)}: {discarded!r}")
    if len(mine) != chosen.dealt:
        raise ValueError(
            f"a seat keeps {size} cards; hand ({len(held)}) and its own in the pile "
            f"({len(mine) - len(held) - len(away)}) are {len(mine) - len(away)}"
        )
    if len(theirs) > size:
        raise ValueError(f"the other seat keeps {size} cards, and {len(theirs)} are in the pile")
    refuse_twice([*mine, *theirs, up])
    # The highest cards not seen: where the other seat could not play, they do not fit either.
    hidden = _hidden([*mine, *theirs, up])
    unknown = size - len(theirs)
    filled = theirs + hidden[len(hidden) - unknown :]
    deal = _OpenDeal(chosen, episode, mine, filled + hidden[:DISCARDED], up, dealer)
    lays = [(OTHER, card) for card in hidden[:DISCARDED]]
    mine_away = [(ME, card) for card in away]
    for seat, card in lays + mine_away if dealer else mine_away + lays:
        deal.step(seat, card)
    for seat, card in played:
        deal.play(seat, card)
    return deal.seen(scores, match_score)


class _OpenDeal:
    """A deal with every card laid open, played through the engine.

    Args:
        mine: the cards dealt to the seat that asks, seat 0.
        theirs: the cards dealt to the other.
        starter: the starter.
        dealer: whether seat 0 deals.
    """

    def __init__(
        self,
        rules: Rules,
        episode: str,
        mine: Sequence[int],
        theirs: Sequence[int],
        starter: int,
        dealer: bool,
    ) -> None:
        self.games = GameBatch(rules, 1, episode=episode)
        pone, deals = (theirs, mine) if dealer else (mine, theirs)
        known = [card for pair in zip(pone, deals, strict=True) for card in pair] + [starter]
        deck = np.array([known + [c for c in range(DECK_SIZE) if c not in known]], dtype=np.int64)
        self.games.reset(dealer=ME if dealer else OTHER, decks=deck)

    @property
    def state(self) -> Any:
        """The engine's record."""
        return self.games.states[0]

    def step(self, seat: int, card: int) -> None:
        """Use a card that is known to be legal."""
        assert self.state["to_move"] == seat
        bad = self.games.step(LANE, np.array([card]))
        assert bad is None
        self.games.states["scores"] = 0  # nobody goes out on the way

    def play(self, seat: int, card: int) -> None:
        """Play a card of the pile."""
        shown = format_card(card) if seat == ME else f"({format_card(card)})"
        count = int(self.state["count"])
        if self.state["phase"] == OVER or self.state["to_move"] != seat:
            whose = "this seat's" if seat == OTHER else "the other seat's"
            raise ValueError(f"pile: {shown} cannot have been played at a count of {count}, for it "
                             f"was {whose} turn")  # fmt: skip
        if count + min((card >> 2) + 1, 10) > 31:
            raise ValueError(f"pile: {shown} would take the count from {count} past 31, and "
                             "another card fitted")  # fmt: skip
        self.step(seat, card)

    def seen(self, scores: tuple[int, int], match_score: tuple[int, int]) -> Views:
        """Return the view of seat 0, to move, at these scores."""
        if self.state["phase"] == OVER or self.state["to_move"] != ME:
            raise ValueError("it is not this seat's turn in this position: nothing to choose")
        rules, states = find_rules(self.games.rules, TwoHandRules), self.games.states
        for name, pair, end in (
            ("scores", scores, rules.target),
            ("match_score", match_score, rules.match_target),
        ):
            if not all(0 <= x < end for x in pair):
                raise ValueError(f"{name} must be two numbers from 0 to {end - 1}, got {pair!r}")
        for field, pair in (("scores", scores), ("rear", scores), ("match_score", match_score)):
            states[field] = pair
        return self.games.views(LANE, np.array([ME]))


def read_cards(name: str, text: str) -> list[int]:
    """Return the cards of an argument called ``name``."""
    try:
        return parse_cards(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _pile(text: str) -> list[tuple[int, int]]:
    """Return the cards of a pile as (seat, card)."""
    played = []
    for word in text.split():
        bracketed = re.fullmatch(r"\((.*)\)", word)
        card = read_cards("pile", bracketed[1] if bracketed else word)
        played += [(OTHER if bracketed else ME, c) for c in card]
    return played


def _hidden(seen: Sequence[int]) -> list[int]:
    return [card for card in range(DECK_SIZE) if card not in seen]


def refuse_twice(cards: Sequence[int]) -> None:
    """Raise if a card comes more than once."""
    twice = sorted({card for card in cards if cards.count(card) > 1})
    if twice:
        raise ValueError(f"{format_cards(twice)} given more than once")
