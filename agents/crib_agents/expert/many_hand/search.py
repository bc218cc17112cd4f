"""The value of each card to play: the mean of rollouts in drawn worlds.

In a rollout all seats peg as `greedy` does, which is quick. The value is points, and winning if a
rollout ends the game. All cards are tried in the same worlds, so they have the same luck. The value
of a discard is the exact mean hand and the mean crib with the card. Adding the pegging of such
worlds gained as much in pegging as it lost in hands and cribs, so it is left out.
"""

from __future__ import annotations

from crib_agents.expert.many_hand.worlds import draw_world, known, rules_of
from crib_agents.greedy import most_pegged_of_many
from crib_agents.kernels.many_hand import kept_value
from crib_env.engine.jit import kernel
from crib_env.engine.many_hand.records import HAND
from crib_env.engine.many_hand.rules import use_card
from crib_env.engine.many_hand.views import view
from crib_env.engine.record import NONE
from crib_env.engine.rng import seed_words
from crib_env.engine.slots import DISCARD, PEGGING, slot_of

WORLDS = 192
WIN = 25.0  # what a game won counts, in points ahead of the others' mean; lost, it is shared
M32 = 0xFFFFFFFF


@kernel
def seed_by_view(v, rng):
    """Start a generator from what the view shows, so that a choice has no chance in it."""
    a = 1
    b = v["count"] + 32 * v["pile_n"]
    c = v["dealer"]
    for i in range(v["hand_n"]):
        a = (a * 53 + v["hand"][i]) & M32
    for i in range(v["pile_n"]):
        b = (b * 53 + v["pile"][i]) & M32
    for side in range(v["sides"]):
        c = (c * 127 + v["scores"][side]) & M32
    seed_words(rng, a, b, c)


@kernel
def play_out(s, rules, table, v, log):
    """Play the rest of the deal."""
    while s["phase"] == PEGGING and s["winner"] == NONE:
        view(s, rules, s["to_move"], v)
        use_card(s, rules, table, slot_of(s, rules, most_pegged_of_many(v)), log)


@kernel
def points_ahead(s, rules):
    """Return the value of a deal for side 0: points ahead of the others' mean, or the game."""
    share = 1.0 / (rules["sides"] - 1)
    if s["winner"] != NONE:
        return WIN if s["winner"] == 0 else -WIN * share
    value = float(s["scores"][0])
    for side in range(1, rules["sides"]):
        value -= share * s["scores"][side]
    return value


@kernel
def same_rank(v, k):
    """Return the first held card of the rank of ``hand[k]``: in the pegging they are equal."""
    first = 0
    while v["hand"][first] >> 2 != v["hand"][k] >> 2:
        first += 1
    return first


@kernel
def is_tried(v, k):
    """Return whether ``hand[k]`` may be played and stands for its rank."""
    return v["legal"] >> k & 1 and same_rank(v, k) == k


@kernel
def after_card(states, rules, table, k, scratch, log):
    """Return the second state: the first, a world, after ``hand[k]`` and the rest of the deal."""
    states[1] = states[0]
    s = states[1]
    log[0] = 0
    use_card(s, rules, table, k, log)
    play_out(s, rules, table, scratch, log)
    return s


@kernel
def search(v, table, weights, rules, states, scratch, pool, log, rng, laid, values):
    """Write the value of each held card that may be used.

    Args:
        weights: `rule_based`'s.
        rules, states, scratch: a rules record, two states, a view; all overwritten, as are the
            unseen cards ``pool``, int64[52], the ``log``, the generator ``rng`` and the others'
            discards ``laid``, int64[SEATS].
        values: float64[HAND], written.
    """
    values[:HAND] = 0.0
    if v["phase"] == DISCARD:
        for k in range(v["hand_n"]):
            values[k] = kept_value(v, table, weights, v["hand"][k])
        return
    rules_of(v, rules)
    seed_by_view(v, rng)
    unseen = known(v, states[0])
    for _ in range(WORLDS):
        draw_world(states[0], rules, table, weights, v, unseen, pool, rng, scratch, laid)
        for k in range(v["hand_n"]):
            if is_tried(v, k):
                s = after_card(states, rules, table, k, scratch, log)
                values[k] += points_ahead(s, rules) / WORLDS
    for k in range(v["hand_n"]):
        values[k] = values[same_rank(v, k)]
