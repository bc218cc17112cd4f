"""The observation of Table Top: a view as a vector of bits, and the action mask.

`LAYOUT` names every slice; `crib_env.observation_layout` shows it to users. Within a round the
vector holds all the seat has seen and done (perfect recall), in absolute cells, for actions are
absolute too. All entries are 0 or 1.
"""

from __future__ import annotations

from crib_env.engine.family import NEED, Layout, Slice, encode_need, offsets
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import lowest
from crib_env.engine.record import NONE
from crib_env.engine.table_top.records import CELLS, CENTRE, CRIB_CARDS, SEATS, TO_CRIB, TURNS

ACTIONS = TO_CRIB + 1
LAPS = TURNS // SEATS
CELL = 17 + SEATS + LAPS  # of a cell: rank 13, suit 4, and when it was filled
DISCARDED = 17  # of a crib card: rank 13, suit 4

LAYOUT: Layout = (
    Slice(
        "layout",
        CELLS * CELL,
        "the cells row by row, 28 bits each: rank 13, suit 4, who placed the "
        "card 4 (four players: the seat, counted to the left from mine; two players: even me, odd "
        "the other), in which four turns of the round 7; the starter has only rank and suit",
    ),
    Slice("card", 52, "the card in turn, by card id, if it is mine to see"),
    Slice(
        "crib",
        CRIB_CARDS * DISCARDED,
        "cards sent to the crib in order, 17 bits each: rank 13, suit 4; 0 where secret from me",
    ),
    Slice("crib_turns", TURNS, "the turns that sent a card to the crib"),
    Slice("seen", 52, "every card I have seen this round, by card id"),
    Slice("turn", TURNS + 1, "the turn, 0 to 27; 28 once the episode is over"),
    Slice("mover", SEATS, "the seat to move, counted to the left from mine"),
    Slice("dealer", SEATS, "the dealer, likewise"),
    Slice("owed", SEATS * 2, "for each seat, likewise, cards it still owes the crib as a thermometer"),
    Slice("need", NEED, "points my side still needs: a thermometer of tens, then the units one-hot"),
    Slice("other_need", NEED, "points the other side still needs, likewise"),
    Slice("scores_rows", 1, "my side scores the rows (0: the columns)"),
    Slice("four", 1, "four players (0: two)"),
)

AT = offsets(LAYOUT)


@kernel
def encode_layout(v, obs):
    """Write the cards on the layout, who placed them, and when.

    ``first + turn`` counts seats to the left of mine: modulo four, it and ``turn // 4`` determine
    the turn, with two players and with four (T4).
    """
    first = v["dealer"] + 1
    starter = v["starter"]
    obs[CELL * CENTRE + (starter >> 2)] = 1
    obs[CELL * CENTRE + 13 + (starter & 3)] = 1
    obs[AT.seen + starter] = 1
    cells = v["placed"] & ~(1 << CENTRE)
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        card = v["layout"][cell] & 63  # so that the compiler knows no index is negative
        turn = v["turns"][cell] & 31
        at = CELL * cell
        obs[at + (card >> 2)] = 1
        obs[at + 13 + (card & 3)] = 1
        obs[at + 17 + ((first + turn) & 3)] = 1
        obs[at + 21 + (turn >> 2)] = 1
        obs[AT.seen + card] = 1


@kernel
def encode_crib(v, obs):
    """Write the known part of the crib: all the turns, the seat's own cards and its partner's."""
    for i in range(CRIB_CARDS):  # branch-free: the branch would be unpredictable
        turn = v["crib_turns"][i]
        card = v["crib"][i]
        known = 1 if card != NONE else 0
        card = max(card, 0)
        at = AT.crib + DISCARDED * i
        obs[AT.crib_turns + max(turn, 0)] |= 1 if turn != NONE else 0
        obs[at + (card >> 2)] = known
        obs[at + 13 + (card & 3)] = known
        obs[AT.seen + card] |= known


@kernel
def encode(v, obs):
    """Write the view ``v`` into ``obs`` (uint8)."""
    obs[:] = 0  # then the few ones: measured ten times cheaper than writing every bit
    encode_layout(v, obs)
    encode_crib(v, obs)
    card = v["card"] if v["card"] != NONE else v["partner_card"]
    if card != NONE:
        obs[AT.card + card] = 1
        obs[AT.seen + card] = 1
    obs[AT.turn + v["turn"]] = 1
    if v["mover"] != NONE:
        obs[AT.mover + v["mover"]] = 1
    obs[AT.dealer + v["dealer"]] = 1
    for i in range(SEATS):
        owed = v["owed"][i]
        obs[AT.owed + 2 * i] = 1 if owed > 0 else 0
        obs[AT.owed + 2 * i + 1] = 1 if owed > 1 else 0
    # A side past the target plays on only at a tie (T9), so both then need nothing.
    encode_need(obs, AT.need, max(0, v["target"] - v["scores"][0]))
    encode_need(obs, AT.other_need, max(0, v["target"] - v["scores"][1]))
    obs[AT.scores_rows] = v["scores_rows"]
    obs[AT.four] = 1 if v["players"] == SEATS else 0


@kernel
def encode_mask(v, mask):
    """Write a view's legal actions into ``mask`` (int8[26]): zeros if its seat is not to move."""
    legal = v["legal"]
    for action in range(ACTIONS):
        mask[action] = legal >> action & 1
