"""Belief: the hands that the other seat may hold in the pegging, and the points of the show.

The weight of a holding is the number of ways to draw it from the unseen cards, times the rate at
which players keep such a hand, times the probability that a seat with it would have played the
cards that were played. Holdings that a go rules out have weight 0.

A seat can count its own hand. For the other hand it has these hypotheses of the ranks, and the
probability that such ranks make a flush or hold nobs: players keep hands of one suit more often
than they are dealt. For the crib it knows its own pair, the starter, and the discard rates of the
other seat's role.

The rollout policy plays the card of the highest value, without search or belief: its points, plus
the sum of five table entries. A softmax over these values predicts how players choose. Each table
sees the position after the card through a few features:

1. the count, the card, the card before it, and how many cards are left to me;
2. the count, the cards left to both, the least pip the other can hold, whether the go is pegged;
3. the cards left to me and the count;
4. the cards left to me and the card;
5. the last three cards.

`python -m research.tables choices` fits the tables to the cards of several agents. The search plays
a hypothesis to its end with this policy, and assumes that the other seat plays by that softmax.
Near the end of a game the softmax is over the values of both sets of tables, a lead is weighed by
how often `expert` leads it from such a hand (`python -m research.tables endgame_belief`), and
`expert.pegging` searches the other seat's first answers.
"""

from __future__ import annotations

import math

from crib_agents.data.tables import ROLES
from crib_agents.expert import endgame
from crib_agents.expert.discard import SUITS, shift
from crib_agents.expert.endgame import CLASSES, REACH, STANDINGS_SIZE, TABLE_SETS
from crib_agents.kernels.two_hand import cell
from crib_agents.knowledge import pegging
from crib_agents.knowledge.deal_points import COUNT_SIZE
from crib_agents.knowledge.pegging import COUNTED, DISTINCT, FIRST, KEY, LISTED, LOWEST, ME, MOST, OF_SIZE, THEM
from crib_env.engine.hands.counting import sequence_points, unseen_ranks
from crib_env.engine.hands.records import PEGGING_ONLY
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import DECK, RANKS
from crib_env.engine.record import NONE
from crib_env.engine.show import FOUR, JACK, KEYS, add_card, pip, score_flush_and_nob, with_starter

SEEN = RANKS + 1  # a rank in the sequence, or none
COUNTS = 32
LEAST = 11  # least pips: 1 to 10
HANDS = int(OF_SIZE[MOST])  # of four cards; a game of three has fewer
LEFT = int(FIRST[MOST])  # holdings of up to three cards, after one is played

TEMPERATURE = 0.25  # of that softmax, in points
# Near the end that softmax is over a card's two values, each divided by its temperature, and added.
# Fitted to `expert`'s own choices there.
ENDGAME_TEMPERATURE = 0.15  # in games
ENDGAME_POINTS = 1.4  # in points
UNLIKELY = -5.0  # a card this many temperatures below the best gets probability 0
OUT = 1000.0  # more than any sum of points: a card that wins the game is played

TABLES = 5
SEQUENCE = 0
CARDS = SEQUENCE + MOST * COUNTS * RANKS * SEEN
REST = CARDS + MOST * (MOST + 1) * LEAST * COUNTS * 2
TRAP = REST + LEFT * COUNTS
LAST_THREE = TRAP + LEFT * RANKS
SIZE = LAST_THREE + RANKS * SEEN * SEEN

# In the weights of a game, tables by points come first, then those of the end, standings, leads.
ENDGAME = SIZE
STANDINGS = ENDGAME + TABLE_SETS * SIZE
LEADS = STANDINGS + STANDINGS_SIZE
KEPT = len(ROLES)  # the first row of keeping rates near the end


@kernel
def earlier(sequence, n, i):
    """Return the rank ``i`` cards before the newest of a sequence of ``n``, or RANKS for none."""
    return sequence >> (4 * i) & 15 if n > i else RANKS


