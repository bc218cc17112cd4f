"""Rewards without the luck of the starter: pegged points, and the mean of the show.

Once all seats have discarded, only the starter decides what hands, crib and heels score. These
kernels gain their mean over every card not dealt, instead of the points themselves. ``step`` gains
the mean when all have discarded. It depends on every hand and the crib, so no seat can know it
then. ``step_at_show`` gains it when the deal is over and the hands are shown. The sum over a deal
is the same.

The mean is a fraction whose denominator is the number of cards not dealt. ``gain`` is an integer,
so it counts in these fractions, ``unit`` to a point. Nothing else in a state or a log differs. Each
family with hands makes its own version from its own kernels: see `expected_kernels`.
"""

from __future__ import annotations

from dataclasses import replace

from crib_env.engine.counting import DECK
from crib_env.engine.jit import kernel
from crib_env.engine.kernels import Kernel, Kernels
from crib_env.engine.log import CRIB, HEELS, LOG_WIDTH, SHOW
from crib_env.engine.pegs import heels_points
from crib_env.engine.record import NONE
from crib_env.engine.slots import DISCARD, OVER


def expected_kernels(
    kernels: Kernels,
    *,
    use_card: Kernel,
    go_on: Kernel,
    has_show: Kernel,
    undealt: Kernel,
    dealt_cards: Kernel,
    hand_points: Kernel,
    crib_points: Kernel,
) -> dict[str, Kernels]:
    """Return a family's kernels for each reward that pays means, as `Family.expected` has them.

    Args:
        kernels: the family's. The others are what its ``step`` and its show are made of:
        use_card: ``(s, rules, table, slot, log)``, up to the end of a deal.
        go_on: ``(s, rules, decks, log)``, what follows a deal.
        has_show: ``(rules)``: whether hands are counted.
        undealt: ``(rules)``: how many cards are not dealt: any of them may be the starter.
        dealt_cards: ``(s, rules)``: those that are, as a mask.
        hand_points: ``(s, rules, table, seat)``: points with the starter, cards.
        crib_points: ``(s, rules, table)``, likewise.
    """

    @kernel
    def gain_means(s, rules, table):
        """Add hands, crib and heels of a deal in which all is discarded, over every starter."""
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
        """Use a card as the family's ``step`` does, with means for the show.

        Args:
            at_show: gain them when the deal is over, and not when all have discarded.
        """
        unit = undealt(rules)
        discarding = s["phase"] == DISCARD
        use_card(s, rules, table, slot, log)
        due = discarding and s["phase"] != DISCARD
        if at_show:
            due = s["phase"] == OVER or s["winner"] != NONE
        if due and has_show(rules):
            gain_means(s, rules, table)
        go_on(s, rules, decks, log)
        for row in range(log[0]):  # each was gained as so many points
            at = 1 + LOG_WIDTH * row
            luck = log[at + 2] in (HEELS, SHOW, CRIB)
            s["gain"][log[at]] += log[at + 1] * (-1 if luck else unit - 1)

    @kernel
    def step(s, rules, decks, table, slot, log):
        """Use a card; the mean of the show is gained when all seats have discarded."""
        step_and_gain(s, rules, decks, table, slot, log, False)

    @kernel
    def step_at_show(s, rules, decks, table, slot, log):
        """Use a card; the mean of the show is gained when the deal is over."""
        step_and_gain(s, rules, decks, table, slot, log, True)

    return {
        "expected": replace(kernels, step=step, unit=undealt),
        "expected_at_show": replace(kernels, step=step_at_show, unit=undealt),
    }
