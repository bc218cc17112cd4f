"""Replies: the other seat's answers to a card near the end of a game, found by a search.

Near the end the answer often decides which card to lead, and the rollout policy's tables predict it
poorly. The other seat sees the starter and the cards played. So this seat's hand is drawn as the
other seat may believe it to be, and each answer is rolled out against the hands drawn.

The names of the kernels' arrays are those of `expert.pegging`; ``mirror`` is the other seat's
`SCRATCH`, and ``unseen`` counts the ranks that it has not seen, its own cards among them.
"""

from __future__ import annotations

from crib_agents.expert import belief
from crib_agents.expert.rollouts import counted_value, play_endgame
from crib_agents.knowledge.pegging import COUNTED, DISTINCT, LISTED, LOWEST, ME, THEM, copy, next_turn, put
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import pips

NEAR = 7  # most points that each seat needs where replies are searched
LAST = 1  # most cards played before; after more, the rollout policy's replies serve
OWN_HANDS = 256  # drawn for this seat
ASKED = 32  # of those for each hypothesis; each takes others, so that errors average out
FEW = 16  # after this number of hands the search ends if one reply is clearly best
CLEAR = 0.2  # the lead of a clearly best reply, in games
STRIDE = 37  # from one hand to the next, since they are in order of rank
TEMPERATURE = 0.02  # of a softmax over the values of the replies, in games
NOT_PLAYABLE = -belief.OUT  # as the value of a reply


@kernel
def searches_replies(v, s):
    """Return whether the other seat's replies are searched."""
    needed = max(v["target"] - v["scores"][ME], v["target"] - v["scores"][THEM])
    return s["endgame"] and needed <= NEAR and v["pile_n"] <= LAST


@kernel
def see_from_there(v, r, heard, seen):
    """Make ``seen`` the other seat's view once rank ``r`` is played, without that seat's cards.

    ``heard`` is the position after the card.
    """
    for seat in range(2):
        seen["scores"][seat] = v["target"] - heard["needs"][1 - seat]
    seen["dealt"] = v["dealt"]
    seen["target"] = v["target"]
    seen["single_count"] = v["single_count"]
    seen["heels"] = v["heels"]
    seen["episode"] = v["episode"]
    seen["starter"] = v["starter"]
    seen["pile_from"] = v["pile_from"]
    seen["dealer"] = 1 - v["dealer"]
    seen["hand_n"] = 0
    seen["discarded_n"] = 0
    seen["held_n"][THEM] = v["hand_n"] - 1
    n = v["pile_n"]
    seen["pile_seats"] = 1 << 2 * n
    for i in range(n):
        seen["pile"][i] = v["pile"][i]
        seen["pile_seats"] |= (1 - (v["pile_seats"] >> 2 * i & 1)) << 2 * i
    seen["pile"][n] = 4 * r
    seen["pile_n"] = n + 1


@kernel
def draw_own_hands(seen, p, mirror, hands, weights, keeping_rates, table):
    """Draw this seat's hands as the other seat believes them, with their points, into ``mirror``.

    Returns how many. Belief goes by ranks alone.
    """
    mirror["single"] = seen["single_count"]
    mirror["i_deal"] = 1 - seen["dealer"]
    n = belief.enumerate_hands(seen, p, mirror, hands, weights, keeping_rates, table)
    return belief.systematic_resample(n, OWN_HANDS, mirror)


@kernel
def find_replies(q, theirs, j, p, unseen, n, s, mirror, hands, weights, win_table):
    """Write into ``s["chance"]`` how likely the other seat plays each rank of ``theirs`` in ``q``.

    It has the hand of hypothesis ``j``. It takes this seat to have one of the first ``n`` hands of
    ``mirror``. ``p`` is scratch.
    """
    belief.find_chances(q, theirs, j, s, hands, weights)
    values = s["values"]
    listed = hands[theirs, LISTED]
    replies = hands[theirs, DISTINCT]
    room = 31 - q["count"]
    fitting = 0
    for k in range(replies):
        r = listed >> (4 * k) & 15
        values[k] = NOT_PLAYABLE
        if pips(r) <= room:
            values[k] = 0.0
            fitting += 1
            copy(q, p)
            put(p, THEM, r)
            if p["needs"][THEM] <= 0:
                return  # `find_chances` expects the card that wins the game
    if fitting < 2:
        return
    my_points = s["count"]
    left = unseen - hands[theirs, COUNTED]
    total = 0.0
    for i in range(min(n, ASKED)):
        m = (j * ASKED + i) * STRIDE % n
        mine = mirror["held"][m]
        counted = hands[mine, COUNTED]
        likely = mirror["ways"][m] * belief.ways_to_draw(counted, left)
        if likely > 0.0:
            likely /= belief.ways_to_draw(counted, unseen)
            total += likely
            s["count"] = mirror["counts"][m]
            for k in range(replies):
                if values[k] > NOT_PLAYABLE:
                    r = listed >> (4 * k) & 15
                    rest = hands[theirs, r]
                    copy(q, p)
                    put(p, THEM, r)
                    turn = next_turn(p, s["single"], hands[rest, LOWEST], hands[mine, LOWEST])
                    play_endgame(p, turn, mine, rest, s["counts"][j], s, hands, weights)
                    values[k] -= likely * counted_value(p, s["counts"][j], s, win_table)
        if i + 1 == FEW and is_clear(values, replies, total * CLEAR):
            break
    s["count"] = my_points
    if total > 0.0:
        top = NOT_PLAYABLE
        for k in range(replies):
            s["chance"][k] = values[k] / total if values[k] > NOT_PLAYABLE else NOT_PLAYABLE
            top = max(top, s["chance"][k])
        belief.soften(s["chance"], replies, top, TEMPERATURE)


@kernel
def is_clear(values, n, gap):
    """Return whether the best of ``n`` values is ahead of all others by more than ``gap``."""
    best = NOT_PLAYABLE
    second = NOT_PLAYABLE
    for k in range(n):
        second = max(second, min(best, values[k]))
        best = max(best, values[k])
    return best - second > gap
