"""The rules of the two-hand games, six-card and five-card cribbage, over one `TWO_HAND` record.

`begin_episode` and `step` are all a caller needs; `step` takes a legal slot, a card's place among
those dealt to the seat (`slots`). What cards make is in `count`. Comments name the clauses: H
six-card, F five-card, C common to both.
"""

from __future__ import annotations

from crib_env.engine.deck import draw_for_deal, has_deck, next_card
from crib_env.engine.jit import kernel
from crib_env.engine.log import CRIB, FOR_LAST, GO, HEELS, LAST, SHOW, THIRTY_ONE, note_cards
from crib_env.engine.pegs import count_cards, heels_points, peg, peg_combinations, pile_cards
from crib_env.engine.record import NONE
from crib_env.engine.show import pip
from crib_env.engine.slots import legal_slots
from crib_env.engine.two_hand.count import crib_points, hand_points
from crib_env.engine.two_hand.records import (
    DEAL,
    DISCARD,
    HAND,
    MATCH,
    OVER,
    PEGGING,
    PEGGING_ONLY,
)


@kernel
def begin_episode(s, rules, decks, dealer, log):
    """Start an episode: a match at no game points, the first game, its first deal.

    Args:
        dealer: the seat of the first dealer, or NONE to cut for it.
    """
    log[0] = 0
    s["deals"] = 0
    s["over"] = 0
    if dealer == NONE:
        dealer = draw_for_deal(s, rules)
    begin_game(s, rules, dealer, log)
    for seat in range(2):
        s["match_score"][seat] = 0
        s["start"][seat] = s["scores"][seat]
        s["gain"][seat] = 0
    deal(s, rules, decks)


@kernel
def begin_game(s, rules, dealer, log):
    """Clear the board; in five-card cribbage pone pegs three for last (F1)."""
    s["dealer"] = dealer
    s["winner"] = NONE
    for seat in range(2):
        s["scores"][seat] = 0
        s["rear"][seat] = 0
    peg(s, rules, log, 1 - dealer, rules["for_last"], FOR_LAST, 0)


@kernel
def deal(s, rules, decks):
    """Deal one card at a time, pone first (H1, F2); the next card will be the starter.

    Slots hold the cards of a seat for the whole deal; which are still held is kept beside them.
    """
    given = has_deck(s)
    pone = 1 - s["dealer"]
    used = 0
    cards = 2 * rules["dealt"]
    for i in range(cards + 1):
        card = next_card(s, decks, given, i, used)
        used |= 1 << card
        if i == cards:
            s["starter"] = card
        else:
            seat = pone if i % 2 == 0 else s["dealer"]
            s["dealt"][HAND * seat + i // 2] = card
    s["given"] += given
    s["deals"] += 1
    s["phase"] = DISCARD
    s["to_move"] = pone
    s["count"] = 0
    s["go"] = 0
    s["pile_n"] = 0
    s["pile_from"] = 0
    s["pile_seats"] = 0
    for seat in range(2):
        s["held"][seat] = (1 << rules["dealt"]) - 1
        s["discarded"][seat] = 0


@kernel
def step(s, rules, decks, table, slot, log):
    """Use the card in a legal slot of the seat to move, and go on to the next decision.

    ``log`` (int64[LOG_SIZE]) receives what is pegged, in order: ``log[0]`` rows of seat, points,
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
    """End a game that is won; after any other deal end the episode or pass the deal (H10)."""
    if s["winner"] != NONE:
        end_game(s, rules, decks, log)
    elif s["phase"] == OVER and (rules["episode"] == DEAL or rules["episode"] == PEGGING_ONLY):
        s["over"] = 1
    elif s["phase"] == OVER:
        s["dealer"] = 1 - s["dealer"]
        deal(s, rules, decks)


@kernel
def discard(s, rules, seat, slot, log):
    """Lay a card in the crib; when both have laid two the starter is turned (H1, H2, F3)."""
    s["discarded"][seat] |= 1 << slot
    discarded = s["discarded"][seat]
    if discarded & (discarded - 1) == 0:
        return
    if seat != s["dealer"]:
        s["to_move"] = s["dealer"]
        return
    s["phase"] = PEGGING
    s["to_move"] = 1 - s["dealer"]
    if rules["episode"] != PEGGING_ONLY:
        peg(s, rules, log, s["dealer"], heels_points(s, rules), HEELS, 1 << s["starter"])


@kernel
def play(s, rules, table, seat, card, log):
    """Play a card: what it makes, then who plays next, the end of the count or of the play."""
    n = s["pile_n"]
    s["pile"][n] = card
    s["pile_seats"] |= seat << n
    s["pile_n"] = n + 1
    s["count"] += pip(card)
    other = 1 - seat
    count = s["count"]
    peg_combinations(s, rules, log, seat)
    if count == 31:
        # Where one go point a count is pegged and has been, 31 is worth the other point (H6, F5).
        points = 1 if s["go"] else 2
        peg(s, rules, log, seat, points, THIRTY_ONE, pile_cards(s, s["pile_from"]))
    elif legal_slots(s, other):
        s["to_move"] = other
        return
    else:
        alone = legal_slots(s, seat) != 0
        # Six-card pegs the go at once (H5); five-card one for last when the play ends (F5).
        if s["go"] == 0 and not (alone and rules["single_count"]):
            s["go"] = 1
            last = s["held"][0] == 0 and s["held"][1] == 0
            reason = LAST if last or rules["single_count"] else GO
            peg(s, rules, log, seat, 1, reason, 1 << card)
        if alone:
            return
    if rules["single_count"] or (s["held"][0] == 0 and s["held"][1] == 0):
        show(s, rules, table, log)
        return
    s["count"] = 0  # H7
    s["go"] = 0
    s["pile_from"] = s["pile_n"]
    s["to_move"] = other if s["held"][other] else seat


@kernel
def show(s, rules, table, log):
    """Count pone's hand, the dealer's hand and the crib, in this order (H8, F6).

    What is counted is logged with the starter before it (heels of no points), for who tells of the
    deal when the next has begun.
    """
    s["phase"] = OVER
    if rules["episode"] == PEGGING_ONLY or s["winner"] != NONE:
        return
    dealer = s["dealer"]
    note_cards(log, dealer, 0, HEELS, 1 << s["starter"])
    for seat in (1 - dealer, dealer):
        points, cards = hand_points(s, rules, table, seat)
        count_cards(s, rules, log, seat, points, SHOW, cards)
    points, cards = crib_points(s, rules, table)
    count_cards(s, rules, log, dealer, points, CRIB, cards)


@kernel
def game_points(rules, margin):
    """Return what a game won by ``margin`` points counts in a match (H11)."""
    if margin > rules["double_skunk_margin"]:
        return rules["double_skunk_points"]
    if margin > rules["skunk_margin"]:
        return rules["skunk_points"]
    return 1


@kernel
def end_game(s, rules, decks, log):
    """End the episode, or begin the match's next game with the loser dealing (H10, H11)."""
    winner = s["winner"]
    margin = s["scores"][winner] - s["scores"][1 - winner]
    s["match_score"][winner] += game_points(rules, margin)
    s["phase"] = OVER
    if rules["episode"] != MATCH or s["match_score"][winner] >= rules["match_target"]:
        s["over"] = 1
        return
    begin_game(s, rules, winner if rules["winner_deals"] else 1 - winner, log)
    deal(s, rules, decks)
