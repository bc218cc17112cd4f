"""The rules of the games for three and four (clauses M) over one `MANY_HAND` record.

`begin_episode` and `step` are all a caller needs; `step` takes a legal slot, a card's place among
those dealt to the seat (`crib_env.engine.slots`). What cards make is in `count` and in
`crib_env.engine.pegs`. Seats score for their sides: the rules record says which.
"""

from __future__ import annotations

from crib_env.engine.deck import draw_for_deal, has_deck, next_card
from crib_env.engine.jit import kernel
from crib_env.engine.log import CRIB, GO, HEELS, LAST, SHOW, THIRTY_ONE, note_cards
from crib_env.engine.many_hand.count import crib_points, hand_points
from crib_env.engine.many_hand.records import (
    CRIB_SLOT,
    DEAL,
    HAND,
    KEPT,
    MATCH,
    PILE,
    SEATS,
)
from crib_env.engine.pegs import count_cards, heels_points, peg, peg_combinations, pile_cards
from crib_env.engine.record import NONE
from crib_env.engine.show import pip
from crib_env.engine.slots import DISCARD, OVER, PEGGING, legal_slots


@kernel
def to_the_left(players, seat, places):
    """Return the seat so many places (0 to all the seats) to the left of one."""
    left = seat + places
    # & 3: so that the compiler knows no index is negative
    return (left - players if left >= players else left) & 3


@kernel
def begin_episode(s, rules, decks, dealer, log):
    """Start an episode: a match at no games, the first game, its first deal.

    Args:
        dealer: the seat of the first dealer, or NONE to draw for it.
    """
    log[0] = 0
    s["deals"] = 0
    s["over"] = 0
    if dealer == NONE:
        dealer = draw_for_deal(s, rules)
    begin_game(s, dealer)
    for side in range(SEATS):
        s["match_score"][side] = 0
        s["start"][side] = 0
        s["gain"][side] = 0
    deal(s, rules, decks)


@kernel
def begin_game(s, dealer):
    """Clear the board."""
    s["dealer"] = dealer
    s["winner"] = NONE
    for side in range(SEATS):
        s["scores"][side] = 0
        s["rear"][side] = 0


@kernel
def deal(s, rules, decks):
    """Deal one card at a time from the dealer's left on, then the crib's if it lacks one (M2).

    The next card will be the starter. Slots hold the cards of a seat for the whole deal; which are
    still held is kept beside them.
    """
    given = has_deck(s)
    players = rules["players"]
    used = 0
    i = 0
    for place in range(HAND):
        for turn in range(1, players + 1):
            card = next_card(s, decks, given, i, used)
            used |= 1 << card
            s["dealt"][HAND * to_the_left(rules["players"], s["dealer"], turn) + place] = card
            i += 1
    for slot in range(HAND * players, CRIB_SLOT + 1):
        s["dealt"][slot] = NONE
    if players < KEPT:  # each lays one: so many are missing from a crib of four
        card = next_card(s, decks, given, i, used)
        used |= 1 << card
        s["dealt"][CRIB_SLOT] = card
        i += 1
    s["starter"] = next_card(s, decks, given, i, used)
    s["given"] += given
    s["deals"] += 1
    s["phase"] = DISCARD
    s["to_move"] = to_the_left(rules["players"], s["dealer"], 1)
    s["count"] = 0
    s["passed"] = 0
    s["pile_n"] = 0
    s["pile_from"] = 0
    s["pile_seats"] = 0
    for i in range(PILE):
        s["pile"][i] = NONE
    for seat in range(SEATS):
        s["held"][seat] = (1 << HAND) - 1 if seat < players else 0
        s["discarded"][seat] = 0


@kernel
def step(s, rules, decks, table, slot, log):
    """Use the card in a legal slot of the seat to move, and go on to the next decision.

    ``log`` (int64[LOG_SIZE]) receives what is pegged, in order: ``log[0]`` rows of side, points,
    reason and cards.
    """
    use_card(s, rules, table, slot, log)
    go_on(s, rules, decks, log)


@kernel
def use_card(s, rules, table, slot, log):
    """Use the card; after a deal's last its cards are still in the state, until `go_on`."""
    log[0] = 0
    seat = s["to_move"]
    s["held"][seat] &= ~(1 << slot)
    if s["phase"] == DISCARD:
        discard(s, rules, seat, slot, log)
    else:
        play(s, rules, table, seat, s["dealt"][HAND * seat + slot], log)


