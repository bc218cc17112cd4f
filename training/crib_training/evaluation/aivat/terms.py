"""The AIVAT terms of a deal: the starter's, the reference's and the discard's.

Each term is a value of the actual cards, less the mean of that value over the cards that could have
come instead. So its mean is zero, for any players and any value (AIVAT: Burch, Schmid, Moravcik and
Bowling, 2018). A better value removes more luck.

- *Starter*: the real hands and crib, with the reference's pegging and the real starter, less the
  mean over all possible starters. Exact.
- *Reference*: the reference discards and plays both seats; the mean over the starters, less the
  mean of all deals (`outcomes`).
- *Discard*: if a seat's discard differs from the reference's, the change with the other seat's real
  hand, less its mean with redrawn hands. A seat's discard does not depend on the other's cards, so
  the real hand is one more sample.
"""

from __future__ import annotations

from functools import cache

from numba import float64, int64, void

from crib_env.engine.family import find_family
from crib_env.engine.jit import Entry, entry, kernel
from crib_env.engine.record import DECKS_T, LOG_T, TABLE_T, WEIGHTS_T
from crib_env.engine.rng import M32, seed_words
from crib_env.engine.two_hand import HAND
from crib_env.policy import Act
from crib_training.evaluation.aivat.playout import (
    DEALER,
    KINDS,
    PLAYOUTS_T,
    PONE,
    playout_kernels,
    smooth_chance,
    smooth_win,
)
from crib_training.tables.dealing import draw

TERMS = ("starter", "reference", "discard")
STARTER, REFERENCE, DISCARD = range(len(TERMS))
PLAYOUTS = 4  # as discarded, by the reference, and two to compare
FAMILY = "two_hand"


@kernel
def mean_chance(playout, a, b, wins):
    """Note pone's probability of winning, the mean over the starters."""
    chance = 0.0
    for k in range(playout["starters"]):
        chance += smooth_chance(playout, k, a, b, wins)
    playout["chance"] = chance / playout["starters"]


@kernel
def place_of(playout, card):
    """Return the place of a starter among those of a playout."""
    k = 0
    while playout["starter"][k] != card:
        k += 1
    return k


@kernel
def set_hands(s, dealt, dealer):
    """Put the cards dealt to the seats into ``s``: pone's, then the dealer's."""
    for i in range(HAND):
        s["dealt"][i] = dealt[HAND * (1 - dealer) + i]
        s["dealt"][HAND + i] = dealt[HAND * dealer + i]


@kernel
def seed_by_hand(rng, words, s, seat, n):
    """Start ``rng`` by the cards of a seat, so that the same hand meets the same hands again.

    In duplicate deals both agents get it, so equal choices get equal terms.
    """
    hand = 0
    for i in range(n):
        hand |= 1 << s["dealt"][HAND * seat + i]
    seed_words(rng, words[0] ^ (hand & M32), words[1] ^ (hand >> 32), words[2] ^ seat)


@kernel
def draw_hand(s, seat, n, rng):
    """Redraw the cards of a seat from all that the other does not hold."""
    used = 0
    for i in range(n):
        used |= 1 << s["dealt"][HAND * (1 - seat) + i]
    for i in range(n):
        card = draw(rng, used)
        used |= 1 << card
        s["dealt"][HAND * seat + i] = card


@cache
def terms_entry(act: Act, name: str) -> Entry:
    """Return the entry that computes the terms with this reference."""
    family = find_family(FAMILY)
    states_t, rules_t, views_t = family.types
    discard, follow = playout_kernels(act)

    @kernel
    def add_discard(game, seat, mine, redraws, words, playouts, a, b, wins, points, probabilities):
        """Add to the term how much better a seat's own discard is than the reference's.

        The term is the gain with the other's real hand, less its mean with redrawn hands.
        """
        s, rules, rng = game[0], game[1], game[3]
        seed_by_hand(rng, words, s, seat, rules["dealt"])
        for redraw in range(redraws + 1):
            if redraw > 0:
                draw_hand(s, 1 - seat, rules["dealt"], rng)
            pone, dealer = discard(game)
            follow(game, pone, dealer, playouts[2])
            mean_chance(playouts[2], a, b, wins)
            if seat == PONE:
                pone = mine
            else:
                dealer = mine
            follow(game, pone, dealer, playouts[3])
            mean_chance(playouts[3], a, b, wins)
            times = 1.0 if redraw == 0 else -1.0 / redraws
            for kind in range(KINDS):
                more = playouts[3]["mean"][kind] - playouts[2]["mean"][kind]
                points[kind] += times * more
            probabilities[DISCARD] += times * (playouts[3]["chance"] - playouts[2]["chance"])

    @entry(
        void(
            states_t, rules_t, views_t, DECKS_T, LOG_T, int64[::1], int64[::1], TABLE_T, WEIGHTS_T,
            float64[:, ::1], float64[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1],
            int64[:, ::1], int64, PLAYOUTS_T, float64[:, :, ::1], float64[:, ::1],
        ),
        f"luck_terms.{name}",
    )  # fmt: skip
    def write_terms(
        states, rules, views, decks, log, rng, words, table, weights, wins, means, dealt, discarded,
        dealer, starter, needs, redraws, playouts, points, probabilities,
    ):  # fmt: skip
        """Write the terms of each deal.

        Args:
            words: int64[3], 32 bits each; with the cards they fix all chance.
            wins: pone's chances, see `chance_after`.
            means: float64[KINDS], the points of a deal of the reference.
            dealt, discarded, dealer, starter: of the deals, see `Deals`.
            needs: int64[N, 2], the points each seat still had to make.
            redraws: how many hands are redrawn; 0 for no term of the discard.
            points: float64[N, 3, KINDS], zeros; receives the points that each term brought.
            probabilities: float64[N, 3], zeros; what each term added to pone's chance of winning.
        """
        s = states[0]
        game = (s, rules[0], views[0], rng, table, weights, log, decks)
        actual, reference = playouts[0], playouts[1]
        for i in range(dealt.shape[0]):
            seats = (1 - dealer[i], dealer[i])
            a, b = needs[i, seats[PONE]], needs[i, seats[DEALER]]
            mine = (discarded[i, seats[PONE]], discarded[i, seats[DEALER]])
            set_hands(s, dealt[i], dealer[i])
            seed_by_hand(rng, words, s, PONE, rules[0]["dealt"])
            follow(game, mine[PONE], mine[DEALER], actual)
            mean_chance(actual, a, b, wins)
            k = place_of(actual, starter[i])
            for kind in range(KINDS):
                made = actual["made"][KINDS * k + kind]
                points[i, STARTER, kind] = made - actual["mean"][kind]
            probabilities[i, STARTER] = smooth_chance(actual, k, a, b, wins) - actual["chance"]
            theirs = discard(game)
            follow(game, theirs[PONE], theirs[DEALER], reference)
            mean_chance(reference, a, b, wins)
            for kind in range(KINDS):
                points[i, REFERENCE, kind] = reference["mean"][kind] - means[kind]
            probabilities[i, REFERENCE] = reference["chance"] - smooth_win(a, b, wins)
            for seat in range(2):
                if redraws > 0 and mine[seat] != theirs[seat]:
                    set_hands(s, dealt[i], dealer[i])
                    add_discard(
                        game, seat, mine[seat], redraws, words, playouts, a, b, wins,
                        points[i, DISCARD], probabilities[i],
                    )  # fmt: skip

    return write_terms
