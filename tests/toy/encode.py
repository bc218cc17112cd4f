"""The observation of the toy game, and its action mask."""

from __future__ import annotations

from crib_env.engine.family import NEED, encode_need, offsets
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from toy.records import HAND, SEATS

ACTIONS = 52

LAYOUT: tuple[tuple[str, int, str], ...] = (
    ("hand", 52, "cards held, by card id"),
    ("discarded", 52, "cards laid face up, by card id"),
    ("starter", 52, "the starter once it is turned, by card id"),
    ("need", NEED, "points I still need: a thermometer of tens, then the units one-hot"),
    ("next_need", NEED, "points the seat to the left still needs, likewise"),
    ("third_need", NEED, "points the seat after that still needs, if three play"),
    ("dealer", SEATS, "who deals: I, the next, the third"),
    ("to_move", 1, "it is my turn"),
)

_AT = offsets(LAYOUT)
DISCARDED = _AT["discarded"]
STARTER = _AT["starter"]
NEED_AT = _AT["need"]
DEALER = _AT["dealer"]
TO_MOVE = _AT["to_move"]


@kernel
def encode(v, obs):
    """Write the view ``v`` into ``obs``."""
    obs[:] = 0
    for i in range(v["hand_n"]):
        obs[v["hand"][i]] = 1
    for i in range(v["pile_n"]):
        obs[DISCARDED + v["pile"][i]] = 1
    if v["starter"] != NONE:
        obs[STARTER + v["starter"]] = 1
    for i in range(v["players"]):
        encode_need(obs, NEED_AT + NEED * i, max(0, v["target"] - v["scores"][i]))
    obs[DEALER + v["dealer"]] = 1
    obs[TO_MOVE] = v["to_move"]


@kernel
def encode_mask(v, mask):
    """Write the legal actions of the view into ``mask`` (int8[52])."""
    mask[:] = 0
    for i in range(HAND):
        if v["legal"] >> i & 1:
            mask[v["hand"][i]] = 1
