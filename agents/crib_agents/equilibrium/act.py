"""How the agent plays its strategies: it looks a position up and draws by its probabilities.

The tables of many games lie in one flat array, see `packed`. Some positions have no entry, because
the choice is certain: only one rank is legal, or the other seat has no cards left. In the second
case the agent tries the orders of its cards and plays the one with the most points.
"""

from __future__ import annotations

from crib_agents.equilibrium.classes import HAND, canonical, find_class
from crib_agents.equilibrium.packed import (
    CHILD,
    CLASSES,
    CODES,
    DISCARD_PAIRS,
    OFFSET,
    PEGGING,
    ROW,
    SIZE,
    SPLITS,
    STARTERS,
    byte_at,
)
from crib_agents.equilibrium.strategy import WHOLE, first_of, pair_number
from crib_agents.equilibrium.tree import find_node
from crib_agents.knowledge.two_hand.pegging import FIRST, NEW_COUNT, held_ranks, number, turn_after
from crib_agents.learned.network import find_rules
from crib_agents.learned.two_hand import rules_key
from crib_env.engine import stack
from crib_env.engine.hands.counting import dealt_card, sequence_of, sequence_points
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.rng import below
from crib_env.engine.show import pip

FINE = 1 << 24  # steps of a draw
ORDERS = 6  # in which three cards can be played


@kernel
def split_cards(dealt, split):
    """Return the two places that a split discards, the higher first; see `split_places`."""
    for low in range(dealt):
        for high in range(low + 1, dealt):
            if split == 0:
                return high, low
            split -= 1
    return NONE, NONE


@kernel
def discard_probabilities(v, weights, probabilities):
    """Write the probability of discarding each card now; ``weights`` begin with a strategy.

    The card of a split with the higher place goes first. If the first discard was another card,
    the kernel takes the split with it, or else the one with the nearest place.

    Shapes: probabilities float64[HAND].
    """
    cards = stack.ints(HAND)
    order = stack.ints(HAND)
    n = v["hand_n"] + v["discarded_n"]
    for i in range(n):
        cards[i] = dealt_card(v, i)
    classes = int(weights[CLASSES])
    at = find_class(weights, int(weights[CODES]), classes, canonical(cards, n, order))
    packed = int(weights[int(weights[SPLITS]) + classes * (1 - v["dealer"]) + at])
    for i in range(n):
        probabilities[i] = 0.0
    discarded = NONE  # the place of the card already discarded
    for place in range(n):
        if order[place] >= v["hand_n"]:
            discarded = place
    total = 0.0
    for which in range(2):
        likely = packed >> 8 if which == 0 else 255 - (packed >> 8)
        first, second = split_cards(n, packed >> (4 * which) & 15)
        if discarded == NONE:
            probabilities[order[first]] += likely
            total += likely
        elif discarded == first:
            probabilities[order[second]] += likely
            total += likely
    if total == 0.0:  # a card was discarded that the strategy does not, or not first
        for which in range(2):
            first, second = split_cards(n, packed >> (4 * which) & 15)
            if discarded == second and total == 0.0:
                probabilities[order[first]] = 1.0
                total = 1.0
        if total == 0.0:
            first, second = split_cards(n, packed & 15)
            probabilities[order[first]] = 1.0
            total = 1.0
    for i in range(v["hand_n"]):
        probabilities[i] /= total


@kernel
def order_makes(v, order):
    """Return the points of the cards held, played in an order by this seat alone; -1 if illegal."""
    n = v["hand_n"]
    places = stack.ints(3)
    first = order % n
    rest = order // n
    second = (first + 1 + rest % max(n - 1, 1)) % n
    places[0] = first
    places[1] = second
    places[2] = 3 - first - second if n == 3 else 0
    sequence = sequence_of(v)
    played = v["pile_n"] - v["pile_from"]
    count = v["count"]
    go = v["go"]
    made = 0
    for i in range(n):
        card = v["hand"][places[i]]
        if count + pip(card) > 31:
            return -1  # a later one fits
        count += pip(card)
        sequence = sequence << 4 | card >> 2
        played += 1
        made += sequence_points(sequence, played, count, go)
        able = False
        for later in range(i + 1, n):
            able = able or count + pip(v["hand"][places[later]]) <= 31
        way, point = turn_after(count, go, able, False, v["single_count"])
        made += point
        go |= point
        if way == NEW_COUNT:
            if v["single_count"]:
                return made
            sequence = 0
            played = 0
            count = 0
            go = 0
    return made


@kernel
def pegging_probabilities(v, weights, probabilities):
    """Write the probability of playing each card now; ``weights`` begin with a strategy.

    Shapes: probabilities float64[HAND].
    """
    n = v["hand_n"]
    counted = held_ranks(v)
    ranks = 0  # that fit
    slots = 0
    for i in range(n):
        probabilities[i] = 0.0
        if v["legal"] >> i & 1:
            ranks |= 1 << (v["hand"][i] >> 2)
    for rank in range(13):
        slots += (counted >> (4 * rank) & 15) > 0
    if ranks & (ranks - 1) == 0:
        for i in range(n):
            if v["legal"] >> i & 1:
                probabilities[i] = 1.0
                return
    if v["held_n"][1] == 0:
        best = -1
        chosen = 0
        for order in range(ORDERS if n == 3 else 2):
            made = order_makes(v, order)
            if made > best:
                best = made
                chosen = order % n
        probabilities[chosen] = 1.0
        return
    node = find_node(v, weights, int(weights[ROW]), weights, int(weights[CHILD]))
    pairs = int(weights[DISCARD_PAIRS])
    pair = pair_number(v["discarded"][0] >> 2, v["discarded"][1] >> 2) if pairs > 1 else 0
    first = first_of(int(weights[int(weights[OFFSET]) + node]), n, pairs,
                     number(counted) - FIRST[n], pair)  # fmt: skip
    if weights[STARTERS] > 1:
        first += (v["starter"] >> 2) * int(weights[SIZE])
    play = weights[int(weights[PEGGING]) :]
    rest = WHOLE
    slot = 0
    total = 0.0
    for rank in range(13):
        if counted >> (4 * rank) & 15 == 0:
            continue
        likely = rest
        if slot < slots - 1:
            likely = float(byte_at(play, first + slot))
            rest -= likely
        slot += 1
        for i in range(n):
            if v["hand"][i] >> 2 == rank and v["legal"] >> i & 1:
                probabilities[i] = max(likely, 0.0)
                total += probabilities[i]
                break
    for i in range(n):
        if total > 0.0:
            probabilities[i] /= total
        elif v["legal"] >> i & 1 and ranks > 0:  # nothing is known: the lowest card that fits
            probabilities[i] = 1.0
            total = 1.0


@kernel
def card_probabilities(v, weights, probabilities):
    """Write the probability of each card held, float64[HAND]; return 0 under unknown rules."""
    at = find_rules(weights, rules_key(v))
    if at == NONE:
        return 0
    if v["phase"] == DISCARD:
        discard_probabilities(v, weights[at:], probabilities)
    else:
        pegging_probabilities(v, weights[at:], probabilities)
    return 1


@kernel
def act(v, rng, table, weights):
    """Return a card drawn by the strategy's probabilities; NONE under unknown rules."""
    probabilities = stack.floats(HAND)
    if card_probabilities(v, weights, probabilities) == 0:
        return NONE
    drawn = below(rng, FINE) / FINE
    chosen = NONE
    for i in range(v["hand_n"]):
        if probabilities[i] > 0.0:
            if chosen == NONE or drawn >= 0.0:
                chosen = i
            drawn -= probabilities[i]
    return v["hand"][chosen]
