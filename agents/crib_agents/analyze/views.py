"""Views of positions, from cards written as text.

Cards that the seat cannot see are invented. In the two-hand games the engine plays the deal up to
the position, so a position that no deal can reach is refused. The view hides the invented cards.
A layout of Table Top does not say which turn placed which card, so the turns are invented too: the
expert does not use them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from crib_env.batch import GameBatch
from crib_env.cards import DECK_SIZE, format_card, parse_card, parse_cards, pip, refuse_twice
from crib_env.engine.hands.records import OVER
from crib_env.engine.record import NONE
from crib_env.engine.table_top.notation import VACANT
from crib_env.engine.table_top.records import CELLS, CENTRE, CRIB_CARDS, SEATS, SIZE, TURNS
from crib_env.policy import Views
from crib_env.rules import Rules, TableTopRules, TwoHandRules, find_rules

DISCARDED = 2  # cards that each seat discards
ME, OTHER = 0, 1
LANE = np.zeros(1, dtype=np.int64)  # index of the only game of a `GameBatch`


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
        episode: the stakes: ``"game"``, ``"match"`` or, for points alone, ``"deal"``.

    Returns:
        records [1] of the two-hand view.

    Raises:
        ValueError: unreadable or repeated cards, a wrong number of them, or scores not below the
            target.
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
        episode: the stakes: ``"game"``, ``"match"`` or, for points alone, ``"deal"``.

    Returns:
        records [1] of the two-hand view.

    Raises:
        ValueError: unreadable or repeated cards, a wrong number of them, a pile that cannot have
            been played, a position in which it is not this seat's turn, or scores not below the
            target.
    """
    chosen = find_rules(rules, TwoHandRules)
    held, away, up = (read_cards("hand", hand), read_cards("discarded", discarded), parse_card(starter))
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
    # The other seat gets the highest unseen cards: where it could not play, they do not fit.
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
    """A deal with all cards known, played through the engine; seat 0 is the view's."""

    def __init__(
        self, rules: Rules, episode: str, mine: Sequence[int], theirs: Sequence[int], starter: int, dealer: bool
    ) -> None:
        self.games = GameBatch(rules, 1, episode=episode)
        pone, deals = (theirs, mine) if dealer else (mine, theirs)
        known = [card for pair in zip(pone, deals, strict=True) for card in pair] + [starter]
        deck = np.array([known + [c for c in range(DECK_SIZE) if c not in known]], dtype=np.int64)
        self.games.reset(dealer=ME if dealer else OTHER, decks=deck)

    @property
    def state(self) -> Any:
        """The engine's state of the game."""
        return self.games.states[0]

    def step(self, seat: int, card: int) -> None:
        """Discard or play a card that is known to be legal."""
        assert self.state["to_move"] == seat
        bad = self.games.step(LANE, np.array([card]))
        assert bad is None
        self.games.states["scores"] = 0  # so that no seat wins before the position

    def play(self, seat: int, card: int) -> None:
        """Play a card of the pile."""
        shown = format_card(card) if seat == ME else f"({format_card(card)})"
        count = int(self.state["count"])
        if self.state["phase"] == OVER or self.state["to_move"] != seat:
            whose = "this seat's" if seat == OTHER else "the other seat's"
            raise ValueError(f"pile: {shown} cannot have been played at a count of {count}, for it was {whose} turn")
        if count + pip(card) > 31:
            raise ValueError(f"pile: {shown} would take the count from {count} past 31, and another card fitted")
        self.step(seat, card)

    def seen(self, scores: tuple[int, int], match_score: tuple[int, int]) -> Views:
        """Return the view of seat 0, to move, at these scores."""
        if self.state["phase"] == OVER or self.state["to_move"] != ME:
            raise ValueError("it is not this seat's turn in this position: nothing to choose")
        rules, states = find_rules(self.games.rules, TwoHandRules), self.games.states
        for name, pair, end in (
            ("scores", scores, rules.target),
            ("match_score", match_score, max(1, rules.match_target)),  # 0: there is no match
        ):
            if not all(0 <= x < end for x in pair):
                raise ValueError(f"{name} must be two numbers from 0 to {end - 1}, got {pair!r}")
        for field, pair in (("scores", scores), ("rear", scores), ("match_score", match_score)):
            states[field] = pair
        return self.games.views(LANE, np.array([ME]))


def read_cards(name: str, text: str) -> list[int]:
    """Return the cards in a text; errors begin with ``name``."""
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


