"""Points without the luck of the starter: what is pegged in the play, and the mean of the show.

When both seats have laid away, the deal's hands, crib and heels hang on the starter alone. Here
they are gained at that moment, as their mean over every card not dealt, and what they then come to
is not; an episode of the play alone has no show, so nothing changes there. The mean is a fraction
of the cards not dealt, so ``gain``, which is whole, counts in such fractions of a point (`gained`
divides). Nothing else of a state or a log differs.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.log import CRIB, HEELS, LOG_WIDTH, SHOW
from crib_env.engine.show import JACK
from crib_env.engine.two_hand.count import show_points
from crib_env.engine.two_hand.counting import DECK
from crib_env.engine.two_hand.records import HAND, LAY_AWAY, PLAY_ONLY
from crib_env.engine.two_hand.rules import step as count_step


@kernel
def undealt(rules):
    """Return how many cards are not dealt to a seat: any of them may be the starter."""
    return DECK - 2 * rules["dealt"]


@kernel
def gain_means(s, rules, table):
    """Add hands, crib and heels of a deal in which all is laid away, over every starter."""
    dealer = s["dealer"]
    everything = (1 << rules["dealt"]) - 1
    dealt = 0
    for seat in range(2):
        for i in range(rules["dealt"]):
            dealt |= 1 << s["dealt"][HAND * seat + i]
    turned = s["starter"]
    for card in range(DECK):
        if dealt >> card & 1:
            continue
        s["starter"] = card
        first = everything & ~s["laid"][0]
        second = everything & ~s["laid"][1]
        s["gain"][0] += show_points(s, table, first, 0, rules["flush_size"])[0]
        s["gain"][1] += show_points(s, table, 0, second, rules["flush_size"])[0]
        crib = show_points(s, table, s["laid"][0], s["laid"][1], rules["crib_flush_size"])[0]
        s["gain"][dealer] += crib + (2 if card >> 2 == JACK else 0)
    s["starter"] = turned


@kernel
def step(s, rules, decks, table, slot, log):
    """Use a card as `crib_env.engine.two_hand.rules.step` does, with means for the show."""
    unit = undealt(rules)
    before = s["gain"][0], s["gain"][1]
    laying_away = s["phase"] == LAY_AWAY
    count_step(s, rules, decks, table, slot, log)
    for seat in range(2):
        s["gain"][seat] = before[seat] + unit * (s["gain"][seat] - before[seat])
    for row in range(log[0]):
        at = 1 + LOG_WIDTH * row
        reason = log[at + 2]
        if reason in (HEELS, SHOW, CRIB):
            s["gain"][log[at]] -= unit * log[at + 1]
    if laying_away and s["phase"] != LAY_AWAY and rules["episode"] != PLAY_ONLY:
        gain_means(s, rules, table)


@kernel
def gained(s, rules, side):
    """Return the points a side has gained more than the other since they were last cleared."""
    return float(s["gain"][side] - s["gain"][1 - side]) / undealt(rules)
