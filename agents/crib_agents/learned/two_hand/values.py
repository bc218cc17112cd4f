"""What the learned agent thinks each card of a two-hand game is worth, to be shown."""

from __future__ import annotations

from crib_agents.learned.two_hand.act import UNLIKELY, card_values, pair_worth
from crib_env.engine import stack
from crib_env.engine.jit import kernel
from crib_env.engine.two_hand.counting import dealt_card
from crib_env.engine.two_hand.records import HAND, LAY_AWAY


@kernel
def write_values(v, table, weights, values):
    """Write what each card is worth, float64[52]; others stay as they are.

    A card to lay away is worth what the best pair with it is, see `pair_worth`; one to play as
    `card_values` says.
    """
    if v["phase"] == LAY_AWAY:
        n = v["hand_n"] + v["laid_n"]
        for i in range(v["hand_n"]):
            best = UNLIKELY
            for j in range(n):
                if i == j or (v["laid_n"] == 1 and j < n - 1):
                    continue  # the card laid is the last of `dealt_card`, and must be of the pair
                low = min(dealt_card(v, i), dealt_card(v, j))
                high = max(dealt_card(v, i), dealt_card(v, j))
                best = max(best, pair_worth(v, table, weights, low, high))
            values[v["hand"][i]] = best
        return
    now = stack.ints(HAND)
    worth = stack.floats(HAND)
    card_values(v, weights, now, worth)
    value = UNLIKELY
    for i in range(v["hand_n"] - 1, -1, -1):  # of a rank the last card has the value
        if worth[i] != UNLIKELY:
            value = worth[i]
        if v["legal"] >> i & 1:
            values[v["hand"][i]] = value