@kernel
def sequence_at(sequence, n, count, left):
    """Return the index in table 1 of the position after a card; ``left``: cards left to me."""
    place = (left * COUNTS + count) * RANKS + (sequence & 15)
    return SEQUENCE + place * SEEN + earlier(sequence, n, 1)


@kernel
def cards_at(count, go, left, others, least):
    """Return the index in table 2; ``others``: the other's cards left, ``least``: its least pip."""
    place = ((left * (MOST + 1) + others) * LEAST + least) * COUNTS + count
    return CARDS + 2 * place + go


@kernel
def rest_at(count, rest):
    """Return the index in table 3; ``rest``: the holding left to me."""
    return REST + rest * COUNTS + count


@kernel
def trap_at(r, rest):
    """Return the index in table 4; ``r``: the rank played."""
    return TRAP + rest * RANKS + r


@kernel
def last_three_at(sequence, n):
    """Return the index in table 5."""
    place = (sequence & 15) * SEEN + earlier(sequence, n, 1)
    return LAST_THREE + place * SEEN + earlier(sequence, n, 2)


@kernel
def shared_value(p, seat, r, weights, base):
    """Return the part of the value of a seat's rank ``r`` that does not depend on its other cards.

    That is the card's points and the entries of tables 1, 2 and 5; `OUT` more if it wins the game.
    """
    sequence = p["sequence"] << 4 | r
    n = p["n"] + 1
    count = p["count"] + min(r + 1, 10)
    left = p["left"][seat] - 1
    other = 1 - seat
    points = sequence_points(sequence, n, count, p["go"])
    value = float(points)
    if points >= p["needs"][seat]:
        value += OUT
    value += weights[base + sequence_at(sequence, n, count, left)]
    value += weights[base + cards_at(count, p["go"], left, p["left"][other], p["least"][other])]
    return value + weights[base + last_three_at(sequence, n)]


@kernel
def hand_value(p, r, rest, weights, base):
    """Return the part that depends on the holding left to the seat, ``rest``: tables 3 and 4."""
    count = p["count"] + min(r + 1, 10)
    return weights[base + rest_at(count, rest)] + weights[base + trap_at(r, rest)]


@kernel
def write_places(p, seat, rest, places):
    """Write the indices of the table entries for the seat's newest card, int64[TABLES]."""
    left = p["left"][seat]
    other = 1 - seat
    places[0] = sequence_at(p["sequence"], p["n"], p["count"], left)
    places[1] = cards_at(p["count"], p["go"], left, p["left"][other], p["least"][other])
    places[2] = rest_at(p["count"], rest)
    places[3] = trap_at(p["sequence"] & 15, rest)
    places[4] = last_three_at(p["sequence"], p["n"])


@kernel
def all_shared_values(p, seat, weights, shared):
    """Write `shared_value` of every rank that fits the count into ``shared``, float64[RANKS]."""
    room = 31 - p["count"]
    for r in range(RANKS):
        if min(r + 1, 10) <= room:
            shared[r] = shared_value(p, seat, r, weights, 0)


@kernel
def soften(chance, n, top, temperature):
    """Replace the values of ``n`` cards, ``top`` the highest, by their softmax probabilities."""
    total = 0.0
    for k in range(n):
        below = (chance[k] - top) / temperature
        chance[k] = math.exp(below) if below > UNLIKELY else 0.0
        total += chance[k]
    for k in range(n):
        chance[k] /= total


def softmax_of(value):
    """Return a kernel that writes a seat's probability of each rank, a softmax over ``value``."""

    @kernel
    def softmax(p, seat, held, count, s, hands, weights, temperature, chance):
        room = 31 - p["count"]
        listed = hands[held, LISTED]
        n = hands[held, DISTINCT]
        top = -OUT
        for k in range(n):
            r = listed >> (4 * k) & 15
            chance[k] = -2.0 * OUT
            if min(r + 1, 10) <= room:
                chance[k] = value(p, seat, r, hands[held, r], count, s, weights)
                top = max(top, chance[k])
        soften(chance, n, top, temperature)

    return softmax


