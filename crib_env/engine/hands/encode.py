"""The observations of the games with hands: a view as bits, and the action mask.

There are two layouts, `TWO` and `MANY`, for two and for more players. They name every slice;
`crib_env.observation_layout` shows them to users. Within a deal the vector holds all that the seat
has seen and done. All entries are 0 or 1. In `MANY`, seats and sides are counted to the left, this
one first; with three players, the fourth's numbers are 0.
"""

from __future__ import annotations

from crib_env.engine.family import NEED, Layout, Slice, encode_need, offsets
from crib_env.engine.hands.records import MATCH, OVER, PEGGING
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE

ACTIONS = 52
GAMES = 7
SEATS = 4
HELD = 6  # of `MANY`: bits for the number of cards of a seat, 0 to 5
SLOT_OF_TWO = 19  # of the pile: rank 13, suit 4, played by me, still in the present count
SLOT_OF_MANY = 18 + SEATS  # of the pile: rank 13, suit 4, who played it, still in the present count

TWO: Layout = (
    Slice("hand", 52, "cards held, by card id"),
    Slice("discarded", 52, "cards this seat discarded, by card id"),
    Slice("starter", 52, "the starter once it is turned, by card id"),
    Slice(
        "pile",
        8 * SLOT_OF_TWO,
        "cards played in this deal in order, 19 bits each: rank 13, suit 4, played by me, still in the present count",
    ),
    Slice("count", 32, "the present count, 0 to 31"),
    Slice("other_cards", 7, "how many cards the other seat holds, 0 to 6"),
    Slice("need", NEED, "points I still need: a thermometer of tens, then the units one-hot"),
    Slice("other_need", NEED, "points the other seat still needs, likewise"),
    Slice("match_score", GAMES, "my game points of a match as a thermometer"),
    Slice("other_games", GAMES, "the other's game points, likewise"),
    Slice("dealer", 1, "I deal"),
    Slice("pegging", 1, "the pegging has begun (0: discarding)"),
    Slice("go", 1, "this count's go point has been pegged"),
    Slice("to_move", 1, "it is my turn"),
)

MANY: Layout = (
    Slice("hand", 52, "cards held, by card id"),
    Slice("discarded", 52, "the card this seat discarded, by card id"),
    Slice("starter", 52, "the starter once it is turned, by card id"),
    Slice(
        "pile",
        16 * SLOT_OF_MANY,
        "cards played in this deal in order, 22 bits each: rank 13, suit 4,"
        " who played it 4 (seats counted to the left, from mine), still in the present count",
    ),
    Slice("count", 32, "the present count, 0 to 31"),
    Slice("cards", SEATS * HELD, "for each seat, likewise, how many cards it holds, 0 to 5"),
    Slice("passed", SEATS, "the seats, likewise, that could not play in this count"),
    Slice(
        "need",
        SEATS * NEED,
        "for each side, mine first, points it still needs: a thermometer of tens, then the units one-hot",
    ),
    Slice("match_score", SEATS * GAMES, "for each side, likewise, games won of a match as a thermometer"),
    Slice("mover", SEATS, "the seat to move, counted to the left from mine"),
    Slice("dealer", SEATS, "the dealer, likewise"),
    Slice("partner", SEATS, "the seats, likewise, that score with mine, itself among them"),
    Slice("four", 1, "four players (0: three)"),
    Slice("pegging", 1, "the pegging has begun (0: discarding)"),
)

AT, AT_OF_MANY = offsets(TWO), offsets(MANY)


@kernel
def encode_games(v, sides, obs, at):
    """Write the match score of each side."""
    for i in range(sides):
        for k in range(min(v["match_score"][i], GAMES)):
            obs[at + GAMES * i + k] = 1


