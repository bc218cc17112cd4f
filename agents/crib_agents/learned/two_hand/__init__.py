"""The learned agent at the two-hand games: exact parts, and predictions of its networks.

`discard` has the inputs of the networks for discarding and the value of a pair, `pegging` those of
the network for the play and the value of a card. The agent pegs for points and ignores the score,
but takes a card that wins the game.
"""

from __future__ import annotations

from crib_agents.kernels.two_hand import discard_by
from crib_agents.learned.network import UNLIKELY, find_rules
from crib_agents.learned.two_hand.discard import DISCARD_INPUTS, pair_win_value, probabilities_of
from crib_agents.learned.two_hand.pegging import PEGGING_INPUTS, card_values, play
from crib_agents.learned.weights import LearnedFamily, Net
from crib_env.engine import stack
from crib_env.engine.hands.counting import dealt_card
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.two_hand import HAND

choose_discard = discard_by(pair_win_value)


@kernel
def rules_key(v):
    """Return a number for what the rules of a view say that the nets depend on.

    Cards dealt, counts, flushes. No other family's keys are so large.
    """
    flushes = v["flush_size"] << 4 | v["crib_flush_size"]
    return v["dealt"] << 12 | v["single_count"] << 8 | flushes


@kernel
def act(v, rng, table, weights):
    """Return the learned card for the view ``v``; NONE under rules it has no nets for."""
    at = find_rules(weights, rules_key(v))
    if at == NONE:
        return NONE
    if v["phase"] == DISCARD:
        return choose_discard(v, table, weights[at:])
    return play(v, weights[at:])


@kernel
def write_values(v, table, weights, values):
    """Write the value of each card, float64[52]; others stay as they are.

    A discard has the value of the best pair with it, see `pair_win_value`; one to play as
    `card_values` says.
    """
    if v["phase"] == DISCARD:
        n = v["hand_n"] + v["discarded_n"]
        for i in range(v["hand_n"]):
            best = UNLIKELY
            for j in range(n):
                if i == j or (v["discarded_n"] == 1 and j < n - 1):
                    continue  # the card laid is the last of `dealt_card`, and must be of the pair
                low = min(dealt_card(v, i), dealt_card(v, j))
                high = max(dealt_card(v, i), dealt_card(v, j))
                best = max(best, pair_win_value(v, table, weights, low, high))
            values[v["hand"][i]] = best
        return
    now = stack.ints(HAND)
    found = stack.floats(HAND)
    card_values(v, weights, now, found)
    value = UNLIKELY
    for i in range(v["hand_n"] - 1, -1, -1):  # of a rank the last card has the value
        if found[i] != UNLIKELY:
            value = found[i]
        if v["legal"] >> i & 1:
            values[v["hand"][i]] = value


_DISCARD = Net("two_hand.discard", 1, DISCARD_INPUTS, outputs=3)

FAMILY = LearnedFamily(
    name="two_hand",
    nets={
        "discard_pone": _DISCARD,
        "discard_dealer": _DISCARD,
        "pegging": Net("two_hand.play", 1, PEGGING_INPUTS, outputs=2),
    },
    fields=("dealt", "single_count", "flush_size", "crib_flush_size"),
    rules_key=rules_key,
    act=act,
    values=write_values,
    knows=probabilities_of,
)
"""What `crib_agents.learned.agent` needs to play these games."""