@kernel
def value_by_points(p, seat, r, rest, count, shared, weights):
    """Return the value of a seat's rank by points, with its `shared_value` from ``shared``."""
    return shared[r] + hand_value(p, r, rest, weights, 0)


softmax = softmax_of(value_by_points)


@kernel
def rollout_value(p, seat, r, rest, count, s, weights):
    """Return the value of a seat's rank ``r`` far from the end; ``rest``: the holding left."""
    return shared_value(p, seat, r, weights, 0) + hand_value(p, r, rest, weights, 0)


@kernel
def find_standing(p, seat, points, count, s, weights):
    """Return a seat's standing after it pegs ``points``, and its class: see `endgame.key_of`.

    ``count``: the points of the seat's hand. Returns `OUT` and 0 if the points win the game.
    """
    mine = p["needs"][seat] - points
    theirs = p["needs"][1 - seat]
    if mine <= 0:
        return OUT, 0
    is_dealer = s["i_deal"] if seat == ME else 1 - s["i_deal"]
    pone = theirs if is_dealer else mine
    dealer = mine if is_dealer else theirs
    standing = float(weights[STANDINGS + endgame.standing_at(is_dealer, count, pone, dealer)])
    return standing, endgame.key_of(mine, theirs, standing)


@kernel
def endgame_value(p, seat, r, rest, count, s, weights):
    """Return the value of a seat's rank ``r`` near the end in games; ``rest``: the holding left."""
    total = p["count"] + min(r + 1, 10)
    points = sequence_points(p["sequence"] << 4 | r, p["n"] + 1, total, p["go"])
    value, key = find_standing(p, seat, points, count, s, weights)
    if value == OUT:
        return value
    base = ENDGAME + SIZE * key
    value += shared_value(p, seat, r, weights, base) - points
    return value + hand_value(p, r, rest, weights, base)


def best_rank_by(value):
    """Return a kernel that finds the legal rank with the highest ``value`` in a seat's holding."""

    @kernel
    def best_rank(p, seat, held, count, s, hands, weights):
        listed = hands[held, LISTED]
        n = hands[held, DISTINCT]
        if n == 1:
            return listed
        room = 31 - p["count"]
        best = NONE
        most = 0.0
        for k in range(n):
            r = listed >> (4 * k) & 15
            if min(r + 1, 10) <= room:
                found = value(p, seat, r, hands[held, r], count, s, weights)
                if best == NONE or found > most:
                    best = r
                    most = found
        return best

    return best_rank


best_rank = best_rank_by(rollout_value)
best_endgame_rank = best_rank_by(endgame_value)


@kernel
def value_by_both(p, seat, r, rest, count, s, weights):
    """Return the sum of both values near the end, each divided by its temperature."""
    value = endgame_value(p, seat, r, rest, count, s, weights) / ENDGAME_TEMPERATURE
    return value + value_by_points(p, seat, r, rest, count, s["shared"], weights) / ENDGAME_POINTS


softmax_by_both = softmax_of(value_by_both)


@kernel
def find_chances(p, held, j, s, hands, weights):
    """Write into ``s["chance"]`` the other seat's probability of each rank of hypothesis ``j``."""
    if s["endgame"]:
        count = s["counts"][j]
        softmax_by_both(p, THEM, held, count, s, hands, weights, 1.0, s["chance"])
    else:
        softmax(p, THEM, held, 0, s["shared"], hands, weights, TEMPERATURE, s["chance"])


FLOOR = 0.1  # the share of the other seat's plays that are modelled as uniform over fitting ranks


@kernel
def ways_to_draw(counted, unseen):
    """Return the number of ways to draw cards ``counted`` by rank from those ``unseen``."""
    ways = 1
    while counted != 0:
        left = unseen & 15
        for i in range(counted & 15):
            ways = ways * (left - i) // (i + 1)
        counted >>= 4
        unseen >>= 4
    return ways


