"""Dealing: from a deck that the caller gave for this deal, else from the record's generator.

Play never touches that generator, so equal seeds give equal deals whatever is played.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.rng import below


@kernel
def draw_for_deal(s, rules):
    """Draw a card for every seat; the lowest deals (H10, F1, T10), the highest if the rules say so.

    If two or more seats tie for it, all draw again: no seat gains or loses by that.
    """
    sign = -1 if rules["high_card_deals"] else 1
    while True:
        dealer = 0
        best = sign * (below(s["rng"], 52) >> 2)
        alone = True
        for seat in range(1, rules["players"]):
            rank = sign * (below(s["rng"], 52) >> 2)
            if rank < best:
                best = rank
                dealer = seat
                alone = True
            elif rank == best:
                alone = False
        if alone:
            return dealer


@kernel
def has_deck(s):
    """Return 1 if a deck was given for the next deal of state ``s``, else 0."""
    return 1 if s["given"] < s["given_end"] else 0


@kernel
def next_card(s, decks, given, i, used):
    """Return the i-th card of the deal of state ``s`` (decks int64[D, 52])."""
    if given:
        return decks[s["given"], i]
    card = below(s["rng"], 52)
    while used >> card & 1:
        card = below(s["rng"], 52)
    return card


@kernel
def forget_decks(s):
    """Use no more given decks: they are for the first episode only."""
    s["given"] = s["given_end"]
