"""Canonical suits: situations that differ only by suits look the same.

While a seat discards, suits matter in two ways: which cards share one (flushes), and which jack may
match the starter. So its suits are sorted by the ranks dealt in each. In the pegging suits do not
matter. So the cards of a rank are numbered: those in the hand first, then the seat's discards, the
starter and the pile. With ``suits="canonical"`` a game uses these kernels: observation, mask and
actions then name canonical cards.

With ``suits="ranks"`` observation and features also hide the seat's own discards once the pegging
has begun: the cards of a rank are numbered without them. Then two positions of the pegging differ
only in ranks and in the seats that played them. Views still show the discards.

A canonical card has the same place in a view's hand as the card that it replaces.
"""

from __future__ import annotations

from typing import Any

from numba import void

from crib_env.engine.family import CanonicalSuits, Kernel, Kernels
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.hands.slots import hand_size, legal_slots
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import RANKS, SUITS
from crib_env.engine.record import NONE


@kernel
def bit_of(card):
    """Return the bit of a card in a mask with 13 bits a suit."""
    return 1 << (RANKS * (card & 3) + (card >> 2))


@kernel
def order_suit(card, dealt):
    """Return the canonical card of a card, while the seat discards.

    Suits are ordered by their ranks among the cards dealt, higher masks first; of two suits with
    the same ranks, the one with the lower number comes first.
    """
    suit = card & 3
    every = (1 << RANKS) - 1
    mine = dealt >> RANKS * suit & every
    place = 0
    for other in range(SUITS):
        ranks = dealt >> RANKS * other & every
        place += 1 if ranks > mine or (ranks == mine and other < suit) else 0
    return (card & ~3) | place


@kernel
def number_cards(cards, n, seen):
    """Number the first ``n`` cards within their ranks; add them to ``seen`` (3 bits a rank)."""
    for i in range(n):
        rank = cards[i] >> 2
        cards[i] = 4 * rank + (seen >> 3 * rank & 7)
        seen += 1 << 3 * rank
    return seen


@kernel
def relabel(v):
    """Write canonical cards over the cards of a view."""
    if v["phase"] == DISCARD:
        dealt = 0
        for i in range(v["hand_n"]):
            dealt |= bit_of(v["hand"][i])
        for i in range(v["discarded_n"]):
            dealt |= bit_of(v["discarded"][i])
        for i in range(v["hand_n"]):
            v["hand"][i] = order_suit(v["hand"][i], dealt)
        for i in range(v["discarded_n"]):
            v["discarded"][i] = order_suit(v["discarded"][i], dealt)
        return
    seen = number_cards(v["hand"], v["hand_n"], 0)
    seen = number_cards(v["discarded"], v["discarded_n"], seen)
    if v["starter"] != NONE:
        rank = v["starter"] >> 2
        v["starter"] = 4 * rank + (seen >> 3 * rank & 7)
        seen += 1 << 3 * rank
    number_cards(v["pile"], v["pile_n"], seen)


@kernel
def hide_discards(v):
    """Write canonical cards as `relabel`, without the seat's discards in the pegging."""
    if v["phase"] != DISCARD:
        v["discarded_n"] = 0
    relabel(v)


@kernel
def dealt_mask(s, seat):
    """Return the mask of the cards dealt to a seat, see `bit_of`."""
    slots = s["held"][seat] | s["discarded"][seat]
    dealt = 0
    hand = hand_size(s)
    for i in range(hand):
        dealt |= bit_of(s["dealt"][hand * seat + i]) if slots >> i & 1 else 0
    return dealt


@kernel
def canonical_card(s, seat, slot, dealt):
    """Return the canonical card of a slot that the seat holds; ``dealt`` is its `dealt_mask`."""
    first = hand_size(s) * seat
    card = s["dealt"][first + slot]
    if s["phase"] == DISCARD:
        return order_suit(card, dealt)
    place = 0
    for i in range(slot):
        same = s["dealt"][first + i] >> 2 == card >> 2
        place += 1 if same and s["held"][seat] >> i & 1 else 0
    return (card & ~3) | place


@kernel
def canonical_slot(s, rules, card):
    """Return the slot of a canonical card the seat to move may use now, or NONE."""
    seat = s["to_move"]
    slots = legal_slots(s, seat)
    dealt = dealt_mask(s, seat)
    for i in range(hand_size(s)):
        if slots >> i & 1 and canonical_card(s, seat, i, dealt) == card:
            return i
    return NONE


def canonical_suits(kernels: Kernels, views_t: Any, name: str) -> dict[str, CanonicalSuits]:
    """Return a family's kernels of canonical suits, by the value of ``suits``."""
    view, encode, write_features = kernels.view, kernels.encode, kernels.write_features

    @kernel
    def canonical_view(s, rules, seat, v):
        """Fill the view ``v`` as the family does, in canonical cards."""
        view(s, rules, seat, v)
        relabel(v)

    @kernel
    def encode_ranks(v, obs):
        """Write the observation of a canonical view without discards in the pegging; restore it."""
        discarded = v["discarded_n"]
        hide_discards(v)
        encode(v, obs)
        v["discarded_n"] = discarded
        relabel(v)

    @kernel
    def features_of_ranks(v, table, out):
        """Write the features of a canonical view without discards in the pegging; restore it."""
        discarded = v["discarded_n"]
        hide_discards(v)
        write_features(v, table, out)
        v["discarded_n"] = discarded
        relabel(v)

    @entry(void(views_t), f"{name}.relabel_views")
    def relabel_views(views):
        """Write canonical cards over the cards of each view."""
        for i in range(views.shape[0]):
            relabel(views[i])

    @entry(void(views_t), f"{name}.rank_views")
    def rank_views(views):
        """Write canonical cards over the cards of each view, and hide the discards."""
        for i in range(views.shape[0]):
            v = views[i]
            hide_discards(v)
            for k in range(v["discarded_n"], v["discarded"].shape[0]):
                v["discarded"][k] = NONE

    shared: dict[str, Kernel] = {"view": canonical_view, "find_move": canonical_slot}
    ranks: dict[str, Kernel] = {**shared, "encode": encode_ranks, "write_features": features_of_ranks}
    return {"canonical": CanonicalSuits(shared, relabel_views), "ranks": CanonicalSuits(ranks, rank_views)}
