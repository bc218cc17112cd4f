"""The rules of the toy game over one `TOY` record; a move is the slot of a card among those dealt.

Two or three play, everyone for himself. Each seat is dealt two cards. From the dealer's left on,
each lays one face up; then the starter is turned. A jack pegs the dealer one. The card laid of most
pips, if it is alone, pegs its seat ``higher_points``; a card kept that is of the starter's suit
pegs its seat one. Who then has the target, and more than any other, wins.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.record import CRIB, HEELS, NONE, SHOW, has_deck, next_card, note
from crib_env.engine.rng import below
from crib_env.engine.show import JACK, pip
from toy.records import DEAL, HAND, SEATS


@kernel
def begin_episode(s, rules, decks, dealer, log):
    """Start an episode at no points; ``dealer`` deals first, or who is drawn, if NONE."""
    log[0] = 0
    s["over"] = 0
    s["winner"] = NONE
    s["deals"] = 0
    s["players"] = rules["players"]
    s["dealer"] = below(s["rng"], s["players"]) if dealer == NONE else dealer
    for seat in range(SEATS):
        s["scores"][seat] = 0
        s["start"][seat] = 0
        s["gain"][seat] = 0
    deal(s, decks)


@kernel
def deal(s, decks):
    """Deal two cards each, one at a time from the dealer's left on, and the starter face down."""
    given = has_deck(s)
    players = s["players"]
    used = 0
    for i in range(players * HAND + 1):
        card = next_card(s, decks, given, i, used)
        used |= 1 << card
        if i == players * HAND:
            s["starter"] = card
        else:
            s["dealt"][HAND * on_turn(s, i) + i // players] = card
    s["given"] += given
    s["deals"] += 1
    for seat in range(SEATS):
        s["held"][seat] = (1 << HAND) - 1 if seat < players else 0
        s["pile"][seat] = NONE
    s["pile_n"] = 0
    s["to_move"] = on_turn(s, 0)


@kernel
def on_turn(s, turn):
    """Return the seat that is dealt to, and lays, in this turn, from 0 on."""
    return (s["dealer"] + 1 + turn) % s["players"]


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
    if s["pile_n"] < s["players"]:
        s["to_move"] = on_turn(s, s["pile_n"])
        return
    show(s, rules, log)
    if s["winner"] != NONE or rules["episode"] == DEAL:
        s["over"] = 1
        return
    s["dealer"] = on_turn(s, 0)
    deal(s, decks)


@kernel
def show(s, rules, log):
    """Peg the starter, the highest card laid and the cards kept, in this order."""
    starter = s["starter"]
    if starter >> 2 == JACK:
        peg(s, log, s["dealer"], 1, HEELS, 1 << starter)
    most = highest(s)
    if most != NONE:
        peg(s, log, on_turn(s, most), rules["higher_points"], SHOW, 1 << s["pile"][most])
    for turn in range(s["players"]):
        seat = on_turn(s, turn)
        card = s["dealt"][HAND * seat + (s["held"][seat] >> 1)]
        if card & 3 == starter & 3:
            peg(s, log, seat, 1, CRIB, 1 << card)
    best, alone = 0, True
    for seat in range(1, s["players"]):
        if s["scores"][seat] > s["scores"][best]:
            best, alone = seat, True
        elif s["scores"][seat] == s["scores"][best]:
            alone = False
    if s["scores"][best] >= rules["target"] and alone:
        s["winner"] = best


@kernel
def highest(s):
    """Return the turn in which the card of most pips was laid, or NONE if it is not alone."""
    best = 0
    alone = True
    for turn in range(1, s["players"]):
        more = pip(s["pile"][turn]) - pip(s["pile"][best])
        if more > 0:
            best, alone = turn, True
        elif more == 0:
            alone = False
    return best if alone else NONE


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