@kernel
def weigh_card(p, r, n, s, hands, weights):
    """Weigh ``n`` holdings by their probability of playing rank ``r`` in ``p``, and remove it."""
    held = s["held"]
    ways = s["ways"]
    chance = s["chance"]
    all_shared_values(p, THEM, weights, s["shared"])
    room = 31 - p["count"]
    for j in range(n):
        find_chances(p, held[j], j, s, hands, weights)
        listed = hands[held[j], LISTED]
        likely = 0.0
        fitting = 0
        for k in range(hands[held[j], DISTINCT]):
            rank = listed >> (4 * k) & 15
            fitting += min(rank + 1, 10) <= room
            if rank == r:
                likely = chance[k]
        ways[j] *= FLOOR / fitting + (1.0 - FLOOR) * likely
        held[j] = hands[held[j], r]


@kernel
def weigh_lead(p, r, n, s, hands, weights):
    """`weigh_card` for the first lead near the end: by how often `expert` leads each rank."""
    held = s["held"]
    first = FIRST[p["left"][THEM]]
    for j in range(n):
        _, key = find_standing(p, THEM, 0, s["counts"][j], s, weights)
        place = LEADS + (key * HANDS + held[j] - first) * MOST
        listed = hands[held[j], LISTED]
        for k in range(hands[held[j], DISTINCT]):
            if listed >> (4 * k) & 15 == r:
                s["ways"][j] *= weights[place + k]
        held[j] = hands[held[j], r]


@kernel
def replay(v, p, n, s, hands, weights):
    """Fill ``p`` with the view's position; weigh ``n`` hands by its cards; see `replay_cards`."""
    replay_cards(v, p, n, s, hands, weights)
    for seat in range(2):
        p["needs"][seat] = v["target"] - v["scores"][seat]


@kernel
def replay_cards(v, p, n, s, hands, weights):
    """Play the view's cards again from the first lead, into ``p``, weighing ``n`` hands by them.

    The other seat's whole hands in ``s["held"]`` become the cards left. ``s["needs"]`` are the
    points that the seats needed before the lead.
    """
    pegging.begin_play(p, v["dealt"] - 2)
    for seat in range(2):
        p["needs"][seat] = s["needs"][seat]
    for i in range(v["pile_n"]):
        card = v["pile"][i]
        seat = THEM if v["pile_seats"] >> 2 * i & 1 else ME
        if p["count"] == 31 or p["count"] + pip(card) > 31 or i == v["pile_from"]:
            count_over(p, v["single_count"])
        elif p["last"] == seat:
            alone(p, v["single_count"])
        if seat == THEM and i == 0 and s["endgame"]:
            weigh_lead(p, card >> 2, n, s, hands, weights)
        elif seat == THEM:
            weigh_card(p, card >> 2, n, s, hands, weights)
        pegging.put(p, seat, card >> 2)
    if v["pile_from"] == v["pile_n"]:
        count_over(p, v["single_count"])
    elif p["last"] == ME:
        alone(p, v["single_count"])


@kernel
def count_over(p, single):
    """Begin the next count; note that no seat could play if this one fell short of 31."""
    if 0 < p["count"] < 31:
        pegging.could_not_play(p, ME)
        pegging.could_not_play(p, THEM)
        peg_go(p, single)
    pegging.begin_count(p)


@kernel
def alone(p, single):
    """Note that the seat of the newest card plays on because the other could not (H5, F5)."""
    pegging.could_not_play(p, 1 - p["last"])
    peg_go(p, single)
    p["go"] = 1 - single


@kernel
def peg_go(p, single):
    """Peg the go of a count, for the seat of its newest card, if it has not been pegged."""
    if p["go"] == 0 and not single:
        p["needs"][p["last"]] -= 1


@kernel
def find_needs(v, p, s, hands, weights):
    """Write the needs before the lead and whether the tables of the end cover them."""
    for seat in range(2):
        s["needs"][seat] = pegging.ENDLESS
    replay_cards(v, p, 0, s, hands, weights)
    for seat in range(2):
        s["needs"][seat] = v["target"] - v["scores"][seat] + pegging.ENDLESS - p["needs"][seat]
    mine = s["needs"][ME]
    theirs = s["needs"][THEM]
    s["endgame"] = endgame.in_game(v) and endgame.within_reach(mine, theirs)


