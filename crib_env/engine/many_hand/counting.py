"""Kernels that read a view of the games for three and four: what a card pegs for sure."""

from __future__ import annotations

from crib_env.engine.counting import sequence_points
from crib_env.engine.jit import kernel
from crib_env.engine.show import pip


@kernel
def alone(v):
    """Return 1 if no other seat plays any more in this count, else 0 (M7)."""
    for i in range(1, v["players"]):
        if v["held_n"][i] and not v["passed"] >> i & 1:
            return 0
    return 1


@kernel
def certain_points(v, k, sequence):
    """Return what the held card ``hand[k]`` is sure to peg if it is played now.

    That is what the card makes, and the point for the last card where the view proves it: no other
    seat plays any more in this count, and no other card of this one fits (M7).
    """
    card = v["hand"][k]
    count = v["count"] + pip(card)
    n = v["pile_n"] - v["pile_from"] + 1
    points = sequence_points(sequence << 4 | card >> 2, n, count, 0)
    if count < 31 and alone(v):
        last = 1
        for i in range(v["hand_n"]):
            if i != k and count + pip(v["hand"][i]) <= 31:
                last = 0
        points += last
    return points
