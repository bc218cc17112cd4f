"""The rules of the games with hands as kernels over one state of `records`.

`begin_episode` and `step` are all a caller needs; `step` takes a legal slot, a card's place among
those dealt to the seat (`slots`). Points are pegged at once (C5); a seat pegs for its side, and the
log names the side. Comments name the clauses: H six-card, F five-card, M three and four hands.
"""

from __future__ import annotations

from dataclasses import replace

from crib_env.engine import record
from crib_env.engine.family import Kernels
from crib_env.engine.hands.records import (
    CRIB,
    DEAL,
    DISCARD,
    MATCH,
    OVER,
    PEGGING,
    PEGGING_ONLY,
    players_of,
    seats,
    side_of,
    to_the_left,
)
from crib_env.engine.hands.slots import hand_size, legal_slots
from crib_env.engine.jit import kernel, shared_kernel
from crib_env.engine.ranks import DECK
from crib_env.engine.record import CRIB as FOR_CRIB
from crib_env.engine.record import HEELS, LOG_WIDTH, NONE, SHOW
from crib_env.engine.show import FOUR, JACK, KEYS, heels_points, pip, score_flush_and_nob


@kernel
def begin_episode(s, rules, decks, dealer, log):
    """Start an episode: a match at no game points, the first game, its first deal."""
    log[0] = 0
    s["deals"] = 0
    s["over"] = 0
    if dealer == NONE:
        dealer = record.draw_for_deal(s, rules)
    begin_game(s, rules, dealer, log)
    for side in range(seats(s)):
        s["match_score"][side] = 0
        s["start"][side] = s["scores"][side]
        s["gain"][side] = 0
    deal(s, rules, decks)


@kernel
def begin_game(s, rules, dealer, log):
    """Clear the board; in five-card cribbage pone pegs three for last (F1)."""
    s["dealer"] = dealer
    s["winner"] = NONE
    for side in range(seats(s)):
        s["scores"][side] = 0
        s["rear"][side] = 0
    pone = to_the_left(s, rules, dealer, 1)
    peg(s, rules, log, side_of(s, rules, pone), rules["for_last"], record.FOR_LAST, 0)


@kernel
def begin_count(s):
    """Begin a count at 0, after the cards in the pile (H7, M8)."""
    s["count"] = 0
    s["go"] = 0
    s["passed"] = 0
    s["pile_from"] = s["pile_n"]


@kernel
def deal(s, rules, decks):
    """Deal single cards from the dealer's left on (H1, F2), the crib's card (M2), the starter."""
    given = record.has_deck(s)
    players = players_of(s, rules)
    hand = hand_size(s)
    used = 0
    i = 0
    for place in range(rules["dealt"]):
        for turn in range(1, players + 1):
            card = record.next_card(s, decks, given, i, used)
            used |= 1 << card
            s["dealt"][hand * to_the_left(s, rules, s["dealer"], turn) + place] = card
            i += 1
    for slot in range(hand * players, s["dealt"].shape[0]):
        s["dealt"][slot] = NONE
    if players * rules["discards"] < CRIB:
        card = record.next_card(s, decks, given, i, used)
        used |= 1 << card
        s["dealt"][s["dealt"].shape[0] - 1] = card
        i += 1
    s["starter"] = record.next_card(s, decks, given, i, used)
    s["given"] += given
    s["deals"] += 1
    s["phase"] = DISCARD
    s["to_move"] = to_the_left(s, rules, s["dealer"], 1)
    s["pile_n"] = 0
    s["pile_seats"] = 0
    begin_count(s)
    for i in range(s["pile"].shape[0]):
        s["pile"][i] = NONE
    for seat in range(seats(s)):
        s["held"][seat] = (1 << rules["dealt"]) - 1 if seat < players else 0
        s["discarded"][seat] = 0
        s["scores_before"][seat] = s["scores"][seat]
        s["rear_before"][seat] = s["rear"][seat]
        s["match_score_before"][seat] = s["match_score"][seat]


@kernel
def step(s, rules, decks, table, slot, log):
    """Use the card in a legal slot of the seat to move, and advance; ``log`` gets the points."""
    use_card(s, rules, table, slot, log)
    end_or_deal(s, rules, decks, log)


@kernel
def use_card(s, rules, table, slot, log):
    """Use the card; after a deal's last the state still holds the deal, until `end_or_deal`."""
    log[0] = 0
    seat = s["to_move"]
    s["held"][seat] &= ~(1 << slot)
    if s["phase"] == DISCARD:
        discard(s, rules, seat, slot, log)
    else:
        play(s, rules, table, seat, s["dealt"][hand_size(s) * seat + slot], log)