@kernel
def needs_dealt(v, seat, s):
    """Return the points a seat needed when it discarded, before any heels; `REACH` at most."""
    is_dealer = v["dealer"] if seat == THEM else 1 - v["dealer"]
    heels = v["heels"] if is_dealer and v["starter"] >> 2 == JACK else 0
    return min(s["needs"][seat] + heels, REACH)


@kernel
def enumerate_hands(v, p, s, hands, weights, keeping_rates, table):
    """Write the holdings the other seat may have now and their weights; return how many."""
    find_needs(v, p, s, hands, weights)
    rates = keeping_rates[v["dealer"]]
    if s["endgame"]:
        at = v["dealer"] * CLASSES * CLASSES
        at += endgame.pair_class(needs_dealt(v, THEM, s), needs_dealt(v, ME, s))
        rates = keeping_rates[KEPT + at]
    played = 0
    for i in range(v["pile_n"]):
        if v["pile_seats"] >> 2 * i & 1:
            played += 1 << (4 * (v["pile"][i] >> 2))
    unseen = unseen_ranks(v)
    held = s["held"]
    ways = s["ways"]
    starter = KEYS[v["starter"] >> 2] + (FOUR if v["dealt"] - 2 == 3 else 0)
    n = 0
    for now in range(FIRST[v["held_n"][1]], FIRST[v["held_n"][1] + 1]):
        draws = ways_to_draw(hands[now, COUNTED], unseen)
        if draws > 0:
            whole = now if played == 0 else pegging.number(hands[now, COUNTED] + played)
            held[n] = whole
            ways[n] = draws * rates[whole]
            if s["endgame"]:
                s["counts"][n] = table[starter + hands[whole, KEY]]
            n += 1
    replay(v, p, n, s, hands, weights)
    possible = 0
    for j in range(n):
        if hands[held[j], LOWEST] >= p["least"][THEM]:
            held[possible] = held[j]
            ways[possible] = ways[j]
            s["counts"][possible] = s["counts"][j]
            possible += 1
    return possible


@kernel
def systematic_resample(n, most, s):
    """Keep at most ``most`` of ``n`` holdings, by evenly spaced draws along their weights.

    The weights left sum to one. Returns how many holdings are left.
    """
    held = s["held"]
    ways = s["ways"]
    total = 0.0
    for j in range(n):
        total += ways[j]
    step = total / most
    reached = 0.5 * step
    passed = 0.0
    left = 0
    for j in range(n):
        share = ways[j] / total
        if n > most:
            passed += ways[j]
            drawn = 0
            while reached < passed and left + drawn < n:
                drawn += 1
                reached += step
            share = drawn / most
        if share > 0.0:
            held[left] = held[j]
            ways[left] = share
            s["counts"][left] = s["counts"][j]
            left += 1
    return left


EVERY_SUIT = (1 << SUITS) - 1


@kernel
def count_own(v, table):
    """Return the points of this seat's hand in the show, with the cards it has played (H8, F6)."""
    key = 0
    suits = 0
    jacks = 0
    for i in range(v["hand_n"]):
        key, suits, jacks = add_card(key, suits, jacks, v["hand"][i])
    for i in range(v["pile_n"]):
        if v["pile_seats"] >> 2 * i & 1 == 0:
            key, suits, jacks = add_card(key, suits, jacks, v["pile"][i])
    return with_starter(table, key, suits, jacks, v["dealt"] - 2, v["starter"], v["flush_size"])


@kernel
def unseen_cards(v):
    """Return the cards that a seat has not seen in the pegging, as a 52-bit mask."""
    unseen = (1 << DECK) - 1 - (1 << v["starter"])
    for i in range(v["hand_n"]):
        unseen -= 1 << v["hand"][i]
    for i in range(v["discarded_n"]):
        unseen -= 1 << v["discarded"][i]
    for i in range(v["pile_n"]):
        unseen -= 1 << v["pile"][i]
    return unseen


