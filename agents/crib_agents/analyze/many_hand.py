"""The value of every choice in a game for three or four, as `expert` sees it.

`expert` decides by points: its side's, minus the mean of the other sides'. These are its figures
here, from the same worlds. The choices are sorted by the probability of winning that they leave
(`crib_agents.knowledge.many_hand.win`). So near the end of a game `expert` may choose another one
than the first.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from crib_agents.analyze.choices import CardChoice, DiscardChoice
from crib_agents.expert.many_hand.search import (
    WORLDS,
    after_card,
    is_tried,
    same_rank,
    seed_by_view,
)
from crib_agents.expert.many_hand.worlds import draw_world, known, rules_of
from crib_agents.kernels.many_hand import CRIBS, kept_value, stake
from crib_agents.kernels.many_hand_held import RANKS
from crib_agents.knowledge.many_hand.win import chance_of, numbers
from crib_agents.rule_based import default_weights
from crib_env.arrays import Doubles
from crib_env.cards import format_card, format_cards
from crib_env.engine.counting import sequence_of
from crib_env.engine.jit import entry, kernel
from crib_env.engine.many_hand.counting import certain_points
from crib_env.engine.many_hand.records import (
    DEAL,
    HAND,
    LOG_SIZE,
    MANY_HAND,
    RULES,
    SEATS,
    VIEW,
    VIEWS_T,
)
from crib_env.engine.many_hand.rules import to_the_left
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T, array_of
from crib_env.engine.rng import WORDS
from crib_env.engine.show import show_table
from crib_env.engine.slots import DISCARD
from crib_env.policy import Views

# Columns: of a card to play, and of one to discard.
NOW, MINE, THEIRS, WIN = range(4)
HAND_MEAN, CRIB_MEAN = NOW, MINE
IN_PLAY, IN_HAND = 0, 1  # of the mean points of a deal
FAR = 121.0  # points ahead that stand for a game won, in a single deal


@kernel
def chance_after(v, made, formula):
    """Return the chance that side 0 wins if each side has ``made`` when the deal is over.

    Args:
        made: float64[SEATS], scores by side; overwritten.
    """
    sides = v["sides"]
    if v["episode"] == DEAL:
        ahead = made[0]
        for side in range(1, sides):
            ahead -= made[side] / (sides - 1)
        return min(1.0, max(0.0, 0.5 + ahead / (2.0 * FAR)))
    for side in range(sides):
        made[side] = v["target"] - made[side]
    next_dealer = to_the_left(v["players"], v["dealer"], 1)
    return chance_of(made, sides, v["side_of"][next_dealer], formula)


@kernel
def weigh_discards(v, table, weights, formula, points, made, found):
    """Write the columns of each card to discard: the deal brings what it does on average."""
    sides = v["sides"]
    dealing = v["side_of"][v["dealer"]]
    chart = CRIBS + RANKS * (2 * (v["players"] - 3) + (dealing == 0))
    share = 1.0 if dealing == 0 else stake(v, v["dealer"])
    of_partners = 1.0 - sides / v["players"]  # of a side's hands, those that are not this seat's
    for k in range(v["hand_n"]):
        card = v["hand"][k]
        crib = weights[chart + (card >> 2)]
        hand = kept_value(v, table, weights, card) - share * crib
        for side in range(sides):
            mean = points[(side - dealing + sides) % sides]
            hands = hand + of_partners * mean[IN_HAND] if side == 0 else mean[IN_HAND]
            made[side] = v["scores"][side] + mean[IN_PLAY] + hands
        made[dealing] += crib
        found[k, HAND_MEAN] = hand
        found[k, CRIB_MEAN] = share * crib
        found[k, WIN] = chance_after(v, made, formula)


@kernel
def weigh_cards(
    v, table, weights, formula, made, rules, states, scratch, pool, log, rng, laid, found
):
    """Write the columns of each card that may be played: the means over the worlds of `search`."""
    rules_of(v, rules)
    seed_by_view(v, rng)
    unseen = known(v, states[0])
    sequence = sequence_of(v)
    others = v["sides"] - 1
    for _ in range(WORLDS):
        draw_world(states[0], rules, table, weights, v, unseen, pool, rng, scratch, laid)
        for k in range(v["hand_n"]):
            if not is_tried(v, k):
                continue
            s = after_card(states, rules, table, k, scratch, log)
            found[k, MINE] += (s["scores"][0] - v["scores"][0]) / WORLDS
            for side in range(1, v["sides"]):
                found[k, THEIRS] += (s["scores"][side] - v["scores"][side]) / (others * WORLDS)
            for side in range(v["sides"]):
                made[side] = s["scores"][side]
            if s["winner"] != NONE:
                found[k, WIN] += (1.0 if s["winner"] == 0 else 0.0) / WORLDS
            else:
                found[k, WIN] += chance_after(v, made, formula) / WORLDS
    for k in range(v["hand_n"]):
        first = same_rank(v, k)
        if first < k:
            for column in range(WIN + 1):
                found[k, column] = found[first, column]
            continue
        now = min(certain_points(v, k, sequence), v["target"] - v["scores"][0])
        found[k, NOW] = now
        found[k, MINE] -= now


@entry(
    void(
        VIEWS_T, TABLE_T, WEIGHTS_T, float64[::1], float64[:, ::1], float64[::1], array_of(RULES),
        array_of(MANY_HAND), VIEWS_T, int64[::1], int64[::1], int64[::1], int64[::1],
        float64[:, ::1],
    ),
    "analyze.many_hand.weigh",
)  # fmt: skip
def weigh(
    views, table, weights, formula, points, made, rules, states, scratch, pool, log, rng, laid,
    found,
):  # fmt: skip
    """Write the columns of each card held that may be used."""
    v = views[0]
    if v["phase"] == DISCARD:
        weigh_discards(v, table, weights, formula, points, made, found)
    else:
        weigh_cards(
            v, table, weights, formula, made, rules[0], states, scratch[0], pool, log, rng, laid,
            found,
        )  # fmt: skip


def cards_of_many(views: Views) -> list[DiscardChoice] | list[CardChoice]:
    """Return every card to discard or to play, the best first."""
    view = views[0]
    columns = np.zeros((HAND, WIN + 1))
    weigh(
        np.ascontiguousarray(views), show_table(), default_weights(),
        *numbers(int(view["players"]), int(view["sides"])), np.zeros(SEATS),
        np.zeros(1, dtype=RULES), np.zeros(2, dtype=MANY_HAND), np.zeros(1, dtype=VIEW),
        np.zeros(52, dtype=np.int64), np.zeros(LOG_SIZE, dtype=np.int64),
        np.zeros(WORDS, dtype=np.int64), np.zeros(SEATS, dtype=np.int64), columns,
    )  # fmt: skip
    held = view["hand"][: view["hand_n"]].tolist()
    usable = [
        (float(columns[k, WIN]), card, columns[k])
        for k, card in enumerate(held)
        if view["legal"] >> k & 1
    ]
    ranked = sorted(usable, key=lambda each: each[:2], reverse=True)
    if view["phase"] == DISCARD:
        return [_discard(card, held, row) for _, card, row in ranked]
    return [_play(card, row) for _, card, row in ranked]


def _discard(card: int, dealt: list[int], row: Doubles) -> DiscardChoice:
    hand, crib = float(row[HAND_MEAN]), float(row[CRIB_MEAN])
    return DiscardChoice(
        discard=format_card(card),
        keep=format_cards(kept for kept in sorted(dealt, reverse=True) if kept != card),
        hand=hand,
        crib=crib,
        pegging=0.0,
        points=hand + crib,
        win=float(row[WIN]),
    )


def _play(card: int, row: Doubles) -> CardChoice:
    now, mine, theirs = (float(row[column]) for column in (NOW, MINE, THEIRS))
    return CardChoice(format_card(card), now, mine, theirs, now + mine - theirs, float(row[WIN]))
