"""Positions of Table Top, as one seat knows them, from a layout written as text.

As in `positions`, any remaining cards stand for the hidden ones, and `view` shows the position to
the seat. The text does not say which turn placed which card, so this is invented: the expert does
not use it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crib_agents.analyze.positions import LANE, read_cards, refuse_twice
from crib_env.batch import GameBatch
from crib_env.cards import DECK_SIZE, parse_card
from crib_env.engine.record import NONE
from crib_env.engine.table_top.records import CELLS, CENTRE, CRIB_CARDS, SEATS, SIZE, TURNS
from crib_env.policy import Views
from crib_env.rules import Rules, TableTopRules, find_rules

VACANT = "."


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
        layout: five rows from the top, with ``/`` between them, a cell a card or ``.``, the
            starter in the centre: ``"...../.4C.../..7H../...8H./....."``.
        card: the card in turn, such as ``"6D"``.
        rows: whether its side scores the rows; else the columns.
        crib: the cards this seat has laid in the crib.
        partners_crib: those its partner has, with four players.
        others_crib: how many the other side has laid.
        players: 2 or 4.
        scores: its side's score and the other's.
        rules: a preset's name, or `Rules`, of Table Top.
        episode: what is at stake: ``"game"``, or for points alone ``"round"``.

    Returns:
        records [1] of the Table Top view.

    Raises:
        ValueError: cards that are none or come twice, a layout that no round reaches, more cards
            in the crib than are owed.
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
    own = {
        me: read_cards("crib", crib),
        (me + 2) % SEATS: read_cards("partners_crib", partners_crib),
    }
    laid = _discarded(me, len(own[me]), len(own[(me + 2) % SEATS]), others_crib, players)
    games = GameBatch(chosen, 1, players=players, episode=episode)
    _fill(games.states[0], cells, parse_card(card), me, laid, own, players)
    games.states["scores"] = games.states["start"] = scores if rows else scores[::-1]
    return games.views(LANE, np.array([me]))


def _fill(
    s: Any,
    cells: list[int],
    card: int,
    me: int,
    laid: list[int],
    own: dict[int, list[int]],
    players: int,
) -> None:
    """Make the state ``s`` one in which it is seat ``me``'s turn with ``card``."""
    known = [c for c in cells if c != NONE] + [card] + [c for cards in own.values() for c in cards]
    refuse_twice(known)
    hidden = [c for c in range(DECK_SIZE) if c not in known]
    vacant = [cell for cell in range(CELLS) if cells[cell] != NONE and cell != CENTRE]
    turn = len(vacant) + sum(laid)
    if turn >= TURNS:
        raise ValueError(f"after {turn} turns the round is over: there is nothing to choose")
    dealer = (me - 1 - turn) % players  # T4: so that the seat is the one in turn
    s["players"], s["to_move"], s["dealer"], s["turn"] = players, me, dealer, turn
    s["layout"], s["turns"], s["crib"], s["winner"], s["deals"] = cells, NONE, NONE, NONE, 1
    s["placed"] = sum((c != NONE) << cell for cell, c in enumerate(cells))
    to_lay = list(laid)
    for t in range(TURNS):
        seat = (dealer + 1 + t) % players
        if t < turn and to_lay[seat]:  # whoever has laid, let it have been in its first turns
            to_lay[seat] -= 1
            cards = own.get(seat)
            s["deck"][t] = cards.pop(0) if cards else hidden.pop()
            s["crib"][s["crib_n"]] = t
            s["crib_n"] += 1
        elif t < turn:
            cell = vacant.pop(0)
            s["deck"][t] = cells[cell]
            s["turns"][cell] = t
        else:
            s["deck"][t] = card if t == turn else hidden.pop()
    s["deck"][TURNS] = cells[CENTRE]
    for seat in range(players):
        owed = CRIB_CARDS // players - laid[seat]  # T6
        to_come = len([t for t in range(turn, TURNS) if (dealer + 1 + t) % players == seat])
        if owed > to_come:
            raise ValueError(f"the layout has {turn} turns taken, and a seat still owes the crib "
                             f"{owed} cards with {to_come} to come (T6)")  # fmt: skip
        s["owed"][seat] = owed


def _cells(layout: str) -> list[int]:
    """Return the 25 cells of a layout, NONE where vacant."""
    lines = layout.replace(" ", "").split("/")
    if len(lines) != SIZE:
        raise ValueError(f"layout must be {SIZE} rows with / between them, got {len(lines)}: "
                         f"{layout!r}")  # fmt: skip
    cells = []
    for line in lines:
        row = []
        rest = line
        while rest:
            size = 1 if rest[0] == VACANT else 2
            row.append(NONE if size == 1 else parse_card(rest[:size]))
            rest = rest[size:]
        if len(row) != SIZE:
            raise ValueError(f"layout: a row is {SIZE} cells, a card or {VACANT!r} each, got "
                             f"{len(row)}: {line!r}")  # fmt: skip
        cells += row
    if cells[CENTRE] == NONE:
        raise ValueError("layout: the starter lies in the centre, and that cell is vacant")
    return cells


def _refuse_apart(cells: list[int]) -> None:
    """Raise if a card of the layout touches no other, which T5 does not let happen."""
    placed = {divmod(cell, SIZE) for cell in range(CELLS) if cells[cell] != NONE}
    reached = {divmod(CENTRE, SIZE)}
    fresh = set(reached)
    while fresh:
        fresh = {
            (r, c) for r, c in placed - reached
            if any(abs(r - a) <= 1 and abs(c - b) <= 1 for a, b in fresh)
        }  # fmt: skip
        reached |= fresh
    if placed - reached:
        row, column = min(placed - reached)
        raise ValueError(f"layout: the card in row {row}, column {column}, counted from 0, hangs "
                         "together with no others (T5)")  # fmt: skip


def _discarded(me: int, mine: int, partners: int, others: int, players: int) -> list[int]:
    """Return how many cards each seat has laid in the crib."""
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
