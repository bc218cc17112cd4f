"""The observation of the games for three and four: a view as bits, and the action mask.

`LAYOUT` names every slice; `crib_env.observation_layout` shows it to users. Within a deal the
vector holds all the seat has seen and done (perfect recall). Seats and sides are counted to the
left, this one first; with three, what is the fourth's is 0. All entries are 0 or 1.
"""

from __future__ import annotations

from crib_env.engine.bits import NEED, encode_need, offsets
from crib_env.engine.jit import kernel
from crib_env.engine.many_hand.records import HAND, MATCH, PILE, SEATS
from crib_env.engine.slots import OVER, PEGGING

ACTIONS = 52
SLOT = 18 + SEATS  # of the pile: rank 13, suit 4, who played it 4, still in the present count
GAMES = 7
HELD = HAND + 1

LAYOUT: tuple[tuple[str, int, str], ...] = (
    ("hand", 52, "cards held, by card id"),
    ("discarded", 52, "the card this seat discarded, by card id"),
    ("starter", 52, "the starter once it is turned, by card id"),
    ("pile", PILE * SLOT, "cards played in this deal in order, 22 bits each: rank 13, suit 4, who "
     "played it 4 (seats counted to the left, from mine), still in the present count"),
    ("count", 32, "the present count, 0 to 31"),
    ("cards", SEATS * HELD, "for each seat, likewise, how many cards it holds, 0 to 5"),
    ("passed", SEATS, "the seats, likewise, that could not play in this count"),
    ("need", SEATS * NEED, "for each side, mine first, points it still needs: a thermometer of "
     "tens, then the units one-hot"),
    ("match_score", SEATS * GAMES, "for each side, likewise, games won of a match as a "
     "thermometer"),
    ("mover", SEATS, "the seat to move, counted to the left from mine"),
    ("dealer", SEATS, "the dealer, likewise"),
    ("partner", SEATS, "the seats, likewise, that score with mine, itself among them"),
    ("four", 1, "four players (0: three)"),
    ("pegging", 1, "the pegging has begun (0: discarding)"),
)  # fmt: skip


_AT = offsets(LAYOUT)
OBS_SIZE = _AT["end"]
DISCARDED = _AT["discarded"]
STARTER = _AT["starter"]
PILE_AT = _AT["pile"]
COUNT = _AT["count"]
CARDS = _AT["cards"]
PASSED = _AT["passed"]
NEED_AT = _AT["need"]
GAMES_AT = _AT["match_score"]
MOVER = _AT["mover"]
DEALER = _AT["dealer"]
PARTNER = _AT["partner"]
FOUR = _AT["four"]
IN_PEGGING = _AT["pegging"]


@kernel
def encode(v, obs):
    """Write the view ``v`` into ``obs`` (uint8[OBS_SIZE])."""
    obs[:] = 0  # then the few ones: far cheaper than writing every bit
    for i in range(HAND - 1, -1, -1):  # without branches: what NONE writes is written over
        obs[max(v["hand"][i], 0)] = 1 if v["hand"][i] >= 0 else 0
    obs[DISCARDED + max(v["discarded"][0], 0)] = v["discarded_n"]
    obs[STARTER + max(v["starter"], 0)] = 1 if v["starter"] >= 0 else 0
    seats = v["pile_seats"]
    present = v["pile_from"]
    n = v["pile_n"]
    for i in range(PILE):
        if i >= n:  # a bound that is known, so that the compiler unrolls to one exit a card
            break
        card = v["pile"][i] & 63
        at = PILE_AT + SLOT * i
        obs[at + (card >> 2)] = 1
        obs[at + 13 + (card & 3)] = 1
        obs[at + 17 + (seats >> 2 * i & 3)] = 1
        obs[at + SLOT - 1] = 1 if i >= present else 0
    obs[COUNT + (v["count"] & 31)] = 1
    for i in range(SEATS):
        sits = 1 if i < v["players"] else 0
        obs[CARDS + HELD * i + (v["held_n"][i] & 7)] = sits
        obs[PASSED + i] = v["passed"] >> i & 1
        obs[PARTNER + i] = sits if v["side_of"][i] == 0 else 0
    for i in range(SEATS):
        if i < v["sides"]:
            encode_need(obs, NEED_AT + NEED * i, v["target"] - v["scores"][i])
    if v["episode"] == MATCH:
        for i in range(v["sides"]):
            for k in range(min(v["match_score"][i], GAMES)):
                obs[GAMES_AT + GAMES * i + k] = 1
    if v["phase"] != OVER:
        obs[MOVER + (v["mover"] & 3)] = 1
    obs[DEALER + (v["dealer"] & 3)] = 1
    obs[FOUR] = 1 if v["players"] == SEATS else 0
    obs[IN_PEGGING] = 1 if v["phase"] == PEGGING else 0


@kernel
def encode_mask(v, mask):
    """Write the legal actions of the view into ``mask`` (int8[52]): zeros if it is not to move."""
    mask[:] = 0
    for i in range(HAND - 1, -1, -1):  # without branches, as in `encode`
        mask[max(v["hand"][i], 0)] = v["legal"] >> i & 1