@kernel
def end_or_deal(s, rules, decks, log):
    """End a game that is won; after any other deal end the episode or pass the deal (H10, M10)."""
    if s["winner"] != NONE:
        end_game(s, rules, decks, log)
    elif s["phase"] == OVER and (rules["episode"] == DEAL or rules["episode"] == PEGGING_ONLY):
        s["over"] = 1
    elif s["phase"] == OVER:
        s["dealer"] = to_the_left(s, rules, s["dealer"], 1)
        deal(s, rules, decks)


@kernel
def discard(s, rules, seat, slot, log):
    """Discard a card; after the dealer's last the starter is turned (H1, H2, F3, M3, M4)."""
    s["discarded"][seat] |= 1 << slot
    discarded = s["discarded"][seat]
    if seats(s) == 2 and discarded & discarded - 1 == 0:  # the first of two
        return
    s["to_move"] = to_the_left(s, rules, seat, 1)
    if seat != s["dealer"]:
        return
    s["phase"] = PEGGING
    if rules["episode"] != PEGGING_ONLY:
        side = side_of(s, rules, seat)
        peg(s, rules, log, side, heels_points(rules, s["starter"]), record.HEELS, 1 << s["starter"])


@kernel
def play(s, rules, table, seat, card, log):
    """Play a card: its points, then the next player, the end of the count or of the play."""
    side = side_of(s, rules, seat)
    n = s["pile_n"]
    s["pile"][n] = card
    s["pile_seats"] |= seat << 2 * n
    s["pile_n"] = n + 1
    s["count"] += pip(card)
    count = s["count"]
    peg_combinations(s, rules, log, side)
    after = to_the_left(s, rules, seat, 1)
    if count == 31:
        after = NONE
    elif not legal_slots(s, after):  # rare, so only here is `next_able` called
        after = next_able(s, rules, seat)
    if after != NONE and after != seat:
        s["to_move"] = after
        return
    leader = next_holding(s, rules, seat)
    if count == 31:
        # If this count's go point has been pegged, 31 scores the other point (H6, F5).
        points = 1 if s["go"] else 2
        peg(s, rules, log, side, points, record.THIRTY_ONE, pile_cards(s, s["pile_from"]))
    elif s["go"] == 0 and (after == NONE or rules["go_at_once"]):
        s["go"] = 1
        reason = record.LAST if leader == NONE or rules["single_count"] else record.GO
        peg(s, rules, log, side, 1, reason, 1 << card)
    if after == seat:
        return
    if rules["single_count"] or leader == NONE:
        show(s, rules, table, log)
        return
    begin_count(s)
    s["to_move"] = leader


@kernel
def next_able(s, rules, seat):
    """Return the next player after ``seat``, the first to the left able to play; or NONE (M7)."""
    goes = 0  # seats running that could not play
    for places in range(1, players_of(s, rules) + 1):
        other = to_the_left(s, rules, seat, places)
        if legal_slots(s, other):
            return other
        s["passed"] |= 1 << other
        goes += s["held"][other] != 0  # a seat without cards says nothing
        if rules["second_go_ends"] and goes == 2:
            return NONE
    return NONE


@kernel
def next_holding(s, rules, seat):
    """Return the next leader after ``seat``, the first to the left with cards; or NONE."""
    for places in range(1, players_of(s, rules) + 1):
        other = to_the_left(s, rules, seat, places)
        if s["held"][other]:
            return other
    return NONE


@kernel
def show(s, rules, table, log):
    """Count the hands from the dealer's left on, the dealer's last, then the crib (H8, F6, M9).

    The log gets the starter first (heels of no points), then each hand: the next deal may have
    begun when a text shows them.
    """
    s["phase"] = OVER
    if rules["episode"] == PEGGING_ONLY or s["winner"] != NONE:
        return
    mine = side_of(s, rules, s["dealer"])
    record.note_cards(log, mine, 0, record.HEELS, 1 << s["starter"])
    for places in range(1, players_of(s, rules) + 1):
        seat = to_the_left(s, rules, s["dealer"], places)
        points, cards = hand_points(s, rules, table, seat)
        count_cards(s, rules, log, side_of(s, rules, seat), points, record.SHOW, cards)
    points, cards = crib_points(s, rules, table)
    count_cards(s, rules, log, mine, points, FOR_CRIB, cards)


@kernel
def hand_points(s, rules, table, seat):
    """Return the points of a seat's hand with the starter, and its cards as a mask."""
    hand = hand_size(s)
    first = hand * seat
    slots = ((1 << rules["dealt"]) - 1 & ~s["discarded"][seat]) << first
    return show_points(s, table, slots, first, first + hand, rules["flush_size"])


