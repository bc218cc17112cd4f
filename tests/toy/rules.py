"""The rules of the toy game over one `TOY` record; a move is the slot of a card among those dealt.

Each seat is dealt two cards. Pone lays one face up, then the dealer; then the starter is turned. A
jack pegs the dealer one; the card laid of more pips pegs its seat ``higher_points``; a card kept
that is of the starter's suit pegs its seat one. Who then has the target, and more than the other,
wins.
"""

from __future__ import annotations

from crib_env.engine.deck import has_deck, next_card
from crib_env.engine.jit import kernel
from crib_env.engine.log import CRIB, HEELS, SHOW, note
from crib_env.engine.record import NONE
from crib_env.engine.rng import below
from crib_env.engine.show import JACK, pip
from toy.records import DEAL, HAND


@kernel
def begin_episode(s, rules, decks, dealer, log):
    """Start an episode at no points; ``dealer`` deals first, or who is drawn, if NONE."""
    log[0] = 0
    s["over"] = 0
    s["winner"] = NONE
    s["deals"] = 0
    s["dealer"] = below(s["rng"], 2) if dealer == NONE else dealer
    for seat in range(2):
        s["scores"][seat] = 0
        s["start"][seat] = 0
        s["gain"][seat] = 0
    deal(s, decks)


@kernel
def deal(s, decks):
    """Deal two cards each, one at a time, pone first, and the starter face down."""
    given = has_deck(s)
    pone = 1 - s["dealer"]
    used = 0
    for i in range(2 * HAND + 1):
        card = next_card(s, decks, given, i, used)
        used |= 1 << card
        if i == 2 * HAND:
            s["starter"] = card
        else:
            seat = pone if i % 2 == 0 else s["dealer"]
            s["dealt"][HAND * seat + i // 2] = card
    s["given"] += given
    s["deals"] += 1
    s["held"][0] = s["held"][1] = (1 << HAND) - 1
    s["pile"][0] = s["pile"][1] = NONE
    s["pile_n"] = 0
    s["to_move"] = pone


@kernel
def slot_of(s, rules, card):
    """Return the slot of a card that the seat to move holds, or NONE."""
    seat = s["to_move"]
    for i in range(HAND):
        if s["dealt"][HAND * seat + i] == card and s["held"][seat] >> i & 1 and s["over"] == 0:
            return i
    return NONE


@kernel
def draw_slot(s, rules, rng):
    """Draw one of the slots of the seat to move, which holds both its cards."""
    return below(rng, HAND)


@kernel
def card_in(s, slot):
    """Return the card in a slot of the seat to move."""
    return s["dealt"][HAND * s["to_move"] + slot]


@kernel
def step(s, rules, decks, table, slot, log):
    """Lay the card face up; after the dealer's, turn the starter, peg and deal again."""
    log[0] = 0
    seat = s["to_move"]
    s["pile"][s["pile_n"]] = s["dealt"][HAND * seat + slot]
    s["pile_n"] += 1
    s["held"][seat] &= ~(1 << slot)
    if s["pile_n"] == 1:
        s["to_move"] = 1 - seat
        return
    show(s, rules, log)
    if s["winner"] != NONE or rules["episode"] == DEAL:
        s["over"] = 1
        return
    s["dealer"] = 1 - s["dealer"]
    deal(s, decks)


@kernel
def show(s, rules, log):
    """Peg the starter, the higher card laid and the cards kept, in this order."""
    dealer = s["dealer"]
    starter = s["starter"]
    if starter >> 2 == JACK:
        peg(s, log, dealer, 1, HEELS, 1 << starter)
    more = pip(s["pile"][0]) - pip(s["pile"][1])
    if more != 0:
        seat = 1 - dealer if more > 0 else dealer
        card = s["pile"][0] if more > 0 else s["pile"][1]
        peg(s, log, seat, rules["higher_points"], SHOW, 1 << card)
    for turn in range(2):
        seat = 1 - dealer if turn == 0 else dealer
        card = s["dealt"][HAND * seat + (s["held"][seat] >> 1)]
        if card & 3 == starter & 3:
            peg(s, log, seat, 1, CRIB, 1 << card)
    more = s["scores"][0] - s["scores"][1]
    if max(s["scores"][0], s["scores"][1]) >= rules["target"] and more != 0:
        s["winner"] = 0 if more > 0 else 1


@kernel
def peg(s, log, seat, points, reason, cards):
    """Peg points."""
    s["scores"][seat] += points
    s["gain"][seat] += points
    note(log, seat, points, reason, cards)


@kernel
def phase_of(reason):
    """Return where a tally keeps points: the starter's, the card's laid, the card's kept."""
    return 0 if reason == HEELS else reason - SHOW + 1
