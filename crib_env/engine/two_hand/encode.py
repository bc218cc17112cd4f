"""The observation of the two-hand games: a view as a vector of bits, and the action mask.

`LAYOUT` names every slice; `crib_env.observation_layout` shows it to users. Within a deal the
vector holds all the seat has seen and done (perfect recall). All entries are 0 or 1.
"""

from __future__ import annotations

from crib_env.engine.bits import NEED, encode_need, offsets
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.records import HAND, MATCH, PEGGING, PILE

ACTIONS = 52
SLOT = 19  # of the pile: rank 13, suit 4, played by me, still in the present count
GAMES = 7

LAYOUT: tuple[tuple[str, int, str], ...] = (
    ("hand", 52, "cards held, by card id"),
    ("discarded", 52, "cards this seat discarded, by card id"),
    ("starter", 52, "the starter once it is turned, by card id"),
    ("pile", PILE * SLOT, "cards played in this deal in order, 19 bits each: rank 13, suit 4, "
     "played by me, still in the present count"),
    ("count", 32, "the present count, 0 to 31"),
    ("other_cards", 7, "how many cards the other seat holds, 0 to 6"),
    ("need", NEED, "points I still need: a thermometer of tens, then the units one-hot"),
    ("other_need", NEED, "points the other seat still needs, likewise"),
    ("match_score", GAMES, "my game points of a match as a thermometer"),
    ("other_games", GAMES, "the other's game points, likewise"),
    ("dealer", 1, "I deal"),
    ("pegging", 1, "the pegging has begun (0: discarding)"),
    ("go", 1, "this count's go point has been pegged"),
    ("to_move", 1, "it is my turn"),
)  # fmt: skip


_AT = offsets(LAYOUT)
OBS_SIZE = _AT["end"]
DISCARDED = _AT["discarded"]
STARTER = _AT["starter"]
PILE_AT = _AT["pile"]
COUNT = _AT["count"]
OTHER_N = _AT["other_cards"]
NEED_AT = _AT["need"]
OTHER_NEED = _AT["other_need"]
GAMES_AT = _AT["match_score"]
OTHER_GAMES = _AT["other_games"]
DEALER = _AT["dealer"]
IN_PEGGING = _AT["pegging"]
GO_AT = _AT["go"]
TO_MOVE = _AT["to_move"]


@kernel
def encode(v, obs):
    """Write the view ``v`` into ``obs`` (uint8[OBS_SIZE])."""
    obs[:] = 0  # then the few ones: far cheaper than writing every bit
    for i in range(v["hand_n"]):
        obs[v["hand"][i]] = 1
    for i in range(v["discarded_n"]):
        obs[DISCARDED + v["discarded"][i]] = 1
    if v["starter"] != NONE:
        obs[STARTER + v["starter"]] = 1
    for i in range(v["pile_n"]):
        card = v["pile"][i]
        at = PILE_AT + SLOT * i
        obs[at + (card >> 2)] = 1
        obs[at + 13 + (card & 3)] = 1
        obs[at + 17] = v["pile_mine"] >> i & 1
        obs[at + 18] = 1 if i >= v["pile_from"] else 0
    obs[COUNT + v["count"]] = 1
    obs[OTHER_N + v["other_n"]] = 1
    encode_need(obs, NEED_AT, v["target"] - v["scores"][0])
    encode_need(obs, OTHER_NEED, v["target"] - v["scores"][1])
    if v["episode"] == MATCH:
        for i in range(min(v["match_score"][0], GAMES)):
            obs[GAMES_AT + i] = 1
        for i in range(min(v["match_score"][1], GAMES)):
            obs[OTHER_GAMES + i] = 1
    obs[DEALER] = v["is_dealer"]
    obs[IN_PEGGING] = 1 if v["phase"] == PEGGING else 0
    obs[GO_AT] = v["go"]
    obs[TO_MOVE] = v["to_move"]


@kernel
def encode_mask(v, mask):
    """Write the legal actions of the view into ``mask`` (int8[52]): zeros if it is not to move."""
    mask[:] = 0
    for i in range(HAND):
        if v["legal"] >> i & 1:
            mask[v["hand"][i]] = 1