@kernel
def encode_two(v, obs):
    """Write the view ``v`` into ``obs`` (uint8) in the layout `TWO`."""
    obs[:] = 0  # then the few ones: far cheaper than writing every bit
    for i in range(v["hand_n"]):
        obs[v["hand"][i]] = 1
    for i in range(v["discarded_n"]):
        obs[AT.discarded + v["discarded"][i]] = 1
    if v["starter"] != NONE:
        obs[AT.starter + v["starter"]] = 1
    for i in range(v["pile_n"]):
        card = v["pile"][i]
        at = AT.pile + SLOT_OF_TWO * i
        obs[at + (card >> 2)] = 1
        obs[at + 13 + (card & 3)] = 1
        obs[at + 17] = ~v["pile_seats"] >> 2 * i & 1
        obs[at + 18] = 1 if i >= v["pile_from"] else 0
    obs[AT.count + v["count"]] = 1
    obs[AT.other_cards + v["held_n"][1]] = 1
    encode_need(obs, AT.need, v["target"] - v["scores"][0])
    encode_need(obs, AT.other_need, v["target"] - v["scores"][1])
    if v["episode"] == MATCH:
        encode_games(v, 2, obs, AT.match_score)
    obs[AT.dealer] = 1 - v["dealer"]
    obs[AT.pegging] = 1 if v["phase"] == PEGGING else 0
    obs[AT.go] = v["go"]
    obs[AT.to_move] = v["to_move"]


@kernel
def encode_many(v, obs):
    """Write the view ``v`` into ``obs`` (uint8) in the layout `MANY`."""
    obs[:] = 0
    for i in range(v["hand"].shape[0] - 1, -1, -1):  # without branches: NONE is written over
        obs[max(v["hand"][i], 0)] = 1 if v["hand"][i] >= 0 else 0
    obs[AT_OF_MANY.discarded + max(v["discarded"][0], 0)] = v["discarded_n"]
    obs[AT_OF_MANY.starter + max(v["starter"], 0)] = 1 if v["starter"] >= 0 else 0
    seats = v["pile_seats"]
    present = v["pile_from"]
    n = v["pile_n"]
    for i in range(v["pile"].shape[0]):
        if i >= n:  # a bound that is known, so that the compiler unrolls to one exit a card
            break
        card = v["pile"][i] & 63
        at = AT_OF_MANY.pile + SLOT_OF_MANY * i
        obs[at + (card >> 2)] = 1
        obs[at + 13 + (card & 3)] = 1
        obs[at + 17 + (seats >> 2 * i & 3)] = 1
        obs[at + SLOT_OF_MANY - 1] = 1 if i >= present else 0
    obs[AT_OF_MANY.count + (v["count"] & 31)] = 1
    for i in range(SEATS):
        sits = 1 if i < v["players"] else 0
        obs[AT_OF_MANY.cards + HELD * i + (v["held_n"][i] & 7)] = sits
        obs[AT_OF_MANY.passed + i] = v["passed"] >> i & 1
        obs[AT_OF_MANY.partner + i] = sits if v["side_of"][i] == 0 else 0
    for i in range(SEATS):
        if i < v["sides"]:
            encode_need(obs, AT_OF_MANY.need + NEED * i, v["target"] - v["scores"][i])
    if v["episode"] == MATCH:
        encode_games(v, v["sides"], obs, AT_OF_MANY.match_score)
    if v["phase"] != OVER:
        obs[AT_OF_MANY.mover + (v["mover"] & 3)] = 1
    obs[AT_OF_MANY.dealer + (v["dealer"] & 3)] = 1
    obs[AT_OF_MANY.four] = 1 if v["players"] == SEATS else 0
    obs[AT_OF_MANY.pegging] = 1 if v["phase"] == PEGGING else 0


@kernel
def encode_mask(v, mask):
    """Write a view's legal actions into ``mask`` (int8[52]): zeros if its seat is not to move."""
    mask[:] = 0
    for i in range(v["hand"].shape[0] - 1, -1, -1):  # without branches: NONE is written over
        mask[max(v["hand"][i], 0)] = v["legal"] >> i & 1
