"""The observation of the toy game, and its action mask."""

from __future__ import annotations

from crib_env.engine.bits import NEED, encode_need, offsets
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from toy.records import HAND

ACTIONS = 52

LAYOUT: tuple[tuple[str, int, str], ...] = (
    ("hand", 52, "cards held, by card id"),
    ("discarded", 52, "cards laid face up, by card id"),
    ("starter", 52, "the starter once it is turned, by card id"),
    ("need", NEED, "points I still need: a thermometer of tens, then the units one-hot"),
    ("other_need", NEED, "points the other seat still needs, likewise"),
    ("dealer", 1, "I deal"),
    ("to_move", 1, "it is my turn"),
)

_AT = offsets(LAYOUT)
DISCARDED = _AT["discarded"]
STARTER = _AT["starter"]
NEED_AT = _AT["need"]
OTHER_NEED = _AT["other_need"]
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
    encode_need(obs, NEED_AT, max(0, v["target"] - v["scores"][0]))
    encode_need(obs, OTHER_NEED, max(0, v["target"] - v["scores"][1]))
    obs[DEALER] = v["is_dealer"]
    obs[TO_MOVE] = v["to_move"]


@kernel
def encode_mask(v, mask):
    """Write the legal actions of the view into ``mask`` (int8[52])."""
    mask[:] = 0
    for i in range(HAND):
        if v["legal"] >> i & 1:
            mask[v["hand"][i]] = 1