@kernel
def crib_points(s, rules, table):
    """Return the points of the crib with the starter, and its cards as a mask."""
    hand = hand_size(s)
    end = s["dealt"].shape[0]
    slots = 0
    for slot in range(hand * seats(s), end):
        slots |= (s["dealt"][slot] >= 0) << slot
    for seat in range(seats(s)):
        slots |= s["discarded"][seat] << hand * seat
    return show_points(s, table, slots, 0, end, rules["crib_flush_size"])


@shared_kernel
def show_points(s, table, slots, first, end, flush_size):
    """Return the points of the cards in some slots with the starter, and the cards as a mask."""
    starter = s["starter"]
    key = KEYS[starter >> 2]
    nob_card = 4 * JACK + (starter & 3)
    suits = 0
    held = 0
    cards = 0
    for i in range(first, end):  # branch-free: the branch would be unpredictable
        card = s["dealt"][i]
        one = slots >> i & 1
        key += KEYS[card >> 2] * one
        suits += one << (8 * (card & 3))
        held += one
        cards |= one << card
    nob = cards >> nob_card & 1
    if held == 3:
        key += FOUR
    return table[key] + score_flush_and_nob(suits, held, starter, flush_size, nob), cards


@kernel
def game_points(s, rules):
    """Return the match points of a won game (H11, M11): 1, or more by a wide margin."""
    margin = s["scores"][s["winner"]]
    for side in range(rules["sides"]):
        if side != s["winner"]:
            margin = min(margin, s["scores"][s["winner"]] - s["scores"][side])
    points = 1
    if margin > rules["skunk_margin"]:
        points = max(points, rules["skunk_points"])
    if margin > rules["double_skunk_margin"]:
        points = max(points, rules["double_skunk_points"])
    return points


@kernel
def end_game(s, rules, decks, log):
    """End the episode, or begin the match's next game (H10, H11, M11)."""
    winner = s["winner"]
    s["match_score"][winner] += game_points(s, rules)
    s["phase"] = OVER
    if rules["episode"] != MATCH or s["match_score"][winner] >= rules["match_target"]:
        s["over"] = 1
        return
    begin_game(s, rules, winner if rules["winner_deals"] else loser(s, rules), log)
    deal(s, rules, decks)


@kernel
def loser(s, rules):
    """Return the seat of the lowest score; of several, the first to the dealer's left (M10)."""
    last = to_the_left(s, rules, s["dealer"], 1)
    for places in range(2, players_of(s, rules) + 1):
        seat = to_the_left(s, rules, s["dealer"], places)
        if s["scores"][side_of(s, rules, seat)] < s["scores"][side_of(s, rules, last)]:
            last = seat
    return last


@shared_kernel
def peg(s, rules, log, side, points, reason, cards):
    """Peg points at once; the first to reach the target wins and nothing more is pegged (C5)."""
    if s["winner"] != NONE or points == 0:
        return
    points = min(points, rules["target"] - s["scores"][side])
    s["rear"][side] = s["scores"][side]
    s["scores"][side] += points
    s["gain"][side] += points
    record.note(log, side, points, reason, cards)
    if s["scores"][side] >= rules["target"]:
        s["winner"] = side


@shared_kernel
def count_cards(s, rules, log, side, points, reason, cards):
    """Peg the points of a hand or the crib; log zero points too."""
    if points == 0 and s["winner"] == NONE:
        record.note_cards(log, side, 0, reason, cards)
    peg(s, rules, log, side, points, reason, cards)


@kernel
def tally_column(reason):
    """Return a tally's column for a reason: play and heels, hand, crib; three for last has none."""
    return NONE if reason == record.FOR_LAST else max(0, reason - record.SHOW + 1)


@kernel
def pile_cards(s, start):
    """Return the cards of the pile from ``start`` on as a mask."""
    mask = 0
    for i in range(start, s["pile_n"]):
        mask |= 1 << s["pile"][i]
    return mask


@kernel
def paired(s):
    """Return how many cards of the last rank end the present count (H4)."""
    n = s["pile_n"]
    r = s["pile"][n - 1] >> 2
    alike = 1
    for i in range(n - 2, s["pile_from"] - 1, -1):
        if s["pile"][i] >> 2 != r:
            break
        alike += 1
    return alike