@kernel
def go_on(s, rules, decks, log):
    """End a game that is won; after any other deal end the episode or pass the deal (M10)."""
    if s["winner"] != NONE:
        end_game(s, rules, decks)
    elif s["phase"] == OVER and rules["episode"] == DEAL:
        s["over"] = 1
    elif s["phase"] == OVER:
        s["dealer"] = to_the_left(rules["players"], s["dealer"], 1)
        deal(s, rules, decks)


@kernel
def discard(s, rules, seat, slot, log):
    """Lay a card in the crib; when the dealer, the last, has, the starter is turned (M3, M4)."""
    s["discarded"][seat] = 1 << slot
    s["to_move"] = to_the_left(rules["players"], seat, 1)
    if seat == s["dealer"]:
        s["phase"] = PEGGING
        side = rules["side_of"][seat]
        peg(s, rules, log, side, heels_points(s, rules), HEELS, 1 << s["starter"])


@kernel
def play(s, rules, table, seat, card, log):
    """Play a card: what it makes (M6), then who plays next, the end of the count or of the play."""
    side = rules["side_of"][seat]
    n = s["pile_n"]
    s["pile"][n] = card
    s["pile_seats"] |= seat << 2 * n
    s["pile_n"] = n + 1
    s["count"] += pip(card)
    peg_combinations(s, rules, log, side)
    if s["count"] < 31:
        after = next_able(s, rules, seat)
        if after != NONE:
            s["to_move"] = after
            return
    lead = next_holding(s, rules, seat)
    if s["count"] == 31:
        peg(s, rules, log, side, 2, THIRTY_ONE, pile_cards(s, s["pile_from"]))
    else:
        peg(s, rules, log, side, 1, LAST if lead == NONE else GO, 1 << card)
    if lead == NONE:
        show(s, rules, table, log)
        return
    s["count"] = 0  # M8
    s["passed"] = 0
    s["pile_from"] = s["pile_n"]
    s["to_move"] = lead


@kernel
def next_able(s, rules, seat):
    """Return who plays after ``seat``: the first to the left who can; NONE ends the count (M7)."""
    goes = 0  # one seat after another
    for places in range(1, rules["players"] + 1):
        other = to_the_left(rules["players"], seat, places)
        if legal_slots(s, other):
            return other
        s["passed"] |= 1 << other
        goes += s["held"][other] != 0  # who has no cards left says nothing
        if rules["second_go_ends"] and goes == 2:
            return NONE
    return NONE


@kernel
def next_holding(s, rules, seat):
    """Return who leads after ``seat`` played last: the first to the left with cards; or NONE."""
    for places in range(1, rules["players"] + 1):
        other = to_the_left(rules["players"], seat, places)
        if s["held"][other]:
            return other
    return NONE


@kernel
def show(s, rules, table, log):
    """Count the hands from the dealer's left on, the dealer's last, and the crib (M9).

    What is counted is logged with the starter before it (heels of no points), for who tells of the
    deal when the next has begun.
    """
    s["phase"] = OVER
    if s["winner"] != NONE:
        return
    dealer = s["dealer"]
    note_cards(log, rules["side_of"][dealer], 0, HEELS, 1 << s["starter"])
    for places in range(1, rules["players"] + 1):
        seat = to_the_left(rules["players"], dealer, places)
        points, cards = hand_points(s, rules, table, seat)
        count_cards(s, rules, log, rules["side_of"][seat], points, SHOW, cards)
    points, cards = crib_points(s, rules, table)
    count_cards(s, rules, log, rules["side_of"][dealer], points, CRIB, cards)


@kernel
def end_game(s, rules, decks):
    """End the episode, or begin the match's next game (M11)."""
    winner = s["winner"]
    s["match_score"][winner] += 1
    s["phase"] = OVER
    if rules["episode"] != MATCH or s["match_score"][winner] >= rules["match_target"]:
        s["over"] = 1
        return
    begin_game(s, loser(s, rules))
    deal(s, rules, decks)


@kernel
def loser(s, rules):
    """Return the seat of the lowest score; of several, the first to the dealer's left (M10)."""
    last = to_the_left(rules["players"], s["dealer"], 1)
    for places in range(2, rules["players"] + 1):
        seat = to_the_left(rules["players"], s["dealer"], places)
        if s["scores"][rules["side_of"][seat]] < s["scores"][rules["side_of"][last]]:
            last = seat
    return last
