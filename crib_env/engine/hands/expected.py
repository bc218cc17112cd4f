"""Rewards without the luck of the starter: pegged points, and the mean of the show.

Once all seats have discarded, only the starter decides what hands, crib and heels score. These
kernels gain their mean over every card not dealt, instead of the points themselves. ``step`` gains
the mean when all have discarded. It depends on every hand and the crib, so no seat can know it
then. ``step_at_show`` gains it when the deal is over and the hands are shown. The sum over a deal
is the same. An episode of pegging alone has no show, so nothing changes there.

With three players the cards dealt include the crib's own, though no seat sees it. It is dealt
before anybody discards, and only the luck of the starter is removed.

The mean is a fraction whose denominator is the number of cards not dealt. ``gain`` is an integer,
so it counts in these fractions, ``unit`` to a point. Nothing else in a state or a log differs.
"""

from __future__ import annotations

from dataclasses import replace

from crib_env.engine.family import Kernels
from crib_env.engine.hands.records import CRIB, DISCARD, OVER, PEGGING_ONLY, players_of
from crib_env.engine.hands.slots import hand_size
from crib_env.engine.hands.transitions import (
    crib_points,
    end_or_deal,
    hand_points,
    heels_points,
    use_card,
)
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import DECK
from crib_env.engine.record import CRIB as FOR_CRIB
from crib_env.engine.record import HEELS, LOG_WIDTH, NONE, SHOW


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
    """Add hands, crib and heels of a deal in which all seats have discarded, over every starter."""
    dealt = dealt_cards(s, rules)
    mine = rules["side_of"][s["dealer"]]
    turned = s["starter"]
    for card in range(DECK):
        if dealt >> card & 1:
            continue
        s["starter"] = card
        for seat in range(rules["players"]):
            s["gain"][rules["side_of"][seat]] += hand_points(s, rules, table, seat)[0]
        s["gain"][mine] += crib_points(s, rules, table)[0] + heels_points(s, rules)
    s["starter"] = turned


@kernel
def step_and_gain(s, rules, decks, table, slot, log, at_show):
    """Use a card as `transitions.step` does, with means for the show."""
    unit = undealt(rules)
    discarding = s["phase"] == DISCARD
    use_card(s, rules, table, slot, log)
    due = discarding and s["phase"] != DISCARD
    if at_show:
        due = s["phase"] == OVER or s["winner"] != NONE
    if due and rules["episode"] != PEGGING_ONLY:
        gain_means(s, rules, table)
    end_or_deal(s, rules, decks, log)
    for row in range(log[0]):  # each stands for a number of points
        at = 1 + LOG_WIDTH * row
        luck = log[at + 2] in (HEELS, SHOW, FOR_CRIB)
        s["gain"][log[at]] += log[at + 1] * (-1 if luck else unit - 1)


@kernel
def step(s, rules, decks, table, slot, log):
    """Use a card; the mean of the show is gained when all seats have discarded."""
    step_and_gain(s, rules, decks, table, slot, log, False)


@kernel
def step_at_show(s, rules, decks, table, slot, log):
    """Use a card; the mean of the show is gained when the deal is over."""
    step_and_gain(s, rules, decks, table, slot, log, True)


def expected_kernels(kernels: Kernels) -> dict[str, Kernels]:
    """Return a family's kernels for each reward that pays means, as `Family.expected` has them."""
    return {
        "expected": replace(kernels, step=step, unit=undealt),
        "expected_at_show": replace(kernels, step=step_at_show, unit=undealt),
    }