@kernel
def run_length(s):
    """Return the length of the longest run that ends the present count, 0 for none (H4)."""
    low = 12
    high = 0
    seen = 0
    longest = 0
    n = s["pile_n"]
    for cards in range(1, n - s["pile_from"] + 1):
        r = s["pile"][n - cards] >> 2
        if seen >> r & 1:
            break
        seen |= 1 << r
        low = min(low, r)
        high = max(high, r)
        longest = cards if high - low == cards - 1 else longest
    return longest if longest > 2 else 0


@kernel
def peg_combinations(s, rules, log, side):
    """Peg the fifteen, the pair and the run that the last card of the pile makes (H4)."""
    n = s["pile_n"]
    if s["count"] == 15:
        peg(s, rules, log, side, 2, record.FIFTEEN, pile_cards(s, s["pile_from"]))
    alike = paired(s)
    if alike > 1:
        peg(s, rules, log, side, alike * (alike - 1), record.PAIR, pile_cards(s, n - alike))
    length = run_length(s)
    if length > 2:
        peg(s, rules, log, side, length, record.RUN, pile_cards(s, n - length))


# --- rewards without the luck of the starter: pegged points, and the mean of the show -------------
# Once all seats have discarded, only the starter decides what hands, crib and heels score. These
# kernels gain their mean over every card not dealt, instead of the points themselves.
# `step_expected` gains the mean when all have discarded. It depends on every hand and the crib, so
# no seat can know it then. `step_expected_at_show` gains it when the deal is over and the hands are
# shown. The sum over a deal is the same. An episode of pegging alone has no show, so nothing
# changes there.
# With three players the cards dealt include the crib's own, though no seat sees it. It is dealt
# before any seat discards, and only the luck of the starter is removed.
# The mean is a fraction whose denominator is the number of cards not dealt. ``gain`` is an integer,
# so it counts in these fractions, ``unit`` to a point. Nothing else in a state or a log differs.


@kernel
def undealt(rules):
    """Return how many cards are dealt neither to a seat nor to the crib (M2)."""
    players = rules["players"]
    return DECK - rules["dealt"] * players - max(CRIB - players * rules["discards"], 0)


@kernel
def dealt_cards(s, rules):
    """Return the cards dealt to the seats and to the crib as a mask."""
    players = players_of(s, rules)
    dealt = 0
    for seat in range(players):
        for i in range(rules["dealt"]):
            dealt |= 1 << s["dealt"][hand_size(s) * seat + i]
    if players * rules["discards"] < CRIB:
        dealt |= 1 << s["dealt"][s["dealt"].shape[0] - 1]
    return dealt


@kernel
def gain_means(s, rules, table):
    """Add hands, crib and heels over every starter to the gains, once all seats have discarded."""
    dealt = dealt_cards(s, rules)
    mine = rules["side_of"][s["dealer"]]
    turned = s["starter"]
    for card in range(DECK):
        if dealt >> card & 1:
            continue
        s["starter"] = card
        for seat in range(rules["players"]):
            s["gain"][rules["side_of"][seat]] += hand_points(s, rules, table, seat)[0]
        s["gain"][mine] += crib_points(s, rules, table)[0] + heels_points(rules, card)
    s["starter"] = turned


@kernel
def step_and_gain(s, rules, decks, table, slot, log, at_show):
    """Use a card as `step` does, with means for the show."""
    unit = undealt(rules)
    discarding = s["phase"] == DISCARD
    use_card(s, rules, table, slot, log)
    due = discarding and s["phase"] != DISCARD
    if at_show:
        due = s["phase"] == OVER or s["winner"] != NONE
    if due and rules["episode"] != PEGGING_ONLY:
        gain_means(s, rules, table)
    end_or_deal(s, rules, decks, log)
    for row in range(log[0]):  # count pegged points in units; take off those of the show
        at = 1 + LOG_WIDTH * row
        luck = log[at + 2] in (HEELS, SHOW, FOR_CRIB)
        s["gain"][log[at]] += log[at + 1] * (-1 if luck else unit - 1)


@kernel
def step_expected(s, rules, decks, table, slot, log):
    """Use a card; the mean of the show is gained when all seats have discarded."""
    step_and_gain(s, rules, decks, table, slot, log, False)


@kernel
def step_expected_at_show(s, rules, decks, table, slot, log):
    """Use a card; the mean of the show is gained when the deal is over."""
    step_and_gain(s, rules, decks, table, slot, log, True)


def expected_kernels(kernels: Kernels) -> dict[str, Kernels]:
    """Return a family's kernels for each reward that pays means, for `Family.expected`."""
    return {
        "expected": replace(kernels, step=step_expected, unit=undealt),
        "expected_at_show": replace(kernels, step=step_expected_at_show, unit=undealt),
    }