def layout_view(
    layout: str,
    card: str,
    *,
    rows: bool = True,
    crib: str = "",
    partners_crib: str = "",
    others_crib: int = 0,
    players: int = 2,
    scores: tuple[int, int] = (0, 0),
    rules: str | Rules = "table_top",
    episode: str = "game",
) -> Views:
    """Return the view of a Table Top seat about to place a card.

    Args:
        layout: five rows from the top, with ``/`` between them; a cell is a card or ``.``, and the
            starter is in the centre: ``"...../.4C.../..7H../...8H./....."``.
        card: the card in turn, such as ``"6D"``.
        rows: whether its side scores the rows; else the columns.
        crib: the cards that this seat has put in the crib.
        partners_crib: those of its partner, with four players.
        others_crib: the number of cards that the other side has put in the crib.
        players: 2 or 4.
        scores: its side's score and the other's.
        rules: a preset's name, or `Rules`, of Table Top.
        episode: the stakes: ``"game"``, or for points alone ``"round"``.

    Returns:
        records [1] of the Table Top view.

    Raises:
        ValueError: unreadable or repeated cards, a layout that no round reaches, or more cards in
            the crib than are owed.
    """
    chosen = find_rules(rules, TableTopRules)
    if players not in (2, SEATS):
        raise ValueError(f"players must be 2 or 4, got {players!r}")
    if partners_crib and players == 2:
        raise ValueError("partners_crib: with two players nobody has a partner")
    if min(scores) < 0:
        raise ValueError(f"scores must be two numbers from 0 up, got {scores!r}")
    cells = _cells(layout)
    if chosen.adjacency:
        _refuse_apart(cells)
    me = 0 if rows else 1
    own = {me: read_cards("crib", crib), (me + 2) % SEATS: read_cards("partners_crib", partners_crib)}
    laid = _discarded(me, len(own[me]), len(own[(me + 2) % SEATS]), others_crib, players)
    games = GameBatch(chosen, 1, players=players, episode=episode)
    _fill(games.states[0], cells, parse_card(card), me, laid, own, players)
    games.states["scores"] = games.states["start"] = scores if rows else scores[::-1]
    return games.views(LANE, np.array([me]))


def _fill(
    s: Any, cells: list[int], card: int, me: int, laid: list[int], own: dict[int, list[int]], players: int
) -> None:
    """Fill the state ``s`` with the position in which seat ``me`` is to place ``card``."""
    known = [c for c in cells if c != NONE] + [card] + [c for cards in own.values() for c in cards]
    refuse_twice(known)
    hidden = [c for c in range(DECK_SIZE) if c not in known]
    occupied = [cell for cell in range(CELLS) if cells[cell] != NONE and cell != CENTRE]
    turn = len(occupied) + sum(laid)
    if turn >= TURNS:
        raise ValueError(f"after {turn} turns the round is over: there is nothing to choose")
    dealer = (me - 1 - turn) % players  # T4: makes ``me`` the seat in turn
    s["players"], s["to_move"], s["dealer"], s["turn"] = players, me, dealer, turn
    s["layout"], s["turns"], s["crib"], s["winner"], s["deals"] = cells, NONE, NONE, NONE, 1
    s["placed"] = sum((c != NONE) << cell for cell, c in enumerate(cells))
    to_lay = list(laid)
    for t in range(TURNS):
        seat = (dealer + 1 + t) % players
        if t < turn and to_lay[seat]:  # assume that a seat sent its crib cards in its first turns
            to_lay[seat] -= 1
            cards = own.get(seat)
            s["deck"][t] = cards.pop(0) if cards else hidden.pop()
            s["crib"][s["crib_n"]] = t
            s["crib_n"] += 1
        elif t < turn:
            cell = occupied.pop(0)
            s["deck"][t] = cells[cell]
            s["turns"][cell] = t
        else:
            s["deck"][t] = card if t == turn else hidden.pop()
    s["deck"][TURNS] = cells[CENTRE]
    for seat in range(players):
        owed = CRIB_CARDS // players - laid[seat]  # T6
        to_come = len([t for t in range(turn, TURNS) if (dealer + 1 + t) % players == seat])
        if owed > to_come:
            raise ValueError(
                f"the layout has {turn} turns taken, and a seat still owes the crib "
                f"{owed} cards with {to_come} to come (T6)"
            )
        s["owed"][seat] = owed


def _cells(layout: str) -> list[int]:
    """Return the 25 cells of a layout, NONE where vacant."""
    lines = layout.replace(" ", "").split("/")
    if len(lines) != SIZE:
        raise ValueError(f"layout must be {SIZE} rows with / between them, got {len(lines)}: {layout!r}")
    cells = []
    for line in lines:
        row = []
        rest = line
        while rest:
            size = 1 if rest[0] == VACANT else 2
            row.append(NONE if size == 1 else parse_card(rest[:size]))
            rest = rest[size:]
        if len(row) != SIZE:
            raise ValueError(f"layout: a row is {SIZE} cells, a card or {VACANT!r} each, got {len(row)}: {line!r}")
        cells += row
    if cells[CENTRE] == NONE:
        raise ValueError("layout: the starter lies in the centre, and that cell is vacant")
    return cells


def _refuse_apart(cells: list[int]) -> None:
    """Raise a ValueError unless all cards are connected to the starter, as T5 requires."""
    placed = {divmod(cell, SIZE) for cell in range(CELLS) if cells[cell] != NONE}
    reached = {divmod(CENTRE, SIZE)}
    fresh = set(reached)
    while fresh:
        fresh = {(r, c) for r, c in placed - reached if any(abs(r - a) <= 1 and abs(c - b) <= 1 for a, b in fresh)}
        reached |= fresh
    if placed - reached:
        row, column = min(placed - reached)
        raise ValueError(
            f"layout: the card in row {row}, column {column}, counted from 0, hangs together with no others (T5)"
        )


def _discarded(me: int, mine: int, partners: int, others: int, players: int) -> list[int]:
    """Return the number of cards that each seat has put in the crib."""
    quota = CRIB_CARDS // players
    side = CRIB_CARDS // 2
    if mine > quota or partners > quota or not 0 <= others <= side:
        raise ValueError(
            f"a seat puts {quota} cards in the crib and a side {side} (T6), got crib {mine}, "
            f"partners_crib {partners}, others_crib {others}"
        )
    laid = [0] * players
    laid[me] = mine
    if players == SEATS:
        laid[me + 2] = partners
    for k in range(others):  # of two opponents, first the one with fewer turns to come
        laid[(me + (3 if k < quota else 1)) % players] += 1
    return laid