@kernel
def in_one_suit(counted, suits, unseen, ranks):
    """Return the probability that cards of the ranks ``counted`` are all of one of the suits."""
    total = 0.0
    for suit in range(SUITS):
        if suits >> suit & 1:
            chance = 1.0
            for r in range(RANKS):
                n = counted >> (4 * r) & 15
                if n > 0:
                    there = unseen >> (4 * r + suit) & 1
                    chance = chance * there / (ranks >> (4 * r) & 15) if n == 1 else 0.0
            total += chance
    return total


@kernel
def count_others(v, n, s, hands, suited, table):
    """Write the points of the other seat's hand under each of ``n`` hypotheses."""
    starter = v["starter"]
    his_nob = 4 * JACK + (starter & 3)
    key = KEYS[starter >> 2] + (FOUR if v["dealt"] - 2 == 3 else 0)
    # Where only the starter can complete a flush, it is of the starter's suit.
    suits = EVERY_SUIT if v["flush_size"] <= v["dealt"] - 2 else 1 << (starter & 3)
    shown = 0
    for i in range(v["pile_n"]):
        if v["pile_seats"] >> 2 * i & 1:
            card = v["pile"][i]
            key += KEYS[card >> 2]
            suits &= 1 << (card & 3)
            shown |= card == his_nob
    unseen = unseen_cards(v)
    ranks = unseen_ranks(v)
    jacks = ranks >> (4 * JACK) & 15
    for j in range(n):
        held = s["held"][j]
        counted = hands[held, COUNTED]
        s["counts"][j] = table[key + hands[held, KEY]] + shown
        one_suit = in_one_suit(counted, suits, unseen, ranks)
        s["flush"][j] = suited * one_suit / (1.0 - one_suit + suited * one_suit)
        s["nob"][j] = 0.0
        if unseen >> his_nob & 1:
            s["nob"][j] = (counted >> (4 * JACK) & 15) / jacks


@kernel
def fill_crib(v, s, model, table):
    """Write the probabilities of the points of the crib into ``s["crib"]``, by the discard rates.

    The measured ``excess`` of such cribs is added to their mean.
    """
    crib = s["crib"]
    starter = v["starter"]
    his_nob = 4 * JACK + (starter & 3)
    low = min(v["discarded"][0], v["discarded"][1])
    high = max(v["discarded"][0], v["discarded"][1])
    key = KEYS[starter >> 2] + KEYS[low >> 2] + KEYS[high >> 2]
    suits = (1 << (8 * (low & 3))) + (1 << (8 * (high & 3)))
    mine = low == his_nob or high == his_nob
    discard_rate = model["discard_rate"][v["dealer"]]
    unseen = unseen_cards(v)
    total = 0.0
    for x in range(DECK):
        if unseen >> x & 1 == 0:
            continue
        for y in range(x + 1, DECK):
            if unseen >> y & 1:
                likely = discard_rate[cell(x, y)]
                all_suits = suits + (1 << (8 * (x & 3))) + (1 << (8 * (y & 3)))
                nob = 1 if mine or x == his_nob or y == his_nob else 0
                points = table[key + KEYS[x >> 2] + KEYS[y >> 2]] + score_flush_and_nob(
                    all_suits, 4, starter, v["crib_flush_size"], nob
                )
                crib[points] += likely
                total += likely
    for points in range(COUNT_SIZE):
        crib[points] /= total
    shift(crib, model["excess"][1 - v["dealer"], cell(low, high)])


@kernel
def look_ahead(v, n, s, hands, model, suited, table):
    """Write the points of the hands and the crib to be counted: 0 if only the pegging is played."""
    crib = s["crib"]
    for points in range(COUNT_SIZE):
        crib[points] = 0.0
    s["flush_points"] = v["flush_size"]
    if v["episode"] == PEGGING_ONLY:
        s["count"] = 0
        for j in range(n):
            s["counts"][j] = 0
            s["flush"][j] = 0.0
            s["nob"][j] = 0.0
        crib[0] = 1.0
        return
    s["count"] = count_own(v, table)
    count_others(v, n, s, hands, suited, table)
    fill_crib(v, s, model, table)
