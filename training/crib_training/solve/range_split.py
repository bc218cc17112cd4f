"""How a card splits the range of the other seat: by the ranks it held, and by who can play next."""

from __future__ import annotations

from crib_agents.knowledge.two_hand.pegging import (
    FIRST,
    LOWEST,
    NEW_COUNT,
    OF_SIZE,
    REPLY,
    SAME_PLAYER,
)

from crib_env.engine.jit import kernel

NOBODY, FITTING, STUCK, EVERYBODY = range(4)


@kernel
def many(size):
    """Return the number of holdings of a size."""
    return OF_SIZE[size]


@kernel
def keep_part(reach, origin, rows, level, size, room, fits):
    """Write the part of the range that can play, or cannot, a level on; return its weight."""
    total = 0.0
    for i in range(many(size)):
        stays = (rows[FIRST[size] + i, LOWEST] <= room) == fits
        reach[level + 1, i] = reach[level, i] if stays else 0.0
        origin[level + 1, i] = origin[level, i]
        total += reach[level + 1, i]
    return total


@kernel
def take_from_range(reach, origin, theirs, with_card, slot_with, at, left, level, rank):
    """Write the range once the other seat has played a rank, a level on; return its weight."""
    first = FIRST[left - 1]
    total = 0.0
    for i in range(many(left - 1)):
        place = with_card[first + i, rank] - FIRST[left]
        likely = reach[level, place]
        if likely > 0.0 and left > 1:
            here = at + place * (left - 1)
            slot = slot_with[first + i, rank]
            if slot >= 0:
                likely *= theirs[here + slot]
            else:
                chance = 1.0
                for k in range(-1 - slot):
                    chance -= theirs[here + k]
                likely *= max(chance, 0.0)
        reach[level + 1, i] = likely
        origin[level + 1, i] = origin[level, place]
        total += likely
    return total


@kernel
def part_of(way, mine, count, able, other):
    """Return the part of the range that takes a way after a card: `NOBODY` to `EVERYBODY`."""
    if count == 31:
        return EVERYBODY if way == NEW_COUNT else NOBODY
    if mine:
        if way != REPLY and able != (way == SAME_PLAYER):
            return NOBODY
        fits = way == REPLY
    else:
        if able != (way == REPLY):
            return NOBODY
        if able:
            return EVERYBODY
        fits = way == SAME_PLAYER
    if count <= 21:  # who holds a card can play
        return EVERYBODY if fits == (other > 0) else NOBODY
    return FITTING if fits else STUCK
