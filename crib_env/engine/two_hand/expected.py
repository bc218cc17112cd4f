"""Points without the luck of the starter: what is pegged in the play, and the mean of the show.

A deal's hands, crib and heels hang on the starter once both seats have discarded. Here they are
gained as their mean over every card not dealt, and what they then come to is not; an episode of the
play alone has no show, so nothing changes there. The mean is gained when both have discarded
(`step`), before any seat can know it, for it is that of both hands and the crib; or when the deal
is over and they are shown (`step_at_show`). The sum over a deal is the same.

The mean is a fraction of the cards not dealt, so ``gain``, which is whole, counts in such fractions
of a point, `undealt` to a point. Nothing else of a state or a log differs.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.log import CRIB, HEELS, LOG_WIDTH, SHOW
from crib_env.engine.pegs import heels_points
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.count import crib_points, hand_points
from crib_env.engine.two_hand.counting import DECK
from crib_env.engine.two_hand.records import DISCARD, HAND, OVER, PEGGING_ONLY
from crib_env.engine.two_hand.rules import go_on, use_card


@kernel
def undealt(rules):
    """Return how many cards are not dealt to a seat: any of them may be the starter."""
    return DECK - 2 * rules["dealt"]


@kernel
def gain_means(s, rules, table):
    """Add hands, crib and heels of a deal in which all is discarded, over every starter."""
    dealer = s["dealer"]
    dealt = 0
    for seat in range(2):
        for i in range(rules["dealt"]):
            dealt |= 1 << s["dealt"][HAND * seat + i]
    turned = s["starter"]
    for card in range(DECK):
        if dealt >> card & 1:
            continue
        s["starter"] = card
        for seat in range(2):
            s["gain"][seat] += hand_points(s, rules, table, seat)[0]
        s["gain"][dealer] += crib_points(s, rules, table)[0] + heels_points(s, rules)
    s["starter"] = turned


@kernel
def count_in_units(s, unit, first, second):
    """Turn what was gained in points since ``gain`` was (first, second) into units of a point."""
    s["gain"][0] = first + unit * (s["gain"][0] - first)
    s["gain"][1] = second + unit * (s["gain"][1] - second)


@kernel
def step_and_gain(s, rules, decks, table, slot, log, at_show):
    """Use a card as `crib_env.engine.two_hand.rules.step` does, with means for the show.

    Args:
        at_show: gain them when the deal is over, and not when both have discarded.
    """
    unit = undealt(rules)
    first, second = s["gain"][0], s["gain"][1]
    discarding = s["phase"] == DISCARD
    use_card(s, rules, table, slot, log)
    count_in_units(s, unit, first, second)
    for row in range(log[0]):
        at = 1 + LOG_WIDTH * row
        reason = log[at + 2]
        if reason in (HEELS, SHOW, CRIB):
            s["gain"][log[at]] -= unit * log[at + 1]
    due = discarding and s["phase"] != DISCARD
    if at_show:
        due = s["phase"] == OVER or s["winner"] != NONE
    if due and rules["episode"] != PEGGING_ONLY:
        gain_means(s, rules, table)
    first, second = s["gain"][0], s["gain"][1]
    go_on(s, rules, decks, log)
    count_in_units(s, unit, first, second)


@kernel
def step(s, rules, decks, table, slot, log):
    """Use a card; the mean of the show is gained when both seats have discarded."""
    step_and_gain(s, rules, decks, table, slot, log, False)


@kernel
def step_at_show(s, rules, decks, table, slot, log):
    """Use a card; the mean of the show is gained when the deal is over."""
    step_and_gain(s, rules, decks, table, slot, log, True)
