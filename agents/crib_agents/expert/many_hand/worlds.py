"""Hidden hands that fit a view, drawn as `rule_based` would have kept them.

A world is a full state of the game in which the seat with the view is seat 0. Each other seat gets
unseen cards. A draw is rejected if `rule_based` would not have discarded the card that it implies,
or if the seat could have played where it passed. So the crib of a world fits its hands.
"""

from __future__ import annotations

from crib_agents.kernels.many_hand import best_discard
from crib_agents.kernels.many_hand_held import least_pips
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import kernel
from crib_env.engine.many_hand import CRIB_SLOT, HAND, KEPT, PILE, SEATS, view
from crib_env.engine.record import NONE
from crib_env.engine.rng import below
from crib_env.engine.show import pip

DECK = 52
DRAWS = 30  # for a card that the seat could not have played where it passed
TRIES = 8  # draws for a seat; the last is taken as it is, for some play by no rule we know


@kernel
def rules_of(v, rules):
    """Fill the rules record of a game in which the seat of the view is seat 0."""
    for seat in range(SEATS):
        rules["side_of"][seat] = v["side_of"][seat]
    rules["players"] = v["players"]
    rules["sides"] = v["sides"]
    rules["dealt"] = HAND
    rules["discards"] = HAND - KEPT
    rules["target"] = v["target"]
    rules["flush_size"] = v["flush_size"]
    rules["crib_flush_size"] = v["crib_flush_size"]
    rules["match_target"] = v["match_target"]
    rules["second_go_ends"] = v["second_go_ends"]
    rules["heels"] = v["heels"]
    rules["episode"] = v["episode"]


@kernel
def known(v, s):
    """Fill the state with what the view shows; return the unseen cards as a mask."""
    unseen = (1 << DECK) - 1
    s["phase"] = v["phase"]
    s["to_move"] = 0
    s["dealer"] = v["dealer"]
    s["starter"] = v["starter"]
    s["pile_n"] = v["pile_n"]
    s["pile_from"] = v["pile_from"]
    s["pile_seats"] = v["pile_seats"]
    s["count"] = v["count"]
    s["go"] = v["go"]
    s["passed"] = v["passed"]
    s["winner"] = NONE
    s["over"] = 0
    for i in range(CRIB_SLOT + 1):
        s["dealt"][i] = NONE
    for seat in range(SEATS):
        s["held"][seat] = 0
        s["discarded"][seat] = 0
        s["scores"][seat] = v["scores"][seat]
        s["rear"][seat] = v["rear"][seat]
        s["gain"][seat] = 0
    if v["starter"] != NONE:
        unseen &= ~(1 << v["starter"])
    for i in range(v["hand_n"]):
        s["dealt"][i] = v["hand"][i]
        s["held"][0] |= 1 << i
        unseen &= ~(1 << v["hand"][i])
    if v["discarded_n"]:
        s["dealt"][KEPT] = v["discarded"][0]
        s["discarded"][0] = 1 << KEPT
        unseen &= ~(1 << v["discarded"][0])
    for i in range(PILE):
        s["pile"][i] = v["pile"][i]
    filled = 0  # cards of each seat placed, four bits a seat; this one's played after those it held
    filled += v["hand_n"]
    for i in range(v["pile_n"]):
        who = v["pile_seats"] >> 2 * i & 3
        s["dealt"][HAND * who + (filled >> 4 * who & 15)] = v["pile"][i]
        filled += 1 << 4 * who
        unseen &= ~(1 << v["pile"][i])
    return unseen


@kernel
def draw_hand(s, rules, table, weights, seat, played, low, pool, at, n, rng, v):
    """Draw a seat's cards not seen; return the slot it has discarded.

    Args:
        played: how many of its cards have been. low: the least pip of those it still holds.
        pool: int64[DECK], the unseen cards, those from ``at`` to ``n`` not yet used.
        v: a view, overwritten.
    """
    first = HAND * seat
    missing = HAND - played
    phase = s["phase"]
    laid = HAND - 1
    for _ in range(TRIES):
        for i in range(missing):
            j = at + i + below(rng, n - at - i)
            for _again in range(DRAWS):  # the last card alone may be too low: it can be discarded
                if i == missing - 1 or pip(pool[j]) >= low:
                    break
                j = at + i + below(rng, n - at - i)
            card = pool[j]
            pool[j] = pool[at + i]
            pool[at + i] = card
            s["dealt"][first + played + i] = card
        s["phase"] = DISCARD
        s["held"][seat] = (1 << HAND) - 1
        s["discarded"][seat] = 0
        s["to_move"] = seat
        view(s, rules, seat, v)
        laid_card = best_discard(v, table, weights)
        possible = True
        for i in range(HAND):
            card = s["dealt"][first + i]
            if card == laid_card:
                laid = i
            elif i >= played and pip(card) < low:
                possible = False
        if possible and laid >= played:
            break
        laid = HAND - 1
    s["phase"] = phase
    s["to_move"] = 0
    return laid


@kernel
def draw_world(s, rules, table, weights, v, unseen, pool, rng, other, laid):
    """Draw the cards that a view of the pegging does not show into a state filled by `known`.

    Args:
        unseen: the cards unseen, a mask.
        other: a view, overwritten.
        laid: int64[SEATS], the slots that other seats have discarded.
    """
    n = 0
    for card in range(DECK):
        if unseen >> card & 1:
            pool[n] = card
            n += 1
    at = 0
    least = least_pips(v)
    for seat in range(1, v["players"]):
        played = KEPT - v["held_n"][seat]
        low = least >> 4 * seat & 15
        slot = draw_hand(s, rules, table, weights, seat, played, low, pool, at, n, rng, other)
        at += HAND - played
        laid[seat] = slot
    if v["players"] < KEPT:
        s["dealt"][CRIB_SLOT] = pool[at + below(rng, n - at)]
    for seat in range(1, v["players"]):
        played = KEPT - v["held_n"][seat]
        s["discarded"][seat] = 1 << laid[seat]
        s["held"][seat] = ((1 << HAND) - 1 & ~((1 << played) - 1)) & ~(1 << laid[seat])
